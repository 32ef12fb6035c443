"""The elements of a page beside lxml's tree of them."""

from __future__ import annotations

import gc
import time
import weakref
from random import Random
from typing import Any

import pytest
from lxml import etree

from tests.effort import effort_since
from tests.page.test_visible_text import MARKUP
from webanalytics.page import metadata
from webanalytics.page.document import Document, Walk
from webanalytics.page.facts import facts
from webanalytics.page.page import Page
from webanalytics.page.tree import parse

DOCUMENTS = [parse("".join(Random(seed).choices(MARKUP, k=120))) for seed in range(60)]


@pytest.fixture(params=range(len(DOCUMENTS)))
def document(request: pytest.FixtureRequest) -> Document:
    found: Document = DOCUMENTS[request.param]
    return found


def pairs(document: Document) -> list[tuple[Any, Any]]:
    """Each element and its twin."""
    return list(zip(document.elements, document.tree.iter(), strict=True))


def assert_equal(document: Document) -> None:
    place = {twin: element for element, twin in pairs(document)}
    for element, twin in pairs(document):
        assert (element.tag, element.text or "") == (twin.tag, twin.text or "")
        assert (element.attrib, element.tail or "") == (dict(twin.attrib), twin.tail or "")
        assert list(element.iterancestors()) == [place[around] for around in twin.iterancestors()]
        assert document.inside(element) == [place[part] for part in twin.iterdescendants()]
        assert element.is_leaf is (len(twin) == 0)


def test_elements_are_those_of_the_tree(document: Document) -> None:
    assert_equal(document)


def test_elements_of_saved_pages_are_those_of_their_trees(corpus_pages: dict[str, bytes]) -> None:
    for content in list(corpus_pages.values())[::7]:
        assert_equal(Page(content).document)


def test_texts_are_those_of_the_tree(document: Document) -> None:
    for element, twin in pairs(document):
        assert document.text_of(element) == "".join(twin.itertext())
        assert document.holds(element, "b") is (twin.find(".//b") is not None)
        tables = [around.tag for around in twin.iterancestors("table")]
        assert [around.tag for around in element.iterancestors("table")] == tables


def test_a_walk_is_that_of_lxml(document: Document) -> None:
    """Wherever something is passed over."""
    place = {twin: element for element, twin in pairs(document)}
    for element, twin in pairs(document):
        ours, theirs = Walk(document, element), etree.iterwalk(twin, events=("start", "end"))
        events = []
        for event, part in ours:
            events.append((event, part))
            if event == "start" and part.tag in ("p", "select"):
                ours.skip_subtree()
        expected = []
        for event, part in theirs:
            expected.append((event, place[part]))
            if event == "start" and part.tag in ("p", "select"):
                theirs.skip_subtree()
        assert events == expected


def test_a_page_goes_without_the_garbage_collector() -> None:
    page = Page("<div id=a><p>Tea <b>leaves</b></div>")
    kept = weakref.ref(page.document)
    assert page.visible_text == "Tea leaves"
    assert page.tree.find(".//b") is not None
    gc.disable()
    try:
        del page
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<body>a&#1;b<i>c</i>d&#x1F;<!-- -->e&#xFFFF;f\uffffg", "abcdefg"),
        ("<body>a&#0011;b&#8;c&#31 d&#65535;e&#xfffe", "abc de"),
        ("<body>a&#9;b&#10;c&#13;d&#160;e&#311;f&#x10;g", "a\tb\nc\rd\xa0eķfg"),
        ("<body>a&#127;b&#x7f;c&#1270;", "abcӶ"),
    ],
)
def test_what_xml_cannot_hold_is_left_out(html: str, text: str) -> None:
    document = parse(html)
    assert document.text_of(document.root) == text == "".join(document.tree.itertext())


@pytest.mark.parametrize("name", ['a{b"', "{}", "{a}b", "a<b", 'x"y', "a\uffffb", "a=b"])
def test_odd_names_fail_nobody(name: str) -> None:
    """Of attributes and of elements; XML has none of them."""
    html = f"<h1>Tea</h1><p {name}=1>Leaves</p><a{name} class=x>Water <b>hot</b></a{name}>"
    page = Page(html, "https://shop.example/")
    assert [element.tag for element in page.document.elements][:4] == ["html", "head", "body", "h1"]
    assert etree.fromstring(etree.tostring(page.tree, method="html"), etree.HTMLParser()) is not None
    assert page.visible_text.split("\n") == ["Tea", "Leaves", "Water hot"]


BREAKS = "<br>" * 60_000
BUSY = {
    "headings in each other": "<h1><div>" * 500 + "Tea" + BREAKS,
    "headings without text in each other": "<h1><div>" * 1_000 + BREAKS,
    "headings around scripts": "<h1><div>" * 500 + BREAKS + "<script>x</script>",
    "prices in each other": "<div itemscope itemtype=https://schema.org/Product>"
    + "<div itemprop=price>" * 1_800
    + BREAKS,
    "images and sources in one picture": "<picture>" + "<source srcset=a><img src=a.jpg width=2000>" * 6_000,
    "tables deep in figures": "<figure>" * 1_900 + BREAKS + "<table><tr><td>Tea</table>",
    "text that comments part": "<p>" + "a<!---->" * 600_000,
    "text that templates part": "<div>" + "<template shadowrootmode=open>b</template>c" * 60_000,
}


@pytest.mark.parametrize("name", BUSY)
def test_what_is_in_each_other_is_not_read_for_ever(name: str) -> None:
    page = Page(BUSY[name], "https://shop.example/")
    started = time.process_time()
    assert page.document.elements
    found = metadata.analyse(page), facts.analyse(page)
    assert effort_since(started) < 8
    assert len(found[0]["headings"]) == BUSY[name].count("<h1>")


def test_only_the_first_declared_shadow_root_of_a_host_is_shown() -> None:
    """HTML standard, section 13.2.6.4.4: where the host is a shadow host already, the template stays one."""
    root = "<template shadowrootmode=open>{}</template>"
    page = Page(f"<div>{root.format('a')}{root.format('b')}</div><div>{root.format('c')}</div>")
    assert page.visible_text.split("\n") == ["a", "c"]


def test_elements_are_found_by_tag_where_lxml_finds_them(document: Document) -> None:
    tags = {node.tag for node in document.tree.iter()} | {"nowhere"}
    for tag in tags:
        found = [element.position for element in document.tagged[tag]]
        assert found == [place for place, node in enumerate(document.tree.iter()) if node.tag == tag]
