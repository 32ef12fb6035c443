"""Converted images that can be downloaded for a while, in any folder that fsspec can reach.

The engine saves them, the public routes send them. There is no database: a file's name begins with the time
at which the image expires, which thus survives a restart and is shared by all processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from uuid import UUID, uuid4

import fsspec
from fsspec.implementations.local import LocalFileSystem

from webanalytics.core.messages import Message
from webanalytics.errors import ParameterError
from webanalytics.records.images.formats import MIME_TYPES
from webanalytics.service.results import Problem

log = logging.getLogger("webanalytics.service")
T = TypeVar("T")

PATH = "/v1/downloads/"
"""Path below which the service offers the images."""

RETRY_SECONDS = 30.0

_TYPES = {str(name): kind for name, kind in MIME_TYPES.items()}
_NAME = re.compile(rf"([1-9][0-9]{{0,11}})-([0-9a-f]{{32}})\.({'|'.join(_TYPES)})")
_UNFINISHED = re.compile(r"([1-9][0-9]{0,11})-[0-9a-f]{32}\.part")


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A stored image: a random UUID, the last part of its address, and the Unix time at which it expires."""

    id: str
    name: str
    expires: int

    def fields(self, base_url: str) -> dict[str, Any]:
        """Return the fields of an answer that link to the image.

        >>> StoredImage("8c5a", "1-a.png", 1).fields("https://api.example.com")["downloadURL"]
        'https://api.example.com/v1/downloads/1-a.png'
        """
        return {"id": self.id, "expires": self.expires, "downloadURL": f"{base_url}{PATH}{self.name}"}


class FileContent:
    """The content of a large file, ``size`` bytes, read in pieces by ``async for``."""

    def __init__(self, folder: _Folder, run: Callable[..., Any], name: str, size: int, piece: int) -> None:
        self._folder, self._run, self._name, self._piece = folder, run, name, piece
        self.size = size

    async def __aiter__(self) -> AsyncIterator[bytes]:
        file = await self._run(self._folder.open, self._name)
        try:
            while piece := await self._run(file.read, self._piece):
                yield piece
        finally:
            file.close()  # not in a thread: a reader may finish after the store was closed


class Download(NamedTuple):
    """A stored image: its bytes, or the pieces of a large one, and its MIME type."""

    content: bytes | FileContent
    mime_type: str


class _Folder:
    """The folder itself; every method blocks, so `ImageStore` calls them in threads."""

    def __init__(self, url: str, keep_free: int) -> None:
        # A cached listing would hide what other processes wrote and removed.
        try:
            self._files, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except Exception as error:  # each kind of store has its own errors
            raise _cannot_be_opened(url, error) from error
        self._root = root.rstrip("/")
        self._local = isinstance(self._files, LocalFileSystem)
        self._keep_free = keep_free

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def make(self) -> None:
        """Create the folder; a local one is closed to other users."""
        if self._local:
            Path(self._root).mkdir(mode=0o700, parents=True, exist_ok=True)
        else:
            self._files.makedirs(self._root, exist_ok=True)

    def write(self, name: str, unfinished: str, content: bytes) -> None:
        """Write a file whole or not at all."""
        try:
            if self._local:
                self._write_private(unfinished, content)
                Path(self._path(unfinished)).replace(self._path(name))
            else:
                self._files.pipe_file(self._path(unfinished), content)
                self._files.mv(self._path(unfinished), self._path(name))
        except BaseException:
            with contextlib.suppress(Exception):
                self._files.rm_file(self._path(unfinished))
            raise

    def _write_private(self, unfinished: str, content: bytes) -> None:
        self.make()
        # The accounts may lie on the same disk: images must not be what fills it.
        if shutil.disk_usage(self._root).free < self._keep_free + len(content):
            raise OSError(errno.ENOSPC, "too little free space")
        descriptor = os.open(self._path(unfinished), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)

    def size(self, name: str) -> int | None:
        """Return the size of a file, None where it is missing."""
        try:
            found = self._files.info(self._path(name))
        except FileNotFoundError:
            return None
        return int(found["size"]) if found["type"] == "file" and not found.get("islink") else None

    def read(self, name: str) -> bytes:
        """Return a whole file."""
        content: bytes = self._files.cat_file(self._path(name))
        return content

    def open(self, name: str) -> Any:
        """Return an open file."""
        return self._files.open(self._path(name), "rb")

    def names(self) -> list[str]:
        """Return the names of all files."""
        try:
            return [path.rpartition("/")[2] for path in self._files.ls(self._root, detail=False)]
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> bool:
        """Remove a file and return whether it was there; another process may have been faster."""
        try:
            self._files.rm_file(self._path(name))
        except FileNotFoundError:
            return False
        return True


