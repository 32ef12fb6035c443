"""Trees of pages: structures that browsers read in another way than a parser of older HTML."""

from __future__ import annotations

import time
from typing import Any

import pytest
from lxml import etree

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.page import metadata
from webanalytics.page import tree as tree_module
from webanalytics.page.facts import facts
from webanalytics.page.keywords import keywords
from webanalytics.page.page import Page
from webanalytics.page.text import text
from webanalytics.page.tree import keeps_busy, parse

URL = "https://shop.example/tea"
PROSE = "Tea is made of leaves and of hot water, and it is drunk from cups, bowls and glasses all over the world. "


def shape(html: str) -> str:
    """The body of a page as it was parsed."""
    return etree.tostring(parse(html).tree.find("body"), encoding="unicode", method="html").strip()


def read(html: str) -> dict[str, Any]:
    page = Page(html, URL)
    return {**metadata.analyse(page), **facts.analyse(page), **text.analyse(page)}


def test_noscript_is_raw_text_so_that_its_markup_closes_nothing() -> None:
    links = "".join(f"<a href=/{number}>Leaf {number}</a> " for number in range(466))
    html = (
        f"<title>Tea</title><body><noscript><div></noscript><div><p>{PROSE * 3}</p>{links}</div>"
        "<noscript><img src=/count.gif></div><h1>No scripts</h1></noscript>"
    )
    found = read(html)
    assert found["internal_links"] == 466
    assert (found["images"], found["imgTags"], found["headings"]) == (0, [], [])
    assert PROSE.strip() in found["text"]
    assert "leaf" in keywords.analyse(Page(html, URL))["keywords"]


def test_noscript_in_the_head_does_not_end_it() -> None:
    found = read(
        "<head><noscript><img src=/count.gif></noscript><title>Tea</title><link rel=canonical href=/t>"
    )
    assert (found["title"], found["outside_head"], found["images"]) == ("Tea", [], 0)


@pytest.mark.parametrize("name", ["clipPath", "foreignObject", "linearGradient", "textPath"])
def test_elements_of_svg_have_capitals_that_the_same_letters_have_nowhere_else(name: str) -> None:
    """HTML standard, section 13.2.6.5 "The rules for parsing tokens in foreign content"."""
    outside, inside = f"<{name}></{name}>", f"<svg><{name}></{name}></svg>"
    tags = [element.tag for element in parse(outside + inside + outside + inside).elements[3:]]
    assert tags == [name.lower(), "svg", name] * 2


def test_template_is_not_the_pages() -> None:
    found = read(
        "<template><meta name=robots content=noindex><h1>Not yet</h1><img alt=Pot src=/p><a href=/x>x</a>"
        '<script type="application/ld+json">{"@type":"Product"}</script></template>'
        f"<title>Tea</title><h1>Tea</h1><p>{PROSE}</p>"
    )
    assert (found["robots"], found["jsonld"], found["imgTags"], found["links"]) == ("", [], [], [])
    assert found["headings"] == [{"level": "h1", "text": "Tea"}]
    assert "Not yet" not in found["text"]
    assert found["structured_types"] == []


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<tea-pot><template shadowrootmode=open><p>in</p></template></tea-pot>", True),
        ("<div><template shadowrootmode=Closed><p>in</p></template>after</div>", True),
        ("<div><template shadowrootmode=open><p><span><template shadowrootmode=open>in", True),
        ("<div><template shadowrootmode=no><p>in</p></template></div>", False),
        ("<ul><template shadowrootmode=open><li>in</template></ul>", False),
        ("<div><template><div><template shadowrootmode=open>in", False),
        ("<svg><font-face><template shadowrootmode=open /></font-face></svg><p>in</p>", True),
    ],
)
def test_declared_shadow_roots_are_shown(html: str, shown: bool) -> None:
    page = Page(html)
    assert ("in" in page.visible_text.split("\n")) is shown
    assert (page.tree.find(".//template") is None) is shown


