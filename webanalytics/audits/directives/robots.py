"""Directives for robots in pages and headers, and errors in a robots.txt."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from dateutil import parser

from webanalytics.fetching.robots_rules import LARGEST, RobotsFile

LONGEST_DELAY = 10.0
"""Seconds of crawl-delay from which a site of some thousand pages is not read within a day."""

AGENTS = frozenset({"*", "robots", "googlebot"})
"""Whose directives count: those for all, and those for the crawler of the most used search engine."""

# A colon after one of these is a value, not the end of a user agent's name.
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_UNAVAILABLE = re.compile(r"unavailable_after\s*:\s*([^\n]{4,60})", re.IGNORECASE)
_HOURS = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
_ZONES = {zone: hours * 3600 for zone, hours in _HOURS.items()}
"""Zones of RFC 822, in seconds."""
_AGENT = re.compile(r"[a-z*][a-z0-9_.*-]*")
_KNOWN = frozenset({"user-agent", "allow", "disallow", "sitemap", "crawl-delay"})
# Fields of other search engines and of old drafts, which RFC 9309 section 2.2.4 lets others ignore.
_OTHERS = frozenset(
    {"host", "clean-param", "request-rate", "visit-time", "content-signal", "content-usage", "ai-policy"}
)
_UNSUPPORTED = frozenset({"noindex", "nofollow", "noarchive"})
_FIELD = re.compile(r"([A-Za-z][A-Za-z _-]{0,30}?)\s*:(.*)", re.DOTALL)
_MARKUP = re.compile(r"\s*(?:<!doctype|<html|<head|<body|<\?xml)", re.IGNORECASE)
_TOLD = {"*": "all robots", "googlebot": "googlebot", "bingbot": "bingbot"}
_ALL = ("/", "/*", "*")
_SHOWN = 60
_MOST_LINES = 5


def directives(text: str) -> frozenset[str]:
    """Return the directives of a robots meta tag or of X-Robots-Tag headers, in lower case, without values.

    Those before which another user agent stands than `AGENTS` are left out; ``none`` is ``noindex`` and
    ``nofollow`` too.

    Notes
    -----
    "Robots meta tag, data-nosnippet, and X-Robots-Tag specifications" (developers.google.com/search/docs/
    crawling-indexing/robots-meta-tag). Of headers in conflict the most restrictive one counts, so directives
    add up. Headers that were joined in one line cannot be separated: a user agent's name counts up to the
    next name or the end of the line.

    Examples
    --------
    >>> sorted(directives("NoIndex, max-snippet:-1, unavailable_after: 25 Jun 2010 15:00:00 PST"))
    ['max-snippet', 'noindex', 'unavailable_after']
    >>> sorted(directives("otherbot: noindex, nofollow, googlebot: none"))
    ['nofollow', 'noindex', 'none']
    """
    found = set()
    for line in text.lower().splitlines():
        counts = True
        for part in line.split(","):
            name, colon, rest = part.partition(":")
            name = name.strip()
            if colon and name not in _VALUED and _AGENT.fullmatch(name):
                counts = name in AGENTS
                name = rest.partition(":")[0].strip()
            if counts and name:
                found.add(name)
    if "none" in found:
        found |= {"noindex", "nofollow"}
    return frozenset(found)


def every_directive(text: str) -> frozenset[str]:
    """Return the directives of a robots meta tag or header for whomever they are meant, in lower case.

    Examples
    --------
    >>> sorted(every_directive("NoAI, otherbot: noimageai"))
    ['noai', 'noimageai', 'otherbot']
    """
    parts = (part.strip() for part in re.split(r"[,:\n]", text.lower()[:5_000]))
    return frozenset(part for part in parts if part)


def unavailable_after(text: str) -> datetime | None:
    """Return the date after which a robots meta tag or header asks to drop the page, None without one.

    Dates are those of RFC 822, RFC 850 and ISO 8601, as the description of the directive has it; without a
    zone they count as UTC.

    Examples
    --------
    >>> unavailable_after("noarchive, unavailable_after: 25 Jun 2010 15:00:00 PST").isoformat()
    '2010-06-25T15:00:00-08:00'
    >>> unavailable_after("unavailable_after: one day")
    """
    found = _UNAVAILABLE.search(text)
    if not found:
        return None
    said = found[1].strip()
    for part in (said, said.split(",")[0]):  # a comma may end the directive, or stand within the date
        try:
            moment = parser.parse(part, tzinfos=_ZONES)
        except (ValueError, OverflowError, TypeError):
            continue
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None


def robots_problems(text: str | bytes) -> list[str]:
    r"""Return what is wrong with a robots.txt, one sentence for each error, the most serious first.

    Notes
    -----
    RFC 9309, and "How Google interprets the robots.txt specification" (developers.google.com/search/docs/
    crawling-indexing/robots/robots_txt), which has the fields that are read and the limit of 500 KiB. Neither
    asks for the name of a sitemap.

    Examples
    --------
    >>> robots_problems("User-agent: *\nDisalow: /cart\n")
    ['Line 2 has an unknown directive: "Disalow".']
    >>> robots_problems("User-agent: *\nDisallow:\n")
    []
    """
    content = text.encode("utf-8", "replace") if isinstance(text, str) else text
    whole = content[:LARGEST].decode("utf-8-sig", "replace")
    if _MARKUP.match(whole):
        return ["It is a web page, not a plain text of rules."]
    if "\x00" in whole or whole.count("\ufffd") > max(3, len(whole) // 50):
        return ["It is not a text in UTF-8."]
    problems = []
    if len(content) > LARGEST:
        problems.append("It is larger than 500 KiB; search engines ignore what comes after that.")
    reader = _Reader()
    for number, line in enumerate(whole.splitlines(), 1):
        reader.read(number, line.partition("#")[0])
    return [*_closed(content), *problems, *reader.lines()]


def _closed(content: bytes) -> Iterator[str]:
    """Yield to whom nothing is left open, by the rules as crawlers read them."""
    file = RobotsFile(content)
    for agent, told in _TOLD.items():
        rules = [rule for group in file.groups if agent in group.names for rule in group.rules]
        whole = max(
            (len(rule.pattern) for rule in rules if not rule.allow and rule.pattern in _ALL), default=0
        )
        # Something is left open, perhaps all of it, by what is as long: the longest path decides.
        opened = (rule.allow and rule.pattern[0] in "/*" and len(rule.pattern) >= whole for rule in rules)
        if whole and not any(opened):
            yield f"It closes the whole site to {told}."


class _Reader:
    """Reads the lines of a robots.txt one by one."""

    def __init__(self) -> None:
        self._unparsable: list[str] = []
        self._unknown: list[str] = []
        self._odd: list[str] = []
        self._named = False

    def read(self, number: int, line: str) -> None:
        line = line.strip()
        if not line:
            return
        found = _FIELD.fullmatch(line)
        if found is None:
            self._unparsable.append(f'Line {number} cannot be read: "{_shown(line)}".')
            return
        name, value = found[1].lower().replace(" ", "-").replace("_", "-"), found[2].strip()
        if name == "user-agent":
            self._agent(number, value)
        elif name == "sitemap":
            self._sitemap(number, value)
        elif name in _KNOWN:
            self._rule(number, name, found[1], value)
        elif name in _UNSUPPORTED:
            self._unknown.append(
                f'Line {number} has "{_shown(found[1])}", which no search engine reads here.'
            )
        elif name not in _OTHERS:
            self._unknown.append(f'Line {number} has an unknown directive: "{_shown(found[1])}".')

    def _agent(self, number: int, value: str) -> None:
        if not value:
            self._odd.append(f"Line {number} names no user agent.")
        self._named = True

    def _sitemap(self, number: int, value: str) -> None:
        if not re.match("(?a:https?)://[^/]", value, re.IGNORECASE):
            self._odd.append(f'Line {number} names a sitemap without its full address: "{_shown(value)}".')

    def _rule(self, number: int, name: str, written: str, value: str) -> None:
        if not self._named:
            self._odd.append(f'Line {number} stands before any User-agent: "{_shown(written)}".')
        elif name == "crawl-delay":
            self._delay(number, value)
        elif value and value[0] not in "/*$":
            self._odd.append(f'Line {number} has a path that does not start with "/": "{_shown(value)}".')

    def _delay(self, number: int, value: str) -> None:
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not 0 <= seconds < math.inf:
            self._odd.append(f'Line {number} has a crawl-delay that is not a number: "{_shown(value)}".')
        elif seconds > LONGEST_DELAY:
            self._odd.append(f"Line {number} asks for a crawl-delay of {seconds:g} seconds.")

    def lines(self) -> Iterator[str]:
        for sentences in (self._unparsable, self._unknown, self._odd):
            yield from sentences[:_MOST_LINES]
            if len(sentences) > _MOST_LINES:
                yield f"There are {len(sentences) - _MOST_LINES:,} more lines of that kind."


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
