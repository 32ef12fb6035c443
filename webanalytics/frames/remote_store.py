"""Folders of parts that are not on this machine: the store of `frames.store` over addresses of fsspec.

Who may read and write there is fsspec's own configuration; nothing of it passes through this package.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.spans import Spans
from webanalytics.frames.store import Folder, Store, folder_path, is_address, need_pyarrow

_EXAMPLE = "an address such as s3://bucket/folder"


def place_of(folder: Any, parameter: str, purpose: str) -> Folder:
    """Return the folder that a user names: a path, also for `file://`, or the address of one elsewhere.

    Raises
    ------
    ParameterError
        For anything but a path or an address that fsspec can open.
    MissingExtraError
        Where pyarrow or fsspec is not installed.
    """
    if not is_address(folder):
        return folder_path(folder, parameter, purpose)
    need_pyarrow(purpose)
    if "\0" in folder or "::" in folder:
        raise ParameterError(f"The `{parameter}` parameter must be a folder, or {_EXAMPLE}.", parameter)
    if urlsplit(folder).password is not None:
        raise ParameterError(
            f"The `{parameter}` parameter must be an address without a password: fsspec's own configuration "
            "has those.",
            parameter,
        )
    try:
        files, root = _opened_at(folder)
    except MissingExtraError:
        raise
    except Exception as error:  # each kind of store has errors of its own
        raise _cannot_be_opened(folder, parameter, error) from None
    return Path(root) if "file" in _protocols(files) else folder.rstrip("/")


def store_at(place: Folder, manifest: str, part: re.Pattern[str]) -> Store:
    """Return the store in a folder."""
    return Store(place, manifest, part) if isinstance(place, Path) else RemoteStore(place, manifest, part)


def _opened_at(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError("dask", "fsspec", "a folder at an address") from None
    # a cached listing would hide what other processes write and remove
    files, root = url_to_fs(address, use_listings_cache=False)
    return files, str(root).rstrip("/")


def _protocols(files: Any) -> tuple[str, ...]:
    known = files.protocol
    return (known,) if isinstance(known, str) else tuple(known)


def _cannot_be_opened(address: str, parameter: str, error: Exception) -> ParameterError:
    protocol = address.partition(":")[0]
    if isinstance(error, ImportError):
        why = f"whose package is installed; {protocol}: {str(error).rstrip('.')}"
    elif "Protocol not known" in str(error):
        why = f"that fsspec can open; {protocol} is unknown"
    else:
        why = f"that fsspec can open; {protocol} failed ({type(error).__name__})"
    return ParameterError(f"The `{parameter}` parameter must be an address {why}.", parameter)


@dataclass(frozen=True)
class RemoteStore(Store):
    """A folder of parts at an address of fsspec, which has nothing in it that nobody else may know."""

    sizes: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Sizes of parts that were opened: a part never changes."""

    def _at(self, name: str = "") -> tuple[Any, str]:
        """Return the file system, which fsspec keeps, and the path of a file there."""
        with _as_os_errors():
            files, root = _opened_at(str(self.place))
        return files, f"{root}/{name}" if name else root

    def make(self) -> None:
        """Make the folder where there is none, in a store that has folders."""
        files, root = self._at()
        with _as_os_errors(), suppress(PermissionError):  # to write files may be allowed all the same
            files.makedirs(root, exist_ok=True)

    def is_at(self, place: Folder) -> bool:
        """Return whether this is the folder with a name."""
        return place == self.place

    def names(self) -> list[str]:
        """Return the names of the files in the folder."""
        files, root = self._at()
        try:
            with _as_os_errors():
                found = files.ls(root, detail=False)
        except FileNotFoundError:
            return []
        return [str(path).rstrip("/").rpartition("/")[2] for path in found if str(path).rstrip("/") != root]

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Write or replace a file; object stores do so whole or not at all."""
        files, path = self._at(name)
        with _as_os_errors():
            files.pipe_file(path, bytes(content))

    def appended(self, name: str) -> IO[bytes]:
        """Open a file to write at its end: it is replaced by a longer one when this is closed."""
        return _Appended(self, name)

    def content(self, name: str) -> bytes:
        """Return what is in a file, nothing where there is none."""
        files, path = self._at(name)
        try:
            with _as_os_errors():
                known: bytes = files.cat_file(path)
        except FileNotFoundError:
            return b""
        return known

    def remove(self, *names: str) -> None:
        """Remove parts that can be removed."""
        if not names:
            return
        with suppress(OSError), _as_os_errors():
            files, root = self._at()
            files.rm([f"{root}/{name}" for name in names])

    @contextmanager
    def _opened(self, name: str) -> Iterator[io.BufferedReader]:
        files, path = self._at(name)
        size = self.sizes.get(name)
        if size is None:
            with _as_os_errors():
                found = files.info(path)
            if found["type"] != "file":
                raise Unreadable
            size = int(found["size"])
            if self.part.fullmatch(name):
                self.sizes[name] = size
        ranges: Any = _Ranges(files, path, size)
        with io.BufferedReader(ranges) as file:
            yield file


class _Appended(io.BytesIO):
    """What is to be written at the end of a file."""

    def __init__(self, store: RemoteStore, name: str) -> None:
        super().__init__()
        self._store, self._name = store, name

    def close(self) -> None:
        if not self.closed:
            more = self.getvalue()
            super().close()
            self._store.write(self._name, self._store.content(self._name) + more)


class _Ranges(Spans):
    """A file elsewhere, of which only what is read is asked for."""

    def __init__(self, files: Any, path: str, size: int) -> None:
        super().__init__(size)
        self._files, self._path = files, path

    def span(self, start: int, end: int) -> bytes:
        """Return the bytes from one place to another."""
        with _as_os_errors():
            content: bytes = self._files.cat_file(self._path, start=start, end=end)
        return content


class StoreFailure(OSError):  # noqa: N818 - users see its sentence
    """A store elsewhere does not answer as it should; the message is the kind of its error."""


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """Raise what a store says of its own as `OSError`, with no more of it than its kind: it may hold keys."""
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(2, "no such file, folder or bucket") from None
    except OSError as error:
        if error.errno is None:
            raise StoreFailure(type(error).__name__) from None
        raise type(error)(error.errno, os.strerror(error.errno)) from None
    except Exception as error:  # an ImportError, a missing credential, a connection that is refused
        raise StoreFailure(type(error).__name__) from None
