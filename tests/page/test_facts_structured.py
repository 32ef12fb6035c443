"""Types and faults of structured data, on hand-made blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.structured_html import block, faults, read

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
        # JSON-LD 1.1, section 4.3.2: a set is what it holds.
        whole("Product", offers={"@set": [PRICED]}),
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


def test_the_host_of_a_context_has_no_case() -> None:
    """RFC 3986, section 3.2.2."""
    assert read(block({"@context": "http://Schema.org/", "@type": "Thing"})).types == ["Thing"]


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
