"""Fetching one URL after another: redirects, retries, robots.txt, limits, and the errors' sentences."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from webanalytics.fetching.content import Accept
from webanalytics.fetching.exchange import Answer, Wanted, exchange, open_session, resolver
from webanalytics.fetching.limits import Limits
from webanalytics.fetching.response import FetchError, Problem, Response
from webanalytics.fetching.retry import backoff
from webanalytics.fetching.robots import RobotsCache, Rules, parse_aside
from webanalytics.fetching.sentences import SENTENCES, sentence
from webanalytics.fetching.settings import FetchSettings
from webanalytics.fetching.urls import check_redirect, check_url, host_key

_NO_RULES = Rules()


class _Journey:
    """One fetch under way: where it has got to, and what it has cost."""

    def __init__(self, wanted: Wanted, start: URL, *, robots: bool) -> None:
        self.wanted = wanted
        self.start = start
        self.robots = robots
        self.spent = 0.0
        self.again_at(start)

    def again_at(self, start: URL) -> None:
        """Begin a further try."""
        self.url = start
        self.passed: list[str] = []
        self.redirected = False
        self.elapsed = 0.0


class Fetcher:
    """Fetch pages politely and safely; the only door to the network.

    Use it as an asynchronous context manager, in one event loop. Any number of fetches may be
    started; they wait for their turn.

    Parameters
    ----------
    settings : FetchSettings
        Limits and manners.
    names : aiohttp.abc.AbstractResolver, optional
        Looks up host names; c-ares or the system's by default.

    Notes
    -----
    URLs are checked when given and again after each redirect; addresses are checked when they are
    dialled, so no DNS answer that changes in between gets past. No cookie is kept, no proxy or
    password file of the environment is used. `FetchSettings.timeout` bounds the time on the
    network of a whole fetch, its retries and robots.txt included; what is spent waiting for a
    turn, for a delay that the site asked for or between tries comes on top.

    Examples
    --------
    >>> async def main():
    ...     async with Fetcher(FetchSettings()) as fetcher:
    ...         return await fetcher.fetch("example.com")
    >>> asyncio.run(main())
    Traceback (most recent call last):
    webanalytics.fetching.response.FetchError: The `url` parameter must be a valid URL in http or https ...
    """

    def __init__(self, settings: FetchSettings, *, names: AbstractResolver | None = None) -> None:
        self.settings = settings
        self._names = names
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        settings = self.settings
        self._limits = Limits(settings.concurrency, settings.per_host, settings.delay)
        self._robots = RobotsCache(self._load_rules, failure_seconds=settings.timeout)
        self._own_names = self._names or resolver()
        self._session = open_session(settings, self._own_names)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        session, self._session = self._session, None
        await self._robots.close()
        if session is not None:
            await session.close()
        if self._names is None:
            await self._own_names.close()

    async def fetch(
        self, url: str, parameter: str = "url", accept: Accept = "page", *, max_bytes: int | None = None
    ) -> Response:
        """Return what is behind a URL.

        Parameters
        ----------
        url : str
            An http or https URL. White space at its ends is ignored, its fragment dropped.
        parameter : str
            The name by which error sentences call it.
        accept : {"page", "image", "any"}
            "page" takes HTML, XHTML and plain text (and a body without a type that looks like
            text); "image" anything but HTML; "any" everything.
        max_bytes : int, optional
            Size after decompression; `FetchSettings.max_bytes` by default.

        Returns
        -------
        Response
            The answer, its status between 200 and 299.

        Raises
        ------
        FetchError
            For everything else. Its ``error_type`` is one of dns, refused, tls, timeout, robots,
            http, too_large, not_html, blocked, invalid.
        """
        settings = self.settings
        try:
            start = check_url(url, allow_private=settings.allow_private, ports=settings.ports)
        except Problem as problem:
            raise _error(problem, parameter, None) from None
        wanted = Wanted(accept, settings.max_bytes if max_bytes is None else max_bytes)
        journey = _Journey(wanted, start, robots=settings.robots)
        try:
            answer = await self._tries(journey)
        except Problem as problem:
            raise _error(problem, parameter, journey) from None
        return Response(
            url=url,
            final_url=str(journey.url),
            redirects=tuple(journey.passed),
            http_status=answer.status,
            content_type=answer.headers.get("Content-Type", ""),
            headers=answer.headers,
            content=answer.content,
            elapsed=journey.elapsed,
        )

    async def _tries(self, journey: _Journey) -> Answer:
        settings = self.settings
        attempt = 0
        while True:
            try:
                return await self._follow(journey)
            except Problem as problem:
                wait = problem.retry_after
                if wait is None:
                    wait = backoff(attempt, settings.backoff, settings.max_retry_after)
                spent = journey.spent >= settings.timeout or wait > settings.max_retry_after
                if not problem.again or attempt >= settings.retries or spent:
                    raise
                if problem.retry_after is not None:
                    self._limits.pause(host_key(journey.url), wait)
            attempt += 1
            await asyncio.sleep(wait)
            journey.again_at(journey.start)

    async def _follow(self, journey: _Journey) -> Answer:
        settings = self.settings
        seen = {str(journey.url)}
        while True:
            answer = await self._hop(journey)
            if answer.location is None:
                return answer
            try:
                target = check_redirect(
                    journey.url,
                    answer.location,
                    allow_private=settings.allow_private,
                    ports=settings.ports,
                )
            except Problem as problem:
                problem.http_status = answer.status
                if problem.key == "no_target":
                    problem.details["status"] = answer.status
                else:
                    journey.redirected = True
                raise
            if len(journey.passed) >= settings.max_redirects:
                raise Problem("redirects", http_status=answer.status, limit=settings.max_redirects)
            # Without cookies a page that leads back to one already seen does so for ever.
            if str(target) in seen:
                raise Problem("redirect_loop", http_status=answer.status)
            seen.add(str(target))
            journey.passed.append(str(journey.url))
            journey.redirected = True
            journey.url = target

    async def _hop(self, journey: _Journey) -> Answer:
        url, settings = journey.url, self.settings
        rules = _NO_RULES
        if journey.robots:
            rules, spent = await self._robots.rules(str(url.origin()))
            journey.spent += spent
            rules.check(str(url))
        async with self._limits.slot(host_key(url), rules.crawl_delay):
            if self._session is None:
                raise RuntimeError("the Fetcher is not open: use it in `async with`")
            clock = asyncio.get_running_loop().time
            began = clock()
            left = settings.timeout - journey.spent
            try:
                return await exchange(self._session, url, journey.wanted, settings, max(left, 0.0))
            finally:
                took = clock() - began
                journey.spent += took
                journey.elapsed += took

    async def _load_rules(self, origin: str) -> Rules:
        settings = self.settings
        wanted = Wanted("any", settings.max_robots_bytes, cut=True)
        journey = _Journey(wanted, URL(f"{origin}/robots.txt", encoded=True), robots=False)
        try:
            answer = await self._tries(journey)
        except Problem as problem:
            return _rules_without_file(problem, journey)
        rules = await parse_aside(answer.content, settings.user_agent, settings.max_crawl_delay)
        return replace(rules, elapsed=journey.spent)


def _rules_without_file(problem: Problem, journey: _Journey) -> Rules:
    if problem.key == "status" and (problem.http_status or 0) >= 500:
        problem = Problem("robots_unreadable", status=problem.http_status)
    elif journey.redirected or SENTENCES[problem.key][0] not in (
        "dns",
        "refused",
        "tls",
        "timeout",
        "blocked",
    ):
        return Rules(elapsed=journey.spent)
    return Rules(problem=problem, elapsed=journey.spent)


def _error(problem: Problem, parameter: str, journey: _Journey | None) -> FetchError:
    redirected = journey is not None and journey.redirected
    text = sentence(problem.key, parameter, redirected=redirected, **problem.details)
    error_type = SENTENCES[problem.key][0]
    if journey is None:
        return FetchError(text, error_type, key=problem.key)
    return FetchError(
        text,
        error_type,
        http_status=problem.http_status,
        final_url=str(journey.url),
        redirects=tuple(journey.passed),
        elapsed=journey.elapsed,
        bytes=problem.received,
        key=problem.key,
    )