def test_text_after_a_shadow_root_stays_behind_it() -> None:
    assert shape("<div>a<template shadowrootmode=open>b<i>c</i>d</template>e<b>f</b></div>") == (
        "<body><div>ab<i>c</i>de<b>f</b></div></body>"
    )


def test_feeds_are_no_language_alternates() -> None:
    found = read(
        '<link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=fr href=/fr type="text/html; x">'
        "<link rel=alternate hreflang=en type=application/rss+xml href=/feed>"
        "<link rel=alternate hreflang=en type=application/atom+xml href=/atom>"
        "<link rel=alternate hreflang=en type=application/json href=/json>"
        "<link rel='alternate stylesheet' hreflang=en href=/css>"
    )
    assert [entry["lang"] for entry in found["hreflangs"]] == ["de", "fr"]


def test_the_end_of_one_heading_closes_another() -> None:
    found = read(f"<h1>Tea</h2><p>{PROSE}</p><h2>Milk</h2>")
    assert [heading["text"] for heading in found["headings"]] == ["Tea", "Milk"]
    assert found["title_alt"] == "Tea"


def test_a_heading_holds_its_paragraph() -> None:
    assert read("<h2><p>Tea</p></h2><h3></h3><p>No heading</p>")["headings"] == [
        {"level": "h2", "text": "Tea"},
        {"level": "h3", "text": ""},
    ]


def test_image_is_img() -> None:
    found = read("<image src=/pot.png alt=Pot><svg><image src=/drawn.png></svg>")
    assert [image["src"] for image in found["imgTags"]] == ["https://shop.example/pot.png"]


@pytest.mark.parametrize(
    "html",
    [
        f"<html><head><title>Tea</title></head></html><body><h1>Tea</h1><p>{PROSE}</p></body>",
        f"<html><body></body></html><h1>Tea</h1><p>{PROSE}</p>",
        f"<html><head></head><body><h1>Tea</h1></body></html><p>{PROSE}</p></html>",
        f"</body></html><html lang=en><body class=x><h1>Tea</h1><p>{PROSE}</p>",
    ],
)
def test_what_follows_the_end_of_the_page_belongs_to_it(html: str) -> None:
    found = read(html)
    assert (found["title_alt"], found["note"]) == ("Tea", "")
    assert PROSE.strip() in found["text"]


def test_attributes_of_late_html_and_body_tags_count() -> None:
    root = parse("<br>Notice: undefined<html lang=es class=a><html class=b><body id=x><p>Hola").tree
    assert dict(root.attrib) == {"lang": "es", "class": "a"}
    assert root.find("body").get("id") == "x"


def test_a_script_does_not_close_itself() -> None:
    html = f"<body><p>{PROSE}</p><script src=/a.js /> function brew() {{ return function() {{}} }} </script><p>Milk"
    assert Page(html).visible_text.split("\n") == [PROSE.strip(), "Milk"]
    assert "function" not in keywords.analyse(Page(html))["keywords"]


@pytest.mark.parametrize(
    ("attributes", "hidden"),
    [
        ("style='DISPLAY: none'", True),
        ("style='color:red;Display\n:\tNONE !important'", True),
        ("style='display:/* no */none'", True),
        ("style='display:block;display:none'", True),
        ("style='display:none;display:block'", False),
        ("style='--display:none'", False),
        ("style='background:url(display:none)'", False),
        ("hidden", True),
        ("HIDDEN=''", True),
    ],
)
def test_hidden_elements(attributes: str, hidden: bool) -> None:
    assert Page(f"<p>a<p {attributes}>b").visible_text == ("a" if hidden else "a\nb")


