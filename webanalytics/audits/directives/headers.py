"""The headers of an answer: the block of lines that a row keeps, read once; `Link:` as RFC 8288 has it.

`Site.headers` gives them to the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from webanalytics.fetching.response import header_lines

MOST_LINKS = 200
"""Links of one header that are read."""

LONGEST_LINK = 2_000
"""Characters of an address that are kept."""

READ = frozenset(
    (
        *("cache-control", "content-encoding", "content-security-policy", "content-type", "expires", "link"),
        *("pragma", "referrer-policy", "strict-transport-security", "vary", "x-content-type-options"),
        *("x-crawler-content-encoding", "x-frame-options", "x-robots-tag"),
    )
)
"""Headers whose values rules read."""

# A token of RFC 9110, section 5.6.2; the target of a link; a quoted string with its escapes.
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_TARGET = re.compile(r"[\s,;]*<([^>]*)>")
_PARAMETER = re.compile(
    rf"\s*;\s*(?:({_WORD})\s*(?:=\s*(?:\"((?:[^\"\\]++|\\.)*+)(?:\"|\\?$)|([^\s;,\"]*+)))?)?", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_EXTENDED = re.compile(r"(utf-8|iso-8859-1)'[^']*'(.*)", re.IGNORECASE | re.DOTALL)
_SECONDS = re.compile(r"max-age\s*=\s*\"?(\d{1,18})\"?", re.IGNORECASE)


class Link(NamedTuple):
    """One link of a `Link:` header."""

    target: str  # where it leads, as written
    rels: tuple[str, ...]  # relation types in lower case
    parameters: dict[str, str]  # the others by name; all of ``hreflang`` joined with commas


def links(value: str) -> Iterator[Link]:
    """Yield the links of a `Link:` header; what cannot be read is skipped up to the next link.

    Notes
    -----
    RFC 8288, sections 3 and appendix B.2: of a relation only the first counts, of ``title*`` and ``title``
    the former, and a link with an ``anchor`` is about another page, so it is left out here as section 3.2
    allows.

    Examples
    --------
    >>> [link] = links('</tea>; rel="canonical prev"; title="Green, black; white"')
    >>> link.target, link.rels, link.parameters["title"]
    ('/tea', ('canonical', 'prev'), 'Green, black; white')
    """
    place, read = 0, 0
    while read < MOST_LINKS and (found := _next_target(value, place)) is not None:
        read += 1
        place = found.end()
        given: list[tuple[str, str]] = []
        while (part := _PARAMETER.match(value, place)) is not None:
            place = part.end()
            name, quoted, plain = part.groups()
            if name:
                given.append(
                    (name.lower(), _ESCAPED.sub(r"\1", quoted) if quoted is not None else plain or "")
                )
        link = _link(found[1].strip(), given)
        if link is not None:
            yield link


def _next_target(value: str, place: int) -> re.Match[str] | None:
    """Return the next target in angle brackets; what stands before the next comma and is none is skipped."""
    while (found := _TARGET.match(value, place)) is None:
        comma = value.find(",", place)
        if comma < 0:
            return None
        place = comma + 1
    return found


def _link(target: str, given: list[tuple[str, str]]) -> Link | None:
    parameters: dict[str, str] = {}
    for name, text in given:
        if name == "hreflang" and name in parameters:
            parameters[name] += f",{text}"
        elif not name.endswith("*"):
            parameters.setdefault(name, text)
        elif extended := _EXTENDED.fullmatch(text):
            parameters[name[:-1]] = unquote(extended[2], extended[1], "replace")
    if "anchor" in parameters:
        return None
    return Link(target, tuple(parameters.pop("rel", "").lower().split()), parameters)


@dataclass(frozen=True)
class Headers:
    r"""The headers of one answer; names in any case.

    Examples
    --------
    >>> headers = Headers.of("Vary: Accept\nX-Robots-Tag: noindex\nx-robots-tag: nofollow")
    >>> headers.all("x-robots-tag"), headers.get("VARY"), "etag" in headers
    (['noindex', 'nofollow'], 'Accept', False)
    """

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, block: str) -> Headers:
        """Return the headers of a block of lines."""
        return cls(tuple((name.lower(), value) for name, value in header_lines(block)))

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        known: dict[str, list[str]] = {}
        for name, value in self.pairs:
            known.setdefault(name, []).append(value)
        return known

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._known

    def all(self, name: str) -> list[str]:
        """Return the values of all headers of a name."""
        return self._known.get(name.lower(), [])

    def get(self, name: str) -> str:
        """Return the values of a header joined with commas, as one list may be sent; '' if there are none."""
        return ", ".join(self.all(name))

    def directives(self, name: str) -> dict[str, str]:
        """Return the directives of a header such as Cache-Control, in lower case, each with its value.

        Examples
        --------
        >>> Headers.of("Cache-Control: no-store, Max-Age=0").directives("cache-control")
        {'no-store': '', 'max-age': '0'}
        """
        parts = (part.partition("=") for part in self.get(name).lower().split(","))
        return {key.strip(): value.strip().strip('"') for key, _, value in parts if key.strip()}

    @cached_property
    def policies(self) -> list[dict[str, str]]:
        """The content security policies that are enforced: directives in lower case, each with its value."""
        found = []
        for policy in self.get("content-security-policy").split(","):
            parts = (part.strip().partition(" ") for part in policy.split(";"))
            directives = {name.lower(): value.strip() for name, _, value in parts if name}
            if directives:
                found.append(directives)
        return found

    def enforces(self, directive: str) -> bool:
        """Return whether an enforced policy has a directive."""
        return any(directive in policy for policy in self.policies)

    @property
    def transport_seconds(self) -> int | None:
        """The max-age of Strict-Transport-Security, None without a valid one (RFC 6797, section 6.1.1)."""
        values = self.all("strict-transport-security")
        found = _SECONDS.search(values[0]) if values else None
        return int(found[1]) if found else None

    def canonicals(self, base: str) -> list[dict[str, str]]:
        """Return the canonical links as the facts of a page have them, with the place "header"."""
        return [
            {"href": link.target[:LONGEST_LINK], "url": _absolute(base, link.target), "place": "header"}
            for link in self._links
            if "canonical" in link.rels
        ]

    def alternates(self, base: str) -> list[dict[str, str]]:
        """Return the hreflang entries as the facts of a page have them, with the place "header"."""
        return [
            {"lang": language.strip()[:100], "url": _absolute(base, link.target), "place": "header"}
            for link in self._links
            if "alternate" in link.rels and "hreflang" in link.parameters
            for language in link.parameters["hreflang"].split(",")
        ]

    @cached_property
    def _links(self) -> list[Link]:
        return [link for value in self.all("link") for link in links(value)]


def shared_headers(blocks: Iterable[str | None]) -> list[Headers | None]:
    """Return the headers of each row; rows whose rules read the same of them share one object.

    Of headers that are not in `READ`, only that they are there is kept: their values differ from page to
    page, and those of all pages of a large site would take much memory.
    """
    known: dict[tuple[tuple[str, str], ...], Headers] = {}
    found: list[Headers | None] = []
    for block in blocks:
        if block is None:
            found.append(None)
            continue
        pairs = ((name.lower(), value) for name, value in header_lines(block))
        key = tuple((name, value if name in READ else "") for name, value in pairs)
        found.append(known.setdefault(key, Headers(key)))
    return found


def _absolute(base: str, target: str) -> str:
    try:
        return urljoin(base, target)[:LONGEST_LINK]
    except ValueError:
        return target[:LONGEST_LINK]
