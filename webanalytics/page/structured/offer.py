"""The product offer of a page: price, currency and availability, from its JSON-LD, else its microdata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from webanalytics.page.document import Document, Element
from webanalytics.page.page import Page, fold
from webanalytics.page.structured.jsonld import (
    MAX_BLOCKS,
    flatten,
    jsonld_texts,
    read_json,
    without_references,
)

# fmt: off
PRODUCT_TYPES = frozenset({
    "Product", "ProductGroup", "ProductModel", "IndividualProduct", "SomeProducts", "ProductCollection",
    "Vehicle", "Car", "Motorcycle",
})
OFFER_TYPES = frozenset({"Offer", "AggregateOffer", "OfferForPurchase", "OfferForLease", "Demand"})
_LIST_PRICES = ("ListPrice", "StrikethroughPrice", "MSRP", "SRP", "InvoicePrice")
# The value of such a property is about another item than the one the page offers.
_ELSEWHERE = frozenset({
    "isRelatedTo", "isSimilarTo", "isAccessoryOrSparePartFor", "isConsumableFor", "review", "reviews",
    "shippingDetails", "hasMerchantReturnPolicy", "addOn",
})
# fmt: on
_SEARCH_LIMIT = 5_000
_PRICE_DECIMALS = 4
# From 1 upwards: a smaller price may be one of a fraction of a cent.
_FRACTION = re.compile(r"[1-9][0-9]{0,14}\.[0-9]{10,40}")


class Offer(NamedTuple):
    """What a page says about buying its product; '' for missing parts."""

    price: str = ""
    currency: str = ""
    availability: str = ""

    @property
    def complete(self) -> bool:
        """Whether all three are known."""
        return bool(self.price and self.currency and self.availability)

    def filled_from(self, other: Offer) -> Offer:
        """Return this offer with its missing parts taken from another.

        A currency belongs to its price: it is not taken from an offer with another price.
        """
        same_price = not self.price or not other.price or self.price == other.price
        return Offer(
            self.price or other.price,
            self.currency or (other.currency if same_price else ""),
            self.availability or other.availability,
        )


def decimal_price(price: str) -> str:
    """Return a price as a decimal where a page wrote the binary fraction that its program had.

    >>> [decimal_price(text) for text in ("299.99000000000001", "19.989999771118164", "19.90", "1.234,50")]
    ['299.99', '19.99', '19.90', '1.234,50']
    """
    return (
        f"{float(price):.{_PRICE_DECIMALS}f}".rstrip("0").rstrip(".") if _FRACTION.fullmatch(price) else price
    )


def local_name(name: object) -> str:
    """Return the last part of a schema.org type or value.

    >>> local_name("https://schema.org/Offer"), local_name("schema:Product")
    ('Offer', 'Product')
    """
    return (
        name.strip().replace("#", "/").replace(":", "/").rpartition("/")[2] if isinstance(name, str) else ""
    )


def types_of(item: dict[str, Any]) -> set[str]:
    """Return the local names of an item's types."""
    kinds = item.get("@type")
    return {local_name(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])}


def _text(value: Any) -> str:
    """Return a plain value as folded text; of a list the first non-empty one."""
    if isinstance(value, list):
        return next(filter(None, map(_text, value[:10])), "")
    if isinstance(value, dict):
        return _text(value.get("@value") or value.get("@id") or value.get("name"))
    # The literal reader gives numbers as text, so that what is no text here is no price either.
    return " ".join(without_references(value).split()) if isinstance(value, str) else ""