@pytest.mark.parametrize(
    ("html", "note"),
    [
        (f"<p hidden>{PROSE}", "The page holds text, but none that a browser shows."),
        (
            "<div id=app></div><script>draw()</script>",
            'The page holds no text before its scripts have run; `render="auto"` lets a browser run them.',
        ),
        (f"<body><noscript><p>{PROSE}</noscript>", "The page holds no text."),
        (f"<p>{PROSE}", ""),
    ],
)
def test_an_empty_main_text_says_why(html: str, note: str) -> None:
    found = read(html)
    assert found["note"] == note
    assert (found["text"] == "") is bool(note)


@pytest.mark.parametrize(
    ("html", "body"),
    [
        ("<table><tr><td>a</table>", "<table><tbody><tr><td>a</td></tr></tbody></table>"),
        ("<table>x<tr><td>a</table>", "x<table><tbody><tr><td>a</td></tr></tbody></table>"),
        ("<p>a<div>b</div>c</p>", "<p>a</p><div>b</div>c<p></p>"),
        ("<b>a<p>b</b>c", "<b>a</b><p><b>b</b>c</p>"),
        ("<form id=a><form id=b>x</form>y", '<form id="a">x</form>y'),
        ("<a href=1>x<a href=2>y", '<a href="1">x</a><a href="2">y</a>'),
        ("<svg><title>Pot</title></svg>", "<svg><title>Pot</title></svg>"),
        ("a<plaintext><b>c</plaintext>", "a<plaintext>&lt;b&gt;c&lt;/plaintext&gt;</plaintext>"),
        ("<xmp><h1>a</h1></xmp>", "<xmp>&lt;h1&gt;a&lt;/h1&gt;</xmp>"),
        ("x<!-- a -->y<!--> z --> w", "xy z --&gt; w"),
        ("a<?php b ?>c", "ac"),
    ],
)
def test_structures_are_those_of_the_standard(html: str, body: str) -> None:
    assert shape("<!doctype html><body>" + html) == f"<body>{body}</body>"


def test_titles_of_drawings_and_formulas_are_not_the_pages() -> None:
    found = read("<svg><title>Pot</title></svg><title>Tea</title><math><mi><title>x</title></mi></math>")
    assert found["title"] == "Tea"
    assert "Pot" not in found["titles"]


@pytest.mark.parametrize(
    ("bases", "absolute"),
    [
        ("<base target=_top><base href=/a/><base href=/b/>", "https://shop.example/a/x"),
        ("<base href=''><base href=/b/>", "https://shop.example/x"),
        ("<base href=data:,><base href=/b/>", "https://shop.example/x"),
        ("<template><base href=/t/></template><base href=/b/>", "https://shop.example/b/x"),
    ],
)
def test_the_first_base_with_an_address_counts(bases: str, absolute: str) -> None:
    assert Page(bases, URL).urljoin("x") == absolute


@pytest.mark.parametrize(
    ("html", "name", "attributes"),
    [
        ('<ahref="x">y', "ahref=_x_", {}),
        (
            "<p @click=a :class=b (x)=c {{d}} disabled>",
            "p",
            {"@click": "a", ":class": "b", "(x)": "c", "disabled": ""},
        ),
        ("<p title='a&#1;b' &#2;=c>", "p", {"title": "ab"}),
        ("<svg xlink:href=a viewbox=b>", "svg", {"xlink:href": "a", "viewBox": "b"}),
    ],
)
def test_names_that_xml_does_not_know_are_kept(html: str, name: str, attributes: dict[str, str]) -> None:
    element = parse("<body>" + html).tree.find("body")[0]
    assert element.tag == name
    assert attributes.items() <= dict(element.items()).items()
    etree.tostring(element)


def test_control_characters_in_references_are_left_out() -> None:
    assert shape("<body>a&#1;b<i>c</i>d&#x1f;<!-- -->e&#xFFFF;") == "<body>ab<i>c</i>de</body>"


