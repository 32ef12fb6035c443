"""The bodies of requests: read in parts, bounded in size, time and memory, before anything is parsed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from webanalytics.service.results import Problem
from webanalytics.service.settings import ServiceSettings

T = TypeVar("T")

MAX_PARTS = 32
"""Most parts of a form: the parameters of an operation and room for undeclared ones."""

MAX_TEXT_PART = 65_536
"""Most bytes of a form's text field."""

LARGE = 1_000_000
"""Bytes of JSON from which it is parsed beside the event loop."""

BUSY_SECONDS = 2.0
"""After how long a caller may try again when the memory for bodies is used up."""

NO_OBJECT = "The request body must be a JSON object."
BROKEN = "The request body must be complete and well-formed HTTP."
BROKEN_FORM = "The request body must be well-formed multipart/form-data."


class BodyMemory:
    """How many bytes of bodies all requests of a process hold together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0


def read_object(text: bytes) -> dict[str, Any]:
    """Return the JSON object that a body is.

    Raises
    ------
    Problem
        400 when it is something else; RFC 8259 is taken at its word: no NaN, no lone surrogate.

    Examples
    --------
    >>> read_object(b'{"phone": "+12085813945"}')
    {'phone': '+12085813945'}
    """
    try:
        value = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise Problem(400, NO_OBJECT) from None
    if not isinstance(value, dict):
        raise Problem(400, NO_OBJECT)
    return value


def arrived(request: web.BaseRequest) -> bytes | None:
    """Return a body that came with its headers, as small ones do; None for one still under way."""
    content = request.content
    return content.read_nowait() if content.is_eof() else None


class Body:
    """The body of one request, as a context manager that gives its memory back.

    Parameters
    ----------
    request : web.BaseRequest
        The request.
    limit : int
        Most bytes after decompression.
    too_large : str
        The sentence about a larger one.
    settings : ServiceSettings
        ``read_timeout`` and ``body_rate``.
    memory : BodyMemory
        What all requests share.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        limit: int,
        too_large: str,
        settings: ServiceSettings,
        memory: BodyMemory,
    ) -> None:
        self._request = request
        self._limit = limit
        self._too_large = too_large
        self._timeout: float = settings.read_timeout
        self._rate: int = settings.body_rate
        self._memory = memory
        self._received = 0

    async def __aenter__(self) -> Self:
        length = self._request.content_length
        if length is not None and length > self._limit:
            raise Problem(400, self._too_large)
        self._started = asyncio.get_running_loop().time()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._memory.held -= self._received

    async def _next(self, step: Awaitable[T]) -> T:
        """Wait for the next part; a sender that is fast enough may take longer than the timeout."""
        deadline = self._started + self._timeout + self._received / self._rate
        try:
            async with asyncio.timeout_at(deadline):
                return await step
        except TimeoutError:
            raise Problem(400, f"The request body must arrive within {self._timeout:g} seconds.") from None
        except (RequestPayloadError, ConnectionError):
            raise Problem(400, BROKEN) from None

    def _count(self, size: int) -> None:
        self._received += size
        self._memory.held += size
        if self._received > self._limit:
            raise Problem(400, self._too_large)
        if self._memory.held > self._memory.limit:
            raise Problem(
                503,
                "The service holds as many request bodies as it can; repeat the request later.",
                retry_after=BUSY_SECONDS,
            )

    async def read(self) -> bytes:
        """Return the whole body."""
        content = self._request.content
        chunks: list[bytes] = []
        while chunk := await self._next(content.readany()):
            self._count(len(chunk))
            chunks.append(chunk)
        return b"".join(chunks)

    async def json(self) -> dict[str, Any]:
        """Return the JSON object that the body is, as `read_object` does."""
        text = await self.read()
        return read_object(text) if len(text) < LARGE else await asyncio.to_thread(read_object, text)

    async def form(self, file: str) -> dict[str, str | bytes]:
        """Return the fields of a multipart/form-data body (RFC 7578), the file among them as bytes."""
        fields: dict[str, str | bytes] = {}
        try:
            reader = MultipartReader(self._request.headers, self._request.content)
            for _ in range(MAX_PARTS):
                part = await self._next(reader.next())
                if part is None:
                    return fields
                if not isinstance(part, BodyPartReader) or part.name is None:
                    raise Problem(400, BROKEN_FORM)
                content = await self._part(part)
                if part.name == file and part.filename is not None:
                    fields.setdefault(file, content)
                elif len(content) <= MAX_TEXT_PART or part.name == file:
                    fields.setdefault(part.name, content.decode("utf-8", "replace"))
        except (HttpProcessingError, ValueError, AssertionError, LookupError, RuntimeError):
            raise Problem(400, BROKEN_FORM) from None
        raise Problem(400, f"The request body must be a form of at most {MAX_PARTS} parts.")

    async def _part(self, part: BodyPartReader) -> bytes:
        chunks = []
        while chunk := await self._next(part.read_chunk()):
            self._count(len(chunk))
            chunks.append(chunk)
        content = b"".join(chunks)
        return bytes(part.decode(content))
