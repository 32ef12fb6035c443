"""Limits, priorities and audiences that rules, reports, charts and widgets share.

Lengths of titles and meta descriptions are the fewest and the most that search results show whole: the
usual limits of SEO tools, what a result's line held when they were set. The pixels are those of a title at
20 pixels and a description at 14 pixels in an Arial-like font. Profiles of an audit may set others.
"""

from __future__ import annotations

import math
from typing import Final, Literal

TITLE_CHARACTERS: Final = (30, 60)
TITLE_PIXELS: Final = (200, 561)
DESCRIPTION_CHARACTERS: Final = (70, 155)
DESCRIPTION_PIXELS: Final = (400, 985)

Priority = Literal["high", "medium", "low"]

PRIORITIES: Final[tuple[Priority, ...]] = ("high", "medium", "low")
"""Priorities of rules, the most urgent first."""

GRADE_BANDS: Final[tuple[tuple[float, str], ...]] = (
    (6, "elementary"),
    (9, "middle school"),
    (13, "high school"),
    (16, "college"),
    (math.inf, "post-graduate"),
)
"""Upper limit of the average grade level (not included), and the audience that reads up to it."""

TOP_LEVEL: Final = "(top level)"
"""How the section of pages that lie in no folder is called."""
