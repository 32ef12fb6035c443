"""Tables of a history: a cell that is as it was the run before is not stored again.

A table is the places of its cells, each a part and a row of it, and parts: those of the run before, and one
with what is new. Cells are compared, not hashed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import numpy as np

from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.storage.store import Store

KEY = "url"
"""The column by which rows of two runs are the same page."""
MOST_PARTS = 60
"""Parts of a table from which on all is stored anew: each of them is opened to read it."""
BITS, MASK, ABOUT = 32, 0xFFFFFFFF, b"cells"
Entry: TypeAlias = Mapping[str, Any]


def written(store: Store, table: Any, before: tuple[Entry, Any] | None) -> dict[str, Any]:
    """Store a table, without what the one before has too, and return the entry that `read` takes."""
    import pyarrow as pa

    entry: Entry
    earlier: Any
    entry, earlier = before or ({"parts": []}, None)
    goes_on = earlier is not None and len(entry["parts"]) < MOST_PARTS
    parts, old = (list(entry["parts"]), _places(store.table(entry["places"]))) if goes_on else ([], {})
    rows = {url: row for row, url in enumerate(earlier[KEY].to_pylist())} if goes_on else {}
    aligned = np.array([rows.get(url, -1) for url in table[KEY].to_pylist()], np.int64)
    fresh: dict[str, Any] = {}
    places: dict[str, Any] = {}
    for name in table.column_names:
        array, at = table[name].combine_chunks(), np.full(len(table), -1, np.int64)
        if name in old and earlier[name].type == array.type:
            was, pairs = earlier[name].to_pylist(), zip(aligned.tolist(), array.to_pylist(), strict=True)
            same = np.array([row >= 0 and was[row] == cell for row, cell in pairs], bool)
            at[same] = old[name][aligned[same]]
        new = np.flatnonzero(at < 0)
        at[new], places[name] = (len(parts) << BITS) + np.arange(len(new)), at
        if len(new):
            fresh[name] = array.take(pa.array(new))
    if size := max(map(len, fresh.values()), default=0):
        for name, array in fresh.items():
            fresh[name] = pa.concat_arrays([array, pa.nulls(size - len(array), array.type)])
        parts.append(store.write_part("cells", pa.table(fresh)))
    used = np.unique(np.concatenate(list(places.values())) >> BITS)
    distinct: dict[bytes, tuple[int, Any]] = {}  # most columns change together, or not at all
    for name, at in places.items():
        at = (np.searchsorted(used, at >> BITS) << BITS | at & MASK) - np.arange(len(table))  # mostly 0
        places[name] = distinct.setdefault(at.tobytes(), (len(distinct), at))[0]
    metadata = {**(table.schema.metadata or {}), ABOUT: json.dumps(places)}
    listed = pa.table({"at": np.concatenate([at for _, at in distinct.values()])}).replace_schema_metadata(
        metadata
    )
    return {
        "places": store.write_part("places", listed),
        "parts": [parts[at] for at in used.tolist()],
    }


def _places(listed: Any) -> dict[str, Any]:
    blocks = json.loads(listed.schema.metadata[ABOUT])
    at = listed["at"].to_numpy().reshape(max(blocks.values()) + 1, -1)
    return {name: at[block] + np.arange(at.shape[1]) for name, block in blocks.items()}


def read(store: Store, entry: Entry, wanted: Collection[str] | None, known: dict[str, Any]) -> Any:
    """Return a stored table, or some columns; ``known`` keeps parts for the next. Raises as `Store.table`."""
    import pyarrow as pa

    listed, made = store.table(entry["places"]), {}
    for name in entry["parts"]:
        if name not in known:
            part = store.table(name)
            known[name] = (
                part if wanted is None else part.select([one for one in part.column_names if one in wanted])
            )
    for name, at in _places(listed).items():
        if wanted is None or name in wanted:
            used, which = np.unique(at >> BITS, return_inverse=True)
            chunks = [known[entry["parts"][part]][name].combine_chunks() for part in used.tolist()]
            starts, row = np.cumsum([0, *map(len, chunks)]), at & MASK
            if (row >= np.diff(starts)[which]).any():
                raise Unreadable
            made[name] = (
                pa.chunked_array(chunks).take(pa.array(starts[which] + row)) if chunks else pa.nulls(0)
            )
    metadata = {key: value for key, value in listed.schema.metadata.items() if key != ABOUT}
    return pa.table(made).replace_schema_metadata(metadata)
