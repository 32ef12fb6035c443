"""A folder of Parquet parts with a manifest, which holds a saved audit or a checkpoint.

Every file is written whole or not at all, and a part's name ends with digits of its SHA-256. Only folders
that a user trusts are to be opened; still no link or pipe in them is followed, and nothing is executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.files import written_whole
from webanalytics.runs.frames.arrow import Unreadable

LARGEST_MANIFEST = 20_000_000
"""Most bytes of a manifest that is read."""
NAMED_DIGITS = 32
"""Digits of a part's SHA-256 that its name ends with."""
MOST_ROWS = 50_000_000
"""Most rows of a part."""

ANYBODYS = "WEBANALYTICS_FOREIGN_STORE"
"""Environment variable: ``1`` lets a run go on in a folder that another user has made."""
NAMED = 200
"""Most characters of a folder's name in a sentence."""


def folder_path(folder: Any, parameter: str, purpose: str) -> Path:
    """Return the path of a folder that a user names."""
    text = os.fsdecode(folder) if isinstance(folder, (str, os.PathLike)) else ""
    if not text or "\0" in text:
        raise refusal(parameter, "with a valid path")
    if is_address(text):
        raise refusal(parameter, "on this machine, given as a path")
    need_pyarrow(purpose)
    return Path(text)


