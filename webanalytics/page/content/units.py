"""The chosen blocks of a page as one tree: what plain text, Markdown and counts are written from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from webanalytics.page.document import Element
from webanalytics.page.visible_text import Blocks, Piece

MOST_CONTAINERS = 12
"""Lists and quotations in each other that are shown as such."""
MOST_CELLS = 20_000
"""Cells of a table, filled up to equal rows, from which on it is written row by row as text."""
LONGEST_CELL = 1_000
"""Characters of a cell from which on a table lays out the page and holds no data."""
HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPAN = re.compile(r"\s*([0-9]{1,2})\s*\Z")
_NUMBER = re.compile(r"\s*\+?([0-9]{1,9})(?![0-9])")
_CONTAINERS = frozenset(("blockquote", "li", "dd"))
_LAYOUT = frozenset(("presentation", "none"))


class Container(NamedTuple):
    """A list item or a quotation around a unit."""

    node: int
    around: int
    """The list that an item belongs to."""
    number: int | None
    """Number of an item of a numbered list, -1 in another one, None for a quotation."""


class Unit(NamedTuple):
    """A paragraph, heading, piece of code or table of the content."""

    kind: str
    """p, pre, table, dt, or h1 to h6."""
    rows: list[list[list[Piece]]]
    """Pieces of text by row and cell: one of each but in tables; a line of code is a row."""
    containers: tuple[Container, ...]


def units(blocks: Blocks, chosen: Sequence[bool]) -> Iterator[Unit]:
    """Yield what the chosen blocks of a page are, in their order."""
    around = _Surroundings(blocks)
    block, size = 0, len(chosen)
    while block < size:
        if not chosen[block]:
            block += 1
            continue
        host = blocks.hosts[block]
        code, table = around.code[host], around.table[host]
        if code >= 0:
            end = blocks.ends[code]
            lines = [[blocks.pieces[line]] for line in range(block, end) if chosen[line]]
            yield Unit("pre", lines, around.containers(code))
            block = end
        elif table >= 0 and around.is_data(table):
            end = blocks.ends[table]
            yield from _of_table(blocks, chosen, table, around)
            block = max(end, block + 1)
        else:
            tag = blocks.nodes[host].tag
            kind = tag if tag in HEADINGS or tag == "dt" else "p"
            yield Unit(kind, [[blocks.pieces[block]]], around.containers(host))
            block += 1


class _Surroundings:
    """For each node the nearest code and table around it or itself, -1 for none, and its lists."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.code: list[int] = []
        self.table: list[int] = []
        self._items: dict[int, tuple[Container, ...]] = {}
        self._numbers: dict[int, int] = {}
        self._data: dict[int, bool] = {}
        self._nested: set[int] = set()
        for node, (parent, element) in enumerate(zip(blocks.parents, blocks.nodes, strict=True)):
            code = self.code[parent] if parent >= 0 else -1
            table = self.table[parent] if parent >= 0 else -1
            tag = element.tag
            if tag == "pre" and code < 0:
                code = node
            elif tag == "table":
                if table >= 0:
                    self._nested.add(table)
                table = node
            self.code.append(code)
            self.table.append(table)

    def is_data(self, table: int) -> bool:
        """Return whether a table holds data, and does not lay out the page."""
        if table not in self._data:
            blocks = self._blocks
            texts = blocks.texts[blocks.starts[table] : blocks.ends[table]]
            self._data[table] = (
                table not in self._nested
                and (blocks.nodes[table].get("role") or "") not in _LAYOUT
                and all(len(text) <= LONGEST_CELL for text in texts)
                and any(len(row) > 1 for row in rows_of(blocks, table))
            )
        return self._data[table]

    def containers(self, node: int) -> tuple[Container, ...]:
        """Return the list items and quotations around a node, the outermost first."""
        chain: list[int] = []
        blocks = self._blocks
        while node >= 0 and node not in self._items:
            chain.append(node)
            node = blocks.parents[node]
        known = self._items.get(node, ())
        for node in reversed(chain):
            tag = blocks.nodes[node].tag
            if tag in _CONTAINERS and len(known) < MOST_CONTAINERS:
                known = (*known, self._container(node, tag))
            self._items[node] = known
        return known

    def _container(self, node: int, tag: str) -> Container:
        parent = self._blocks.parents[node]
        number = None if tag == "blockquote" else -1
        if tag == "li" and parent >= 0 and self._blocks.nodes[parent].tag == "ol":
            first = _NUMBER.match(self._blocks.nodes[parent].get("start") or "1")
            said = _NUMBER.match(self._blocks.nodes[node].get("value") or "")
            number = self._numbers.get(parent, (int(first[1]) if first else 1) - 1) + 1
            number = int(said[1]) if said else min(number, 999_999_999)
            self._numbers[parent] = number
        return Container(node, parent, number)


