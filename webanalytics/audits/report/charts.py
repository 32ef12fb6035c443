"""Charts of the report as plain data, which their template draws as lists and tables with inline SVG bars.

Bars carry no text and no colour of their own: the style sheet colours them for light, dark and print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple

from webanalytics.audits.report.cells import Scalar
from webanalytics.audits.report.content import Content
from webanalytics.strings import percent
from webanalytics.thresholds import PRIORITIES, TITLE_CHARACTERS

MOST_RULES = 12
MOST_SECTIONS = 15
BIN = 5
"""Characters of a title in one bar of the histogram."""

LAST_BIN = 100
_SLOTS = LAST_BIN // BIN + 1
_HEIGHT, _TOP, _BASE = 150, 6, 128


@dataclass(frozen=True)
class Line:
    """One bar, which links to a rule or filters the pages."""

    label: str
    count: int
    colour: str
    after: str = ""
    wanted: Mapping[str, str] = field(default_factory=dict)
    rule: str = ""


@dataclass(frozen=True)
class Bars:
    """A list of bars with its headline and its unit."""

    name: str
    note: str
    lines: list[Line]
    kind: str = ""

    @property
    def most(self) -> int:
        """The count of a bar of full width."""
        return max((line.count for line in self.lines), default=0) or 1


class Block(NamedTuple):
    """One part of a column of the histogram."""

    x: str
    y: str
    height: str
    colour: str


@dataclass(frozen=True)
class Histogram:
    """Lengths of titles: columns of blocks above the range of good lengths."""

    words: str
    zone: tuple[str, str]
    columns: list[tuple[str, list[Block]]]
    ticks: list[tuple[str, str]]
    height: int = _HEIGHT
    top: int = _TOP
    base: int = _BASE
    width: str = f"{100 * 0.84 / _SLOTS:.2f}%"


class MatrixRow(NamedTuple):
    """A section of the site: its pages, and for each category the pages with an issue and a tint."""

    section: str
    size: int
    cells: list[tuple[str, int, int]]


@dataclass(frozen=True)
class Matrix:
    """Sections by categories of rules."""

    note: str
    categories: list[str]
    rows: list[MatrixRow]


def priorities(content: Content) -> Bars:
    """Return bars of issues by priority."""
    lines = [
        Line(
            priority.capitalize(),
            content.issues_of[priority],
            priority,
            f"on {content.pages_of[priority]:,} pages",
            {"priority": priority},
        )
        for priority in PRIORITIES
    ]
    return Bars("Issues by priority", "Issues, and the pages that have any of them.", lines)


def rules(content: Content) -> Bars:
    """Return bars of the rules that most pages break."""
    most = sorted(content.rules, key=lambda line: (-line.pages, PRIORITIES.index(line.priority)))
    lines = [
        Line(line.title, line.pages, line.priority, percent(line.share), rule=line.name)
        for line in most[:MOST_RULES]
    ]
    left = len(most) - len(lines)
    note = "Pages affected; colours are priorities." + (f" {left} more rules below." if left > 0 else "")
    return Bars("Rules by pages", note, lines, "wide")


def status_label(value: Scalar) -> str:
    """Return an HTTP status with its phrase.

    >>> status_label(404), status_label(None), status_label(599)
    ('404 Not Found', 'No answer', '599')
    """
    if not isinstance(value, (int, float)):
        return "No answer"
    code = int(value)
    phrase = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else ""
    return f"{code} {phrase}".strip()


def statuses(content: Content) -> Bars:
    """Return bars of HTTP status codes, or of pages read and failed if there are none."""
    if "http_status" not in content.pages:
        lines = [
            Line("Read", content.ok, "good", wanted={"status": "ok"}),
            Line("Failed", content.size - content.ok, "high", wanted={"status": "failed"}),
        ]
        return Bars("Pages read", "Pages by how their fetch ended.", lines)
    counts = Counter(content.values("http_status"))
    ordered = sorted(counts.items(), key=lambda item: (item[0] is None, item[0] or 0))
    lines = [
        Line(
            status_label(code),
            count,
            _status_colour(code),
            percent(count / content.size),
            {"status": "none" if code is None else f"http:{code}"},
        )
        for code, count in ordered
    ]
    return Bars("Status codes", "Pages by the status of their last answer.", lines)


def _status_colour(code: Scalar) -> str:
    if not isinstance(code, (int, float)) or code >= 500:
        return "high"
    return "good" if code < 300 else "low" if code < 400 else "medium"


def matrix(content: Content) -> Matrix | None:
    """Return a table of sections by categories of rules: the pages with an issue in each."""
    if "section" not in content.pages or not content.rules:
        return None
    sections = content.values("section")
    pairs = {
        (page, content.rules[rule].category)
        for page, rule in zip(content.issues["page"], content.issues["rule"], strict=True)
        if page >= 0
    }
    counts = Counter((sections[page], category) for page, category in pairs)
    sizes = Counter(section for section in sections if section is not None)
    shown = [section for section, _ in sizes.most_common(MOST_SECTIONS)]
    categories = list(dict.fromkeys(line.category for line in content.rules))
    categories.sort(key=lambda name: -sum(counts[section, name] for section in shown))
    rows = [
        MatrixRow(
            str(section),
            sizes[section],
            [
                (name, count := counts[section, name], min(5, 1 + int(5 * count / sizes[section])))
                for name in categories
            ],
        )
        for section in shown
    ]
    note = "Pages of a section with an issue of a category; the darker, the larger their share."
    if len(sizes) > len(shown):
        note += f" The largest {len(shown)} of {len(sizes):,} sections."
    return Matrix(note, categories, rows)


def category_label(category: str) -> str:
    """Return the name of a category at the head of a column.

    >>> category_label("url"), category_label("structured data"), category_label("")
    ('URL', 'Structured data', 'Other')
    """
    return category.upper() if category in ("url", "html") else category.capitalize() or "Other"


def titles(content: Content) -> Histogram | None:
    """Return a histogram of the lengths of titles in characters."""
    lengths = [int(value) for value in content.values("titleLength") if isinstance(value, (int, float))]
    if not lengths:
        return None
    low, high = TITLE_CHARACTERS
    bins = Counter(min(length, LAST_BIN) // BIN for length in lengths)
    good = Counter(min(length, LAST_BIN) // BIN for length in lengths if low <= length <= high)
    most = max(bins.values())
    short, long = sum(value < low for value in lengths), sum(value > high for value in lengths)
    return Histogram(
        words=f"{len(lengths) - short - long:,} titles of {low} to {high} characters, "
        f"{short:,} shorter, {long:,} longer.",
        zone=(_place(low / BIN), _place((high - low) / BIN)),
        columns=[_column(slot, good[slot], bins[slot], most) for slot in sorted(bins)],
        ticks=[
            (f"{mark}+" if mark == LAST_BIN else f"{mark}", _place(mark / BIN))
            for mark in range(0, LAST_BIN + 1, 20)
        ],
    )


def _place(slots: float) -> str:
    return f"{100 * slots / _SLOTS:.2f}%"


def _column(slot: int, good: int, count: int, most: int) -> tuple[str, list[Block]]:
    """Return the bar of a range of lengths: those within the limits at the bottom, the rest above."""
    first = slot * BIN
    lengths = f"{first} or more" if first >= LAST_BIN else f"{first} to {first + BIN - 1}"
    blocks: list[Block] = []
    bottom = float(_BASE)
    for part, colour in ((good, "good"), (count - good, "medium")):
        height = (_BASE - _TOP) * part / most
        if part:
            bottom -= height
            blocks.append(Block(_place(slot + 0.08), f"{bottom:.1f}", f"{height:.1f}", colour))
    return f"{lengths} characters: {count:,}", blocks
