"""Tables of the report's chapters as plain data, and the cells they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from webanalytics.audits.report.cells import Scalar
from webanalytics.audits.report.content import Content
from webanalytics.audits.words import number as written
from webanalytics.audits.words import say, several


class PageLink(NamedTuple):
    """A page that the report has a card of: its row, title and address; the address alone is its name."""

    row: int
    name: str
    address: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a chapter's table."""

    text: str = ""
    note: str = ""  # below, in smaller letters
    number: bool = False  # aligned as one
    tint: int = 0  # from 0 to 5: how large its share of the row is
    wanted: Mapping[str, str] = field(default_factory=dict)  # what its button filters by
    pages: Sequence[PageLink] = ()
    rule: str = ""  # name of one that it links to
    badge: str = ""  # a priority, or what became of an issue
    language: str = ""  # code of one whose name the script shows


class Table(NamedTuple):
    """Headings, rows of cells whose first one is their head, and what is left out."""

    name: str
    note: str
    headings: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    more: str = ""


@dataclass(frozen=True)
class Chapter:
    """One chapter: what its figures are of, its tables, and why pages are missing in it."""

    id: str
    title: str
    note: str
    tables: Sequence[Table]
    missing: Sequence[tuple[str, int]] = ()
    lists: Sequence[tuple[int, str, str]] = ()
    """Lists that the script fills: place among them, heading, and number of rows."""
    line: Sequence[tuple[float, float, str]] = ()
    """Scores through time: where between the first and the last one, how high, and what it is."""


def headings(*names: str, numbers: str = "") -> list[Cell]:
    """Return the head of a table; ``numbers`` marks a column of numbers by ``n``.

    Examples
    --------
    >>> [(cell.text, cell.number) for cell in headings("Page", "Words", numbers=".n")]
    [('Page', False), ('Words', True)]
    """
    kinds = numbers.ljust(len(names), ".")
    return [Cell(say(name), number=kind == "n") for name, kind in zip(names, kinds, strict=True)]


def number(value: Scalar, digits: int = 0, note: str = "") -> Cell:
    """Return the cell of a number, a dash where there is none."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return Cell(written(float(value or 0), digits) if known else "–", note, number=True)


def and_more(count: int, shown: int) -> str:
    """Return how many there are besides those that are shown, if any."""
    return several("and {n} more", "and {n} more", count - shown) if count > shown else ""


def page_link(content: Content, row: int) -> PageLink:
    """Return the link to the card of a page."""
    title, url = content.values("title")[row], str(content.values("url")[row])
    named = url or say("Page {n}", n=written(row + 1))
    return PageLink(row, str(title), url) if title else PageLink(row, named)


def page_cell(content: Content, url: Scalar, note: str = "", *, address: bool = True) -> Cell:
    """Return the cell of an address: a link to its card where the report has one."""
    row = content.row_of.get(url, -1)
    if row < 0:
        return Cell(str(url or "–"), note)
    found = page_link(content, row)
    return Cell(note=note, pages=[found if address else found._replace(address="")])
