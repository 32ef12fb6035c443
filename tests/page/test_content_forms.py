"""The forms of content: tables, code, lists and formulas, as plain text and as Markdown."""

from __future__ import annotations

import pytest

from tests.page.test_markdown import rendered
from webanalytics.page.content.formats import markdown, plain
from webanalytics.page.content.units import units
from webanalytics.page.page import Page
from webanalytics.page.visible_text import blocks_of

PROSE = (
    "The keepers of the lanterns climb the stairs every evening, and carry oil with them in cans of tin. " * 3
)


def written(markup: str) -> tuple[str, str]:
    """Return all of a page as plain text and as Markdown: what is written of blocks, whichever are chosen."""
    page = Page(markup, "https://light.example/")
    blocks = blocks_of(page.document)
    everything = list(units(blocks, [True] * len(blocks.texts)))
    return plain(everything), markdown(everything, page.links.absolute)


def test_tables_keep_their_form() -> None:
    text, marked = written(
        "<table><caption>Prices</caption><tr><th colspan=2>Lamp<th>Price<tr><td>Brass<td>old<td>3 | 4"
        "<tr><td>Tin<td><td><code>a|b</code></table>"
    )
    assert text.split("\n") == ["Prices", "Lamp |  | Price", "Brass | old | 3 | 4", "Tin |  | a|b"]
    rows = [[cell.text_content() for cell in row] for row in rendered(marked).iter("tr")]
    assert rows == [["Lamp", "", "Price"], ["Brass", "old", "3 | 4"], ["Tin", "", "a|b"]]


def test_empty_cells_and_cells_over_several_rows_keep_their_place() -> None:
    text, marked = written(
        "<table><tr><th>Lamp<th>Old<th>New<th><tr><td rowspan=2>Tin<td>5<td rowspan=3>7<td>"
        "<tr><td>6<td><tr><td>Zinc<td><td></table>"
    )
    assert text.split("\n") == ["Lamp | Old | New", "Tin | 5 | 7", "| 6 |", "Zinc |  |"]
    rows = [[cell.text_content() for cell in row] for row in rendered(marked).iter("tr")]
    assert rows == [["Lamp", "Old", "New"], ["Tin", "5", "7"], ["", "6", ""], ["Zinc", "", ""]]


def test_tables_that_lay_out_a_page_are_none() -> None:
    _, marked = written(f"<table><tr><td><table><tr><td>One<td>Two</table><td>{PROSE}</table>")
    assert "| One | Two |" in marked
    assert f"\n{PROSE.strip()}" in marked


def test_code_keeps_its_lines() -> None:
    code = "def light():\n\n    return 1  # ``` and more"
    text, marked = written(f"<p>Call <code>light(`x`)</code>:</p><pre><code>{code}</code></pre>")
    assert code in text
    tree = rendered(marked)
    assert tree.xpath("pre/code")[0].text_content().rstrip("\n") == code
    assert tree.xpath("p/code")[0].text_content() == "light(`x`)"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="language-python">{}</code></pre>', "python"),
        ('<pre class="lang-c++ wide"><code><span>{}</span></code></pre>', "c++"),
        ('<div class="highlight-ruby notranslate"><div class="highlight"><pre>{}</pre></div></div>', "ruby"),
        ('<div class="highlight highlight-source-shell"><pre>{}</pre></div>', "shell"),
        ('<div class="highlight-default"><pre>{}</pre></div>', None),
        ('<pre class="language-`x">{}</pre>', None),
        ("<pre>{}</pre>", None),
    ],
)
def test_code_says_its_language(html: str, language: str | None) -> None:
    text, marked = written(f"<p>{PROSE}{html.format('a = 1')}")
    assert rendered(marked).xpath("string(//pre/code/@class)") == (f"language-{language}" if language else "")
    assert "a = 1" in text
    assert "language" not in text


def test_no_line_ends_within_code() -> None:
    _, marked = written("<p>Call <code>one\ntwo\u2028three</code>.</p>")
    assert "`one two three`" in marked


def test_lists_and_definitions_keep_their_form() -> None:
    text, marked = written(
        "<ol><li>Climb<ul><li>the stairs</ul><li><p>Light</p><p>the lamp</p></ol><ul><li>x</ul>"
        "<dl><dt>Wick<dd>A cord</dl>"
    )
    assert text.split("\n") == ["- Climb", "- the stairs", "- Light", "the lamp", "- x", "Wick", "- A cord"]
    tree = rendered(marked)
    assert len(tree.xpath("ol")) == 1
    assert len(tree.xpath("ol/li")) == 2
    assert tree.xpath("ol/li/ul/li")[0].text_content().strip() == "the stairs"
    assert tree.xpath("//p/strong")[0].text == "Wick"


@pytest.mark.parametrize(
    ("markup", "begins"),
    [
        ("<ol start=3><li>three<li>four</ol>", ["3"]),
        ("<ol start=0><li>none<li>one</ol>", ["0"]),
        ("<ol start='-2'><li>three</ol>", [None]),
        ("<ol start=4294967296><li>much</ol>", [None]),
        ("<ol><li value=7>seven<li>eight</ol>", ["7"]),
        ("<ul><li>Climb<ol start=5><li>the stairs</ol></ul>", ["5"]),
        ("<ul><li>one</ul><ol start=2><li>two</ol>", ["2"]),
    ],
)
def test_numbered_lists_begin_where_the_page_begins_them(markup: str, begins: list[str | None]) -> None:
    _, marked = written(f"<p>{PROSE}</p>{markup}")
    assert [node.get("start") for node in rendered(marked).iter("ol")] == begins


def test_formulas_are_written_as_the_page_has_them() -> None:
    page = (
        '<p>So <math alttext="E = mc^2"><mi>E</mi></math> and <span class=katex><math><semantics><mi>x</mi>'
        '<annotation encoding="application/x-tex">\\frac{1}{2}</annotation></semantics></math>'
        "<span aria-hidden=true>12</span></span>.</p>"
    )
    text, marked = written(page)
    assert text == "So E = mc^2 and \\frac{1}{2}."
    assert "$E = mc^2$" in marked


def test_what_a_text_says_never_becomes_markup() -> None:
    _, marked = written("<p>&amp;lt;img src=x&amp;gt; &lt;b&gt; <a href='/?a=1&amp;lt;b'>&amp;amp;</a></p>")
    tree = rendered(marked)
    assert tree.text_content().strip() == "&lt;img src=x&gt; <b> &amp;"
    assert not list(tree.iter("img", "b"))
    assert next(tree.iter("a")).get("href") == "https://light.example/?a=1&lt;b"