def _cannot_be_opened(url: str, error: Exception) -> ParameterError:
    """Return the error for a URL; it shows only the protocol, since the rest may hold a password."""
    protocol = url.partition("://")[0] if "://" in url else "a path"
    if isinstance(error, ImportError):
        needed = str(error).rstrip(".")
        sentence = f"The `images` parameter must be a URL whose package is installed; {protocol}: {needed}."
    else:
        reason = "is unknown" if "Protocol not known" in str(error) else f"failed ({type(error).__name__})"
        sentence = (
            f"The `images` parameter must be a folder or URL that fsspec can open; {protocol} {reason}."
        )
    return ParameterError(sentence, "images")


class ImageStore:
    """Keeps converted images until they expire, as an asynchronous context manager that sweeps its folder."""

    def __init__(
        self,
        url: str,  # folder: a path, or any URL of fsspec such as ``s3://bucket/images``
        seconds: float,  # how long an image can be downloaded
        clock: Callable[[], float] = time.time,  # Unix time
        *,
        interval: float = 300.0,  # seconds between sweeps
        # age in seconds from which the file of an interrupted write is removed
        unfinished_seconds: float = 3600.0,
        timeout: float = 30.0,  # seconds that the store may take for one image
        keep_free: int = 256_000_000,  # bytes of a local disk that images leave free
        whole: int = 1_000_000,  # largest file, in bytes, that is read at once
        threads: int = 4,  # concurrent operations of the store
    ) -> None:
        self._folder = _Folder(url, keep_free)
        self._seconds = seconds
        self._clock = clock
        self._interval = interval
        self._unfinished_seconds = unfinished_seconds
        self._timeout = timeout
        self._whole = whole
        self._threads = threads

    async def __aenter__(self) -> Self:
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="webanalytics-images")
        try:
            await self._bounded(self._folder.make)
        except Exception as error:  # tried again with every image
            log.warning("the folder of images cannot be made: %s", type(error).__name__)
        self._sweeper = asyncio.create_task(self._sweep_for_ever())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sweeper.cancel()
        await asyncio.gather(self._sweeper, return_exceptions=True)
        # A store that hangs is not waited for.
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run(self, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *arguments))

    async def _bounded(self, function: Callable[..., T], *arguments: Any) -> T:
        async with asyncio.timeout(self._timeout):
            return await self._run(function, *arguments)

    async def save(self, content: bytes, extension: str) -> StoredImage:
        """Store an image under a new name, with the extension of its format."""
        now, token = self._clock(), uuid4()
        expires = int(now + self._seconds)
        name = f"{expires}-{token.hex}.{extension}"
        if not _NAME.fullmatch(name):
            raise ValueError("no extension of a converted image")
        try:
            await self._bounded(self._folder.write, name, f"{int(now)}-{token.hex}.part", content)
        except Exception as error:
            raise self._failed("written", error) from None
        return StoredImage(str(UUID(hex=token.hex)), name, expires)

    async def open(self, name: str) -> Download | None:
        """Return an image by its file name, None for any other name and after it has expired."""
        found = _NAME.fullmatch(name)
        if found is None or int(found[1]) <= self._clock():
            return None
        try:
            size = await self._bounded(self._folder.size, name)
            if size is None:
                return None
            if size > self._whole:
                content = FileContent(self._folder, self._run, name, size, self._whole // 4)
                return Download(content, _TYPES[found[3]])
            return Download(await self._bounded(self._folder.read, name), _TYPES[found[3]])
        except FileNotFoundError:  # removed in between
            return None
        except Exception as error:
            raise self._failed("read", error) from None

    @staticmethod
    def _failed(what: str, error: Exception) -> Problem:
        log.error("an image could not be %s: %s", what, type(error).__name__)
        return Problem(503, Message("images_away"), retry_after=RETRY_SECONDS)

    async def sweep(self) -> int:
        """Remove expired files and return how many there were; foreign files stay."""
        return await self._run(self._sweep)

    def _sweep(self) -> int:
        now = self._clock()
        return sum(self._folder.remove(name) for name in self._folder.names() if self._is_over(name, now))

    def _is_over(self, name: str, now: float) -> bool:
        if found := _NAME.fullmatch(name):
            return int(found[1]) <= now
        found = _UNFINISHED.fullmatch(name)
        return found is not None and int(found[1]) + self._unfinished_seconds <= now

    async def _sweep_for_ever(self) -> None:
        while True:
            try:
                await self.sweep()
            except Exception as error:  # the next sweep may do better
                log.warning("expired images could not be removed: %s", type(error).__name__)
            await asyncio.sleep(self._interval)
