"""The tables of rich results and of schema.org's names, and the values that items may have."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

from webanalytics.page.structured.items import Graph, jsonld_items
from webanalytics.page.structured.requirements import (
    is_known,
    meant,
    missing,
    more_specific,
    requirements,
    rows_of,
    types_named,
    vocabulary,
)
from webanalytics.page.structured.values import LOOKED_AT, date_of, wrong_values

TODAY = dt.date(2026, 11, 22)
DAY = re.compile(r"20\d\d-\d\d-\d\d")
COLUMNS = ["feature", "types", "within", "when", "level", "properties", "source", "read"]


def problems(kind: str, within: str = "", **properties: Any) -> list[str]:
    return list(wrong_values(Graph([]), {"@type": kind, **properties}, [kind], within, TODAY))


def test_each_row_says_where_it_is_from_and_when_it_was_read() -> None:
    rows = list(rows_of("rich-results.csv"))
    assert len(rows) > 150
    for row in rows:
        assert list(row) == COLUMNS
        assert row["level"] in ("required", "recommended")
        assert "" not in (row["feature"], row["types"], row["properties"])
        assert row["source"].startswith(
            "https://developers.google.com/search/docs/appearance/structured-data/"
        )
        assert DAY.fullmatch(row["read"])
        assert dt.date.fromisoformat(row["read"]) <= TODAY
    assert len({tuple(row.values()) for row in rows}) == len(rows)


def test_rows_name_what_schema_org_has() -> None:
    for row in requirements():
        for kind in types_named(row.types):
            assert is_known("type", kind), kind
        paths = [*row.paths, *(path for condition in row.when for path in condition.paths)]
        for path in paths:
            for step in path:
                assert is_known("property", step.name), step.name
                if step.only not in ("", "but-last"):
                    assert all(is_known("type", kind) for kind in types_named(step.only.replace("/", " ")))


def test_every_row_was_understood_whole() -> None:
    for row, read in zip(rows_of("rich-results.csv"), requirements(), strict=True):
        written = "|".join(
            ".".join(step.name + f"({step.only})" * bool(step.only) for step in path) for path in read.paths
        )
        assert written == row["properties"]
        assert len(read.when) == len(row["when"].split())


FEATURES = """article breadcrumb carousel, course list, dataset search, discussion forum, education Q&A, employer rating,
event, image metadata, job posting, local business, loyalty program, merchant listing, movie, organization, paywalled
content, product snippet, product variants, profile page, Q&A, recipe, return policy, review snippet, shipping policy,
software app, speakable, vacation rental, video"""


@pytest.mark.parametrize(
    "feature",
    [
        name.strip()
        for name in FEATURES.replace("\n", " ")
        .replace("article breadcrumb", "article, breadcrumb,")
        .split(",")
    ],
)
def test_rich_results_of_the_gallery_have_rows(feature: str) -> None:
    assert feature in {row.feature for row in requirements()}


def test_retired_rich_results_ask_for_nothing() -> None:
    gone = {row["feature"]: row for row in rows_of("rich-results-retired.csv")}
    assert gone["FAQ"]["retired"] == "2026-05-07"
    assert gone["how-to"]["retired"] == "2023-09-13"
    asked = {
        kind
        for row in requirements()
        for kind in types_named(row.types)
        if row.feature != "paywalled content"
    }
    for row in gone.values():
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row["retired"])
        assert row["source"].startswith("https://developers.google.com/search/")
        assert asked.isdisjoint(row["types"].split())


def test_vocabulary_has_the_hierarchy_of_schema_org() -> None:
    assert {"Hotel", "Restaurant", "Bakery", "Dentist"} < more_specific("LocalBusiness")
    assert "LocalBusiness" not in more_specific("Restaurant")
    assert "ClothingStore" in more_specific("Store")
    assert "LiveBlogPosting" in more_specific("BlogPosting")
    assert more_specific("Offer") == {"Offer", "AggregateOffer", "OfferForLease", "OfferForPurchase"}
    assert types_named("Organization* -LocalBusiness*").isdisjoint(more_specific("LocalBusiness"))
    assert {"InStock", "SoldOut"} < vocabulary().members["ItemAvailability"]
    assert {parent for parents in vocabulary().parents.values() for parent in parents} <= set(
        vocabulary().parents
    )


@pytest.mark.parametrize(
    ("kind", "written", "right"),
    [
        ("type", "product", "Product"),
        ("type", "Newsarticle", "NewsArticle"),
        ("type", "Organisation", "Organization"),
        ("type", "Lampshade", ""),
        ("property", "Pricecurrency", "priceCurrency"),
        ("property", "adress", "address"),
        ("property", "telephon", "telephone"),
        ("property", "x" * 100_000, ""),
    ],
)
def test_what_an_unknown_name_is_meant_to_be(kind: Any, written: str, right: str) -> None:
    assert not is_known(kind, written)
    assert meant(kind, written) == right


@pytest.mark.parametrize(
    "name", ["Date", "Integer", "URL", "Role", "EmployeeRole", "3DModel", "LiveBlogPosting"]
)
def test_types_that_are_known(name: str) -> None:
    assert is_known("type", name)


@pytest.mark.parametrize("name", ["query-input", "startOffset-input", "reviews", "interactionCount", "xPath"])
def test_names_that_are_known(name: str) -> None:
    assert is_known("property", name)


# By the rules of ISO 8601-1: calendar dates in the extended and the basic format, with a time or without one.
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-22", (2026, 11, 22)),
        ("20261122", (2026, 11, 22)),
        ("2026-11-22T08:30", (2026, 11, 22)),
        ("2026-11-22T08:30:15.123Z", (2026, 11, 22)),
        ("2026-11-22T08:30:15+0530", (2026, 11, 22)),
        ("2026-11-22 08:30:15+01:00", (2026, 11, 22)),
        ("2024-02-29", (2024, 2, 29)),
        ("2026", (2026, 1, 1)),
        ("2026-02-29", None),
        ("2026-13-01", None),
        ("22.11.2026", None),
        ("11/22/2026", None),
        ("November 22, 2026", None),
        ("2026-11-22T25:00", None),
        ("2026-11-22T08:30 UTC", None),
        ("{{ date }}", None),
    ],
)
def test_dates(text: str, day: tuple[int, int, int] | None) -> None:
    assert date_of(text) == (dt.date(*day) if day else None)


WRONG = [
    ("Offer", "price", "19,90", "is not a number: decimals take a dot"),
    ("Offer", "price", "€19.90", "is not a number"),
    ("Offer", "price", "1,299.00", "is not a number"),
    ("Offer", "price", -1, "is negative"),
    ("Offer", "priceCurrency", "€", "is not three capitals"),
    ("Offer", "priceCurrency", "eur", "is not three capitals"),
    ("Offer", "availability", "in stock", "did you mean InStock?"),
    ("Offer", "availability", "https://schema.org/Available", "is not a value of ItemAvailability"),
    ("Offer", "itemCondition", "new", "is not a value of OfferItemCondition"),
    ("Event", "eventStatus", "https://schema.org/EventCanceled", "did you mean EventCancelled?"),
    ("Event", "startDate", "next Friday", "is not an ISO 8601 date"),
    ("JobPosting", "employmentType", "Full-time", "did you mean FULL_TIME?"),
    ("Recipe", "totalTime", "30 minutes", "is not an ISO 8601 duration"),
    ("VideoObject", "duration", "3:20", "is not an ISO 8601 duration"),
    ("AggregateRating", "reviewCount", 0, "is not a whole number above 0"),
    ("AggregateRating", "ratingCount", "1,024", "is not a whole number above 0"),
    ("AggregateRating", "ratingValue", 8.5, "is above the bestRating 5, which counts where none is given"),
    ("AggregateRating", "ratingValue", 0, "is below the worstRating 1"),
    ("Rating", "ratingValue", "4,5", "is not a number: decimals take a dot"),
    ("Rating", "ratingValue", "good", "is not a number"),
    ("ListItem", "position", "first", "is not a whole number"),
    ("NewsArticle", "isAccessibleForFree", "no", "is neither true nor false"),
    ("Person", "sameAs", "@ann", "is not the address of a web page"),
]


@pytest.mark.parametrize(("kind", "name", "value", "told"), WRONG)
def test_wrong_values(kind: str, name: str, value: Any, told: str) -> None:
    (problem,) = problems(kind, **{name: value})
    assert problem.startswith(f'{name} "')
    assert told in problem


RIGHT = [
    ("Offer", "price", "19.90"),
    ("Offer", "price", 19),
    ("Offer", "priceCurrency", "EUR"),
    ("Offer", "availability", "https://schema.org/InStock"),
    ("Offer", "availability", "InStock"),
    ("Offer", "availability", {"@id": "https://schema.org/InStock"}),
    ("Event", "startDate", "2026-11-22T20:00:00+01:00"),
    ("Event", "eventStatus", ["https://schema.org/EventRescheduled", "https://schema.org/EventMovedOnline"]),
    ("JobPosting", "employmentType", ["FULL_TIME", "INTERN"]),
    ("Recipe", "totalTime", "PT1H30M"),
    ("VideoObject", "duration", "P0DT0H3M20S"),
    ("QuantitativeValue", "duration", "long"),
    ("AggregateRating", "ratingCount", "1024"),
    ("Rating", "ratingValue", "8/10"),
    ("Rating", "ratingValue", "85%"),
    ("Rating", "ratingValue", 1),
    ("NewsArticle", "isAccessibleForFree", "False"),
    ("NewsArticle", "datePublished", 2026),
    ("NewsArticle", "datePublished", {"@type": "Date", "@value": "2026-11-22"}),
]


@pytest.mark.parametrize(("kind", "name", "value"), RIGHT)
def test_right_values(kind: str, name: str, value: Any) -> None:
    assert problems(kind, **{name: value}) == []


def test_the_scale_of_a_rating_is_its_own() -> None:
    assert problems("Rating", ratingValue=85, bestRating=100) == []
    assert problems("Rating", ratingValue=0, worstRating="0") == []
    assert problems("Rating", ratingValue=11, bestRating="10") == [
        'ratingValue "11" is above the bestRating 10'
    ]


def test_dates_in_the_wrong_order_and_past_ones() -> None:
    assert problems("Event", startDate="2026-12-02", endDate="2026-12-01") == [
        'endDate "2026-12-01" is before startDate "2026-12-02"'
    ]
    assert problems("Event", startDate="2026-12-02T20:00", endDate="2026-12-02") == []
    assert problems("Event", startDate="2026-12-02", endDate="2026") == []
    assert problems("JobPosting", validThrough="2026-11-21") == [
        'validThrough "2026-11-21" is past: the posting has expired'
    ]
    assert problems("JobPosting", validThrough="2026-11-22T00:00:00Z") == []
    assert problems("Offer", "offers", priceValidUntil="2025-12-31") == [
        'priceValidUntil "2025-12-31" is past: the offer has ended'
    ]


def test_long_and_odd_values_are_cut_and_no_danger() -> None:
    (problem,) = problems("Offer", price="9" * 1_000_000 + "x")
    assert len(problem) < 120
    assert len(problems("Offer", price=["x"] * 100_000)) == 50
    assert problems("Offer", price=10**400) == ["price " + '"' + "1" + "0" * 59 + '…" is not a number']
    assert problems("Rating", ratingValue="1/2/3", bestRating="x", worstRating=[{}]) == [
        'ratingValue "1/2/3" is not a number'
    ]


ODD: list[Any] = [
    None,
    True,
    False,
    0,
    -1.5,
    1e308,
    "",
    " ",
    "x",
    "@",
    ":",
    "2026",
    [],
    [[]],
    [["x"]],
    {},
    {"@id": 3},
]


def test_odd_values_everywhere_are_no_danger() -> None:
    """Every property of the table and of the checks, with every odd value, in types of every row."""
    names = {step.name for row in requirements() for path in row.paths for step in path} | LOOKED_AT
    for kind in sorted({min(types_named(row.types)) for row in requirements()} | {"Rating", "Offer"}):
        for odd in ODD:
            node = {"@type": kind, "@id": odd, **dict.fromkeys(names, odd)}
            nested = {"@type": [kind, odd], **{name: [node, odd] for name in names}}
            graph = Graph(list(jsonld_items([node, nested], 3)))
            for item in graph.items:
                whole = graph.whole(item.node)
                assert len(list(wrong_values(graph, whole, [kind], "", TODAY))) < 1_000
                assert len(list(missing(graph, whole, kind, ""))) < 100
