"""What is fetched -> records at the end of a WARC 1.1 file, each fetch in one piece.

A request and its answer are two records, redirects too, and after them comes a note of how the fetch ended
(`fetches`). A file in which another run was killed is cut back to its last whole record, and goes on there.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import os
import re
import threading
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from webanalytics._version import __version__
from webanalytics.errors import ParameterError, WriteError
from webanalytics.fetching.archives.fetches import MEDIA_TYPE, MOST_ROWS, ROWS_TYPE, FetchNote, RowsNote
from webanalytics.fetching.archives.records import Fault, Record, records
from webanalytics.fetching.response import Exchange, FetchLog
from webanalytics.files import claim

LEVEL = 6
"""Level of compression: the usual one of zlib."""
_PARAMETER = "archive"
_USER = re.compile(r"^(\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]*)[^/\\?#]*@")
_ANSWER, _REQUEST = "application/http; msgtype=response", "application/http; msgtype=request"


def check_place(path: Path) -> None:
    """Refuse, before any work, a file that cannot be written."""
    if not path.absolute().parent.is_dir():
        raise ParameterError.must_be(_PARAMETER, "a file in an existing folder")
    if path.exists() and not path.is_file():
        raise ParameterError.must_be(_PARAMETER, "a file, or a name that is free")


class ArchiveWriter:
    """Writes the fetches of a run to the end of an archive; one process at a time, or `ParameterError`."""

    def __init__(self, path: Path) -> None:
        self.run = uuid.uuid4().hex
        self._zipped = path.suffix.lower() == ".gz"
        self._lock = threading.Lock()
        try:
            # a link that is put in its place is not followed
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            flags |= getattr(os, "O_BINARY", 0)  # Windows would write other ends of lines
            self._handle: int | None = os.open(path, flags, 0o666)
        except OSError as error:
            raise WriteError.at(_PARAMETER, "a file that can be written", error) from None
        try:
            if not claim(self._handle):
                raise ParameterError.must_be(_PARAMETER, "a file that no other run writes to")
            _go_on(path, self._handle)
            self._append(self._begin(path))
        except OSError as error:
            self.close()
            raise WriteError.at(_PARAMETER, "a file that can be written", error) from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file, after what is being written."""
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)

    async def take(self, log: FetchLog) -> None:
        """Write a fetch; when this returns, it is in the file."""
        await asyncio.to_thread(lambda: self._write(self._fetch(log)))

    async def take_rows(self, rows: Sequence[tuple[int, str]]) -> None:
        """Write which fetches of a crawl are its rows: their numbers and addresses, in order."""
        for start in range(0, len(rows), MOST_ROWS):
            note = RowsNote(self.run, start, tuple(rows[start : start + MOST_ROWS]))
            record = self._record("metadata", "", datetime.now(UTC), ROWS_TYPE, note.as_json(), {})[1]
            await asyncio.to_thread(self._write, record)

    def _write(self, content: bytes) -> None:
        with self._lock:
            try:
                self._append(content)
            except OSError as error:
                raise WriteError.at(_PARAMETER, "a file with room for the pages", error) from None

    def _append(self, content: bytes) -> None:
        """Write to the end of the file, all or nothing; once it is closed nothing."""
        handle = self._handle
        if handle is None:
            return
        before, left = os.fstat(handle).st_size, memoryview(content)
        try:
            while left:
                left = left[os.write(handle, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, before)
            raise

    def _begin(self, path: Path) -> bytes:
        """Return the record that describes what follows."""
        lines = {
            "software": f"webanalytics/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "run": self.run,
        }
        block = "".join(f"{name}: {value}\r\n" for name, value in lines.items()).encode()
        more = {"WARC-Filename": path.name} if path.name.isprintable() and path.name.isascii() else {}
        return self._record("warcinfo", "", datetime.now(UTC), "application/warc-fields", block, more)[1]

    def _fetch(self, log: FetchLog) -> bytes:
        """Return the records of a fetch, or that of a page as it was rendered, beside it."""
        if log.purpose == "rendered":
            url, kind = log.final_url or "", "text/html; charset=utf-8"
            return self._record("conversion", url, datetime.now(UTC), kind, log.rendered, {})[1]
        parts, names, noted = [], [], datetime.now(UTC)
        for exchange in log.exchanges:
            name, content = self._answer(exchange)
            names.append(name)
            parts += [content, self._request(exchange, name)]
        values = {key: value for key, value in log.values.items() if key != "parameter"}
        note = FetchNote(
            purpose=log.purpose,
            url=_USER.sub(r"\1", log.asked.subject),
            run=self.run,
            number=log.asked.number,
            **log.end(),
            fetched_at=noted.isoformat(timespec="seconds"),
            answers=tuple(names),
            values=tuple(values.items()),
        )
        more = {"WARC-Concurrent-To": f"<{names[-1]}>"} if names else {}
        url = log.exchanges[-1].url if names else log.final_url or ""
        parts.append(self._record("metadata", url, noted, MEDIA_TYPE, note.as_json(), more)[1])
        return b"".join(parts)

    def _answer(self, exchange: Exchange) -> tuple[str, bytes]:
        """Return the name and the record of an answer, its body encoded as it was received."""
        body = bytes(exchange.body)
        encodings = b",".join(
            value for name, value in exchange.headers if name.lower() == b"transfer-encoding"
        )
        chunked = b"chunked" in encodings.lower()
        # The body comes without the marks of its chunks. Its headers say that it has some: it is one chunk.
        sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked and body else body
        head = b"".join(b"%s: %s\r\n" % pair for pair in exchange.headers)
        block = exchange.status_line + b"\r\n" + head + b"\r\n" + sent
        # Readers do not agree on whether a digest covers the marks of chunks.
        more = {} if chunked else {"WARC-Payload-Digest": _digest(body)}
        if not exchange.whole:
            more["WARC-Truncated"] = "unspecified"
        return self._record("response", exchange.url, exchange.started, _ANSWER, block, more)

    def _request(self, exchange: Exchange, answer: str) -> bytes:
        target = exchange.url.partition("://")[2].partition("/")[2]
        lines = [
            f"{exchange.method} /{target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in exchange.request),
        ]
        block = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"
        more = {"WARC-Concurrent-To": f"<{answer}>"}
        return self._record("request", exchange.url, exchange.started, _REQUEST, block, more)[1]

    def _record(
        self, kind: str, url: str, date: datetime, content_type: str, block: bytes, more: Mapping[str, str]
    ) -> tuple[str, bytes]:
        """Return the name of a new record and its bytes."""
        name = f"urn:uuid:{uuid.uuid4()}"
        fields = {
            "WARC-Type": kind,
            "WARC-Record-ID": f"<{name}>",
            "WARC-Date": date.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "WARC-Target-URI": url,
            **more,
            "WARC-Block-Digest": _digest(block),
            "Content-Type": content_type,
            "Content-Length": str(len(block)),
        }
        head = "".join(f"{field}: {value}\r\n" for field, value in fields.items() if value)
        content = b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"
        return name, gzip.compress(content, LEVEL, mtime=0) if self._zipped else content


def _digest(content: bytes) -> str:
    """Return a digest in the form of archives: SHA-1 in base32, by which their readers find equal content."""
    made = hashlib.sha1(content, usedforsecurity=False).digest()
    return f"sha1:{base64.b32encode(made).decode()}"


def _go_on(path: Path, handle: int) -> None:
    """Cut a file off after its last whole record; refuse one that is no archive."""
    if os.fstat(handle).st_size == 0:
        return
    last: Record | Fault | None = None
    whole = False
    for last in records(path):
        whole = whole or isinstance(last, Record)
    if not whole and not (isinstance(last, Fault) and last.key == "archive_cut"):
        raise ParameterError.must_be(_PARAMETER, "a new file, or an archive that goes on")
    if isinstance(last, Fault) and last.key == "archive_cut":
        os.ftruncate(handle, last.place.offset)


@asynccontextmanager
async def recording(path: str | os.PathLike[str] | None) -> AsyncIterator[ArchiveWriter | None]:
    """Open an archive for a run, and yield what writes to it; None without a path."""
    if path is None:
        yield None
        return
    writer = await asyncio.to_thread(ArchiveWriter, Path(path))
    try:
        yield writer
    finally:
        await asyncio.to_thread(writer.close)
