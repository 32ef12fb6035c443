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

The names of schema.org's vocabulary are read once, when first asked for.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from webanalytics.page.structured.items import Graph, Node, kinds_of, refers
from webanalytics.page.structured.offer import local_name

DATA = resources.files("webanalytics.page") / "data"

Kind = Literal["type", "property"]

_LONGEST = 60
_CLOSE = 0.8
# Names that the declarations leave out: one that schema.org has retired, and two of Google's documentation.
_BESIDES = frozenset({"interactionCount", "xPath", "mathExpression"})
_ACTION_SUFFIXES = ("-input", "-output")


class Vocabulary(NamedTuple):
    """The names of schema.org."""

    parents: dict[str, tuple[str, ...]]  # the types, each with its more general ones
    properties: frozenset[str]  # the properties
    members: dict[str, frozenset[str]]  # the members of each enumeration


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of the package."""
    yield from csv.DictReader((DATA / name).read_text("utf-8").splitlines())


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary.

    >>> vocabulary().parents["Restaurant"], "priceCurrency" in vocabulary().properties
    (('FoodEstablishment',), True)
    """
    parents: dict[str, tuple[str, ...]] = {}
    properties: set[str] = set(_BESIDES)
    members: dict[str, set[str]] = {}
    for row in rows_of("schema-org.csv"):
        if row["kind"] == "type":
            parents[row["name"]] = tuple(row["of"].split())
        elif row["kind"] == "property":
            properties.add(row["name"])
        else:
            members.setdefault(row["of"], set()).add(row["name"])
    return Vocabulary(
        parents, frozenset(properties), {name: frozenset(found) for name, found in members.items()}
    )


@cache
def more_specific(kind: str) -> frozenset[str]:
    """Return a type and all types below it.

    >>> sorted(more_specific("BlogPosting"))
    ['BlogPosting', 'LiveBlogPosting']
    """
    found = {kind}
    for name, parents in vocabulary().parents.items():
        if kind in parents and name != kind:
            found |= more_specific(name)
    return frozenset(found)


@cache
def types_named(names: str) -> frozenset[str]:
    """Return the types that a list names: ``Event*`` with all below it, ``-Festival`` without it.

    >>> sorted(types_named("Article BlogPosting* -LiveBlogPosting"))
    ['Article', 'BlogPosting']
    """
    found: set[str] = set()
    for name in names.split():
        bare = name.removeprefix("-").removesuffix("*")
        meant = more_specific(bare) if name.endswith("*") else frozenset((bare,))
        found = found - meant if name.startswith("-") else found | meant
    return frozenset(found)


def is_known(kind: Kind, name: str) -> bool:
    """Return whether schema.org has a type or a property of this name; actions have suffixes."""
    words = vocabulary()
    if kind == "type":
        return name in words.parents
    return name in words.properties or (
        name.endswith(_ACTION_SUFFIXES) and name.rpartition("-")[0] in words.properties
    )


@cache
def _folded(kind: Kind) -> dict[str, str]:
    names: Iterable[Any] = vocabulary().parents if kind == "type" else vocabulary().properties
    return {name.casefold(): name for name in sorted(names)}


def meant(kind: Kind, name: str) -> str:
    """Return the name that an unknown one is probably meant to be, '' for none.

    >>> meant("type", "product"), meant("property", "Pricecurrency"), meant("property", "colour")
    ('Product', 'priceCurrency', 'color')
    >>> meant("property", "warehouseShelf")
    ''
    """
    return _meant(kind, name) if len(name) <= _LONGEST else ""


@lru_cache(maxsize=2_000)
def _meant(kind: Kind, name: str) -> str:
    return closest(name, _folded(kind))


def closest(name: str, folded: dict[str, str]) -> str:
    """Return the value whose key is closest to a name in lower case, '' where none is close."""
    if len(name) > _LONGEST:
        return ""
    wanted = name.casefold()
    if wanted in folded:
        return folded[wanted]
    near = [known for known in folded if abs(len(known) - len(wanted)) <= 2 and known[:1] == wanted[:1]]
    found = difflib.get_close_matches(wanted, near, n=1, cutoff=_CLOSE)
    return folded[found[0]] if found else ""


_PLACES = {"top": ("", "mainEntity", "mainEntityOfPage"), "listed": ("item", "itemListElement")}
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


def missing(graph: Graph, node: Node, kind: str, within: str) -> Iterator[Missing]:
    """Yield what an item lacks as one of a type; a property once, for the first feature that asks for it.

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
