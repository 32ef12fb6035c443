"""Asks addresses whether they answer, as a link checker does: once each, politely, and hardly for a body.

Crawls check links to other sites with it, and audits the images, scripts and style sheets of pages.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from webanalytics.audits.graph.verdicts import verdict
from webanalytics.core.messages import row_sentence
from webanalytics.fetching import Fetcher, FetchError, Response
from webanalytics.runs.frames.link_table import CHECKED
from webanalytics.urls import host_of

Row: TypeAlias = dict[str, Any]

EXTERNAL_AT_ONCE = 2
"""Requests at once to one host of links that lead elsewhere: its owner did not ask for the check."""

_OURS = frozenset(("encoding", "too_large", "not_html", "not_text", "not_image"))
"""Failures to read a body that was received: the address answers all the same."""
# What a second request by GET cannot change. A server that refuses the method, or breaks on it, may answer
# to GET: many deny HEAD although RFC 9110 section 9.1 demands it.
_FINAL = frozenset(
    (
        *("unknown_host", "unknown_here", "lookup_failed", "refused", "certificate", "handshake"),
        *("connect_timeout", "host_given_up", "host_refused", "robots", "robots_unreadable"),
        *("private", "port", "redirect_scheme"),
        *("invalid_url", "credentials", "long_url"),
    )
)
_SAID_CLEARLY = frozenset((429,))


async def check(
    fetcher: Fetcher, targets: Mapping[str, str], on_row: Callable[[Row], None] | None = None
) -> list[Row]:
    """Ask each address (with its kind: "external", "image", ...) for its status, and return a row for each.

    The rows have the keys of `webanalytics.runs.frames.link_table.CHECKED`. The ``verdict`` is "ok";
    "redirected", to an address that answers; "gone": 404, 410, or no such host; "refused": the server does
    not let this client see the page (401, 403, 429, 999, a challenge), and "blocked": no answer in time, or
    robots.txt forbids asking, which say nothing about visitors; "failed": another status of 400 or more, no
    connection, a wrong certificate.

    Notes
    -----
    The method is HEAD, and where that fails GET, of whose answer a few kilobytes are read. The robots.txt of
    other hosts is obeyed as on the own one, as the W3C link checker and LinkChecker do: one who does not
    want programs there is not asked, and the link is "blocked" rather than broken.
    """
    rows: dict[str, Row] = {}
    lanes = deque(_lanes(targets, fetcher.settings.per_host))

    async def work() -> None:
        while lanes:
            lane = lanes.popleft()
            url = lane.popleft()
            rows[url] = await check_one(fetcher, url, targets[url])
            if on_row is not None:
                on_row(rows[url])
            if lane:
                lanes.append(lane)

    # More than may run at once: those of a host that is waited for hold up nobody.
    workers = [asyncio.create_task(work()) for _ in range(min(len(lanes), 4 * fetcher.settings.concurrency))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [rows[url] for url in targets]


def _lanes(targets: Mapping[str, str], per_host: int) -> Iterator[deque[str]]:
    """Yield the addresses in queues that are worked off one by one, several for each host."""
    hosts: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for url, kind in targets.items():
        hosts[host_of(url), kind == "external"].append(url)
    for (_, external), urls in hosts.items():
        count = min(len(urls), per_host, EXTERNAL_AT_ONCE if external else per_host)
        for lane in range(count):
            yield deque(urls[lane::count])


async def check_one(fetcher: Fetcher, url: str, kind: str) -> Row:
    """Return the row of one address."""
    error: FetchError | None = None
    method: Literal["HEAD", "GET"]
    for method in ("HEAD", "GET"):
        try:
            return _answered(url, kind, method, await fetcher.ask(url, method))
        except FetchError as problem:
            error = problem
            if problem.key in _FINAL or problem.http_status in _SAID_CLEARLY:
                break
    assert error is not None  # noqa: S101 - for the type checker
    return _refused(url, kind, method, error)


def _row(*values: object) -> Row:
    return dict(zip(CHECKED, values, strict=True))


def _answered(url: str, kind: str, method: str, answer: Response) -> Row:
    said = "redirected" if answer.redirects else "ok"
    return _row(url, kind, said, answer.http_status, answer.final_url, method, None, None)


def _refused(url: str, kind: str, method: str, error: FetchError) -> Row:
    kind_of_error = None if error.key in _OURS else error.error_type
    said = verdict(error.http_status, kind_of_error, error.key, redirected=bool(error.redirects))
    is_fault = said not in ("ok", "redirected")
    fault = (row_sentence(error.key, error.sentence), error.error_type) if is_fault else (None, None)
    return _row(url, kind, said, error.http_status, error.final_url or None, method, *fault)
