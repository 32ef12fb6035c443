"""Pages of one audit as a site: where an address leads, which pages link to which, what redirects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Literal, NamedTuple
from urllib.parse import urljoin

import pandas as pd

from webanalytics.core.messages import REFUSALS, recognise
from webanalytics.urls import address, lacks_scheme

SHOWN = 3
"""Most addresses named in evidence; of further ones only the number is given."""

LONGEST = 200
"""Characters of an address that evidence shows."""

_ESCAPE = re.compile("%[0-9a-fA-F]{2}")
AT_ONCE = re.compile(
    r"""\s*[01]?(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?(?P<to>[^"'\s][^"']*)""", re.ASCII | re.IGNORECASE
)
"""A meta refresh that leads elsewhere within a second (HTML Standard, section 4.2.5.3)."""


def normal(url: object) -> str | None:
    """Return an address in normal form for comparison, None for anything but a web address.

    Notes
    -----
    RFC 3986 section 6.2.2 and the URL Standard: scheme, host and escapes in one case, usual ports and
    fragments left out, an empty path is a slash. A slash at the end of a path and the query are significant.

    Examples
    --------
    >>> normal("HTTPS://Example.ORG:443#top"), normal("https://example.org/a%c3%a4/"), normal("/a")
    ('https://example.org/', 'https://example.org/a%C3%A4/', None)
    """
    return _normal(url) if isinstance(url, str) else None


@lru_cache(maxsize=65_536)  # menus and footers name the same addresses on every page
def _normal(url: str) -> str | None:
    found = address(url.strip())
    if found is None or not found.host:
        return None
    return _ESCAPE.sub(lambda escape: escape[0].upper(), found.url) if "%" in found.url else found.url


def spelled(urls: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Return addresses, each as spelled among those known where one of them is the same in normal form.

    Examples
    --------
    >>> spelled(["https://a.example/", "https://a.example/b"], ["https://A.example"])
    ['https://A.example', 'https://a.example/b']
    """
    same = {normal(url): url for url in reversed(known)} | {url: url for url in known} | {None: None}
    return [same.get(url) or same.get(normal(url)) or url for url in urls]


def forwards(refresh: str | None, url: str | None) -> bool:
    """Return whether a meta refresh leads at once to another page, which search engines take for a redirect.

    Examples
    --------
    >>> forwards("0; url=b.html#top", "https://example.org/a"), forwards("0; url=/a", "https://example.org/a")
    (True, False)
    """
    found = AT_ONCE.match(refresh) if refresh and url else None
    try:
        to = normal(urljoin(str(url), found["to"].strip())) if found else None
    except ValueError:
        return False
    return to not in (None, url)


def origin(url: object) -> str | None:
    """Return scheme and host of an address, with the port unless it is the default.

    Examples
    --------
    >>> origin("https://example.org/a?b"), origin("nothing")
    ('https://example.org', None)
    """
    whole = normal(url)
    return None if whole is None else "/".join(whole.split("/", 3)[:3])


def listed(urls: Iterable[str], total: int | None = None) -> str:
    """Return addresses as evidence names them.

    Examples
    --------
    >>> listed(f"https://{name}.example/" for name in "abcde")
    'https://a.example/, https://b.example/, https://c.example/ and 2 more'
    """
    known = list(islice(urls, None if total is None else SHOWN))
    shown = [url if len(url) <= LONGEST else f"{url[:LONGEST]}…" for url in known[:SHOWN]]
    more = (len(known) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


FetchProblem = Literal[
    "",
    "redirected",
    "redirect loop",
    "client error",
    "server error",
    "blocked by robots.txt",
    "refused",
    "timeout",
    "no response",
    "not a page",
    "not read",
]


MISSING = frozenset(("client error", "redirect loop"))
"""Problems of an address behind which there is no page: it counts where it is linked."""


class FetchOutcome(NamedTuple):
    """What happened when a page was requested."""

    problem: FetchProblem
    status: int | None
    hops: int


_UNREAD: Mapping[str, FetchProblem] = {
    "robots": "blocked by robots.txt",
    "timeout": "timeout",
    "dns": "no response",
    "connection": "no response",
    "tls": "no response",
    "not_html": "not a page",
}
_ENDLESS = frozenset(("redirect_loop", "redirects"))
"""Keys of failed fetches whose redirects never end."""


def fetch_outcome(row: Mapping[str, Any]) -> FetchOutcome:
    """Return what happened to one row of an audit.

    Notes
    -----
    A hosted service gives only the message of a failure, from which the HTTP status is then read. Redirects
    that lead to a failure count as that failure.

    Examples
    --------
    >>> row = {"status": "error", "error": "The `url` parameter names a page that answered HTTP 404."}
    >>> fetch_outcome(row)
    FetchOutcome(problem='client error', status=404, hops=0)
    """
    hops = row.get("redirects")
    count = len(hops) if isinstance(hops, (list, tuple)) else 0
    status = row.get("http_status")
    if row.get("status") == "ok":
        if not count:
            start, end = normal(row.get("url")), normal(row.get("final_url"))
            # If the redirects are unknown, two different addresses imply one.
            count = int(hops is None and None not in (start, end) and start != end)
        return FetchOutcome("redirected" if count else "", None if status is None else int(status), count)
    error = str(row.get("error") or "")
    known = recognise(error)
    kind = row.get("error_type") or (known and known.error_type)
    if status is None and known is not None and known.error_type in ("http", "refused"):
        said = known.values.get("status", "")
        status = int(said) if said.isdecimal() else None
    status = None if status is None else int(status)
    return FetchOutcome(_problem(kind, known and known.key, status), status, count)


def count_missing(pages: pd.DataFrame) -> int:
    """Return behind how many of the addresses of a frame there is no page.

    Examples
    --------
    >>> rows = {"status": ["ok", "error"], "http_status": [200, 404], "error_type": [None, "http"]}
    >>> count_missing(pd.DataFrame(rows))
    1
    """
    if "status" not in pages:
        return 0
    names = [name for name in ("status", "error", "error_type", "http_status") if name in pages]
    failed = pages.loc[pages["status"].eq("error").fillna(False).to_numpy(bool), names].astype(object)
    rows: list[dict[Any, Any]] = failed.where(failed.notna(), None).to_dict("records")
    return sum(fetch_outcome(row).problem in MISSING for row in rows)


def _problem(kind: object, key: str | None, status: int | None) -> FetchProblem:
    if kind == "refused" or (kind == "http" and status in REFUSALS):
        return "refused"
    if key == "analysis_timeout":
        return "not read"  # this machine was too slow: the page arrived
    if kind != "http":
        return _UNREAD.get(str(kind), "not read")
    if key in _ENDLESS:
        return "redirect loop"
    if status is not None and status >= 400:
        return "server error" if status >= 500 else "client error"
    # An answer that is no valid HTTP, or a redirect to no valid address.
    return "no response"


def in_head(entries: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the link elements that search engines obey: those in the head of the page."""
    return (entry for entry in entries if entry.get("place") != "body")


def canonical_of(canonicals: object, canonical: object) -> tuple[str | None, int, bool]:
    """Return a page's canonical address, how many different ones it names, and whether they are known.

    Given are the canonical links of the facts, if there are any, and the canonical of the metadata.

    Examples
    --------
    >>> canonical_of([{"href": "/a", "url": "https://example.org/a"}], None)
    ('https://example.org/a', 1, True)
    >>> canonical_of([{"href": "/a", "url": "https://example.org/a", "place": "body"}], None)
    (None, 0, True)
    >>> canonical_of(None, ""), canonical_of(None, None)
    ((None, 0, True), (None, 0, False))
    """
    if isinstance(canonicals, list):
        urls = [
            str(entry.get("url") or "")
            for entry in in_head(canonicals)
            if str(entry.get("href") or "").strip()
        ]
        distinct = {normal(url) or url for url in urls}
        return (urls[0] if urls else None), len(distinct), True
    if isinstance(canonical, str):
        return (canonical or None), int(bool(canonical)), True
    return None, 0, False


FAULTS = {
    "redirect loop": "redirects without an end",
    "client error": "answers with a client error",
    "server error": "answers with a server error",
    "timeout": "does not answer in time",
    "no response": "does not answer",
}
"""What is wrong with an address that has a problem."""


@dataclass(frozen=True)
class Target:
    """What an audit knows about an address that a page names."""

    row: int  # of the page that the address leads to
    url: str  # in normal form
    redirected: bool  # whether it leads there only through a redirect


class Addresses:
    """The rows of an audit by their addresses.

    Examples
    --------
    >>> known = Addresses(["https://a.example/old"], ["https://a.example/new"], [True])
    >>> known.find("https://a.example/old").redirected, known.find("https://a.example/new").redirected
    (True, False)
    """

    def __init__(self, urls: Sequence[Any], final_urls: Sequence[Any], read: Sequence[bool]) -> None:
        self.requested = [normal(url) for url in urls]
        self.final = [
            normal(final) or requested for final, requested in zip(final_urls, self.requested, strict=True)
        ]
        self._asked: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        # The best of several rows with one address represents it: read, without a redirect, the first.
        order = sorted(
            range(len(self.final)),
            key=lambda row: (not read[row], self.requested[row] != self.final[row], row),
        )
        for row in order:
            asked, ended = self.requested[row], self.final[row]
            if asked is not None:
                self._asked.setdefault(asked, row)
            if ended is not None:
                self._ended.setdefault(ended, row)
        self._cache: dict[str, Target] = {}

    def find(self, url: str) -> Target | None:
        """Return what is known about an address; None if the audit has not seen it."""
        found = self._cache.get(url)
        if found is None:
            found = self._find(normal(url))
            if found is not None:  # the many addresses outside the audit are not cached
                self._cache[url] = found
        return found

    def _find(self, url: str | None) -> Target | None:
        if url is None:
            return None
        asked = self._asked.get(url)
        # Asked for and led elsewhere: that says more than that another way ended there.
        if asked is not None and self.final[asked] != url:
            return Target(asked, url, True)
        row = self._ended.get(url, asked)
        return None if row is None else Target(row, url, False)

    def places(self, urls: Iterable[str]) -> tuple[list[int], list[int]]:
        """Return for each address the row that asked for it and the row where it ends, -1 for none."""
        asked, pages = [], []
        for url in urls:
            target = self._find(normal(url) if "%" in url else url)
            asked.append(-1 if target is None else target.row)
            pages.append(-1 if target is None else self.page(target))
        return asked, pages

    def first(self, row: int) -> bool:
        """Return whether a row represents the address where it ended."""
        url = self.final[row]
        return url is None or self._ended[url] == row

    def page(self, target: Target) -> int:
        """Return the row that represents the page behind an address, after redirects."""
        url = self.final[target.row]
        return target.row if url is None else self._ended[url]


class Inlinks(NamedTuple):
    """Links to each row from other pages: the number of linking pages, and the first few of them."""

    counts: list[int]
    sources: list[list[int]]


def inlinks(known: Addresses, links: Sequence[object]) -> Inlinks | None:
    """Return which rows other pages link to; None if no page's links are known.

    Notes
    -----
    A link to an address that redirects counts for that address and for the page where it ends. A page that
    is in the audit twice counts as one page, and its links to itself do not count.
    """
    if not any(isinstance(cell, list) for cell in links):
        return None

    @lru_cache(maxsize=65_536)  # menus and footers again
    def led(url: str) -> tuple[int, int] | None:
        target = known.find(url)
        return None if target is None else (target.row, known.page(target))

    counts = [0] * len(links)
    sources: list[list[int]] = [[] for _ in links]
    for row, cell in enumerate(links):
        if isinstance(cell, list) and known.first(row):
            away = {pair for pair in map(led, cell) if pair is not None and pair[1] != row}
            for other in set(chain.from_iterable(away)):
                counts[other] += 1
                if len(sources[other]) < SHOWN:
                    sources[other].append(row)
    for row, url in enumerate(known.requested):
        # Rows that repeat another one share its links.
        target = None if url is None or counts[row] else known.find(url)
        if target is not None:
            counts[row], sources[row] = counts[target.row], sources[target.row]
    return Inlinks(counts, sources)


def clusters_of(values: Sequence[Any], rows: Iterable[int]) -> Iterator[list[int]]:
    """Yield the rows that share a value with others, value by value; empty values do not count.

    Examples
    --------
    >>> list(clusters_of(["a", "b", "a ", ""], range(4)))
    [[0, 2]]
    """
    groups: dict[str, list[int]] = {}
    for row in rows:
        value = values[row]
        if isinstance(value, str) and (folded := " ".join(value.split())):
            groups.setdefault(folded, []).append(row)
    yield from (group for group in groups.values() if len(group) > 1)


def requested(url: Any, redirects: Any, final: Any) -> Any:
    """Return the address that was requested: a host without a scheme was completed before it was fetched."""
    if not isinstance(url, str) or not lacks_scheme(url.strip()):
        return url
    return redirects[0] if isinstance(redirects, (list, tuple)) and redirects else final or url


def said_of(url: str, verdict: str, status: Any, final: str | None) -> str:
    """Return what is wrong with an address that was asked for its status; nothing where it refused us."""
    if verdict in ("gone", "failed"):
        return "does not answer" if status is None else f"answers HTTP {status}"
    return f"redirects to {final}" if verdict == "redirected" and normal(final) != normal(url) else ""
