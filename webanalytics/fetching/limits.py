"""How hard a run presses on the network: its settings, and the waits between tries.

`Fetcher` obeys them; the hosted client waits between its tries in the same way.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, fields
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
        for field in fields(self):
            if field.name in RECORDS:
                RECORDS[field.name].check(getattr(self, field.name))
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
