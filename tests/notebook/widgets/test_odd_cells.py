"""Cells of every kind in the explorer and in downloads, and cells that pass for formulas."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from webanalytics.notebook.explorer.explorer import explore
from webanalytics.notebook.explorer.table import column as drawn
from webanalytics.notebook.widgets.previews import TYPES, file_bytes


class Silent:
    """An object without text."""

    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


ROUND: list[Any] = []
ROUND.append(ROUND)
ODD: dict[str, Any] = {
    "complex": [1 + 2j, complex("nan")],
    "complex among others": pd.Series([1 + 2j, None, "x"], dtype=object),
    "no text": pd.Series([Silent(), [Silent()]], dtype=object),
    "holds itself": pd.Series([ROUND, 1], dtype=object),
    "keys are tuples": pd.Series([{(1, 2): 3}], dtype=object),
    "arrays": pd.Series([np.arange(3), np.arange(2)], dtype=object),
    "sets": pd.Series([{1}, None], dtype=object),
    "frames": pd.Series([pd.DataFrame({"a": [1]}), pd.Series([1])], dtype=object),
    "time zone": [pd.Timestamp("2026-01-01", tz="UTC")],
    "periods": pd.period_range("2026-01", periods=2, freq="M"),
    "intervals": pd.interval_range(0, 2),
    "mixed": pd.Series([1, "a", 2.5, True, 10**30, float("inf")], dtype=object),
    "sparse": pd.arrays.SparseArray([0, 1]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_cells_are_shown_and_stored(name: str) -> None:
    frame = pd.DataFrame({"c": ODD[name]})
    assert "c" in explore(frame)._repr_html_()
    for kind in TYPES:
        assert file_bytes(frame, kind)


def test_an_odd_cell_is_stored_as_text() -> None:
    frame = pd.DataFrame({"c": pd.Series([1 + 2j, Silent(), {3}], dtype=object)})
    told = ["(1+2j)", "<Silent>", "{3}"]
    assert pd.read_csv(io.BytesIO(file_bytes(frame, "csv")))["c"].tolist() == told
    assert pd.read_excel(io.BytesIO(file_bytes(frame, "xlsx")))["c"].tolist() == told
    assert pd.read_parquet(io.BytesIO(file_bytes(frame, "parquet")))["c"].tolist() == told


@pytest.mark.parametrize("name", ["wordCount", "n", "title", "url"])
def test_a_column_that_stands_twice(name: str) -> None:
    frame = pd.DataFrame([[1, 2, "a"], [3, 4, "b"]], columns=[name, name, "language"])
    shown = explore(frame)
    assert list(shown.pages.columns) == ["language"]
    assert shown._repr_html_()
    for kind in TYPES:
        assert file_bytes(frame, kind)


BEFORE = ["", "\u200b", "\ufeff", "\0", "\t", "\r", "\u00ad\u2060 ", "\u00a0", "\u202e"]


@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20")
@pytest.mark.parametrize("before", BEFORE)
def test_what_cannot_be_seen_hides_no_formula(before: str, sign: str) -> None:
    for column in (
        pd.Series([f"{before}{sign}cmd()"], dtype=object),
        pd.Categorical([f"{before}{sign}cmd()"]),
    ):
        text = file_bytes(pd.DataFrame({"title": column}), "csv").decode("utf-8-sig")
        ((cell,),) = list(csv.reader(io.StringIO(text)))[1:]
        assert cell.startswith("'")


def test_plain_text_is_left_alone() -> None:
    texts = ["\u200btea", "a = b", "-5", "+12085813945", "a;b", "m\u00fcsli"]
    text = file_bytes(pd.DataFrame({"title": texts}), "csv").decode("utf-8-sig")
    assert text.splitlines()[1:] == texts


@pytest.mark.parametrize("text", ["tea;=1", "tea; +x", "tea;;-x", "tea;\u200b@x", "tea;\uff1dx"])
def test_a_formula_after_a_semicolon_stands_in_quotes(text: str) -> None:
    frame = pd.DataFrame({"title": [text, "leaf"], "n": [1, 2]})
    lines = file_bytes(frame, "csv").decode("utf-8-sig").splitlines()
    assert lines == ['"title","n"', f'"{text}",1', '"leaf",2']


def test_numbers_and_booleans_among_nones_are_what_they_were() -> None:
    frame = pd.DataFrame(
        {
            "url": ["https://a.example/1", "https://a.example/2", "https://a.example/3"],
            "tried": pd.Series([True, None, False], dtype=object),
            "stock": pd.Series([-50, None, -5], dtype=object),
            "rate": [0.123456789, 1e-7, float("nan")],
            "sku": [9_007_199_254_740_993, 9_007_199_254_740_992, 7],
        }
    )
    columns = {name: drawn(frame, name) for name in frame.columns}
    assert {name: made["kind"] for name, made in columns.items()} == {
        **{"url": "text", "tried": "boolean", "stock": "number", "rate": "number"},
        "sku": "text",  # a browser would show both of the first as the second
    }
    assert columns["tried"]["cells"] == [True, None, False]
    assert columns["stock"]["cells"] == [-50, None, -5]
    assert columns["rate"]["cells"] == [0.123456789, 1e-7, None]
    assert columns["sku"]["cells"] == ["9007199254740993", "9007199254740992", "7"]
