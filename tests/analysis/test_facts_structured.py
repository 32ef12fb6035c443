"""Types and faults of structured data, on hand-made blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webanalytics.analysis.facts.schema_org import (
    REQUIREMENTS,
    StructuredFacts,
    missing_properties,
    structured_facts,
)
from webanalytics.analysis.page.page import Page


def read(html: str) -> StructuredFacts:
    return structured_facts(Page(html, "https://a.example/"))


def block(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def faults(value: Any) -> list[tuple[str, str]]:
    return [(fault["type"], fault["problem"]) for fault in read(block(value)).faults]


PRICED = {"@type": "Offer", "price": "5", "priceCurrency": "EUR"}
AUTHOR = {"@type": "Person", "name": "Ann"}
REVIEW = {"@type": "Review", "author": AUTHOR, "reviewRating": {"@type": "Rating", "ratingValue": 5}}
GOOD = {
    "Article": {"headline": "x"},
    "NewsArticle": {"headline": "x"},
    "BlogPosting": {"headline": "x"},
    "Product": {"name": "x", "offers": PRICED},
    "Recipe": {"name": "x", "image": "/i.png"},
    "Event": {"name": "x", "startDate": "2026-01-01", "location": {"@type": "Place", "name": "y"}},
    "FAQPage": {"mainEntity": [{"@type": "Question", "name": "x"}]},
    "BreadcrumbList": {"itemListElement": [{"@type": "ListItem", "position": 1}]},
    "Organization": {"name": "x"},
    "LocalBusiness": {"name": "x", "address": "y"},
    "Restaurant": {"name": "x", "address": "y"},
    "JobPosting": {
        "title": "x",
        "description": "y",
        "datePosted": "2026-01-01",
        "hiringOrganization": {"@type": "Organization", "name": "z"},
        "jobLocation": {"@type": "Place"},
    },
    "VideoObject": {"name": "x", "thumbnailUrl": "/t.png", "uploadDate": "2026-01-01"},
    "Review": {"itemReviewed": {"@type": "Book", "name": "x"}, "reviewRating": 5, "author": AUTHOR},
    "AggregateRating": {"ratingValue": 4, "reviewCount": 3},
    "Offer": {"price": 5, "priceCurrency": "EUR"},
    "AggregateOffer": {"lowPrice": 5, "priceCurrency": "EUR"},
}


@pytest.mark.parametrize("kind", GOOD)
def test_complete_things_have_no_fault(kind: str) -> None:
    assert faults({"@context": "https://schema.org", "@type": kind, **GOOD[kind]}) == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in GOOD for name in GOOD[kind]])
def test_each_property_is_missed(kind: str, name: str) -> None:
    thing = {"@context": "https://schema.org", "@type": kind, **GOOD[kind]}
    del thing[name]
    ((found, problem),) = faults(thing)
    assert found == kind
    assert name in problem
    assert "is missing" in problem


@pytest.mark.parametrize("value", ["", None, [], {}])
def test_a_property_that_says_nothing_is_missing(value: Any) -> None:
    assert faults({"@type": "Recipe", "name": value, "image": "/i.png"}) == [("Recipe", "name is missing")]


@pytest.mark.parametrize(
    "value",
    [
        {"@type": "Product", "name": "x", "review": REVIEW},
        {"@type": "Product", "name": "x", "aggregateRating": GOOD["AggregateRating"]},
        {"@type": "Product", "name": "x", "offers": {"@type": "Offer", "priceSpecification": {"price": 1}}},
        {"@type": "Product", "name": "x", "offers": PRICED, "isRelatedTo": {"@type": "Product", "name": "y"}},
        {"@type": "Organization", "name": "x", "makesOffer": {"@type": "Offer", "itemOffered": "y"}},
        {"@context": "https://schema.org", "schema:name": "x", "@type": "schema:Organization"},
        {"@type": "Article", "headline": "x", "publisher": {"@type": "Organization", "@id": "#us"}},
        {"@context": "https://other.example/", "@type": "Recipe"},
    ],
)
def test_what_is_no_fault(value: Any) -> None:
    assert faults(value) == []


def test_things_with_one_identity_are_one_thing() -> None:
    graph = [{"@type": "Recipe", "@id": "#r", "name": "x"}, {"@id": "#r", "image": "/i.png"}]
    assert faults({"@context": "https://schema.org", "@graph": graph}) == []
    assert faults({"@context": "https://schema.org", "@graph": graph[:1]}) == [("Recipe", "image is missing")]


def test_equal_faults_are_told_once() -> None:
    offers = [{"@type": "Offer", "price": price} for price in range(40)]
    assert faults({"@type": "Product", "name": "x", "offers": offers}) == [
        ("Offer", "priceCurrency or priceSpecification is missing")
    ]


def test_types_in_document_order_once_each() -> None:
    value = [
        {"@type": ["Product", "Book"], "name": "x", "offers": PRICED},
        {"@type": "https://schema.org/Book"},
        {"@type": "Thing"},
    ]
    html = block(value) + "<div itemscope itemtype='https://schema.org/Person'></div>"
    assert read(html).types == ["Product", "Book", "Offer", "Thing", "Person"]


BROKEN = {
    "no end": ('{"@type": "Recipe"', "line 1"),
    "trailing comma": ('{\n"@type": "Recipe",\n}', ""),
    "single quotes": ("{'@type': 'Recipe'}", "line 1 column 2"),
    "line break in a string": ('{"@type": "Recipe",\n"name": "a\nb"}', "line 2"),
    "two values": ('{"@type": "Recipe"}{"@type": "Recipe"}', "line 1 column 20"),
    "no number": ('{"@type": "Recipe", "name": NaN}', ""),
    "comment": ('{"@type": "Recipe" /* tea */}', "line 1"),
}


@pytest.mark.parametrize(("text", "place"), BROKEN.values(), ids=list(BROKEN))
def test_a_block_that_is_not_json_is_one_fault(text: str, place: str) -> None:
    found = read(block({"@type": "Thing"}) + block(text))
    (fault,) = found.faults
    assert fault["type"] == "JSON-LD"
    assert fault["problem"].startswith("block 2 is not valid JSON: ")
    assert place in fault["problem"]
    assert found.types == ["Thing"]


@pytest.mark.parametrize(
    "text",
    [
        '<!-- {"@type": "Thing"} -->',
        '//<![CDATA[\n{"@type": "Thing"}\n//]]>',
        '\ufeff{"@type": "Thing"}',
        "[]",
        "3",
    ],
)
def test_what_around_a_block_is_no_fault(text: str) -> None:
    assert read(block(text)).faults == []


def test_microdata() -> None:
    html = """<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">x</b>
    <div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><b itemprop="price">5</b></div></div>
    <div itemscope itemtype="https://other.example/Recipe"></div><div itemscope></div>"""
    assert read(html) == (
        ["Product", "Offer"],
        [{"type": "Offer", "problem": "priceCurrency or priceSpecification is missing"}],
    )


def test_microdata_that_is_written_elsewhere_is_not_judged() -> None:
    html = '<div itemscope itemtype="https://schema.org/Recipe" itemref="a"></div><p id=a itemprop=name>x'
    assert read(html) == (["Recipe"], [])


@pytest.mark.parametrize(
    ("html", "types"),
    [
        ('<div vocab="https://schema.org/"><p typeof="Person">x</div>', ["Person"]),
        ('<p vocab="http://schema.org/" typeof="Person Organization">x', ["Person", "Organization"]),
        ('<p prefix="schema: https://schema.org/" typeof="schema:Person foaf:Person">x', ["Person"]),
        ('<p typeof="https://schema.org/Person">x', ["Person"]),
        ('<p typeof="Person">x', []),
        ('<div vocab="https://schema.org/"><div vocab="https://other.example/"><p typeof="Person">x', []),
    ],
)
def test_rdfa(html: str, types: list[str]) -> None:
    assert read(html).types == types


def test_bounds() -> None:
    many = [{"@type": f"{'T' * 1_000}{number}"} for number in range(9)]
    more = [{"@type": f"T{number}"} for number in range(9_000)]
    found = read(block(many) + block(more) + block("{") * 400)
    assert len(found.types) == len(found.faults) == 50
    assert max(map(len, found.types)) == 500


@pytest.mark.parametrize("text", ["[" * 900_000, '{"a":' * 100_000, "[" * 500 + "]" * 500])
def test_nesting_is_a_fault_and_no_danger(text: str) -> None:
    (fault,) = read(block(text)).faults
    assert fault["type"] == "JSON-LD"


def test_half_characters_can_be_stored() -> None:
    assert read(block('{"@type": "T\\ud800"}')).types == ["T?"]


def test_requirements_name_each_property_once_for_a_type() -> None:
    for kind in {kind for requirement in REQUIREMENTS for kind in requirement.types}:
        told = missing_properties(kind, (), "")
        assert told
        assert len(told) == len(set(told))
