"""Text of a page to the tree that a browser with scripting builds from it.

lexbor parses by the HTML standard; its tree is copied to Python objects, which all analyses read. Of the
standard's tree it holds what a page shows or says of itself: no
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
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from webanalytics.errors import RowError
from webanalytics.page.decoder import without_crowds
from webanalytics.page.document import Document, Element
from webanalytics.page.visible_text import BLOCK, EDGE, KINDS, UNSEEN, is_undisplayed

MAX_ATTRIBUTES = 10_000
"""Attributes that the crowded tags of a page may have together: the parser's time grows with their square."""

MAX_DEPTH = 2_040
"""Levels of nested elements up to which a page is analysed: what reads a tree may call itself for each."""

FEW_TAGS = 3_000
"""Tags up to which no page can keep the parser busy."""

MANY_TAGS = 14_000
"""Tags up to which no page can by nesting alone."""

MAX_STEPS = 200_000_000
"""Tags times elements left open: some nanoseconds each; a fifth of that for formatting, which blocks end."""

MANY_OPTIONS = 2_000
"""Options from which on a list of them is read as one of several choices: each option of another list has the
parser go through all before it."""

MAX_REOPENED = 2_000_000
"""Tags that begin an element times formatting elements left open: 400 bytes each at worst."""

NOTED = (
    *("aria-controls", "aria-describedby", "aria-labelledby", "aria-owns", "for", "headers", "hidden", "id"),
    *("itemprop", "itemscope", "list", "style", "tabindex", "typeof"),
)
"""Attributes whose elements several analyses ask for."""

# Characters that XML cannot hold: lxml refuses them in any text of a tree.
_CONTROLS = bytes((*range(9), 0x0B, *range(0x0E, 0x20), 0x7F))
_FORM_FEED = bytes.maketrans(b"\x0c", b" ")
# What is left of them was written as a character reference.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_UNWRITABLE_REFERENCE = re.compile(
    rb"&#(?:0*+(?:[0-8]|1[124-9]|2[0-9]|3[01]|127|6553[45])(?![0-9])"
    rb"|[xX]0*+(?:[0-8bBcCeEfF]|1[0-9a-fA-F]|7[fF]|[fF]{3}[eEfF])(?![0-9a-fA-F]))"
)
_COMMENTS = re.compile(rb"<!--(?:-?>|.*?--!?>|.*)|<[!?][^>]*+>?", re.DOTALL)
# In a script "<" may be an operator, and what follows it no tag.
_SCRIPT = re.compile(rb"<(script|style)\b(?:.*?</\1|.*)|<!--(?:.*?-->|.*)", re.IGNORECASE | re.DOTALL)
_SELECT = re.compile(rb"<select(?=[\s/>])", re.IGNORECASE)
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
# Elements whose number tells their name; a few are written in another way within SVG.
_ALIKE = KINDS.keys() | {"a", "b", "g", "i", "img", "input", "label", "link", "meta", "path", "span", "use"}
_NO_ATTRIBUTES: dict[str, str] = {}
# Elements besides custom ones that can have a shadow root (DOM standard, section 4.9 "attachShadow").
_HOSTS = frozenset(("article", "aside", "blockquote", "body", "div", "footer", "header", "main", "nav"))
_HOSTS |= {"h1", "h2", "h3", "h4", "h5", "h6", "p", "section", "span"}


def parse(text: str | bytes, max_attributes: int = MAX_ATTRIBUTES, max_depth: int = MAX_DEPTH) -> Document:
    """Return the elements of a page, or of its bytes in UTF-8, as a browser with scripting parses it.

    Raises `RowError` when there is nothing but comments in the page, or when it goes beyond one of the
    limits: it would keep the parser busy for minutes.

    Examples
    --------
    >>> found = parse("<h1 id=a>Tea</h2>Leaves<noscript><p></noscript>")
    >>> [element.tag for element in found.elements], [element.tail for element in found.noted["id"]]
    (['html', 'head', 'body', 'h1', 'noscript'], ['Leaves'])
    """
    given = text.encode("utf-8", "replace") if isinstance(text, str) else text
    data = without_crowds(given.translate(_FORM_FEED, _CONTROLS), max_attributes)
    if data is None:
        raise RowError("page_attributes", parameter="url", limit=max_attributes)
    tags = data.count(b"<")
    if tags > FEW_TAGS and keeps_busy(data):
        raise RowError("page_depth", parameter="url", limit=max_depth)
    if tags > MANY_OPTIONS and data.lower().count(b"<option") > MANY_OPTIONS:
        data = _SELECT.sub(b"<select multiple", data)
    root = LexborHTMLParser(data, scripting=True).root
    document = _copied(root, max_depth, mends=_may_be_unwritable(data))
    if _is_bare(document.elements) and not _COMMENTS.sub(b"", data).strip():
        raise RowError("page_empty", parameter="url")
    return document


def _is_bare(elements: list[Element]) -> bool:
    """Return whether there is nothing but a head and a body."""
    return len(elements) == 3 and elements[2].parent is elements[0] and not elements[2].text


