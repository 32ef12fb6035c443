"""One walk over the elements of a page that rules of an audit look at."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lxml.html import HtmlElement

from webanalytics.analysis.facts_links import absolute
from webanalytics.analysis.metadata_urls import Links
from webanalytics.analysis.page import Page, fold

DEFAULT_MAX_ENTRIES = 500
"""Most entries of a list that is kept of one page."""

DEFAULT_MAX_LENGTH = 500
"""Longest string in such a list, in characters."""

DEFAULT_MAX_ALT = 100
"""Longest alternative text of an image that is not reported, in characters."""

DEFAULT_MAX_CLIMBS = 2_000
"""Most titles of one page whose surroundings are looked at: each such look costs the tree's depth."""

_LOADING = {
    "script": ("src",),
    "iframe": ("src",),
    "frame": ("src",),
    "embed": ("src",),
    "audio": ("src",),
    "video": ("src", "poster"),
    "source": ("src",),
    "track": ("src",),
    "object": ("data",),
}
"""Attributes by which elements load what they show or run (HTML Standard, sections 4.8 and 4.12).

Besides, ``img`` and ``source`` have ``srcset``.
"""
_LOADING_LINKS = frozenset(
    (
        "stylesheet",
        "icon",
        "apple-touch-icon",
        "mask-icon",
        "preload",
        "modulepreload",
        "prefetch",
        "manifest",
    )
)
_TAGS = ("title", "meta", "link", "a", "area", "form", "img", "body", "noscript", "template", *_LOADING)
_IN_SRCSET = re.compile(r"(?:^|[\s,])(http:[^\s]+)", re.IGNORECASE)
_DATA_SHOWN = 60


