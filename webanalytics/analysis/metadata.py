"""Metadata of a page: meta tags, Open Graph, social cards, headings, images, structured data."""

from __future__ import annotations

from typing import Any

from webanalytics.analysis.metadata_scan import DEFAULT_MAX_ENTRIES, Scan, late_language
from webanalytics.analysis.page import Page
from webanalytics.analysis.structured import product_offer
from webanalytics.analysis.structured_offer import Offer

_OPEN_GRAPH = (
    "og:url",
    "og:locale",
    "og:locale:alternate",
    "og:title",
    "og:type",
    "og:description",
    "og:determiner",
    "og:site_name",
    "og:image",
    "og:image:secure_url",
    "og:image:type",
    "og:image:width",
    "og:image:height",
    "og:image:alt",
)
_PLATFORMS = {"handset": "iphone", "tablet": "ipad", "store": "googleplay"}
_CARD = (
    "title",
    "description",
    "image",
    "image:alt",
    "card",
    "site",
    "site:id",
    "url",
    "account_id",
    "creator",
    "creator:id",
    "player",
    "player:width",
    "player:height",
    "player:stream",
)
_SOCIAL: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in _OPEN_GRAPH},
    **{f"card:{name}": (f"twitter:{name}",) for name in _CARD},
    **{
        f"card:app:{part}:{platform}": (f"twitter:app:{part}:{device}",)
        for part in ("name", "id", "url")
        for platform, device in _PLATFORMS.items()
    },
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


def _writable(text: str) -> str:
    """Return the text without half characters, which no encoding can write."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def analyse(page: Page, *, body: bool = False, max_entries: int = DEFAULT_MAX_ENTRIES) -> dict[str, Any]:
    """Return the metadata of a page.

    Parameters
    ----------
    page : Page
        The page.
    body : bool
        Fill ``responseBody`` with the page's HTML.
    max_entries : int
        Most headings, images and icons kept, each.

    Returns
    -------
    dict
        Every field of the specification in its order. All are strings, '' where the page says nothing,
        but ``favicons``, ``jsonld``, ``headings`` and ``imgTags``, which are lists of objects.

    Raises
    ------
    RowError
        When there is no HTML in the page.

    Notes
    -----
    Read from the whole document, character references decoded, white space folded, URLs absolute
    (``card:app:url:*`` are addresses within an app and stay as written). Where a tag repeats the first
    with content wins; ``keywords``, ``robots`` and ``og:locale:alternate`` are joined. What stands
    inside ``noscript`` is left out, as a browser with scripts leaves it out.

    Sources: HTML Standard section 4.2, Open Graph protocol (ogp.me), schema.org Product and Offer.

    Examples
    --------
    >>> page = Page('<html lang=en><title>Tea</title><meta property="og:title" content="Tea &amp; more">')
    >>> found = analyse(page)
    >>> found["lang"], found["title"], found["og:title"]
    ('en', 'Tea', 'Tea & more')
    """
    scan = Scan(page, _WANTED, max_entries)
    metas, absolute = scan.metas, scan.links.absolute
    offer = _offer(page, metas)
    plain = {name: _first(metas, name) for name in _PLAIN}
    social = {field: _first(metas, *tags) for field, tags in _SOCIAL.items()}
    for field in _LINKS:
        social[field] = absolute(social[field])
    return {
        "requestUrl": page.url,
        "url": page.final_url,
        "canonical": scan.canonical,
        "lang": page.lang or late_language(page),
        "charset": scan.charset or page.header_charset or page.charset,
        "title": scan.title,
        "image": absolute(_first(metas, "image") or scan.properties["image"]) or social["og:image"],
        "favicons": scan.favicons,
        "author": plain["author"] or scan.properties["author"],
        "description": plain["description"],
        "keywords": plain["keywords"],
        "source": plain["source"],
        "price": offer.price,
        "priceCurrency": offer.currency,
        "availability": offer.availability,
        "robots": plain["robots"],
        "jsonld": page.jsonld,
        "viewport": plain["viewport"],
        "theme-color": plain["theme-color"],
        "application-name": plain["application-name"],
        "headings": scan.headings,
        "imgTags": scan.images,
        "responseBody": _writable(page.html) if body else "",
        **social,
    }
