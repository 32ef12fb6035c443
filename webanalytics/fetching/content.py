"""The body of a response, for `exchange`: decoded piece by piece, and whether it is of the kind requested.

aiohttp's own decoding passes on a gzip body that was cut off as if it were whole, and hands stacked
or unknown encodings through undecoded; so its decoding is switched off and this used instead.
"""

from __future__ import annotations

import importlib
import re
import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from webanalytics.fetching.response import Problem

if TYPE_CHECKING:
    from aiohttp import ClientResponse

Accept = Literal["page", "image", "any"]
Method = Literal["GET", "HEAD"]

_PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain"))
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
# MIME Sniffing (mimesniff.spec.whatwg.org) section 5.1: types without meaning.
_UNKNOWN = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,60}/[a-z0-9!#$&^_.+-]{1,60}")
# Section 3 there: bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_DOCUMENTS = (b"%PDF-", b"%!PS-Adobe-", b"{\\rtf")
# Sections 6.1 and 6.4 there, of those that no text begins with: files that servers send as pages.
_FILES = (*_DOCUMENTS, b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\x1f\x8b\x08", b"PK\x03\x04", b"Rar!\x1a\x07")
_SNIFFED = 1445


def media_type(content_type: str) -> str:
    """Return the type of a Content-Type header without its parameters, "" when it names none.

    >>> media_type("Text/HTML; charset=utf-8"), media_type("nonsense")
    ('text/html', '')
    """
    name = content_type.partition(";")[0].strip().lower()
    return name if _MEDIA_TYPE.fullmatch(name) or name == "*/*" else ""


def is_page_type(name: str) -> bool:
    """Return whether a media type is one of pages, or says nothing."""
    return name in _UNKNOWN or name in _PAGE_TYPES


def check_type(content_type: str, accept: Accept) -> None:
    """Raise `Problem` when a header says that the body is not what was requested."""
    name = media_type(content_type)
    if accept == "page" and not is_page_type(name):
        raise Problem("not_html", content_type=name)
    if accept == "image" and name in _HTML_TYPES:
        raise Problem("not_image")


def check_body(content: bytes, content_type: str, accept: Accept) -> None:
    """Raise `Problem` when a body is a file, or has no type and is not the text of a page."""
    if accept != "page":
        return
    if content.startswith(_FILES):
        raise Problem("not_text")
    head = content[:_SNIFFED]
    if media_type(content_type) not in _UNKNOWN or head.startswith(_TEXT_MARKS):
        return
    if _BINARY.search(head) or head.lstrip().startswith(_DOCUMENTS):
        raise Problem("not_text")


def type_or_text(content_type: str, content: bytes) -> str:
    """Return a Content-Type header, that of a text where it names no type and the body begins with no tag.

    Browsers show such a body as text (MIME Sniffing, section 7.1).

    >>> type_or_text("", b"# Tea"), type_or_text("", b" <p>Tea"), type_or_text("text/html", b"Tea")
    ('text/plain', '', 'text/html')
    """
    head = content[:_SNIFFED].removeprefix(_TEXT_MARKS[0]).lstrip()
    named = media_type(content_type) not in _UNKNOWN
    return content_type if named or head[:1] in (b"", b"<") or _BINARY.search(head) else "text/plain"


MAX_MEMBERS = 1000
_GZIP_MAGIC = b"\x1f\x8b"
# Brotli doubles its block of output until the limit is passed; small steps keep it near the limit.
_BROTLI_STEP = 65_536
# Sent by misconfigured servers with a body that is not encoded at all.
_PLAIN = frozenset(("", "identity", "none", "utf-8", "utf8"))


class DecodingError(ValueError):
    """The data is not in the encoding that it claims to be in."""


class Decoder(Protocol):
    """One content encoding."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return what `data` decodes to: about `limit` bytes at most, then the rest is dropped."""

    @property
    def complete(self) -> bool:
        """Whether the data so far is a whole body."""


class Identity:
    """No encoding."""

    complete = True

    def feed(self, data: bytes, limit: int) -> bytes:  # noqa: ARG002
        """Return the data itself."""
        return data


class Inflate:
    """``gzip`` (RFC 1952, with several members) and ``deflate`` (RFC 1950, and RFC 1951 as often sent).

    Members are bounded: a body of empty ones would cost time and give nothing.

    >>> import gzip
    >>> decoder = Inflate(gzip=True)
    >>> decoder.feed(gzip.compress(b"text")[:-1], limit=100), decoder.complete
    (b'text', False)
    """

    def __init__(self, *, gzip: bool, max_members: int = MAX_MEMBERS) -> None:
        self._gzip = gzip
        self._left = max_members
        self._head = b""
        self._stream: Any = None
        self._done = False

    @property
    def complete(self) -> bool:
        """Whether a stream has ended, or nothing came at all."""
        return self._done or (self._stream is None and not self._head)

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return what `data` decodes to; bytes after the last member are ignored, as browsers do."""
        output = bytearray()
        try:
            while data and len(output) < limit:
                if not self._start(data):
                    break
                data, self._head = self._head + data, b""
                output += self._stream.decompress(data, limit - len(output))
                self._done = self._stream.eof
                data = self._stream.unused_data if self._done else self._stream.unconsumed_tail
        except zlib.error as error:
            raise DecodingError("not gzip or deflate") from error
        return bytes(output)

    def _start(self, data: bytes) -> bool:
        if self._stream is None:
            if not self._gzip and len(self._head) + len(data) < 2:
                self._head += data
                return False
            self._stream = zlib.decompressobj(31 if self._gzip else _deflate_bits(self._head + data))
        elif self._done:
            if not self._gzip or not data.startswith(_GZIP_MAGIC[: len(data)]):
                return False
            self._left -= 1
            if self._left <= 0:
                raise DecodingError("too many members")
            self._stream = zlib.decompressobj(31)
        return True


def _deflate_bits(head: bytes) -> int:
    # RFC 1950 section 2.2: the two header bytes name the method 8 and are a multiple of 31.
    wrapped = head[0] & 15 == 8 and (head[0] << 8 | head[1]) % 31 == 0
    return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS


class Brotli:
    """``br`` (RFC 7932)."""

    def __init__(self, module: Any) -> None:
        self._stream = module.Decompressor()
        self._error = module.error
        self._empty = True

    @property
    def complete(self) -> bool:
        """Whether the stream has ended, or nothing came at all."""
        return self._empty or bool(self._stream.is_finished())

    def feed(self, data: bytes, limit: int) -> bytes:
        """Return what `data` decodes to."""
        self._empty = self._empty and not data
        output = bytearray()
        try:
            while len(output) < limit and not self._stream.is_finished():
                step = min(limit - len(output), _BROTLI_STEP)
                piece = self._stream.process(data, output_buffer_limit=step)
                output += piece
                data = b""
                if len(piece) < step:  # it was not the limit that stopped it
                    break
        except self._error as error:
            raise DecodingError("not brotli") from error
        return bytes(output)


def _bounded_brotli() -> Any:
    """Return the brotli module, if it can bound what it puts out (1.2 or newer)."""
    try:
        module = importlib.import_module("brotli")
    except ImportError:
        return None
    return module if hasattr(module.Decompressor, "can_accept_more_data") else None


_BROTLI = _bounded_brotli()
ACCEPTED = "gzip, deflate, br" if _BROTLI else "gzip, deflate"


def decoder_for(headers: Iterable[str]) -> Decoder:
    """Return the decoder for the values of the Content-Encoding headers.

    Raises `DecodingError` for stacked encodings and for any that was not offered.

    >>> decoder_for(["gzip, gzip"])
    Traceback (most recent call last):
    webanalytics.fetching.content.DecodingError: unsupported content encoding
    """
    names = [name.strip().lower() for header in headers for name in header.split(",")]
    names = [name for name in names if name not in _PLAIN]
    match names:
        case []:
            return Identity()
        case ["gzip" | "x-gzip"]:
            return Inflate(gzip=True)
        case ["deflate"]:
            return Inflate(gzip=False)
        case ["br"] if _BROTLI:
            return Brotli(_BROTLI)
    raise DecodingError("unsupported content encoding")


async def body_within(limit: int, response: ClientResponse) -> bytes | None:
    """Return the body of a response, None for one of more bytes."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)
