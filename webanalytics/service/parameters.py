"""The parameters of a call, for `app`: read from its body or query, checked by the operation's declaration.

Bodies are read in parts, and bounded in size, time and memory; an image comes as base64 or
a data: URL, neither of them trusted.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, Self, TypeVar

import orjson
from aiohttp import BodyPartReader, MultipartReader, web
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.web_protocol import RequestPayloadError

from webanalytics.core.messages import Message, required
from webanalytics.core.operations.model import REQUIRED
from webanalytics.errors import ParameterError, RowError
from webanalytics.fetching.data_urls import base64_content, data_url_content, is_data_url
from webanalytics.operations import Operation, Parameter
from webanalytics.service.admission import ByteBudget
from webanalytics.service.headers import listed
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

SMALL = 65_536
"""Bytes that a body may have without being counted: such ones are never refused for want of memory."""

COMPLEX = 20_000
"""Most commas and brackets of a JSON body whose size is that of an image: base64 has none, and parsing
many of them would hold up all others."""

ENCODINGS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Content encodings of bodies, with zlib's number of their format (RFC 9110 section 8.4.1, RFC 1952)."""


def read_object(text: bytes) -> dict[str, Any]:
    """Return the JSON object that a body is.

    >>> read_object(b'{"phone": "+12085813945"}')
    {'phone': '+12085813945'}
    """
    try:
        value = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        raise Problem(400, Message("body_object")) from None
    if not isinstance(value, dict):
        raise Problem(400, Message("body_object"))
    return value


class _Decoder:
    """Takes the content encoding off a body, a bounded piece at a time."""

    def __init__(self, encoding: str) -> None:
        if encoding not in ENCODINGS:
            raise Problem(400, Message("encoding_unknown"))
        self._inflate = zlib.decompressobj(ENCODINGS[encoding])

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield what a piece of the body stands for."""
        try:
            while data:
                if self._inflate.eof:  # only gzip has further members
                    self._inflate = zlib.decompressobj(ENCODINGS["gzip"])
                yield self._inflate.decompress(data, PIECE)
                data = self._inflate.unconsumed_tail or self._inflate.unused_data
        except zlib.error:
            raise Problem(400, Message("body_encoding")) from None

    def check_end(self) -> None:
        """Raise `Problem` where the body ends too early."""
        if not self._inflate.eof:
            raise Problem(400, Message("body_encoding"))


class Body:
    """The body of one request, as a context manager that gives its memory back."""

    def __init__(
        self,
        request: web.BaseRequest,
        limit: int,
        too_large: Message,
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

    async def __aexit__(self, *_: object) -> None:
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
            raise Problem(400, Message("body_slow", {"seconds": self._timeout})) from None
        except (RequestPayloadError, ConnectionError):
            raise Problem(400, Message("body_broken")) from None
        finally:
            self._patience -= self._clock() - before

    def _count(self, size: int) -> None:
        self._patience = min(self._patience + size / self._rate, self._timeout)
        self._received += size
        if max(self._received, self._request.content.total_bytes) > self._limit:  # much may decode to nothing
            raise Problem(400, self._too_large)
        if self._received <= SMALL:
            return
        if self._memory.take(self._account, self._received - self._counted):
            self._counted = self._received
        else:
            raise Problem(503, Message("bodies_full"), retry_after=BUSY_SECONDS)

    async def read(self) -> bytes:
        """Return the whole body, its content encoding taken off."""
        content = self._request.content
        encoding = (listed(self._request, "Content-Encoding").strip() or "identity").lower()
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
        """Return the JSON object that the body is; with `plain`, one of many parts is refused."""
        text = await self.read()
        if plain and sum(map(text.count, (b",", b"[", b"{"))) > COMPLEX:
            raise Problem(400, Message("body_parts", {"limit": COMPLEX}))
        return read_object(text)

    async def form(self, file: str) -> dict[str, str | bytes]:
        """Return the fields of a multipart/form-data body (RFC 7578), the file among them as bytes."""
        if "Content-Encoding" in self._request.headers:
            raise Problem(400, Message("form_encoded"))
        fields: dict[str, str | bytes] = {}
        try:
            reader = MultipartReader(self._request.headers, self._request.content)
            for _ in range(MAX_PARTS):
                part = await self._next(reader.next())
                if part is None:
                    return fields
                if not isinstance(part, BodyPartReader) or part.name is None:
                    raise Problem(400, Message("form_broken"))
                content = await self._part(part)
                if part.name == file and part.filename is not None:
                    fields.setdefault(file, content)
                elif len(content) <= MAX_TEXT_PART or part.name == file:
                    fields.setdefault(part.name, content.decode("utf-8", "replace"))
        except (HttpProcessingError, ValueError, AssertionError, LookupError, RuntimeError):
            raise Problem(400, Message("form_broken")) from None
        raise Problem(400, Message("form_parts", {"limit": MAX_PARTS}))

    async def _part(self, part: BodyPartReader) -> bytes:
        chunks = []
        while chunk := await self._next(part.read_chunk()):
            self._count(len(chunk))
            chunks.append(chunk)
        content = b"".join(chunks)
        return bytes(part.decode(content))


_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_BOOLEANS = {"true": True, "false": False}

IN_PLACE_OF_IMAGE = "url"
"""The parameter that an image may be given by instead of its own."""


def from_text(parameter: Parameter, text: str) -> Any:
    """Return a query's or a form's text as the parameter's type.

    >>> from webanalytics.operations import OPERATIONS
    >>> from_text(OPERATIONS["convert"].parameter("quality"), "80")
    80
    """
    kind = parameter.shape.kind
    if kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if kind == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    return text


def texts(operation: Operation, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the declared parameters of a query, each converted to its type."""
    return {
        parameter.name: from_text(parameter, given[parameter.name])
        for parameter in operation.parameters
        if parameter.name in given
    }


