"""Markdown of pages made to come alive in it: rendered with HTML on, no element is of the page's making."""

from __future__ import annotations

import random
from html import escape

import mistune
import pytest
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from webanalytics.page.content.content import content
from webanalytics.page.content.formats import markdown
from webanalytics.page.content.units import units
from webanalytics.page.page import Page
from webanalytics.page.visible_text import blocks_of

SIGNS = [
    *(
        "<img src=x>",
        "<script>a</script>",
        "<b onclick=a>",
        "<x-y>",
        "<!-- x -->",
        "<?php x?>",
        "<![CDATA[x]]>",
    ),
    *(
        "<https://l.example/>",
        "<a@b.example>",
        "</p>",
        "<a\u1fef",
        "`",
        "``",
        "```",
        "~~~",
        "\\",
        "\\\\",
        "|",
    ),
    *(
        "*",
        "**",
        "_",
        "__",
        "[",
        "]",
        "(",
        ")",
        "](",
        "![",
        "!",
        "# ",
        "> ",
        "- ",
        "+ ",
        "1. ",
        "1) ",
        "===",
        "---",
    ),
    *("***", "&lt;", "&#60;", "&amp;lt;", "&lt", "\n", "\n\n", " ", "    ", "\t", "\u2028", "\u2029", "\x85"),
    # what is left out, and what Unicode's composed form makes a tick or a semicolon, or takes to a sign
    *("\xa0", "\xad", "\u200b", "\u1fef", "\u037e", "\u0338", "\u0300", ";", "lt;", "$", "$$", "a", "b c"),
    *(
        "[a]: /x",
        "[^1]",
        ":---",
        ":-:",
        "<",
        "=",
        '"',
        "\ufeff",
        "~",
        "~~",
        "http://l.example/",
        "\x0b",
        "\x1c",
    ),
]
LINKS = [
    *(
        "https://a.example/",
        "https://a.example/?`",
        "https://a.example/(x)",
        "mailto:a`b@c.example",
        "tel:`1",
    ),
    *("/x?`<img>", "/?a=*b*&lt;", "/]", "/?\u1fef", "/?a\\", "/?|", "/#`", "javascript:alert(1)"),
]
TAGS = [
    *(
        "p",
        "div",
        "li",
        "ul",
        "ol",
        "blockquote",
        "pre",
        "code",
        "h2",
        "h3",
        "td",
        "th",
        "tr",
        "dt",
        "dd",
        "dl",
    ),
    *("a", "a", "b", "span", "kbd", "br", "math", "table"),
]
STRUCTURE = frozenset(
    [
        "div",
        "p",
        "a",
        "code",
        "pre",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "blockquote",
        "strong",
        "br",
    ]
)
RENDERERS = {
    "markdown-it": MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render,
    "mistune": mistune.create_markdown(escape=False, plugins=["table", "strikethrough"]),
}


def said(drawn: random.Random) -> str:
    return escape("".join(drawn.choices(SIGNS, k=drawn.randrange(1, 6))))


def made(drawn: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(drawn.randrange(1, 5)):
        tag = drawn.choice(TAGS)
        if depth > 5 or drawn.random() < 0.55:
            parts.append(said(drawn))
        elif tag == "br":
            parts.append("<br>")
        elif tag == "math":
            parts.append(f'<math alttext="{said(drawn)}"><mi>x</mi></math>')
        elif tag == "table":
            cells = [made(drawn, depth + 1) for _ in range(3)]
            parts.append("<table><tr><th>h<th>{}<tr><td>{}<td>{}</table>".format(*cells))
        else:
            attribute = f' href="{escape(drawn.choice(LINKS))}"' if tag == "a" else ""
            if tag in ("pre", "code"):
                attribute = f' class="language-{said(drawn)} lang-{said(drawn)}"'
            parts.append(f"<{tag}{attribute}>{made(drawn, depth + 1)}</{tag}>")
    return "".join(parts)


def alive(text: str) -> set[str]:
    """Return what text of a page has made: elements besides structure, and links that are none of its own."""
    found = set()
    for name, render in RENDERERS.items():
        for node in lxml_html.fromstring(f"<div>{render(text)}</div>").iter():
            tag = node.tag if isinstance(node.tag, str) else "markup"
            target = node.get("href", "")
            own = target.startswith(("http", "mailto:", "tel:")) and "l.example" not in target
            if tag not in STRUCTURE or (tag == "a" and not own):
                found.add(f"{tag} ({name})")
    return found


def whole(html: str) -> str:
    """Return all blocks of a page as Markdown, whether they are content or not."""
    page = Page(html, "https://a.example/")
    blocks = blocks_of(page.document)
    return markdown(units(blocks, [True] * len(blocks.texts)), page.links.absolute)


@pytest.mark.parametrize("seed", range(6))
def test_no_element_is_of_the_pages_making(seed: int) -> None:
    drawn = random.Random(seed)
    pages = [f"<body>{made(drawn)}" for _ in range(500)]
    assert [(html, found) for html in pages if (found := alive(whole(html)))] == []


def test_signs_put_into_real_pages_stay_text(corpus_pages: dict[str, bytes]) -> None:
    drawn = random.Random(3)
    for name, body in list(corpus_pages.items())[::2]:
        parts = body.decode("utf-8", "replace").split("</p>")
        html = "".join(part + said(drawn) + "</p>" for part in parts)
        assert alive(content(Page(html, "https://a.example/")).markdown) == set(), name


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Write &amp;lt;b&amp;gt; or &amp;#60;", "Write \\&lt;b\\&gt; or \\&#60;"),
        ("<p>a<code>&#x1FEF;&lt;img&gt;</code>", "a`` `<img> ``"),
        ("<p>&lt;&#x338; and &lt;", "\u226e and \\<"),
        ("<p>Look!<a href=/x>here</a>", "Look\\![here](https://a.example/x)"),
        ("<pre>&#x1FEF;``\n&lt;img&gt;</pre>", "````\n```\n<img>\n````"),
    ],
)
def test_text_is_escaped_in_its_last_form(html: str, text: str) -> None:
    assert whole(f"<body>{html}") == text


def test_plain_text_is_decoded_once() -> None:
    page = Page("<p>" + "Write &amp;lt;b&amp;gt; where a word is to be heavy, and &amp;amp; for a sign. " * 3)
    assert content(page).text.startswith("Write &lt;b&gt; where a word is to be heavy, and &amp; for a sign.")
