"""Sitemaps (sitemaps.org protocol 0.9), indexes, and the other forms it allows, read into rows.

lxml reads the XML as it stands: entities are not expanded and nothing is loaded, so neither a bomb
of entities nor a reference to a file does anything.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree

from webanalytics.errors import ErrorType
from webanalytics.fetching.content import DecodingError, Inflate
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.response import FetchError, Problem
from webanalytics.fetching.robots_rules import RobotsFile

Row = dict[str, Any]

_ATOM = "{http://www.w3.org/2005/Atom}"
_GZIP_MAGIC = b"\x1f\x8b"
_ROOTS = frozenset(("urlset", "sitemapindex", "rss", "feed", "RDF"))


@dataclass(frozen=True, kw_only=True)
class SitemapLimits:
    """How far a sitemap is followed.

    Parameters
    ----------
    max_urls : int
        URLs in all; the protocol allows 50,000 in one sitemap.
    max_sitemaps : int
        Sitemaps read in all.
    max_depth : int
        Indexes within indexes; the protocol allows none, sites do it all the same.
    max_bytes : int
        Size of one sitemap after decompression; the protocol's limit is 50 MB.
    at_once : int
        Sitemaps fetched and parsed at one time.
    """

    max_urls: int = 500_000
    max_sitemaps: int = 1_000
    max_depth: int = 5
    max_bytes: int = 52_428_800
    at_once: int = 4


@dataclass(slots=True)
class _Document:
    """The contents of one sitemap."""

    rows: list[Row] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    broken: bool = False


async def read_sitemap(
    fetcher: Fetcher, url: str, *, parameter: str = "url", limits: SitemapLimits | None = None
) -> list[Row]:
    """Return the URLs of a sitemap, or of all sitemaps of an index, in their order.

    Parameters
    ----------
    fetcher : Fetcher
        An open fetcher; each sitemap goes through its guards and its queue.
    url : str
        A sitemap or an index (XML, gzip or plain), a text file of URLs, an RSS or Atom feed, or a
        robots.txt that names sitemaps.
    parameter : str
        The name by which error sentences call `url`.
    limits : SitemapLimits, optional
        How far to go.

    Returns
    -------
    list of dict
        One row for each entry, with ``url``, ``lastmod``, ``changefreq`` (strings as they stand, or
        None), ``priority`` (float or None), ``sitemap`` (the URL of the sitemap that holds it),
        ``status`` "ok", ``error``, ``error_type`` and ``error_key`` None. A sitemap that could not
        be read, or not to its end, has one row with ``url`` None, its URL in ``sitemap``,
        ``status`` "error", a sentence, an error type and a key. Nothing is raised for it, nothing
        left out.

    Notes
    -----
    Formats: https://www.sitemaps.org/protocol.html (sitemaps, text files, feeds), RFC 9309 and the
    ``Sitemap`` line of robots.txt.
    """
    return await _Reading(fetcher, parameter, limits or SitemapLimits()).read(url, 0)


class _Reading:
    """One call of `read_sitemap`: what it has read so far."""

    def __init__(self, fetcher: Fetcher, parameter: str, limits: SitemapLimits) -> None:
        self._fetcher = fetcher
        self._parameter = parameter
        self._limits = limits
        self._seen: set[str] = set()
        self._left = limits.max_urls
        self._turn = asyncio.Semaphore(limits.at_once)

    async def read(self, url: str, depth: int) -> list[Row]:
        """Return the rows of a sitemap and of those that it leads to."""
        limits = self._limits
        self._seen.add(url)
        try:
            async with self._turn:
                if self._left <= 0:
                    raise Problem("full_sitemap", limit=limits.max_urls)
                response = await self._fetcher.fetch(url, self._parameter, "any", max_bytes=limits.max_bytes)
                document = await asyncio.to_thread(
                    parse_sitemap, response.content, response.final_url, limits.max_bytes
                )
        except (FetchError, Problem) as error:
            return [self._failed(url, error)]
        rows = document.rows[: self._left]
        for row in rows:
            row["sitemap"] = url
        self._left -= len(rows)
        if len(rows) < len(document.rows):
            rows.append(self._failed(url, Problem("full_sitemap", limit=limits.max_urls)))
        if document.broken:
            count = len(document.rows) + len(document.children)
            rows.append(self._failed(url, Problem("broken_sitemap", count=count)))
        return rows + await self._children(document.children, depth)

    async def _children(self, children: list[str], depth: int) -> list[Row]:
        limits = self._limits
        fresh = [child for child in dict.fromkeys(children) if child not in self._seen]
        if not fresh:
            return []
        if depth >= limits.max_depth:
            return [self._failed(child, Problem("deep_sitemap", limit=limits.max_depth)) for child in fresh]
        room = max(0, limits.max_sitemaps - len(self._seen))
        self._seen.update(fresh[:room])
        parts = await asyncio.gather(*(self.read(child, depth + 1) for child in fresh[:room]))
        rows = [row for part in parts for row in part]
        full = Problem("many_sitemaps", limit=limits.max_sitemaps)
        return rows + [self._failed(child, full) for child in fresh[room:]]

    def _failed(self, url: str, error: FetchError | Problem) -> Row:
        if isinstance(error, Problem):
            error = FetchError(error.key, {"parameter": self._parameter, **error.details})
        return _row(None, url, error=error.sentence, error_type=error.error_type, error_key=error.key)


def parse_sitemap(content: bytes, url: str, max_bytes: int = SitemapLimits.max_bytes) -> _Document:
    r"""Return the entries and the further sitemaps of one document, or raise `Problem`.

    Parameters
    ----------
    content : bytes
        The document; one that is itself a gzip file is unpacked.
    url : str
        Where it stood, for relative addresses.
    max_bytes : int
        Size after unpacking.

    Examples
    --------
    >>> parse_sitemap(b"https://example.com/\nhttps://example.com/a", "https://example.com/s.txt").rows[1]["url"]
    'https://example.com/a'
    """
    if content.startswith(_GZIP_MAGIC):
        content = _unpacked(content, max_bytes)
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if start.startswith(b"<") or utf16:
        return _from_xml(content.removeprefix(b"\xef\xbb\xbf").lstrip() if not utf16 else content, url)
    text = content.decode("utf-8-sig", "replace")
    if urlsplit(url).path.endswith("/robots.txt"):
        return _Document(children=[urljoin(url, link) for link in RobotsFile(content).sitemaps])
    lines = [line.strip() for line in text.splitlines()]
    links = [line for line in lines if line.lower().startswith(("http://", "https://"))]
    if not links and any(lines):
        raise Problem("not_sitemap")
    return _Document([_row(link) for link in links])


def _unpacked(content: bytes, max_bytes: int) -> bytes:
    decoder = Inflate(gzip=True)
    try:
        unpacked = decoder.feed(content, max_bytes + 1)
    except DecodingError:
        raise Problem("encoding") from None
    if len(unpacked) > max_bytes:
        raise Problem("too_large", limit=f"{max_bytes:,}")
    # What is missing of a file that was cut off shows as broken XML.
    return unpacked


def _from_xml(content: bytes, url: str) -> _Document:
    document = _Document()
    events = etree.iterparse(
        io.BytesIO(content),
        events=("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    root: etree._Element | None = None
    try:
        for event, element in events:
            if root is None:
                root = element
                if _name(element) not in _ROOTS:
                    raise Problem("not_sitemap")
            read = _READERS.get(_name(element)) if event == "end" else None
            if read is not None:
                read(element, url, document)
                _discard(element)
    except etree.XMLSyntaxError:
        if root is None:
            raise Problem("not_sitemap") from None
        document.broken = True
    if root is None:
        raise Problem("not_sitemap")
    document.broken |= any(entry.level >= etree.ErrorLevels.ERROR for entry in events.error_log)
    return document


def _discard(element: etree._Element) -> None:
    """Free an element that was read and all before it: only one entry is in memory at a time."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _own_children(element: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield name and text of the children in the element's own namespace (not image:loc and the like)."""
    namespace = str(element.tag).rpartition("}")[0]
    for child in element:
        tag = child.tag
        if isinstance(tag, str) and tag.rpartition("}")[0] == namespace:
            yield tag.rpartition("}")[2], "".join(child.itertext()).strip()


