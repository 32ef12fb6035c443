"""The metadata operation: meta tags, Open Graph, social cards, headings, images and structured data.

A worker calls `analyse`; the elements come from the walk that the analyses of a page share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.core.strings import encodable
from webanalytics.page.declarations.metadata import CARD, OPEN_GRAPH
from webanalytics.page.document import Document, Element, Walk
from webanalytics.page.page import Collector, Page, Reader, collected, fold
from webanalytics.page.structured.jsonld import JsonLdBlocks, jsonld
from webanalytics.page.structured.offer import Offer, decimal_price, describes_page, product_offer
from webanalytics.page.text.authors import page_authors
from webanalytics.page.text.publisher import page_headline
from webanalytics.page.visible_text import drop_invisible, is_added

DEFAULT_MAX_ENTRIES = 10_000
"""Most headings, most images and most icons kept per page."""

DEFAULT_MAX_HEADING = 10_000
"""Longest text of a heading, in characters: unclosed headings contain each other's text repeatedly."""

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_ICONS = frozenset({"icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
# The text of these is not part of the text around them.
_NOT_TEXT = ("script", "style")
_DEVICES = {"handset": "iphone", "tablet": "ipad", "store": "googleplay"}


def _card_tag(name: str) -> str:
    """Return the name of a card's tag: the app's platforms are named by their devices there."""
    start, colon, last = name.rpartition(":")
    return f"{start}{colon}{_DEVICES.get(last, last)}"


_SOCIAL: dict[str, tuple[str, ...]] = {
    **{f"og:{name}": (f"og:{name}",) for name in OPEN_GRAPH},
    **{f"card:{name}": (f"twitter:{_card_tag(name)}",) for name in CARD},
    # Older spellings of the same tags, which the Open Graph protocol and card readers still accept.
    "og:image": ("og:image", "og:image:url"),
    "card:image": ("twitter:image", "twitter:image:src"),
}
"""Field to the meta tags it is read from, the first that says anything wins."""

_LINKS = (
    "og:url",
    "og:image",
    "og:image:secure_url",
    "card:image",
    "card:url",
    "card:player",
    "card:player:stream",
)
_JOINED = frozenset({"keywords", "robots", "og:locale:alternate"})
_PLAIN = (
    "author",
    "description",
    "keywords",
    "source",
    "robots",
    "viewport",
    "theme-color",
    "application-name",
)
_PRICE_TAGS = ("product:price:amount", "og:price:amount")
_CURRENCY_TAGS = ("product:price:currency", "og:price:currency")
_AVAILABILITY_TAGS = ("product:availability", "og:availability")
_WANTED = frozenset(
    {
        "image",
        *_PLAIN,
        *(tag for tags in _SOCIAL.values() for tag in tags),
        *_PRICE_TAGS,
        *_CURRENCY_TAGS,
        *_AVAILABILITY_TAGS,
    }
)


class MetadataElements(Collector):
    """What the elements of a page say about it, in document order; texts and addresses as in the result."""

    alongside = (JsonLdBlocks,)
    max_entries = DEFAULT_MAX_ENTRIES

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.metas: dict[str, list[str]] = {}
        self.properties = {"author": "", "image": ""}
        self.title = self.canonical = self.charset = ""
        self.favicons: list[dict[str, str]] = []
        self.headings: list[dict[str, str]] = []
        self.images: list[dict[str, str]] = []
        self._strings: dict[str, str] = {}

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {
            "meta": self._meta,
            "link": self._link,
            "title": self._title,
            "img": self._image,
            **dict.fromkeys(_HEADINGS, self._heading),
        }

    def _meta(self, element: Element) -> None:
        get = element.get
        content = get("content")
        names = f"{get('property') or ''} {get('name') or ''}".lower()
        for name in _WANTED.intersection(names.split()):
            if value := fold(content):
                self.metas.setdefault(name, []).append(value)
        part = get("itemprop")
        if part and part in self.properties:
            self._property(part, element, fold(content))
        if not self.charset:
            self.charset = _declared_charset(element, content)

    def _link(self, element: Element) -> None:
        link = element.get("href")
        if not link:
            return
        kinds = (element.get("rel") or "").lower().split()
        if "canonical" in kinds:
            self.canonical = self.canonical or self._absolute(link)
        elif not _ICONS.isdisjoint(kinds) and len(self.favicons) < self.max_entries:
            icon = {"rel": " ".join(kinds), "href": self._absolute(link)}
            icon.update((name, value) for name in ("sizes", "type") if (value := fold(element.get(name))))
            self.favicons.append(icon)
        elif element.get("itemprop") == "image":
            self._property("image", element, link)

    def _title(self, element: Element) -> None:
        if not self.title:
            self.title = self.title_of(element) or ""

    def _heading(self, element: Element) -> None:
        if len(self.headings) < self.max_entries:
            text = _heading_text(self._document, element)
            self.headings.append({"level": element.tag, "text": text[:DEFAULT_MAX_HEADING]})

    def _image(self, element: Element) -> None:
        get = element.get
        if len(self.images) < self.max_entries:
            image = {"src": self._absolute(get("src") or ""), "alt": self._shared(fold(get("alt")))}
            if width := get("width"):
                image["width"] = self._shared(fold(width))
            if height := get("height"):
                image["height"] = self._shared(fold(height))
            self.images.append(image)
        if get("itemprop") == "image":
            self._property("image", element, get("src") or "")

    def _property(self, name: str, element: Element, value: str) -> None:
        if value and not self.properties[name] and self.may_climb() and describes_page(element):
            self.properties[name] = value

    def _shared(self, text: str) -> str:
        """Return one string for equal ones: pages repeat sizes and alternative texts."""
        return self._strings.setdefault(text, text)


def _declared_charset(element: Element, content: str | None) -> str:
    """Return the encoding that a meta element declares, as written, or ''.

    Notes
    -----
    HTML Standard, section 4.2.5.4: ``<meta charset>`` or ``<meta http-equiv="Content-Type">``.
    """
    if charset := fold(element.get("charset")):
        return charset
    kind = element.get("http-equiv")
    if content and kind and kind.strip().lower() == "content-type" and (match := _CHARSET.search(content)):
        return match[1]
    return ""


def _heading_text(document: Document, element: Element) -> str:
    """Return the folded text of a heading without scripts, styles and what a program added to it."""
    if not (element.is_leaf or document.may_read(element)):
        return ""
    text = "".join(_texts(document, element))
    return fold(drop_invisible(text[: 20 * DEFAULT_MAX_HEADING]))  # headings in each other share a text


def _texts(document: Document, heading: Element) -> Iterator[str]:
    """Yield the texts of a heading that are neither code nor added."""
    walk = Walk(document, heading)
    for event, element in walk:
        if event == "end":
            if element is not heading:
                yield element.tail or ""
        elif element.tag in _NOT_TEXT or (element is not heading and is_added(element)):
            walk.skip_subtree()
        else:
            yield element.text or ""


def _first(metas: dict[str, list[str]], *names: str) -> str:
    """Return the first content under the first of the names that has any."""
    for name in names:
        if contents := metas.get(name):
            return ", ".join(contents) if name in _JOINED else contents[0]
    return ""


def _offer(page: Page, metas: dict[str, list[str]]) -> Offer:
    """Return the offer of the structured data, what it lacks taken from the product tags."""
    offer = product_offer(page)
    if offer.complete:
        return offer
    return offer.filled_from(
        Offer(_first(metas, *_PRICE_TAGS), _first(metas, *_CURRENCY_TAGS), _first(metas, *_AVAILABILITY_TAGS))
    )


def analyse(page: Page, *, body: bool = False) -> dict[str, Any]:
    """Return every field of the specification in its order, then ``authors`` and ``headline``.

    Notes
    -----
    Read from the whole document, character references decoded, white space folded, URLs absolute
    (``card:app:url:*`` are addresses within an app and stay as written). Where a tag repeats the first
    with content wins; ``keywords``, ``robots`` and ``og:locale:alternate`` are joined. What stands
    inside ``noscript`` or an unused ``template`` is no part of the page.

    Sources: HTML Standard section 4.2, Open Graph protocol (ogp.me), schema.org Product and Offer.

    Examples
    --------
    >>> page = Page('<html lang=en><title>Tea</title><meta property="og:title" content="Tea &amp; more">')
    >>> found = analyse(page)
    >>> found["lang"], found["title"], found["og:title"]
    ('en', 'Tea', 'Tea & more')
    """
    elements = collected(page, MetadataElements)
    metas, absolute = elements.metas, page.links.absolute
    offer = _offer(page, metas)
    plain = {name: _first(metas, name) for name in _PLAIN}
    social = {field: _first(metas, *tags) for field, tags in _SOCIAL.items()}
    for field in _LINKS:
        social[field] = absolute(social[field])
    return {
        "requestUrl": page.url,
        "url": page.final_url,
        "canonical": elements.canonical,
        "lang": page.lang,
        "charset": elements.charset or page.header_charset or page.charset,
        "title": elements.title,
        "image": absolute(_first(metas, "image") or elements.properties["image"]) or social["og:image"],
        "favicons": elements.favicons,
        "author": plain["author"] or elements.properties["author"],
        "description": plain["description"],
        "keywords": plain["keywords"],
        "source": plain["source"],
        "price": decimal_price(offer.price),
        "priceCurrency": offer.currency,
        "availability": offer.availability,
        "robots": plain["robots"],
        "jsonld": jsonld(page),
        "viewport": plain["viewport"],
        "theme-color": plain["theme-color"],
        "application-name": plain["application-name"],
        "headings": elements.headings,
        "imgTags": elements.images,
        "responseBody": encodable(page.html, "?") if body else "",
        **social,
        "authors": page_authors(page),
        "headline": page_headline(page),
    }


COLLECTORS = (MetadataElements,)
