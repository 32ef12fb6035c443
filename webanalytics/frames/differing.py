"""Which rows differ between the columns of two folders, found without decoding what is equal.

`audits.compare` asks for them, and decodes those alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.frames.parts import BLOCK_BYTES, PART_ROWS, Places, RowParts
from webanalytics.frames.stored import StoredArray, stored

FEWEST = 8
"""Rows that are not divided further where some of them differ."""


def differing(
    before: pd.DataFrame, after: pd.DataFrame, firsts: Sequence[int], seconds: Sequence[int]
) -> dict[str, list[int]]:
    """Return for columns that are in folders which of the pairs of rows may differ.

    Parameters
    ----------
    before, after : pandas.DataFrame
        Two frames.
    firsts, seconds : sequence of int
        Rows of the first, and the row of the second that each is compared with.

    Returns
    -------
    dict
        Positions among the pairs by column; all others are equal. Columns about which nothing is known, such
        as those in memory, are left out.
    """
    known = {name: _alike(before, after, name) for name in after.columns if name in before.columns}
    pairs = {name: pair for name, pair in known.items() if pair is not None}
    if not pairs or not len(firsts):
        return {}
    sides = [_side([pair[place] for pair in pairs.values()]) for place in (0, 1)]
    if any(places is None for _, places in sides):
        return {}
    (one, old), (two, new) = sides
    return dict(_differing(one, two, pairs, old[np.asarray(firsts)], new[np.asarray(seconds)]))


def _alike(before: pd.DataFrame, after: pd.DataFrame, name: str) -> tuple[StoredArray, StoredArray] | None:
    """Return the arrays of a column that both frames have in folders, stored in the same way."""
    old, new = stored(before[name]), stored(after[name])
    if old is None or new is None:
        return None
    layouts = [array.dtype.parts.layout(array.dtype.column) for array in (old, new)]
    return (old, new) if layouts[0] is not None and layouts[0] == layouts[1] else None


def _side(arrays: Sequence[StoredArray]) -> tuple[RowParts, Any]:
    """Return the parts and places that columns have in common; None for places where they have not."""
    parts, places = arrays[0].dtype.parts, arrays[0].places
    shared = all(
        array.dtype.parts is parts and (array.places is places or np.array_equal(array.places, places))
        for array in arrays
    )
    return parts, places if shared and (places >= 0).all() else None


def _differing(
    one: RowParts, two: RowParts, pairs: dict[str, tuple[StoredArray, StoredArray]], old: Places, new: Places
) -> Iterator[tuple[str, list[int]]]:
    order = np.argsort(new, kind="stable")  # parts are read one after the other
    for names in _groups(two, pairs):
        found: dict[str, list[int]] = {name: [] for name in names}
        for start in range(0, len(order), PART_ROWS):
            rows = order[start : start + PART_ROWS]
            first = one.table_at([pairs[name][0].dtype.column for name in names], old[rows])
            second = two.table_at([pairs[name][1].dtype.column for name in names], new[rows])
            for place, name in enumerate(names):
                found[name] += rows[list(_unequal(first.column(place), second.column(place)))].tolist()
        yield from found.items()


def _groups(parts: RowParts, pairs: dict[str, tuple[StoredArray, StoredArray]]) -> Iterator[list[str]]:
    """Yield columns that are read together: a file is opened once for all of them."""
    group: list[str] = []
    size = 0
    for name, (_, array) in pairs.items():
        cost = parts.bytes_of(array.dtype.column) * PART_ROWS // max(1, len(parts))
        if group and size + cost > BLOCK_BYTES:
            yield group
            group, size = [], 0
        group.append(name)
        size += cost
    yield group


def _unequal(old: Any, new: Any, start: int = 0) -> Iterator[int]:
    """Yield the places of values that may differ."""
    if old.equals(new):
        return
    if len(old) <= FEWEST:
        yield from range(start, start + len(old))
        return
    half = len(old) // 2
    yield from _unequal(old.slice(0, half), new.slice(0, half), start)
    yield from _unequal(old.slice(half), new.slice(half), start + half)
