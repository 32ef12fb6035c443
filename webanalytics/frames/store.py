"""A folder of Parquet parts with a manifest, which holds a saved audit or a checkpoint.

A folder may be untrusted: no link or pipe in it is followed, sizes are bounded, and nothing is executed.
Every file is written whole or not at all. `frames.remote_store` has folders that are not on this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, TypeAlias

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.files import written_whole
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.bounded import batches_within, room_for
from webanalytics.frames.seals import Seal, Sealed, marked, seal_of, sealed
from webanalytics.strings import one_line, shortened

LARGEST_MANIFEST = 20_000_000
"""Most bytes of a manifest that is read."""
NAMED_DIGITS = 32
"""Digits of a part's SHA-256 that its name may end with."""

NAMED = 200
"""Most characters of a folder's name in a sentence."""

Folder: TypeAlias = Path | str
"""A folder on this machine, or the address of one for fsspec."""


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
    """Return whether a folder is named by an address of fsspec.

    Examples
    --------
    >>> is_address("s3://audits/2026-11"), is_address("audits/2026-11")
    (True, False)
    """
    return isinstance(folder, str) and _ADDRESS.match(folder) is not None


_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")


def refusal(parameter: str, what: str) -> ParameterError:
    """Return the error about a folder that cannot be used."""
    return ParameterError(f"The `{parameter}` parameter must be a folder {what}.", parameter)


class DamagedPartError(ParameterError, Unreadable):
    """A part is not as it was written.

    Parameters
    ----------
    folder : Path or str
        The folder.
    name : str
        Name of the part.
    parameter : str
        Name of the parameter that gave the folder.
    """

    def __init__(self, folder: Folder, name: str, parameter: str = "folder") -> None:
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


def shown(folder: Folder) -> str:
    """Return the name of a folder for a sentence."""
    return shortened(one_line(str(folder)), NAMED)


@dataclass(frozen=True)
class Store:
    """A folder of parts.

    Attributes
    ----------
    place : Path or str
        The folder.
    manifest : str
        Name of the file that lists the parts.
    part : re.Pattern
        Names of parts; other files are never read, and never removed.
    seals : dict
        Seals of the parts that were opened, None for one without.
    """

    place: Folder
    manifest: str
    part: re.Pattern[str]
    seals: dict[str, Seal | None] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The folder as a path of this machine."""
        return Path(self.place)

    # ---------------------------------------------------------------- what a store elsewhere does otherwise

    def make(self) -> None:
        """Make the folder where there is none."""
        self.path.mkdir(parents=True, exist_ok=True)

    def is_at(self, place: Folder) -> bool:
        """Return whether this is the folder with a name."""
        return isinstance(place, Path) and place.resolve() == self.path.resolve()

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

    # ---------------------------------------------------------------- manifest and parts

    def foreign(self, *, parts_alone: bool) -> bool:
        """Return whether there are files but no manifest; those of an interrupted save may be ignored."""
        names = self.names()
        if self.manifest in names:
            return False
        seen = (name for name in names if not name.startswith("."))
        return any(not (parts_alone and self.part.fullmatch(name)) for name in seen)

    def read_manifest(self) -> Any:
        """Return the manifest's content; raises `Unreadable`, `ValueError` and `RecursionError`."""
        with self._opened(self.manifest) as file:
            if _size_of(file) > LARGEST_MANIFEST:
                raise Unreadable
            return json.loads(file.read())

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        self.write(self.manifest, json.dumps(content, indent=1, allow_nan=False).encode())

    def parts(self) -> list[str]:
        """Return the names of the parts that are in the folder."""
        return [name for name in self.names() if self.part.fullmatch(name)]

    def write_part(self, name: str | Callable[[str], str], table: Any) -> tuple[str, str]:
        """Write a table, and return the part's name and SHA-256.

        The name may contain that; a part of another name is sealed.
        """
        import pyarrow as pa
        import pyarrow.parquet as parquet

        is_named = isinstance(name, str)
        buffer = pa.BufferOutputStream()
        parquet.write_table(marked(table) if is_named else table, buffer, compression="zstd")
        made = memoryview(buffer.getvalue())
        content = sealed(made) if is_named else made
        digest = hashlib.sha256(content).hexdigest()
        file = name if isinstance(name, str) else name(digest)
        self.write(file, content)
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

        Its SHA-256 must be the one given, or start with it where only the digits of a name are known. Without
        one, what is read of a sealed part must be as it was written.
        """
        import pyarrow as pa

        if not isinstance(name, str) or not self.part.fullmatch(name):
            raise Unreadable
        with self._opened(name) as file:
            if sha256 is not None:
                found = hashlib.file_digest(file, "sha256").hexdigest()
                if len(sha256) < NAMED_DIGITS or not found.startswith(sha256):
                    raise Unreadable
                source = file
            else:
                source = self._vouched(name, file)
            try:
                yield source, room_for(_size_of(source))
            except (pa.ArrowException, OSError, ValueError) as error:
                if isinstance(error, OSError) and not _is_of_pyarrow(error):
                    raise
                raise Unreadable from None

    def _vouched(self, name: str, file: BufferedReader) -> BufferedReader:
        end = b""
        if name not in self.seals:
            self.seals[name], end = seal_of(file)
        seal = self.seals[name]
        return file if seal is None else BufferedReader(Sealed(file, seal, end))

    def lines(self, name: str, longest: int, most: int) -> Iterator[bytes]:
        """Yield the lines of a file, none where there is no such file; what exceeds the bytes is left out."""
        try:
            with self._opened(name) as file:
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


def _is_of_pyarrow(error: OSError) -> bool:
    """Return whether an error is what pyarrow says of a file, and not what a disk or a store says."""
    return type(error) is OSError and error.errno is None


def _size_of(file: BufferedReader) -> int:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size
