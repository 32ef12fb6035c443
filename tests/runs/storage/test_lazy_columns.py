"""Columns that are read from parts: the same values in every order, and a bounded number of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from webanalytics.audits.site import Site
from webanalytics.core.operations.types import shape_of
from webanalytics.runs.frames.arrow import arrow_type, decoded
from webanalytics.runs.frames.schema import make_series
from webanalytics.runs.storage import lazy_columns as stored
from webanalytics.runs.storage import parts as module
from webanalytics.runs.storage.lazy_columns import StoredValues, frame_over
from webanalytics.runs.storage.parts import RowParts

ROWS = 40


def links(number: int) -> list[str] | None:
    return (
        None if number % 11 == 0 else [f"https://a.example/{number}/{place}" for place in range(number % 5)]
    )


@pytest.fixture
def parts(tmp_path: Path) -> RowParts:
    """40 rows in 5 parts of two tables each."""
    made = RowParts(tmp_path, "audit")
    for start in range(0, ROWS, 8):
        tables = []
        for first in (start, start + 4):
            index = pd.RangeIndex(4)
            numbers = range(first, first + 4)
            columns = {
                "url": make_series([f"https://a.example/{n}" for n in numbers], "string", index),
                "status": make_series(["ok"] * 4, "string", index),
                "error_type": make_series([None] * 4, "string", index),
                "title": make_series([f"Page {n}" if n % 3 else None for n in numbers], "string", index),
                "links": make_series([links(n) for n in numbers], "object", index),
                "wordCount": make_series(list(numbers), "integer", index),
            }
            tables.append(made.table(pd.DataFrame(columns), [f"{n:064x}" for n in numbers]))
        made.write(tables)
    return made


@pytest.mark.parametrize("block", [1, 200, 10**9])
@pytest.mark.parametrize("seed", range(3))
def test_values_come_in_the_order_of_the_places(
    parts: RowParts, monkeypatch: pytest.MonkeyPatch, block: int, seed: int
) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", block)
    monkeypatch.setattr(module, "FRAME_ROWS", 3)
    places = np.random.default_rng(seed).integers(-1, ROWS, 70).astype(np.int32)
    wanted = [None if place < 0 else links(place) for place in places.tolist()]
    assert [value for found in parts.blocks("links", places) for value in found] == wanted
    assert [parts.value("links", place) for place in places.tolist() if place >= 0] == [
        value for value, place in zip(wanted, places.tolist(), strict=True) if place >= 0
    ]


def test_a_block_is_no_larger_than_its_bytes(parts: RowParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)
    monkeypatch.setattr(module, "FRAME_ROWS", 6)
    sizes = [len(block) for block in parts.blocks("links", np.arange(ROWS, dtype=np.int32))]
    assert sizes == [6] * 6 + [4]


def frame(parts: RowParts) -> pd.DataFrame:
    index = pd.RangeIndex(ROWS)
    given = make_series([f"https://a.example/{n}" for n in range(ROWS)], "string", index).rename("url")
    return frame_over(parts, np.arange(ROWS, dtype=np.int32), index, given)


def test_rules_see_sequences_and_small_columns_are_lists(
    parts: RowParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(frame(parts))
    assert isinstance(site.values("links"), list)
    monkeypatch.setattr(stored, "LARGEST_LIST", 10)
    streamed = Site(frame(parts))
    assert isinstance(streamed.values("links"), StoredValues)
    assert list(streamed.values("links")) == site.values("links") == [links(n) for n in range(ROWS)]
    assert streamed.values("links")[-1] == links(ROWS - 1)
    assert streamed.values("links")[3:5] == [links(3), links(4)]
    assert list(streamed.read("links", "title")) == list(site.read("links", "title"))


def test_lists_are_held_within_a_budget(parts: RowParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "LISTS_BYTES", 1)
    site = Site(frame(parts))
    first = site.values("links")
    assert site.values("title") == [f"Page {n}" if n % 3 else None for n in range(ROWS)]
    assert site.values("links") == first
    assert site.values("links") is not first


def test_the_log_of_keys_says_which_rows_there_are(parts: RowParts, tmp_path: Path) -> None:
    again = RowParts(tmp_path, "audit")
    assert [key for key, _, _ in again.inputs()] == [f"{n:064x}" for n in range(ROWS)]
    assert len(again) == ROWS
    assert [name[:11] for name in again.names] == [f"rows-{n:06}" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (list[str], [["a", "b", "a"], None, [], [None]]),
        (dict[str, int], [{"tea": 2, "oil": 1}, None, {}]),
        (list[dict[str, str]], [[{"a": "b"}, {}], None, []]),
        (list[list[int]], [[[1, 2], []], [], None]),
        (bool, [True, None, False]),
        (float, [1.5, None]),
    ],
)
@pytest.mark.parametrize("sliced", [False, True])
def test_arrays_are_decoded_as_they_were_written(annotation: Any, values: list[Any], sliced: bool) -> None:
    shape = shape_of(annotation)
    stored_values = [list(v.items()) if annotation == dict[str, int] and v is not None else v for v in values]
    if annotation == list[dict[str, str]]:
        stored_values = [None if v is None else [list(item.items()) for item in v] for v in values]
    array = pa.array(stored_values, arrow_type(shape))
    assert decoded(array.slice(1) if sliced else array, shape) == values[1 if sliced else 0 :]
    assert decoded(pa.chunked_array([array, array]), shape) == values * 2
