"""What search engines require of items, by a table in the package, for the facts of structured data.

Each row of ``rich-results.csv`` asks items of some types for a property:

``feature``
    the rich result; ``rich-results-retired.csv`` lists those that are shown no longer, which ask for nothing;
``types``
    names of types: ``Event*`` with all below it in schema.org's hierarchy, ``-Festival`` without it;
``within``
    where the item must stand: ``top`` (alone, in ``@graph``, or as the main entity of a page), ``listed`` (in
    an ItemList), or properties of other items; anywhere where it is empty;
``when``
    what the item must have for the row to apply, so that no page is asked for a rich result that it never
    aimed at: paths that are given, ``!path`` that is not, ``path=Value``, ``path!=Value``;
``level``
    required or recommended;
``properties``
    paths, of which one suffices: ``offers.price|offers.priceSpecification.price``. What stands before the
    last dot is looked for in every object of that property, of the types in parentheses only
    (``offers(Offer)``), or in all but the last one (``(but-last)``); where it has none, the row asks for
    nothing;
``source``, ``read``
    the page that requires it, and the day on which its table was read or transcribed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from webanalytics.page.structured.items import Graph, Node, kinds_of, refers
from webanalytics.page.structured.offer import local_name
from webanalytics.page.structured.vocabulary import rows_of, types_named

_PLACES = {
    "top": ("", "mainEntity", "mainEntityOfPage"),
    "listed": ("item", "itemListElement"),
}
_STEP = re.compile(r"([\w-]+)(?:\(([^)]*)\))?")
_BUT_LAST = "but-last"


class Step(NamedTuple):
    """One property of a path, and which of its objects are meant."""

    name: str
    only: str = ""


Path = tuple[Step, ...]


class Condition(NamedTuple):
    """What an item must have, or must not have, for a requirement to apply."""

    paths: tuple[Path, ...]
    value: str = ""
    wanted: bool = True


class Requirement(NamedTuple):
    """One row of the table; see the module for its columns."""

    feature: str
    types: str
    within: frozenset[str]
    when: tuple[Condition, ...]
    level: str
    paths: tuple[Path, ...]
    source: str
    read: str


class Missing(NamedTuple):
    """A property that an item lacks."""

    feature: str
    level: str
    properties: str


@cache
def requirements() -> tuple[Requirement, ...]:
    """Return the table.

    Examples
    --------
    >>> [row.paths for row in requirements() if row.feature == "recipe" and row.level == "required"]
    [((Step(name='name', only=''),),), ((Step(name='image', only=''),),)]
    """
    return tuple(
        Requirement(
            row["feature"],
            row["types"],
            frozenset(name for place in row["within"].split() for name in _PLACES.get(place, (place,))),
            tuple(map(_condition, row["when"].split())),
            row["level"],
            _paths(row["properties"]),
            row["source"],
            row["read"],
        )
        for row in rows_of("rich-results.csv")
    )


def _paths(text: str) -> tuple[Path, ...]:
    return tuple(tuple(Step(*step) for step in _STEP.findall(path)) for path in text.split("|"))


def _condition(text: str) -> Condition:
    path, equals, value = text.partition("=")
    wanted = not path.startswith("!") and not path.endswith("!")
    return Condition(_paths(path.strip("!")), value if equals else "", wanted)


@cache
def _by_type() -> dict[str, tuple[Requirement, ...]]:
    found: dict[str, list[Requirement]] = {}
    for requirement in requirements():
        for kind in types_named(requirement.types):
            found.setdefault(kind, []).append(requirement)
    return {kind: tuple(asked) for kind, asked in found.items()}


def has_requirements(kind: str) -> bool:
    """Return whether there are requirements for items of a type."""
    return kind in _by_type()


def missing(graph: Graph, node: Node, kind: str, within: str) -> Iterator[Missing]:
    """Yield what an item lacks as one of a type; a property once, for the first feature that asks for it.

    Examples
    --------
    >>> node = {"name": "Tea", "offers": {"@type": "Offer", "price": 5}}
    >>> for lack in list(missing(Graph([]), node, "Product", ""))[:3]:
    ...     print(lack.feature, lack.level, lack.properties)
    merchant listing required image
    merchant listing required offers.priceCurrency or offers.priceSpecification.priceCurrency
    merchant listing recommended description
    >>> list(missing(Graph([]), {}, "Product", "isRelatedTo"))
    []
    """
    told: set[str] = set()
    asked = _by_type().get(kind, ())
    for level in ("required", "recommended"):
        for requirement in asked:
            if (
                requirement.level == level
                and (not requirement.within or within in requirement.within)
                and _lacks(graph, node, requirement.paths)
                and all(_holds(graph, node, condition) for condition in requirement.when)
            ):
                properties = named(requirement.paths)
                if properties not in told:
                    told.add(properties)
                    yield Missing(requirement.feature, level, properties)


def named(paths: tuple[Path, ...]) -> str:
    """Return paths as a reader wants them.

    Examples
    --------
    >>> named(_paths("latitude|geo(GeoCoordinates).latitude"))
    'latitude or geo.latitude'
    """
    names = [".".join(step.name for step in path) for path in paths]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _chosen(graph: Graph, node: Node, step: Step) -> list[Any]:
    """Return the values of a property that a step means."""
    values = graph.values(node, step.name)
    if step.only == _BUT_LAST:
        return values[:-1]
    if step.only:
        types = types_named(step.only.replace("/", " "))
        values = [part for part in values if isinstance(part, dict) and _is_one(part, types)]
    return values


def _is_one(node: Node, types: frozenset[str]) -> bool:
    kinds = kinds_of(node)
    return not kinds or not types.isdisjoint(kinds)


def _lacks(graph: Graph, node: Node, paths: tuple[Path, ...]) -> bool:
    """Return whether none of the paths is given, in one of the objects that they all go through."""
    first = {path[0] for path in paths}
    if len(first) == 1 and all(len(path) > 1 for path in paths):
        rest = tuple(path[1:] for path in paths)
        objects = (part for part in _chosen(graph, node, *first) if isinstance(part, dict))
        # What is only referred to may be described on another page.
        return any(_lacks(graph, part, rest) for part in objects if not refers(part))
    return not any(_values(graph, node, path) for path in paths)


def _values(graph: Graph, node: Node, path: Path) -> list[Any]:
    """Return the values at the end of a path."""
    found: list[Any] = [node]
    for step in path:
        found = [value for part in found if isinstance(part, dict) for value in _chosen(graph, part, step)]
    return found


def _holds(graph: Graph, node: Node, condition: Condition) -> bool:
    found = [value for path in condition.paths for value in _values(graph, node, path)]
    if condition.value:
        return any(_is(value, condition.value) for value in found) == condition.wanted
    return bool(found) == condition.wanted


def _is(value: Any, wanted: str) -> bool:
    text = local_name(value) if isinstance(value, str) else str(value)
    return text.casefold() == wanted.casefold()
