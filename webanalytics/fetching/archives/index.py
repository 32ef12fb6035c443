"""What was found in archives -> their pages, each with what is known of its fetch.

The pages of one address are one, the latest; a redirect leads to its target if the archives have it; a
revisit to the record with its content. Where this package wrote the archive, its notes say what was asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from webanalytics.core.outcomes import ArchivedPage, Fetched, Stored
from webanalytics.fetching.archives.answers import Answer, Found, Unreadable, found_in, moment
from webanalytics.fetching.archives.fetches import FetchNote
from webanalytics.fetching.content import is_page_type
from webanalytics.urls import address, with_slashes

Duplicates = Literal["latest", "all"]

MOST_REDIRECTS = 20
"""Redirects that are followed within archives."""


@dataclass(frozen=True)
class Index:
    """The pages of archives, in order."""

    pages: list[ArchivedPage]  # one for each page, and one for each stretch that gives none
    robots: Mapping[str, RobotsOf]  # the latest robots.txt of each origin
    # how many records there were of each kind, and what became of them: ``pages``, ``duplicates``,
    # ``not_pages`` (answers that are no page: images, scripts, robots.txt) and ``damaged``
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class RobotsOf:
    """The robots.txt of an origin: where it is, and how its fetch ended."""

    body: Stored | None
    http_status: int | None
    error: str | None = None


def index_of(files: Iterable[Path], duplicates: Duplicates = "latest") -> Index:
    """Return the pages of archives."""
    return _Indexing(found_in(files), duplicates).index()


class _Indexing:
    """The answers of archives, found by name and by address."""

    def __init__(self, found: Found, duplicates: Duplicates) -> None:
        self._found, self._every = found, duplicates == "all"
        self._named: dict[str, Answer] = {}
        self._by_url: dict[str, list[Answer]] = {}
        self._by_digest: dict[str, Answer] = {}
        for answer in found.answers:
            self._named.setdefault(answer.name, answer)
            self._by_url.setdefault(plain(answer.url), []).append(answer)
            if answer.digest and answer.refers is None:
                self._by_digest.setdefault(answer.digest, answer)
        self._counts: Counter[str] = Counter(found.counts)

    def index(self) -> Index:
        noted = {name for note, _ in self._found.notes for name in note.answers}
        own, robots = self._of_notes()
        others = [answer for answer in self._found.answers if answer.name not in noted or not answer.name]
        pages = [*own, *self._of_answers(others, robots), *map(_unreadable, self._found.faults)]
        made = [page for _, page in sorted(pages, key=lambda pair: pair[0])]
        self._counts["pages"] = len(made) - len(self._found.faults)
        return Index(made, robots, dict(self._counts))

    def _of_notes(self) -> tuple[list[tuple[tuple[int, int, int], ArchivedPage]], dict[str, RobotsOf]]:
        """Return the pages that notes tell of, in the order in which they were asked for."""
        robots: dict[str, RobotsOf] = {}
        latest: dict[str, tuple[FetchNote, int]] = {}
        chosen: list[tuple[FetchNote, int]] = []
        for given, order in self._found.notes:
            note = self._as_row(given)
            if note is None:
                self._counts["not_rows"] += 1
            elif note.purpose == "robots":
                answer = self._named.get(note.answers[-1]) if note.answers else None
                body = answer.stored if answer is not None and note.error is None else None
                robots[note.url] = RobotsOf(body, note.http_status, note.error)
            elif self._every:
                chosen.append((note, order))
            else:
                self._counts["duplicates"] += note.url in latest
                latest[note.url] = note, order
        chosen = chosen or list(latest.values())
        first: dict[str, int] = {}
        for note, order in chosen:
            first[note.run] = min(order, first.get(note.run, order))
        return [((first[note.run], note.number, order), self._noted(note)) for note, order in chosen], robots

    def _as_row(self, note: FetchNote) -> FetchNote | None:
        """Return a note with the place and the address of its row, None if it is none of its crawl."""
        rows = self._found.rows.get(note.run)
        if rows is None or note.purpose != "page":
            return note
        place = rows.get(note.number)
        return None if place is None else replace(note, number=place[0], url=place[1])

    def _noted(self, note: FetchNote) -> ArchivedPage:
        answer = self._named.get(note.answers[-1]) if note.answers else None
        fetched = Fetched(
            final_url=note.final_url,
            redirects=note.redirects,
            http_status=note.http_status,
            elapsed=note.elapsed,
            bytes=note.size,
            redirect_kinds=note.redirect_kinds,
            fetched_at=note.fetched_at if note.error in (None, "status") else None,
            certificate=note.certificate,
        )
        failure = None if note.error is None else (note.error, note.values)
        if answer is None and failure is None:
            failure = ("archived_elsewhere", ())
        judged = answer is not None and (failure is None or note.error == "status")
        body = answer.stored if answer is not None and judged else None
        name = answer.name if answer is not None else f"{note.run} {note.number}"
        return ArchivedPage(note.url, fetched, body, failure=failure, name=name)

    def _of_answers(
        self, answers: Iterable[Answer], robots: dict[str, RobotsOf]
    ) -> list[tuple[tuple[int, int, int], ArchivedPage]]:
        latest: dict[str, Answer] = {}
        rules: dict[str, Answer] = {}
        chosen: list[Answer] = []
        for answer in answers:
            origin = robots_origin(answer.url)
            if origin:
                if not answer.location and (origin not in rules or answer.age >= rules[origin].age):
                    rules[origin] = answer
                self._counts["not_pages"] += 1
            elif not self._is_page(answer):
                self._counts["not_pages"] += 1
            elif self._every:
                chosen.append(answer)
            else:
                known = latest.get(plain(answer.url))
                self._counts["duplicates"] += known is not None
                if known is None or answer.age >= known.age:
                    latest[plain(answer.url)] = answer
        for origin, answer in rules.items():
            robots.setdefault(origin, RobotsOf(self._content(answer), self._status(answer)))
        return [((a.order, 0, 0), self._page(a)) for a in chosen or latest.values()]

    def _is_page(self, answer: Answer) -> bool:
        if answer.location:
            return True
        kind = answer.kind
        if answer.refers is not None and not answer.has_head:
            referred = self._referred(answer)
            kind = referred.kind if referred is not None else ""
        return is_page_type(kind)

    def _page(self, answer: Answer) -> ArchivedPage:
        """Return the page of an answer, at the end of its redirects."""
        passed: list[Answer] = []
        here = answer
        failure: tuple[str, tuple[tuple[str, Any], ...]] | None = None
        while here.location:
            target = self._at(urljoin(here.url, with_slashes(here.location)), here)
            if target is None:
                failure = ("archived_redirect", (("status", here.status),))
                break
            if target in (here, *passed) or len(passed) >= MOST_REDIRECTS:
                failure = ("redirect_loop", (("redirected", True),))
                break
            passed.append(here)
            here = target
        fetched = Fetched(
            final_url=here.url,
            redirects=tuple(step.url for step in passed),
            http_status=self._status(here),
            redirect_kinds=tuple(str(step.status) for step in passed),
            fetched_at=_time(answer.date),
            source="archive",
        )
        return self._with_content(ArchivedPage(answer.url, fetched, failure=failure, name=answer.name), here)

    def _with_content(self, page: ArchivedPage, answer: Answer) -> ArchivedPage:
        body = self._content(answer)
        head = answer.stored if answer.has_head and body != answer.stored else None
        if page.failure is not None:
            return replace(page, head=answer.stored if answer.has_head else None)
        if body is None:
            return replace(page, head=head, failure=("archived_elsewhere", ()))
        whole = not answer.truncated or answer.refers is not None
        if not whole and (answer.status is None or 200 <= answer.status < 300):
            return replace(
                page, head=answer.stored, failure=("archived_part", (("reason", answer.truncated),))
            )
        return replace(page, body=body, head=head)

    def _status(self, answer: Answer) -> int | None:
        """Return the status of an answer; of a revisit that has none, that of what it refers to."""
        known = self._referred(answer) if answer.status is None and answer.refers is not None else answer
        return None if known is None else known.status

    def _content(self, answer: Answer) -> Stored | None:
        """Return where the content of an answer is, None if it is not in these archives."""
        if answer.refers is None:
            return answer.stored
        referred = self._referred(answer)
        return None if referred is None else referred.stored

    def _referred(self, answer: Answer) -> Answer | None:
        """Return the record that has the content of a revisit."""
        name, url, date = answer.refers or ("", "", "")
        found = self._named.get(name) if name else None
        if found is None and url:
            same = [known for known in self._by_url.get(plain(url), ()) if known.refers is None]
            if date or answer.digest:
                same = [known for known in same if date and moment(known.date) == moment(date)][:1]
            before = [known for known in same if known.age < answer.age] or same
            found = max(before, key=lambda known: known.age, default=None)
        if found is None and answer.digest:
            found = self._by_digest.get(answer.digest)
        return None if found is None or found.refers is not None else found

    def _at(self, url: str, before: Answer) -> Answer | None:
        """Return the answer of an address that was stored first after a redirect, else the last one."""
        known = sorted(self._by_url.get(plain(url), ()), key=lambda answer: answer.age)
        return next((answer for answer in known if answer.age > before.age), known[-1] if known else None)


def plain(url: str) -> str:
    """Return an address in normal form and without its fragment, by which answers are compared."""
    found = address(url)
    return url.partition("#")[0] if found is None else found.url


def robots_origin(url: str) -> str:
    """Return the origin whose robots.txt an address is, "" for any other.

    >>> robots_origin("https://A.example:443/robots.txt"), robots_origin("https://a.example/x/robots.txt")
    ('https://a.example', '')
    """
    whole = plain(url)
    origin = whole.removesuffix("/robots.txt")
    return origin if origin != whole and origin.count("/") == 2 and "@" not in url else ""


def _time(date: str) -> str | None:
    found = moment(date)
    return None if found.year == 1 else found.astimezone(UTC).isoformat(timespec="seconds")


def _unreadable(fault: Unreadable) -> tuple[tuple[int, int, int], ArchivedPage]:
    place = fault.stored
    values: dict[str, Any] = {"reason": fault.reason} if fault.reason else {"offset": place.offset or 0}
    where = str(place.file) if place.offset is None else f"{place.file}:{place.offset}"
    page = ArchivedPage(
        fault.url or where, failure=(fault.key, tuple(values.items())), name=f"{where}:{place.inside}"
    )
    return (fault.order, 0, 0), page
