"""The facts of a page that the rules of an audit examine, beyond the answers of the page operations.

A worker calls `analyse`; the elements come from the walk that the analyses of a page share.
"""

from __future__ import annotations

from typing import Any

from webanalytics.page.decoder import order_mark
from webanalytics.page.document import Element
from webanalytics.page.facts.access import AccessElements, Names, access_facts
from webanalytics.page.facts.head import ScriptElements, head_facts
from webanalytics.page.facts.links import LinkElements, judged_links, read_links
from webanalytics.page.facts.resources import LoadingElements, is_pixel, late_source, loading_facts
from webanalytics.page.facts.schema_org import structured_facts
from webanalytics.page.page import Collector, Links, Page, Reader, collected, fold
from webanalytics.page.structured.jsonld import JsonLdBlocks
from webanalytics.urls import address

DEFAULT_MAX_ALT = 100
"""Longest alternative text of an image that is not reported, in characters."""

_SHARED_IMAGES = frozenset(("og:image", "og:image:url", "og:image:secure_url", "twitter:image"))
_DATA_SHOWN = 60


class FactElements(Collector):
    """What the elements of a page say that rules examine, in document order; counts include all."""

    alongside = (JsonLdBlocks, LinkElements, AccessElements, LoadingElements, ScriptElements)

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._links = page.links
        self.titles: list[str] = []
        self.descriptions: list[str] = []
        self.canonicals: list[dict[str, str]] = []
        self.hreflangs: list[dict[str, str]] = []
        self.refresh = ""
        self.amphtml = ""
        self.hrefs: list[str] = []
        self.images = 0
        self.without_alt: list[str] = []
        self.empty_alt: list[str] = []
        self._names = Names(page.document)
        self.without_size: list[str] = []
        self.long_alt: list[dict[str, str]] = []
        self.outside_head: list[str] = []
        self.relative_images: list[str] = []
        self._in_body = False

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {
            "title": self._title,
            "meta": self._meta,
            "link": self._link,
            "a": self._anchor,
            "area": self._anchor,
            "img": self._image,
            "body": self._body,
        }

    def _anchor(self, element: Element) -> None:
        if (href := element.get("href")) is not None:
            self.hrefs.append(href)

    def _body(self, _: Element) -> None:
        self._in_body = True

    def _note_outside(self, kind: str, is_second: bool = False) -> None:
        """Note what stands in the body; a second one does no harm, where a page has the first in its head."""
        if self._in_body and not is_second and kind not in self.outside_head:
            self.outside_head.append(kind)

    def _title(self, element: Element) -> None:
        if (text := self.title_of(element)) is not None:
            self.keep(self.titles, text)
            self._note_outside("title", any(self.titles[:-1]))

    def _meta(self, element: Element) -> None:
        get = element.get
        name = (get("name") or get("property") or "").strip().lower()
        if name == "description" and get("name"):
            self.keep(self.descriptions, fold(get("content")))
            self._note_outside("description", any(self.descriptions[:-1]))
        elif name == "robots" and get("name"):
            self._note_outside("robots")
        elif name in _SHARED_IMAGES:
            link = (get("content") or "").strip()
            if link and not link[:8].lower().startswith(("http://", "https://")):
                self.keep(self.relative_images, link)
        kind = get("http-equiv")
        if kind and not self.refresh and kind.strip().lower() == "refresh":
            self.refresh = fold(get("content"))[: self.max_length]

    def _link(self, element: Element) -> None:
        get = element.get
        kinds = (get("rel") or "").lower().split()
        if "canonical" in kinds:
            self._canonical(get("href") or "")
        elif (language := get("hreflang")) is not None and _is_alternate(kinds, get("type")):
            if len(self.hreflangs) < self.max_entries:
                url = _normal_link(self._links, get("href") or "")[: self.max_length * 4]
                self.hreflangs.append({"lang": language.strip()[:100], "url": url} | self._place())
            self._note_outside("hreflang")
        elif "amphtml" in kinds and not self._in_body:
            self.amphtml = self.amphtml or _normal_link(self._links, get("href") or "")[: self.max_length * 4]

    def _canonical(self, href: str) -> None:
        if len(self.canonicals) < self.max_entries:
            longest = self.max_length * 4
            url = _normal_link(self._links, href)
            self.canonicals.append({"href": href.strip()[:longest], "url": url[:longest]} | self._place())
        self._note_outside("canonical", any(named["href"] for named in self.canonicals[:-1]))

    def _place(self) -> dict[str, str]:
        return {"place": "body"} if self._in_body else {}

    def _image(self, element: Element) -> None:
        get = element.get
        self.images += 1
        alt, width, height, source = get("alt"), get("width"), get("height"), get("src")
        if alt is None:
            self.keep(self.without_alt, self._source(element))
        elif not alt or alt.isspace():
            self._empty_alt(element)
        elif len(text := fold(alt)) > DEFAULT_MAX_ALT and len(self.long_alt) < self.max_entries:
            self.long_alt.append({"alt": text[: self.max_length], "src": self._source(element)})
        if not (width and height) and not is_pixel(width, height):
            source = source and source.lstrip()
            if source and source[:5].lower() != "data:":
                self.keep(self.without_size, self._source(element))

    def _empty_alt(self, element: Element) -> None:
        role = (element.get("role") or "").strip().lower()
        hidden = (element.get("aria-hidden") or "").strip().lower()
        pixel = is_pixel(element.get("width"), element.get("height"))
        decorative = role in ("presentation", "none") or hidden == "true" or pixel
        if not decorative and not self._is_beside_text(element):
            self.keep(self.empty_alt, self._source(element))

    def _is_beside_text(self, element: Element) -> bool:
        """Return whether an image is in a link or button with text, and needs none itself (WCAG 2.2, H2)."""
        if not self.may_climb():
            return False
        around = next((near for near in element.iterancestors() if near.tag in ("a", "button")), None)
        return around is not None and bool(self._names.content(around))

    def _source(self, element: Element) -> str:
        """Return the address of an image; one to be loaded by scripts has it in another attribute."""
        source = (element.get("src") or "").strip()
        data = source[:5].lower() == "data:"
        if (data or not source) and (later := late_source(element)):
            source, data = later, False
        return source[:_DATA_SHOWN] if data else self._absolute(source)[: self.max_length]


