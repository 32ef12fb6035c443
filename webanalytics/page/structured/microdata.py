"""The items of a page's microdata, in the shape of its JSON-LD, for judging both alike."""

from __future__ import annotations

from functools import cache
from typing import Any

from webanalytics.page.document import Document, Element
from webanalytics.page.page import Page
from webanalytics.page.structured.items import Item, Node, own_name, property_name
from webanalytics.page.structured.offer import item_scope, local_name, property_value
from webanalytics.page.structured.requirements import requirements
from webanalytics.page.structured.values import LOOKED_AT

# On the way back from attributes (`/..`) time would grow with the square of their number.

GIVEN = "given"
"""The value of a property of which nobody asks more than whether it is given."""


@cache
def _looked_at() -> frozenset[str]:
    """Return the properties whose values are read."""
    conditions = (condition for requirement in requirements() for condition in requirement.when)
    return LOOKED_AT.union(path[-1].name for found in conditions if found.value for path in found.paths)


def microdata_items(page: Page, max_things: int) -> list[Item]:
    """Return the items of schema.org in document order.

    One whose properties are partly elsewhere (``itemref``) is given as a reference, of which nothing is
    asked; so are all where the page has more properties than `max_things`.

    >>> html = '<p itemscope itemtype="https://schema.org/Offer"><b itemprop="price">5</b></p>'
    >>> microdata_items(Page(html), 9)
    [Item(node={'@type': ['https://schema.org/Offer'], 'price': ['5']}, within='', plain=True)]
    """
    items: list[Item] = []
    nodes: dict[Element | None, Node] = {}
    elements = page.having("itemprop")
    for scope in page.having("itemscope")[:max_things]:
        kinds = [kind for kind in (scope.get("itemtype") or "").split() if "schema.org/" in kind]
        if not any(map(local_name, kinds)):
            continue
        node: Node = {"@type": kinds}
        if scope.get("itemref") is not None or len(elements) > max_things:
            node["@id"] = None
        else:
            nodes[scope] = node
        within = property_name(next(iter((scope.get("itemprop") or "").split()), ""))
        items.append(Item(node, within))
    if nodes:
        _fill(page.document, nodes, elements)
    return items


def _fill(document: Document, nodes: dict[Element | None, Node], elements: list[Element]) -> None:
    """Give items the properties that stand in them."""
    looked_at = _looked_at()
    for element in elements:
        owner = nodes.get(item_scope(element))
        if owner is None:
            continue
        names = list(filter(None, map(own_name, (element.get("itemprop") or "").split())))
        value: Any = GIVEN
        if element.get("itemscope") is not None:
            value = nodes.get(element, GIVEN)
        elif not looked_at.isdisjoint(names):
            value = property_value(document, element)
        for name in names:
            owner.setdefault(name, []).append(value)
