"""Main text as Markdown: the same content, its structure, and nothing that acts."""

from __future__ import annotations

import re
import time
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from webanalytics.page.content.content import content as content_of
from webanalytics.page.content.formats import MOST_LINKS, escaped, paragraphs
from webanalytics.page.page import Page
from webanalytics.page.text.main import main_text

PROSE = "The keepers of the lanterns climb the stairs every evening and carry oil with them. " * 5
ARTICLE = f"""<html lang=en><body><article><h1>Keeping [the] light</h1><p>{PROSE}</p>
<h2>What is needed</h2><p>{PROSE}<a href="/oil?a=(b)">oil *of* fish</a> and <a href="javascript:alert(1)">nothing</a>.</p>
<ul><li>a wick</li><li>a glass<ul><li>clean</li></ul></li></ul>
<ol><li>Climb up</li><li>Light it</li></ol>
<table><tr><th>Lamp</th><th>Price | each</th></tr><tr><td>Brass</td><td>3 pounds</td></tr></table>
<pre>def light():
    return 1
</pre><p># no heading, {PROSE}</p><p>1. no item &lt;script&gt;alert(1)&lt;/script&gt; {PROSE}</p>
<p><img src="data:image/png;base64,AAAA" alt="picture">{PROSE}</p></article></body></html>"""


def main_markdown(page: Page) -> str:
    return content_of(page).markdown


@pytest.fixture(scope="module")
def article() -> str:
    return main_markdown(Page(ARTICLE, "https://light.example/a/b"))


def rendered(text: str) -> lxml_html.HtmlElement:
    """Render as a CommonMark parser with tables does, markup left out: what is `<b>` there was HTML."""
    found = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    return lxml_html.fromstring(f"<div>{found}</div>")


def test_structure_is_kept(article: str) -> None:
    tree = rendered(article)
    assert [(node.tag, node.text_content()) for node in tree.iter("h1", "h2")] == [
        ("h1", "Keeping [the] light"),
        ("h2", "What is needed"),
    ]
    assert [node.text.strip() for node in tree.xpath("ul/li")] == ["a wick", "a glass"]
    assert tree.xpath("ul/li/ul/li")[0].text_content().strip() == "clean"
    assert [node.text_content() for node in tree.xpath("ol/li")] == ["Climb up", "Light it"]
    assert [node.text_content() for node in tree.iter("th", "td")] == [
        "Lamp",
        "Price | each",
        "Brass",
        "3 pounds",
    ]
    assert "def light():\n    return 1" in tree.xpath("pre")[0].text_content()
    assert [(node.get("href"), node.text_content()) for node in tree.iter("a")] == [
        ("https://light.example/oil?a=(b)", "oil *of* fish")
    ]


def test_nothing_in_it_acts(article: str) -> None:
    tree = rendered(article)
    assert not list(tree.iter("script", "img", "sup", "sub"))
    assert "javascript:" not in article
    assert "data:" not in article
    assert "<script>alert(1)</script>" in tree.text_content()
    assert any(node.text_content().startswith("# no heading") for node in tree.iter("p"))
    assert any(node.text_content().startswith("1. no item") for node in tree.iter("p"))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def test_the_content_is_that_of_the_plain_text(corpus_pages: dict[str, bytes]) -> None:
    structured = 0
    for name, content in corpus_pages.items():
        page = Page(content, f"https://site.example/{name}")
        plain, marked = words(main_text(page)), words(rendered(main_markdown(page)).text_content())
        common = sum((plain & marked).values())
        assert common >= 0.9 * max(sum(plain.values()), sum(marked.values())), name
        structured += main_markdown(page) != paragraphs(main_text(page))
    assert structured >= 85, "most pages keep their structure"


def test_links_of_the_corpus_are_absolute(corpus_pages: dict[str, bytes]) -> None:
    for name, content in list(corpus_pages.items())[:40]:
        tree = rendered(main_markdown(Page(content, f"https://site.example/{name}")))
        for link in tree.iter("a"):
            assert re.match(r"(https?://|mailto:|tel:)", link.get("href")), (name, link.get("href"))


def test_the_function_has_both_forms() -> None:
    pages = pd.DataFrame({"url": ["https://light.example/"], "html": [ARTICLE]})
    plain, marked = wa.text(pages), wa.text(pages, format="markdown")
    assert marked.loc[0, "text"].startswith("# Keeping \\[the\\] light")
    assert plain.loc[0, "text"].startswith("Keeping [the] light")
    others = [name for name in plain if name not in ("text", "elapsed")]
    assert plain[others].equals(marked[others])
    assert wa.text(pages, format="plain").loc[0, "text"] == plain.loc[0, "text"]


def test_other_forms_and_hosted_backends_are_refused() -> None:
    with pytest.raises(wa.ParameterError, match="`format` parameter must be one of: plain, markdown"):
        wa.text("https://a.example/", format="html")
    backend = wa.Hosted("http://127.0.0.1:1", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    with pytest.raises(wa.ParameterError, match="`format` parameter must be left out with a hosted backend"):
        wa.text("https://a.example/", format="markdown", backend=backend)


def test_a_lead_stands_in_its_place() -> None:
    lead = "Lanterns were lit for two hundred years on this rock, and nobody knows who lit the first one of them."
    page = Page(
        f"<meta name=description content='{lead}'><h1>The rock</h1><div class=teaser><p>{lead}</p></div>"
        f"<article><h1>The rock</h1><p>{PROSE}</p><p>{PROSE}</p></article>"
    )
    plain, marked = main_text(page), main_markdown(page)
    assert (lead in plain) == (lead in marked)
    assert marked.count(lead) <= 1


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>",
        "<div>" * 3_000 + "deep " * 50,
        "<ul><li>" * 1_500 + "deep " * 50,
        "<blockquote>" * 2_000 + PROSE,
        f"<table>{'<tr>' + '<td>x' * 60}" + "<tr><td>y" * 800,
        "<p>" + "<a href=/x>" * 4_000 + PROSE,
        f"<p>{PROSE}<a href='/{'x' * 5_000}'>long</a>",
        "<p>" + "[" * 5_000 + "](" * 2_000 + PROSE,
        "<pre>" + "`" * 5_000 + "</pre>" + PROSE,
        f"<base href='https://a.example/{'y' * 7_900}/'>" + f"<p>{PROSE}" + "<a href=z>word</a> " * 3_000,
    ],
    ids=[
        "empty",
        "one",
        "divs",
        "lists",
        "quotes",
        "table",
        "links",
        "long link",
        "brackets",
        "fences",
        "base",
    ],
)
def test_hostile_pages_end(html: str) -> None:
    try:
        page = Page(html, "https://a.example/")
        _ = page.tree
    except Exception:
        return
    start = time.process_time()
    found = main_markdown(page)
    assert time.process_time() - start < BUSY_SECONDS
    assert len(found) < 4 * len(html) + MOST_LINKS + 1_000


@given(
    st.text(
        alphabet=st.characters(exclude_categories=["C", "Z"], include_characters=" #*_[]()<>`~|-+.1=\\!&"),
        max_size=60,
    )
)
def test_escaped_text_is_shown_unchanged(line: str) -> None:
    line = " ".join(line.split())
    if not line:
        return
    shown = rendered(escaped(line))
    assert [node.tag for node in shown.iter() if node is not shown] in (["p"], []), escaped(line)
    assert " ".join(shown.text_content().split()) == line
