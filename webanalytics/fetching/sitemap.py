"""Sitemaps (sitemaps.org protocol 0.9), indexes, and other forms of them: a whole tree, read in bounds.

Each is fetched and parsed as a stream: what has arrived is read in a thread, one block at a time over all of
them, and only addresses and dates are kept. Cancelling ends it after the block at hand.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.response import FetchError, Problem
from webanalytics.fetching.robots import asked_before
from webanalytics.fetching.sitemap_entries import Entries
from webanalytics.fetching.sitemap_parser import BLOCK, MOST_CHILDREN, Budget, Document, SitemapParser

Source = Literal["given", "index", "robots.txt"]


@dataclass(frozen=True, kw_only=True)
class SitemapLimits:
    """How far a sitemap is followed."""

    max_urls: int = 500_000  # URLs in all; the protocol allows 50,000 in one sitemap
    max_sitemaps: int = 1_000  # sitemaps read in all
    max_depth: int = 5  # indexes within indexes; the protocol allows none, sites do it all the same
    max_bytes: int = 52_428_800  # size of one sitemap after decompression; the protocol's limit is 50 MB
    max_total_bytes: int = 500_000_000  # size of all of them after decompression
    max_characters: int = 60_000_000  # characters of addresses that are kept in all
    at_once: int = 4  # sitemaps fetched at one time


@dataclass(slots=True)
class SitemapFile:
    """One sitemap: its entries, and what kept it from being read to its end."""

    url: str  # where it stands
    source: Source  # what named it
    entries: Entries = field(default_factory=Entries)  # pages that it lists
    children: int = 0  # further sitemaps that it names
    size: int = 0  # bytes after decompression
    # why it was not read, or not to its end; with the address of a further one that was not followed
    failures: list[FetchError] = field(default_factory=list)


SitemapTree = list[SitemapFile]
"""All sitemaps that one leads to, in their order."""


async def read_sitemap(fetcher: Fetcher, url: str, *, limits: SitemapLimits | None = None) -> SitemapTree:
    """Return a sitemap and all that it leads to, in their order.

    The address is that of a sitemap or an index (XML, gzip or plain), a text file of URLs, an RSS or Atom
    feed, or a robots.txt that names sitemaps. A sitemap that could not be read, or not to its end, has one
    row with ``url`` None, its URL in ``sitemap``, a sentence, an error type and a key: nothing is raised for
    it, nothing left out.

    Notes
    -----
    Formats: https://www.sitemaps.org/protocol.html (sitemaps, text files, feeds), RFC 9309 and the
    ``Sitemap`` line of robots.txt.
    """
    reading = _Reading(fetcher, limits or SitemapLimits())
    return await reading.read(url, 0, "given")


class _Sink:
    """Takes the body of one answer as it arrives, and parses it in a thread in blocks."""

    def __init__(self, url: str, budget: Budget, max_bytes: int, turn: asyncio.Lock) -> None:
        self.parser = SitemapParser(url, budget, max_bytes)
        self._turn = turn
        self._waiting = bytearray()

    async def write(self, data: bytes) -> None:
        """Take some bytes."""
        self._waiting += data
        if len(self._waiting) >= BLOCK:
            await self._parse()

    async def close(self) -> None:
        """Parse what is left, and end the document."""
        await self._parse()
        async with self._turn:
            await asyncio.to_thread(self.parser.close)

    async def _parse(self) -> None:
        block, self._waiting = bytes(self._waiting), bytearray()
        async with self._turn:  # they would share one processor, and take its memory twice
            await asyncio.to_thread(self.parser.feed, block)


class _Reading:
    """One call of `read_sitemap`: what it has read so far."""

    def __init__(self, fetcher: Fetcher, limits: SitemapLimits) -> None:
        self._fetcher = fetcher
        self._limits = limits
        self._seen: set[str] = set()
        self._budget = Budget(limits.max_urls, limits.max_total_bytes, limits.max_characters)
        self._turn = asyncio.Semaphore(limits.at_once)
        self._parsing = asyncio.Lock()

    async def read(self, url: str, depth: int, source: Source) -> list[SitemapFile]:
        """Return a sitemap and those that it leads to."""
        self._seen.add(url)
        file = SitemapFile(url, source)
        async with self._turn:
            document = await self._document(url, file)
        file.entries, file.children, file.size = document.entries, len(document.children), document.size
        if document.broken and not file.failures:
            file.failures.append(_failed(Problem("broken_sitemap", count=document.count)))
        children, document.children = list(dict.fromkeys(document.children)), []
        named: Source = "robots.txt" if url.split("?")[0].endswith("/robots.txt") else "index"
        return [file, *await self._children(children, depth, named)]

    async def _document(self, url: str, file: SitemapFile) -> Document:
        """Return what could be read of a sitemap, and note why it was not all."""
        sinks: list[_Sink] = []
        limits = self._limits

        def sink(final_url: str) -> _Sink:
            sinks.append(_Sink(final_url, self._budget, limits.max_bytes, self._parsing))
            return sinks[-1]

        try:
            if self._budget.entries <= 0:
                raise Problem("full_sitemap", limit=limits.max_urls)
            known = asked_before(url.removesuffix("/robots.txt"))
            if known is not None and known.text is not None:
                await sink(url).write(known.text.encode())
            else:
                await self._fetcher.fetch(url, accept="any", max_bytes=limits.max_bytes, sink=sink)
            await sinks[-1].close()
        except FetchError as error:
            # Of the error itself, its traceback would keep the blocks that were at hand.
            file.failures.append(FetchError(error.key, error.message.values))
        except Problem as problem:
            file.failures.append(_failed(problem))
        return sinks[-1].parser.document if sinks else Document()

    async def _children(self, children: list[str], depth: int, source: Source) -> list[SitemapFile]:
        limits = self._limits
        fresh = [child for child in children if child not in self._seen]
        if not fresh:
            return []
        if depth >= limits.max_depth:
            return [
                self._refused(child, source, Problem("deep_sitemap", limit=limits.max_depth))
                for child in fresh
            ]
        room = max(0, limits.max_sitemaps - len(self._seen))
        self._seen.update(fresh[:room])
        parts = await asyncio.gather(*(self.read(child, depth + 1, source) for child in fresh[:room]))
        full = Problem("many_sitemaps", limit=limits.max_sitemaps)
        return [file for part in parts for file in part] + [
            self._refused(child, source, full) for child in fresh[room:]
        ]

    def _refused(self, url: str, source: Source, problem: Problem) -> SitemapFile:
        return SitemapFile(url, source, failures=[_failed(problem)])


def _failed(problem: Problem) -> FetchError:
    return FetchError(problem.key, {"parameter": "url", **problem.details})


def parse_sitemap(content: bytes, url: str, max_bytes: int = SitemapLimits.max_bytes) -> Document:
    r"""Return the entries and the further sitemaps of one document, also gzipped, or raise `Problem`.

    >>> parse_sitemap(b"https://example.com/\nhttps://example.com/a", "https://example.com/s.txt").entries.urls[1]
    'https://example.com/a'
    """
    parser = SitemapParser(url, Budget(children=MOST_CHILDREN), max_bytes)
    try:
        parser.feed(content)
        parser.close()
    except Problem as problem:
        if problem.key != "broken_sitemap":
            raise
        parser.document.broken = True
    return parser.document


COUNTED = {"image": "images", "video": "videos", "news": "news"}
"""Columns that count the extensions of an entry."""
