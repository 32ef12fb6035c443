"""The text that readers see: a page gathers it while its elements are made, a part of one from them."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from lxml import etree

from webanalytics.page.page import Page
from webanalytics.page.visible_text import BLOCK_TAGS, EDGE, UNSEEN_TAGS, shown, visible_text

MARKUP = [
    *("<div>", "</div>", "<p>", "<b>", "</b>", "<br>", "<br hidden>", "<li>", "<td>", "<table>", "</table>"),
    *("<p hidden>", "<div style='display:none'>", "<i style='display:none'>", "</i>", "<b style=color:red>"),
    *("<select><option>", "</select>", "<svg><text>", "</svg>", "<script>", "</script>", "<textarea>"),
    *("</textarea>", "<noscript><p>", "</noscript>", "<template><p>", "</template>", "<title>", "</title>"),
    *("<div><template shadowrootmode=open>", "<i style='display:&#1;none'>", "&#1;", "<!-- -->", "<x\x01y>"),
    *("</x>", "&nbsp;", "&shy;", " ", "\n", "Tea", "green ", " leaves", "<h1>", "</h1>"),
]


def seen(tree: Any) -> str:
    """What a reader sees of lxml's tree, by XPath and its own walk."""
    hidden = set(tree.xpath("descendant::*[@hidden]"))
    for element in tree.xpath("descendant::*[@style]"):
        declared = re.findall(r"(?:^|;)\s*display\s*:\s*([a-z-]+)", element.get("style").lower())
        if declared[-1:] == ["none"]:
            hidden.add(element)
    pieces = []
    walk: Any = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        unseen = element in hidden or element.tag in UNSEEN_TAGS
        if not unseen and element.tag in BLOCK_TAGS:
            pieces.append(EDGE)
        if event == "end":
            pieces.append(element.tail or "")
        elif unseen:
            walk.skip_subtree()
        else:
            pieces.append(element.text or "")
    return shown(pieces)


@pytest.mark.parametrize("seed", range(100))
def test_a_page_shows_what_its_tree_shows(seed: int) -> None:
    html = "".join(Random(seed).choices(MARKUP, k=300))
    page = Page(html)
    assert page.visible_text == visible_text(page.document, page.root) == seen(page.tree)


def test_saved_pages_show_what_their_trees_show(corpus_pages: dict[str, bytes]) -> None:
    for page in map(Page, corpus_pages.values()):
        assert page.visible_text == visible_text(page.document, page.root) == seen(page.tree)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a<div hidden>b<div>c</div></div>d", "ad"),
        ("a<div>b<p hidden>c</p>d</div>e", "a\nbd\ne"),
        ("a<br hidden>b<br>c", "ab\nc"),
        ("a<select><option>b</select>c<svg><text>d</text></svg>e", "ace"),
        ("<div hidden><div><template shadowrootmode=open>a</template></div></div>b", "b"),
        ("<div><template shadowrootmode=open>a<p>b</p></template></div>c", "a\nb\nc"),
    ],
)
def test_what_stands_around_hidden_elements(html: str, text: str) -> None:
    assert Page(html).visible_text == text
