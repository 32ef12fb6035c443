"""Text of a page to the tree that a browser with scripting builds from it.

lexbor parses by the HTML standard; its tree is copied to lxml's, which has XPath and which the extractors
of main texts and dates need. Of the standard's tree it holds what a page shows or says of itself: no
comments, nothing of ``noscript`` (which is for browsers without scripts) or ``template`` (which waits for
scripts), but a declared shadow root, which browsers show in the place of its template.

Notes
-----
HTML standard, section 13.2 "Parsing HTML documents". Pages made to keep the parser busy are refused before it
sees them: its time grows with the product of tags and open elements, its memory with that of tags and
formatting elements left open, which each block opens anew.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlProcessingInstruction
from selectolax.lexbor import LexborHTMLParser

from webanalytics.analysis.page.crowded import crowd
from webanalytics.analysis.page.visible_text import BLOCK, EDGE, KINDS, UNSEEN, is_undisplayed
from webanalytics.errors import RowError

MAX_ATTRIBUTES = 10_000
"""Attributes that the crowded tags of a page may have together: the parser's time grows with their square."""

MAX_DEPTH = 2_040
"""Levels of nested elements up to which a page is analysed: what reads a tree may call itself for each."""

FEW_TAGS = 3_000
"""Tags up to which no page can keep the parser busy."""

MANY_TAGS = 20_000
"""Tags up to which no page can by nesting alone."""

MAX_STEPS = 1_000_000_000
"""Tags times elements left open: a nanosecond or two each."""

MAX_REOPENED = 2_000_000
"""Tags times formatting elements left open: 400 bytes each at worst."""

NOTED = (
    *("aria-controls", "aria-describedby", "aria-labelledby", "aria-owns", "for", "headers", "hidden", "id"),
    *("itemprop", "itemscope", "list", "style", "tabindex", "typeof"),
)
"""Attributes whose elements several analyses ask for."""

# lxml's own HtmlElementClassLookup is a Python function called for every element that is touched;
# the default lookup is done in C and gives the same class to all of them.
_MAKER = etree.HTMLParser()
_MAKER.set_element_class_lookup(
    etree.ElementDefaultClassLookup(element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction)
)
# Characters that XML cannot hold: lxml refuses them in any text of a tree.
_CONTROLS = bytes((*range(9), 0x0B, *range(0x0E, 0x20), 0x7F))
_FORM_FEED = bytes.maketrans(b"\x0c", b" ")
# What is left of them was written as a character reference.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_NO_NAME = re.compile(r"""[\x00-\x20&<>"'/{}]""")
_COMMENTS = re.compile(rb"<!--(?:-?>|.*?--!?>|.*)|<[!?][^>]*+>?", re.DOTALL)
# In a script "<" may be an operator, and what follows it no tag.
_SCRIPT = re.compile(rb"<(script|style)\b(?:.*?</\1|.*)|<!--(?:.*?-->|.*)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)")
_FORMATTING_TAG = re.compile(
    rb"<(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s>])[^>]*>", re.IGNORECASE
)
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
# Elements that never stay open, or that the next of their kind closes.
_CLOSED = frozenset(
    b"html head body title area base basefont bgsound br col embed frame hr image img input keygen link meta "
    b"param source track wbr a nobr p li dt dd tr td th tbody thead tfoot option optgroup "
    b"path rect circle line polyline polygon ellipse use stop".split()
)
# lexbor's numbers of what is not an element; those of elements are larger.
_TEXT = 2
_NO_ELEMENTS = frozenset((0, 1, 3, 4, 5))
# Elements besides custom ones that can have a shadow root (DOM standard, section 4.9 "attachShadow").
_HOSTS = frozenset(("article", "aside", "blockquote", "body", "div", "footer", "header", "main", "nav"))
_HOSTS |= {"h1", "h2", "h3", "h4", "h5", "h6", "p", "section", "span"}