def _is_alternate(kinds: list[str], media_type: str | None) -> bool:
    """Return whether a link names the page in another language, not a feed, a style sheet or a file."""
    if "alternate" not in kinds or "stylesheet" in kinds:
        return False
    kind = (media_type or "").partition(";")[0].strip().lower()
    return kind in ("", "text/html", "application/xhtml+xml")


def _normal_link(links: Links, href: str) -> str:
    """Return a link absolute and in normal form, its fragment kept; as it is where it leads elsewhere."""
    url = links.absolute(href)
    found = address(url)
    if found is None:
        return url
    fragment = url.partition("#")[2]
    return f"{found.url}#{fragment}" if fragment else found.url


def warm_up_more() -> None:
    """Read the public suffixes and schema.org's vocabulary: pages without links or items need neither."""
    block = '<script type="application/ld+json">{"@type": "Product"}</script>'
    analyse(Page(f"<title>x</title><a href=https://b.example/>y</a>{block}", "https://a.example/"))


def analyse(page: Page) -> dict[str, Any]:
    """Return the fields of `page.declarations.facts.FACTS`; raises RowError for a page without HTML.

    Read as the HTML Standard says: what stands inside ``noscript`` or an unused ``template`` is no part of
    the page, nor is a drawing's title, and an alternative text that is empty is right for
    an image that is marked as decorative (WAI-ARIA ``presentation``, ``none`` and ``aria-hidden``).
    Mixed content is that of W3C Mixed Content; a page that lets its requests be upgraded has none.

    >>> page = Page('<title>Tea</title><a href="/milk#cold">Milk</a>', "https://example.org/tea")
    >>> facts = analyse(page)
    >>> facts["titles"], facts["links"], facts["internal_links"]
    (['Tea'], ['https://example.org/milk'], 1)
    """
    elements = collected(page, FactElements)
    links = read_links(page, elements.hrefs)
    judged = judged_links(page, collected(page, LinkElements))
    structured = structured_facts(page)
    return {
        "titles": elements.titles,
        "descriptions": elements.descriptions,
        "canonicals": elements.canonicals,
        "hreflangs": elements.hreflangs,
        "outside_head": elements.outside_head,
        "declared_charset": (page.declared_charset or order_mark(page.content))[:100],
        "googlebot": ", ".join(page.metas("googlebot"))[:500],
        "refresh": elements.refresh,
        "internal_links": links.internal,
        "external_links": links.external,
        "subdomain_links": links.subdomains,
        "links": links.pages,
        "links_without_name": judged.nameless,
        "generic_links": judged.generic,
        "uncrawlable_links": judged.uncrawlable,
        "nofollow_links": judged.nofollow,
        "insecure_links": judged.insecure,
        "images": elements.images,
        "images_without_alt": elements.without_alt,
        "images_with_empty_alt": elements.empty_alt,
        "images_without_size": elements.without_size,
        "images_with_long_alt": elements.long_alt,
        **loading_facts(page, collected(page, LoadingElements)),
        "structured_types": structured.types,
        "structured_errors": structured.faults,
        **access_facts(page, collected(page, AccessElements)),
        **head_facts(page),
        "amphtml": elements.amphtml,
        "amp": page.root.get("amp") is not None or page.root.get("⚡") is not None,
        "relative_images": elements.relative_images,
        "scripts": collected(page, ScriptElements).count,
        "visible_text": page.visible_text,
    }


COLLECTORS = (FactElements,)
