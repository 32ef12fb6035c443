"""The outcome of one fetch as a record of an archive: what its answers alone do not say.

An archive that this package writes has one after the answers of each fetch: the address as it was given, the
way to the answer, the time it took, and what failed. With it the page can be judged again as it was then. At
the end of a crawl, which fetches more than it reports, are the addresses that are its rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from webanalytics.core.messages import MESSAGES, sentence
from webanalytics.core.outcomes import read_certificate
from webanalytics.fetching.archives.members import Damaged
from webanalytics.fetching.archives.records import Record
from webanalytics.fetching.response import FetchEnd

MEDIA_TYPE = "application/vnd.webanalytics.fetch+json"
"""Content type of such a record."""
ROWS_TYPE = "application/vnd.webanalytics.rows+json"
"""Content type of the record with rows of a crawl."""
MOST_ROWS = 1_000
"""Rows of a crawl in one record."""
LARGEST = 16_000_000
"""Bytes of such a record that are read."""
_LONGEST = 10_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FetchNote(FetchEnd):
    """The outcome of a fetch."""

    purpose: str  # "page", or "robots" for the robots.txt of an origin
    url: str  # what was asked for, as it was given
    run: str = ""  # the run that asked
    number: int = 0  # the place of the input in it
    fetched_at: str | None = None
    answers: tuple[str, ...] = ()  # names of the records of its answers, the last one that of the page
    values: tuple[tuple[str, Any], ...] = ()  # name and value of what the message of ``error`` shows

    def as_json(self) -> bytes:
        """Return it as the block of a record."""
        return json.dumps(asdict(self) | {"values": dict(self.values)}, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class RowsNote:
    """Rows of a crawl: the number of each fetch, and the address that the row shows, in order."""

    run: str
    start: int
    rows: tuple[tuple[int, str], ...]

    def as_json(self) -> bytes:
        """Return it as the block of a record."""
        return json.dumps(asdict(self)).encode()


def read_note(record: Record) -> FetchNote:
    """Return the note in a record, or raise `Damaged` for anything else."""
    return _read(record, _note)


def read_rows(record: Record) -> RowsNote:
    """Return the rows of a crawl in a record, or raise `Damaged` for anything else."""
    return _read(record, _rows)


def _read(record: Record, make: Callable[[Any], T]) -> T:
    block = record.content(LARGEST)
    if len(block) > LARGEST:
        raise Damaged
    try:
        return make(json.loads(block))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Damaged from error


def _rows(read: Mapping[str, Any]) -> RowsNote:
    rows = tuple((number, _text(url)) for number, url in read["rows"])
    if not all(type(number) is int for number in (read["start"], *(number for number, _ in rows))):
        raise TypeError("not the rows of a crawl")
    return RowsNote(_text(read["run"]), read["start"], rows)


def _note(read: Mapping[str, Any]) -> FetchNote:
    number, status, size, elapsed = (read[name] for name in ("number", "http_status", "size", "elapsed"))
    good = (
        read["purpose"] in ("page", "robots")
        and type(number) is int
        and (status is None or (type(status) is int and 100 <= status <= 999))
        and (size is None or (type(size) is int and size >= 0))
        and (elapsed is None or (isinstance(elapsed, (int, float)) and 0 <= elapsed < 1e9))
    )
    if not good:
        raise ValueError("not the outcome of a fetch")
    values = read["values"]
    if read["error"] == "certificate":  # archives that are older than the reason have none
        values = {"reason": "nobody noted why", **values}
    note = FetchNote(
        purpose=read["purpose"],
        url=_text(read["url"]),
        run=_text(read["run"]),
        number=number,
        final_url=None if read["final_url"] is None else _text(read["final_url"]),
        redirects=_texts(read["redirects"]),
        redirect_kinds=_texts(read["redirect_kinds"]),
        http_status=status,
        elapsed=None if elapsed is None else float(elapsed),
        size=size,
        fetched_at=None if read["fetched_at"] is None else _text(read["fetched_at"])[:40],
        answers=_texts(read["answers"]),
        error=None if read["error"] is None else _text(read["error"]),
        certificate=read_certificate(read.get("certificate")),
        values=tuple((_text(name), _value(value)) for name, value in values.items()),
    )
    if note.error is not None:
        if note.error not in MESSAGES or MESSAGES[note.error][0] is None:
            raise ValueError("no failure of a row")
        sentence(note.error, **{"parameter": "url", **dict(note.values)})  # raises where a value is missing
    return note


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value[:_LONGEST]


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > 1_000:
        raise TypeError("not a list of texts")
    return tuple(map(_text, values))


def _value(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    return _text(value)[:200]