class Parsed(NamedTuple):
    """The tree of a page, and what was noted while it was made.

    Attributes
    ----------
    root : HtmlElement
        The ``html`` element.
    size : int
        Number of its elements.
    noted : dict of str to list of HtmlElement
        The elements that have the attributes of `NOTED`, by attribute, the root among them.
    pieces : list of str
        The text that its reader sees, as `shown` takes it.
    """

    root: HtmlElement
    size: int
    noted: dict[str, list[HtmlElement]]
    pieces: list[str]


def parse(text: str, max_attributes: int = MAX_ATTRIBUTES, max_depth: int = MAX_DEPTH) -> HtmlElement:
    """Return the ``html`` element of a page, as a browser with scripting parses it.

    Examples
    --------
    >>> [element.tag for element in parse("<title>Tea</title><p>Leaves").iter()]
    ['html', 'head', 'title', 'body', 'p']
    """
    return parsed(text, max_attributes, max_depth).root


def parsed(text: str | bytes, max_attributes: int = MAX_ATTRIBUTES, max_depth: int = MAX_DEPTH) -> Parsed:
    """Return the tree of a page, or of its bytes in UTF-8, as a browser with scripting parses it.

    Raises
    ------
    RowError
        When there is nothing but comments in the page, or when it goes beyond one of the limits: it would
        keep the parser busy for minutes.

    Examples
    --------
    >>> found = parsed("<h1 id=a>Tea</h2>Leaves<noscript><p></noscript>")
    >>> found.root.find("body/h1").tail, [element.tag for element in found.noted["id"]]
    ('Leaves', ['h1'])
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    data = data.translate(_FORM_FEED, _CONTROLS)
    if crowd(data) > max_attributes:
        raise RowError("page_attributes", parameter="url", limit=max_attributes)
    if keeps_busy(data):
        raise RowError("page_depth", parameter="url", limit=max_depth)
    tree = _copied(LexborHTMLParser(data, scripting=True).root, max_depth)
    if _is_bare(tree.root) and not _COMMENTS.sub(b"", data).strip():
        raise RowError("page_empty", parameter="url")
    return tree


def new_root() -> HtmlElement:
    """Return an ``html`` element to which a tree of lxml's HTML elements can be added."""
    root: Any = _MAKER.makeelement("html")
    return root  # type: ignore[no-any-return]


def _is_bare(root: HtmlElement) -> bool:
    return len(root) == 2 and not len(root[0]) and not len(root[1]) and not root[1].text


def keeps_busy(data: bytes, few_tags: int = FEW_TAGS, many_tags: int = MANY_TAGS) -> bool:
    """Return whether a page has more elements left open than the parser could take in seconds.

    Tags are only counted: it is an upper bound, which sound pages stay far below.

    Examples
    --------
    >>> keeps_busy(b"<p><b>Tea</b>" * 50_000), keeps_busy(b"<div>" * 50_000)
    (False, True)
    """
    tags = data.count(b"<")
    if tags <= few_tags:
        return False
    # Of equal ones three are opened anew.
    distinct = 3 * len(set(_FORMATTING_TAG.findall(data)))
    if tags <= many_tags and tags * distinct <= MAX_REOPENED:
        return False
    most = _left_open(_SCRIPT.sub(b"", data))
    formatting = min(distinct, sum(most.get(name, 0) for name in _FORMATTING))
    # An item of a list and one of a description can stand in each other without end.
    items = 2 * min(most.get(b"li", 0), most.get(b"dt", 0) + most.get(b"dd", 0))
    nested = items + sum(count for name, count in most.items() if name not in _CLOSED)
    return tags * formatting > MAX_REOPENED or tags * nested > MAX_STEPS


def _left_open(data: bytes) -> dict[bytes, int]:
    """Return for each name of an element how many of them are open at most at the same time."""
    opened: dict[bytes, int] = {}
    most: dict[bytes, int] = {}
    for slash, name in _TAG.findall(data.lower()):
        count = opened.get(name, 0) + (-1 if slash else 1)
        if count >= 0:
            opened[name] = count
            if count > most.get(name, 0):
                most[name] = count
    return most


