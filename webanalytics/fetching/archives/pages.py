"""`Pages`: what archives hold, read one by one; and a page's content, read when its turn comes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Self

from webanalytics.core.messages import FETCHING, error_type_of, row_sentence
from webanalytics.core.outcomes import ArchivedPage, Certificate, Fetched, PageRecord, Stored
from webanalytics.errors import reason
from webanalytics.fetching.archives.http import ROOM, Head, decoded, read_head
from webanalytics.fetching.archives.index import Index
from webanalytics.fetching.archives.members import Budget, Damaged, Place, Spent, Stream
from webanalytics.fetching.archives.records import Record, parser, record_at
from webanalytics.fetching.content import check_body, check_type
from webanalytics.fetching.exchange import ERROR_BYTES
from webanalytics.fetching.response import LONGEST_HEADER, FetchError, Problem, header_block
from webanalytics.fetching.robots import RobotsCopy, copy_of, keep
from webanalytics.fetching.robots_rules import LARGEST


class Reader:
    """Reads pages of archives, best in the order in which they are stored.

    The archive that was read last stays open: of one that was compressed as a whole, reading on is cheap and
    going back is not. Threads take turns.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._stream: Stream | None = None
        self._budgets: dict[Path, Budget] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = self._path = self._stream = None

    def page(self, page: ArchivedPage, parameter: str, limit: int) -> tuple[PageRecord, FetchError | None]:
        """Return a page with its content, and what failed where its fetch or its reading did."""
        with self._lock:
            head, body, problem = self._contents(page, limit)
        fetched = _with_head(page.fetched, head)
        if page.failure is not None:
            problem = Problem(page.failure[0], **dict(page.failure[1]))
        if problem is None:
            return PageRecord(page.url, body, fetched), None
        error = FetchError(
            problem.key,
            {"parameter": parameter, **problem.details},
            http_status=fetched.http_status,
            final_url=fetched.final_url or "",
            redirects=fetched.redirects or (),
            elapsed=fetched.elapsed or 0.0,
            bytes=page.fetched.bytes or 0,
            redirect_kinds=fetched.redirect_kinds or (),
            content=body or None,
        )
        return PageRecord(page.url, b"", fetched), error

    def robots(self, index: Index) -> None:
        """Put every robots.txt where the run keeps them."""
        for origin, found in index.robots.items():
            copy = RobotsCopy(
                http_status=found.http_status, error_type=_type_of(found.error, found.http_status)
            )
            if found.body is not None and found.http_status is not None and 200 <= found.http_status < 300:
                with self._lock:
                    body = self._robots(found.body)
                copy = copy if body is None else copy_of(body, found.http_status)
            elif not copy.error_type and found.http_status is not None:
                copy = replace(copy, error_type=_type_of("status", found.http_status))
            keep(origin, copy)

    def _robots(self, place: Stored) -> bytes | None:
        try:
            head, raw = self._stored(place, LARGEST + ROOM)
            return decoded(raw, head or Head(200), LARGEST)[:LARGEST]
        except (Damaged, OSError, Problem):
            return None

    def _contents(self, page: ArchivedPage, limit: int) -> tuple[Head | None, bytes, Problem | None]:
        """Return the head of a page's answer, its content, and the problem with them."""
        head: Head | None = None
        try:
            if page.head is not None:
                head, _ = self._stored(page.head, 0)
            if page.body is None:
                return head, b"", None
            own, raw = self._stored(page.body, limit + ROOM)
            said = own or Head(page.fetched.http_status or 200)
            return head or own, self._checked(page, said, raw, limit), None
        except Problem as problem:
            return head, b"", problem
        except OSError as error:
            return head, b"", Problem("unreadable_file", reason=reason(error))
        except Damaged as error:
            place = page.body or page.head
            offset = 0 if place is None or place.offset is None else place.offset
            key = "archive_work" if isinstance(error, Spent) else "archive_damaged"
            return head, b"", Problem(key, offset=offset)

    def _checked(self, page: ArchivedPage, head: Head, raw: bytes, limit: int) -> bytes:
        """Return the content of an answer, decoded, or raise `Problem`."""
        status = page.fetched.http_status
        failed = status is not None and not 200 <= status < 300
        if page.failure is not None and page.failure[0] != "status":
            return b""  # what there was of it was no page
        if failed:
            try:
                body = decoded(raw, head, ERROR_BYTES)[:ERROR_BYTES]
                _check(head, body)
            except Problem:
                return b""
            return body
        if len(raw) > limit + ROOM:
            raise Problem("too_large", limit=f"{limit:,}")
        body = decoded(raw, head, limit)
        if len(body) > limit:
            raise Problem("too_large", limit=f"{limit:,}")
        _check(head, body)
        return body

    def _stored(self, place: Stored, limit: int) -> tuple[Head | None, bytes]:
        """Return the head in a record, if it has one, and its body as it is stored, at most a byte more."""
        if place.offset is None:
            with place.file.open("rb") as file:
                return None, file.read(limit + 1)
        if self._path != place.file or self._stream is None:
            self._close()
            self._file, self._path = place.file.open("rb"), place.file
            budget = self._budgets.setdefault(place.file, Budget(self._file))
            self._stream = Stream(self._file, budget, Place(place.offset, place.inside))
        else:
            self._stream.seek(Place(place.offset, place.inside))
        found = record_at(self._stream, parser())
        if found is None:
            raise Damaged
        record: Record = found[0]
        head = None if record.kind == "resource" else read_head(record)
        return head, record.content(limit) if limit else b""


