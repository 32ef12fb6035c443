"""schema.org types of a page and what is wrong with its items, for its facts: JSON-LD, microdata and RDFa."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any, Literal, NamedTuple

from webanalytics.core.operations.types import is_deep
from webanalytics.page.document import Element
from webanalytics.page.page import Page
from webanalytics.page.structured.items import (
    Graph,
    Item,
    given_kinds,
    jsonld_items,
    kinds_of,
    own_name,
    refers,
)
from webanalytics.page.structured.jsonld import (
    MAX_BLOCKS,
    MAX_DEPTH,
    MAX_LENGTH,
    jsonld_texts,
    unwrap,
)
from webanalytics.page.structured.microdata import microdata_items
from webanalytics.page.structured.offer import local_name
from webanalytics.page.structured.requirements import is_known, meant, missing
from webanalytics.page.structured.values import wrong_values

MAX_ENTRIES = 50
"""Most types, and most faults, kept per page."""

MAX_STRING = 500
"""Longest type or fault, in characters."""

MAX_THINGS = 5_000
"""Most items examined per page, and most microdata properties."""

Kind = Literal["broken", "required", "value", "unknown", "recommended"]
KINDS: tuple[Kind, ...] = ("broken", "required", "value", "unknown", "recommended")
"""What a fault is about, in the order in which faults are kept."""

MAX_LOOKUPS = 200_000
"""Most properties looked up per page: references may lead to the same items again and again."""

_BLOCK = "JSON-LD"
# Other names of keywords in schema.org's context.
_ALIASES = {"id": "@id", "type": "@type"}


class StructuredFacts(NamedTuple):
    """Types of a page's structured data, and what is wrong with it."""

    types: list[str]
    faults: list[dict[str, str]]


class _Found:
    """Types and faults, each once, in order of appearance."""

    def __init__(self) -> None:
        self.types: dict[str, None] = {}
        self._faults: dict[Kind, dict[tuple[str, str], None]] = {kind: {} for kind in KINDS}

    def add_type(self, name: str) -> None:
        if len(self.types) < MAX_ENTRIES:
            self.types[self._cut(name)] = None

    def add_fault(self, kind: Kind, name: str, problem: str) -> None:
        if len(self._faults[kind]) < MAX_ENTRIES:
            self._faults[kind][self._cut(name), self._cut(problem)] = None

    def is_full(self, kind: Kind) -> bool:
        return len(self._faults[kind]) >= MAX_ENTRIES

    def faults(self) -> list[dict[str, str]]:
        found = [
            {"type": name, "problem": problem, "kind": kind}
            for kind in KINDS
            for name, problem in self._faults[kind]
        ]
        return found[:MAX_ENTRIES]

    def _cut(self, text: str) -> str:
        text = text[:MAX_STRING]
        return text if text.isascii() else text.encode("utf-8", "replace").decode()


def structured_facts(page: Page, *, today: dt.date | None = None) -> StructuredFacts:
    """Return the types of a page's structured data, and its faults.

    Types are without their prefix; faults have ``type`` (``JSON-LD`` for a block that is not JSON),
    ``problem`` and ``kind``: broken, required, value, unknown or recommended. Dates before `today` are past.

    A block is read as RFC 8259 says, comment and CDATA wrappers around it allowed; a broken one is one fault,
    and nothing in it counts, except where a final semicolon is all that is wrong. Things with one ``@id`` are
    one thing, and what says no more than its type and ``@id`` only refers to it. Of microdata, ``itemref`` is
    not followed; of RDFa, types are read.

    >>> block = '{"@type": "Recipe", "name": "Tea"}'
    >>> facts = structured_facts(Page(f'<script type="application/ld+json">{block}</script>'))
    >>> facts.types, facts.faults[0]
    (['Recipe'], {'type': 'Recipe', 'problem': 'image is missing (recipe)', 'kind': 'required'})
    """
    found = _Found()
    day = today or dt.datetime.now(dt.UTC).date()
    blocks = _blocks(jsonld_texts(page)[:MAX_BLOCKS], found)
    items = [item for block in blocks for item in jsonld_items(block, MAX_THINGS)]
    _judge(Graph(items[:MAX_THINGS]), found, day)
    _judge(Graph(microdata_items(page, MAX_THINGS)), found, day)
    _read_rdfa(page, found)
    return StructuredFacts(list(found.types), found.faults())