def rows_of(blocks: Blocks, table: int) -> list[list[int]]:
    """Return the nodes of the cells of a table by row."""
    end = blocks.nodes[table].end
    rows: list[list[int]] = []
    for node in range(table + 1, len(blocks.nodes)):
        element = blocks.nodes[node]
        if element.position >= end:
            break
        if element.tag == "tr":
            rows.append([])
        elif element.tag in ("td", "th") and rows:
            rows[-1].append(node)
    return rows


def _of_table(blocks: Blocks, chosen: Sequence[bool], table: int, around: _Surroundings) -> Iterator[Unit]:
    """Yield a table with what stands in it outside of its rows, such as its caption."""
    containers = around.containers(table)
    rows, taken = _grid(blocks, chosen, rows_of(blocks, table))
    for block in range(blocks.starts[table], blocks.ends[table]):
        if chosen[block] and block not in taken:
            yield Unit("p", [[blocks.pieces[block]]], containers)
    if rows and len(rows) * max(map(len, rows)) <= MOST_CELLS:
        yield Unit("table", rows, containers)
    else:
        for row in rows:
            yield Unit("p", [[_joined(row)]], containers)


def _grid(
    blocks: Blocks, chosen: Sequence[bool], table: list[list[int]]
) -> tuple[list[list[list[Piece]]], set[int]]:
    """Return what was chosen in the cells of a table, each in its column, and the blocks in them.

    Cells over several columns or rows leave the others empty, up to the size at which it is no table here.
    """
    rows: list[list[list[Piece]]] = []
    taken: set[int] = set()
    reaching: dict[int, int] = {}  # columns into which a cell of a row above reaches, and for how many rows
    size = 0
    for cells in table:
        row: list[list[Piece]] = []
        for cell in cells:
            _leave(row, reaching)
            inside = range(blocks.starts[cell], blocks.ends[cell])
            taken.update(inside)
            width, height = (_span(blocks.nodes[cell], name) for name in ("colspan", "rowspan"))
            if size + len(row) + width > MOST_CELLS:
                width = height = 1
                reaching.clear()
            if height > 1:
                reaching.update(dict.fromkeys(range(len(row), len(row) + width), height - 1))
            row.append(_joined([blocks.pieces[block] for block in inside if chosen[block]]))
            row.extend([] for _ in range(width - 1))
        _leave(row, reaching)
        size += len(row)
        if any(row):
            rows.append(row)
    # Columns in which nothing was chosen end with the last one that has something.
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell), default=0)
    return [row[:width] for row in rows], taken


def _leave(row: list[list[Piece]], reaching: dict[int, int]) -> None:
    """Leave the next columns of a row empty into which cells of rows above reach."""
    while reaching.get(len(row), 0):
        reaching[len(row)] -= 1
        row.append([])


def _span(cell: Element, name: str) -> int:
    """Return over how many columns or rows a cell reaches."""
    said = cell.get(name)
    found = _SPAN.match(said) if said else None
    return max(int(found[1]), 1) if found else 1


def _joined(parts: list[list[Piece]]) -> list[Piece]:
    """Return the pieces of several blocks as those of one, with white space between them."""
    if len(parts) < 2:
        return parts[0] if parts else []
    return [piece for part in parts if part for piece in (*part, (" ", part[-1][1]))]