def _objects(value: Any, by_id: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the objects of a property, references to an ``@id`` of the page resolved."""
    found = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, dict)]
    return [by_id.get(str(part["@id"]), part) if part.keys() == {"@id"} else part for part in found]


def _read(offer: dict[str, Any], by_id: dict[str, dict[str, Any]], depth: int = 3) -> Offer:
    """Read one offer, its price specifications and the offers it gathers."""
    price = _text(offer.get("price")) or _text(offer.get("lowPrice"))
    read = Offer(price, _text(offer.get("priceCurrency")), _text(offer.get("availability")))
    if read.complete or not depth:
        return read
    for part in _specifications(offer, by_id):
        price = _text(part.get("price")) or _text(part.get("minPrice"))
        read = read.filled_from(Offer(price, _text(part.get("priceCurrency"))))
        if read.price:
            break
    for part in _objects(offer.get("offers"), by_id):
        if not read.complete:
            read = read.filled_from(_read(part, by_id, depth - 1))
    return read


def _specifications(offer: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the price specifications of an offer, struck-out prices last."""
    found = _objects(offer.get("priceSpecification"), by_id)
    return sorted(found, key=lambda part: _text(part.get("priceType")).endswith(_LIST_PRICES))


def _children(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects directly inside an item."""
    for key, value in item.items():
        if key not in _ELSEWHERE:
            for part in value if isinstance(value, list) else (value,):
                if isinstance(part, dict):
                    yield part


def _descendants(items: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield all objects, level by level: outer ones are more about the page."""
    level, seen = list(items), 0
    while level and seen < _SEARCH_LIMIT:
        yield from level
        seen += len(level)
        level = [child for item in level for child in _children(item)]


def jsonld_offer(items: list[dict[str, Any]]) -> Offer:
    """Return the offer of the first product among JSON-LD items that has a price.

    Values are as written, numbers are text. Products go before other things with offers (events, courses)
    and these before offers that stand alone; where nothing has a price, the first that says anything.

    Notes
    -----
    schema.org: Product, ProductGroup (``hasVariant``), Offer, AggregateOffer (``lowPrice``),
    ``priceSpecification``, of which a list price or struck-out price counts last.

    Examples
    --------
    >>> offers = {"@type": "AggregateOffer", "lowPrice": "5", "priceCurrency": "EUR"}
    >>> jsonld_offer([{"@type": "Product", "offers": offers}])
    Offer(price='5', currency='EUR', availability='')
    """
    objects = list(_descendants(items))
    by_id = {
        item["@id"]: item for item in reversed(objects) if len(item) > 1 and isinstance(item.get("@id"), str)
    }
    products: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    alone: list[dict[str, Any]] = []
    for item in objects:
        kinds = types_of(item)
        if kinds & OFFER_TYPES:
            alone.append(item)
        elif offers := _objects(item.get("offers"), by_id):
            (products if kinds & PRODUCT_TYPES else others).extend(offers)
    return _best(_read(candidate, by_id) for candidate in (*products, *others, *alone))


_NAMES_PRICE = re.compile("rice|vailability")
_CONTENT_ATTRIBUTES = ("content", "href", "src", "data", "value", "datetime")
_NESTED_SPECIFICATIONS = 2
_OFFER_SCOPES = OFFER_TYPES | PRODUCT_TYPES | {""}
MAX_PROPERTIES = 2_000
"""Most microdata properties that are looked at."""


def item_scope(element: Element) -> Element | None:
    """Return the nearest element around this one that opens an item."""
    for ancestor in element.iterancestors():
        if ancestor.get("itemscope") is not None:
            return ancestor
    return None


def item_type(scope: Element | None) -> str:
    """Return the local name of an item's first type, '' where it has none."""
    kinds = (scope.get("itemtype") or "").split() if scope is not None else []
    return local_name(kinds[0]) if kinds else ""


def property_value(document: Document, element: Element) -> str:
    """Return the value of a property: the attribute made for machines, else the text.

    Notes
    -----
    HTML Standard, section 5.2.4 "Values"; besides, ``content`` counts on every element, as pages write it.
    """
    for attribute in _CONTENT_ATTRIBUTES:
        if (value := element.get(attribute)) is not None:
            return fold(value)
    return fold(document.text_of(element))


def _offer_scope(element: Element) -> tuple[Element | None, str]:
    """Return the item that a price belongs to and its type; a specification belongs to its offer."""
    scope = item_scope(element)
    for _ in range(_NESTED_SPECIFICATIONS):
        if scope is not None and item_type(scope).endswith("PriceSpecification"):
            scope = item_scope(scope)
    return scope, item_type(scope)


def microdata_offer(page: Page) -> Offer:
    """Return the first offer with a price in the page's microdata, else the first non-empty one.

    A property counts within a schema.org Product or Offer, or within an item without any type.
    ``itemref`` is not followed.

    >>> microdata_offer(Page('<div itemscope itemtype="https://schema.org/Offer">'
    ...                      '<b itemprop="price" content="19.90">19,90</b></div>')).price
    '19.90'
    """
    offers: dict[Element | None, dict[str, str]] = {}
    named = (
        element for element in page.having("itemprop") if _NAMES_PRICE.search(element.get("itemprop") or "")
    )
    for element in islice(named, MAX_PROPERTIES):
        scope, kind = _offer_scope(element)
        if kind not in _OFFER_SCOPES:
            continue
        value = property_value(page.document, element)
        for name in (element.get("itemprop") or "").split() if value else ():
            offers.setdefault(scope, {}).setdefault(name, value)
    return _best(map(_microdata_values, offers.values()))


def _microdata_values(values: dict[str, str]) -> Offer:
    """Return the offer given by an item's properties."""
    price = values.get("price") or values.get("lowPrice", "")
    return Offer(price, values.get("priceCurrency", ""), values.get("availability", ""))


def _best(offers: Iterable[Offer]) -> Offer:
    """Return the first offer with a price, else the first non-empty one."""
    best = Offer()
    for offer in offers:
        if offer.price:
            return offer
        best = best if any(best) else offer
    return best


def describes_page(element: Element) -> bool:
    """Return whether a property is one of an outermost item, not of its author, publisher or review."""
    scope = item_scope(element)
    return scope is None or scope.get("itemprop") is None


def _jsonld_with_literals(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the items of the blocks that may hold an offer, numbers as they are written."""
    items: list[dict[str, Any]] = []
    for text in texts:
        if 'rice"' in text or 'vailability"' in text or "&quot;" in text:
            items.extend(flatten(read_json(text, literals=True)))
    return items


def product_offer(page: Page) -> Offer:
    """Return price, currency and availability as the page's schema.org data gives them.

    As written on the page; empty strings where it says nothing. JSON-LD goes before microdata.

    >>> product_offer(Page('<script type="application/ld+json">{"@type": "Product", "offers": '
    ...                    '{"price": 19.90, "priceCurrency": "EUR"}}</script>'))
    Offer(price='19.90', currency='EUR', availability='')
    """
    items = _jsonld_with_literals(jsonld_texts(page)[:MAX_BLOCKS])
    offer = jsonld_offer(items) if items else Offer()
    return offer if offer.complete else offer.filled_from(microdata_offer(page))
