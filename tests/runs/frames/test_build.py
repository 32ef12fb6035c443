"""A frame is laid out piece by piece."""

from __future__ import annotations

import tracemalloc

import pandas as pd

from webanalytics.core.outcomes import JobResult, PackedOutcomes
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.frames.build import PAGES_AT_ONCE, FrameBuilder
from webanalytics.runs.frames.inputs import read_inputs

TEXT = next(operation for operation in AUDIT_PAGES if operation.name == "text")
LONG = 20_000


def built(count: int) -> FrameBuilder:
    urls = [f"https://a.example/{number}" for number in range(count)]
    builder = FrameBuilder(read_inputs(urls, TEXT, "urls"), (TEXT,))
    for number in range(count):
        data = {"text": f"{number} ".ljust(LONG, "x"), "language": "en", "title": None}
        builder.add(JobResult(number, PackedOutcomes(PackedOutcomes.pack([data]))))
    return builder


def test_pieces_make_one_frame() -> None:
    count = 2 * PAGES_AT_ONCE + 1
    frame = built(count).frame()
    assert frame.index.equals(pd.RangeIndex(count))
    assert frame["url"].tolist() == [f"https://a.example/{number}" for number in range(count)]
    assert [text.split()[0] for text in frame["text"]] == list(map(str, range(count)))
    assert frame["title"].isna().all()
    assert frame.dtypes.equals(built(3).frame().dtypes)


def test_texts_are_not_in_memory_twice() -> None:
    count = 8 * PAGES_AT_ONCE
    builder = built(count)
    tracemalloc.start()
    frame = builder.frame()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(frame) == count
    # Beside the frame there are the texts of one piece, not of all.
    assert peak - held < 3 * PAGES_AT_ONCE * LONG < count * LONG / 2
