"""The text that readers see: a page gathers it while its tree is made, a part of one from the tree."""

from __future__ import annotations

from random import Random

import pytest

from webanalytics.analysis.page.page import Page
from webanalytics.analysis.page.visible_text import visible_text

MARKUP = [
    *("<div>", "</div>", "<p>", "<b>", "</b>", "<br>", "<br hidden>", "<li>", "<td>", "<table>", "</table>"),
    *("<p hidden>", "<div style='display:none'>", "<i style='display:none'>", "</i>", "<b style=color:red>"),
    *("<select><option>", "</select>", "<svg><text>", "</svg>", "<script>", "</script>", "<textarea>"),
    *("</textarea>", "<noscript><p>", "</noscript>", "<template><p>", "</template>", "<title>", "</title>"),
    *("<div><template shadowrootmode=open>", "<i style='display:&#1;none'>", "&#1;", "<!-- -->", "<x\x01y>"),
    *("</x>", "&nbsp;", "&shy;", " ", "\n", "Tea", "green ", " leaves", "<h1>", "</h1>"),
]


@pytest.mark.parametrize("seed", range(100))
def test_a_page_shows_what_its_tree_shows(seed: int) -> None:
    html = "".join(Random(seed).choices(MARKUP, k=300))
    page = Page(html)
    assert page.visible_text == visible_text(page.tree)


def test_saved_pages_show_what_their_trees_show(corpus_pages: dict[str, bytes]) -> None:
    pages = [Page(content) for content in corpus_pages.values()]
    assert [page.visible_text for page in pages] == [visible_text(page.tree) for page in pages]


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
