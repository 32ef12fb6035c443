"""The facts of a page that the rules of an audit examine, beyond the answers of the page operations.

A worker calls `analyse`; the elements come from the walk that the analyses of a page share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, NamedTuple

from lxml.html import HtmlElement

from webanalytics.analysis.facts.schema_org import structured_facts
from webanalytics.analysis.page.page import Collector, Links, Page, Reader, collected, fold
from webanalytics.analysis.structured.jsonld import JsonLdBlocks
from webanalytics.analysis.text.main_text import main_text
from webanalytics.urls import NORMAL_IN_PATH, NORMAL_NAME, NORMAL_QUERY, address, with_slashes

DEFAULT_MAX_LINKS = 2_000
"""Most links kept per page."""

DEFAULT_MAX_URL = 2_000
"""Longest address that is kept, in characters: sitemaps and search engines hardly accept longer ones."""

# Nearly all links are in normal form already, once they are joined to the page's host or folder.
_WRITTEN = re.compile(
    rf"(?:((?:https?:)?//)({NORMAL_NAME})(?=/))?"
    rf"((?!//)/{NORMAL_IN_PATH}{NORMAL_QUERY}|[!$-&(-.0-9;=@-Z_a-z~]{NORMAL_IN_PATH}{NORMAL_QUERY})(?:#.*)?",
    re.DOTALL,
)
_ORIGIN = re.compile(r"https?://[^/]+")
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE)

DEFAULT_MAX_ENTRIES = 500
"""Most entries kept of a list per page."""

DEFAULT_MAX_LENGTH = 500
"""Longest string in such a list, in characters."""

DEFAULT_MAX_ALT = 100
"""Longest alternative text of an image that is not reported, in characters."""

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
_IN_SRCSET = re.compile(r"(?:^|[\s,])(http:[^\s]+)", re.IGNORECASE)
_DATA_SHOWN = 60


class FactElements(Collector):
    """What the elements of a page say that rules examine, in document order; counts include all.

    Links are kept as they are written, titles and descriptions with empty ones, the rest as in the result.
    """

    alongside = (JsonLdBlocks,)
    max_entries = DEFAULT_MAX_ENTRIES
    max_length = DEFAULT_MAX_LENGTH

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._links = page.links
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
        self.upgraded = False
        self._secure = page.final_url[:6].lower() == "https:"
        self._base_insecure = self._secure and page.base_url[:5].lower() == "http:"
        self._in_body = False

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag; those of what elements load only for a page in https."""
        loading = dict.fromkeys(_LOADING, self._loading) if self._secure else {}
        return {
            "title": self._title,
            "meta": self._meta,
            "link": self._link,
            "a": self._anchor,
            "area": self._anchor,
            "form": self._form,
            "img": self._image,
            "body": self._body,
            **loading,
        }

    def _anchor(self, element: HtmlElement) -> None:
        if (href := element.get("href")) is not None:
            self.hrefs.append(href)

    def _body(self, _: HtmlElement) -> None:
        self._in_body = True

    def _add(self, entries: list[str], text: str) -> None:
        if len(entries) < self.max_entries:
            entries.append(text[: self.max_length])

    def _note_outside(self, kind: str) -> None:
        if self._in_body and kind not in self.outside_head:
            self.outside_head.append(kind)

    def _title(self, element: HtmlElement) -> None:
        if (text := self.title_of(element)) is not None:
            self._add(self.titles, text)
            self._note_outside("title")

    def _meta(self, element: HtmlElement) -> None:
        get = element.get
        name = get("name")
        if name and name.strip().lower() == "description":
            self._add(self.descriptions, fold(get("content")))
            self._note_outside("description")
        kind = get("http-equiv")
        if kind:
            kind, content = kind.strip().lower(), fold(get("content"))
            if kind == "refresh":
                self.refresh = self.refresh or content[: self.max_length]
            elif kind == "content-security-policy":
                self.upgraded = self.upgraded or "upgrade-insecure-requests" in content.lower()

    def _link(self, element: HtmlElement) -> None:
        get = element.get
        kinds = (get("rel") or "").lower().split()
        if "canonical" in kinds:
            self._canonical(get("href") or "")
        elif (language := get("hreflang")) is not None and _is_alternate(kinds, get("type")):
            if len(self.hreflangs) < self.max_entries:
                url = _normal_link(self._links, get("href") or "")[: self.max_length * 4]
                self.hreflangs.append({"lang": language.strip()[:100], "url": url} | self._place())
            self._note_outside("hreflang")
        elif self._secure and not _LOADING_LINKS.isdisjoint(kinds):
            self._check_loaded(get("href"))

    def _canonical(self, href: str) -> None:
        if len(self.canonicals) < self.max_entries:
            longest = self.max_length * 4
            url = _normal_link(self._links, href)
            self.canonicals.append({"href": href.strip()[:longest], "url": url[:longest]} | self._place())
        self._note_outside("canonical")

    def _place(self) -> dict[str, str]:
        return {"place": "body"} if self._in_body else {}

    def _form(self, element: HtmlElement) -> None:
        action = element.get("action")
        if self._secure and action and self._is_insecure(action):
            self._add(self.insecure_forms, self._absolute(action))

    def _loading(self, element: HtmlElement) -> None:
        for name in _LOADING[str(element.tag)]:
            self._check_loaded(element.get(name))
        if several := element.get("srcset"):
            self._check_srcset(several)

    def _is_insecure(self, link: str) -> bool:
        if self._base_insecure:
            link = self._absolute(link)
        return link.lstrip()[:5].lower() == "http:"

    def _check_loaded(self, link: str | None) -> None:
        if link and self._is_insecure(link):
            self._add(self.insecure, self._absolute(link))

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
        elif len(alt) > DEFAULT_MAX_ALT:
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
        if len(text) > DEFAULT_MAX_ALT and len(self.long_alt) < self.max_entries:
            self.long_alt.append({"alt": text[: self.max_length], "src": self._source(element)})

    def _empty_alt(self, element: HtmlElement) -> None:
        role = (element.get("role") or "").strip().lower()
        hidden = (element.get("aria-hidden") or "").strip().lower()
        if role not in ("presentation", "none") and hidden != "true":
            self._add_image(self.empty_alt, element)

    def _add_image(self, entries: list[str], element: HtmlElement) -> None:
        if len(entries) < self.max_entries:
            entries.append(self._source(element))

    def _source(self, element: HtmlElement) -> str:
        """Return the address of an image; one to be loaded by scripts has it in another attribute."""
        source = (element.get("src") or "").strip()
        data = source[:5].lower() == "data:"
        if (data or not source) and (later := (element.get("data-src") or "").strip()):
            source, data = later, False
        return source[:_DATA_SHOWN] if data else self._absolute(source)[: self.max_length]


