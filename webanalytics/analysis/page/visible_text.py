"""The text that a reader of a page sees, block by block, for keywords, main text and language."""

from __future__ import annotations

import re
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
    "ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "tr", "ul",
})
"""Elements that start and end a line (HTML standard, section 15.3), table cells and line breaks."""

UNSEEN_TAGS = frozenset({
    "audio", "canvas", "datalist", "embed", "head", "iframe", "math", "noembed", "noframes", "noscript",
    "object", "script", "select", "style", "svg", "template", "textarea", "title", "video",
})
"""Elements whose content is not text of the page, or is not shown initially."""
# fmt: on

# On the way back from attributes (`/..`) time would grow with the square of their number.
_WITH_HIDDEN = etree.XPath("descendant::*[@hidden]", smart_strings=False)
_WITH_STYLE = etree.XPath("descendant::*[@style]", smart_strings=False)
_DISPLAY = re.compile(r"(?:^|;)\s*+display\s*+:\s*+([a-z-]++)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_UNSEEN, _BLOCK = 1, 2
_KINDS = {**dict.fromkeys(BLOCK_TAGS, _BLOCK), **dict.fromkeys(UNSEEN_TAGS, _UNSEEN)}
# NUL never survives parsing, so it can mark the edges of blocks.
_EDGE = "\x00"
# Marks that only say where a word may be broken or not: not part of the text.
_INVISIBLE = "\xad\u200b\u2060\ufeff"


def visible_text(
    root: HtmlElement,
    with_hidden: list[HtmlElement] | None = None,
    with_style: list[HtmlElement] | None = None,
) -> str:
    r"""Return the text that a reader of a document, or of a part of one, sees: one line per block.

    White space is folded, soft hyphens are left out, and so are scripts, hidden elements and what stands
    outside of the body. The elements with the attributes ``hidden`` and ``style`` are looked for unless
    they are given.

    Examples
    --------
    >>> from lxml.html import fromstring
    >>> visible_text(fromstring("<h1>Tea</h1><p>two<b>fold</b> <p hidden>x</p><script>y</script>"))
    'Tea\ntwofold'
    """
    hidden = _WITH_HIDDEN(root) if with_hidden is None else with_hidden
    styled = _WITH_STYLE(root) if with_style is None else with_style
    undisplayed = {*hidden, *filter(_is_undisplayed, styled)}
    folded = " ".join("".join(_pieces(root, undisplayed)).split())
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


def _pieces(root: HtmlElement, hidden: set[HtmlElement]) -> list[str]:
    """Return the text in order with marks at the edges of blocks, without recursion: pages nest deeply."""
    kinds = _KINDS
    pieces: list[str] = [root.text or ""]
    add = pieces.append
    outer: list[tuple[Iterator[Any], int | None, str | None]] = []
    children: Iterator[Any] = iter(root)
    while True:
        for element in children:
            kind = kinds.get(element.tag)
            if kind == _UNSEEN or (hidden and element in hidden):
                if text := element.tail:
                    add(text)
                continue
            if kind:
                add(_EDGE)
            if text := element.text:
                add(text)
            if len(element):
                outer.append((children, kind, element.tail))
                children = iter(element)
                break
            if kind:
                add(_EDGE)
            if text := element.tail:
                add(text)
        else:
            if not outer:
                return pieces
            children, kind, text = outer.pop()
            if kind:
                add(_EDGE)
            if text:
                add(text)


def _is_undisplayed(element: Any) -> bool:
    """Return whether an element's own style does not display it; the last declaration counts."""
    style = element.get("style").lower()
    if "display" not in style:
        return False
    declared = _DISPLAY.findall(_COMMENT.sub("", style) if "/*" in style else style)
    return bool(declared) and declared[-1] == "none"
