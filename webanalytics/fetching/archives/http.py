"""An HTTP answer in the block of a record: its head, and its body decoded within limits.

Headers of archives lie: a body may have been decoded when it was stored, or may not have come in chunks
although it says so. What cannot be what the headers say is taken as it is, if it looks like text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from webanalytics.fetching.archives.members import Damaged
from webanalytics.fetching.archives.records import Record
from webanalytics.fetching.content import DecodingError, check_body, decoder_for
from webanalytics.fetching.response import Problem

ROOM = 65_536
"""Bytes that an encoded body may have more than it may decode to."""

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?:\s|$)", re.IGNORECASE)
# Four bytes of zstd may be a block of 128 KB: small steps keep what comes out near the limit.
_ZSTD_STEP = 64
_INTERIM = (b"100", b"102", b"103")  # RFC 9110, section 15.2: the answer comes after them
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")


@dataclass(frozen=True)
class Head:
    """The head of an answer: its status and its headers, in order."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()

    def all(self, name: str) -> list[str]:
        """Return the values of a header, given in lower case."""
        return [value for own, value in self.headers if own.lower() == name]

    def first(self, name: str) -> str:
        """Return the first value of a header, "" where it is missing."""
        return next(iter(self.all(name)), "")


def read_head(record: Record) -> Head:
    """Return the head of the answer in a record, whose block is then at the body; raise `Damaged`."""
    lines: list[list[bytes]] = []
    status = None
    while status is None or status[1] in _INTERIM:
        if (status := _STATUS.match(record.line())) is None:
            raise Damaged
        lines.clear()
        while line := record.line().rstrip(b"\r\n"):
            if line[:1] in b" \t" and lines:  # folded, as RFC 9112 section 5.2 has it
                lines[-1].append(line.strip())
            else:
                lines.append([line])
    pairs = (b" ".join(parts).partition(b":") for parts in lines)
    headers = ((_text(name), _text(value)) for name, colon, value in pairs if colon)
    return Head(int(status[1]), tuple(headers))


def _text(value: bytes) -> str:
    return value.strip().decode("utf-8", "replace")


def decoded(raw: bytes, head: Head, limit: int) -> bytes:
    """Return a body without its transfer and content encodings, at most so many bytes and one more."""
    if "chunked" in head.first("transfer-encoding").lower():
        raw = _joined(raw)
    names = [value.lower().strip() for value in head.all("content-encoding")]
    problem = Problem("interrupted")
    try:
        if names == ["zstd"]:
            return _unzstd(raw, limit)
        decoder = decoder_for(names)
        body = decoder.feed(raw, limit + 1)
        if len(body) > limit or decoder.complete:
            return body
    except DecodingError:
        problem = Problem("encoding")
    if _is_text(raw):  # it was decoded when it was stored
        return raw
    raise problem


def _unzstd(raw: bytes, limit: int) -> bytes:
    """Return what a body in zstd (RFC 8878) decodes to."""
    try:
        import zstandard
    except ImportError:
        raise DecodingError("zstandard is not installed") from None
    try:
        # RFC 9659: no more than 8 MB of window in a content encoding
        unzip = zstandard.ZstdDecompressor(max_window_size=8 * 2**20)
        frame, body = unzip.decompressobj(), bytearray()
        for start in range(0, len(raw), _ZSTD_STEP):
            rest = raw[start : start + _ZSTD_STEP]
            while rest and len(body) <= limit:
                frame = unzip.decompressobj() if frame.eof else frame
                body += frame.decompress(rest)
                rest = frame.unused_data
    except zstandard.ZstdError as error:
        raise DecodingError("not zstd") from error
    if raw and not frame.eof and len(body) <= limit:
        raise Problem("interrupted")
    return bytes(body[: limit + 1])


def _joined(raw: bytes) -> bytes:
    """Return a body without the marks of its chunks; one that has none as it is."""
    parts: list[bytes] = []
    at = 0
    while found := _CHUNK.match(raw, at):
        size = int(found[1], 16)
        if size == 0:
            return b"".join(parts)
        at = found.end() + size
        parts.append(raw[found.end() : at])
        if raw[at : at + 2] == b"\r\n":
            at += 2
        elif raw[at : at + 1] == b"\n":
            at += 1
        elif at >= len(raw):
            raise Problem("interrupted")
        else:
            return raw
    if parts:
        raise Problem("interrupted")
    return raw


def _is_text(raw: bytes) -> bool:
    try:
        check_body(raw, "", "page")
    except Problem:
        return False
    return bool(raw)
