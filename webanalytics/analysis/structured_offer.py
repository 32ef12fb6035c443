"""The offer of a product in schema.org data: price, currency and availability."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

PRODUCT_TYPES = frozenset(
    {
        "Product",
        "ProductGroup",
        "ProductModel",
        "IndividualProduct",
        "SomeProducts",
        "ProductCollection",
        "Vehicle",
        "Car",
        "Motorcycle",
    }
)
OFFER_TYPES = frozenset({"Offer", "AggregateOffer", "OfferForPurchase", "OfferForLease", "Demand"})
_LIST_PRICES = ("ListPrice", "StrikethroughPrice", "MSRP", "SRP", "InvoicePrice")
# What such a property holds is about another thing than the one the page offers.
_ELSEWHERE = frozenset(
    {
        "isRelatedTo",
        "isSimilarTo",
        "isAccessoryOrSparePartFor",
        "isConsumableFor",
        "review",
        "reviews",
        "shippingDetails",
        "hasMerchantReturnPolicy",
        "addOn",
    }
)
_SEARCH_LIMIT = 5_000


class Offer(NamedTuple):
    """What a page says about buying its product; '' where it says nothing."""

    price: str = ""
    currency: str = ""
    availability: str = ""

    @property
    def complete(self) -> bool:
        """Whether all three are known."""
        return bool(self.price and self.currency and self.availability)

    def filled_from(self, other: Offer) -> Offer:
        """Return this offer with what it lacks taken from another.

        A currency belongs to its price: it is not taken from an offer with another price.
        """
        same_price = not self.price or not other.price or self.price == other.price
        return Offer(
            self.price or other.price,
            self.currency or (other.currency if same_price else ""),
            self.availability or other.availability,
        )


def local_name(name: object) -> str:
    """Return the last part of a schema.org type or value.

    Examples
    --------
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
    """Return a plain value as folded text; of a list the first that says something."""
    if isinstance(value, list):
        return next(filter(None, map(_text, value[:10])), "")
    if isinstance(value, dict):
        return _text(value.get("@value") or value.get("@id") or value.get("name"))
    # The literal reader gives numbers as text, so that what is no text here is no price either.
    return " ".join(value.split()) if isinstance(value, str) else ""


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
    """Yield all objects, level by level: what stands further out is more about the page."""
    level, seen = list(items), 0
    while level and seen < _SEARCH_LIMIT:
        yield from level
        seen += len(level)
        level = [child for item in level for child in _children(item)]


def jsonld_offer(items: list[dict[str, Any]]) -> Offer:
    """Return the offer of the first product among JSON-LD items that has a price.

    Parameters
    ----------
    items : list of dict
        The items of the page, numbers as text.

    Returns
    -------
    Offer
        Values as written. Products go before other things with offers (events, courses) and these
        before offers that stand alone; where nothing has a price, the first that says anything.

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
    best = Offer()
    for candidate in (*products, *others, *alone):
        offer = _read(candidate, by_id)
        if offer.price:
            return offer
        best = best if any(best) else offer
    return best
