"""The text that a reader of a page sees, block by block, for keywords, main text and language."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

# fmt: off
BLOCK_TAGS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav",
    "noframes", "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})
"""Elements that start and end a line (HTML standard, section 15.3), table cells and line breaks."""

UNSEEN_TAGS = frozenset({
    "audio", "canvas", "datalist", "embed", "head", "iframe", "math", "noembed", "noscript", "object",
    "script", "select", "style", "svg", "template", "textarea", "title", "video",
})
"""Elements whose content is not text of the page, or is not shown initially."""
# fmt: on

# A first sieve, in C; what it lets through is looked at closely.
_MAYBE_HIDDEN = etree.XPath("descendant::*[@hidden or contains(@style, 'isplay')]")
# NUL never survives parsing, so it can mark the edges of blocks.
_EDGE = "\x00"
# Marks that only say where a word may be broken or not: not part of the text.
_INVISIBLE = "\xad\u200b\u2060\ufeff"


def visible_text(root: HtmlElement) -> str:
    r"""Return the text that a reader of a document, or of a part of one, sees: one line per block.

    White space is folded, soft hyphens are left out, and so are scripts, hidden elements and what stands
    outside of the body.

    Examples
    --------
    >>> from lxml.html import fromstring
    >>> visible_text(fromstring("<h1>Tea</h1><p>two<b>fold</b> <p hidden>x</p><script>y</script>"))
    'Tea\ntwofold'
    """
    folded = " ".join("".join(_pieces(root)).split())
    lines = [line.strip() for line in folded.split(_EDGE)]
    return drop_invisible("\n".join(filter(None, lines)))


def drop_invisible(text: str) -> str:
    r"""Return the text without soft hyphens and other marks that a reader does not see.

    Examples
    --------
    >>> drop_invisible("Silben\xadtrennung")
    'Silbentrennung'
    """
    for mark in _INVISIBLE:
        if mark in text:
            text = text.replace(mark, "")
    return text


def given_text(text: str) -> str:
    r"""Return a text in the form of a page's: a line per block, white space folded, in composed characters.

    Examples
    --------
    >>> given_text("Green  tea\r\n\n\tBlack tea")
    'Green tea\nBlack tea'
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    return unicodedata.normalize("NFC", drop_invisible("\n".join(filter(None, lines))))


def _pieces(root: HtmlElement) -> list[str]:
    """Return the text in order with marks at the edges of blocks, without recursion: pages nest deeply."""
    hidden = frozenset(filter(_is_hidden, _MAYBE_HIDDEN(root)))
    pieces: list[str] = [root.text or ""]
    add = pieces.append
    outer: list[tuple[Iterator[Any], bool, str | None]] = []
    children: Iterator[Any] = iter(root)
    while True:
        for element in children:
            tag = element.tag
            if tag in UNSEEN_TAGS or (hidden and element in hidden):
                if element.tail:
                    add(element.tail)
                continue
            block = tag in BLOCK_TAGS
            if block:
                add(_EDGE)
            if element.text:
                add(element.text)
            if len(element):
                outer.append((children, block, element.tail))
                children = iter(element)
                break
            if block:
                add(_EDGE)
            if element.tail:
                add(element.tail)
        else:
            if not outer:
                return pieces
            children, block, tail = outer.pop()
            if block:
                add(_EDGE)
            if tail:
                add(tail)


def _is_hidden(element: Any) -> bool:
    style = "".join(element.get("style", "").lower().split())
    return element.get("hidden") is not None or "display:none" in style