def _refuse(_: str) -> None:
    raise ValueError


def _with_keywords(node: dict[str, Any]) -> dict[str, Any]:
    for alias, keyword in _ALIASES.items():
        if alias in node:
            node.setdefault(keyword, node.pop(alias))
    return node


_STRICT = json.JSONDecoder(parse_constant=_refuse, object_hook=_with_keywords)


def _read_block(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError or RecursionError."""
    value = _STRICT.decode(text)
    if text.count("{") + text.count("[") > MAX_DEPTH and is_deep(value, MAX_DEPTH):
        raise RecursionError
    return value


def _blocks(texts: list[str], found: _Found) -> list[Any]:
    """Return the values of the blocks that are JSON; the others are faults."""
    blocks = []
    for number, text in enumerate(texts, 1):
        if len(text) > MAX_LENGTH:
            continue
        try:
            try:
                blocks.append(_read_block(text))
            except ValueError:
                blocks.append(_read_block(unwrap(text)))
                if text.rstrip().endswith(";"):
                    found.add_fault(
                        "broken", _BLOCK, f"block {number} is not valid JSON: it ends in a semicolon"
                    )
        except RecursionError:
            found.add_fault("broken", _BLOCK, f"block {number} is nested too deeply")
        except ValueError:
            found.add_fault("broken", _BLOCK, f"block {number} is not valid JSON: {_reason(text)}")
    return blocks


def _reason(text: str) -> str:
    """Return why a text is not JSON and where, by its own lines."""
    try:
        _STRICT.decode(text)
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        return f"{reason}, line {error.lineno} column {error.colno}"
    except ValueError:
        pass
    return "a number that JSON does not have"


def _judge(graph: Graph, found: _Found, today: dt.date) -> None:
    """Add the types of items, and what is wrong with each of them."""
    judged: set[tuple[str, ...]] = set()
    for item in graph.items:
        node = item.node
        kinds = kinds_of(node, own_name if item.plain else local_name)
        for kind in kinds:
            found.add_type(kind)
        if item.plain and not found.is_full("unknown"):
            _names(item, kinds, found)
        key = (str(node["@id"]), item.within, *kinds) if "@id" in node else ()
        if refers(node) or key in judged or graph.looked_at > MAX_LOOKUPS:
            continue
        if key:
            judged.add(key)
        whole = graph.whole(node)
        for kind in kinds:
            for lack in missing(graph, whole, kind, item.within):
                hint = "recommended for " * (lack.level == "recommended") + lack.feature
                level: Kind = "recommended" if lack.level == "recommended" else "required"
                found.add_fault(level, kind, f"{lack.properties} is missing ({hint})")
        for problem in wrong_values(graph, whole, kinds, item.within, today):
            found.add_fault("value", kinds[0] if kinds else "item without a type", problem)


def _names(item: Item, kinds: list[str], found: _Found) -> None:
    """Add the names of an item that schema.org does not have; names with other prefixes are others'."""
    for kind in given_kinds(item.node):
        if (name := own_name(kind)) and not is_known("type", name):
            found.add_fault("unknown", name, "is not a type of schema.org" + _hint(meant("type", name)))
    for key in item.node:
        if found.is_full("unknown"):
            return
        if (name := own_name(key)) and name not in _ALIASES and not is_known("property", name):
            problem = f"{name} is not a property of schema.org{_hint(meant('property', name))}"
            found.add_fault("unknown", kinds[0] if kinds else "item without a type", problem)


def _hint(name: str) -> str:
    return f": did you mean {name}?" if name else ""


def _read_rdfa(page: Page, found: _Found) -> None:
    for element in page.having("typeof")[:MAX_THINGS]:
        for kind in (element.get("typeof") or "").split():
            if (name := own_name(kind)) and (":" in kind or "schema.org/" in _vocabulary(element)):
                found.add_type(name)


def _vocabulary(element: Element) -> str:
    """Return the vocabulary of names without a prefix."""
    for place in (element, *element.iterancestors()):
        if (vocabulary := place.get("vocab")) is not None:
            return vocabulary
    return ""
