"""The items of a page's structured data as one shape, whatever they are written in, for judging them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from webanalytics.page.structured.offer import local_name

Node = dict[str, Any]

_REFERENCE = frozenset(("@id", "@type", "@context"))
MAX_VALUES = 200
"""Most values of one property that are looked at."""

MAX_KINDS = 10
"""Most types of one item."""

_EMPTY: tuple[Any, ...] = (None, "", [], {})


class Item(NamedTuple):
    """An object of structured data."""

    node: Node  # its properties, and its types under ``@type``
    within: str  # the property of another item whose value it is, '' for none
    plain: bool = True  # whether every name without a prefix in it is one of schema.org


def property_name(key: str) -> str:
    """Return the name of a property without its prefix."""
    return local_name(key) if ":" in key else key


def own_name(name: Any) -> str:
    """Return a name without the prefix of schema.org, '' for a keyword or a name of another vocabulary.

    >>> [own_name(name) for name in ("schema:name", "http://schema.org/name", "name", "foaf:name", "@id")]
    ['name', 'name', 'name', '', '']
    """
    if not isinstance(name, str) or name.startswith("@"):
        return ""
    if ":" in name or "/" in name:
        return local_name(name) if name.startswith("schema:") or "schema.org/" in name else ""
    return name.strip()


def kinds_of(node: Node, name_of: Callable[[Any], str] = local_name) -> list[str]:
    """Return the names of an item's types."""
    return [name for kind in given_kinds(node) if (name := name_of(kind))]


def given_kinds(node: Node) -> list[Any]:
    """Return an item's types as they are written."""
    kinds = node.get("@type")
    return kinds[:MAX_KINDS] if isinstance(kinds, list) else [kinds]


def refers(node: Node) -> bool:
    """Return whether an object only refers to another one."""
    return "@id" in node and node.keys() <= _REFERENCE


def parts(value: Any) -> list[Any]:
    """Return the values of a property, and the ``@list``, ``@set`` or ``@value`` of each."""
    found = value[:MAX_VALUES] if isinstance(value, list) else [value]
    opened: list[Any] = []
    for part in found:
        if isinstance(part, dict) and "@value" in part:
            opened.append(part["@value"])
        elif isinstance(part, dict) and isinstance(listed := part.get("@list", part.get("@set")), list):
            opened.extend(listed)
        else:
            opened.append(part)
    return [part for part in opened[:MAX_VALUES] if part not in _EMPTY]


class Graph:
    """The items of a page; several with one ``@id`` are one, and references to it are followed."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.looked_at = 0
        self._by_id: dict[str, Node] = {}
        for node, _, _ in items:
            identity = node.get("@id")
            if isinstance(identity, str) and not refers(node):
                merged = self._by_id.setdefault(identity, {"@type": []})
                merged["@type"].extend(kind for kind in kinds_of(node) if kind not in merged["@type"])
                for key, value in _bare(node).items():
                    if key != "@type" and value not in _EMPTY:
                        merged.setdefault(key, value)

    def whole(self, node: Node) -> Node:
        """Return all that the page says of an item, the names of its properties without prefixes."""
        identity = node.get("@id")
        merged = self._by_id.get(identity) if isinstance(identity, str) else None
        return _bare(node) if merged is None else merged

    def values(self, node: Node, name: str) -> list[Any]:
        """Return the non-empty values of a property, objects resolved."""
        value = node.get(name)
        if value is None and name == "review":
            value = node.get("reviews")
        self.looked_at += 1
        return [
            self.whole(part) if isinstance(part, dict) else part
            for part in (() if value is None else parts(value))
        ]


def _bare(node: Node) -> Node:
    if not any(":" in key for key in node):
        return node
    return {property_name(key): value for key, value in node.items()}


def jsonld_items(block: Any, max_items: int) -> Iterator[Item]:
    """Yield the objects of a block in order, those of other vocabularies left out."""
    waiting: list[tuple[Any, str, bool]] = [(block, "", True)]
    while waiting and max_items:
        value, within, plain = waiting.pop()
        if isinstance(value, list):
            waiting.extend(
                (part, within, plain) for part in reversed(value) if isinstance(part, (dict, list))
            )
        elif isinstance(value, dict) and "@value" not in value:
            max_items -= 1
            if "@context" in value:
                context = value["@context"]
                if "schema.org" not in str(context).lower():
                    continue
                plain = plain and _is_plain(context)
            yield Item(value, within, plain)
            waiting.extend(
                (part, _within(key, within), plain)
                for key, part in reversed(value.items())
                if isinstance(part, (dict, list)) and key != "@context"
            )


def _is_plain(context: Any) -> bool:
    """Return whether a context is schema.org's alone, so that it defines no names of its own."""
    found = context if isinstance(context, list) else [context]
    return (
        all(
            isinstance(part, str) or (isinstance(part, dict) and all(key.startswith("@") for key in part))
            for part in found
        )
        and sum(isinstance(part, str) for part in found) <= 1
    )


def _within(key: str, within: str) -> str:
    """Return the property by which a value belongs to its item; ``@graph`` and ``@list`` are none."""
    if key == "@graph":
        return ""
    return within if key.startswith("@") else property_name(key)
