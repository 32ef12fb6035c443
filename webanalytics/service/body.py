"""The bodies of requests: read in parts, bounded in size, time and memory, before anything is parsed."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from webanalytics.service.budget import ByteBudget
from webanalytics.service.results import Problem
from webanalytics.service.settings import ServiceSettings

T = TypeVar("T")

MAX_PARTS = 32
"""Most parts of a form: the parameters of an operation and room for undeclared ones."""

MAX_TEXT_PART = 65_536
"""Most bytes of a form's text field."""

PIECE = 1_000_000
"""Bytes that one step of decompression makes at most."""

BUSY_SECONDS = 2.0
"""After how long a caller may try again when the memory for bodies is used up."""

NO_OBJECT = "The request body must be a JSON object."
BROKEN = "The request body must be complete and well-formed HTTP."
BROKEN_FORM = "The request body must be well-formed multipart/form-data."


SMALL = 65_536
"""Bytes that a body may have without being counted: such ones are never refused for want of memory."""

COMPLEX = 20_000
"""Most commas and brackets of a JSON body whose size is that of an image: base64 has none, and parsing
many of them would hold up all others."""

ENCODINGS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Content encodings of bodies, with zlib's name of their format (RFC 9110 section 8.4.1)."""

WRONG_ENCODING = "The `Content-Encoding` header must be gzip or deflate, or left out."
BROKEN_ENCODING = "The request body must be encoded as its `Content-Encoding` header says."


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
    """Return a plain body that came with its headers, as small ones do; None for any other."""
    content = request.content
    if not content.is_eof() or "Content-Encoding" in request.headers:
        return None
    return content.read_nowait()


class _Decoder:
    """Takes the content encoding off a body, a bounded piece at a time."""

    def __init__(self, encoding: str) -> None:
        if encoding not in ENCODINGS:
            raise Problem(400, WRONG_ENCODING)
        self._inflate = zlib.decompressobj(ENCODINGS[encoding])

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what a piece of the body stands for."""
        try:
            while data:
                yield self._inflate.decompress(data, PIECE)
                data = self._inflate.unconsumed_tail
        except zlib.error:
            raise Problem(400, BROKEN_ENCODING) from None
        if self._inflate.unused_data:
            raise Problem(400, BROKEN_ENCODING)

    def check_end(self) -> None:
        """Raise `Problem` where the body ends too early."""
        if not self._inflate.eof:
            raise Problem(400, BROKEN_ENCODING)


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
    memory : ByteBudget
        What all requests share.
    account : int
        Whose request it is.
    """

    def __init__(
        self,
        request: web.BaseRequest,
        limit: int,
        too_large: str,
        settings: ServiceSettings,
        memory: ByteBudget,
        account: int,
    ) -> None:
        self._request = request
        self._limit = limit
        self._too_large = too_large
        self._timeout: float = settings.read_timeout
        self._rate: int = settings.body_rate
        self._memory = memory
        self._account = account
        self._received = 0
        self._counted = 0
        self._patience = self._timeout
        self._clock = asyncio.get_running_loop().time

    async def __aenter__(self) -> Self:
        length = self._request.content_length
        if length is not None and length > self._limit:
            raise Problem(400, self._too_large)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._memory.give(self._account, self._counted)

    async def _next(self, step: Awaitable[T]) -> T:
        """Wait for the next part.

        Waiting uses up the sender's patience, and what arrives restores it, up to the timeout: a
        sender that keeps its rate may take as long as it needs, and none may send fast and then stall.
        """
        before = self._clock()
        try:
            async with asyncio.timeout(self._patience):
                return await step
        except TimeoutError:
            raise Problem(400, f"The request body must arrive within {self._timeout:g} seconds.") from None
        except (RequestPayloadError, ConnectionError):
            raise Problem(400, BROKEN) from None
        finally:
            self._patience -= self._clock() - before

    def _count(self, size: int) -> None:
        self._patience = min(self._patience + size / self._rate, self._timeout)
        self._received += size
        if self._received > self._limit:
            raise Problem(400, self._too_large)
        if self._received <= SMALL:
            return
        if self._memory.take(self._account, self._received - self._counted):
            self._counted = self._received
        else:
            raise Problem(
                503,
                "The service holds as many request bodies as it can; repeat the request later.",
                retry_after=BUSY_SECONDS,
            )

    async def read(self) -> bytes:
        """Return the whole body, its content encoding taken off."""
        content = self._request.content
        encoding = self._request.headers.get("Content-Encoding", "identity").strip().lower()
        decoder = None if encoding == "identity" else _Decoder(encoding)
        chunks: list[bytes] = []
        while chunk := await self._next(content.readany()):
            if decoder is None:
                self._count(len(chunk))
                chunks.append(chunk)
                continue
            for piece in decoder.pieces(chunk):
                self._count(len(piece))
                chunks.append(piece)
                await asyncio.sleep(0)  # a small body may stand for a large one
        if decoder is not None:
            decoder.check_end()
        return b"".join(chunks)

    async def json(self, *, plain: bool = False) -> dict[str, Any]:
        """Return the JSON object that the body is, as `read_object` does.

        Parameters
        ----------
        plain : bool
            Refuse one of many parts: its size is that of an image, and parsing is not bounded by size.
        """
        text = await self.read()
        if plain and sum(map(text.count, (b",", b"[", b"{"))) > COMPLEX:
            raise Problem(400, f"The request body must be a JSON object of at most {COMPLEX:,} parts.")
        return read_object(text)

    async def form(self, file: str) -> dict[str, str | bytes]:
        """Return the fields of a multipart/form-data body (RFC 7578), the file among them as bytes."""
        if "Content-Encoding" in self._request.headers:
            raise Problem(400, "The `Content-Encoding` header must be left out of a form.")
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
