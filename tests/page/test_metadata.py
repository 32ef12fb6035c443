"""Metadata of hand-written pages, whose answers are known by reading them."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.page.metadata import MetadataElements, analyse
from webanalytics.page.page import Page

ADDRESS = "https://shop.example/tea/green?x=1"

# The field table of the specification, typed from it by hand.
# ruff: noqa: SIM905
PLAIN_FIELDS = """requestUrl url canonical lang charset title image favicons author description keywords source price
priceCurrency availability robots jsonld viewport theme-color application-name headings imgTags responseBody""".split()
OPEN_GRAPH_FIELDS = """og:url og:locale og:locale:alternate og:title og:type og:description og:determiner og:site_name
og:image og:image:secure_url og:image:type og:image:width og:image:height og:image:alt""".split()
CARD_FIELDS = """card:title card:description card:image card:image:alt card:card card:site card:site:id card:url
card:account_id card:creator card:creator:id card:player card:player:width card:player:height card:player:stream
card:app:name:handset card:app:name:tablet card:app:name:store card:app:id:handset card:app:id:tablet
card:app:id:store card:app:url:handset card:app:url:tablet card:app:url:store""".split()
FIELDS = PLAIN_FIELDS + OPEN_GRAPH_FIELDS + CARD_FIELDS
OWN_FIELDS = ["authors", "headline"]
LISTS = {"favicons", "jsonld", "headings", "imgTags", "authors"}
ENTRY_KEYS = {
    "favicons": ({"rel", "href"}, {"sizes", "type"}),
    "headings": ({"level", "text"}, set()),
    "imgTags": ({"src", "alt"}, {"width", "height"}),
}


def read(html: str | bytes, **parameters: Any) -> dict[str, Any]:
    return analyse(Page(html, ADDRESS), **parameters)


def check_types(found: dict[str, Any]) -> None:
    """Every field in order, each of its type, strings plain and writable."""
    assert list(found) == FIELDS + OWN_FIELDS
    for field, value in found.items():
        if field not in LISTS:
            assert type(value) is str, field
            continue
        assert type(value) is list, field
        for entry in value:
            if field == "authors":
                assert type(entry) is str
                entry.encode("utf-8")
                continue
            assert type(entry) is dict
            if field != "jsonld":
                needed, optional = ENTRY_KEYS[field]
                assert needed <= entry.keys() <= needed | optional
                assert all(type(part) is str for part in entry.values())
                "".join(entry.values()).encode("utf-8")


PAGE = """<!doctype html>
<html lang="en-GB"><head>
<meta charset="utf-8"><title>
  Green   tea &amp; more </title>
<base href="/shop/">
<link rel="canonical" href="tea">
<link rel="Shortcut Icon" href="favicon.ico">
<link rel="apple-touch-icon" sizes="180x180" type="image/png" href="//cdn.example/touch.png">
<link rel="stylesheet" href="style.css">
<meta name="author" content="Ada Löw"><meta name="author" content="Second">
<meta name="Description" content="  Fresh
   leaves ">
