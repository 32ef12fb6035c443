"""Types and faults of structured data, on hand-made blocks."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from webanalytics.analysis.facts import schema_org
from webanalytics.analysis.facts.schema_org import (
    DEFAULT_MAX_LOOKUPS,
    KINDS,
    StructuredFacts,
    structured_facts,
)
from webanalytics.analysis.page.page import Page
from webanalytics.analysis.structured.items import Graph

TODAY = dt.date(2026, 11, 22)


def read(html: str) -> StructuredFacts:
    return structured_facts(Page(html, "https://a.example/"), today=TODAY)


def block(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def faults(value: Any, *kinds: str) -> list[tuple[str, str]]:
    """The faults of a block, all but those of recommended properties."""
    wanted = kinds or KINDS[:-1]
    return [
        (fault["type"], fault["problem"]) for fault in read(block(value)).faults if fault["kind"] in wanted
    ]


PRICED = {"@type": "Offer", "price": "5", "priceCurrency": "EUR"}
AUTHOR = {"@type": "Person", "name": "Ann"}
RATING = {"@type": "Rating", "ratingValue": 5}
REVIEW = {"@type": "Review", "author": AUTHOR, "reviewRating": RATING}
ADDRESS = {"@type": "PostalAddress", "addressCountry": "DE"}
PLACE = {"@type": "Place", "address": ADDRESS}
# By type: everything that Google Search requires of it (its documentation of each rich result).
GOOD: dict[str, dict[str, Any]] = {
    "Product": {"name": "x", "image": "/i.png", "offers": PRICED},
    "Recipe": {"name": "x", "image": "/i.png"},
    "Event": {"name": "x", "startDate": "2026-01-01", "location": PLACE},
    "Course": {"name": "x", "description": "y"},
    "Dataset": {"name": "x", "description": "y"},
    "Movie": {"name": "x", "image": "/i.png"},
    "DiscussionForumPosting": {"author": AUTHOR, "datePublished": "2026-01-01", "text": "x"},
    "ProfilePage": {"mainEntity": AUTHOR},
    "ProductGroup": {"name": "x"},
    "MerchantReturnPolicy": {
        "applicableCountry": "DE",
        "returnPolicyCategory": "https://schema.org/MerchantReturnNotPermitted",
    },
    "MemberProgram": {
        "name": "x",
        "description": "y",
        "hasTiers": {"@type": "MemberProgramTier", "name": "z", "hasTierBenefit": "TierBenefitLoyaltyPoints"},
    },
    "SoftwareApplication": {
        "name": "x",
        "offers": {"@type": "Offer", "price": 0},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4, "ratingCount": 8},
    },
    "VacationRental": {
        "name": "x",
        "identifier": "7",
        "image": "/i.png",
        "latitude": 1.5,
        "longitude": 2.5,
        "containsPlace": {"@type": "Accommodation", "occupancy": {"@type": "QuantitativeValue", "value": 5}},
    },
    "LocalBusiness": {"name": "x", "address": ADDRESS},
    "Restaurant": {"name": "x", "address": ADDRESS},
    "JobPosting": {
        "title": "x",
        "description": "y",
        "datePosted": "2026-01-01",
        "hiringOrganization": {"@type": "Organization", "name": "z"},
        "jobLocation": PLACE,
    },
    "VideoObject": {"name": "x", "thumbnailUrl": "/t.png", "uploadDate": "2026-01-01"},
    "Review": {"itemReviewed": {"@type": "Book", "name": "x"}, "reviewRating": RATING, "author": AUTHOR},
    "AggregateRating": {"itemReviewed": {"@type": "Book", "name": "x"}, "ratingValue": 4, "reviewCount": 3},
    "BreadcrumbList": {"itemListElement": [{"@type": "ListItem", "position": 1, "name": "x"}]},
    "QAPage": {
        "mainEntity": {
            "@type": "Question",
            "name": "x",
            "answerCount": 1,
            "acceptedAnswer": {"@type": "Answer", "text": "y"},
        }
    },
}


def whole(kind: str, **changes: Any) -> dict[str, Any]:
    thing = {"@context": "https://schema.org", "@type": kind, **GOOD.get(kind, {}), **changes}
    return {name: value for name, value in thing.items() if value is not None}


@pytest.mark.parametrize("kind", GOOD)
def test_complete_things_have_no_fault(kind: str) -> None:
    assert faults(whole(kind)) == []


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in GOOD for name in GOOD[kind]])
def test_each_property_is_missed(kind: str, name: str) -> None:
    ((found, problem),) = faults(whole(kind, **{name: None}))
    assert found == kind
    assert name in problem
    assert " missing (" in problem


NESTED = {
    "address of a place": (whole("Event", location={"@type": "Place", "name": "y"}), "location.address"),
    "value of a rating": (whole("Review", reviewRating={"@type": "Rating"}), "reviewRating.ratingValue"),
    "name of what is rated": (whole("AggregateRating", itemReviewed={"@type": "Book"}), "itemReviewed.name"),
    "price of an offer": (
        whole("Product", offers={"@type": "Offer", "availability": "InStock"}),
        "offers.price or offers.priceSpecification.price is missing (product snippet)",
    ),
    "one of several offers": (
        whole("Product", offers=[PRICED, {"@type": "Offer", "price": 5}]),
        "offers.priceCurrency or offers.priceSpecification.priceCurrency is missing (merchant listing)",
    ),
    "currency of a price range": (
        whole("Product", offers={"@type": "AggregateOffer", "lowPrice": 5}),
        "offers.priceCurrency is missing (product snippet)",
    ),
    "country of a job": (
        whole("JobPosting", jobLocation={"@type": "Place", "address": {"@type": "PostalAddress"}}),
        "jobLocation.address.addressCountry",
    ),
    "country of a remote job": (
        whole("JobPosting", jobLocation=None, jobLocationType="TELECOMMUTE"),
        "applicantLocationRequirements or jobLocation is missing",
    ),
    "days of a return": (
        whole(
            "MerchantReturnPolicy", returnPolicyCategory="https://schema.org/MerchantReturnFiniteReturnWindow"
        ),
        "merchantReturnDays",
    ),
    "answer": (
        whole("QAPage", mainEntity={"@type": "Question", "name": "x", "answerCount": 2}),
        "mainEntity.acceptedAnswer or mainEntity.suggestedAnswer",
    ),
    "link of a crumb": (
        whole(
            "BreadcrumbList",
            itemListElement=[{"@type": "ListItem", "position": place, "name": "x"} for place in (1, 2)],
        ),
        "itemListElement.item is missing",
    ),
    "name of a crumb": (
        whole(
            "BreadcrumbList",
            itemListElement=[{"@type": "ListItem", "position": 1, "item": "https://a.example/"}],
        ),
        "itemListElement.name or itemListElement.item.name",
    ),
    "paywall": (
        {
            "@type": "NewsArticle",
            "isAccessibleForFree": "False",
            "hasPart": {"@type": "WebPageElement", "isAccessibleForFree": False},
        },
        "hasPart.cssSelector",
    ),
    "licence of an image": (
        {"@type": "ImageObject", "license": "https://a.example/l"},
        "contentUrl or url is missing (image metadata)",
    ),
    "address of a recipe in a carousel": (
        {
            "@type": "ItemList",
            "itemListElement": [{"@type": "ListItem", "position": 1, "item": whole("Recipe")}],
        },
        "itemListElement.item.url is missing (carousel)",
    ),
    "text that is spoken": (
        {"@type": "WebPage", "speakable": {"@type": "SpeakableSpecification"}},
        "cssSelector, xPath or xpath is missing (speakable)",
    ),
}


@pytest.mark.parametrize(("value", "told"), NESTED.values(), ids=list(NESTED))
def test_what_nested_items_lack_is_told(value: Any, told: str) -> None:
    ((_, problem),) = faults(value, "required")
    assert told in problem


@pytest.mark.parametrize("value", ["", None, [], {}])
def test_a_property_that_says_nothing_is_missing(value: Any) -> None:
    assert faults({"@type": "Recipe", "name": value, "image": "/i.png"}) == [
        ("Recipe", "name is missing (recipe)")
    ]


SPECIFIED = {
    "@type": "Offer",
    "priceSpecification": {"@type": "UnitPriceSpecification", "price": 1, "priceCurrency": "EUR"},
}


@pytest.mark.parametrize(
    "value",
    [
        {"@type": "Product", "name": "x", "review": REVIEW},
        {"@type": "Product", "name": "x", "reviews": REVIEW},
        {"@type": "Product", "name": "x", "aggregateRating": {"ratingValue": 4, "ratingCount": 3}},
        {
            "@type": "Product",
            "name": "x",
            "offers": {"@type": "AggregateOffer", "lowPrice": 1, "priceCurrency": "EUR"},
        },
        whole("Product", offers=SPECIFIED),
        whole("Product", isRelatedTo={"@type": "Product", "name": "y"}),
        # What was never meant as a rich result is not asked for one.
        {"@type": "Organization", "name": "x", "makesOffer": {"@type": "Offer", "itemOffered": "y"}},
        {"@type": "Service", "name": "x", "offers": {"@type": "Offer", "price": "5"}},
        {"@type": "Event", **GOOD["Event"], "offers": {"@type": "Offer", "url": "https://a.example/"}},
        {
            "@type": "Product",
            "name": "x",
            "review": {**REVIEW, "positiveNotes": {"@type": "ItemList"}},
            "offers": PRICED,
        },
        {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "url": "https://a.example/"}]},
        {
            "@type": "ItemList",
            "itemListElement": [{"@type": "ListItem", "item": {"@type": "Product", "name": "x"}}],
        },
        {"@type": "ImageObject", "url": "https://a.example/logo.png"},
        {"@type": "NewsArticle", "isAccessibleForFree": True},
        whole(
            "JobPosting", jobLocation=None, jobLocationType="TELECOMMUTE", applicantLocationRequirements="DE"
        ),
        whole("Event", location={"@type": "VirtualLocation", "url": "https://a.example/"}),
        whole("QAPage", mainEntity={"@type": "Question", "name": "x", "answerCount": 0}),
        whole(
            "MerchantReturnPolicy", applicableCountry=None, returnPolicyCategory=None, merchantReturnLink="/r"
        ),
        # Retired rich results ask for nothing.
        {"@type": "FAQPage"},
        {"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "x"}]},
        {"@type": "HowTo"},
        {"@type": "ClaimReview"},
        {"@type": "SpecialAnnouncement"},
        # Names with prefixes, references, other vocabularies.
        {"@context": "https://schema.org", "schema:name": "x", "@type": "schema:Organization"},
        {"@type": "Article", "headline": "x", "publisher": {"@type": "Organization", "@id": "#us"}},
        {"@type": "DiscussionForumPosting", **GOOD["DiscussionForumPosting"], "author": {"@id": "#ann"}},
        {"@context": "https://other.example/", "@type": "Recipe"},
    ],
)
def test_what_is_no_fault(value: Any) -> None:
    assert faults(value) == []


def test_merchant_listing_and_product_snippet_are_told_apart() -> None:
    snippet = {"@type": "Product", "name": "x"}
    assert faults(snippet) == [("Product", "review, aggregateRating or offers is missing (product snippet)")]
    assert faults({**snippet, "review": REVIEW}) == []
    assert faults({**snippet, "offers": {"@type": "Offer", "price": 5}}) == [
        ("Product", "image is missing (merchant listing)"),
        (
            "Product",
            "offers.priceCurrency or offers.priceSpecification.priceCurrency is missing (merchant listing)",
        ),
    ]


def test_a_merchant_sells_for_more_than_nothing() -> None:
    free = {"@type": "Offer", "price": "0.00", "priceCurrency": "EUR"}
    ((_, problem),) = faults(whole("Product", offers=free), "value")
    assert problem == 'offers.price "0.00" is not above 0, as merchant listings require'


def test_recommended_properties_are_faults_of_their_own() -> None:
    found = faults({"@type": "NewsArticle", "headline": "x"}, "recommended")
    assert ("NewsArticle", "image is missing (recommended for article)") in found
    assert not [problem for _, problem in found if "headline" in problem]
    assert faults({"@type": "NewsArticle"}, "required") == []


def test_things_with_one_identity_are_one_thing() -> None:
    graph = [{"@type": "Recipe", "@id": "#r", "name": "x"}, {"@id": "#r", "image": "/i.png"}]
    assert faults({"@context": "https://schema.org", "@graph": graph}) == []
    assert faults({"@context": "https://schema.org", "@graph": graph[:1]}) == [
        ("Recipe", "image is missing (recipe)")
    ]


def test_references_are_followed_into_what_is_nested() -> None:
    graph = [
        whole("Event", location={"@id": "#hall"}),
        {"@type": "Place", "@id": "#hall", "name": "x"},
        {"@id": "#hall", "address": {"@id": "#road"}},
        {"@type": "PostalAddress", "@id": "#road", "streetAddress": "1 Road"},
    ]
    assert faults({"@context": "https://schema.org", "@graph": graph}) == []
    del graph[2]
    assert faults({"@context": "https://schema.org", "@graph": graph}) == [
        ("Event", "location.address is missing (event)")
    ]


def test_references_in_a_circle_end() -> None:
    graph = [
        {"@type": "Product", "@id": "#p", "name": "x", "review": {"@id": "#r"}},
        {
            "@type": "Review",
            "@id": "#r",
            "author": "Ann",
            "reviewRating": RATING,
            "itemReviewed": {"@id": "#p"},
        },
    ]
    assert faults({"@context": "https://schema.org", "@graph": graph}) == []


def test_equal_faults_are_told_once() -> None:
    offers = [{"@type": "Offer", "price": price + 1} for price in range(40)]
    assert len(faults(whole("Product", offers=offers))) == 1


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
    assert (fault["type"], fault["kind"]) == ("JSON-LD", "broken")
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


def test_a_final_semicolon_is_named_and_the_block_is_read() -> None:
    found = read(block('{"@type": "Recipe", "image": "/i.png"};\n'))
    assert found.types == ["Recipe"]
    assert [(fault["kind"], fault["problem"]) for fault in found.faults[:2]] == [
        ("broken", "block 1 is not valid JSON: it ends in a semicolon"),
        ("required", "name is missing (recipe)"),
    ]


def needed(html: str) -> list[tuple[str, str]]:
    return [
        (fault["type"], fault["problem"]) for fault in read(html).faults if fault["kind"] != "recommended"
    ]


def test_microdata() -> None:
    html = """<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">x</b><img itemprop=image>
    <div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><b itemprop="price">5</b></div></div>
    <div itemscope itemtype="https://other.example/Recipe"></div><div itemscope></div>"""
    assert read(html).types == ["Product", "Offer"]
    assert needed(html) == [
        (
            "Product",
            "offers.priceCurrency or offers.priceSpecification.priceCurrency is missing (merchant listing)",
        )
    ]


def test_values_and_names_of_microdata() -> None:
    html = """<div itemscope itemtype="https://schema.org/Recipe"><b itemprop="name">x</b><img itemprop=image>
    <time itemprop="datePublished" datetime="2026-01-02">gestern</time>
    <i itemprop="dateModified">02.01.2026</i><meta itemprop="Keywords" content="tea">
    <div itemprop="aggregateRating" itemscope itemtype="https://schema.org/AggregateRating">
    <b itemprop="ratingValue">4,5</b><b itemprop="reviewCount">3</b></div></div>"""
    assert needed(html) == [
        ("Recipe", 'dateModified "02.01.2026" is not an ISO 8601 date'),
        ("AggregateRating", 'ratingValue "4,5" is not a number: decimals take a dot'),
        ("Recipe", "Keywords is not a property of schema.org: did you mean keywords?"),
    ]


def test_microdata_that_is_written_elsewhere_is_not_judged() -> None:
    html = '<div itemscope itemtype="https://schema.org/Recipe" itemref="a"></div><p id=a itemprop=name>x'
    assert read(html) == (["Recipe"], [])
    place = '<p itemprop=location itemscope itemtype="https://schema.org/Place" itemref="a"></p>'
    event = f"""<div itemscope itemtype="https://schema.org/Event"><b itemprop=name>x</b>
    <time itemprop=startDate datetime=2026-01-01></time>{place}</div><p id=a itemprop=address>y"""
    assert needed(event) == []


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


def test_references_without_end_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page can refer to again and again is looked at a bounded number of times."""
    calls = 0
    values = Graph.values

    def counted(graph: Graph, node: dict[str, Any], name: str) -> list[Any]:
        nonlocal calls
        calls += 1
        return values(graph, node, name)

    monkeypatch.setattr(Graph, "values", counted)
    prices = [{"@id": f"#p{number}"} for number in range(400)]
    graph = [
        *({"@id": f"#o{number}", "@type": "Offer", "priceSpecification": prices} for number in range(4)),
        *({"@id": f"#p{number}", "name": "x"} for number in range(400)),
        *(
            {
                "@type": "Product",
                "@id": f"#x{number}",
                "offers": [{"@id": f"#o{count}"} for count in range(4)],
            }
            for number in range(500)
        ),
    ]
    found = read(block({"@context": "https://schema.org", "@graph": graph}))
    assert len(found.faults) >= 3
    assert 100_000 < calls < 2 * DEFAULT_MAX_LOOKUPS


def test_unknown_names_cost_no_more_than_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(schema_org, "meant", lambda _, name: asked.append(name) or "")
    found = read(block({"@type": [f"T{n}" for n in range(30_000)], **{f"name{n}": n for n in range(30_000)}}))
    assert len(found.faults) == 50
    assert len(asked) <= 50
    assert len(found.types) == 10
