"""Which addresses a crawl takes up: settles pages one by one, in order, and decides on what they link to."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from webanalytics.core.access_by_host import AccessByHost
from webanalytics.core.outcomes import JobResult
from webanalytics.core.strings import part_of
from webanalytics.crawls.candidates import AddressCounts, Candidate, Skip, State
from webanalytics.crawls.page_answers import Read
from webanalytics.crawls.patterns import pattern_of, places_of
from webanalytics.crawls.scope import PAGE_KINDS, Scope, Site, start_address
from webanalytics.crawls.traps import Trace, Traps
from webanalytics.runs.frames.link_table import Link, LinkTableBuilder
from webanalytics.urls import address

_PAGE: Final = 1
_FOLLOWED: Final = 2
_FREE: Final = 4
_SHOWN: Final = frozenset(("image", "media"))
_PAGE_KINDS: Final = frozenset(PAGE_KINDS)
_MAY_CHANGE: Final = frozenset(("nofollow", "kind", "trap", "limit"))
"""Reasons that hold for one link, or now: another link to the same address may be followed."""
WAITING = 50_000
"""Most addresses that wait to be fetched; five for each page that is wanted, where that is more."""
KNOWN = 200_000
"""Most other addresses that are kept, such as those left out; ten for each page, where that is more."""


class Admission:
    """Everything about a crawl's addresses that its pages decide, in the order of these pages."""

    def __init__(self, scope: Scope, access: AccessByHost | None = None) -> None:
        self.scope = scope
        self._access = access
        self.site = Site(subdomains=scope.subdomains)
        self.traps = Traps(scope.traps, scope.max_sequence)
        self.links = LinkTableBuilder()
        self.seen: dict[str, Candidate | Skip] = {}
        self.files: list[dict[str, Any]] = []
        self.counted = AddressCounts()  # seen and not kept, as far more are known than are wanted
        self.left_out: Counter[str] = Counter()  # links of a page that are not among `links`
        self.cut_pages: list[str] = []  # with more links than are read of one
        self.ids: dict[str, NDArray[np.uint32]] = {}  # hashes of the places that links can lead to
        self.kept = self.admitted = 0
        self._most_waiting = max(WAITING, 5 * scope.max_pages)
        self._most_known = max(KNOWN, 10 * scope.max_pages)
        self._gone = self._settled = 0
        self._level = 0
        self._current: list[Candidate] = []
        self._later: list[Candidate] = []
        self._place = 0
        self._new: list[Candidate] = []
        self._sitemap: list[str] | None = None if scope.sitemap else []
        self._cut = ""
        self.starts: list[str] = []
        for text in scope.starts:
            url = scope.normal(start_address(text) or text)
            if url not in self.seen:
                self.site.add(url.split("/", 3)[2])
                self.links.place(url)
                self.starts.append(url)
                trace = self.traps.trace(url)
                self._admit(Candidate(url, 0, 0, trace=trace, subject=text, start=True, trusted=True))

    @property
    def origins(self) -> list[str]:
        """The origins of the starts, in their order."""
        return list(dict.fromkeys("/".join(url.split("/", 3)[:3]) for url in self.starts))

    def expected(self) -> Candidate | None:
        """Return the address whose turn it is, None after the last one that is known."""
        while True:
            while self._place < len(self._current):
                candidate = self._current[self._place]
                if self.seen.get(candidate.url) is candidate and candidate.level == self._level:
                    return candidate
                self._place += 1
            if not self._later and self._sitemap:
                self._admit_listed(self._sitemap)
                self._sitemap = []
            if not self._later:
                return None
            self._current, self._later, self._place = self._later, [], 0
            self._level += 1

    @property
    def is_listed(self) -> bool:
        """Whether the sitemaps were read, if there are any to read."""
        return self._sitemap is not None

    @property
    def complete(self) -> bool:
        """Whether nothing is left, and no sitemap is waited for."""
        return self.is_listed and self.expected() is None

    def new(self) -> Iterator[Candidate]:
        """Yield what was admitted since the last time."""
        new, self._new = self._new, []
        return iter(new)

    def take_sitemap(self, urls: Iterable[str]) -> None:
        """Take the addresses of sitemaps: those that no link leads to come last."""
        known = (found.url for url in urls if (found := address(url)))
        self._sitemap = list(dict.fromkeys(map(self.scope.normal, known)))

    def _admit_listed(self, urls: list[str]) -> None:
        for url in urls:
            if isinstance(self.seen.get(url), Candidate):
                continue
            skip = self._outside(url, None, "sitemap") or self._too_many(None, "sitemap")
            if skip is None:
                trace = self.traps.trace(url)
                self._admit(
                    Candidate(url, None, self._level + 1, found_on="sitemap", trace=trace, trusted=True)
                )
            else:
                self._skip(url, skip)

    def _skip(self, url: str, skip: Skip) -> None:
        """Note an address that is left out, unless it is known or too many are: then its links count it."""
        if self._has_room:
            self.seen.setdefault(url, skip)
        elif skip.found_on == "sitemap":
            self.counted.add(url, 0, None, "sitemap")

    @property
    def _has_room(self) -> bool:
        return max(len(self.seen), len(self.links)) - self.admitted < self._most_known

    def _too_many(self, depth: int | None, found_on: str) -> Skip | None:
        """Return why a further address is left out where far more wait than are wanted, else None."""
        if self.admitted - self._settled < self._most_waiting:
            return None
        return Skip("limit", f"max_pages={self.scope.max_pages}", depth, found_on)

    def _admit(self, candidate: Candidate) -> None:
        self.seen[candidate.url] = candidate
        candidate.ordinal = self.admitted
        self.admitted += 1
        (self._current if candidate.level == self._level else self._later).append(candidate)
        self._new.append(candidate)

    @property
    def full(self) -> bool:
        """Whether as many pages were fetched as are wanted."""
        return self.kept >= self.scope.max_pages

    @property
    def room(self) -> int:
        """How many pages are still wanted."""
        return self.scope.max_pages - self.kept

    def has_room(self, candidate: Candidate) -> bool:
        """Return whether the limit is likely to be reached after an address, not before."""
        return candidate.ordinal - self._gone < self.scope.max_pages

    def stop(self) -> str:
        """Leave out all that was not settled, and return why the crawl ends."""
        limit = f"max_pages={self.scope.max_pages}"
        self._leave_out(limit)
        return (
            f"The crawl stopped at {self._part()}: the others are in `.skipped`. `max_pages=` sets the limit."
        )

    def _part(self) -> str:
        skips = (known for known in self.seen.values() if isinstance(known, Skip))
        left = sum(skip.reason == "limit" for skip in skips) + self.counted.addresses
        return part_of(self.kept, self.kept + left, least=True)

    def cut(self) -> None:
        """End an interrupted crawl: what is found from now on is left out."""
        self._cut = "interrupted"

    def leave_out_rest(self) -> str:
        """Leave out what an interrupted crawl has not settled, and return why the crawl ends."""
        self._leave_out("interrupted")
        return f"The crawl was interrupted: it stopped at {self._part()}."

    def _leave_out(self, detail: str) -> None:
        for url in self._sitemap or ():
            if url not in self.seen:
                skip = self._outside(url, None, "sitemap") or Skip("limit", detail, None, "sitemap")
                self._skip(url, skip)
        for url, known in self.seen.items():
            if isinstance(known, Candidate) and known.state is not State.DONE:
                self.seen[url] = Skip("limit", detail, known.depth, known.found_on)

    def refused(self, candidate: Candidate) -> bool:
        """Return whether an address belongs to what has become known as a trap."""
        if candidate.trusted or candidate.trace is None:
            return False
        return self.traps.refuses(candidate.url, candidate.trace) is not None

    def refuse(self, candidate: Candidate) -> None:
        """Leave out the address whose turn it is, as part of a trap."""
        trap = self.traps.refuses(candidate.url, candidate.trace) if candidate.trace else None
        detail = trap.pattern if trap else ""
        self.seen[candidate.url] = Skip("trap", detail, candidate.depth, candidate.found_on)
        self._gone += 1
        self._settled += 1

    def settle(self, candidate: Candidate, page: Read, result: JobResult) -> bool:
        """Take what a page says, and return whether it is a row of the frame."""
        self._place += candidate.level == self._level
        self._settled += 1
        if not candidate.start and page.failed in ("robots", "not_html"):
            self._gone += 1
            self._leave(candidate, page, result)
            return False
        self.kept += 1
        if page.hops:
            self._redirected(candidate, page)
        elif not page.failed:
            self._take_links(candidate, page)
        return True

    def _leave(self, candidate: Candidate, page: Read, result: JobResult) -> None:
        if page.failed == "robots":
            unreadable = result.outcomes[0].key == "robots_unreadable"
            origin = "/".join(page.url.split("/", 3)[:3])
            detail = f"{origin}/robots.txt" + (" cannot be read" if unreadable else "")
        else:
            detail = (result.fetched.content_type if result.fetched else None) or ""
            moved = bool(page.hops)
            self.files.append(
                {
                    "url": candidate.url,
                    "kind": "link",
                    "verdict": "redirected" if moved else "ok",
                    "http_status": result.fetched.http_status if result.fetched else None,
                    "final_url": page.url,
                    "method": "GET",
                }
            )
        if page.hops:
            self._add_hops(candidate, page)
        self.seen[candidate.url] = Skip(page.failed, detail, candidate.depth, candidate.found_on)

    def _add_hops(self, candidate: Candidate, page: Read) -> None:
        way = [candidate.url, *page.hops[1:], page.url]
        for source, target in itertools.pairwise(way):
            self.links.add(source, [Link(target, kind="redirect", position="http")])

    def _redirected(self, candidate: Candidate, page: Read) -> None:
        """Take a redirect: the addresses on its way have rows of their own, and cost no click."""
        self._add_hops(candidate, page)
        if candidate.start and not page.failed:
            self.site.add(page.url.split("/", 3)[2])
        if page.failed == "refused":  # what a page to log in leads to is none of the site's pages
            return
        for url in dict.fromkeys(map(self.scope.normal, (*page.hops[1:], page.url))):
            self._take_target(url, candidate)

    def _take_target(self, url: str, candidate: Candidate) -> None:
        known = self.seen.get(url)
        if isinstance(known, Candidate):
            if known.level > candidate.level and known.state is not State.DONE:
                known.level, known.depth = candidate.level, candidate.depth
                self._current.append(known)
            return
        skip = self._outside(url, candidate.depth, candidate.url)
        if skip is None and "redirect" not in self.scope.follow and not candidate.start:
            skip = Skip("kind", "redirect", candidate.depth, candidate.url)
        if skip is not None:
            self._skip(url, skip)
            return
        trace = candidate.trace
        if trace is not None:
            trace = self.traps.trace(url)._replace(run=trace.run)
        self._admit(
            Candidate(
                url,
                candidate.depth,
                candidate.level,
                found_on=candidate.url,
                trace=trace,
                trusted=candidate.trusted,
            )
        )

    def _take_links(self, candidate: Candidate, page: Read) -> None:
        """Take a page's links: the new addresses among them are admitted or left out."""
        links = page.links
        if self.scope.query:
            links = [link._replace(target=self.scope.normal(link.target)) for link in links]
        pictures = any(link.kind in _SHOWN and link.target not in self.links for link in links)
        if page.ids is not None:
            self.ids[candidate.url] = np.array(page.ids, np.uint32)
        wanted = self._wanted(links, nofollow=page.nofollow and not self.scope.nofollow)
        depth = None if candidate.depth is None else candidate.depth + 1
        fresh: list[tuple[str, Trace]] = []
        for url, (flags, kind) in wanted.items():
            known = self.seen.get(url)
            if isinstance(known, Candidate):
                if known.trace is not None and known.trace.run:
                    fresh.append((url, known.trace._replace(run=0)))
                continue
            if known is not None and known.reason not in _MAY_CHANGE:
                continue
            skip = self._refusal(url, flags, kind, depth, candidate.url)
            if skip is None:
                fresh.append((url, self.traps.trace(url)))
            else:
                self._skip(url, skip)
        barren = self._judge(candidate, page, fresh, pictures=pictures)
        for url, trace in fresh:
            self._take_address(url, trace, candidate, depth, barren=barren)
        self._keep_links(candidate.url, page, links, depth)

    def _keep_links(self, source: str, page: Read, links: list[Link], depth: int | None) -> None:
        """Keep the links whose targets are kept, and count the others."""
        kept = []
        for link in links:
            is_page = link.kind in _PAGE_KINDS
            if link.target in self.links or (link.target in self.seen if is_page else self._has_room):
                kept.append(link)
            else:
                self.counted.add(link.target, link.times, depth, source)
                self.left_out[source] += link.times
        self.links.add(source, kept)
        if page.left_out:
            self.left_out[source] += page.left_out
        if page.cut:
            self.cut_pages.append(source)

    def _wanted(self, links: list[Link], *, nofollow: bool) -> dict[str, tuple[int, str]]:
        """Return the addresses of pages among links, each with whether a link to it may be followed."""
        found: dict[str, tuple[int, str]] = {}
        follow, every = frozenset(self.scope.follow), self.scope.nofollow
        for link in links:
            kind = link.kind
            if kind not in _PAGE_KINDS:
                continue
            flags = _PAGE
            if kind in follow:
                flags |= _FOLLOWED
                if every or not (link.rel or nofollow):
                    flags |= _FREE
            known = found.get(link.target)
            if known is None:
                found[link.target] = (flags, kind)
            elif flags & ~known[0]:
                found[link.target] = (known[0] | flags, known[1])
        return found

    def _judge(
        self, candidate: Candidate, page: Read, fresh: list[tuple[str, Trace]], *, pictures: bool
    ) -> bool:
        """Return whether a page is barren: no new text or picture, and it leads to nothing new elsewhere."""
        trace = candidate.trace
        if trace is None:
            return False
        own = places_of(candidate.url)
        news = pictures or any(
            url not in self.seen and not found.pattern.grows_with(trace.pattern) and not own & places_of(url)
            for url, found in fresh
        )
        return self.traps.judge(candidate.url, trace, page, news=news, pictures=pictures)

    def _take_address(
        self, url: str, trace: Trace, source: Candidate, depth: int | None, *, barren: bool
    ) -> None:
        own = source.trace
        if own is not None and barren and self.traps.leads_on(url, trace, source.url, own):
            trace = trace._replace(run=own.run + 1)
        known = self.seen.get(url)
        if isinstance(known, Candidate):
            if known.state is not State.DONE and known.trace and trace.run < known.trace.run:
                known.trace = trace
            return
        trap = self.traps.refuses(url, trace)
        if trap is not None:
            self._skip(url, Skip("trap", trap.pattern, depth, source.url))
        elif self._cut:
            self._skip(url, Skip("limit", self._cut, depth, source.url))
        elif (skip := self._too_many(depth, source.url)) is not None:
            self._skip(url, skip)
        else:
            self._admit(Candidate(url, depth, source.level + 1, found_on=source.url, trace=trace))

    def _outside(self, url: str, depth: int | None, found_on: str) -> Skip | None:
        """Return why an address is not of the site, or not wanted; None where it is."""
        host = url.split("/", 3)[2]
        if host not in self.site:
            return Skip("external", host, depth, found_on)
        pattern = self.scope.pattern(url)
        if pattern is not None:
            return Skip("pattern", pattern, depth, found_on)
        action = None if self._access is None else self._access.avoided(url)
        return None if action is None else Skip("action", action, depth, found_on)

    def _refusal(self, url: str, flags: int, kind: str, depth: int | None, found_on: str) -> Skip | None:
        skip = self._outside(url, depth, found_on)
        if skip is not None:
            return skip
        if not flags & _FOLLOWED:
            return Skip("kind", kind, depth, found_on)
        if not flags & _FREE:
            return Skip("nofollow", "", depth, found_on)
        limit = self.scope.max_depth
        if limit is not None and (depth is None or depth > limit):
            return Skip("depth", f"max_depth={limit}", depth, found_on)
        return None

    def likely(self, candidate: Candidate, page: Read) -> Iterator[str]:
        """Yield addresses that a page whose turn has not come is likely to add."""
        if page.hops or page.failed:
            return
        depth = None if candidate.depth is None else candidate.depth + 1
        for url, (flags, kind) in self._wanted(page.links, nofollow=page.nofollow).items():
            url = self.scope.normal(url)
            if url in self.seen or self._refusal(url, flags, kind, depth, ""):
                continue
            pattern = pattern_of(url)
            if not pattern.numbered or not self.traps.suspects(pattern.key):
                yield url
