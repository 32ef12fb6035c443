"""robots.txt (RFC 9309): fetched once for each origin of a run.

What an unreadable robots.txt means:

- HTTP 400 to 499: there are no rules, everything may be fetched (section 2.3.1.3). So too when it
  redirects in a circle or to a place that is not fetched.
- HTTP 500 to 599: nothing may be fetched (section 2.3.1.4). The standard demands it, and such a
  site is in trouble; the error says why, and ``robots=False`` goes on without the rules.
- No response at all (no such host, refused, TLS, timeout): the error that the page itself would give.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots_rules import LARGEST, Decision, RobotsFile, RuleSet

_PRODUCT = re.compile(r"([A-Za-z][\w.-]*)/\d")
# Parsing up to here takes a few milliseconds; longer texts are parsed in a thread.
_SHORT = 20_000

_NONE = RuleSet()


@dataclass(frozen=True, slots=True)
class Rules:
    """What the robots.txt of an origin allows."""

    paths: RuleSet = _NONE  # which paths are allowed
    problem: Problem | None = None  # why nothing may be fetched
    crawl_delay: float = 0.0  # seconds between two requests
    elapsed: float = 0.0  # seconds on the network that reading the rules took
    size: int = 0  # bytes of memory that the rules take, about

    def check(self, url: str) -> None:
        """Raise `Problem` when the URL may not be fetched."""
        if self.problem is not None:
            raise self.problem.once()
        decision = self.decide(url)
        if not decision.allowed:
            raise Problem("robots" if decision.decided else "robots_effort")

    def decide(self, url: str) -> Decision:
        """Return whether the rules allow a URL, and which of them decides."""
        return self.paths.decide(url)


def product_tokens(agent: str) -> frozenset[str]:
    """Return the names under which a robots.txt may speak of a user agent (RFC 9309 section 2.2.1).

    >>> sorted(product_tokens("Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.com/bot)"))
    ['examplebot']
    """
    found = {name.lower() for name in _PRODUCT.findall(agent)} or {agent.split()[0].lower()}
    return frozenset(found - {"mozilla"} or found)


def parse(content: bytes, agent: str, max_crawl_delay: float) -> Rules:
    r"""Return the rules of a robots.txt (UTF-8, RFC 9309 section 2.3) for one user agent.

    A crawl-delay is shortened to `max_crawl_delay` seconds.

    >>> rules = parse(b"User-agent: *\nDisallow: /private/\nCrawl-delay: 2", "webanalytics/1.0", 30)
    >>> rules.crawl_delay
    2.0
    >>> rules.check("https://example.com/private/page")
    Traceback (most recent call last):
    webanalytics.fetching.response.Problem: robots
    """
    file = RobotsFile(content)
    tokens = sorted(product_tokens(agent))
    paths = file.rules(*tokens)
    return Rules(paths, crawl_delay=min(file.crawl_delay(*tokens), max_crawl_delay), size=paths.size)


class RobotsCache:
    """The rules of the origins of a run.

    Concurrent requests for one origin wait for one fetch. A failure is forgotten after
    some seconds, so that one bad moment of a server does not cost all its pages.
    """

    def __init__(
        self,
        load: Callable[[str], Awaitable[Rules]],  # fetches the rules of an origin; does not raise
        *,
        max_size: int = 40_000_000,  # bytes of rules kept in all, about; the least recently used go first
        failure_seconds: float = 30.0,  # how long a failure is kept
        # how long rules are kept. RFC 9309 section 2.4 asks for a day at most, which matters to processes
        # that run on
        keep_seconds: float = 86_400.0,
    ) -> None:
        self._load = load
        self._keep_seconds = keep_seconds
        self._max_size = max_size
        self._failure_seconds = failure_seconds
        self._kept: OrderedDict[str, tuple[Rules, float]] = OrderedDict()
        self._size = 0
        self._loading: dict[str, asyncio.Task[Rules]] = {}

    async def rules(self, origin: str) -> tuple[Rules, float]:
        """Return the rules of an origin, and the seconds on the network spent for it just now."""
        kept = self._kept.get(origin)
        if kept is not None:
            if asyncio.get_running_loop().time() < kept[1]:
                self._kept.move_to_end(origin)
                return kept[0], 0.0
            self._drop(origin)
        task = self._loading.get(origin)
        if task is None:
            task = self._loading[origin] = asyncio.create_task(self._fill(origin))
        # A cancelled caller must not cancel it for the others.
        rules = await asyncio.shield(task)
        return rules, rules.elapsed

    def kept(self, origin: str) -> tuple[Rules, float] | None:
        """Return the rules of an origin, and for how many seconds they hold; None if there are none."""
        kept = self._kept.get(origin)
        left = 0.0 if kept is None else kept[1] - asyncio.get_running_loop().time()
        return None if kept is None or left <= 0 else (kept[0], left)

    def keep(self, origin: str, rules: Rules, seconds: float) -> None:
        """Keep the rules of an origin for some seconds."""
        if origin in self._kept:
            self._drop(origin)
        self._kept[origin] = (rules, asyncio.get_running_loop().time() + seconds)
        self._size += _weight(rules)
        while self._size > self._max_size and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    async def close(self) -> None:
        """Stop what is still being fetched."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fill(self, origin: str) -> Rules:
        try:
            rules = await self._load(origin)
            self.keep(origin, rules, self._failure_seconds if rules.problem else self._keep_seconds)
            return rules
        finally:
            self._loading.pop(origin, None)

    def _drop(self, origin: str) -> None:
        rules, _ = self._kept.pop(origin)
        self._size -= _weight(rules)


