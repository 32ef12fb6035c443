"""A fetch from its URL to a response: checks, robots.txt, limits, redirects, retries, and its error.

Local backend, service and audits share it; each request of a fetch is an `exchange`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from multidict import CIMultiDict
from yarl import URL

from webanalytics.core.messages import FETCHING, error_type_of
from webanalytics.core.proxy import is_in_environment
from webanalytics.fetching.content import Accept, Method
from webanalytics.fetching.exchange import (
    CONTROL,
    RawResponse,
    Sink,
    Wanted,
    exchange,
    names_answer,
    resolver,
)
from webanalytics.fetching.gates import GIVEN_UP, Elsewhere, HostKnown, Limits, Waiting, turns_away
from webanalytics.fetching.guard import check_redirect, check_url, host_key, is_public
from webanalytics.fetching.pace import FetchSettings, backoff
from webanalytics.fetching.response import Asked, FetchError, FetchLog, Problem, Recorder, Response
from webanalytics.fetching.robots import (
    RobotsCache,
    RobotsCopy,
    Rules,
    asked_before,
    copy_of,
    keep,
    keeping,
    kept_here,
    parse_in_thread,
)
from webanalytics.fetching.state import FetchState

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from aiohttp.abc import AbstractResolver

    from webanalytics.fetching.session import Sessions

_NO_RULES = Rules()
_NO_ANSWER = frozenset(("dns", "connection", "tls", "timeout", "blocked"))


class Fetcher:
    """Fetch pages politely and safely.

    Use it as an asynchronous context manager, in one event loop. Any number of fetches may be
    started; each waits for a free slot.

    Notes
    -----
    URLs are checked when given and again after each redirect; addresses are checked when they are
    connected to, so no DNS answer that changes in between gets past. No cookie is kept, no proxy or
    password file of the environment is used. `FetchSettings.timeout` bounds the time on the
    network of a whole fetch, its retries and robots.txt included; what is spent waiting for a
    turn, for a delay that the site asked for or between tries comes on top.
    """

    def __init__(
        self,
        settings: FetchSettings,  # limits, and how politely to fetch
        *,
        names: AbstractResolver | None = None,  # looks up host names; c-ares or the system's by default
        # takes what was sent and received in each fetch that says what was asked for, and every robots.txt
        recorder: Recorder | None = None,
    ) -> None:
        self.settings = settings
        self._recorder = recorder
        self.names = names
        self._only: Collection[str] | None = None
        self._looked_up: dict[str, list[str]] = {}

    async def __aenter__(self) -> Self:
        settings = self.settings
        self.limits = Limits(
            settings.concurrency,
            settings.per_host,
            settings.delay,
            first_wait=settings.backoff,
            longest_wait=settings.max_retry_after,
            adaptive=settings.adaptive,
        )
        self._origins: defaultdict[str, set[str]] = defaultdict(set)
        self._doubts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._robots = RobotsCache(self._load_rules, failure_seconds=settings.timeout)
        return self

    @cached_property
    def _own_names(self) -> AbstractResolver:
        return self.names or resolver()

    @cached_property
    def _sessions(self) -> Sessions:  # where something is fetched: a first call need not import what fetches
        from webanalytics.fetching.session import Sessions

        return Sessions(self.settings, self._own_names)

    async def __aexit__(self, *_: object) -> None:
        await self._robots.close()
        if sessions := self.__dict__.pop("_sessions", None):
            await sessions.close()
        if (names := self.__dict__.pop("_own_names", None)) and self.names is None:
            await names.close()

    async def fetch(
        self,
        url: str,  # an http or https URL. White space at its ends is ignored, its fragment dropped.
        parameter: str = "url",  # the name by which error sentences call it
        # "page" takes HTML, XHTML and plain text (and a body without a type that looks like text); "image"
        # anything but HTML; "any" everything
        accept: Accept = "page",
        *,
        max_bytes: int | None = None,  # size after decompression; `FetchSettings.max_bytes` by default
        # read the page that comes with an HTTP error too: it is the error's ``content``. Challenges and walls
        # in place of the page are then errors, whatever their status.
        error_pages: bool = False,
        # makes, of the address that answers, what takes the body as it arrives; each try has one of its own.
        # The response has no content then.
        sink: Callable[[str], Sink] | None = None,
        asked: Asked | None = None,  # what a run asked for; the recorder is told of no fetch without it
    ) -> Response:
        """Return the response of a URL, redirects followed and below status 300, or raise `FetchError`."""
        most = self.settings.max_bytes if max_bytes is None else max_bytes
        wanted = Wanted(accept, most, error_pages=error_pages, sink=sink, refusals=error_pages)
        return await self._fetch(url, parameter, wanted, asked)

    async def ask(self, url: str, method: Method = "HEAD", *, max_bytes: int = 4096) -> Response:
        """Return whether and how a URL answers, redirects followed; at most `max_bytes` of its body are read.

        A body is of no interest to HEAD (RFC 9110 section 9.3.2). Statuses from 300 on are a `FetchError`
        too.
        """
        wanted = Wanted("any", max_bytes, cut=True, method=method, refusals=True)
        return await self._fetch(url, "url", wanted)

    async def robots_of(self, origin: str) -> RobotsCopy:
        """Return the robots.txt of an origin, which the rules of its pages are then read from, too."""
        try:
            async with keeping(kept_here()) as kept:
                await self._robots.rules(origin)
        except Problem as problem:
            return RobotsCopy(error_type=str(FETCHING[problem.key][0]))
        return kept.copies.get(origin, RobotsCopy(error_type="too_large"))

    async def record(self, log: FetchLog) -> None:
        """Tell the recorder, if there is one."""
        if self._recorder is not None:
            await self._recorder(log)

    async def rules_of(self, url: URL) -> Rules:
        """Return what the robots.txt of the host of a checked URL says."""
        return (await self._robots.rules(str(url.origin())))[0]

    def session_of(self, url: URL) -> ClientSession:
        """Return the session that a checked URL is asked by."""
        return self._sessions.of(url)

    def hosts(self) -> list[dict[str, Any]]:
        """Return one row for each host that was asked: how it was asked in the end, and why.

        The columns are those of `webanalytics.runs.frames.link_table.HOSTS`. A host without connections was
        given up.
        """
        return list(self.limits.hosts())

    def waiting(self) -> list[Waiting]:
        """Return the hosts that are not asked for a while because of what they answered."""
        return self.limits.waiting()

    def known_of(self, host: str) -> HostKnown:
        """Return what is known of a host, to go on elsewhere."""
        rules = {origin: kept for origin in self._origins[host] if (kept := self._robots.kept(origin))}
        return HostKnown(self.limits.pace_of(host), rules)

    def take(self, host: str, known: HostKnown) -> None:
        """Go on with what is known of a host from elsewhere; no request to it may be under way."""
        self.limits.take(host, known.pace)
        for origin, (rules, seconds) in known.rules.items():
            self._origins[host].add(origin)
            self._robots.keep(origin, rules, seconds)

    def keep_to(self, hosts: Collection[str]) -> None:
        """Ask these hosts only: a page that leads to another raises `Elsewhere`; a robots.txt may lead on."""
        self._only = hosts

    async def _fetch(self, url: str, parameter: str, wanted: Wanted, asked: Asked | None = None) -> Response:
        settings = self.settings
        if self._recorder is None:
            asked = None
        try:
            start = check_url(url, **settings.guarded)
        except Problem as problem:
            if self._recorder is not None and asked is not None:
                await self._recorder(FetchLog("page", asked, error=problem.key, values=problem.details))
            raise FetchError(problem.key, {"parameter": parameter, **problem.details}) from None
        state = FetchState(wanted, start, robots=settings.robots, asked=asked)
        try:
            answer = await self._tries(state)
        except Problem as problem:
            await self._record(state, problem)
            raise state.error(problem, parameter) from None
        await self._record(state, answer)
        return state.response(url, answer)

    async def _record(self, state: FetchState, end: RawResponse | Problem) -> None:
        """Tell the recorder how a fetch ended."""
        if self._recorder is not None and (log := state.log(end)) is not None:
            await self._recorder(log)

    async def _tries(self, state: FetchState) -> RawResponse:
        settings = self.settings
        attempt, looked_up_again = 0, False
        last: Problem | None = None
        while True:
            try:
                return await self._follow(state)
            except Problem as problem:
                if problem.key in GIVEN_UP and last is not None:  # what it answered itself says more
                    raise last from None
                if problem.key in ("unknown_host", "lookup_failed") and await self._needs_proxy():
                    problem.key = "unknown_here"
                last = problem
                if turns_away(problem) and await self._has_turned(state):
                    problem.again = True
                asked = problem.retry_after
                wait = (
                    backoff(attempt, settings.backoff, settings.max_retry_after) if asked is None else asked
                )
                spent = state.spent >= settings.timeout or wait > settings.max_retry_after
                if not problem.again or attempt >= settings.retries or spent or problem.short:
                    if problem.key != "lookup_failed" or looked_up_again or problem.short:
                        raise
                    if not await names_answer(self._own_names):
                        problem.short = "answer of a name server"
                        raise
                    looked_up_again, wait = True, 0.0  # the name server may have been away
            attempt += 1
            if asked is None:  # else the whole host is waited for
                await asyncio.sleep(wait)
            state.restart(state.start)

    async def _has_turned(self, state: FetchState) -> bool:
        """Return whether the host of a refused page now refuses pages that it has answered."""
        if state.is_rules or not self.settings.adaptive:
            return False
        host = host_key(state.url)
        pace = self.limits.pace(host)
        async with self._doubts[host]:  # one asks, the others wait for what comes of it
            if pace.is_doubted:
                address = URL(pace.good or f"{state.url.origin()}/", encoded=True)
                wanted = state.wanted._replace(accept="page", method="GET", sink=None, cut=True)
                known = FetchState(wanted, address, robots=state.robots, asked=None)
                known.first = True
                with suppress(Problem, Elsewhere):
                    await self._follow(known)
                if not pace.turned:
                    pace.stands()
        return pace.turned and bool(pace.good)

    async def _follow(self, state: FetchState) -> RawResponse:
        settings = self.settings
        while True:
            try:
                response = await self._hop(state)
            except Problem as problem:
                if not problem.challenged:
                    raise
                continue
            if response.location is None:
                return response
            try:
                target = check_redirect(state.url, response.location, **settings.guarded)
            except Problem as problem:
                problem.http_status = response.status
                if problem.key == "no_target":
                    problem.details["status"] = response.status
                else:
                    state.redirected = True
                raise
            if len(state.passed) >= settings.max_redirects:
                raise Problem("redirects", http_status=response.status, limit=settings.max_redirects)
            # Without cookies a page that leads back to one already seen does so for ever.
            if str(target) in (*state.passed, str(state.url)):
                raise Problem("redirect_loop", http_status=response.status)
            state.passed.append(str(state.url))
            state.kinds.append(str(response.status))
            state.redirected = True
            state.url = target

    async def _hop(self, state: FetchState) -> RawResponse:
        url, settings = state.url, self.settings
        host = host_key(url)
        if self._only is not None and not state.is_rules and host not in self._only:
            raise Elsewhere(host)
        rules = _NO_RULES
        if state.robots:
            rules, spent = await self._robots.rules(str(url.origin()))
            state.spent += spent
            rules.check(str(url))
        async with self.limits.slot(host, rules.crawl_delay, first=state.first or state.under_way):
            clock = asyncio.get_running_loop().time
            began = clock()
            await self.check_name(url)
            left = settings.timeout - state.spent
            if state.downgraded:
                settings = replace(settings, access=None)
            problem: Problem | None = None
            try:
                session, log = self._sessions.of(url), state.begin()
                answer = await exchange(session, url, state.wanted, settings, max(left, 0.0), log)
            except Problem as found:
                problem = found
                problem.challenged = found.challenged and state.answer_challenge()
                answer = RawResponse(
                    found.http_status or 0, found.headers or CIMultiDict(), found.content or b""
                )
            finally:
                state.took(clock() - began)
            if state.leads_on(answer, problem):  # to what the host will answer: no row of refusals ends here
                self.limits.pace(host).pages += 1
            else:
                problem = state.refusal(answer, problem)
                self.limits.ended(host, began, problem, state.page(answer, problem), state.first)
            if problem is not None:
                raise problem
            return answer

    async def check_name(self, url: URL) -> None:
        """Raise `Problem` where a proxy is to dial a name that is known here, and is not public.

        What only the proxy can look up is the proxy's to judge.
        """
        if self.settings.allow_private or self.settings.way(url) is None:
            return
        if not all(map(is_public, await self._addresses(url.raw_host or "", url.port or 0))):
            raise Problem("private")

    async def _needs_proxy(self) -> bool:
        """Return whether only a proxy of the environment may know names; a service tells its callers none."""
        ours = self.settings.adaptive and self.settings.proxy is None
        return ours and is_in_environment() and not await self._addresses(CONTROL, 443)

    async def _addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, none where it is not known here."""
        if host not in self._looked_up:
            try:
                async with asyncio.timeout(self.settings.connect_timeout):
                    found = await self._own_names.resolve(host, port)
            except (OSError, TimeoutError):
                found = []
            self._looked_up[host] = [item["host"] for item in found]
        return self._looked_up[host]

    async def _load_rules(self, origin: str) -> Rules:
        settings = self.settings
        known = asked_before(origin)
        if known is not None and known.is_known and self._recorder is None:
            text = (known.text or "").encode()
            return await parse_in_thread(text, settings.user_agent, settings.max_crawl_delay)
        wanted = Wanted("any", settings.max_robots_bytes, cut=True)
        url = URL(f"{origin}/robots.txt", encoded=True)
        asked = None if self._recorder is None else Asked(origin)
        state = FetchState(wanted, url, robots=False, asked=asked, is_rules=True)
        self._origins[host_key(url)].add(origin)
        try:
            response = await self._tries(state)
        except Problem as problem:
            await self._record(state, problem)
            if problem.short:  # the next request for the origin tries again
                raise
            status = problem.http_status
            kind = error_type_of(problem.key, status)
            keep(origin, RobotsCopy(http_status=status, error_type=str(kind)))
            return _rules_without_file(problem, state)
        await self._record(state, response)
        keep(origin, copy_of(response.content, response.status))
        rules = await parse_in_thread(response.content, settings.user_agent, settings.max_crawl_delay)
        return replace(rules, elapsed=state.spent)


def _rules_without_file(problem: Problem, state: FetchState) -> Rules:
    if problem.key == "status" and (problem.http_status or 0) >= 500:
        problem = Problem("robots_unreadable", status=problem.http_status)
    elif state.redirected or FETCHING[problem.key][0] not in _NO_ANSWER:
        return Rules(elapsed=state.spent)
    return Rules(problem=problem, elapsed=state.spent)
