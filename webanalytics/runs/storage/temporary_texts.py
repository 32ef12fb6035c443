"""Texts of many rows in temporary files: columns and sequences of them are read when they are asked for.

`audits.found` keeps evidence in them while the rules run, and the frame of issues has its column from one.
`audits.pages` compares the texts of pages in one.
"""

from __future__ import annotations

import io
import mmap
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd


class Spill:
    """Bytes in a temporary file without a name; in memory where none can be made or its disk is full."""

    def __init__(self) -> None:
        self.ends = [0]
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `__del__`
        except OSError:
            self._file = io.BytesIO()

    def __del__(self) -> None:
        self._file.close()  # what is mapped stays

    def add(self, data: bytes | memoryview) -> int:
        """Write a piece, and return its number."""
        start = self.ends[-1]
        try:
            self._put(start, data)
        except OSError:
            with self._file as full:
                full.seek(0)
                self._file = io.BytesIO(full.read(start))
            self._put(start, data)
        self.ends.append(start + len(data))
        return len(self.ends) - 2

    def _put(self, start: int, data: bytes | memoryview) -> None:
        self._file.seek(start)
        if self._file.write(data) < len(data):
            raise OSError("the disk is full")

    def piece(self, number: int) -> bytes:
        """Return a piece."""
        start, end = self.ends[number : number + 2]
        self._file.seek(start)
        return self._file.read(end - start)

    def mapped(self) -> Any:
        """Return all pieces as one buffer of Arrow, of which nothing is read yet."""
        import pyarrow as pa

        size = self.ends[-1]
        if size == 0 or isinstance(self._file, io.BytesIO):
            self._file.seek(0)
            return pa.py_buffer(self._file.read(size))
        return pa.py_buffer(mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ))


class SpilledTexts:
    """Texts in a temporary file, written in pieces, of which columns are made."""

    def __init__(self) -> None:
        self._spill = Spill()

    def add(self, texts: Any) -> int:
        """Write texts, a list or an Arrow array, and return the number of this piece."""
        import pyarrow as pa

        batch = pa.record_batch([pa.array(texts, pa.large_string())], ["text"])
        return self._spill.add(memoryview(batch.serialize()))

    def joined(self, pieces: Sequence[int], order: npt.NDArray[np.intp]) -> Any:
        """Return the texts of some pieces in another order, as an Arrow array."""
        import pyarrow as pa

        arrays = [_texts(self._spill.piece(number)) for number in pieces]
        return pa.concat_arrays(arrays).take(pa.array(order))

    def column(self, arrays: Iterable[Any], index: pd.Index) -> pd.Series:
        """Return a column of texts, one Arrow array after the other, which has a file of its own."""
        import pyarrow as pa

        spill, edges = Spill(), [np.zeros(1, np.int64)]
        for array in arrays:
            _, offsets, data = array.buffers()
            own = np.frombuffer(offsets, np.int64)[: len(array) + 1]
            edges.append(own[1:] + spill.ends[-1])
            spill.add(memoryview(data)[: own[-1]])
        places = pa.py_buffer(np.concatenate(edges))
        # one array, not a chunk for each: of several, pyarrow copies all when a few rows are taken
        texts = pa.Array.from_buffers(pa.large_string(), len(index), [None, places, spill.mapped()])
        dtype: Any = pd.StringDtype("pyarrow", na_value=np.nan)
        return pd.Series(dtype.__from_arrow__(texts), index=index)


class SpilledSequence(Sequence[str]):
    """Texts that are read one by one from a temporary file; a missing one is empty."""

    def __init__(self, texts: Iterable[str | None]) -> None:
        self._spill = Spill()
        for text in texts:
            self._spill.add((text or "").encode("utf-8", "surrogatepass"))

    def __len__(self) -> int:
        return len(self._spill.ends) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[place] for place in range(len(self))[row]]
        return self._spill.piece(range(len(self))[row]).decode("utf-8", "surrogatepass")


def _texts(message: Any) -> Any:
    """Return the texts of a written batch, which are not copied."""
    import pyarrow as pa

    schema = pa.schema([("text", pa.large_string())])
    return pa.ipc.read_record_batch(pa.py_buffer(message), schema).column(0)