def _is_alternate(kinds: list[str], media_type: str | None) -> bool:
    """Return whether a link names the page in another language, not a feed, a style sheet or a file."""
    if "alternate" not in kinds or "stylesheet" in kinds:
        return False
    kind = (media_type or "").partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml")


def _is_pixel(width: str | None, height: str | None) -> bool:
    """Return whether an image is one pixel wide or high, as tracking pixels are."""
    return (width or height or "").strip().removesuffix("px") in ("0", "1")


def _normal_link(links: Links, href: str) -> str:
    """Return a link absolute and in normal form, its fragment kept; as it is where it leads elsewhere."""
    url = links.absolute(href)
    found = address(url)
    if found is None:
        return url
    fragment = url.partition("#")[2]
    return f"{found.url}#{fragment}" if fragment else found.url


class LinkFacts(NamedTuple):
    """The numbers of links to the page's own host and elsewhere, and the distinct pages of its own host."""

    internal: int
    external: int
    pages: list[str]


def read_links(
    page: Page,
    hrefs: Iterable[str],
    *,
    max_links: int = DEFAULT_MAX_LINKS,
    max_url: int = DEFAULT_MAX_URL,
) -> LinkFacts:
    """Return the links of a page to its own host and count those that lead elsewhere; counts are of all.

    A link to a place on the page itself (``#top``) does not lead to a page, nor does one that is not
    http(s). Hosts are the same where the host names are and the ports, usual ones left out:
    ``www.example.org`` is another host than ``example.org``.

    Examples
    --------
    >>> page = Page("<p>", "https://example.org/a")
    >>> read_links(page, ["/b#c", "b", "https://other.example/", "mailto:x@example.org", "#top"])
    LinkFacts(internal=2, external=1, pages=['https://example.org/b'])
    """
    base = address(page.final_url)
    own = base.host if base else ""
    resolve = _Resolver(page).resolve
    internal = external = 0
    kept: dict[str, None] = {}
    for href, count in Counter(hrefs).items():
        target = resolve(href)
        if target is None:
            continue
        if target[0] != own:
            external += count
            continue
        internal += count
        if len(kept) < max_links and len(target[1]) <= max_url:
            kept[target[1]] = None
    return LinkFacts(internal, external, list(kept))