HOSTILE = {
    "elements left open": lambda: "<div>" * 100_000,
    "items in descriptions in items": lambda: "<li><dd>" * 50_000,
    "formatting opened anew by each block": lambda: "".join(f"<p><font size={n}>" for n in range(5_000)),
    "formatting left open in a block": lambda: (
        "<div>" + "".join(f"<b id={n}>" for n in range(3_000)) + "</div>" + "<p>x</p>" * 3_000
    ),
    "formatting opened anew by each block, which ends": lambda: (
        "<div>" + "".join(f"<b id={n}>" for n in range(100)) + "</div>" + "<div>x</div>" * 30_000
    ),
    "ends of paragraphs in elements left open": lambda: "<span>" * 19_000 + "</p>" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_pages_that_would_keep_the_parser_busy_are_refused(name: str) -> None:
    started = time.process_time()
    with pytest.raises(RowError, match="nested"):
        parse(HOSTILE[name]())
    assert effort_since(started) < 2


NOTED = """<html itemscope><template id=t hidden></template><i id=b style=x>x</i><noscript><i id=c></i></noscript>
<div><template shadowrootmode=open id=d tabindex=1><p id=e itemprop=x>y</p></template></div>
<svg id=f><path id=g /></svg><table><td id=h><div id=i></table><p id="\x01j" typeof b@d=1>"""


@pytest.mark.parametrize("attribute", tree_module.NOTED)
def test_noted_elements_are_those_of_the_tree(attribute: str, corpus_pages: dict[str, bytes]) -> None:
    for html in [
        NOTED,
        *(content.decode("utf-8", "replace") for content in list(corpus_pages.values())[::9]),
    ]:
        found = parse(html)
        having = set(found.tree.xpath(f"//*[@{attribute}]"))
        pairs = zip(found.elements, found.tree.iter(), strict=True)
        assert found.noted[attribute] == [element for element, twin in pairs if twin in having]


@pytest.mark.parametrize("between", [" ", "/", "='x'"])
def test_attributes_are_counted_however_they_are_parted(between: str) -> None:
    started = time.process_time()
    with pytest.raises(RowError, match="attributes"):
        parse("<p " + between.join(f"a{number}" for number in range(20_000)) + ">")
    assert effort_since(started) < 2


FORMATS = ("b", "i", "code", "em", "strong", "tt", "u", "s", "small")
BEGUN = "".join(f"<{name}>" for name in FORMATS)
ENDED = "".join(f"</{name}>" for name in reversed(FORMATS))


@pytest.mark.parametrize(
    "html",
    [
        "<table>" + "<tr><td>a<td>b" * 40_000,
        "<ul>" + "<li>a" * 60_000,
        "<dl>" + "<dt>a<dd>b" * 30_000,
        "<p>a" * 60_000,
        "<div><b class=x>a</b></div>" * 30_000,
        "<font color=red>a<p>" * 20_000,
        "<svg>" + "<path d=M0/>" * 60_000 + "</svg>",
        "<a name=x>" * 60_000,
        "<script>" + "a<div>b " * 60_000 + "</script><p>a",
        # a book on one page, each of whose elements is closed
        "".join(f"<div>{BEGUN}a{ENDED}</div>" for _ in range(15_000)),
    ],
)
def test_long_pages_keep_nobody_busy(html: str) -> None:
    assert not keeps_busy(html.encode())


def test_nested_deeply_is_read_to_the_bottom() -> None:
    page = Page("<body>" + "<div>" * 1_900 + "deep")
    assert page.visible_text == "deep"
    with pytest.raises(RowError, match="nested"):
        parse("<body>" + "<div>" * 2_100 + "deep")


@pytest.mark.parametrize(
    "html", ["", " \n", "<!-- x -->", "<!doctype html>", "<?xml version='1.0'?><!DOCTYPE html>"]
)
def test_pages_without_anything_are_refused(html: str) -> None:
    with pytest.raises(RowError, match="is empty"):
        parse(html)
    assert parse(html + "<html></html>").root.tag == "html"
