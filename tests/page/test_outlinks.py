"""Links of all kinds, as a crawl reads them from a page."""

from __future__ import annotations

import time
from typing import Any, get_args
from zlib import crc32

import pytest

from tests.effort import effort_since
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.operations import OUTLINKS
from webanalytics.page.facts import outlinks
from webanalytics.page.facts.outlinks import DEFAULT_MAX_LINKS, sketch
from webanalytics.page.page import Page
from webanalytics.runs.frames.link_table import KINDS, POSITIONS, RELS, Kind
from webanalytics.runs.workers.worker import answer_page

URL = "https://shop.example/tea/green.html?x=1"


def read(html: str, url: str = URL) -> dict[str, Any]:
    return outlinks.analyse(Page(html, url, url, "text/html"))


def rows(html: str, url: str = URL) -> list[tuple[Any, ...]]:
    links = read(html, url)["outlinks"]
    return list(zip(*(links[name] for name in ("target", "anchor", "rel", "kind", "position")), strict=True))


EVERY_KIND = """<html><head>
<link rel=canonical href=/tea><link rel="alternate" hreflang=de href=/de/tea><link rel=next href=?page=2>
<link rel=prev href="?page=0"><link rel=amphtml href=/amp/tea><link rel=stylesheet href=/a.css>
<link rel="shortcut icon" href=/i.ico><script src=//cdn.example/s.js></script>
<meta http-equiv=Refresh content="5; URL='/later'"><link rel=alternate type=application/rss+xml href=/feed>
</head><body><header><a href=/>Home</a></header><div role=navigation><a href=/a#b>A</a></div>
<main><p><a href="b c" rel="nofollow ugc">B <b>bold</b></a><img src=/p.png srcset="/p2.png 2x" alt=Pot></main>
<aside><iframe src=/f title=Film></iframe></aside><video src=/v poster=/v.png></video>
<form action="/find?x=1"><input type=image src=/go.png alt=Go></form><form method=post action=/buy></form>
<footer><a href=https://other.example rel=sponsored><img src=/l.png alt="The other"></a></footer>
<a href=mailto:x@y.example>mail</a><a href=#top>top</a><a href=javascript:x()>s</a><a>none</a>"""


def test_every_kind_with_its_text_rel_and_position() -> None:
    at = "https://shop.example"
    assert rows(EVERY_KIND) == [
        (f"{at}/tea", "", 0, "canonical", "head"),
        (f"{at}/de/tea", "de", 0, "hreflang", "head"),
        (f"{at}/tea/green.html?page=2", "", 0, "next", "head"),
        (f"{at}/tea/green.html?page=0", "", 0, "prev", "head"),
        (f"{at}/amp/tea", "", 0, "amp", "head"),
        (f"{at}/a.css", "", 0, "stylesheet", "head"),
        (f"{at}/i.ico", "", 0, "icon", "head"),
        ("https://cdn.example/s.js", "", 0, "script", "head"),
        (f"{at}/later", "", 0, "refresh", "head"),
        (f"{at}/", "Home", 0, "link", "header"),
        (f"{at}/a", "A", 0, "link", "nav"),
        (f"{at}/tea/b%20c", "B bold", 3, "link", "main"),
        (f"{at}/p.png", "Pot", 0, "image", "main"),
        (f"{at}/p2.png", "Pot", 0, "image", "main"),
        (f"{at}/f", "Film", 0, "frame", "aside"),
        (f"{at}/v", "", 0, "media", "body"),
        (f"{at}/v.png", "", 0, "image", "body"),
        (f"{at}/find", "", 0, "form", "body"),
        (f"{at}/go.png", "Go", 0, "image", "body"),
        ("https://other.example/", "The other", 4, "link", "footer"),
        (f"{at}/l.png", "The other", 0, "image", "footer"),
    ]


def test_the_names_are_those_of_the_link_table() -> None:
    found = rows(EVERY_KIND)
    assert {row[3] for row in found} == {kind for kind in get_args(Kind) if kind != "redirect"}
    assert {row[3] for row in found} < set(KINDS)
    assert {row[4] for row in found} == set(POSITIONS) - {"http"}
    assert [1 << place for place in range(3)] == [outlinks._REL[name] for name in RELS]


