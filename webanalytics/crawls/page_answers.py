"""What a crawl reads from the answer about a page: where it ended, its links, and what is not followed.

Answers that arrive operation by operation are joined here first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from webanalytics.audits.directives.headers import LONGEST_LINK, Headers, links
from webanalytics.audits.directives.headers import Link as HeaderLink
from webanalytics.audits.directives.robots import directives
from webanalytics.core.outcomes import Fetched, JobResult
from webanalytics.runs.frames.build import JoinedOutcomes, fetched_of
from webanalytics.runs.frames.link_table import RELS, Kind, Link
from webanalytics.urls import address

_REL_KINDS: dict[str, Kind] = {
    **{"canonical": "canonical", "next": "next", "prev": "prev", "previous": "prev"},
    **{"amphtml": "amp", "stylesheet": "stylesheet", "icon": "icon"},
}
_MOST_IN_HEADERS = 100


@dataclass
class Read:
    """One answer as the frontier sees it."""

    url: str  # where the fetch ended, in normal form
    # the addresses passed through on the way, in normal form, the requested one first
    hops: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)  # its links, those of headers first
    nofollow: bool = False  # whether the page says that its links are not to be followed
    # what tells its content from that of others
    sketch: Sequence[int] = ()
    lines: Sequence[int] = ()
    text: str = ""
    # hashes of the places of the page that links can lead to, None if they are not known
    ids: Sequence[int] | None = None
    # links of the page that are not among `links`, and whether it has more than are kept
    left_out: int = 0
    cut: bool = False
    failed: str = ""  # the error type of the fetch, "" for a page that was read
    blind: bool = False  # whether the page was read and its links are not known


def read(requested: str, result: JobResult) -> Read:
    """Return what a crawl must know of an answer."""
    fetched = result.fetched or Fetched()
    found = address(fetched.final_url or "")
    page = Read(requested if found is None else found.url)
    page.hops = [known.url for hop in fetched.redirects or () if (known := address(hop))]
    if page.url != requested and requested not in page.hops:
        page.hops.insert(0, requested)  # a host without a scheme that has no https
    page.nofollow = "nofollow" in directives(fetched.x_robots_tag or "")
    data = result.apart[0].data if result.apart is not None else None
    if data is None:
        page.failed = failure(result)
        return page
    page.blind = "outlinks" not in data
    page.nofollow = page.nofollow or bool(data.get("nofollow"))
    page.sketch, page.lines = data.get("sketch") or (), data.get("lines") or ()
    page.text, page.ids = str(data.get("text_hash") or ""), data.get("ids")
    found_links = data.get("outlinks") or {}
    page.left_out, page.cut = found_links.get("left_out", 0), bool(found_links.get("cut"))
    page.links = [*_header_links(page.url, fetched.headers or ""), *_links(found_links)]
    return page


def on_the_way(page: Read, result: JobResult) -> Iterator[tuple[str, JobResult]]:
    """Yield the addresses that a redirect led through, and the answer of each as if it had been asked.

    Without cookies the same request has the same answer. Where https led to http, no password was sent on.
    """
    fetched, way = result.fetched or Fetched(), [*page.hops, page.url]
    passed, kinds, steps = fetched.redirects, fetched.redirect_kinds, fetched.steps
    is_whole = result.apart is not result.outcomes  # else a folder has kept its links alone
    if page.failed or not is_whole or (passed is not None and len(passed) != len(page.hops)):
        return
    for place, url in enumerate(way[1:], 1):
        if url.startswith("http:") and any(before.startswith("https:") for before in way[:place]):
            return
        own = replace(
            fetched,
            redirects=passed and passed[place:],
            redirect_kinds=kinds and kinds[place:],
            elapsed=sum(steps[place:]) if steps else None,
            steps=steps[place:],
        )
        yield url, replace(result, fetched=own)


def failure(result: JobResult) -> str:
    """Return the error type of an answer, "" for a page that was read."""
    outcome = result.apart[0] if result.apart is not None else result.outcomes[0]
    return outcome.error_type or ""


def _links(found: dict[str, Any]) -> Iterator[Link]:
    columns = [found.get(name) or () for name in Link._fields]
    return (Link(*values) for values in zip(*columns, strict=True))


def _header_links(base: str, headers: str) -> Iterator[Link]:
    """Return the links in the headers of an answer.

    >>> header = 'Link: </y>; rel="canonical", </de>; rel=alternate; hreflang=de'
    >>> list(_header_links("https://a.example/x", header))  # doctest: +NORMALIZE_WHITESPACE
    [Link(target='https://a.example/y', anchor='', rel=0, kind='canonical', position='http', fragment='',
          times=1),
     Link(target='https://a.example/de', anchor='de', rel=0, kind='hreflang', position='http', fragment='',
          times=1)]
    """
    sent = [link for value in Headers.of(headers).all("link") for link in links(value)]
    made = (_header_link(base, link) for link in sent[:_MOST_IN_HEADERS])
    return (link for link in made if link is not None)


def _header_link(base: str, sent: HeaderLink) -> Link | None:
    language = sent.parameters.get("hreflang")
    kind = next((_REL_KINDS[name] for name in sent.rels if name in _REL_KINDS), None)
    if kind is None and "alternate" in sent.rels and language:
        kind = "hreflang"
    try:
        found = address(urljoin(base, sent.target)) if kind and len(sent.target) <= LONGEST_LINK else None
    except ValueError:
        found = None
    if kind is None or found is None:
        return None
    rel = sum(1 << place for place, name in enumerate(RELS) if name in sent.rels)
    return Link(found.url, language or "" if kind == "hreflang" else "", rel, kind, "http")


def whole(number: int, parts: Mapping[int, JobResult] | None, count: int) -> JobResult | None:
    """Return the answer about a page whose operations, of which the last is `OUTLINKS`, are all answered."""
    if parts is None or not all(place in parts for place in range(count - 1)):
        return None
    apart = parts.get(count - 1)
    if apart is None and any(part.outcomes[0].data is not None for part in parts.values()):
        return None
    outcomes = JoinedOutcomes(tuple(parts[place].outcomes for place in range(count - 1)))
    return JobResult(number, outcomes, fetched_of(parts), apart=None if apart is None else apart.outcomes)


class Joining:
    """Collects the parts of answers, each to so many operations."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._parts: dict[int, dict[int, JobResult]] = {}

    def add(self, answer: JobResult) -> JobResult | None:
        """Take an answer or a part of one, and return it once it is whole."""
        if answer.position is None:
            return answer
        parts = self._parts.setdefault(answer.number, {})
        parts[answer.position] = answer
        if len(parts) < self._count:
            return None
        del self._parts[answer.number]
        return whole(answer.number, parts, self._count)
