"""How hard a run presses on the network: its settings, the waits between tries, and the pace of each host.

A host is asked less when it refuses or slows down, and more again when it recovers.

`gates.Limits` has one `Pace` for each host and asks it before each request; times are given to it, so that
it knows no clock.
"""

from __future__ import annotations

import random
import re
from collections import deque
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from yarl import URL

from webanalytics._version import USER_AGENT, USER_AGENTS
from webanalytics.core.access_by_host import AccessByHost
from webanalytics.core.bot_key import BotKey
from webanalytics.core.proxy import Proxy, Way
from webanalytics.core.run_options import RECORDS


@dataclass(frozen=True, kw_only=True)
class FetchSettings:
    """Limits of a run on the network, and how politely it fetches.

    >>> FetchSettings(delay=1.0, per_host=1).retries
    2
    >>> FetchSettings(concurrency=0)
    Traceback (most recent call last):
    webanalytics.errors.ParameterError: The `concurrency` parameter must be an integer from 1 to 1000.
    """

    concurrency: int = 32  # requests in progress at once, over all hosts
    per_host: int = 8  # requests in progress at once to one host
    delay: float = 0.0  # seconds between the starts of two requests to one host
    connect_timeout: float = 10.0  # seconds to look up a host, connect and agree on TLS
    # seconds on the network for one fetch: robots.txt, look-up, connection, redirects, body and retries
    # together. Waiting for a slot, for `delay`, for a crawl-delay or between tries is not counted.
    timeout: float = 30.0
    max_bytes: int = 10_000_000  # size of a page after decompression
    max_redirects: int = 10  # redirects followed for one page
    retries: int = 2  # further tries after HTTP 429, HTTP 503 or a connection that broke off
    robots: bool = True  # obey robots.txt (RFC 9309) and its crawl-delay
    user_agent: str = USER_AGENT  # the User-Agent header; its tokens also choose the group of robots.txt
    # also fetch from private, local and reserved addresses, and from host names of one label
    allow_private: bool = False
    ports: tuple[int, ...] | None = None  # the only ports to connect to; None for any
    hosts: frozenset[str] | None = None  # the only hosts to ask, also after redirects; None for any
    # seconds before the first retry, doubled for each further one, less up to half at random
    backoff: float = 0.5
    # longest ``Retry-After`` that is waited for, in seconds; a longer one is an answer, not a pause
    max_retry_after: float = 60.0
    # longest crawl-delay that is obeyed, in seconds; a longer one is shortened to it
    max_crawl_delay: float = 30.0
    # how much of a robots.txt is read. RFC 9309 section 2.5 asks for at least 500 KiB.
    max_robots_bytes: int = 500 * 1024
    # ask a host less that refuses or slows down, and give it up when it does nothing but refuse; see
    # `webanalytics.fetching.pace.Pace`. A fetcher that serves many callers must not: one of them could give a
    # host up for all.
    adaptive: bool = True
    access: AccessByHost | None = None  # what opens hosts, each hop of a redirect asked anew
    proxy: Proxy | None = None  # who dials in the place of this machine
    accept_language: str | None = None  # the Accept-Language header, None for none
    bot_key: BotKey | None = None  # what requests are signed with

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name in RECORDS:
                RECORDS[item.name].check(getattr(self, item.name))
        object.__setattr__(self, "ports", None if self.ports is None else tuple(self.ports))
        object.__setattr__(self, "user_agent", USER_AGENTS.get(self.user_agent, self.user_agent))

    @property
    def guarded(self) -> dict[str, Any]:
        """What `webanalytics.fetching.guard` lets through."""
        return {"allow_private": self.allow_private, "ports": self.ports, "hosts": self.hosts}

    def way(self, url: URL) -> Way | None:
        """Return the proxy that dials for a checked URL, None for none."""
        return None if self.proxy is None else self.proxy.way(url.scheme, url.raw_host or "", url.port or 0)


