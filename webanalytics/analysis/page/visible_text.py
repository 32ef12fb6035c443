"""The text that a reader of a page sees, block by block, for keywords, main text and language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
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
UNSEEN, BLOCK = 1, 2
KINDS = {**dict.fromkeys(BLOCK_TAGS, BLOCK), **dict.fromkeys(UNSEEN_TAGS, UNSEEN)}
"""What elements are to a reader, by tag."""

EDGE = "\x00"
"""The edge of a block in pieces of text: NUL never survives parsing."""

# Marks that only say where a word may be broken or not: not part of the text.
_INVISIBLE = "\xad\u200b\u2060\ufeff"


def visible_text(element: HtmlElement) -> str:
    r"""Return the text that a reader of a part of a document sees: one line per block.

    White space is folded, soft hyphens are left out, and so are scripts, hidden elements and what stands
    outside of the body. That of a whole page is found while its tree is made.

    Examples
    --------
    >>> from lxml.html import fromstring
    >>> visible_text(fromstring("<h1>Tea</h1><p>two<b>fold</b> <p hidden>x</p><script>y</script>"))
    'Tea\ntwofold'
    """
    undisplayed = {*_WITH_HIDDEN(element), *filter(is_undisplayed, _WITH_STYLE(element))}
    return shown(_pieces(element, undisplayed))


def shown(pieces: Iterable[str]) -> str:
    r"""Return text, of which `EDGE` stands at the edges of blocks, with one line per block.

    Examples
    --------
    >>> shown([EDGE, "two", "fold ", EDGE, "\n", EDGE, "Tea\xad"])
    'twofold\nTea'
    """
    folded = " ".join("".join(pieces).split())
    lines = [line.strip() for line in folded.split(EDGE)]
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


def _pieces(root: HtmlElement, hidden: set[HtmlElement]) -> Iterator[str]:
    """Yield the text in order, with marks at the edges of blocks, without recursion: pages nest deeply."""
    yield root.text or ""
    walk: Any = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if element is root:
            continue
        kind = UNSEEN if element in hidden else KINDS.get(element.tag)
        if kind == BLOCK:
            yield EDGE
        if event == "end":
            yield element.tail or ""
        elif kind == UNSEEN:
            walk.skip_subtree()
        else:
            yield element.text or ""


def is_undisplayed(element: Any) -> bool:
    """Return whether an element's own style does not display it; the last declaration counts."""
    style = element.get("style").lower()
    if "display" not in style:
        return False
    declared = _DISPLAY.findall(_COMMENT.sub("", style) if "/*" in style else style)
    return bool(declared) and declared[-1] == "none"