def _read_url(element: etree._Element, url: str, document: _Document) -> None:
    fields = dict(_own_children(element))
    if fields.get("loc"):
        document.rows.append(
            _row(
                _absolute(url, fields["loc"]),
                lastmod=fields.get("lastmod") or None,
                changefreq=fields.get("changefreq") or None,
                priority=_number(fields.get("priority")),
            )
        )


def _read_sitemap(element: etree._Element, url: str, document: _Document) -> None:
    link = dict(_own_children(element)).get("loc")
    if link:
        document.children.append(_absolute(url, link))


def _read_item(element: etree._Element, url: str, document: _Document) -> None:
    fields = dict(_own_children(element))
    if fields.get("link"):
        document.rows.append(_row(_absolute(url, fields["link"]), lastmod=fields.get("pubDate") or None))


def _read_entry(element: etree._Element, url: str, document: _Document) -> None:
    fields = dict(_own_children(element))
    links = element.findall(f"{_ATOM}link")
    first = next((link for link in links if link.get("rel", "alternate") == "alternate"), None)
    if first is not None and first.get("href"):
        target = _absolute(url, str(first.get("href")))
        document.rows.append(_row(target, lastmod=fields.get("updated") or None))


_READERS: dict[str, Callable[[etree._Element, str, _Document], None]] = {
    "url": _read_url,
    "sitemap": _read_sitemap,
    "item": _read_item,
    "entry": _read_entry,
}


def _absolute(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:
        return link


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None


def _row(
    url: str | None,
    sitemap: str = "",
    *,
    lastmod: str | None = None,
    changefreq: str | None = None,
    priority: float | None = None,
    error: str | None = None,
    error_type: ErrorType | None = None,
    error_key: str | None = None,
) -> Row:
    return {
        "url": url,
        "lastmod": lastmod,
        "changefreq": changefreq,
        "priority": priority,
        "sitemap": sitemap,
        "status": "error" if error else "ok",
        "error": error,
        "error_type": error_type,
        "error_key": error_key,
    }