_SECONDS = re.compile(r"[0-9]{1,9}")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110 section 10.2.3), None if it is unread.

    >>> retry_after("120")
    120.0
    >>> retry_after("Fri, 31 Dec 1999 23:59:59 GMT", datetime(1999, 12, 31, 23, 59, 29, tzinfo=UTC))
    30.0
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def backoff(attempt: int, base: float, longest: float) -> float:
    """Return the seconds before a further try: `base` doubled for each earlier one, less up to half.

    The part taken off at random keeps many clients from coming back at the same moment.
    """
    return min(longest, base * 2.0**attempt) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


REFUSED = frozenset((429, 503))
"""Statuses by which a server says that it is asked too much (RFC 6585 section 4, RFC 9110 section 15.6.4)."""
SILENT = frozenset(("timeout", "connect_timeout"))
"""Keys of the failures of a server that does not answer in time."""

UNKNOWN = 8
"""Refused pages in a row after which a host is doubted that has not answered any page."""

FEWEST_ROUNDS = 3
"""Rounds of nothing but refusals after which a host is given up,"""
PATIENCE = 60.0
"""if they took this many seconds, or if it asks for a longer wait than is waited for. A server that starts
anew refuses for a quarter of a minute."""
LATEST = 30
"""Answers and rounds of refusals over which a host that nearly always refuses is known."""
MOST_REFUSED = 24
"""Refusals among these after which a host is given up too."""
LONGEST_DELAY = 30.0
"""Longest delay between requests that a host's refusals lead to, in seconds."""
SLOW_FACTOR, SLOW_SECONDS = 3.0, 1.0
"""A host has slowed down when its answers take this many times as long as its quickest, and a second more."""