def _check(head: Head, body: bytes) -> None:
    kind = head.first("content-type")
    check_type(kind, "page")
    check_body(body, kind, "page")


def _type_of(error: str | None, status: int | None) -> str:
    return str(error_type_of(error, status)) if error is not None and error in FETCHING else ""


def _with_head(fetched: Fetched, head: Head | None) -> Fetched:
    if head is None:
        return fetched
    return replace(
        fetched,
        content_type=head.first("content-type")[:LONGEST_HEADER],
        x_robots_tag="\n".join(head.all("x-robots-tag"))[:LONGEST_HEADER],
        headers=header_block(head.headers),
    )


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A page of an archive."""

    url: str  # its address; of a stretch of an archive that is damaged, the file and the byte
    # the page, decoded as a browser would, or as it was received; None where there is none
    html: str | bytes | None
    http_status: int | None  # status of its answer
    headers: str | None  # the headers of its answer, one a line
    final_url: str | None  # the address that answered, after redirects
    redirects: list[str]  # the addresses passed through on the way
    redirect_kinds: list[str]  # the status of each redirect
    elapsed: float | None  # seconds that its fetch took, if the archive says so
    fetched_at: str | None  # when it was fetched: ISO 8601, UTC
    source: str  # "archive"
    certificate: Certificate | None  # that of the server, if the archive says so
    # why there is no page, as in the rows of every function
    error: str | None
    error_type: str | None


class Pages:
    """The pages of archives, in order; iterated over, each is read when its turn comes.

    Every function over pages takes it in place of addresses, and ``pandas.DataFrame(pages)`` is a table.

    ``counts`` has how many records the archives have of each kind, and what became of them: ``pages``,
    ``duplicates``, ``not_pages`` (answers that are no page: images, scripts, robots.txt) and ``damaged``.
    """

    def __init__(self, index: Index, limit: int, *, decode: bool = True) -> None:
        self._index, self._limit, self._decode = index, limit, decode
        self.counts = dict(index.counts)

    @property
    def entries(self) -> list[ArchivedPage]:
        """What is known of each page without its content."""
        return self._index.pages

    def __len__(self) -> int:
        return len(self._index.pages)

    def __iter__(self) -> Iterator[ArchiveRecord]:
        with Reader() as reader:
            for page in self._index.pages:
                yield self._record(*reader.page(page, "urls", self._limit))

    def __repr__(self) -> str:
        return f"Pages({len(self)} pages, {self.counts})"

    def keep_robots(self) -> None:
        """Put every robots.txt of the archives where a run keeps those that it reads."""
        with Reader() as reader:
            reader.robots(self._index)

    def _record(self, page: PageRecord, error: FetchError | None) -> ArchiveRecord:
        how = page.fetched
        html: str | bytes | None = page.body if error is None else error.content
        if isinstance(html, bytes) and self._decode:
            from webanalytics.page.decoder import decode  # its tables take time to load

            html = decode(html, how.content_type or "").text
        return ArchiveRecord(
            url=page.url,
            html=html,
            http_status=how.http_status,
            headers=how.headers,
            final_url=how.final_url,
            redirects=list(how.redirects or ()),
            redirect_kinds=list(how.redirect_kinds or ()),
            elapsed=how.elapsed,
            fetched_at=how.fetched_at,
            source="archive",
            certificate=how.certificate,
            error=None if error is None else row_sentence(error.key, str(error)),
            error_type=None if error is None else error.error_type,
        )
