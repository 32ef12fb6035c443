"""Charts of the report as plain data, which their template draws as lists and tables with inline SVG bars.

Bars carry no text and no colour of their own: the style sheet colours them for light, dark and print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple

import numpy as np

from webanalytics.audits.report.cells import Scalar
from webanalytics.audits.report.content import Content, RuleLine
from webanalytics.audits.score import COSTS
from webanalytics.audits.words import number, percent, say, several
from webanalytics.thresholds import TITLE_CHARACTERS, TITLE_PIXELS

FEWEST_RULES, MOST_RULES = 8, 12
"""Rules under "fix first": so many at least, and more while they are of high priority."""

MOST_SECTIONS = 15
SLOTS = 21
"""Columns of the histogram; the last one holds all that is longer."""

_HEIGHT, _TOP, _BASE = 150, 6, 128


@dataclass(frozen=True)
class Line:
    """One bar, which links to a rule or filters the pages."""

    label: str
    count: int
    colour: str
    after: str = ""
    wanted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bars:
    """A list of bars with its headline and its unit."""

    name: str
    note: str
    lines: list[Line]

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
    """Widths of titles: columns of blocks above the range of good ones."""

    name: str
    words: str
    zone: tuple[str, str]
    columns: list[tuple[str, list[Block]]]
    ticks: list[tuple[str, str]]
    height: int = _HEIGHT
    top: int = _TOP
    base: int = _BASE
    width: str = f"{100 * 0.84 / SLOTS:.2f}%"


class Shape(NamedTuple):
    """What a histogram of titles measures: the limits of good ones, how much a column holds, and the unit."""

    low: int
    high: int
    step: int
    unit: str


_WIDTHS = Shape(*TITLE_PIXELS, 50, "pixels")
_LENGTHS = Shape(*TITLE_CHARACTERS, 5, "characters")


class MatrixRow(NamedTuple):
    """A section of the site: its pages, and for each category the pages with an issue and a tint."""

    section: str
    size: int
    cells: list[tuple[str, int, int]]


@dataclass(frozen=True)
class Matrix:
    """Sections or hosts by categories of rules, in the order "fix first"."""

    kind: str
    note: str
    categories: list[str]
    rows: list[MatrixRow]


def first(content: Content) -> list[RuleLine]:
    """Return the rules to fix first: all of high priority, as far as there is room, then the next ones."""
    high = sum(line.priority == "high" for line in content.rules)
    return content.rules[: min(MOST_RULES, max(FEWEST_RULES, high))]


def status_label(value: Scalar) -> str:
    """Return an HTTP status with its phrase.

    >>> status_label(404), status_label(None), status_label(599)
    ('404 Not Found', 'No answer', '599')
    """
    if not isinstance(value, (int, float)):
        return say("No answer")
    code = int(value)
    phrase = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else ""
    return f"{code} {phrase}".strip()


def statuses(content: Content) -> Bars | None:
    """Return bars of HTTP status codes, or of pages read and failed; None where all were read."""
    if "http_status" not in content.pages:
        if content.ok == content.size:
            return None
        lines = [
            Line(say("Read"), content.ok, "good", wanted={"status": "ok"}),
            Line(say("Not read"), content.size - content.ok, "high", wanted={"status": "failed"}),
        ]
        return Bars(say("Pages read"), say("Whether pages could be read."), lines)
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
    return Bars(say("Status codes"), say("By the status of the last answer."), lines)


def types(content: Content) -> Bars | None:
    """Return bars of the types of pages; None where they are not known."""
    counts = Counter(str(kind) for kind in content.values("page_type") if kind)
    unsure, read = sum(map(bool, content.values("content_note"))), content.ok or content.size
    lines = [
        Line(say(kind.capitalize()), count, "low", percent(count / read), {"page_type": kind})
        for kind, count in counts.most_common()
    ]
    more = several("The text of {n} page may lack parts.", "The texts of {n} pages may lack parts.", unsure)
    note = say("By their elements and structured data.") + f" {more}" * bool(unsure)
    return Bars(say("Types of pages"), note, lines) if lines else None


def _status_colour(code: Scalar) -> str:
    if not isinstance(code, (int, float)) or code >= 500:
        return "high"
    return "good" if code < 300 else "low" if code < 400 else "medium"


def matrix(content: Content) -> Matrix | None:
    """Return a table of sections by categories of rules: the pages with an issue in each."""
    if "section" not in content.pages or not content.rules:
        return None
    sections = content.values("section")
    of_pages = {
        rule for rule, page in zip(content.issues["rule"], content.issues["page"], strict=True) if page >= 0
    }
    categories = list(
        dict.fromkeys(line.category for rule, line in enumerate(content.rules) if rule in of_pages)
    )
    counts, worst = _of_sections(content, sections, categories)
    sizes = Counter(section for section in sections if section is not None)
    shown = sorted(sizes, key=lambda name: (-sizes[name], -worst[name], str(name)))[:MOST_SECTIONS]
    if content.kind == "host":  # a row of one page would say yes or no in the darkest tint
        shown = [name for name in shown if sizes[name] > 1]
    if not shown or len(shown) < 2 <= len(sizes):
        return None
    rows = [
        MatrixRow(
            str(section),
            sizes[section],
            [
                (name, count, min(5, 1 + int(5 * count / sizes[section])))
                for name, count in zip(categories, counts[section], strict=True)
            ],
        )
        for section in shown
    ]
    note = say("Pages with an issue of a category; the stronger the colour, the larger their share.")
    if len(sizes) > len(shown):
        of = {"part": number(len(shown)), "whole": number(len(sizes))}
        note += " " + say("The largest {part} of {whole}, those with the most to fix first.", **of)
    return Matrix(content.kind, note, categories, rows)


def _of_sections(
    content: Content, sections: list[Scalar], categories: list[str]
) -> tuple[dict[Scalar, list[int]], dict[Scalar, float]]:
    """Return for each section its pages with an issue of each category, and what all its issues cost."""
    names = list(dict.fromkeys(sections))
    known = {name: place for place, name in enumerate(names)}
    section = np.array([known[name] for name in sections], dtype=np.int64)
    names_of = {name: place for place, name in enumerate(categories)}
    category = np.array([names_of.get(line.category, -1) for line in content.rules], dtype=np.int64)
    costs = {str(priority): cost for priority, cost in COSTS.items()}
    cost = np.array([costs[line.priority] for line in content.rules], dtype=np.int64)
    pages, rules = (np.array(content.issues[name], dtype=np.int64) for name in ("page", "rule"))
    pages, rules = pages[pages >= 0], rules[pages >= 0]
    once = np.unique(pages * len(categories) + category[rules])
    counts = np.zeros((len(names), len(categories)), dtype=np.int64)
    np.add.at(counts, (section[once // len(categories)], once % len(categories)), 1)
    totals = np.bincount(section[pages], cost[rules], len(names))
    return dict(zip(names, counts.tolist(), strict=True)), dict(zip(names, totals.tolist(), strict=True))


def category_label(category: str) -> str:
    """Return the name of a category at the head of a column.

    >>> category_label("url"), category_label("structured data"), category_label("")
    ('URL', 'Structured data', 'Other')
    """
    return category.upper() if category in ("url", "html") else say(category.capitalize() or "Other")


def titles(content: Content) -> Histogram | None:
    """Return a histogram of the widths of titles in pixels, or of their lengths where those are unknown."""
    shape = _WIDTHS if "title_pixels" in content.pages else _LENGTHS
    found = content.values("title_pixels" if shape is _WIDTHS else "title_length")
    values = [int(value) for value in found if isinstance(value, (int, float)) and value > 0]
    if not values:
        return None
    low, high, step, _ = shape
    last = SLOTS - 1
    bins = Counter(min(value // step, last) for value in values)
    good = Counter(min(value // step, last) for value in values if low <= value <= high)
    most = max(bins.values())
    short, long = sum(value < low for value in values), sum(value > high for value in values)
    marks = range(0, SLOTS, 4)
    return Histogram(
        name=say("Title widths" if shape is _WIDTHS else "Title lengths"),
        words=say(
            "{low} to {high} {unit}: {good}; shorter: {short}; longer: {long}.",
            good=number(len(values) - short - long),
            low=number(low),
            high=number(high),
            unit=say(shape.unit),
            short=number(short),
            long=number(long),
        ),
        zone=(_place(low / step), _place((high - low) / step)),
        columns=[_column(slot, good[slot], bins[slot], most, shape) for slot in sorted(bins)],
        ticks=[(f"{mark * step}{'+' * (mark == last)}", _place(mark)) for mark in marks],
    )


def _place(slots: float) -> str:
    return f"{100 * slots / SLOTS:.2f}%"


def _column(slot: int, good: int, count: int, most: int, shape: Shape) -> tuple[str, list[Block]]:
    """Return the bar of a range of lengths: those within the limits at the bottom, the rest above."""
    first = slot * shape.step
    ends = {"low": number(first), "high": number(first + shape.step - 1)}
    lengths = say("{low} or more" if slot == SLOTS - 1 else "{low} to {high}", **ends)
    blocks: list[Block] = []
    bottom = float(_BASE)
    for part, colour in ((good, "good"), (count - good, "medium")):
        height = (_BASE - _TOP) * part / most
        if part:
            bottom -= height
            blocks.append(Block(_place(slot + 0.08), f"{bottom:.1f}", f"{height:.1f}", colour))
    return f"{lengths} {say(shape.unit)}: {number(count)}", blocks
