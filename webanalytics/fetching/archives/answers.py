"""What each record of an archive says: an answer, the outcome of a fetch, a fault; the bodies are not read.

`index` makes the pages of archives of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from webanalytics.core.outcomes import Stored
from webanalytics.errors import reason
from webanalytics.fetching.archives.fetches import MEDIA_TYPE, ROWS_TYPE, FetchNote, read_note, read_rows
from webanalytics.fetching.archives.http import Head, read_head
from webanalytics.fetching.archives.members import Damaged
from webanalytics.fetching.archives.records import Fault, Record, records
from webanalytics.fetching.content import media_type
from webanalytics.fetching.exchange import REDIRECTS
from webanalytics.urls import is_web

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_REFERS = ("warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date")
_ANSWERS = ("response", "revisit", "resource")
_KINDS = (*_ANSWERS, "request", "metadata", "warcinfo", "conversion", "continuation")


@dataclass(slots=True)
class Answer:
    """An answer in an archive, as the heads of its record and of itself say it."""

    url: str
    stored: Stored
    name: str
    date: str
    order: int  # how many records came before it
    status: int | None = None  # its HTTP status, if it is known
    location: str = ""
    kind: str = ""
    digest: str = ""
    truncated: str = ""  # why it was cut off when it was stored
    # of a revisit the name of the record that has its content, and that record's address and date
    refers: tuple[str, ...] | None = None
    has_head: bool = True
    concurrent: str = ""  # the name of the record of its request, if it says so

    @property
    def age(self) -> tuple[datetime, int]:
        """What sorts answers: the later one is larger."""
        return moment(self.date), self.order


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A stretch of an archive, or a whole one, that gives no page."""

    stored: Stored
    key: str
    order: int
    url: str = ""  # the address of the record, "" if it is not known
    reason: str = ""


@dataclass
class Found:
    """What is in archives."""

    answers: list[Answer] = field(default_factory=list)
    notes: list[tuple[FetchNote, int]] = field(default_factory=list)
    # of runs that say which of their fetches are rows: number to place and address
    rows: dict[str, dict[int, tuple[int, str]]] = field(default_factory=dict)
    faults: list[Unreadable] = field(default_factory=list)
    # names of requests that ask for no page, such as HEAD and POST, and of their answers
    unasked: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)  # how many records there were of each kind


def moment(date: str) -> datetime:
    """Return the time of a WARC-Date; one that is not valid is the earliest of all.

    >>> moment("2026-11-22T10:00:00Z") < moment("2026-11-22T10:00:00.5Z")
    True
    """
    try:
        made = datetime.fromisoformat(date.strip())
        return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)
    except (ValueError, OverflowError):
        return _EARLIEST


def found_in(files: Iterable[Path]) -> Found:
    """Return what is in archives, one after another."""
    found, order = Found(), 0
    for file in files:
        for record in _records(file):
            order += 1
            if isinstance(record, Unreadable):
                _take_fault(found, record, order)
            elif isinstance(record, Fault):
                stored = Stored(file, record.place.offset, record.place.inside)
                _take_fault(found, Unreadable(stored, record.key, order, record.url), order)
            else:
                _take(found, record, file, order)
    asked = [answer for answer in found.answers if found.unasked.isdisjoint((answer.name, answer.concurrent))]
    found.counts += Counter(not_pages=len(found.answers) - len(asked))
    found.answers = asked
    return found


def _records(file: Path) -> Iterator[Record | Fault | Unreadable]:
    try:
        yield from records(file)
    except OSError as error:
        yield Unreadable(Stored(file), "unreadable_file", 0, reason=reason(error))


def _take_fault(found: Found, fault: Unreadable, order: int) -> None:
    """Take a fault; of a record whose block is damaged nothing else is kept."""
    found.counts["damaged"] += 1
    if found.answers and found.answers[-1].stored == fault.stored:
        found.answers.pop()
    elif found.notes and found.notes[-1][1] == order - 1 and fault.url:
        found.notes.pop()
    elif found.faults and found.faults[-1].stored == fault.stored:  # its head could not be read either
        found.faults.pop()
        found.counts["damaged"] -= 1
    found.faults.append(fault)


def _take(found: Found, record: Record, file: Path, order: int) -> None:
    stored = Stored(file, record.place.offset, record.place.inside)
    content_type = record.fields.get("content-type", "").strip()
    try:
        if record.kind in _ANSWERS and is_web(record.url):
            found.answers.append(_answer(record, stored, order))
        elif record.kind == "metadata" and content_type == MEDIA_TYPE:
            found.notes.append((read_note(record), order))
        elif record.kind == "metadata" and content_type == ROWS_TYPE:
            said = read_rows(record)
            places = found.rows.setdefault(said.run, {})
            places.update((number, (said.start + at, url)) for at, (number, url) in enumerate(said.rows))
        elif record.kind == "request" and is_web(record.url) and record.content(3) != b"GET ":
            found.unasked.update(filter(None, (record.name, record.named("warc-concurrent-to"))))
        found.counts[record.kind if record.kind in _KINDS else "other"] += 1
    except Damaged:
        found.counts["damaged"] += 1
        found.faults.append(Unreadable(stored, "archive_damaged", order, record.url))


def _answer(record: Record, stored: Stored, order: int) -> Answer:
    fields = record.fields
    answer = Answer(
        record.url,
        stored,
        record.name,
        fields.get("warc-date", "")[:40],
        order,
        digest=fields.get("warc-payload-digest", "")[:200],
        truncated=fields.get("warc-truncated", "").strip()[:40]
        or ("its rest is in other records" if "warc-segment-number" in fields else ""),
        concurrent=record.named("warc-concurrent-to"),
    )
    if record.kind == "revisit":
        answer.refers = tuple(map(record.named, _REFERS))
    if record.kind == "resource":
        answer.has_head, answer.kind = False, media_type(fields.get("content-type", ""))
    elif record.kind == "revisit" and record.size == 0:
        answer.has_head = False
    else:
        _say(answer, read_head(record))
        if answer.status == 304:  # RFC 9110, section 15.4.5: the page is as it was answered before
            answer.status, answer.has_head, answer.kind, answer.digest = None, False, "", ""
            answer.refers = answer.refers if any(answer.refers or ()) else ("", record.url, "")
    return answer


def _say(answer: Answer, head: Head) -> None:
    answer.status = head.status
    answer.location = head.first("location")[:4_000] if head.status in REDIRECTS else ""
    answer.kind = media_type(head.first("content-type"))
