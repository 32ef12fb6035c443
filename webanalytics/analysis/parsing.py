"""Text of a page to a tree, guarded against pages that were made to hang or to hide from the parser."""

from __future__ import annotations

import re
from html import escape
from typing import Any, cast

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlProcessingInstruction

from webanalytics.errors import RowError

MAX_ATTRIBUTES = 10_000
"""Attributes that the crowded tags of a page may have together: the parser's time grows with their square."""

CROWDED_TAG = 256
"""Attributes from which on a tag is crowded; a quote that was left out can make a page's text look so."""

MAX_DEPTH = 2_040
"""Levels of nested elements up to which a page is analysed; libxml2 drops what is nested below 2,048."""

# lxml's own HtmlElementClassLookup is a Python function called for every element that is touched;
# the default lookup is done in C and gives the same class to all of them.
_LOOKUP = etree.ElementDefaultClassLookup(
    element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction
)
# Characters that XML cannot hold: lxml refuses them in any text that is written back into a tree.
_CONTROLS = bytes((*range(9), 0x0B, *range(0x0E, 0x20), 0x7F))
_FORM_FEED = bytes.maketrans(b"\x0c", b" ")
_NONCHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_AFTER_HEAD = etree.XPath(
    "(head/*[not(self::base or self::basefont or self::bgsound or self::link or self::meta or self::noframes "
    "or self::noscript or self::script or self::style or self::template or self::title)])[1]"
)
# In a script "<" may be an operator, and what follows it no tag.
_SCRIPT = re.compile(rb"<(script|style)\b(?:.*?</\1|.*)|<!--(?:.*?-->|.*)", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def parse(text: str, max_attributes: int = MAX_ATTRIBUTES, max_depth: int = MAX_DEPTH) -> HtmlElement:
    """Parse a page.

    Parameters
    ----------
    text : str
        The page.
    max_attributes : int
        Most attributes that the tags with more than 256 of them may have together.
    max_depth : int
        Most levels of nested elements.

    Returns
    -------
    HtmlElement
        The ``html`` element. Comments, processing instructions and control characters are left out.

    Raises
    ------
    RowError
        When there is no element in the page, or when it goes beyond one of the limits: it would keep the
        parser busy for minutes, or lose text in silence.

    Examples
    --------
    >>> [element.tag for element in parse("<title>Tea</title><p>Leaves").iter()]
    ['html', 'head', 'title', 'body', 'p']
    """
    data = text.encode("utf-8", "replace").translate(_FORM_FEED, _CONTROLS)
    for character in _NONCHARACTERS:
        data = data.replace(character, b"")
    if _crowd(data) > max_attributes and _crowd(_SCRIPT.sub(b"", data)) > max_attributes:
        raise RowError(
            f"The `url` parameter must name a page whose tags have at most {max_attributes:,} attributes.",
            "parse",
        )
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    parser.set_element_class_lookup(_LOOKUP)
    # The parser says nothing of blank input but to raise.
    root: Any = etree.fromstring(data, parser) if data.strip() else None
    if root is None:
        raise RowError("The `url` parameter must name a page that is not empty.", "parse")
    error = parser.error_log.last_error
    if (error is not None and "depth" in (error.message or "")) or _is_deeper(root, max_depth):
        raise RowError(
            "The `url` parameter must name a page whose elements are nested at most "
            f"{max_depth:,} levels deep.",
            "parse",
        )
    _end_head(root)
    return cast(HtmlElement, root)


def _end_head(root: Any) -> None:
    """Move to the body what is none of a head's elements, and all that follows it.

    A page may leave out ``</head><body>``. libxml2 knows the elements of HTML 4 that end the head then, and
    leaves ``main``, ``nav`` or ``section`` inside of it.
    """
    first = next(iter(_AFTER_HEAD(root)), None)
    if first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    moved = [first, *first.itersiblings()]
    # A child inserted takes its tail along; the body's own text comes after all of them.
    moved[-1].tail = (moved[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = moved


def _is_deeper(root: Any, max_depth: int) -> bool:
    if root.xpath("count(//*)") <= max_depth:
        return False
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > max_depth:
            return True
    return False


def _crowd(data: bytes, crowded: int = CROWDED_TAG) -> int:
    """Return the number of attributes in all crowded tags, as far as can be seen without parsing."""
    total = 0
    for piece in data.split(b"<"):
        # Two characters, a name and a space, are the least that an attribute takes.
        if len(piece) > 2 * crowded:
            tag = piece.partition(b">")[0]
            if len(tag) > 2 * crowded:
                count = len(_QUOTED.sub(b"", tag).split())
                total += count if count > crowded else 0
    return total


def wrap_plain_text(text: str) -> str:
    r"""Return plain text as a page, with a paragraph for each block between blank lines.

    Examples
    --------
    >>> wrap_plain_text("Tea & milk\n\nHot")
    '<html><body><p>Tea &amp; milk</p>\n<p>Hot</p>\n</body></html>'
    """
    blocks = _PARAGRAPHS.split(text.replace("\r\n", "\n").strip())
    body = "".join(f"<p>{escape(block)}</p>\n" for block in blocks if block.strip())
    return f"<html><body>{body}</body></html>" if body else ""