class _Resolver:
    """Finds where the links of one page lead."""

    def __init__(self, page: Page) -> None:
        self._page = page
        base = address(page.base_url)
        self._host, url = base or ("", "")
        path = url.partition("?")[0]
        found = _ORIGIN.match(url)
        self._origin = found[0] if found else ""
        self._folder = path[: path.rfind("/") + 1]
        self._scheme = url[: url.find("//")]

    def resolve(self, href: str) -> tuple[str, str] | None:
        """Return host and address of the page that a link leads to, None if it does not lead to a page."""
        found = _WRITTEN.fullmatch(href)
        if found is not None and self._origin and "/." not in href and "/%2" not in href:
            start, host, path = found.groups()
            if host is not None:
                return host, f"{self._scheme if start == '//' else ''}{start}{host}{path}"
            if path[0] == "/":
                return self._host, self._origin + path
            if path[0] != "." and path[0] != "%" and ":" not in path:
                return self._host, self._folder + path
        link = with_slashes(href.partition("#")[0].strip())
        if (not link and "#" in href) or _OTHER_SCHEME.match(link):
            return None
        return address(self._page.links.absolute(link) if link else self._page.base_url)


def content_hash(text: str) -> str:
    """Return the SHA-256 of a text with its white space folded, in hexadecimal; '' for an empty text.

    Examples
    --------
    >>> content_hash(" abc ") == content_hash("abc"), content_hash("")
    (True, '')
    """
    folded = fold(text)
    return sha256(folded.encode("utf-8", "replace")).hexdigest() if folded else ""


def analyse(page: Page) -> dict[str, Any]:
    """Return the fields of `webanalytics.operations.facts.FACTS`; raises RowError for a page without HTML.

    Read as the HTML Standard says: what stands inside ``noscript`` or an unused ``template`` is no part of
    the page, nor is a drawing's title, and an alternative text that is empty is right for
    an image that is marked as decorative (WAI-ARIA ``presentation``, ``none`` and ``aria-hidden``).
    Mixed content is that of W3C Mixed Content; a page that lets its requests be upgraded has none.

    Examples
    --------
    >>> page = Page('<title>Tea</title><a href="/milk#cold">Milk</a>', "https://example.org/tea")
    >>> facts = analyse(page)
    >>> facts["titles"], facts["links"], facts["internalLinks"]
    (['Tea'], ['https://example.org/milk'], 1)
    """
    elements = collected(page, FactElements)
    links = read_links(page, elements.hrefs)
    structured = structured_facts(page)
    return {
        "titles": elements.titles,
        "descriptions": elements.descriptions,
        "canonicals": elements.canonicals,
        "hreflangs": elements.hreflangs,
        "outsideHead": elements.outside_head,
        "declaredCharset": (page.declared_charset or "")[:100],
        "googlebot": ", ".join(page.metas("googlebot"))[:500],
        "refresh": elements.refresh,
        "internalLinks": links.internal,
        "externalLinks": links.external,
        "links": links.pages,
        "images": elements.images,
        "imagesWithoutAlt": elements.without_alt,
        "imagesWithEmptyAlt": elements.empty_alt,
        "imagesWithoutSize": elements.without_size,
        "imagesWithLongAlt": elements.long_alt,
        "mixedContent": [] if elements.upgraded else list(dict.fromkeys(elements.insecure)),
        "insecureForms": [] if elements.upgraded else list(dict.fromkeys(elements.insecure_forms)),
        "structuredTypes": structured.types,
        "structuredErrors": structured.faults,
        "contentHash": content_hash(main_text(page)),
    }


COLLECTORS = (FactElements,)
