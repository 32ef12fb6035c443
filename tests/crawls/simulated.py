"""A site in memory under a crawl's frontier: answers come in random order, and no network is used."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin
from zlib import crc32

from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.candidates import Skip
from webanalytics.crawls.frontier import Frontier
from webanalytics.crawls.page_answers import read
from webanalytics.crawls.scope import Scope
from webanalytics.page.facts.outlinks import sketch

ORIGIN = "https://a.example"


@dataclass
class Made:
    """A page: the paths it links to, its text, and where it redirects to."""

    links: Sequence[str | tuple[str, str, int]] = ()
    text: str = ""
    to: str = ""
    nofollow: bool = False
    error: str = ""


Write = Callable[[str], Made | None]
"""The page of a path with its query; None for one that is missing."""


@dataclass
class Crawled:
    """What a crawl has found: paths of rows and of what was skipped, with the reasons."""

    rows: list[str]
    depths: list[int | None]
    skipped: dict[str, tuple[str, str, int | None, str]]
    traps: list[dict[str, Any]]
    fetched: int
    dropped: int
    stopped: str
    links: Any
    counted: list[dict[str, Any]]

    def reasons(self, reason: str) -> set[str]:
        return {path for path, skip in self.skipped.items() if skip[0] == reason}


def path_of(url: str) -> str:
    return url.removeprefix(ORIGIN)


def answer(job: Job, write: Write) -> JobResult:
    path, passed = path_of(job.subject), []
    page = write(path)
    while page is not None and page.to:
        passed.append(ORIGIN + path if path.startswith("/") else path)
        path = page.to
        page = write(path)
    final = urljoin(ORIGIN + "/", path)
    fetched = Fetched(final, tuple(passed), 200 if page else 404)
    if page is None or page.error:
        kind: Any = page.error if page else "http"
        return JobResult(job.number, (Outcome(None, "x", kind),), fetched)
    links = [link if isinstance(link, tuple) else (link, "link", 0) for link in page.links]
    outlinks = {
        "target": [urljoin(final, target) for target, _, _ in links],
        "anchor": [""] * len(links),
        "rel": [rel for _, _, rel in links],
        "kind": [kind for _, kind, _ in links],
        "position": ["body"] * len(links),
        "fragment": [""] * len(links),
        "times": [1] * len(links),
        "cut": False,
    }
    data = {
        "outlinks": outlinks,
        "nofollow": page.nofollow,
        "sketch": sketch(page.text),
        "lines": sorted({crc32(line.encode()) for line in page.text.split("\n")}),
        "text_hash": page.text,
    }
    return JobResult(job.number, (Outcome({}),), fetched, apart=(Outcome(data),))


def crawl(
    write: Write,
    *,
    seed: int = 0,
    at_once: int = 12,
    listed: Sequence[str] = (),
    slow: str = "",
    start: str = "/",
    brings: bool = True,
    **scope: Any,
) -> Crawled:
    """Crawl a made-up site; ``slow`` is a page that answers when nothing else is left to do."""
    chance = random.Random(seed)
    admission = Admission(Scope((ORIGIN + start,), **{"sitemap": ("auto",), **scope}))
    frontier = Frontier(admission, at_once, read, brings=brings)
    admission.take_sitemap([ORIGIN + path for path in listed])
    under_way: list[Job] = []
    while not frontier.ended:
        while len(under_way) < at_once and (job := frontier.next()) is not None:
            under_way.append(job)
        assert under_way, "the crawl has ended without saying so"
        ready = [job for job in under_way if path_of(job.subject) != slow] or under_way
        job = chance.choice(ready)
        under_way.remove(job)
        frontier.take(answer(job, write))
    skipped = {path_of(url): tuple(known) for url, known in admission.seen.items() if isinstance(known, Skip)}
    trapped: dict[str, int] = {}
    return Crawled(
        [path_of(row.url) for row in frontier.rows],
        [row.depth for row in frontier.rows],
        skipped,  # type: ignore[arg-type]
        admission.traps.rows(trapped),
        frontier.fetched,
        frontier.dropped,
        frontier.stopped,
        admission.links.table(),
        list(admission.counted.rows()),
    )


def words(seed: object, count: int = 40) -> str:
    """Return a text that no other page has."""
    chance = random.Random(str(seed))
    return " ".join("".join(chance.choices("aeioulnrst", k=6)) for _ in range(count))
