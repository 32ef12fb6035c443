"""One sitemap as a stream: bytes in, entries out, and never more than a block of it in memory.

lxml hands over elements one by one and builds no tree. A document type with declarations of its own, names
without end, tags or nests larger than any sitemap has, and what exceeds the bounds of the whole tree of
sitemaps end the reading; what was read up to there is kept, and the reason is told.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from webanalytics.fetching.content import DecodingError, Inflate
from webanalytics.fetching.response import Problem
from webanalytics.fetching.robots_rules import LARGEST as LARGEST_ROBOTS
from webanalytics.fetching.robots_rules import RobotsFile
from webanalytics.fetching.sitemap_entries import LONGEST_URL, Entries, Entry, absolute

BLOCK = 262_144
"""Bytes that are read at one go."""
PACKED_BLOCK = 4_096
"""The same of compressed ones: they may become a thousand times as many."""
MOST_CHILDREN = 50_000
"""Further sitemaps that indexes name, over the whole tree; the protocol allows so many in one."""
MOST_NAMES = 20_000
"""Different names of elements, attributes and namespaces over the whole tree."""
DEEPEST = 100
"""Elements within elements."""
SILENCE = 2_097_152
"""Bytes without an entry after which a document is given up."""
MOST_ELEMENTS = (200_000, 60)
"""Elements of a document, and those that each entry adds to them: language versions, images."""
MOST_LINES = 100_000
"""Lines of a text that are no addresses."""

_GZIP_MAGIC = b"\x1f\x8b"
_ROOTS = frozenset(("urlset", "sitemapindex", "rss", "feed", "RDF"))
_ENTRIES = frozenset(("url", "sitemap", "item", "entry"))
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})")
_PROLOGUE = re.compile(rb"(?:<!--.*?-->|<\?.*?\?>|<!(?!--)[^>\[]*>|\s)*", re.DOTALL)
# Codecs that are no encodings of texts, or in which markup can hide.
_REFUSED = frozenset(("utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"))
_SPACE = b" \t\r\n"


@dataclass(slots=True)
class Budget:
    """What is left of the bounds over a whole tree of sitemaps."""

    entries: int = 500_000
    size: int = 500_000_000
    characters: int = 60_000_000
    children: int = MOST_CHILDREN
    names: set[str] = field(default_factory=set)
    limits: Mapping[str, int] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.limits = {"entries": self.entries, "size": self.size, "children": self.children}

    def take_size(self, count: int) -> None:
        """Count bytes after decompression."""
        self.size -= count
        if self.size < 0:
            raise Problem("large_sitemaps", limit=f"{self.limits['size']:,}")

    def take_text(self, *texts: str) -> None:
        """Count texts that are kept."""
        self.characters -= sum(map(len, texts))
        if self.characters < 0:
            raise Problem("long_sitemaps")

    def once(self, text: str) -> str:
        """Return the one object of equal texts: languages and alternates repeat from page to page."""
        if len(self.kept) > 1_000_000:
            self.kept.clear()
        return self.kept.setdefault(text, text)


@dataclass(slots=True)
class Document:
    """The contents of one sitemap."""

    entries: Entries = field(default_factory=Entries)
    children: list[str] = field(default_factory=list)
    size: int = 0
    broken: bool = False

    @property
    def count(self) -> int:
        """Pages and further sitemaps that it lists."""
        return len(self.entries) + len(self.children)


class _Target:
    """What lxml calls for each element and text."""

    def __init__(self, url: str, document: Document, budget: Budget) -> None:
        self._url, self._document, self._budget = url, document, budget
        self._entry: Entry | None = None
        self._local = ""
        self._depth = self._entry_depth = 0
        self.elements = 0
        self.rooted = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.elements += 1
        self._depth += 1
        self._know(tag, *attributes)
        if self._depth > DEEPEST:
            raise Problem("broken_sitemap", count=self._document.count)
        local = tag.rpartition("}")[2]
        if not self.rooted:
            if local.rpartition(":")[2] not in _ROOTS:
                raise Problem("not_sitemap")
            self.rooted = True
        elif self._entry is not None:
            self._entry.start(tag, attributes)
        elif (name := local.rpartition(":")[2]) in _ENTRIES:
            self._entry, self._local, self._entry_depth = Entry(tag), name, self._depth

    def start_ns(self, prefix: str, uri: str) -> None:
        self._know(prefix, uri)

    def end(self, _: str) -> None:
        if self._entry is not None:
            if self._depth > self._entry_depth:
                self._entry.end()
            else:
                self._finish(self._entry)
                self._entry = None
        self._depth -= 1

    def data(self, text: str) -> None:
        if self._entry is not None:
            self._entry.data(text)

    def close(self) -> None:
        pass

    def _know(self, *names: str) -> None:
        known = self._budget.names
        known.update(names)
        if len(known) > MOST_NAMES:  # libxml2 keeps each name for ever
            raise Problem("broken_sitemap", count=self._document.count)

    def _finish(self, entry: Entry) -> None:
        document, budget = self._document, self._budget
        document.broken |= entry.long
        loc = entry.fields.get("loc" if self._local in ("url", "sitemap") else "link", "")
        if not loc:
            return
        link = absolute(self._url, loc)
        if self._local == "sitemap":
            add_child(document, budget, link)
            return
        entry.alternates = [
            type(one)(budget.once(one.lang), budget.once(absolute(self._url, one.url)))
            for one in entry.alternates
        ]
        for name, text in entry.fields.items():
            if name not in ("loc", "link"):
                entry.fields[name] = budget.once(text)
        add_entry(document, budget, link, entry)


def add_entry(document: Document, budget: Budget, link: str, entry: Entry | None = None) -> None:
    """Keep an entry within the bounds of the tree, or raise `Problem`."""
    if budget.entries <= 0:
        raise Problem("full_sitemap", limit=budget.limits["entries"])
    budget.entries -= 1
    budget.take_text(link, *(one.url for one in entry.alternates) if entry is not None else ())
    document.entries.add(link, entry)


def add_child(document: Document, budget: Budget, link: str) -> None:
    """Keep the address of a further sitemap within the bounds of the tree, or raise `Problem`."""
    if budget.children <= 0:
        raise Problem("many_sitemaps", limit=budget.limits["children"])
    budget.children -= 1
    budget.take_text(link)
    document.children.append(link)


class SitemapParser:
    """Reads one sitemap, block by block."""

    def __init__(self, url: str, budget: Budget, max_bytes: int) -> None:
        self.document = Document()
        self._url, self._budget, self._max_bytes = url, budget, max_bytes
        self._inflate: Inflate | None = None
        self._head: bytes | None = b""
        self._take: Callable[[bytes], None] = self._first
        self._decoder: Any = None
        self._parser: Any = None
        self._start, self._rest = b"", ""
        self._silent = self._odd_lines = 0

    def feed(self, data: bytes) -> None:
        """Take a further block, or raise `Problem`."""
        if self._head is not None:
            data, self._head = self._head + data, b""
            if len(data) < 2:
                self._head = data
                return
            self._head = None
            self._inflate = Inflate(gzip=True) if data.startswith(_GZIP_MAGIC) else None
        if self._inflate is None:
            for start in range(0, len(data), BLOCK):
                self._plain(data[start : start + BLOCK])
            return
        for start in range(0, len(data), PACKED_BLOCK):
            self._plain(self._unpacked(data[start : start + PACKED_BLOCK]))

    def close(self) -> None:
        """Take the end of the document, or raise `Problem`."""
        if self._head:
            self._plain(self._head)
        if self._take == self._first:
            self._begin(self._start)
        if self._parser is not None:
            self._finish_xml()
        elif self._take == self._robots:
            for link in RobotsFile(self._rest).sitemaps:
                add_child(self.document, self._budget, absolute(self._url, link))
        else:
            self._lines(self._decoder.decode(b"", True) + "\n")
            if not self.document.count and self._odd_lines:
                raise Problem("not_sitemap")

    def _unpacked(self, data: bytes) -> bytes:
        assert self._inflate is not None  # noqa: S101
        try:
            return self._inflate.feed(data, self._max_bytes + 1 - self.document.size)
        except DecodingError:
            raise Problem("encoding") from None

    def _plain(self, data: bytes) -> None:
        self.document.size += len(data)
        if self.document.size > self._max_bytes:
            raise Problem("too_large", limit=f"{self._max_bytes:,}")
        self._budget.take_size(len(data))
        self._take(data)

    def _first(self, data: bytes) -> None:
        """Wait for the first kilobytes: they say what the document is."""
        self._start += data
        if len(self._start) >= PACKED_BLOCK:
            self._begin(self._start)

    def _begin(self, head: bytes) -> None:
        utf16 = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        start = head.removeprefix(codecs.BOM_UTF8).lstrip(_SPACE)
        if utf16 or start.startswith(b"<"):
            self._begin_xml(head if utf16 else start, "utf-16" if utf16 else _declared(start))
        elif urlsplit(self._url).path.endswith("/robots.txt"):
            self._take = self._robots
            self._take(head)
        else:
            self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
            self._take = self._text
            self._take(head)

    def _begin_xml(self, head: bytes, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._target = _Target(self._url, self.document, self._budget)
        self._parser = etree.XMLParser(  # type: ignore[call-overload]  # its stubs ask for trees
            target=self._target,
            encoding="utf-8",
            recover=True,
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        self._prologue: bytes | None = b""
        self._take = self._xml
        self._take(head)

    def _xml(self, data: bytes) -> None:
        text = self._decoder.decode(data).encode("utf-8", "replace")
        if self._prologue is not None:
            text = self._after_prologue(text)
        before = self.document.count
        if text:
            self._feed_lxml(text)
        self._silent = 0 if self.document.count > before else self._silent + len(text)
        few, more = MOST_ELEMENTS
        if self._silent > SILENCE or self._target.elements > few + more * self.document.count:
            raise self._broken()

    def _after_prologue(self, text: bytes) -> bytes:
        """Return nothing until the root element begins, then all of it: declarations are not read."""
        whole = (self._prologue or b"") + text
        found = _PROLOGUE.match(whole)
        end = found.end() if found else 0
        rest = whole[end : end + 9]
        if re.match(rb"<[^!?]", rest):
            self._prologue = None
            return whole
        open_type = rest.startswith(b"<!D") and b"[" in whole[end:].partition(b">")[0]
        if len(whole) > 2 * BLOCK or open_type or rest[:1] not in (b"", b"<"):
            raise Problem("not_sitemap")
        self._prologue = whole
        return b""

    def _feed_lxml(self, text: bytes) -> None:
        try:
            self._parser.feed(text)
        except etree.XMLSyntaxError:
            raise (self._broken() if self._target.rooted else Problem("not_sitemap")) from None

    def _finish_xml(self) -> None:
        tail = self._decoder.decode(b"", True).encode("utf-8", "replace")
        if self._prologue:
            raise Problem("not_sitemap")
        try:
            if tail:
                self._parser.feed(tail)
            self._parser.close()
        except etree.XMLSyntaxError:
            self.document.broken = True
        if not self._target.rooted:
            raise Problem("not_sitemap")
        log = self._parser.feed_error_log
        self.document.broken |= any(entry.level >= etree.ErrorLevels.ERROR for entry in log)

    def _broken(self) -> Problem:
        return Problem("broken_sitemap", count=self.document.count)

    def _robots(self, data: bytes) -> None:
        if len(self._rest) < LARGEST_ROBOTS:
            self._rest += data.decode("utf-8-sig", "replace")

    def _text(self, data: bytes) -> None:
        before = self.document.count
        self._lines(self._decoder.decode(data))
        self._silent = 0 if self.document.count > before else self._silent + len(data)
        if self._silent > SILENCE or self._odd_lines > MOST_LINES:
            raise self._broken() if self.document.count else Problem("not_sitemap")

    def _lines(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        if len(self._rest) > LONGEST_URL:
            self._rest = self._rest[: LONGEST_URL + 1]  # it is too long to be an address, whatever follows
        for line in lines:
            for link in line.split("\r"):
                self._line(link.strip())

    def _line(self, link: str) -> None:
        if not link.lower().startswith(("http://", "https://")):
            self._odd_lines += bool(link)
        elif len(link) > LONGEST_URL:
            self.document.broken = True
        else:
            add_entry(self.document, self._budget, link)


def _declared(start: bytes) -> str:
    """Return the encoding that an XML declaration names; UTF-8 for none, and for one that is not known."""
    found = _DECLARED.match(start)
    try:
        known = codecs.lookup(found[1].decode()) if found else None
    except LookupError:
        return "utf-8"
    if known is None or known.name in _REFUSED or not getattr(known, "_is_text_encoding", True):
        return "utf-8"
    # A file that says UTF-16 and is read byte by byte up to here is not.
    return "utf-8" if known.name.startswith(("utf-16", "utf-32")) else known.name
