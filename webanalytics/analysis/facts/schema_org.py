"""schema.org types of a page and properties its items lack, for its facts: JSON-LD, microdata and RDFa."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from webanalytics.analysis.page.page import Page
from webanalytics.analysis.structured.jsonld import (
    DEFAULT_MAX_BLOCKS,
    DEFAULT_MAX_DEPTH,
    DEFAULT_MAX_LENGTH,
    jsonld_texts,
    unwrap,
)
from webanalytics.analysis.structured.offer import item_scope, local_name
from webanalytics.operations.types import is_deep

DEFAULT_MAX_ENTRIES = 50
"""Most types, and most faults, kept per page."""

DEFAULT_MAX_STRING = 500
"""Longest type or fault, in characters."""

DEFAULT_MAX_THINGS = 5_000
"""Most items examined per page, and most microdata properties."""

# On the way back from attributes (`/..`) time would grow with the square of their number.
_SCOPES = etree.XPath("//*[@itemscope]", smart_strings=False)
_PROPERTIES = etree.XPath("//*[@itemprop]", smart_strings=False)
_RDFA = etree.XPath("//*[@typeof]", smart_strings=False)
_REFERENCE = frozenset(("@id", "@type", "@context"))


class Requirement(NamedTuple):
    """The properties that items of some types must have.

    Attributes
    ----------
    types : frozenset of str
        Names of schema.org types.
    required : tuple of tuple of str
        Properties; of several in one tuple, one is enough.
    recommended : tuple of tuple of str
        Properties that are recommended but not required.
    within : frozenset of str, optional
        Properties through which an item must belong to another one for this to apply; it always applies to
        top-level items. None for any.
    """

    types: frozenset[str]
    required: tuple[tuple[str, ...], ...] = ()
    recommended: tuple[tuple[str, ...], ...] = ()
    within: frozenset[str] | None = None


def _types(names: str) -> frozenset[str]:
    return frozenset(names.split())


_LISTED = _types("mainEntity mainEntityOfPage item itemListElement @graph")
_ARTICLES = _types("Article NewsArticle BlogPosting TechArticle ScholarlyArticle Report AnalysisNewsArticle")
_EVENTS = _types(
    "Event BusinessEvent ChildrensEvent ComedyEvent DanceEvent EducationEvent ExhibitionEvent "
    "Festival FoodEvent LiteraryEvent MusicEvent SaleEvent ScreeningEvent SocialEvent SportsEvent "
    "TheaterEvent"
)
_BUSINESSES = _types(
    "LocalBusiness AnimalShelter AutoDealer AutomotiveBusiness AutoRepair Bakery BarOrPub BeautySalon "
    "Bookstore "
    "CafeOrCoffeeShop ClothingStore DaySpa Dentist Electrician EmploymentAgency EntertainmentBusiness "
    "FinancialService Florist FoodEstablishment FurnitureStore GeneralContractor GroceryStore HairSalon "
    "HealthAndBeautyBusiness HomeAndConstructionBusiness Hotel InsuranceAgency LegalService Library "
    "LodgingBusiness MedicalBusiness MedicalClinic Optician Pharmacy Physician Plumber ProfessionalService "
    "RealEstateAgent Restaurant Store TravelAgency"
)
_ORGANIZATIONS = _types(
    "Organization Airline Consortium Corporation EducationalOrganization CollegeOrUniversity "
    "GovernmentOrganization MedicalOrganization NewsMediaOrganization NGO OnlineBusiness OnlineStore "
    "PerformingGroup School SportsOrganization"
)

REQUIREMENTS = (
    Requirement(_ARTICLES, recommended=(("headline",),)),
    Requirement(_types("Product"), required=(("name",),)),
    Requirement(_types("Product"), required=(("review", "aggregateRating", "offers"),), within=_LISTED),
    Requirement(
        _types("Offer"),
        required=(("price", "priceSpecification"), ("priceCurrency", "priceSpecification")),
        within=_types("offers"),
    ),
    Requirement(
        _types("AggregateOffer"), required=(("lowPrice",), ("priceCurrency",)), within=_types("offers")
    ),
    Requirement(_types("AggregateRating"), required=(("ratingValue",), ("ratingCount", "reviewCount"))),
    Requirement(_types("Review"), required=(("reviewRating",), ("author",))),
    Requirement(_types("Review"), required=(("itemReviewed",),), within=_LISTED),
    Requirement(_types("Recipe"), required=(("name",), ("image",))),
    Requirement(
        _EVENTS, required=(("name",), ("startDate",), ("location",)), within=_LISTED | {"event", "events"}
    ),
    Requirement(_types("FAQPage"), required=(("mainEntity",),)),
    Requirement(_types("BreadcrumbList"), required=(("itemListElement",),)),
    Requirement(_ORGANIZATIONS, recommended=(("name",),)),
    Requirement(_BUSINESSES, required=(("name",),)),
    Requirement(_BUSINESSES, required=(("address",),), within=_LISTED),
    Requirement(
        _types("JobPosting"),
        required=(
            ("title",),
            ("description",),
            ("datePosted",),
            ("hiringOrganization",),
            ("jobLocation", "jobLocationType"),
        ),
    ),
    Requirement(_types("VideoObject"), required=(("name",), ("thumbnailUrl",), ("uploadDate",))),
)
"""Requirements, by the documentation of Google Search.

