"""The entries of a sitemap's elements: columns, what extensions hold, and which of their parts are missing.

`fetching.sitemap_parser` hands over elements as they are read; no tree of them is ever in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urljoin

from webanalytics.urls import without_user

LONGEST_URL = 8_192
"""Characters of an address that are kept; the protocol allows 2,047."""
MOST_FAULTS = 5
"""Faults of one entry that are named."""
_LONGEST_FIELD = 200
_ATOM = "{http://www.w3.org/2005/Atom}"
_XHTML = "{http://www.w3.org/1999/xhtml}link"
_KINDS = ("image", "video", "news")
_NAMESPACES = {f"sitemap-{kind}": kind for kind in _KINDS}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "image": ("loc",),
    "video": ("thumbnail_loc", "title", "description"),
    "news": ("name", "language", "publication_date", "title"),
}
"""Parts that Google requires: developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps,
.../video-sitemaps and .../news-sitemap."""
MOST_ALTERNATES = 1_000
"""Language versions of one page that are kept."""
MOST_IMAGES = 1_000
"""Images of one page in a sitemap, by the same pages."""
LONGEST_VIDEO = 28_800
"""Seconds of a video, by the same pages."""


class Alternate(NamedTuple):
    """One language version of a page: ``xhtml:link`` with ``hreflang``."""

    lang: str
    url: str


class Texts(Sequence[str]):
    """Texts one after another as bytes: half a million addresses take 20 MB so, and 50 MB as objects.

    >>> texts = Texts()
    >>> texts.append("tea")
    >>> texts[0], list(texts)
    ('tea', ['tea'])
    """

    __slots__ = ("_content", "_starts")

    def __init__(self) -> None:
        self._content = bytearray()
        self._starts = array("I", (0,))

    def append(self, text: str) -> None:
        """Add a text."""
        self._content += text.encode("utf-8", "surrogatepass")
        self._starts.append(len(self._content))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, place: Any) -> Any:
        place = range(len(self))[place]
        start, end = self._starts[place], self._starts[place + 1]
        return self._content[start:end].decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Entries:
    """The entries of one sitemap as columns; what most entries lack is kept by row."""

    urls: Texts = field(default_factory=Texts)
    lastmods: Texts = field(default_factory=Texts)
    changefreqs: Texts = field(default_factory=Texts)
    priorities: array[float] = field(default_factory=lambda: array("d"))
    counts: dict[str, array[int]] = field(default_factory=lambda: {kind: array("I") for kind in _KINDS})
    alternates: dict[int, tuple[Alternate, ...]] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.urls)

    def add(self, url: str, entry: Entry | None = None) -> None:
        """Add an entry."""
        fields = {} if entry is None else entry.fields
        row = len(self.urls)
        self.urls.append(url)
        self.lastmods.append(fields.get("lastmod") or fields.get("pubDate") or fields.get("updated") or "")
        self.changefreqs.append(fields.get("changefreq") or "")
        self.priorities.append(_priority(fields.get("priority")))
        for kind, column in self.counts.items():
            column.append(0 if entry is None else entry.counts.get(kind, 0))
        if entry is not None and entry.alternates:
            self.alternates[row] = tuple(entry.alternates)
        if entry is not None and entry.faults:
            self.faults[row] = "; ".join(entry.faults)


def _priority(text: str | None) -> float:
    try:
        value = float(text or "nan")
    except ValueError:
        return float("nan")
    return value if 0.0 <= value <= 1.0 else float("nan")


def absolute(base: str, link: str) -> str:
    """Return a link of a sitemap as an absolute address."""
    if link.startswith(("https://", "http://")):
        return without_user(link)
    try:
        return without_user(urljoin(base, link))
    except ValueError:
        return link


def extension_of(tag: str) -> str:
    """Return which extension an element belongs to, "" for the sitemap's own.

    >>> extension_of("{http://www.google.com/schemas/sitemap-image/1.1}loc"), extension_of("video:title")
    ('image', 'video')
    """
    space, _, _ = tag[1:].partition("}") if tag.startswith("{") else ("", "", "")
    if space:
        return next((kind for part, kind in _NAMESPACES.items() if part in space), "")
    prefix, colon, _ = tag.partition(":")  # of a file that forgets to declare it
    return prefix if colon and prefix in _KINDS else ""


class Entry:
    """One ``url``, ``sitemap``, ``item`` or ``entry`` that is being read."""

    __slots__ = (
        "_depth",
        "_field",
        "_has",
        "_kind",
        "_text",
        "alternates",
        "counts",
        "faults",
        "fields",
        "long",
        "space",
    )

    def __init__(self, tag: str) -> None:
        self.space = tag.rpartition("}")[0]
        self.fields: dict[str, str] = {}
        self.alternates: list[Alternate] = []
        self.counts: dict[str, int] = {}
        self.faults: list[str] = []
        self.long = False
        self._depth = 0
        self._kind = self._field = ""
        self._text: list[str] = []
        self._has: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element within the entry."""
        self._depth += 1
        local = tag.rpartition("}")[2].rpartition(":")[2]
        kind = extension_of(tag)
        if self._depth == 1:
            self._kind, self._has, self._field = kind, {}, ""
            if tag == _XHTML or tag == "xhtml:link":
                self._alternate(attributes)
            elif tag == f"{_ATOM}link":
                self._atom_link(attributes)
            elif kind:
                self.counts[kind] = self.counts.get(kind, 0) + 1
            elif tag.rpartition("}")[0] == self.space and ":" not in tag.rpartition("}")[2]:
                self._field, self._text = local, []
        elif self._kind and kind == self._kind:
            self._field, self._text = local, []

    def data(self, text: str) -> None:
        """Take a piece of text."""
        if self._field and len(self._text) <= LONGEST_URL:
            self._text.append(text)

    def end(self) -> None:
        """End an element within the entry."""
        if self._field and (self._depth == 1 or self._kind):
            text = "".join(self._text).strip()
            if len(text) > LONGEST_URL and self._field.endswith(("loc", "link")):  # a feed has whole articles
                self.long, text = True, ""
            if self._kind:
                if text:
                    self._has[self._field] = text[:_LONGEST_FIELD]
            else:
                self.fields[self._field] = text if self._field in ("loc", "link") else text[:_LONGEST_FIELD]
            self._field = ""
        if self._depth == 1 and self._kind:
            self._judge(self._kind, self._has)
            self._kind = ""
        self._depth -= 1

    def _alternate(self, attributes: Mapping[str, str]) -> None:
        lang, url = attributes.get("hreflang"), attributes.get("href", "")
        if lang is not None and "alternate" in attributes.get("rel", "alternate").lower().split():
            if len(url) > LONGEST_URL or len(self.alternates) >= MOST_ALTERNATES:
                self.long = True
            else:
                self.alternates.append(Alternate(lang[:_LONGEST_FIELD].strip(), url.strip()))

    def _atom_link(self, attributes: Mapping[str, str]) -> None:
        if attributes.get("rel", "alternate") == "alternate" and attributes.get("href"):
            self.fields.setdefault("link", attributes["href"][:LONGEST_URL])

    def _judge(self, kind: str, has: Mapping[str, str]) -> None:
        missing = [name for name in _REQUIRED[kind] if name not in has]
        if kind == "video" and not {"content_loc", "player_loc"} & has.keys():
            missing.append("content_loc or player_loc")
        self._fault(*(f"{kind} without {name}" for name in missing))
        if kind == "video":
            self._number("duration", has, 1, LONGEST_VIDEO)
            self._number("rating", has, 0, 5)
        if self.counts.get("image", 0) > MOST_IMAGES:
            self._fault(f"more than {MOST_IMAGES:,} images")

    def _number(self, name: str, has: Mapping[str, str], low: float, high: float) -> None:
        if name not in has:
            return
        try:
            good = low <= float(has[name]) <= high
        except ValueError:
            good = False
        if not good:
            self._fault(f"video {name} not from {low:g} to {high:g}")

    def _fault(self, *faults: str) -> None:
        self.faults += [fault for fault in faults if fault not in self.faults][
            : MOST_FAULTS - len(self.faults)
        ]
