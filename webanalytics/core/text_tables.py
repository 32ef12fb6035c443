"""Tables of text in aligned columns, for the terminal: frames, audits and the keys of the service."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from webanalytics.core.strings import display_width, shortened

GAP = "  "
NARROWEST = 8
"""Cells below which no column is made narrower."""


def table_lines(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Collection[str] = (),
    width: int | None = None,
    rule: bool = False,
) -> list[str]:
    """Return the lines of a table: the headings, a rule if wanted, and the rows.

    Parameters
    ----------
    headings : sequence of str
        One for each column.
    rows : iterable of sequences of str
        Cells, each printable text of one line.
    numbers : collection of str
        Headings of the columns that are aligned on the right.
    width : int, optional
        Terminal cells of a line: the widest columns are narrowed until it fits, as far as they can be.
    rule : bool
        Whether a line of hyphens follows the headings.

    Examples
    --------
    >>> rows = [["/tea", "7"], ["/お茶", "120"]]
    >>> for line in table_lines(["page", "words"], rows, numbers=["words"]):
    ...     print(line)
    page   words
    /tea       7
    /お茶    120
    """
    table = [list(headings), *map(list, rows)]
    sizes = [max(map(display_width, column)) for column in zip(*table, strict=True)]
    if width is not None:
        _narrow(sizes, width)
    right = [heading in numbers for heading in headings]
    lines = [GAP.join(_cell(*part) for part in zip(row, sizes, right, strict=True)).rstrip() for row in table]
    if rule:
        lines.insert(1, GAP.join("-" * size for size in sizes))
    return lines


def _narrow(sizes: list[int], width: int) -> None:
    """Take cells from the widest column until the line fits."""
    while sizes and sum(sizes) + len(GAP) * (len(sizes) - 1) > width and max(sizes) > NARROWEST:
        sizes[sizes.index(max(sizes))] -= 1


def _cell(text: str, size: int, right: bool) -> str:
    text = shortened(text, size)
    space = " " * (size - display_width(text))
    return space + text if right else text + space
