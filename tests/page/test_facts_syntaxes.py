"""Facts of structured data by how it is written: blocks that are broken, microdata, RDFa; and without end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.structured_html import block, needed, read
from webanalytics.page.facts import schema_org
from webanalytics.page.facts.schema_org import (
    MAX_LOOKUPS,
)
from webanalytics.page.structured.items import Graph

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


@pytest.mark.parametrize(
    ("value", "types"),
    [
        ({"@type": "WebSite", "potentialAction": {"type": "SearchAction"}}, ["WebSite", "SearchAction"]),
        (
            {"type": ["Thing", "csvw:Table", "http://www.productontology.org/id/Tea", "schema:Place"]},
            ["Thing", "Place"],
        ),
        ({"@type": "Event", "startDate": {"@type": "Date", "@value": "2026-11-22"}}, ["Event"]),
        ({"@context": {"s": "https://schema.org/"}, "@type": "s:Place"}, ["Place"]),
    ],
)
def test_types_are_those_that_the_context_of_schema_org_gives(value: Any, types: list[str]) -> None:
    """JSON-LD 1.1, sections 3.3 and 4.2.1; schema.org's context calls keywords "id" and "type", too."""
    assert read(block({"@context": "https://schema.org", **value})).types == types


def test_keywords_by_other_names_refer_and_identify() -> None:
    recipe = {"type": "Recipe", "id": "#r", "name": "x", "author": {"id": "#a"}}
    rest = [{"@id": "#r", "image": "/i.png"}, {"id": "#a", "@type": "Person", "name": "Ann"}]
    assert needed(block({"@context": "https://schema.org", "@graph": [recipe, *rest]})) == []
    assert needed(block(recipe)) == [("Recipe", "image is missing (recipe)")]


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


def test_names_of_microdata_may_be_whole_addresses() -> None:
    """HTML Standard, section 5.2.3: a name is a token of the item's type or an absolute URL."""
    html = """<div itemscope itemtype="https://schema.org/Recipe"><b itemprop="http://schema.org/name">x</b>
    <img itemprop="https://schema.org/image" src=i><b itemprop="https://schema.org/datePublished">gestern</b>
    <b itemprop="http://other.example/dateModified">gestern</b>
    <p itemprop="https://schema.org/isRelatedTo" itemscope itemtype="https://schema.org/Product"></p></div>"""
    assert needed(html) == [("Recipe", 'datePublished "gestern" is not an ISO 8601 date')]


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
    assert 100_000 < calls < 2 * MAX_LOOKUPS


def test_unknown_names_cost_no_more_than_they_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(schema_org, "meant", lambda _, name: asked.append(name) or "")
    found = read(block({"@type": [f"T{n}" for n in range(30_000)], **{f"name{n}": n for n in range(30_000)}}))
    assert len(found.faults) == 50
    assert len(asked) <= 50
    assert len(found.types) == 10