Sources: developers.google.com/search/docs/appearance/structured-data/, pages article, product-snippet,
review-snippet, recipe, event, faqpage, breadcrumb, organization, local-business, job-posting and video;
hierarchy of types: schema.org.
"""

_BY_TYPE: dict[str, list[Requirement]] = {}
for _requirement in REQUIREMENTS:
    for _type in _requirement.types:
        _BY_TYPE.setdefault(_type, []).append(_requirement)

# An older name of the same property (schema.org).
_SAME: Mapping[str, tuple[str, ...]] = {"review": ("reviews",)}


def missing_properties(kind: str, given: Iterable[str], within: str) -> list[str]:
    """Return what an item of a type lacks, as ends of sentences.

    `within` is the property of another item whose value it is, '' at the top level.

    Examples
    --------
    >>> missing_properties("Product", {"name"}, "")
    ['review, aggregateRating or offers is missing']
    >>> missing_properties("Article", {"author"}, ""), missing_properties("Product", {"name"}, "isRelatedTo")
    (['headline is missing (recommended)'], [])
    """
    known = set(given)
    found = []
    for requirement in _BY_TYPE.get(kind, ()):
        if within and requirement.within is not None and within not in requirement.within:
            continue
        for names, hint in (
            *((names, "") for names in requirement.required),
            *((names, " (recommended)") for names in requirement.recommended),
        ):
            if not any(name in known or not known.isdisjoint(_SAME.get(name, ())) for name in names):
                found.append(f"{_either(names)} is missing{hint}")
    return found


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def has_requirements(kind: str) -> bool:
    """Return whether there are requirements for items of a type."""
    return kind in _BY_TYPE


class StructuredFacts(NamedTuple):
    """Types of a page's structured data, and what is wrong with it."""

    types: list[str]
    faults: list[dict[str, str]]


class _Found:
    """Types and faults, each once, in order of appearance."""

    def __init__(self, max_entries: int, max_string: int) -> None:
        self.types: dict[str, None] = {}
        self.faults: dict[tuple[str, str], None] = {}
        self._max_entries = max_entries
        self._max_string = max_string

    def add_type(self, name: str) -> None:
        if len(self.types) < self._max_entries:
            self.types[self._cut(name)] = None

    def add_fault(self, name: str, problem: str) -> None:
        if len(self.faults) < self._max_entries:
            self.faults[self._cut(name), self._cut(problem)] = None

    def _cut(self, text: str) -> str:
        text = text[: self._max_string]
        return text if text.isascii() else text.encode("utf-8", "replace").decode()


def structured_facts(
    page: Page,
    *,
    max_entries: int = DEFAULT_MAX_ENTRIES,
    max_string: int = DEFAULT_MAX_STRING,
    max_things: int = DEFAULT_MAX_THINGS,
) -> StructuredFacts:
    """Return the types of a page's structured data, and its faults.

    Types are without their prefix; faults have ``type`` and ``problem``, the type ``JSON-LD`` for a block
    that is not JSON.

    A block is read as RFC 8259 says, comment and CDATA wrappers around it allowed; a broken one is one
    fault, and nothing in it counts. Things with one ``@id`` are one thing, and what says no more than its
    type and ``@id`` only refers to it. Of microdata, ``itemref`` is not followed; of RDFa, types are read.

    Examples
    --------
    >>> block = '{"@type": "Recipe", "name": "Tea"}'
    >>> structured_facts(Page(f'<script type="application/ld+json">{block}</script>'))
    StructuredFacts(types=['Recipe'], faults=[{'type': 'Recipe', 'problem': 'image is missing'}])
    """
    found = _Found(max_entries, max_string)
    texts = jsonld_texts(page)
    if texts:
        _read_jsonld(texts[:DEFAULT_MAX_BLOCKS], found, max_things)
    # Looking through the text costs less than a walk over the elements; most pages have neither of the two.
    html = page.html
    if "schema.org/" in html:
        if "itemscope" in html or "itemScope" in html:
            _read_microdata(page, found, max_things)
        if "typeof=" in html:
            _read_rdfa(page, found, max_things)
    faults = [{"type": name, "problem": problem} for name, problem in found.faults]
    return StructuredFacts(list(found.types), faults)


