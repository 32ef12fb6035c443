"""JSON-LD and product offers of hand-written pages."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.page.metadata import analyse
from webanalytics.page.page import Page
from webanalytics.page.structured import jsonld as structured
from webanalytics.page.structured.jsonld import read_json
from webanalytics.page.structured.offer import product_offer

BOOK = {"@type": "Book", "name": "Tea"}
TEXT = json.dumps(BOOK)


def block(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def jsonld(*blocks: Any) -> list[Any]:
    return structured.jsonld(
        Page("".join(block(text if isinstance(text, str) else json.dumps(text)) for text in blocks))
    )


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"\n  {TEXT}\n",
        f"\ufeff{TEXT}",
        f"<!-- {TEXT} -->",
        f"<!--\n{TEXT}\n//-->",
        f"<![CDATA[{TEXT}]]>",
        f"//<![CDATA[\n{TEXT}\n//]]>",
        f"/* <![CDATA[ */ {TEXT} /* ]]> */",
        f"{TEXT};",
        f"{TEXT} ;;\n",
        '{"@type": "Book", "name": "Tea",}',
        '{"@type": "Book",, "name": "Tea" , , }',
        '{"@type": "Book", /* kind */ "name": "Tea" // title\n}',
        "{&quot;@type&quot;: &quot;Book&quot;, &quot;name&quot;: &quot;Tea&quot;}",
        "{&#34;@type&#34;: &#34;Book&#34;, &#34;name&#34;: &#34;Tea&#34;,}",
    ],
)
def test_usual_slips_are_mended(text: str) -> None:
    assert jsonld(text) == [BOOK]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"name": "two\nlines\tand tab"}', "two\nlines\tand tab"),
        ('{"name": "a\x01b"}', "ab"),  # the parser drops what HTML does not allow in a document
        (r'{"name": "it\'s"}', "it's"),
        (r'{"name": "a\x41",}', "ax41"),
        (r'{"name": "\u00fc\n\"q\" \\",}', 'ü\n"q" \\'),
        ('{"name": "http://x.example/, } // no /* comment */",}', "http://x.example/, } // no /* comment */"),
        ('{"name": "Tea &amp; more"}', "Tea &amp; more"),
        (r'{"name": "a\ud83d\ude00b\ud800c"}', "a\U0001f600b\ufffdc"),
    ],
)
def test_strings_are_kept_as_meant(text: str, name: str) -> None:
    assert jsonld(text) == [{"name": name}]


@pytest.mark.parametrize(
    "broken",
    ["", " ", "{", "no json", '{"a": }', '{"a" "b"}', "[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 5_000, "}" * 9,
     '{"a": "unclosed', "/*" * 50_000, "," * 100_000, '{"a":' + "1" * 5_000 + "x}", "\\" * 50_000, '"' * 50_001]
)  # fmt: skip
def test_a_broken_block_loses_nothing_but_itself(broken: str) -> None:
    start = time.process_time()
    assert jsonld(BOOK, broken, {"@type": "Person"}) == [BOOK, {"@type": "Person"}]
    assert effort_since(start) < 2


@pytest.mark.parametrize(
    "text",
    [
        '<!-- by a program --> {"name": "Tea"}',
        '<!-- a --><!-- b - c -->\n[{"name": "Tea"}]',
        '{"name": "Tea"}<!-- end -->',
        '<!-- a -->{"name": "Tea"}<!-- end -->\n',
        '<!-- {"name": "Tea"} -->',
    ],
)
def test_data_beside_comments_of_html_is_read(text: str) -> None:
    assert structured.jsonld(Page(f'<script type="application/ld+json">{text}</script>')) == [{"name": "Tea"}]


@pytest.mark.parametrize(
    ("written", "price"),
    [
        ("299.99000000000001", "299.99"),
        ("19.989999771118164", "19.99"),
        ("0.00000001234567", "0.00000001234567"),
    ],
)
def test_a_price_is_a_decimal(written: str, price: str) -> None:
    data = f'{{"@type": "Product", "offers": {{"price": {written}}}}}'
    assert analyse(Page(f'<script type="application/ld+json">{data}</script>'))["price"] == price


def test_values_one_after_the_other() -> None:
    assert jsonld(f"{TEXT}\n{TEXT},\n{TEXT};") == [BOOK] * 3


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 400])
def test_numbers_that_are_none_become_none(literal: str) -> None:
    assert jsonld(f'{{"width": {literal}, "height": 2.5, "depth": 12}}') == [
        {"width": None, "height": 2.5, "depth": 12}
    ]


def test_arrays_and_graphs_are_flattened_and_only_objects_kept() -> None:
    assert jsonld([[BOOK, "text", 5, None], BOOK]) == [BOOK, BOOK]
    assert jsonld({"@context": "https://schema.org", "@graph": [BOOK, {"@graph": [BOOK]}]}) == [BOOK, BOOK]
    assert jsonld({"@graph": BOOK}) == [BOOK]
    assert jsonld({"@type": "Dataset", "@graph": [BOOK]}) == [{"@type": "Dataset"}, BOOK]
    assert jsonld("12", '"text"', "null") == []


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("application/ld+json", True),
        (" Application/LD+JSON; charset=utf-8", True),
        ("application&#x2F;ld&#x2B;json", True),
        ("application/json", False),
        ("text/javascript", False),
    ],
)
def test_which_scripts_are_blocks(kind: str, read: bool) -> None:
    assert bool(structured.jsonld(Page(f'<body><p>x<script type="{kind}">{TEXT}</script>'))) is read


def test_markup_inside_a_block_is_text() -> None:
    assert jsonld('{"name": "<b>Tea</b> &lt; <!-- x -->"}') == [{"name": "<b>Tea</b> &lt; <!-- x -->"}]


def test_limits() -> None:
    found = jsonld(*[TEXT] * 5)
    assert found == [BOOK] * 5
    for name, most, kept in (
        ("BLOCKS", 2, 2),
        ("ITEMS", 3, 3),
        ("LENGTH", len(TEXT) - 1, 0),
        ("DEPTH", 1, 5),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(structured, f"MAX_{name}", most)
            assert jsonld(*[TEXT] * 5) == found[:kept], name
    for most, is_read in ((4, True), (3, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(structured, "MAX_DEPTH", most)
            assert bool(jsonld('{"a": [{"b": [1]}]}')) is is_read


def test_order_of_the_analyses_makes_no_difference() -> None:
    html = f"{block(TEXT)}<noscript>{block(TEXT)}</noscript><svg><desc>{block(TEXT)}</desc></svg>"
    first, second = Page(html), Page(html)
    alone = structured.jsonld(first)
    assert analyse(second)["jsonld"] == alone == analyse(first)["jsonld"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.booleans())
def test_what_the_standard_library_writes_is_read_back(value: Any, escaped: bool) -> None:
    # Without escapes a half character or "</script" could not stand in a page; read_json sees neither.
    text = json.dumps(value, ensure_ascii=escaped)
    assert read_json(text) == [value]


@given(JSON)
def test_superfluous_commas_and_comments_change_nothing(value: Any) -> None:
    text = json.dumps([value, value], indent=1).replace("\n]", ",\n] // end")
    assert read_json(f"<!-- /* start */ {text} \n-->") == [[value, value]]


JSON_PIECES = st.sampled_from(
    [*'{}[]",:\\/*;&<!-> \n1e9.-', "null", "NaN", "\\u", "\\ud800", "&quot;", "//", "<![CDATA[", "]]>"]
)


@settings(max_examples=100)
@given(st.lists(JSON_PIECES).map("".join))
def test_any_text_gives_finite_values_or_none(text: str) -> None:
    values = read_json(text)
    json.dumps(values, allow_nan=False).encode("utf-8")
    json.dumps(values, ensure_ascii=False).encode("utf-8")


OFFER = {
    "@type": "Offer",
    "price": "19.90",
    "priceCurrency": "EUR",
    "availability": "https://schema.org/InStock",
}
SOLD = ("19.90", "EUR", "https://schema.org/InStock")


@pytest.mark.parametrize(
    ("data", "offer"),
    [
        ({"@type": "Product", "offers": OFFER}, SOLD),
        ({"@type": "Product", "offers": [OFFER, {**OFFER, "price": "5"}]}, SOLD),
        ({"@type": ["Product", "Car"], "offers": [{"@type": "Offer", "availability": "x"}, OFFER]}, SOLD),
        ({"@type": "https://schema.org/Product", "offers": OFFER}, SOLD),
        ({"@graph": [{"@type": "WebSite"}, {"@type": "Product", "offers": OFFER}]}, SOLD),
        ([{"@type": "WebPage", "mainEntity": {"@type": "Product", "offers": OFFER}}], SOLD),
        ({"@type": "ProductGroup", "hasVariant": [{"@type": "Product", "offers": OFFER}]}, SOLD),
        (OFFER, SOLD),
        ({"@type": "Event", "offers": OFFER}, SOLD),
        ([{"@type": "Event", "offers": {**OFFER, "price": "1"}}, {"@type": "Product", "offers": OFFER}], SOLD),
        (
            {"@type": "Product", "isRelatedTo": {"@type": "Product", "offers": {**OFFER, "price": "1"}}, "offers": OFFER},
            SOLD,
        ),
        (
            {"@type": "Product", "isRelatedTo": {"@type": "Product", "offers": OFFER}, "name": "price"},
            ("", "", ""),
        ),
        (
            {"@type": "Product", "offers": {"@type": "AggregateOffer", "lowPrice": 5, "highPrice": 9, "priceCurrency": "USD"}},
            ("5", "USD", ""),
        ),
        (
            {"@type": "Product", "offers": {"@type": "AggregateOffer", "offerCount": 2, "offers": [OFFER, OFFER]}},
            SOLD,
        ),
        (
            {
                "@type": "Product",
                "offers": {
                    "@type": "Offer",
                    "availability": "InStock",
                    "priceSpecification": [
                        {"price": "99", "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
                        {"price": "79", "priceCurrency": "EUR"},
                    ],
                },
            },
            ("79", "EUR", "InStock"),
        ),
        ([{"@type": "Product", "offers": {"@id": "#o"}}, {"@id": "#o", **OFFER}], SOLD),
        ({"@type": "Product", "offers": {"availability": {"@id": "https://schema.org/OutOfStock"}}}, ("", "", "https://schema.org/OutOfStock")),
        ({"@type": "Product", "offers": {"price": None, "priceCurrency": "EUR", "availability": True}}, ("", "EUR", "")),
        ({"@type": "Product", "offers": "19.90", "price": "3"}, ("", "", "")),
        ({"@type": "NewsArticle", "name": 'the "price"'}, ("", "", "")),
    ],
)  # fmt: skip
def test_offer_of_jsonld(data: Any, offer: tuple[str, str, str]) -> None:
    assert product_offer(Page(block(json.dumps(data)))) == offer


@pytest.mark.parametrize("written", ["19.90", "1299.00", "20", "0.10", "1e3", '"1.299,00 "'])
def test_a_price_is_given_as_written(written: str) -> None:
    found = analyse(Page(block('{"@type": "Product", "offers": {"price": %s}}' % written)))  # noqa: UP031
    assert found["price"] == written.strip('"').strip()
    if "," not in written:
        assert math.isclose(found["jsonld"][0]["offers"]["price"], float(written))


SCOPE = '<div itemscope itemtype="https://schema.org/{}">{}</div>'
PROPERTIES = (
    '<b itemprop="price" content="19.90">19,90 €</b><meta itemprop="priceCurrency" content="EUR">'
    '<link itemprop="availability" href="https://schema.org/InStock">'
)


@pytest.mark.parametrize(
    ("html", "offer"),
    [
        (SCOPE.format("Offer", PROPERTIES), SOLD),
        (SCOPE.format("Product", '<p itemprop="offers" itemscope itemtype="http://schema.org/Offer">' + PROPERTIES), SOLD),
        (SCOPE.format("Product", PROPERTIES), SOLD),
        (f"<div itemScope>{PROPERTIES.replace('itemprop', 'itemProp')}</div>", SOLD),
        (SCOPE.format("Offer", SCOPE.format("UnitPriceSpecification", PROPERTIES)), SOLD),
        (SCOPE.format("AggregateOffer", '<i itemprop="lowPrice"> 5 </i>'), ("5", "", "")),
        (SCOPE.format("Offer", '<i itemprop="price">5</i>') + SCOPE.format("Offer", '<i itemprop="price">6</i>'), ("5", "", "")),
        (SCOPE.format("Hotel", '<i itemprop="priceRange">$$</i><i itemprop="price">6</i>'), ("", "", "")),
        ("<p>itemprop price</p>", ("", "", "")),
    ],
)  # fmt: skip
def test_offer_of_microdata(html: str, offer: tuple[str, str, str]) -> None:
    assert product_offer(Page(html)) == offer


def test_sources_fill_each_other_up_in_order() -> None:
    tags = '<meta property="product:price:amount" content="{}"><meta property="product:price:currency" content="USD">'
    product = block('{"@type": "Product", "offers": {"price": "7", "availability": "InStock"}}')
    other_price = analyse(Page(product + tags.format("8")))
    same_price = analyse(Page(product + tags.format("7")))
    assert (other_price["price"], other_price["priceCurrency"], other_price["availability"]) == (
        "7",
        "",
        "InStock",
    )
    assert (same_price["price"], same_price["priceCurrency"], same_price["availability"]) == (
        "7",
        "USD",
        "InStock",
    )
    assert analyse(Page(tags.format("8")))["price"] == "8"


@pytest.mark.parametrize(
    "html",
    [
        block('{"a": [' + '{"price": 1},' * 100_000 + "]}"),
        block("{" + '"offers": {"price' * 3_000 + "}"),
        "<div itemscope>" * 1_500 + "<i itemprop=price></i>" * 50_000,
        SCOPE.format("PriceSpecification", "") * 10 + "<div itemscope itemtype=xPriceSpecification>" * 1_500 + "<i itemprop=price>1</i>" * 20_000,
        block('{"@id": "a", "offers": {"@id": "a"}, "price": 1, "@type": "Product"}'),
        block('{"@type": "Product", "offers": {"@id": "b"}}') + block('{"@id": "b", "x": 1, "offers": {"@id": "b"}, "price": ""}'),
    ],
    ids=["many", "deep", "scopes", "specifications", "own", "circle"],
)  # fmt: skip
def test_hostile_structured_data_takes_little_time(html: str) -> None:
    page = Page(html)
    assert page.tree is not None
    start = time.process_time()
    analyse(page)
    assert effort_since(start) < 3
