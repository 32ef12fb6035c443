"""The bytes of an archive, plain or in gzip members, read with bounds; where it goes on after damage.

`records` reads its records from a `Stream`. What a file claims of itself is never trusted: lines, heads and
what a member inflates to are all bounded, so that memory does not depend on the file.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import BinaryIO, NamedTuple

PIECE = 16_384
"""Bytes that are read from a file at once; each line of a head has the rest of them copied."""
LONGEST_LINE = 65_536
"""Bytes of a line of a record's head."""
LONGEST_HEAD = 262_144
"""Bytes of the head of a record, and of an answer within it."""
MOST_LINES = 2_000
"""Lines of them."""
LEAST_WORK = 250_000_000
"""Bytes that are read of any file; those of a member count when it is inflated, as often as that is done."""
WORK_OF_BYTE = 200
"""Bytes that are read besides for each byte of a file: pages seldom shrink to a tenth."""

_GZIP = b"\x1f\x8b\x08"
_SEEN = 4_096
"""Bytes in which the head of a record is recognised: a file may hold a candidate every three bytes."""
# A version, and the name of a first field: a page about archives may hold the version alone.
_WARC = re.compile(rb"WARC/\d\.\d+\r?\n[A-Za-z-]{1,40}:")
_ARC = re.compile(rb"(?:https?|filedesc)://[^\s]{1,4000} [0-9a-fA-F.:]{3,45} \d{12,14} ")


class Damaged(ValueError):  # noqa: N818 - it never reaches a user
    """The bytes are not those of a record."""


class Cut(Damaged):
    """The file ends in the middle of a record."""


class Spent(Damaged):
    """The file has taken more work than its size allows."""


class Budget:
    """The work that a file may take: bytes read, inflated or looked at, a line as much as 200 of them."""

    def __init__(self, file: BinaryIO) -> None:
        self.left = LEAST_WORK + WORK_OF_BYTE * os.fstat(file.fileno()).st_size

    def spend(self, work: int) -> None:
        """Count some work; raise `Spent` beyond what is left."""
        self.left -= work
        if self.left < 0:
            raise Spent


class Place(NamedTuple):
    """Where a record begins: a byte of the file, and in a gzip member how far into what it inflates to."""

    offset: int
    inside: int = 0