def test_the_answer_has_the_declared_fields_and_can_be_kept() -> None:
    found = read(EVERY_KIND)
    assert list(found) == [field.name for field in OUTLINKS.fields]
    assert OUTLINKS.is_told(found)
    assert all(field.holds(field.read(found)) for field in OUTLINKS.fields)
    (answer,) = answer_page({"outlinks": OUTLINKS.analysis}, {"outlinks": {}}, (EVERY_KIND.encode(), URL))
    assert PackedOutcomes(PackedOutcomes.pack([answer]))[0].data == found


def test_base_and_what_is_not_read() -> None:
    html = "<base href=https://b.example/x/><a href=y>1</a><noscript><a href=z></a></noscript><a href=''>2"
    assert [row[:2] for row in rows(html)] == [
        ("https://b.example/x/y", "1"),
        ("https://b.example/x/", "2"),
    ]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ("<a href=/x aria-label=Cart><i></i></a>", "Cart"),
        ("<a href=/x aria-label=Cart>Basket</a>", "Basket"),
        ("<a href=/x title=Cart></a>", "Cart"),
        ("<a href=/x>  a\n\tb </a>", "a b"),
        ("<map><area href=/x alt=Zone></map>", "Zone"),
        ("<a href=/x>" + "é" * 300, "é" * 200),
        ("<a href=/x></a>", ""),
    ],
)
def test_anchor_texts(html: str, anchor: str) -> None:
    assert rows(html)[0][1] == anchor


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("3, /a", "/a"),
        ('3;URL = "/a b" c\'', "/a%20b"),
        ("300", None),
        (" ; ;", "/tea/;"),
    ],
)
def test_refresh(content: str, target: str | None) -> None:
    html = f"<meta http-equiv=refresh content='{content}'>" if "'" not in content else None
    html = html or "<meta http-equiv=refresh content='{}'>".format(content.replace("'", "&#39;"))
    found = [row[0].removeprefix("https://shop.example") for row in rows(html) if row[3] == "refresh"]
    assert found == ([] if target is None else [target])


def test_form_without_an_action_leads_to_its_page() -> None:
    assert rows("<form>") == [("https://shop.example/tea/green.html", "", 0, "form", "body")]


def test_an_image_for_a_script_to_load() -> None:
    html = "<img src=data:image/gif;base64,R0 data-src=/late.png><img src=/now.png data-src=/late2.png>"
    html += "<img data-src='' data-lazy-src=/late3.png><img>"
    assert [row[0][20:] for row in rows(html)] == ["/late.png", "/now.png", "/late3.png"]


def test_robots_of_the_page() -> None:
    said = ("nofollow", "NOINDEX, NoFollow", "none", "noindex", "follow")
    assert [read(f'<meta name=robots content="{one}"><p>x')["nofollow"] for one in said] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_more_links_than_are_kept_and_too_long_ones_are_said() -> None:
    many = "".join(f"<a href=/{number}>x</a>" for number in range(DEFAULT_MAX_LINKS + 2))
    found = read(many)["outlinks"]
    assert (len(found["target"]), found["cut"], found["left_out"]) == (DEFAULT_MAX_LINKS, True, 2)
    assert read(many.replace("<a href=/0>", "<a>").replace("<a href=/1>", "<a>"))["outlinks"]["cut"] is False
    long = read(f"<a href=/{'x' * 3_000}>")["outlinks"]
    assert (long["target"], long["cut"], long["left_out"]) == ([], False, 1)


def test_alike_links_are_one_and_leave_room_for_others() -> None:
    html = (
        "<a href=/a>a</a>" * (DEFAULT_MAX_LINKS + 1) + "<footer><a href=/a>a</a></footer><a href=/gone>b</a>"
    )
    found = read(html)["outlinks"]
    assert [link[20:] for link in found["target"]] == ["/a", "/a", "/gone"]
    assert (found["times"], found["left_out"]) == ([DEFAULT_MAX_LINKS + 1, 1, 1], 0)
    texts = read("".join(f"<a href=/a>{number}</a>" for number in range(100)) + "<a href=/a rel=ugc>u</a>")[
        "outlinks"
    ]
    assert texts["anchor"] == [*map(str, range(10)), "u"]
    assert texts["times"] == [91, *[1] * 10]


