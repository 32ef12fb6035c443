"""The grammar of robots.txt (RFC 9309), and what its rules say of an address, in bounded time.

`fetching.robots` asks it before each request, `audits` for other crawlers. A path pattern has two wildcards:
it is matched piece by piece from the left, each at its first place, which is right without ever going back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit

LARGEST = 500 * 1024
"""Bytes of a file that are read: what RFC 9309 section 2.5 asks for, and what search engines read."""
MOST_PATTERNS = 10_000
"""Rules with wildcards of one crawler that are read; those after them do not count."""
MOST_EFFORT = 6_000_000
"""Characters that are compared for one address, at worst, before it is given up: some milliseconds."""
MOST_SITEMAPS = 1_000
MOST_SIGNALS = 100
LONGEST_DELAY = 86_400.0

_STEPS_OF_A_RULE = 100
_SLOW_PIECE = 100  # from here on, finding a piece takes time that grows with the text alone
_LINE_END = re.compile("\r\n|[\r\n]")
_SPACED = re.compile(r"([A-Za-z][A-Za-z-]*)\s+(\S+)")
_TOKEN = re.compile(r"[a-z0-9_.-]+")
_USER_AGENT = frozenset(("user-agent", "useragent", "user agent"))
# Misspelt as search engines read it, too.
_DISALLOW = frozenset(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"))
_DELAY = frozenset(("crawl-delay", "crawl delay", "crawldelay"))
_SITEMAP = frozenset(("sitemap", "sitemaps", "site-map"))
_SIGNALS = frozenset(("content-signal", "content-usage"))
_SPELT = re.compile(r"%([0-9A-Fa-f]{2})|[^!#&-)+-;=?-\[\]_a-z~]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Rule(NamedTuple):
    """One line of a group: the path pattern that it allows or forbids."""

    allow: bool
    pattern: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {'Allow' if self.allow else 'Disallow'}: {self.pattern}"


class Decision(NamedTuple):
    """Whether an address may be fetched, and by which rule; without one, nothing speaks against it.

    ``decided`` is False where the rules would take too long for so long an address: it is not fetched then.
    """

    allowed: bool
    rule: Rule | None = None
    decided: bool = True


class Signal(NamedTuple):
    """A line about the use of content, ``Content-Signal`` or ``Content-Usage``: both are drafts."""

    name: str
    value: str
    line: int


@dataclass(slots=True)
class Group:
    """Some user agents and what is said to them."""

    names: set[str] = field(default_factory=set)
    rules: list[Rule] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)


_ALLOWED = Decision(True)


def canonical(path: str) -> str:
    """Return a path with its escapes in one form (RFC 9309 section 2.2.2).

    Escaped letters, digits and ``-._~`` are written out; everything else but reserved characters is escaped.
    A star and a dollar are escaped too, so that neither is ever taken for a wildcard.

    >>> canonical("/%7ejoe/b%c3%bccher/ü?a=*")
    '/~joe/b%C3%BCcher/%C3%BC?a=%2A'
    """
    return _SPELT.sub(_spelt, path)


def _spelt(found: re.Match[str]) -> str:
    if found[1] is None:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))
    character = chr(int(found[1], 16))
    return character if character in _UNRESERVED else f"%{found[1].upper()}"


def path_of(url: str) -> str:
    """Return what patterns are compared with: path and query of an address, in one form."""
    parts = urlsplit(url)
    return canonical((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


class _Pattern(NamedTuple):
    length: int
    allow: bool
    needs: int
    least: int
    cost: int
    prefix: str
    pieces: tuple[str, ...]
    end: str | None
    rule: Rule


class RuleSet:
    """The rules for one crawler.

    Of those that match, the longest counts, and among equally long ones one that allows (RFC 9309 section
    2.2.2). Rules without a wildcard are looked up by each of their lengths; those with one are tried, longest
    first.

    >>> rules = RuleSet([Rule(False, "/*.gif$", 2), Rule(True, "/logo*.gif$", 3)])
    >>> rules.decide("https://example.org/a.gif").allowed, rules.decide("https://example.org/logo.gif").allowed
    (False, True)
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._prefixes: dict[str, Rule] = {}
        self._whole: dict[str, Rule] = {}
        patterns: dict[tuple[bool, str], _Pattern] = {}
        self.size = 0
        for rule in rules:
            self.size += len(rule.pattern) + 250
            if not rule.pattern.startswith(("/", "*")):
                continue  # no path begins so
            anchored = rule.pattern.endswith("$")
            pieces = tuple(map(canonical, rule.pattern.removesuffix("$").split("*")))
            if len(pieces) == 1:
                known = self._whole if anchored else self._prefixes
                if pieces[0] not in known or rule.allow:
                    known[pieces[0]] = rule
            elif len(patterns) < MOST_PATTERNS:
                made = _pattern(rule, pieces, anchored)
                patterns.setdefault((rule.allow, "*".join(pieces) + "$" * anchored), made)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._patterns = sorted(patterns.values(), key=lambda made: (-made.length, not made.allow))

    def __bool__(self) -> bool:
        return bool(self._prefixes or self._whole or self._patterns)

    def decide(self, url: str) -> Decision:
        """Return whether an address may be fetched, and by which rule."""
        return self.decide_path(path_of(url)) if self else _ALLOWED

    def decide_path(self, path: str) -> Decision:
        """Return the same for a path in the form of `path_of`."""
        if path == "/robots.txt":
            return _ALLOWED
        best = self._plain(path)
        limit = (0, False) if best is None else (_length(best), best.allow)
        effort, size = 0, len(path)
        has = _letters(path)
        for pattern in self._patterns:
            if (pattern.length, pattern.allow) <= limit:
                break
            effort += _STEPS_OF_A_RULE
            if pattern.least > size or pattern.needs & ~has or not path.startswith(pattern.prefix):
                continue
            effort += pattern.cost * size
            if effort > MOST_EFFORT:
                return Decision(False, None, decided=False)
            if _matches(pattern, path):
                return Decision(pattern.allow, pattern.rule)
        return _ALLOWED if best is None else Decision(best.allow, best)

    def _plain(self, path: str) -> Rule | None:
        whole = self._whole.get(path)
        for length in self._lengths:
            rule = self._prefixes.get(path[:length]) if length <= len(path) else None
            if rule is not None:
                return rule if whole is None else whole  # what ends with a dollar is longer by that
        return whole


