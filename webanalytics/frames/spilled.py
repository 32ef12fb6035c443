"""Texts of millions of rows in a temporary file: a column over it is ordinary, and takes memory when read.

`audits.found` keeps evidence in it while the rules run, and the frame of issues has its column from it.
"""

from __future__ import annotations

import io
import mmap
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd


class SpilledTexts:
    """Texts in a temporary file without a name, which is gone with the last column over it.

    Where no such file can be made, or its disk is full, they are in memory.

    Examples
    --------
    >>> texts = SpilledTexts()
    >>> pieces = [texts.add(["Green tea", "Oolong"]), texts.add(["Black tea"])]
    >>> texts.joined(pieces, np.array([2, 0, 1])).to_pylist()
    ['Black tea', 'Green tea', 'Oolong']
    """

    def __init__(self) -> None:
        self._ends = [0]
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `__del__`
        except OSError:
            self._file = io.BytesIO()

    def __del__(self) -> None:
        self._file.close()  # what is mapped stays

    def add(self, texts: Any) -> int:
        """Write texts, a list or an Arrow array, and return the number of this piece."""
        import pyarrow as pa

        batch = pa.record_batch([pa.array(texts, pa.large_string())], ["text"])
        self._write(memoryview(batch.serialize()))
        return len(self._ends) - 2

    def _write(self, data: memoryview) -> None:
        start = self._ends[-1]
        try:
            _put(self._file, start, data)
        except OSError:
            with self._file as full:
                full.seek(0)
                self._file = io.BytesIO(full.read(start))
            _put(self._file, start, data)
        self._ends.append(start + len(data))

    def joined(self, pieces: Sequence[int], order: npt.NDArray[np.intp]) -> Any:
        """Return the texts of some pieces in another order, as an Arrow array."""
        import pyarrow as pa

        return pa.concat_arrays([self._piece(number) for number in pieces]).take(pa.array(order))

    def _piece(self, number: int) -> Any:
        start, end = self._ends[number : number + 2]
        self._file.seek(start)
        return _texts(self._file.read(end - start))

    def column(self, arrays: Iterable[Any], index: pd.Index) -> pd.Series:
        """Return a column of texts, one Arrow array after the other, which is in a file of its own."""
        import pyarrow as pa

        made = SpilledTexts()
        for array in arrays:
            made.add(array)
        whole = made._mapped()
        chunks = [
            _texts(whole.slice(start, end - start))
            for start, end in zip(made._ends, made._ends[1:], strict=False)
        ]
        dtype: Any = pd.StringDtype("pyarrow", na_value=np.nan)
        return pd.Series(dtype.__from_arrow__(pa.chunked_array(chunks, pa.large_string())), index=index)

    def _mapped(self) -> Any:
        """Return all bytes without reading them."""
        import pyarrow as pa

        if isinstance(self._file, io.BytesIO) or self._ends[-1] == 0:
            self._file.seek(0)
            return pa.py_buffer(self._file.read())
        return pa.py_buffer(mmap.mmap(self._file.fileno(), self._ends[-1], access=mmap.ACCESS_READ))


def _put(file: IO[bytes], start: int, data: memoryview) -> None:
    """Write data at a place, or raise OSError."""
    file.seek(start)
    if file.write(data) < len(data):
        raise OSError("the disk is full")


def _texts(message: Any) -> Any:
    """Return the texts of a written batch, which are not copied."""
    import pyarrow as pa

    schema = pa.schema([("text", pa.large_string())])
    return pa.ipc.read_record_batch(pa.py_buffer(message), schema).column(0)
