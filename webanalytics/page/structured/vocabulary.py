"""The names of schema.org's vocabulary, for judging structured data; read once, when first asked for."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple

DATA = resources.files("webanalytics.page") / "data"

Kind = Literal["type", "property"]

_LONGEST = 60
_CLOSE = 0.8
# Names that the declarations leave out: one that schema.org has retired, and two of Google's documentation.
_BESIDES = frozenset({"interactionCount", "xPath", "mathExpression"})
_ACTION_SUFFIXES = ("-input", "-output")


class Vocabulary(NamedTuple):
    """The names of schema.org.

    Attributes
    ----------
    parents : dict
        The types, each with its more general ones.
    properties : frozenset of str
        The properties.
    members : dict
        The members of each enumeration.
    """

    parents: dict[str, tuple[str, ...]]
    properties: frozenset[str]
    members: dict[str, frozenset[str]]


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of the package."""
    yield from csv.DictReader((DATA / name).read_text("utf-8").splitlines())


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary.

    Examples
    --------
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

    Examples
    --------
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

    Examples
    --------
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

    Examples
    --------
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
