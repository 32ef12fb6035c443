"""Microdata of a page: what ``itemprop`` attributes say about its product and its image."""

from __future__ import annotations

from lxml import etree
from lxml.html import HtmlElement

from webanalytics.analysis.page import Page, fold
from webanalytics.analysis.structured_offer import OFFER_TYPES, PRODUCT_TYPES, Offer, local_name

_PRICES = etree.XPath(
    "//*[@itemprop][contains(@itemprop, 'rice') or contains(@itemprop, 'vailability')]", smart_strings=False
)
_CONTENT_ATTRIBUTES = ("content", "href", "src", "data", "value", "datetime")
_NESTED_SPECIFICATIONS = 2
_OFFER_SCOPES = OFFER_TYPES | PRODUCT_TYPES | {""}
DEFAULT_MAX_PROPERTIES = 2_000
"""Most microdata properties that are looked at."""


def may_name_price(page: Page) -> bool:
    """Tell from the page's text alone whether its microdata can name a price or availability.

    Notes
    -----
    React writes the attribute as ``itemProp``. Looking through the text costs an eighth of a walk.
    """
    text = page.html
    return ("itemprop" in text or "itemProp" in text) and ("rice" in text or "vailability" in text)


def item_scope(element: HtmlElement) -> HtmlElement | None:
    """Return the nearest element around this one that opens an item."""
    for ancestor in element.iterancestors():
        if ancestor.get("itemscope") is not None:
            return ancestor
    return None


def item_type(scope: HtmlElement | None) -> str:
    """Return the local name of an item's first type, '' where it has none."""
    kinds = (scope.get("itemtype") or "").split() if scope is not None else []
    return local_name(kinds[0]) if kinds else ""


def property_value(element: HtmlElement) -> str:
    """Return the value of a property: the attribute made for machines, else the text.

    Notes
    -----
    HTML Standard, section 5.2.4 "Values"; besides, ``content`` counts on every element, as pages write it.
    """
    for attribute in _CONTENT_ATTRIBUTES:
        if (value := element.get(attribute)) is not None:
            return fold(value)
    return fold(etree.tostring(element, method="text", encoding="unicode", with_tail=False))


def _offer_scope(element: HtmlElement) -> tuple[HtmlElement | None, str]:
    """Return the item that a price belongs to and its type; a specification belongs to its offer."""
    scope = item_scope(element)
    for _ in range(_NESTED_SPECIFICATIONS):
        if scope is not None and item_type(scope).endswith("PriceSpecification"):
            scope = item_scope(scope)
    return scope, item_type(scope)


def microdata_offer(page: Page, *, max_properties: int = DEFAULT_MAX_PROPERTIES) -> Offer:
    """Return the first offer with a price in the page's microdata.

    Parameters
    ----------
    page : Page
        The page.
    max_properties : int
        Most properties that are looked at.

    Returns
    -------
    Offer
        Values as written; where no offer has a price, the first that says anything.

    Notes
    -----
    A property counts within a schema.org Product or Offer, or within an item without any type.
    ``itemref`` is not followed.

    Examples
    --------
    >>> microdata_offer(Page('<div itemscope itemtype="https://schema.org/Offer">'
    ...                      '<b itemprop="price" content="19.90">19,90</b></div>')).price
    '19.90'
    """
    if not may_name_price(page):
        return Offer()
    offers: dict[HtmlElement | None, dict[str, str]] = {}
    for element in _PRICES(page.tree)[:max_properties]:
        scope, kind = _offer_scope(element)
        if kind not in _OFFER_SCOPES:
            continue
        value = property_value(element)
        for name in element.get("itemprop").split() if value else ():
            offers.setdefault(scope, {}).setdefault(name, value)
    return _best([_offer(values) for values in offers.values()])


def _offer(values: dict[str, str]) -> Offer:
    """Return the offer that an item's properties make."""
    price = values.get("price") or values.get("lowPrice", "")
    return Offer(price, values.get("priceCurrency", ""), values.get("availability", ""))


def _best(offers: list[Offer]) -> Offer:
    """Return the first offer with a price, else the first that says anything."""
    return next(
        (offer for offer in offers if offer.price), next((offer for offer in offers if any(offer)), Offer())
    )


def describes_page(element: HtmlElement) -> bool:
    """Tell whether a property is one of an outermost item, not of its author, publisher or review."""
    scope = item_scope(element)
    return scope is None or scope.get("itemprop") is None