class FactScan:
    """What the elements of a page say, in document order.

    What stands inside ``noscript`` is left out, as a browser with scripts leaves it out, and so is what
    stands in a ``template`` that scripts have yet to use.

    Parameters
    ----------
    page : Page
        The page.
    max_entries, max_length : int
        Most entries of each list, and the longest string in one, in characters. Counts are of all.
    max_alt : int
        Longest alternative text that is not reported.

    Attributes
    ----------
    titles, descriptions : list of str
        White space folded; empty ones too.
    canonicals, hreflangs : list of dict
        Entries of the result.
    refresh : str
        Content of the first meta refresh that has one.
    hrefs : list of str
        Links as they are written.
    images : int
        Number of images.
    without_alt, empty_alt, without_size, insecure, insecure_forms, outside_head : list of str
        Entries of the result.
    long_alt : list of dict
        Entries of the result.

    Examples
    --------
    >>> scan = FactScan(Page('<title>Tea</title><img src="/t.png">', "https://example.org/"))
    >>> scan.titles, scan.without_alt, scan.without_size
    (['Tea'], ['https://example.org/t.png'], ['https://example.org/t.png'])
    """

    def __init__(
        self,
        page: Page,
        *,
        max_entries: int = DEFAULT_MAX_ENTRIES,
        max_length: int = DEFAULT_MAX_LENGTH,
        max_alt: int = DEFAULT_MAX_ALT,
    ) -> None:
        self.links = Links(page)
        self.titles: list[str] = []
        self.descriptions: list[str] = []
        self.canonicals: list[dict[str, str]] = []
        self.hreflangs: list[dict[str, str]] = []
        self.refresh = ""
        self.hrefs: list[str] = []
        self.images = 0
        self.without_alt: list[str] = []
        self.empty_alt: list[str] = []
        self.without_size: list[str] = []
        self.long_alt: list[dict[str, str]] = []
        self.insecure: list[str] = []
        self.insecure_forms: list[str] = []
        self.outside_head: list[str] = []
        self._page = page
        self._max_entries = max_entries
        self._max_length = max_length
        self._max_alt = max_alt
        self._climbs = DEFAULT_MAX_CLIMBS
        self._secure = page.final_url[:6].lower() == "https:"
        self._base_insecure = self._secure and page.base_url[:5].lower() == "http:"
        self._upgraded = False
        self._in_body = False
        self._read()
        if self._upgraded:
            self.insecure, self.insecure_forms = [], []

    def _read(self) -> None:
        readers: dict[Any, Callable[[HtmlElement], None]] = {
            "title": self._title,
            "meta": self._meta,
            "link": self._link,
            "form": self._form,
            "img": self._image,
            "body": self._body,
            **dict.fromkeys(_LOADING, self._loading),
        }
        hidden = 0
        hrefs = self.hrefs
        for element in self._page.tree.iter(*_TAGS):
            tag = element.tag
            if hidden:
                hidden -= 1
            elif tag == "a" or tag == "area":
                if (href := element.get("href")) is not None:
                    hrefs.append(href)
            elif tag == "noscript" or tag == "template":
                if element.get("shadowrootmode") is None:
                    hidden = sum(1 for _ in element.iter(*_TAGS)) - 1
            else:
                readers[tag](element)

    def _body(self, _: HtmlElement) -> None:
        self._in_body = True

    def _add(self, entries: list[str], text: str) -> None:
        if len(entries) < self._max_entries:
            entries.append(text[: self._max_length])

    def _told_outside(self, kind: str) -> None:
        if self._in_body and kind not in self.outside_head:
            self.outside_head.append(kind)

    def _title(self, element: HtmlElement) -> None:
        self._climbs -= 1
        if self._climbs >= 0 and next(element.iterancestors("svg"), None) is None:
            self._add(self.titles, fold(element.text_content() if len(element) else element.text))
            self._told_outside("title")

    def _meta(self, element: HtmlElement) -> None:
        get = element.get
        name = get("name")
        if name and name.strip().lower() == "description":
            self._add(self.descriptions, fold(get("content")))
            self._told_outside("description")
        kind = get("http-equiv")
        if kind:
            kind, content = kind.strip().lower(), fold(get("content"))
            if kind == "refresh":
                self.refresh = self.refresh or content[: self._max_length]
            elif kind == "content-security-policy":
                self._upgraded = self._upgraded or "upgrade-insecure-requests" in content.lower()

    def _link(self, element: HtmlElement) -> None:
        get = element.get
        kinds = (get("rel") or "").lower().split()
        if "canonical" in kinds:
            self._canonical(get("href") or "")
        elif "alternate" in kinds and "stylesheet" not in kinds and (language := get("hreflang")) is not None:
            if len(self.hreflangs) < self._max_entries:
                url = absolute(self.links, get("href") or "")[: self._max_length * 4]
                self.hreflangs.append({"lang": language.strip()[:100], "url": url})
            self._told_outside("hreflang")
        elif self._secure and not _LOADING_LINKS.isdisjoint(kinds):
            self._check_loaded(get("href"))

    def _canonical(self, href: str) -> None:
        if len(self.canonicals) < self._max_entries:
            longest = self._max_length * 4
            url = absolute(self.links, href)
            self.canonicals.append({"href": href.strip()[:longest], "url": url[:longest]})
        self._told_outside("canonical")

    def _form(self, element: HtmlElement) -> None:
        action = element.get("action")
        if self._secure and action and self._is_insecure(action):
            self._add(self.insecure_forms, self.links.absolute(action))

    def _loading(self, element: HtmlElement) -> None:
        if self._secure:
            for name in _LOADING[str(element.tag)]:
                self._check_loaded(element.get(name))
            if several := element.get("srcset"):
                self._check_srcset(several)

    def _is_insecure(self, link: str) -> bool:
        if self._base_insecure:
            link = self.links.absolute(link)
        return link.lstrip()[:5].lower() == "http:"

    def _check_loaded(self, link: str | None) -> None:
        if link and self._is_insecure(link):
            self._add(self.insecure, self.links.absolute(link))

    def _check_srcset(self, value: str) -> None:
        if "http:" in value or "HTTP:" in value:
            for found in _IN_SRCSET.finditer(value):
                self._add(self.insecure, found[1].rstrip(","))

    def _image(self, element: HtmlElement) -> None:
        get = element.get
        self.images += 1
        alt, width, height, source = get("alt"), get("width"), get("height"), get("src")
        if alt is None:
            self._add_image(self.without_alt, element)
        elif not alt or alt.isspace():
            self._empty_alt(element)
        elif len(alt) > self._max_alt:
            self._long_alt(element, fold(alt))
        if not (width and height) and not _is_pixel(width, height):
            source = source and source.lstrip()
            if source and source[:5].lower() != "data:":
                self._add_image(self.without_size, element)
        if self._secure:
            self._check_loaded(source)
            if several := get("srcset"):
                self._check_srcset(several)

    def _long_alt(self, element: HtmlElement, text: str) -> None:
        if len(text) > self._max_alt and len(self.long_alt) < self._max_entries:
            self.long_alt.append({"alt": text[: self._max_length], "src": self._source(element)})

    def _empty_alt(self, element: HtmlElement) -> None:
        role = (element.get("role") or "").strip().lower()
        hidden = (element.get("aria-hidden") or "").strip().lower()
        if role not in ("presentation", "none") and hidden != "true":
            self._add_image(self.empty_alt, element)

    def _add_image(self, entries: list[str], element: HtmlElement) -> None:
        if len(entries) < self._max_entries:
            entries.append(self._source(element))

    def _source(self, element: HtmlElement) -> str:
        """Return the address of an image; one that scripts will load has it in another attribute."""
        source = (element.get("src") or "").strip()
        data = source[:5].lower() == "data:"
        if (data or not source) and (later := (element.get("data-src") or "").strip()):
            source, data = later, False
        return source[:_DATA_SHOWN] if data else self.links.absolute(source)[: self._max_length]


def _is_pixel(width: str | None, height: str | None) -> bool:
    """Tell whether an image is one pixel wide or high, as those are that only count visits."""
    return (width or height or "").strip().removesuffix("px") in ("0", "1")
