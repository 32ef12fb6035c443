"""The records of a WARC or ARC file, one after another, and what is broken between them.

The fields of records are read by warcio; bytes come from `members.Stream`, which bounds them, and the
bodies are not decoded here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from webanalytics.errors import MissingExtraError
from webanalytics.fetching.archives.members import Budget, Cut, Damaged, Place, Spent, Stream, next_record

_PIECE = 65_536


@dataclass
class Record:
    """One record."""

    place: Place  # where it begins
    kind: str  # its WARC-Type, such as "response"
    fields: dict[str, str]  # its named fields, names in lower case; of repeated ones the first
    size: int  # bytes of its block that were announced
    # gives at most so many bytes of its block; raises `Cut` where it is shorter than it says
    read: Callable[[int], bytes] = field(repr=False)
    line: Callable[[], bytes] = field(repr=False)  # gives a line of its block

    @property
    def url(self) -> str:
        """The address that it is about, "" where it names none."""
        return self.named("warc-target-uri")

    @property
    def name(self) -> str:
        """Its WARC-Record-ID, "" where it has none."""
        return self.named("warc-record-id")

    def named(self, field: str) -> str:
        """Return the address or the name in a field, without brackets, "" where it has none."""
        return self.fields.get(field, "").strip().strip("<>")

    def content(self, limit: int) -> bytes:
        """Return the rest of its block, at most so many bytes and one more."""
        parts, left = [], limit + 1
        while left > 0 and (piece := self.read(min(left, _PIECE))):
            parts.append(piece)
            left -= len(piece)
        return b"".join(parts)


@dataclass(frozen=True)
class Fault:
    """Something that is no record: where it begins, the message that says so, its address if it is known."""

    place: Place
    key: str
    url: str = ""


class _Block:
    """The block of a record, of the length that it announced."""

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self.left = stream, size

    def read(self, size: int) -> bytes:
        if self.left <= 0 or size <= 0:
            return b""
        return self._took(self._stream.read(min(size, self.left)))

    def line(self) -> bytes:
        return b"" if self.left <= 0 else self._took(self._stream.readline(self.left))

    def _took(self, piece: bytes) -> bytes:
        if not piece:
            raise Cut
        self.left -= len(piece)
        return piece


def parser() -> Any:
    """Return warcio's parser of records, or raise `MissingExtraError`."""
    try:
        from warcio.recordloader import ArcWarcRecordLoader
    except ImportError:
        raise MissingExtraError("archives", "warcio", "reading web archives") from None
    return ArcWarcRecordLoader()


def record_at(stream: Stream, loader: Any) -> tuple[Record, _Block] | None:
    """Return the record that begins where a stream is, and its block; None at the end of the file."""
    line = b""
    stream.head()
    while not line.strip(b"\r\n"):
        if stream.ended:
            return None
        place = stream.place
        line = stream.readline()
    try:
        parsed = loader.parse_record_stream(_Lines(stream), statusline=line, no_record_parse=True)
        fields: dict[str, str] = {}
        for name, value in parsed.rec_headers.headers:
            fields.setdefault(name.lower(), value)
        size, kind = parsed.length, parsed.rec_type
    except (Damaged, OSError):
        raise
    except Exception as error:  # of warcio: no class of its own for most of what a file may hold
        raise Damaged from error
    if not kind or not fields.get("content-length", "").strip().isdigit():
        raise Damaged
    block = _Block(stream, size)
    return Record(place, kind, fields, size, block.read, block.line), block


class _Lines:
    """What warcio reads the head of a record from."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.read = stream.read

    def readline(self, size: int | None = None) -> bytes:  # noqa: ARG002 - it asks for lines of any length
        return self._stream.readline()


def records(path: Path) -> Iterator[Record | Fault]:
    """Yield the records of a file, and a `Fault` for each stretch that is none.

    The block of a record can be read until the next one is asked for. A record whose block turns out to be
    damaged is followed by a `Fault` at the same place.
    """
    loader = parser()
    with path.open("rb") as file:
        stream = Stream(file, Budget(file))
        before: Record | None = None
        while True:
            begin, url = stream.place, ""
            try:
                found = record_at(stream, loader)
                if found is None:
                    return
                record, block = found
                begin, url = record.place, record.url
                yield record
                while block.left > 0:
                    block.read(_PIECE)
                stream.past_blank()
                before = record if stream.place.inside else None
            except Damaged as error:
                key = "archive_cut" if isinstance(error, Cut) else "archive_damaged"
                try:
                    if isinstance(error, Spent):
                        raise error
                    is_sound = before is None or stream.is_sound()
                    again = _after(file, stream, begin)
                except Spent:
                    yield Fault(begin, "archive_work", url)
                    return
                if before is not None and not is_sound and (key == "archive_damaged" or again is not None):
                    # what inflates to no record has most likely been damaged in the one in front of it
                    key, begin, url = "archive_damaged", before.place, before.url
                yield Fault(begin, key, url)
                if again is None:
                    return
                stream, before = again, None


def _after(file: BinaryIO, stream: Stream, begin: Place) -> Stream | None:
    """Return a stream from the next record on that can be recognised.

    A damaged member may have been read past its end: the search begins in it.
    """
    in_member = stream.zipped or begin.inside == 0
    start = begin.offset + 1 if in_member else max(stream.raw_place, begin.offset + 1)
    found = next_record(file, start, stream.budget, zipped=stream.zipped)
    return None if found is None else Stream(file, stream.budget, Place(found))
