"""Texts in a temporary file: the column over them is one of pandas, and a full disk costs memory alone."""

from __future__ import annotations

import io
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from webanalytics.runs.frames.schema import PANDAS_3, make_series
from webanalytics.runs.storage.temporary_texts import SpilledSequence, SpilledTexts

columns = pytest.mark.skipif(not PANDAS_3, reason="before pandas 3 a column of texts is one of objects")

TEXTS = [["Green tea", ""], ["Öl und 灯台"], ["x" * 300, "last"]]
ALL = [text for texts in TEXTS for text in texts]


def column() -> pd.Series:
    texts = SpilledTexts()
    pieces = [texts.add(own) for own in TEXTS]
    arrays = [texts.joined(pieces[:2], np.array([2, 0, 1])), texts.joined(pieces[2:], np.array([1, 0]))]
    return texts.column(arrays, pd.RangeIndex(5))


ORDERED = [ALL[2], ALL[0], ALL[1], ALL[4], ALL[3]]


@columns
def test_the_column_is_an_ordinary_one(tmp_path: Path) -> None:
    ordinary = make_series(ORDERED, "string", pd.RangeIndex(5))
    pd.testing.assert_series_equal(column(), ordinary)
    pd.testing.assert_series_equal(pickle.loads(pickle.dumps(column())), ordinary)
    column().to_frame("evidence").to_parquet(tmp_path / "texts.parquet")
    pd.testing.assert_series_equal(
        pd.read_parquet(tmp_path / "texts.parquet")["evidence"], ordinary, check_names=False
    )


@columns
def test_neither_it_nor_rows_of_it_take_the_memory_of_its_texts() -> None:
    before = pa.total_allocated_bytes()
    texts = SpilledTexts()
    pieces = [texts.add(["x" * 1_000] * 1_000) for _ in range(20)]
    made = texts.column((texts.joined([piece], np.arange(1_000)) for piece in pieces), pd.RangeIndex(20_000))
    some = made.iloc[[7, 19_999, 3]]
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert some.str.len().tolist() == [1_000] * 3
    assert made.str.len().sum() == 20_000_000


@columns
def test_a_column_of_nothing() -> None:
    assert SpilledTexts().column([], pd.RangeIndex(0)).tolist() == []
    texts = SpilledTexts()
    empty = texts.joined([texts.add(["", ""])], np.array([1, 0]))
    assert texts.column([empty], pd.RangeIndex(2)).tolist() == ["", ""]


@columns
def test_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    assert column().tolist() == ORDERED


@columns
@pytest.mark.parametrize("room", [0, 300, 700, 5_000])
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    class Small(io.BytesIO):
        """A file of which so many bytes have a place: a part of the last is written."""

        def write(self, data: Any) -> int:
            return super().write(bytes(data)[: max(0, room - self.tell())])

        def fileno(self) -> int:
            raise AssertionError("it is not mapped")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Small())
    assert column().tolist() == ORDERED


def test_texts_are_read_in_any_order() -> None:
    texts = SpilledSequence([*ALL, None, "half \ud83d"])
    assert list(texts) == [*ALL, "", "half \ud83d"]
    assert [texts[row] for row in (4, 0, -1, 2)] == [ALL[4], ALL[0], "half \ud83d", ALL[2]]
    assert texts[1:3] == ALL[1:3]
    with pytest.raises(IndexError):
        texts[7]