class Stream:
    """The bytes of an archive from one place on, within a budget of work."""

    def __init__(self, file: BinaryIO, budget: Budget, place: Place = Place(0)) -> None:  # noqa: B008 - immutable
        self._file = file
        self.budget = budget
        self._head_left = self._lines_left = -1
        self._raw = self._out = b""
        self._member = -1
        self._at = self._inside = 0
        self._whole, self.zipped = True, False
        self._unzip: zlib._Decompress | None = None
        self.seek(place)

    def seek(self, place: Place) -> None:
        """Go to a place; one further on in the member at hand is reached without beginning it again."""
        ahead = place.inside - self._inside if self.zipped and self._member == place.offset else -1
        if ahead < 0:
            self._file.seek(place.offset)
            self._raw, self._out = b"", b""
            self._member = self._at = place.offset
            self._inside = 0
            self._whole = True
            self._unzip = None
            self._fill_raw()
            self.zipped = self._raw.startswith(_GZIP[:2])
            ahead = place.inside
        while ahead > 0:
            passed = len(self.read(min(ahead, PIECE)))
            if not passed:
                raise Cut
            ahead -= passed

    @property
    def place(self) -> Place:
        """Where the next byte is."""
        if self.zipped and self._whole and not self._out:
            return Place(self._at)
        return Place(self._member, self._inside) if self.zipped else Place(self._member + self._inside)

    @property
    def raw_place(self) -> int:
        """The byte of the file up to which it has been used."""
        return self._at if self.zipped else self._member + self._inside

    @property
    def ended(self) -> bool:
        """Whether there is nothing more; after this `place` is where the next byte is."""
        return not self._out and not self._fill()

    def past_blank(self) -> None:
        """Go past the blank lines after a record, to the end of its member, where its checksum is."""
        while True:
            rest = self._out.lstrip(b"\r\n")
            self._inside += len(self._out) - len(rest)
            self._out = rest
            if rest or not self.zipped or self._whole:
                return
            self._fill_member()

    def is_sound(self) -> bool:
        """Return whether the rest of the member at hand inflates to what its checksum says; it is read."""
        try:
            while not self._whole:
                self._out = b""
                self._fill_member()
        except Spent:
            raise
        except Damaged:
            return False
        return True

    def head(self) -> None:
        """Begin to read a head: its lines are bounded together."""
        self._head_left, self._lines_left = LONGEST_HEAD, MOST_LINES

    def read(self, size: int) -> bytes:
        """Return at most so many bytes, none at the end of the file; raise `Damaged`."""
        if not self._out and not self._fill():
            return b""
        piece, self._out = self._out[:size], self._out[size:]
        self._inside += len(piece)
        return piece

    def readline(self, size: int = LONGEST_LINE) -> bytes:
        """Return a line with its end; raise `Damaged` for one that is too long."""
        limit = min(size, LONGEST_LINE)
        while (end := self._out.find(b"\n", 0, limit)) < 0 and len(self._out) < limit:
            before, member = self._out, self._member
            self._out = b""
            try:
                more = self._fill()
            finally:
                self._out = before + self._out
                # what comes before a new member is still to be passed, and is not in it
                self._inside -= len(before) if self._member != member else 0
            if not more:
                end = len(self._out) - 1
                break
        if end < 0 and self._out:
            if size > LONGEST_LINE:
                raise Damaged
            end = limit - 1
        self.budget.spend(WORK_OF_BYTE)
        self._head_left -= end + 1
        self._lines_left -= 1
        if self._head_left < 0 or self._lines_left < 0:
            raise Damaged  # before anything is taken: who reads a block counts what was
        line, self._out = self._out[: end + 1], self._out[end + 1 :]
        self._inside += len(line)
        return line

    def _fill_raw(self) -> bool:
        if not self._raw:
            self._raw = self._file.read(PIECE)
        return bool(self._raw)

    def _fill(self) -> bool:
        """Have some bytes to give; return False at the end of the file."""
        if not self.zipped:
            self._out = self._raw or self._file.read(PIECE)
            self._raw = b""
            self.budget.spend(len(self._out))
            return bool(self._out)
        while True:
            self._fill_member()
            if self._out:
                return True
            if not self._begin_member():
                return False

    def _fill_member(self) -> None:
        """Inflate some more of the member at hand, if there is more of it."""
        while not self._out and not self._whole:
            if not self._fill_raw():
                raise Cut
            self._inflate()

    def _begin_member(self) -> bool:
        while len(self._raw) < len(_GZIP):
            more = self._file.read(PIECE)
            if not more:
                break
            self._raw += more
        if not self._raw.strip(b"\0"):  # the end, or a block of it that was never written
            rest = self._raw
            while rest and not rest.strip(b"\0"):
                rest = self._file.read(PIECE)
            if not rest:
                return False
            raise Damaged
        if not self._raw.startswith(_GZIP):
            raise Cut if _GZIP.startswith(self._raw) else Damaged
        self._member, self._inside = self._at, 0
        self._unzip, self._whole = zlib.decompressobj(31), False
        return True

    def _inflate(self) -> None:
        if self._unzip is None:
            raise Damaged
        before = len(self._raw)
        try:
            self._out = self._unzip.decompress(self._raw, PIECE)
        except zlib.error as error:
            raise Damaged from error
        self.budget.spend(len(self._out))
        self._whole = self._unzip.eof
        self._raw = self._unzip.unused_data if self._whole else self._unzip.unconsumed_tail
        self._at += before - len(self._raw)


def next_record(file: BinaryIO, start: int, budget: Budget, *, zipped: bool) -> int | None:
    """Return where the next record begins that can be recognised, from a byte of the file on."""
    offset, kept = start, b""
    file.seek(start)
    while piece := file.read(PIECE):
        text = kept + piece
        begin = offset - len(kept)
        for found in re.finditer(re.escape(_GZIP) if zipped else rb"(?<=\n)WARC/\d", text):
            at = begin + found.start()
            budget.spend(_SEEN)
            if _is_record(file, at, zipped=zipped):
                return at
        offset += len(piece)
        kept = text[-8:]
        file.seek(offset)
    return None


def _is_record(file: BinaryIO, at: int, *, zipped: bool) -> bool:
    file.seek(at)
    head = file.read(_SEEN)
    if zipped:
        try:
            head = zlib.decompressobj(31).decompress(head, _SEEN)
        except zlib.error:
            return False
    return bool(_WARC.match(head) or (zipped and _ARC.match(head)))
