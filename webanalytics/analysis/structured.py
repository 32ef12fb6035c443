"""Structured data of a page: its JSON-LD blocks and the product it offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml.html import HtmlElement

from webanalytics.analysis.page import Page
from webanalytics.analysis.structured_json import DEFAULT_MAX_DEPTH, DEFAULT_MAX_LENGTH, read_json
from webanalytics.analysis.structured_microdata import microdata_offer
from webanalytics.analysis.structured_offer import Offer, jsonld_offer

DEFAULT_MAX_BLOCKS = 500
"""Most JSON-LD blocks that are read of one page."""

DEFAULT_MAX_ITEMS = 5_000
"""Most JSON-LD items that are kept of one page."""

_KEPT = "jsonld_texts"
_GRAPH_ENVELOPE = frozenset({"@context", "@graph", "@id"})


def is_jsonld(script: HtmlElement) -> bool:
    """Tell whether a script element is a JSON-LD block.

    Notes
    -----
    Its ``type`` is ``application/ld+json``, in any letter case and with any parameters (JSON-LD 1.1,
    section 7).
    """
    kind = script.get("type")
    return kind is not None and kind.strip().lower().startswith("application/ld+json")


def jsonld_texts(page: Page, scripts: Iterable[HtmlElement] | None = None) -> list[str]:
    """Return the text of each JSON-LD block of the page.

    Parameters
    ----------
    page : Page
        The page.
    scripts : iterable of HtmlElement, optional
        Its JSON-LD elements, where a walk over the page has met them already.
    """
    # Kept with the page: a walk over the whole tree costs more than reading the JSON.
    kept = vars(page)
    if _KEPT not in kept:
        found = filter(is_jsonld, page.tree.iter("script")) if scripts is None else scripts
        kept[_KEPT] = [text for script in found if (text := script.text) and not text.isspace()]
    texts: list[str] = kept[_KEPT]
    return texts


def flatten(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the items of a JSON-LD value: arrays and ``@graph`` opened, all but objects dropped.

    An object that says something of its own besides its ``@graph`` stays as an item without it.

    Examples
    --------
    >>> list(flatten({"@context": "https://schema.org", "@graph": [{"@type": "Person"}, {"@type": "Book"}]}))
    [{'@type': 'Person'}, {'@type': 'Book'}]
    """
    if isinstance(value, list):
        for element in value:
            yield from flatten(element)
    elif isinstance(value, dict):
        graph = value.get("@graph")
        if not isinstance(graph, (list, dict)):
            yield value
            return
        if value.keys() - _GRAPH_ENVELOPE:
            yield {key: part for key, part in value.items() if key != "@graph"}
        yield from flatten(graph)


def read_jsonld(
    page: Page,
    *,
    max_blocks: int = DEFAULT_MAX_BLOCKS,
    max_items: int = DEFAULT_MAX_ITEMS,
    max_length: int = DEFAULT_MAX_LENGTH,
    max_depth: int = DEFAULT_MAX_DEPTH,
) -> list[dict[str, Any]]:
    """Return the JSON-LD items of a page in document order.

    Parameters
    ----------
    page : Page
        The page.
    max_blocks, max_items : int
        Most blocks read and most items kept.
    max_length, max_depth : int
        Longest block read, in characters, and deepest nesting kept.

    Returns
    -------
    list of dict
        The items of every block that can be read; a broken block loses nothing but itself.

    Examples
    --------
    >>> read_jsonld(Page('<script type="application/ld+json">{"@type": "Book",}</script>'))
    [{'@type': 'Book'}]
    """
    items: list[dict[str, Any]] = []
    for text in jsonld_texts(page)[:max_blocks]:
        items.extend(flatten(read_json(text, max_length=max_length, max_depth=max_depth)))
        if len(items) >= max_items:
            return items[:max_items]
    return items


def _jsonld_with_literals(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the items of the blocks that may hold an offer, numbers as they are written."""
    items: list[dict[str, Any]] = []
    for text in texts:
        if 'rice"' in text or 'vailability"' in text or "&quot;" in text:
            items.extend(flatten(read_json(text, literals=True)))
    return items


def product_offer(page: Page) -> Offer:
    """Return price, currency and availability as the page's schema.org data gives them.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    Offer
        As written on the page; empty strings where it says nothing. JSON-LD goes before microdata.

    Examples
    --------
    >>> product_offer(Page('<script type="application/ld+json">{"@type": "Product", "offers": '
    ...                    '{"price": 19.90, "priceCurrency": "EUR"}}</script>'))
    Offer(price='19.90', currency='EUR', availability='')
    """
    items = _jsonld_with_literals(jsonld_texts(page)[:DEFAULT_MAX_BLOCKS])
    offer = jsonld_offer(items) if items else Offer()
    return offer if offer.complete else offer.filled_from(microdata_offer(page))