@dataclass(slots=True)
class Pace:
    """What one host stands: requests at once, seconds between them, and whether it is asked at all.

    Notes
    -----
    The number of requests at once grows by one over a round of answers and is halved once for a round of
    refusals: additive increase, multiplicative decrease (Chiu and Jain 1989, "Analysis of the increase and
    decrease algorithms for congestion avoidance in computer networks"). A round is what was under way
    together, as in TCP's congestion control (RFC 5681 section 3.1): eight requests that are refused at
    one moment are one sign, not eight. At one request at a time the delay between requests is doubled
    instead. Answers that take much longer than the quickest ones take one request away for each round,
    as TCP Vegas does (Brakmo and Peterson 1995); their time is smoothed as RFC 6298 section 2 does.
    A host that only refuses is given up: the open state of a circuit breaker (Nygard, "Release It!").

    A page that is refused (403, a challenge) may be closed to all, or its host may have turned against us. A
    host is doubted after one such page, and one that it has answered is asked for again: if that comes, the
    host stands, and is doubted after twice as many in a row; else it has turned, and each further refusal
    counts like a 429 until a page comes.

    Examples
    --------
    >>> pace = Pace(8)
    >>> pace.refused(began=0.0, now=0.1, reason="HTTP 429")
    >>> pace.connections
    4
    """

    most: int  # requests at once that the caller allows; there are never more
    # seconds of the first pause after a refusal that names none; doubled for each further one
    first_wait: float = 0.5
    longest_wait: float = 60.0  # bound of that pause, and the longest that the host may ask for
    adaptive: bool = True  # whether refusals and slow answers change the pace
    window: float = 0.0
    delay: float = 0.0
    not_before: float = 0.0
    pages: int = 0
    failures: int = 0
    rounds: int = 0
    in_row: int = 0
    reason: str = ""
    given_up: bool = False
    was_slowed: bool = False
    good: str = ""
    away: int = 0
    trusted: int = 1
    turned: bool = False
    _since: float = 0.0
    _changed: float = -1.0
    _quickest: float = 0.0
    _smoothed: float = 0.0
    _latest: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST))

    def __post_init__(self) -> None:
        self.window = float(self.most)

    @property
    def connections(self) -> int:
        """Requests at once."""
        return max(1, min(self.most, int(self.window)))

    @property
    def note(self) -> str:
        """Why the pace changed, in a few words; empty if it never did."""
        if self.given_up:
            return f"given up after {self.in_row} failed requests in a row ({self.reason})"
        return f"slowed down ({self.reason})" if self.was_slowed else ""

    def answered(self, began: float, now: float) -> None:
        """Take note of an answer: recover by one step."""
        self.pages += 1
        if self.given_up:  # it was under way
            return
        self.rounds = self.in_row = 0
        if not self.adaptive:
            return
        self._latest.append(False)
        self.delay = self.delay * 0.8 if self.delay > 0.05 else 0.0
        if self._has_slowed(now - began):
            if began >= self._changed and self.window > 1:
                self.window = max(1.0, self.window - 1)
                self._slow(now, "its answers take longer")
        elif self.window < self.most:
            self.window = min(float(self.most), self.window + 1 / self.window)

    def _has_slowed(self, took: float) -> bool:
        self._quickest = min(self._quickest, took) if self._quickest else took
        self._smoothed += (took - self._smoothed) / 8 if self._smoothed else took
        return self._smoothed > SLOW_FACTOR * self._quickest + SLOW_SECONDS

    def refused(self, began: float, now: float, reason: str, wait: float | None = None) -> None:
        """Take note of a refusal or a request out of time; the host may have asked for a wait."""
        self.pages += 1
        self.failures += 1
        if self.given_up:
            return
        self.in_row += 1
        if wait is not None and wait <= self.longest_wait:
            self.pause(now, wait)
        if not self.adaptive:
            return
        if began < self._changed:  # under way when the last refusal came: the same sign
            return
        self._latest.append(True)
        self.rounds += 1
        if self.rounds == 1:
            self._since = now
        else:
            self.pause(now, min(self.longest_wait, self.first_wait * 2.0 ** (self.rounds - 2)))
        if self.window < 2:
            self.delay = min(LONGEST_DELAY, max(self.first_wait, 2 * self.delay))
        self.window = max(1.0, self.window / 2)
        self._slow(now, reason)
        hopeless = now - self._since >= PATIENCE or (wait or 0.0) > self.longest_wait
        self.given_up = (self.rounds >= FEWEST_ROUNDS and hopeless) or sum(self._latest) >= MOST_REFUSED

    def turned_away(
        self, began: float, now: float, reason: str, wait: float | None = None, *, sure: bool = False
    ) -> None:
        """Take note of a page that was refused: for its own sake, or ``sure`` because the host has turned."""
        self.away += 1
        self.turned |= sure
        if self.turned:
            self.refused(began, now, reason, wait)
        else:
            self.failed()

    @property
    def is_doubted(self) -> bool:
        """Whether a page that the host has answered is to be asked for again."""
        doubted = self.away >= (self.trusted if self.good else UNKNOWN)
        return doubted and self.adaptive and not (self.turned or self.given_up)

    def stands(self) -> None:
        """Take note that the host has not turned, though it refuses pages."""
        self.trusted, self.away = 2 * self.trusted, 0

    def opened(self, page: str) -> None:
        """Take note of a page that is not refused, and of its address if it may be asked for again."""
        self.away, self.turned, self.good = 0, False, page or self.good

    def failed(self) -> None:
        """Take note of a failure that says nothing about the pace, such as a wrong certificate."""
        self.pages += 1
        self.failures += 1

    def moved(self, seconds: float) -> Pace:
        """Return a copy whose moments are so many seconds later: for another clock.

        Examples
        --------
        >>> Pace(8, not_before=100.5).moved(-100.0).not_before
        0.5
        """
        other = copy(self)
        other._latest = deque(self._latest, maxlen=LATEST)
        other.not_before += seconds
        other._since += seconds
        other._changed += seconds
        return other

    def pause(self, now: float, seconds: float) -> None:
        """Start no further request for some time."""
        self.not_before = max(self.not_before, now + seconds)

    def _slow(self, now: float, reason: str) -> None:
        self._changed, self.reason, self.was_slowed = now, reason, True