def _refuse(_: str) -> None:
    raise ValueError


_STRICT = json.JSONDecoder(parse_constant=_refuse)


def _read_block(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError or RecursionError."""
    value = _STRICT.decode(text)
    if text.count("{") + text.count("[") > DEFAULT_MAX_DEPTH and is_deep(value, DEFAULT_MAX_DEPTH):
        raise RecursionError
    return value


def _read_jsonld(texts: list[str], found: _Found, max_things: int) -> None:
    blocks = []
    for number, text in enumerate(texts, 1):
        if len(text) > DEFAULT_MAX_LENGTH:
            continue
        try:
            try:
                blocks.append(_read_block(text))
            except ValueError:
                blocks.append(_read_block(unwrap(text)))
        except RecursionError:
            found.add_fault("JSON-LD", f"block {number} is nested too deeply")
        except ValueError:
            found.add_fault("JSON-LD", f"block {number} is not valid JSON: {_reason(text)}")
    things = [thing for block in blocks for thing in _things(block, max_things)]
    _judge(things[:max_things], found)


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


def _things(block: Any, max_things: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the objects of a block in order, each with the property whose value it is, '' for none."""
    waiting: list[tuple[Any, str]] = [(block, "")]
    left = max_things
    while waiting and left:
        value, within = waiting.pop()
        if isinstance(value, list):
            waiting.extend((part, within) for part in reversed(value) if isinstance(part, (dict, list)))
        elif isinstance(value, dict):
            left -= 1
            if "@context" in value and "schema.org" not in str(value["@context"]):
                continue
            yield value, within
            waiting.extend(
                (part, "" if key == "@graph" else _property(key))
                for key, part in reversed(value.items())
                if isinstance(part, (dict, list)) and key != "@context"
            )


def _property(key: str) -> str:
    return local_name(key) if ":" in key else key


def _judge(things: list[tuple[dict[str, Any], str]], found: _Found) -> None:
    """Add the types of items, and what each of them lacks."""
    by_id: dict[str, set[str]] = {}
    for thing, _ in things:
        identity = thing.get("@id")
        if isinstance(identity, str) and len(thing) > 1:
            by_id.setdefault(identity, set()).update(_given(thing))
    for thing, within in things:
        kinds = thing.get("@type")
        if kinds is None:
            continue
        refers = "@id" in thing and thing.keys() <= _REFERENCE
        for kind in kinds if isinstance(kinds, list) else (kinds,):
            if name := local_name(kind):
                found.add_type(name)
                if not refers and has_requirements(name):
                    identity = thing.get("@id")
                    merged = by_id.get(identity, set()) if isinstance(identity, str) else _given(thing)
                    for problem in missing_properties(name, merged, within):
                        found.add_fault(name, problem)


def _given(thing: dict[str, Any]) -> set[str]:
    """Return the names of the non-empty properties."""
    return {_property(key) for key, value in thing.items() if value not in (None, "", [], {})}


def _read_microdata(page: Page, found: _Found, max_things: int) -> None:
    asked: list[tuple[str, HtmlElement]] = []
    for scope in _SCOPES(page.tree)[:max_things]:
        for kind in (scope.get("itemtype") or "").split():
            if "schema.org/" in kind and (name := local_name(kind)):
                found.add_type(name)
                if has_requirements(name) and scope.get("itemref") is None:
                    asked.append((name, scope))
    elements = _PROPERTIES(page.tree) if asked else []
    if len(elements) > max_things:
        return
    properties: dict[HtmlElement | None, set[str]] = {}
    for element in elements:
        properties.setdefault(item_scope(element), set()).update(element.get("itemprop").split())
    for name, scope in asked:
        within = next(iter((scope.get("itemprop") or "").split()), "")
        for problem in missing_properties(name, properties.get(scope, ()), within):
            found.add_fault(name, problem)


def _read_rdfa(page: Page, found: _Found, max_things: int) -> None:
    for element in _RDFA(page.tree)[:max_things]:
        kinds = (element.get("typeof") or "").split()
        whole = [kind for kind in kinds if kind.startswith("schema:") or "schema.org/" in kind]
        if len(whole) < len(kinds) and "schema.org/" in _vocabulary(element):
            whole = [kind for kind in kinds if kind in whole or ":" not in kind]
        for kind in whole:
            found.add_type(local_name(kind))


def _vocabulary(element: HtmlElement) -> str:
    """Return the vocabulary of names without a prefix."""
    for place in (element, *element.iterancestors()):
        if (vocabulary := place.get("vocab")) is not None:
            return vocabulary
    return ""
