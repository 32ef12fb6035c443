"""Phone numbers looked up slice by slice: the frame that looking up each of them gives."""

from __future__ import annotations

import asyncio
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from webanalytics.records.phones import columns as lookup
from webanalytics.runs.backends.local import LocalBackend

NUMBERS = pd.Series(
    ["+12085813945", "+442079460958", "020 7946 0958", None, "n/a", "+999123", "+12085813945", 12085813945],
    index=list("abcdefgh"),
    dtype=object,
)


@pytest.mark.parametrize("details", [True, False])
@pytest.mark.parametrize("region", [None, "GB"])
@pytest.mark.parametrize("size", [3, 100])
def test_the_frame_is_that_of_jobs(
    details: bool, region: str | None, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "SLICE", size)
    found = wa.phones(NUMBERS, details=details, region=region)
    assert_frame_equal(found, wa.phones(NUMBERS, details=details, region=region, backend=LocalBackend()))
    assert found.attrs["webanalytics"]["operation"] == "phone"


@pytest.mark.parametrize("details", [True, False])
def test_no_numbers_give_the_same_columns(details: bool) -> None:
    empty = wa.phones(pd.Series([], dtype=object), details=details)
    assert_frame_equal(
        empty, wa.phones(NUMBERS, details=details).iloc[:0].reset_index(drop=True), check_index_type=False
    )


def test_an_interrupt_keeps_the_finished_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "SLICE", 3)
    look_up, slices = lookup.lookup_frame, []

    def interrupted(*args: Any, **options: Any) -> pd.DataFrame:
        if len(slices) == 2:
            raise asyncio.CancelledError
        slices.append(look_up(*args, **options))
        return slices[-1]

    monkeypatch.setattr(lookup, "lookup_frame", interrupted)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(wa.aio.phones(NUMBERS))
    kept = wa.last_partial()
    assert kept is not None
    assert kept.index.tolist() == list("abcdef")