def keeps_busy(data: bytes) -> bool:
    """Return whether a page has more elements left open than the parser could take in seconds.

    Tags are only counted: it is an upper bound, which sound pages stay far below.

    Examples
    --------
    >>> keeps_busy(b"<p><b>Tea</b>" * 50_000), keeps_busy(b"<div>" * 50_000)
    (False, True)
    """
    tags = data.count(b"<")
    # Of equal ones three are opened anew.
    distinct = 3 * len(set(_FORMATTING_TAG.findall(data)))
    if tags <= MANY_TAGS and tags * distinct <= MAX_REOPENED:
        return False
    most = _left_open(_SCRIPT.sub(b"", data))
    formatting = min(distinct, sum(most.get(name, 0) for name in _FORMATTING))
    # An item of a list and one of a description can stand in each other without end.
    items = 2 * min(most.get(b"li", 0), most.get(b"dt", 0) + most.get(b"dd", 0))
    nested = items
    for name, count in most.items():
        if name not in _CLOSED:
            nested += count // 5 if name in _FORMATTING else count
    # They are opened anew where a block has ended, and each that begins ends once.
    begun = tags - data.count(b"</")
    return begun * formatting > MAX_REOPENED or tags * nested > MAX_STEPS


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


def _copied(source: Any, max_depth: int, *, mends: bool) -> Document:
    """Return the elements of lexbor's tree, made without recursion: pages nest deeply.

    Characters that XML cannot hold are left out where there may be any.
    """
    root = Element("html", source.attributes, None, 0, 1)
    elements, size = [root], 1
    tags: dict[int | str, str] = {}  # names by their numbers, of which others share one
    hosts: set[Element] = set()
    noted: dict[str, list[Element]] = {name: [] for name in NOTED}
    _note(root, noted, mends)
    # A node's parent and elder sibling in the copy, and whether text stands in front of it.
    parent, last, follows_text = root, None, False
    node = source.first_child
    outer: list[tuple[Any, Any, Any, int]] = []
    pieces: list[str] = []
    show, unseen = pieces.append, False
    while True:
        while node is None:
            if not outer:
                root.end = size
                return Document(elements, noted, pieces)
            node, outside, element, kind = outer.pop()
            if outside is not None:
                element.end = size
                parent, last, follows_text = outside, element, False
            if kind == BLOCK:
                show(EDGE)
            elif kind == UNSEEN:
                unseen = False
        number = node.tag_id
        if number == _TEXT:
            text, node = node.text_content, node.next
            if follows_text:  # only comments part them
                text, node = _run_of_text(text, node)
            if mends:
                text = _UNWRITABLE.sub("", text)
            if not unseen:
                show(text)
            if last is None:
                parent.text = f"{parent.text}{text}" if follows_text else text
            else:
                last.tail = f"{last.tail}{text}" if follows_text else text
            follows_text = True
            continue
        if number in _NO_ELEMENTS:
            node = node.next
            continue
        tag, attributes, child = tags.get(number), node.attributes, node.first_child
        if tag is None:
            tag = node.tag
            tag = tags.setdefault(number if tag in _ALIKE else tag, tag)
        place, size = size, size + 1
        element = Element(tag, attributes or _NO_ATTRIBUTES, parent, place, size)
        elements.append(element)
        kind = 0 if unseen else KINDS.get(tag, 0)
        if attributes:
            _note(element, noted, mends)
            if not unseen and ("hidden" in attributes or "style" in attributes) and is_undisplayed(element):
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
        elif tag == "template" and attributes and parent not in hosts and _is_shown(element):
            hosts.add(parent)
            size -= 1
            outer.append((node.next, None, None, 0))
            node = _in_place_of(elements.pop(), node, noted)
        else:
            last, follows_text = element, False
            node = node.next


def _run_of_text(text: str, node: Any) -> tuple[str, Any]:
    """Return a text with those that only comments part from it, and the node behind them."""
    texts = [text]
    while node is not None and (node.tag_id == _TEXT or node.tag_id in _NO_ELEMENTS):
        if node.tag_id == _TEXT:
            texts.append(node.text_content)
        node = node.next
    return "".join(texts), node


def _note(element: Element, noted: dict[str, list[Element]], mends: bool) -> None:
    """Note an element by its attributes, of which one without a value has an empty one."""
    attributes = element.attrib
    for name, value in attributes.items():
        if value is None:
            attributes[name] = ""
        elif mends:
            attributes[name] = _UNWRITABLE.sub("", value)
        if name in noted:
            noted[name].append(element)


def _in_place_of(element: Element, template: Any, noted: dict[str, list[Element]]) -> Any:
    """Forget a template that is shown; return the first node of what is shown in its place."""
    for name in noted.keys() & element.attrib.keys():
        noted[name].pop()
    # Of a template within SVG or MathML, which declares nothing, there is no fragment.
    fragments = template.template_fragments()
    return fragments[0].first_child if fragments else None


def _is_shown(template: Element) -> bool:
    """Return whether a template declares a shadow root, which browsers show."""
    host = template.parent.tag if template.parent is not None else ""
    mode = (template.get("shadowrootmode") or "").lower()
    return mode in ("open", "closed") and (host in _HOSTS or "-" in host)


def _may_be_unwritable(data: bytes) -> bool:
    """Return whether the texts of a page may hold characters that XML cannot hold."""
    if b"\xef" in data and (b"\xef\xbf\xbe" in data or b"\xef\xbf\xbf" in data):
        return True
    return _UNWRITABLE_REFERENCE.search(data) is not None
