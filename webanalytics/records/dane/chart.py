"""A chart of the security levels of TLSA records."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from webanalytics.core.strings import counted
from webanalytics.notebook.drawing import captions, data, style

LEVELS = ("Recommended", "Good", "Acceptable", "Weak", "Invalid")
"""The security levels, from best to worst."""


@style.chart
def tlsa_security(frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Draw how many TLSA records have each security level, the best at the top.

    Every row of the frame counts, as one record may serve many names. Lines that are not TLSA records are
    left out and counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.dane` returned: ``security_level``.

    Notes
    -----
    The levels follow RFC 7671: *Recommended* is DANE-EE(3) with the public key and SHA-256;
    `webanalytics.dane` explains the level of each record.

    Examples
    --------
    >>> frame = pd.DataFrame({"security_level": ["Good", "Recommended", "Good"]})
    >>> [int(bar.get_width()) for bar in tlsa_security(frame).patches]
    [1, 2, 0, 0, 0]
    """
    records = data.pick(frame, ["security_level"], ("dane",))
    given = pd.Series(data.strings(records["security_level"]), index=records.index, dtype=object)
    usable = given.isin(LEVELS).to_numpy() & ~data.has_failed(records)
    counts = [int((given[usable] == level).sum()) for level in LEVELS]
    ax = style.start(ax, style.row_height(len(LEVELS), 1.3, each=0.36))
    if not any(counts):
        one, several = "This line is no TLSA record.", "None of these lines is a TLSA record."
        captions.message(ax, data.why_empty(records, "No records.", one, several))
    else:
        _bars(ax, counts)
    note = data.left_out(records, usable, "without a level") if len(records) > 1 else ""
    heading = title or f"Security of {counted(sum(counts), 'TLSA record')}"
    captions.headline(ax, heading, note)
    return ax


def _bars(ax: Axes, counts: list[int]) -> None:
    total = sum(counts)
    bars: Any = ax.barh(range(len(counts)), counts, height=0.7, color=style.LEVELS)
    values = [f"{count:,}  ({count / total:.0%})" if count else "0" for count in counts]
    captions.row_labels(ax, LEVELS)
    captions.label_bars(ax, bars, values, max(counts))
    captions.count_axis(ax.xaxis)
    captions.grid(ax, "x")
    captions.finish_value_axis(ax, "records")
