"""A folder of Parquet parts with a manifest, which holds a saved audit or a checkpoint.

A folder may be untrusted: no link or pipe in it is followed, sizes are bounded, and nothing is executed.
Every file is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.files import written_whole
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.bounded import batches_within, room_for

LARGEST_MANIFEST = 20_000_000
"""Most bytes of a manifest that is read."""
NAMED_DIGITS = 32
"""Digits of a part's SHA-256 that its name may end with."""


def folder_path(folder: Any, parameter: str, purpose: str) -> Path:
    """Return the path of a folder that a user names.

    Raises
    ------
    ParameterError
        For anything but a path.
    MissingExtraError
        Where pyarrow is not installed.
    """
    text = os.fsdecode(folder) if isinstance(folder, (str, os.PathLike)) else ""
    if not text or "\0" in text:
        raise refusal(parameter, "with a valid path")
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow", purpose) from None
    return Path(text)


def refusal(parameter: str, what: str) -> ParameterError:
    """Return the error about a folder that cannot be used."""
    return ParameterError(f"The `{parameter}` parameter must be a folder {what}.", parameter)


@dataclass(frozen=True)
class Store:
    """A folder of parts.

    Attributes
    ----------
    manifest : str
        Name of the file that lists the parts.
    part : re.Pattern
        Names of parts; other files are never read, and never removed.
    """

    path: Path
    manifest: str
    part: re.Pattern[str]

    def foreign(self, *, parts_alone: bool) -> bool:
        """Return whether there are files but no manifest; those of an interrupted save may be ignored."""
        if (self.path / self.manifest).exists():
            return False
        names = (item.name for item in self.path.iterdir() if not item.name.startswith("."))
        return any(not (parts_alone and self.part.fullmatch(name)) for name in names)

    def read_manifest(self) -> Any:
        """Return the manifest's content; raises `Unreadable`, `ValueError` and `RecursionError`."""
        with self._opened(self.manifest) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_MANIFEST:
                raise Unreadable
            return json.loads(file.read())

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        with written_whole(self.path / self.manifest, durable=True) as temporary:
            temporary.write_text(json.dumps(content, indent=1, allow_nan=False), "utf-8")

    def parts(self) -> list[str]:
        """Return the names of the parts that are in the folder."""
        return [path.name for path in self.path.iterdir() if self.part.fullmatch(path.name)]

    def write_part(self, name: str | Callable[[str], str], table: Any) -> tuple[str, str]:
        """Write a table, and return the part's name and SHA-256, which the name may contain."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        buffer = pa.BufferOutputStream()
        parquet.write_table(table, buffer, compression="zstd")
        content = memoryview(buffer.getvalue())
        digest = hashlib.sha256(content).hexdigest()
        file = name if isinstance(name, str) else name(digest)
        with written_whole(self.path / file, durable=True) as temporary:
            temporary.write_bytes(content)
        return file, digest

    def batches(
        self,
        name: str,
        rows: int,
        schema: Any,
        sha256: str | None = None,
        columns: list[str] | None = None,
    ) -> Iterator[Any]:
        """Yield a part's record batches of at most so many rows; it must have the schema and the digest.

        By default with all columns.

        Raises
        ------
        FileNotFoundError
            Where there is no such part.
        Unreadable
            For another kind of file or schema, a part that is changed, and one that grows too large.
        """
        with self.opened_part(name, sha256) as (file, room):
            yield from batches_within(file, rows, room, schema, columns)

    def table(self, name: str, rows: int, sha256: str) -> Any:
        """Return a part as a table, read so many rows at once; raises the errors of `batches`."""
        import pyarrow as pa
        import pyarrow.parquet as parquet

        with self.opened_part(name, sha256) as (file, room):
            batches = list(batches_within(file, rows, room))
            if not batches:
                file.seek(0)
                return parquet.read_table(file)  # it has a schema and no rows
            return pa.Table.from_batches(batches)

    @contextmanager
    def opened_part(self, name: str, sha256: str | None = None) -> Iterator[tuple[BufferedReader, int]]:
        """Open a part; also return how many bytes its rows may take.

        Its SHA-256 must be the one given, or start with it where only the digits of a name are known.
        """
        import pyarrow as pa

        if not isinstance(name, str) or not self.part.fullmatch(name):
            raise Unreadable
        with self._opened(name) as file:
            if sha256 is not None:
                found = hashlib.file_digest(file, "sha256").hexdigest()
                if len(sha256) < NAMED_DIGITS or not found.startswith(sha256):
                    raise Unreadable
            file.seek(0)
            try:
                yield file, room_for(os.fstat(file.fileno()).st_size)
            except (pa.ArrowException, OSError, ValueError):
                raise Unreadable from None

    def appended(self, name: str) -> IO[bytes]:
        """Open a file of the folder, no link, to write at its end."""
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(self.path / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | flags, 0o666)
        return os.fdopen(handle, "ab", buffering=0)

    def lines(self, name: str, longest: int, most: int) -> Iterator[bytes]:
        """Yield the lines of a file, none where there is no such file; what exceeds the bytes is left out."""
        try:
            with self._opened(name) as file:
                while most > 0 and (line := file.readline(longest)):
                    most -= len(line)
                    yield line
        except FileNotFoundError:
            return

    def remove(self, name: str) -> None:
        """Remove a part, if it can be."""
        with suppress(OSError):
            (self.path / name).unlink()

    def sweep(self, stems: tuple[str, ...], kept: set[str] | None = None) -> None:
        """Remove the remains of an interrupted write, and all parts but those kept."""
        leftover = re.compile(rf"\.(?:{'|'.join(map(re.escape, stems))})-.*\.tmp", re.S)
        for item in self.path.iterdir():
            if leftover.fullmatch(item.name) or (
                kept is not None and self.part.fullmatch(item.name) and item.name not in kept
            ):
                with suppress(OSError):
                    item.unlink()

    @contextmanager
    def _opened(self, name: str) -> Iterator[BufferedReader]:
        """Open a regular file that is no link; a pipe in its place would never end."""
        path = self.path / name
        if path.is_symlink():
            raise Unreadable
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, os.O_RDONLY | flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable
            yield file
