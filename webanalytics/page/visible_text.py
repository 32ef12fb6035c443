"""The text that a reader of a page sees, block by block, for keywords, main text and language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from webanalytics.core.strings import normalized
from webanalytics.page.document import Document, Element, Walk

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

_DISPLAY = re.compile(r"(?:^|;)\s*+display\s*+:\s*+([a-z-]++)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
UNSEEN, BLOCK = 1, 2
KINDS = {**dict.fromkeys(BLOCK_TAGS, BLOCK), **dict.fromkeys(UNSEEN_TAGS, UNSEEN)}
"""What elements are to a reader, by tag."""

EDGE = "\x00"
"""The edge of a block in pieces of text: NUL never survives parsing."""

# Marks that only say where a word may be broken or not: not part of the text.
_INVISIBLE = "\xad\u200b\u2060\ufeff"


def visible_text(document: Document, element: Element) -> str:
    r"""Return the text that a reader of a part of a document sees: one line per block.

    White space is folded, soft hyphens are left out, and so are scripts, hidden elements and what stands
    outside of the body. That of a whole page is found while its tree is made.

    Examples
    --------
    >>> from webanalytics.page.tree import parse
    >>> document = parse("<h1>Tea</h1><p>two<b>fold</b> <p hidden>x</p><script>y</script>")
    >>> visible_text(document, document.root)
    'Tea\ntwofold'
    """
    return shown(_pieces(document, element))


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
    return normalized(drop_invisible("\n".join(filter(None, lines))))


def _pieces(document: Document, root: Element) -> Iterator[str]:
    """Yield the text in order, with marks at the edges of blocks, without recursion: pages nest deeply."""
    yield root.text or ""
    walk = Walk(document, root)
    for event, element in walk:
        if element is root:
            continue
        kind = UNSEEN if is_undisplayed(element) else KINDS.get(element.tag)
        if kind == BLOCK:
            yield EDGE
        if event == "end":
            yield element.tail or ""
        elif kind == UNSEEN:
            walk.skip_subtree()
        else:
            yield element.text or ""


def is_undisplayed(element: Element) -> bool:
    """Return whether an element is not displayed, by attribute or own style; the last declaration counts."""
    attributes = element.attrib
    if "hidden" in attributes:
        # A part of a page that React streams: a script in the page shows it as soon as it is there.
        return not attributes.get("id", "").startswith("S:")
    if "style" not in attributes or "display" not in (style := attributes["style"].lower()):
        return False
    declared = _DISPLAY.findall(_COMMENT.sub("", style) if "/*" in style else style)
    return bool(declared) and declared[-1] == "none"