def _weight(rules: Rules) -> int:
    return rules.size + 500  # the objects of an origin without rules are not free either


async def parse_in_thread(content: bytes, agent: str, max_crawl_delay: float) -> Rules:
    """Return the rules of a file, parsing a long one in a thread."""
    if len(content) <= _SHORT:
        return parse(content, agent, max_crawl_delay)
    return await asyncio.to_thread(parse, content, agent, max_crawl_delay)


MOST_ORIGINS = 100
"""Most origins whose robots.txt is kept, those first that were asked first."""
MOST_CHARACTERS = 5_000_000
"""Characters that are kept of all of them."""


@dataclass(frozen=True)
class RobotsCopy:
    """The robots.txt of an origin as it was read."""

    text: str | None = None  # the file, at most its first 500 KiB; None if there was none
    http_status: int | None = None  # status of the answer, None if there was none
    error_type: str = ""  # why it was not read, empty if it was
    whole: bool = True  # whether nothing of it was cut off

    @cached_property
    def file(self) -> RobotsFile:
        """Its groups; empty without a file."""
        return RobotsFile(self.text or "")

    @property
    def is_known(self) -> bool:
        """Whether it says what crawlers may read: a file, or an answer that there is none.

        RFC 9309 section 2.3.1: after HTTP 400 to 499 everything is allowed. Of a server that answers 500 to
        599, or not at all, nothing is known that will last.
        """
        status = self.http_status
        return self.text is not None or (status is not None and 400 <= status < 500 and status != 429)

    def as_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return asdict(self)

    @classmethod
    def of(cls, values: Any) -> RobotsCopy:
        """Return it from plain values, or raise `ValueError`."""
        text, status = values["text"], values["http_status"]
        good = (
            (text is None or isinstance(text, str))
            and (status is None or type(status) is int)
            and isinstance(values["error_type"], str)
            and isinstance(values["whole"], bool)
        )
        if not good:
            raise ValueError("not a copy of a robots.txt")
        return cls(None if text is None else text[:LARGEST], status, values["error_type"], values["whole"])


@dataclass
class RobotsKept:
    """The robots.txt of the origins of a run, bounded; ``fresh`` are the origins that it has asked itself."""

    copies: dict[str, RobotsCopy] = field(default_factory=dict)
    left: int = MOST_CHARACTERS
    fresh: set[str] = field(default_factory=set)

    def add(self, origin: str, copy: RobotsCopy) -> None:
        """Keep a copy, if there is room; a later one of the same origin replaces it."""
        size = len(copy.text or "")
        if size <= self.left and (origin in self.copies or len(self.copies) < MOST_ORIGINS):
            self.left -= size
            self.copies[origin] = copy


_kept: ContextVar[RobotsKept | None] = ContextVar("webanalytics_robots_kept", default=None)


@asynccontextmanager
async def keeping(kept: RobotsKept | None = None) -> AsyncIterator[RobotsKept]:
    """Keep what is read of robots.txt within the block."""
    kept = RobotsKept() if kept is None else kept
    token = _kept.set(kept)
    try:
        yield kept
    finally:
        _kept.reset(token)


def kept_here() -> RobotsKept | None:
    """Return where the run keeps them, None if it does not."""
    return _kept.get()


def keep(origin: str, copy: RobotsCopy) -> None:
    """Put a copy where the run keeps them, if it does."""
    kept = kept_here()
    if kept is not None:
        kept.add(origin, copy)
        kept.fresh.add(origin)


def asked_before(origin: str) -> RobotsCopy | None:
    """Return the robots.txt of an origin if the run has asked for it, whoever did."""
    kept = kept_here()
    return None if kept is None or origin not in kept.fresh else kept.copies.get(origin)


def copy_of(content: bytes, http_status: int = 200) -> RobotsCopy:
    """Return the copy of a file that was read."""
    text = content[:LARGEST].decode("utf-8-sig", "replace")
    return RobotsCopy(text, http_status, whole=len(content) < LARGEST)
