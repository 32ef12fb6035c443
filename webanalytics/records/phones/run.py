"""Phone look-up on this machine as a run, slice by slice: progress, and the finished rows of an interrupt."""

from __future__ import annotations

from typing import Any

import pandas as pd
from numpy.typing import NDArray

from webanalytics.operations import PHONE
from webanalytics.records.phones.columns import lookup_frame
from webanalytics.runs.loop_thread import Run, current_run
from webanalytics.runs.partial import Partial, forget, keep
from webanalytics.runs.run import in_thread

SLICE = 50_000
"""Numbers that are looked up at once."""


async def look_up(
    values: pd.Series,
    region: str | None,
    regions: NDArray[Any] | None,
    *,
    details: bool,
    progress: bool | None,
) -> pd.DataFrame:
    """Return the frame of phone numbers; the event loop is free meanwhile."""
    parts: list[pd.DataFrame] = []

    def slice_at(start: int) -> pd.DataFrame:
        rows = slice(start, start + SLICE)
        own = None if regions is None else regions[rows]
        return lookup_frame(values.iloc[rows], region, own, details=details)

    def joined() -> pd.DataFrame:
        found = parts or [slice_at(len(values))]
        frame = found[0] if len(found) == 1 else pd.concat(found)
        frame.attrs = dict(found[0].attrs)
        return frame

    waited_for = current_run.get()
    run = waited_for or Run()
    partial = Partial(joined, lambda: sum(map(len, parts)))
    run.start(len(values), partial, PHONE.name, progress)
    try:
        for start in range(0, len(values), SLICE):
            parts.append(await in_thread(len(values), slice_at, start))
            run.step(len(parts[-1]))
        frame = await in_thread(len(values), joined)
    except BaseException:
        if waited_for is None:  # nobody else will keep the rows
            keep(partial)
        raise
    finally:
        if waited_for is None:
            run.close()
    if waited_for is None:
        forget(partial)
    return frame