def check_parameters(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of one call by request name, defaults filled in; undeclared ones are dropped."""
    checked: dict[str, Any] = {}
    left_out = _left_out(operation, given) if operation.alternative is not None else ""
    image = operation.subject if operation.kind == "image" else ""
    for parameter in operation.served:
        name = parameter.name
        if name == left_out:
            continue
        value = given.get(name)
        if name == image:
            value = given.get(IN_PLACE_OF_IMAGE) if value is None else value
            if isinstance(value, bytes):  # a file of a form: there is nothing to check before it is read
                checked[name] = value
                continue
        if value is None and (parameter.default is REQUIRED or name not in given):
            if parameter.default is REQUIRED:
                raise Problem(400, required(name))
            checked[name] = parameter.default
            continue
        try:
            checked[name] = parameter.check(value)
        except ParameterError as error:
            raise Problem(400, error.message or str(error)) from None
    return checked


def _left_out(operation: Operation, given: Mapping[str, Any]) -> str:
    """Return which of a subject and its alternative is not given, "" without an alternative."""
    other = operation.alternative
    if other is None or other.local:
        return ""
    if given.get(other.name) is None:
        return other.name
    if given.get(operation.subject) is not None:
        raise Problem(400, Message("either", {"parameter": operation.subject, "other": other.name}))
    return operation.subject


def is_address(text: str) -> bool:
    """Return whether an image is given by an address: no base64 holds a colon (RFC 4648 section 4).

    >>> is_address("https://example.com/a.png"), is_address("iVBORw0KGgo="), is_address("data:,a")
    (True, False, False)
    """
    return ":" in text[:64] and not is_data_url(text)


def image_too_large(operation: Operation, limit: int) -> RowError:
    """Return the error of an image above the plan's limit."""
    return RowError("upload_large", parameter=operation.subject, limit=limit)


def image_bytes(operation: Operation, text: str, limit: int) -> bytes:
    """Return the bytes of base64 (RFC 4648 section 4, white space ignored) or a data: URL.

    ``operation`` is the one whose subject the image is, ``limit`` the most bytes of an image. Raises
    `RowError` when it is neither, or too large.

    >>> from webanalytics.operations import OPERATIONS
    >>> image_bytes(OPERATIONS["convert"], "data:image/gif;base64,R0lGODlh", 100)
    b'GIF89a'
    """
    parameter = operation.parameter(operation.subject)
    wrong = RowError("upload_form", parameter=parameter.name, what=parameter.expectation)
    try:
        data = data_url_content(text) if is_data_url(text) else base64_content(text)
    except ValueError:
        raise wrong from None
    if not data:
        raise wrong
    if len(data) > limit:
        raise image_too_large(operation, limit)
    return data
