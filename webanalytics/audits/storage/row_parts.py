"""An audit whose rows are in the parts of a folder, saved and loaded: what it holds, and where rows are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.runs.frames.arrow import Unreadable, Unstorable
from webanalytics.runs.storage.lazy_columns import StoredDtype, parts_of, stored, stored_column
from webanalytics.runs.storage.parts import KEY, PART, Places, RowParts
from webanalytics.runs.storage.store import Store, refusal

PLACE = "row_place"
"""Column of the places of rows among those of the parts."""


class StoredRows(NamedTuple):
    """The parts that most columns of a frame are read from, and what a manifest says of them."""

    parts: RowParts
    manifest: Mapping[str, Any]

    def copy_to(self, store: Store) -> None:
        """Copy the parts to another folder.

        Raises
        ------
        ParameterError
            For a folder that has parts of another audit.
        """
        if any(map(PART.fullmatch, store.names())):
            raise refusal("folder", "without the rows of another audit")
        mine = Store(self.parts.folder, "", PART)
        for name in self.parts.names:
            with mine.opened_part(name) as file:
                store.write(name, file.read())


def divided(frame: pd.DataFrame) -> tuple[pd.DataFrame, StoredRows | None]:
    """Return what a frame holds, with the places of its rows, and its parts; of one in memory, itself.

    Raises
    ------
    Unstorable
        For columns of several folders or orders.
    """
    parts = parts_of(frame)
    if parts is None:
        return frame, None
    names = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, StoredDtype)]
    arrays = [array for name in names if (array := stored(frame[name])) is not None]
    places = arrays[0].places
    for array in arrays:
        if array.dtype.parts is not parts or not (
            array.places is places or np.array_equal(array.places, places)
        ):
            raise Unstorable("its columns must be of the same rows of one folder")
    held = frame.drop(columns=names)
    held[PLACE] = places
    held.attrs = dict(frame.attrs)
    columns = [
        [str(name), dtype.column if isinstance(dtype, StoredDtype) else None]
        for name, dtype in frame.dtypes.items()
    ]
    return held, StoredRows(parts, {"names": parts.names, "columns": columns})


def joined(folder: Path, held: pd.DataFrame, manifest: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame that `divided` has divided; raises the errors of `frames.arrow.frame_of`."""
    names, columns = manifest["names"], manifest["columns"]
    if not isinstance(names, list) or not all(
        isinstance(name, str) and PART.fullmatch(name) for name in names
    ):
        raise Unreadable
    parts = RowParts(folder, "audit", names)
    places: Places = held[PLACE].to_numpy(np.int32)
    if len(places) and not (places.min() >= -1 and places.max() < len(parts)):
        raise Unreadable
    made: dict[str, pd.Series] = {}
    for name, source in columns:
        if source is None:
            made[name] = held[name]
        elif source in parts.columns and source != KEY:
            made[name] = stored_column(parts, source, places, held.index)
        else:
            raise Unreadable
    frame = pd.DataFrame(made, index=held.index)
    frame.attrs = dict(held.attrs)
    return frame