def _length(rule: Rule) -> int:
    return len(canonical(rule.pattern.removesuffix("$"))) + rule.pattern.endswith("$")


def _pattern(rule: Rule, pieces: tuple[str, ...], anchored: bool) -> _Pattern:
    middle, end = (pieces[1:-1], pieces[-1]) if anchored else (pieces[1:], None)
    searched = tuple(filter(None, middle))
    least = sum(map(len, pieces))
    return _Pattern(
        length=least + len(pieces) - 1 + anchored,
        allow=rule.allow,
        needs=_letters("".join(pieces)),
        least=least,
        cost=sum(min(len(piece), _SLOW_PIECE) for piece in searched),
        prefix=pieces[0],
        pieces=searched,
        end=end,
        rule=rule,
    )


def _letters(text: str) -> int:
    """Return the set of the characters of a text as bits; it is ASCII alone."""
    found = 0
    for character in set(text):
        found |= 1 << ord(character)
    return found


def _matches(pattern: _Pattern, path: str) -> bool:
    place = len(pattern.prefix)
    for piece in pattern.pieces:
        place = path.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return pattern.end is None or (len(path) - len(pattern.end) >= place and path.endswith(pattern.end))


class RobotsFile:
    r"""The groups and sitemaps of the first 500 KiB of a robots.txt (RFC 9309 sections 2.3 and 2.5).

    >>> file = RobotsFile("User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: *\nDisallow: /")
    >>> [file.rules(name).decide("https://example.org/y").allowed for name in ("A", "b", "c")]
    [True, True, False]
    """

    def __init__(self, content: bytes | str) -> None:
        raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
        self.groups: list[Group] = []
        self.sitemaps: list[str] = []
        self._in_names = False
        self._undelayed: set[str] = set()  # names of the last group that no delay has followed
        self._delays: dict[str | None, float] = {}
        self._compiled: dict[tuple[int, ...], RuleSet] = {}
        for number, name, value in lines(raw[:LARGEST].decode("utf-8-sig", "replace")):
            self._read(number, name, value)

    def _read(self, number: int, name: str, value: str) -> None:
        if name in _USER_AGENT:
            if not self._in_names:
                self.groups.append(Group())
                self._undelayed.clear()
            self._in_names = True
            self.groups[-1].names.add(token(value))
            self._undelayed.add(token(value))
        elif name in _SITEMAP:
            if value and len(self.sitemaps) < MOST_SITEMAPS:
                self.sitemaps.append(value)
        elif self.groups:
            self._member(self.groups[-1], number, name, value)

    def _member(self, group: Group, number: int, name: str, value: str) -> None:
        if name == "allow" or name in _DISALLOW:
            self._in_names = False
            if value:
                group.rules.append(Rule(name == "allow", value, number))
        elif name in _DELAY:
            seconds = _seconds(value)
            # Not a rule of the standard: it ends no list of names, and goes to those above it.
            while seconds is not None and self._undelayed:
                self._delays.setdefault(self._undelayed.pop(), seconds)
        elif name in _SIGNALS and len(group.signals) < MOST_SIGNALS:
            group.signals.append(Signal(name, value, number))

    @cached_property
    def _groups_of(self) -> dict[str | None, tuple[int, ...]]:
        found: dict[str, list[int]] = {}
        for place, group in enumerate(self.groups):
            for name in group.names:
                found.setdefault(name, []).append(place)
        return {name: tuple(places) for name, places in found.items()}

    def chosen(self, *tokens: str) -> str | None:
        """Return the name of the groups that speak to a crawler: a token of its own, ``*``, or None."""
        known = self._groups_of
        return next((name for name in (*map(str.lower, tokens), "*") if name in known), None)

    def rules(self, *tokens: str) -> RuleSet:
        """Return the rules for a crawler, by its product tokens (RFC 9309 section 2.2.1)."""
        places = self._groups_of.get(self.chosen(*tokens), ())
        if places not in self._compiled:
            self._compiled[places] = RuleSet(rule for place in places for rule in self.groups[place].rules)
        return self._compiled[places]

    def crawl_delay(self, *tokens: str) -> float:
        """Return the seconds between two requests that a crawler is asked for."""
        return self._delays.get(self.chosen(*tokens), 0.0)

    def signals(self, *tokens: str) -> list[Signal]:
        """Return what is said to a crawler about the use of content."""
        places = self._groups_of.get(self.chosen(*tokens), ())
        return [signal for place in places for signal in self.groups[place].signals]


def lines(text: str) -> Iterator[tuple[int, str, str]]:
    r"""Yield number, name in lower case and value of each line that has them.

    >>> list(lines("# all\nUser-Agent : * # everyone\nDisallow /x\nwords"))
    [(2, 'user-agent', '*'), (3, 'disallow', '/x')]
    """
    for number, line in enumerate(_LINE_END.split(text), 1):
        content = line.partition("#")[0].strip()
        name, colon, value = content.partition(":")
        if colon:
            yield number, name.strip().lower(), value.strip()
        elif (found := _SPACED.fullmatch(content)) is not None:  # the colon is forgotten now and then
            yield number, found[1].lower(), found[2]


def token(value: str) -> str:
    """Return the product token that a User-agent line names, "*" for all.

    >>> token("Googlebot/2.1"), token("*"), token("AdsBot-Google*"), token("*bot")
    ('googlebot', '*', 'adsbot-google', '')
    """
    found = _TOKEN.match(value.lower())
    return found[0] if found else "*" if value.split()[:1] == ["*"] else ""


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return min(seconds, LONGEST_DELAY) if 0 <= seconds < float("inf") else None