def _copied(source: Any, max_depth: int) -> Parsed:
    """Return lxml's copy of lexbor's tree, made without recursion: pages nest deeply."""
    sub_element: Any = etree.SubElement
    # HtmlElement.set is a function in Python around this one, and SubElement's own argument is slower.
    put: Any = etree._Element.set
    root: Any = new_root()
    _set_all(root, source.attributes)
    noted: dict[str, list[Any]] = {name: [root] if name in root.attrib else [] for name in NOTED}
    size = 1
    # A node's parent and elder sibling in the copy, and whether text stands in front of it.
    parent, last, follows_text = root, None, False
    node = source.first_child
    outer: list[tuple[Any, Any, Any, int]] = []
    pieces: list[str] = []
    show, unseen = pieces.append, False
    while True:
        while node is None:
            if not outer:
                return Parsed(root, size, noted, pieces)
            node, outside, element, kind = outer.pop()
            if outside is not None:
                parent, last, follows_text = outside, element, False
            if kind == BLOCK:
                show(EDGE)
            elif kind == UNSEEN:
                unseen = False
        number = node.tag_id
        if number == _TEXT:
            text = node.text_content
            try:
                if follows_text:
                    text = _add_text(parent, last, text)
                elif last is None:
                    parent.text = text
                else:
                    last.tail = text
            except ValueError:
                text = _add_text(parent, last, text)
            if not unseen:
                show(text)
            follows_text = True
            node = node.next
            continue
        if number in _NO_ELEMENTS:
            node = node.next
            continue
        tag, attributes, child = node.tag, node.attributes, node.first_child
        try:
            element = sub_element(parent, tag)
        except ValueError:
            element = sub_element(parent, _NO_NAME.sub("_", _UNWRITABLE.sub("", tag)))
        size += 1
        kind = 0 if unseen else KINDS.get(tag, 0)
        if attributes:
            try:
                for name, value in attributes.items():
                    put(element, name, value or "")
            except ValueError:
                _set_all(element, attributes)
            for name in attributes:
                if name in noted:
                    noted[name].append(element)
            if not unseen and ("hidden" in attributes or ("style" in attributes and is_undisplayed(element))):
                kind = UNSEEN
        if kind == BLOCK:
            show(EDGE)
        if child is not None and tag != "noscript":
            outer.append((node.next, parent, element, kind))
            if len(outer) > max_depth:
                raise RowError("page_depth", parameter="url", limit=max_depth)
            parent, last, follows_text = element, None, False
            unseen = unseen or kind == UNSEEN
            node = child
        elif tag == "template" and attributes and _is_shown(element):
            size -= 1
            outer.append((node.next, None, None, 0))
            node = _in_place_of(element, node, noted)
        else:
            last, follows_text = element, False
            node = node.next


def _in_place_of(element: Any, template: Any, noted: dict[str, list[Any]]) -> Any:
    """Remove the copy of a template that is shown; return the first node of what is shown in its place."""
    element.getparent().remove(element)
    for name in noted.keys() & template.attributes.keys():
        noted[name].pop()
    # Of a template within SVG or MathML, which declares nothing, there is no fragment.
    fragments = template.template_fragments()
    return fragments[0].first_child if fragments else None


def _add_text(parent: Any, last: Any, text: str) -> str:
    """Add to the text that stands there, without what lxml does not take; return what was added."""
    text = _UNWRITABLE.sub("", text)
    if last is None:
        parent.text = (parent.text or "") + text
    else:
        last.tail = (last.tail or "") + text
    return text


def _set_all(element: Any, attributes: dict[str, str | None]) -> None:
    """Set attributes, without what lxml does not take as it is."""
    for name, value in attributes.items():
        try:
            element.set(name, value or "")
        except ValueError:
            element.set(_NO_NAME.sub("_", _UNWRITABLE.sub("", name)), _UNWRITABLE.sub("", value or ""))


def _is_shown(template: Any) -> bool:
    """Return whether a template declares a shadow root, which browsers show."""
    host = template.getparent().tag
    mode = template.get("shadowrootmode", "").lower()
    return mode in ("open", "closed") and (host in _HOSTS or "-" in host)