<meta name="keywords" content="tea, green"><meta name="keywords" content=""><meta name="keywords" content="leaf">
<meta name="source" content="Tea Weekly">
<meta name="robots" content="noindex"><meta name="robots" content="nofollow">
<meta name="viewport" content="width=device-width">
<meta name="theme-color" content="#0a0" media="(prefers-color-scheme: light)"><meta name="theme-color" content="#000">
<meta name="application-name" content="Tea">
<meta property="og:title" content=""><meta property="og:title" content="Tea &#8211; green">
<meta name="og:type" content="product"><meta property="og:image" content="/i/tea.jpg">
<meta property="og:image:alt" content="A cup"><meta property="og:locale" content="en_GB">
<meta property="og:locale:alternate" content="de_DE"><meta property="og:locale:alternate" content="fr_FR">
<meta name="twitter:card" content="summary"><meta property="twitter:site" content="@tea">
<meta name="twitter:image:src" content="card.png"><meta name="twitter:player:stream" content="/v.mp4">
<meta name="twitter:app:name:iphone" content="Tea app"><meta name="twitter:app:id:ipad" content="42">
<meta name="twitter:app:url:googleplay" content="tea://green">
<meta property="product:price:amount" content="4.50"><meta property="product:price:currency" content="EUR">
<meta property="product:availability" content="in stock">
</head><body>
<h1>Green <em>tea</em></h1><h3>Leaves<br>and <script>var x</script>buds</h3><h2></h2>
<img src="cup.jpg" alt=" A  cup " width="10" height="20"><img alt="no source"><img src="data:image/gif;base64,R0">
<noscript><img src="pixel.gif"><h4>No script</h4></noscript><img src="after.jpg">
</body></html>"""


def test_every_field_of_a_page() -> None:
    found = read(PAGE)
    check_types(found)
    empty = {"price": "4.50", "priceCurrency": "EUR", "availability": "in stock"}
    expected = (
        dict.fromkeys(FIELDS, "")
        | {field: [] for field in LISTS}
        | empty
        | {
            "requestUrl": ADDRESS,
            "url": ADDRESS,
            "canonical": "https://shop.example/shop/tea",
            "lang": "en-GB",
            "charset": "utf-8",
            "title": "Green tea & more",
            "image": "https://shop.example/i/tea.jpg",
            "favicons": [
                {"rel": "shortcut icon", "href": "https://shop.example/shop/favicon.ico"},
                {
                    "rel": "apple-touch-icon",
                    "href": "https://cdn.example/touch.png",
                    "sizes": "180x180",
                    "type": "image/png",
                },
            ],
            "author": "Ada Löw",
            "authors": ["Ada Löw", "Second"],
            "headline": "Green tea",
            "description": "Fresh leaves",
            "keywords": "tea, green, leaf",
            "source": "Tea Weekly",
            "robots": "noindex, nofollow",
            "viewport": "width=device-width",
            "theme-color": "#0a0",
            "application-name": "Tea",
            "headings": [
                {"level": "h1", "text": "Green tea"},
                {"level": "h3", "text": "Leavesand buds"},
                {"level": "h2", "text": ""},
            ],
            "imgTags": [
                {"src": "https://shop.example/shop/cup.jpg", "alt": "A cup", "width": "10", "height": "20"},
                {"src": "", "alt": "no source"},
                {"src": "data:image/gif;base64,R0", "alt": ""},
                {"src": "https://shop.example/shop/after.jpg", "alt": ""},
            ],
            "og:title": "Tea – green",
            "og:type": "product",
            "og:image": "https://shop.example/i/tea.jpg",
            "og:image:alt": "A cup",
            "og:locale": "en_GB",
            "og:locale:alternate": "de_DE, fr_FR",
            "card:card": "summary",
            "card:site": "@tea",
            "card:image": "https://shop.example/shop/card.png",
            "card:player:stream": "https://shop.example/v.mp4",
            "card:app:name:handset": "Tea app",
            "card:app:id:tablet": "42",
            "card:app:url:store": "tea://green",
        }
    )
    assert found == expected


def test_fields_are_the_declared_ones() -> None:
    operation = pytest.importorskip(
        "webanalytics.page.declarations.metadata", reason="the declarations are not here"
    )
    assert [field.name for field in operation.METADATA.fields] == FIELDS + OWN_FIELDS


def test_a_page_that_says_nothing() -> None:
    found = read("<p>Hello")
    filled = {field for field, value in found.items() if value}
    check_types(found)
    assert filled == {"requestUrl", "url", "charset"}


def test_body_is_filled_only_when_asked_for() -> None:
    html = "<p>Grüße"
    assert read(html)["responseBody"] == ""
    assert read(html, body=True)["responseBody"] == html


def test_body_can_be_written_whatever_it_holds() -> None:
    assert read("<p>a\ud800b", body=True)["responseBody"] == "<p>a?b"


@pytest.mark.parametrize("html", ["", " \n "])
def test_a_page_without_html_is_a_bad_row(html: str) -> None:
    with pytest.raises(RowError, match="`url`"):
        read(html)


def test_final_url_is_where_links_start_from() -> None:
    page = Page('<img src="a.png">', "http://old.example/x", "https://new.example/y/z")
    found = analyse(page)
    assert (found["requestUrl"], found["url"]) == ("http://old.example/x", "https://new.example/y/z")
    assert found["imgTags"][0]["src"] == "https://new.example/y/a.png"


@pytest.mark.parametrize(
    ("head", "header", "charset"),
    [
        ('<meta charset=" ISO-8859-1 ">', "text/html; charset=utf-8", "ISO-8859-1"),
        ('<meta http-equiv="Content-type" content="text/html; Charset = windows-1252">', "", "windows-1252"),
        ('<meta http-equiv="content-type" content="text/html"><meta charset="koi8-r">', "", "koi8-r"),
        ("<title>x</title>", "text/html; charset=windows-1251", "windows-1251"),
        ("<title>x</title>", "text/html", "utf-8"),
    ],
)
def test_charset_as_declared_else_from_header_else_detected(head: str, header: str, charset: str) -> None:
    page = Page(f"<head>{head}</head><p>größer als ü".encode(), ADDRESS, content_type=header)
    assert analyse(page)["charset"].lower() == charset.lower()


@pytest.mark.parametrize(
    ("html", "image"),
    [
        ('<meta property="og:image" content="/a"><meta name="image" content="/b">', "https://shop.example/b"),
        (
            '<meta property="og:image" content="/a"><meta itemprop="image" content="/b">',
            "https://shop.example/b",
        ),
        ('<link itemprop="image" href="/b">', "https://shop.example/b"),
        ('<div itemscope><img itemprop="image" src="/b"></div>', "https://shop.example/b"),
        (
            '<meta property="og:image" content="/a"><div itemscope>'
            '<div itemprop="author" itemscope><img itemprop="image" src="/face"></div></div>',
            "https://shop.example/a",
        ),
        ('<meta property="og:image:url" content="/a">', "https://shop.example/a"),
    ],
)
def test_image_is_the_image_tag_else_open_graph(html: str, image: str) -> None:
    assert read(html)["image"] == image


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ('<meta itemprop="author" content="Ada">', "Ada"),
        ('<meta itemprop="author" content="Ada"><meta name="author" content="Bo">', "Bo"),
        ('<meta property="author" content="Bo">', "Bo"),
        ('<span itemprop="author">Ada</span>', ""),
    ],
)
def test_author(html: str, author: str) -> None:
    assert read(html)["author"] == author


def test_one_tag_may_carry_two_names() -> None:
    found = read(
        '<meta name="description" property="og:description" content="Both"><meta name="keywords" property="keywords" content="once">'
    )
    assert (found["description"], found["og:description"], found["keywords"]) == ("Both", "Both", "once")


def test_meta_tags_count_wherever_they_stand() -> None:
    assert read('<body><p>x<div><meta name="description" content="late">')["description"] == "late"


def test_the_title_of_a_drawing_is_not_that_of_the_page() -> None:
    assert read("<svg><title>Icon</title></svg><p>x")["title"] == ""
    assert read("<title> </title><svg><title>Icon</title></svg><title>Page</title>")["title"] == "Page"


@pytest.mark.parametrize(
    ("html", "headings"),
    [
        ("<h2><p>Text</p></h2>", [("h2", "Text")]),
        ("<h2></h2><p>Text</p>", [("h2", "")]),
        ("<h2>\n</h2>\n<p>Text</p>", [("h2", "")]),
        ("<h1>One<h2>Two</h2>", [("h1", "One"), ("h2", "Two")]),
        ("<h1>a<style>b{}</style><template>c</template><i>d</i> e</h1>", [("h1", "ad e")]),
        ("<h1>a&nbsp;b\u200b</h1>", [("h1", "a b")]),
        ("<h2>Lamp&shy;<i>oil\ufeff</i></h2>", [("h2", "Lampoil")]),
        ('<h2>Oil <a class="headerlink" href="#oil" title="Permalink">¶</a></h2>', [("h2", "Oil")]),
        ('<h2><a href="/tea#oil">#</a> Oil</h2>', [("h2", "Oil")]),
        ('<h2>C<a href="/c">#</a> and <a href="#3">§ 3</a></h2>', [("h2", "C# and § 3")]),
        ('<h2>Oil<span class="mw-editsection">[<a href="/w?edit">edit</a>]</span></h2>', [("h2", "Oil")]),
    ],
)
def test_heading_texts(html: str, headings: list[tuple[str, str]]) -> None:
    assert [(entry["level"], entry["text"]) for entry in read(html)["headings"]] == headings


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html xml:lang="de">', "de"),
        ("<br>Notice<HTML dir=ltr LANG=es><p>x", "es"),
        ("<p><b>x</b><script>'<html lang=fr>'</script>", ""),
        ('<html><p lang="it">x', ""),
    ],
)
def test_language_of_the_html_tag(html: str, language: str) -> None:
    assert read(f"{html}<p>x")["lang"] == language


@pytest.mark.parametrize(
    "link",
    [
        "/a/b",
        "a",
        "../a",
        "./a",
        "//h.example/a",
        "?q",
        "#f",
        "http://x.example/",
        "mailto:a@b",
        "/a/../b",
        "",
        " /a ",
        "/a\n/b",
    ],
)
@pytest.mark.parametrize(
    "base", ["https://s.example/d/e?x", "http://s.example", "file:///d/e.html", "", "shop", "hard::x"]
)
def test_links_are_joined_as_the_standard_library_does(base: str, link: str) -> None:
    page = Page("<p>", base)
    expected = page.urljoin(link.strip().replace("\n", "")) if link else ""
    assert page.links.absolute(link) == expected


@given(st.text("/.:?#abhtps\\ \n", max_size=20))
def test_any_link_is_joined_as_the_standard_library_does(link: str) -> None:
    page = Page("<p>", "https://s.example/d/e?x")
    expected = page.urljoin(link.replace("\n", ""))
    # The standard library drops a question mark or number sign without anything after it; ours keeps what is written.
    assert (
        re.sub(r"\?(?=#|$)|#$", "", page.links.absolute(link)) == re.sub(r"\?(?=#|$)|#$", "", expected)
        or not link.strip()
    )


def test_equal_links_are_one_string() -> None:
    images = read('<img src="/a.png" alt="x y">' * 2)["imgTags"]
    assert images[0]["src"] is images[1]["src"]
    assert images[0]["alt"] is images[1]["alt"]


def test_number_of_entries_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MetadataElements, "max_entries", 7)
    found = read("<h1>a</h1><img><link rel=icon href=a>" * 30)
    assert [len(found[field]) for field in ("headings", "imgTags", "favicons")] == [7, 7, 7]


@pytest.mark.parametrize(
    "html",
    [
        f"<base href='https://x.example/{'a' * 1_000_000}/'>" + "<img src=a>" * 20_000,
        "<h1><b>" * 200 + "word " * 200_000,
        "<div>" * 2_000 + "<img itemprop=image src=''>" * 20_000,
        "<div itemscope itemprop=x>" + "<div>" * 1_500 + "<img itemprop=image src=a>" * 20_000,
        f'<meta name="{"og:title " * 50_000}" content="{"x " * 500_000}">',
        "<svg>" * 1_000 + "<title>x</title>" * 20_000,
        "<noscript>" * 1_900,
        "<h1></h1><p>" * 50_000,
        "<p>x<html " + " " * 500_000 + "<html " * 9_000,
        "<br><html" + " lang" * 9_000,
    ],
    ids=["base", "headings", "image", "scope", "names", "titles", "noscript", "paragraphs", "html", "lang"],
)
def test_hostile_pages_take_little_time_and_space(html: str) -> None:
    page = Page(html, ADDRESS)
    assert page.tree is not None
    start = time.process_time()
    found = analyse(page)
    assert effort_since(start) < 3
    check_types(found)
    assert (
        sum(
            len(text)
            for field in ("headings", "imgTags")
            for entry in found[field]
            for text in entry.values()
        )
        < 20_000_000
    )


PIECES = st.sampled_from(
    ["<meta ", "name=", "property=", "itemprop=", "content=", "charset=", "http-equiv=content-type ", "og:title", "image",
     "keywords", "twitter:image", "'", '"', ">", "<link rel=icon href=", "<link rel=canonical href=", "//[", "http://[::1",
     "<h1>", "<h2>", "</h1>", "<p>", "<img src=", "<title>", "<svg>", "<noscript>", "</noscript>", "<base href=", "\x00",
     "\ud800", "&#0;", "&#xD800;", "&#1114112;", "\x1f", "\u2028", "<!--", "-->", "<script type=application/ld+json>",
     "</script>", "{", "}", "[", "]", '"price":', "1e999", "NaN", '"@graph":', '"offers":', '"@type":"Product"', "itemscope ",
     "itemtype=http://schema.org/Offer ", "itemprop=price ", "<html lang=", "<template>", "<frameset>", "<plaintext>", ",", ":"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@example("<meta <html lang=\ud800")
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=40).map("".join))
def test_any_text_is_read_or_is_a_bad_row(html: str) -> None:
    try:
        found = read(html, body=True)
    except RowError:
        return
    check_types(found)
    "".join(value for field, value in found.items() if field not in LISTS).encode("utf-8")


@settings(max_examples=70, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=60).map(lambda content: b'<meta name="robots" content="' + content),
    )
)
def test_any_bytes_are_read_or_are_a_bad_row(content: bytes) -> None:
    with contextlib.suppress(RowError):
        check_types(read(content))


def test_importing_it_is_light() -> None:
    code = "import sys, webanalytics.page.metadata; print(*sorted({'pandas', 'pydantic', 'numpy', 'trafilatura'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.strip() == ""
