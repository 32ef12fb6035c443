"""What the report of many pages leaves out, so that it stays one file that opens fast, and how it says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.audits.words import number, say

MANY_PAGES = 20_000
"""Pages from which a report shows everything of some of them alone."""
DETAILED = 2_000
"""Pages of which such a report shows everything: those with the lowest health."""
EVIDENCE = 1_000
"""Issues of each rule of which such a report shows the evidence."""
PACKED = 10_000
"""Entries from which a column of the script's data is packed."""


def detailed(pages: pd.DataFrame) -> list[int] | None:
    """Return the rows of which a report shows everything, None for all."""
    if len(pages) <= MANY_PAGES:
        return None
    if "score" not in pages.columns:
        return list(range(DETAILED))
    scores = pages["score"].to_numpy(np.float64, na_value=np.nan)
    return sorted(np.argsort(scores, kind="stable")[:DETAILED].tolist())


def first_of_each(rules: Sequence[int]) -> list[int]:
    """Return which issues have their evidence in such a report: the first of each rule."""
    known = pd.Series(rules, dtype=np.int64)
    return np.flatnonzero(known.groupby(known).cumcount() < EVIDENCE).tolist()


def note(size: int) -> str:
    """Return the sentence on what the report of so many pages leaves out."""
    return say(
        "Every issue of all {size} pages is listed. Previews, texts, keywords and all facts are shown of the "
        "{detailed} pages with the lowest score, and evidence of the first {evidence} pages of each rule.",
        size=number(size), detailed=number(DETAILED), evidence=number(EVIDENCE),
    )  # fmt: skip


def packed(places: list[int]) -> list[int] | dict[str, list[int]]:
    """Return a column of numbers in the shortest of three forms, of which the script makes numbers again.

    Examples
    --------
    >>> packed([3, 3, 1]), packed([7] * 10_000), packed([2, 4] + list(range(10_000)))["steps"][:4]
    ([3, 3, 1], {'runs': [7, 10000]}, [2, 2, -4, 1])
    """
    if len(places) < PACKED:
        return places
    values = np.array(places, dtype=np.int64)
    steps = np.diff(values, prepend=0)
    starts = np.flatnonzero(np.append(True, steps[1:] != 0))
    runs = np.column_stack([values[starts], np.diff(np.append(starts, len(values)))]).ravel()
    forms = {"plain": values, "steps": steps, "runs": runs}
    best = min(forms, key=lambda name: _signs(forms[name]))
    return places if best == "plain" else {best: forms[best].tolist()}


def _signs(values: Any) -> int:
    """Return about how many characters numbers take in JSON."""
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1))).astype(np.int64) + 2
    return int(digits.sum() + (values < 0).sum())