@pytest.mark.parametrize(
    ("html", "asked"),
    [
        ("<a href=/a#b>x</a>", [("/a", "b")]),
        ("<a href='/a# b\n'>x</a>", [("/a", "b")]),
        (
            "<a href=/a#top>x</a><a href=/b#>x</a><a href=/c#:~:text=tea>x</a>",
            [("/a", ""), ("/b", ""), ("/c", "")],
        ),
        ("<a href=/#/cart>x</a><a href=/a#!cart>x</a>", [("/", ""), ("/a", "")]),
        ("<a href=/a#b:~:text=tea>x</a>", [("/a", "b")]),
        ("<h1 id=tea>x</h1><a href=#tea>x</a><a href=#milk>x</a>", [("/tea/green.html?x=1", "milk")]),
        ("<a name='t e'>x</a><a href=#t%20e>x</a><a href='#t e'>x</a>", []),
        ("<h1 id=Tea>x</h1><a href=#tea>x</a><p name=tea>", [("/tea/green.html?x=1", "tea")]),
        (
            "<h1>x</h1><a href=#menu data-toggle=menu>x</a><a href=#tab role=tab>x</a><a href=#open:menu>x</a>",
            [],
        ),
        ("<base href=/other><h1>x</h1><a href=#tea>x</a>", []),
        ("<img src=/sprite.svg#pot>", [("/sprite.svg", "")]),
        ("<h1>x</h1><a href=chrome://net/#tea>x</a><a href=mailto:a@b.example#tea>x</a>", []),
        ("<h1>x</h1><a href='http://http://[b.example/#tea'>x</a><a href='http://x y/#tea'>x</a>", []),
    ],
)
def test_places_that_links_ask_for(html: str, asked: list[tuple[str, str]]) -> None:
    links = read(html)["outlinks"]
    found = zip((target[20:] for target in links["target"]), links["fragment"], strict=True)
    assert list(found) == asked


def test_places_of_a_page_are_known_where_it_has_a_text() -> None:
    assert read("<h1 id=a>x</h1><a name=b id=b></a><svg><g id=c></svg>")["ids"] == sorted(
        map(crc32, (b"a", b"b", b"c"))
    )
    assert read("<div id=app></div><script>start()</script>")["ids"] is None
    assert outlinks.analyse(Page("a text", URL, URL, "text/plain"))["ids"] is None


def test_near_equal_texts_have_equal_sketches() -> None:
    def share(one: str, other: str) -> float:
        first, second = set(sketch(one)), set(sketch(other))
        return len(first & second) / len(first | second)

    long = "\n".join(f"{a}{b} {c}{a} {b}{c}" for a in "abcdef" for b in "ghijkl" for c in "mnopqr")
    assert share("Events of May 2026\n1 2 3", "Events of May 2031\n4 5") == 1.0
    assert share(long, long + "\none more line") > 0.95
    assert share("green tea from Japan", "black coffee of Peru") == 0.0
    assert len(sketch(long)) == outlinks.SKETCH_SIZE


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 1_000 + "<a href=x>y</a>" * 4_000,
        "<img srcset='" + "," * 200_000 + "'>",
        "<img srcset='" + "a, " * 100_000 + "'>",
        "<meta http-equiv=refresh content='" + "1 " * 100_000 + "'>",
        "<meta http-equiv=refresh content='" + " " * 200_000 + "x'>",
        "<p>" + "ab " * 200_000,
    ],
)
def test_no_page_keeps_it_busy(html: str) -> None:
    page = Page(html, URL, URL, "text/html")
    _ = page.tree, page.visible_text
    before = time.process_time()
    outlinks.analyse(page)
    assert effort_since(before) < 4