def need_pyarrow(purpose: str) -> None:
    """Raise `MissingExtraError` where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow", purpose) from None


def is_address(folder: Any) -> bool:
    """Return whether a folder is named by the address of a store elsewhere.

    >>> is_address("s3://audits/2026-11"), is_address("audits/2026-11")
    (True, False)
    """
    return isinstance(folder, str) and _ADDRESS.match(folder) is not None


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")


def refusal(parameter: str, what: str) -> ParameterError:
    """Return the error about a folder that cannot be used."""
    return ParameterError.must_be(parameter, f"a folder {what}")


class DamagedPartError(ParameterError, Unreadable):
    """A part is not as it was written."""

    def __init__(self, folder: Path, name: str, parameter: str = "folder") -> None:
        super().__init__(
            f"The `{parameter}` parameter must be a folder whose parts are unchanged, unlike {name} in "
            f"`{shown(folder)}`: take that part away, and the call that made it does its rows again.",
            parameter,
        )
        self.folder, self.name = folder, name

    def __reduce__(self) -> Any:
        return DamagedPartError, (self.folder, self.name, self.parameter)

    def about(self, parameter: str) -> DamagedPartError:
        """Return the error about the folder that another parameter gave."""
        return DamagedPartError(self.folder, self.name, parameter)


def shown(folder: Path | str) -> str:
    """Return the name of a folder or file for a sentence."""
    return shortened(one_line(str(folder)), NAMED)


@dataclass(frozen=True)
class Store:
    """A folder of parts."""

    path: Path  # the folder
    manifest: str  # name of the file that lists the parts
    part: re.Pattern[str]  # names of parts; other files are never read, and never removed

    def make(self) -> None:
        """Make the folder where there is none."""
        self.path.mkdir(parents=True, exist_ok=True)

    def is_at(self, path: Path) -> bool:
        """Return whether this is the folder with a name."""
        return path.resolve() == self.path.resolve()

    def names(self) -> list[str]:
        """Return the names of the files in the folder."""
        return [item.name for item in self.path.iterdir()]

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Write or replace a file, whole or not at all."""
        with written_whole(self.path / name, durable=True) as temporary:
            temporary.write_bytes(content)

    def appended(self, name: str) -> IO[bytes]:
        """Open a file of the folder, no link, to write at its end."""
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o666)
        return os.fdopen(handle, "ab", buffering=0)

    def remove(self, *names: str) -> None:
        """Remove parts that can be removed."""
        for name in names:
            with suppress(OSError):
                (self.path / name).unlink()

    @contextmanager
    def opened(self, name: str) -> Iterator[BufferedReader]:
        """Open a regular file that is no link; a pipe in its place would never end."""
        path = self.path / name
        if path.is_symlink():
            raise Unreadable(name)
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable(name)
            yield file

    def foreign(self, *, parts_alone: bool) -> bool:
        """Return whether there are files but no manifest; those of an interrupted save may be ignored."""
        names = self.names()
        if self.manifest in names:
            return False
        seen = (name for name in names if not name.startswith("."))
        return any(not (parts_alone and self.part.fullmatch(name)) for name in seen)

    def read_manifest(self) -> Any:
        """Return the manifest's content; raises `Unreadable`, `ValueError` and `RecursionError`."""
        with self.opened(self.manifest) as file:
            if len(content := file.read(LARGEST_MANIFEST + 1)) > LARGEST_MANIFEST:
                raise Unreadable
            return json.loads(content)

    def is_of_another(self) -> bool:
        """Return whether another user has made the folder's manifest, unless the environment allows it."""
        if os.name != "posix" or os.environ.get(ANYBODYS) == "1":
            return False
        try:
            return (self.path / self.manifest).lstat().st_uid != os.geteuid()
        except FileNotFoundError:
            return False

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        self.write(self.manifest, json.dumps(content, indent=1, allow_nan=False).encode())

    def parts(self) -> list[str]:
        """Return the names of the parts that are in the folder."""
        return [name for name in self.names() if self.part.fullmatch(name)]

    def write_part(self, kind: str, table: Any) -> str:
        """Write a table as a part that its kind and its SHA-256 name, and return the name."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        buffer = pa.BufferOutputStream()
        parquet.write_table(table, buffer, compression="zstd", write_page_checksum=True)
        content = memoryview(buffer.getvalue())
        name = f"{kind}-{hashlib.sha256(content).hexdigest()[:NAMED_DIGITS]}.parquet"
        self.write(name, content)
        return name

    def batches(
        self, name: str, rows: int, schema: Any = None, columns: list[str] | None = None
    ) -> Iterator[Any]:
        """Yield a part's record batches of at most so many rows; by default with all columns."""
        with self.opened_part(name) as file, opened_parquet(file) as opened:
            if schema is not None and not opened.schema_arrow.equals(schema):
                raise Unreadable
            yield from opened.iter_batches(rows, columns=columns)

    def table(self, name: str) -> Any:
        """Return a part as a table; raises the errors of `batches`."""
        with self.opened_part(name) as file, opened_parquet(file) as opened:
            return opened.read()

    @contextmanager
    def columns(self, name: str) -> Iterator[Columns]:
        """Open a part whose columns are read one by one; raises the errors of `batches`."""
        with self.opened_part(name) as file, opened_parquet(file) as opened:
            yield Columns(opened)

    @contextmanager
    def opened_part(self, name: str, *, known: bool = False) -> Iterator[BufferedReader]:
        """Open a part, whose content must be what its name says unless that is known already."""
        import pyarrow as pa

        if not isinstance(name, str) or not self.part.fullmatch(name):
            raise Unreadable
        with self.opened(name) as file:
            if not known:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                if not name.endswith(f"-{digest[:NAMED_DIGITS]}.parquet"):
                    raise Unreadable(name)
                file.seek(0)
            try:
                yield file
            except (pa.ArrowException, OSError, ValueError) as error:
                if isinstance(error, OSError) and not _is_of_pyarrow(error):
                    raise
                raise Unreadable(name) from None

    def lines(self, name: str, longest: int, most: int) -> Iterator[bytes]:
        """Yield the lines of a file, none where there is no such file; what exceeds the bytes is left out."""
        try:
            with self.opened(name) as file:
                while most > 0 and (line := file.readline(longest)):
                    most -= len(line)
                    yield line
        except FileNotFoundError:
            return

    def sweep(self, stems: tuple[str, ...], kept: set[str] | None = None) -> None:
        """Remove the remains of an interrupted write, and all parts but those kept."""
        leftover = re.compile(rf"\.(?:{'|'.join(map(re.escape, stems))})-.*\.tmp", re.S)
        for name in self.names():
            if leftover.fullmatch(name) or (
                kept is not None and self.part.fullmatch(name) and name not in kept
            ):
                self.remove(name)


class Columns:
    """A part that has the face of a table, of which one column at a time is in memory."""

    def __init__(self, opened: Any) -> None:
        self._opened, self.schema, self.num_rows = opened, opened.schema_arrow, opened.metadata.num_rows
        self.column_names = self.schema.names

    def column(self, name: str) -> Any:
        """Read a column; what the one before it took is given back."""
        release_unused()
        return self._opened.read([name]).column(name)


def release_unused() -> None:
    """Give back to the system what Arrow keeps for the next columns that are read."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def opened_parquet(file: BufferedReader, metadata: Any = None) -> Any:
    """Return a `ParquetFile` that compares the checksums of pages; too many rows are `Unreadable`."""
    import pyarrow.parquet as parquet

    opened = parquet.ParquetFile(file, metadata=metadata, page_checksum_verification=True)
    if opened.metadata.num_rows > MOST_ROWS:
        raise Unreadable
    return opened


def _is_of_pyarrow(error: OSError) -> bool:
    """Return whether an error is what pyarrow says of a file, and not what a disk says."""
    return type(error) is OSError and error.errno is None
