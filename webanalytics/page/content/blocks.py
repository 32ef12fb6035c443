"""The blocks of text that a page shows, and the elements around them."""

from __future__ import annotations

from webanalytics.page.content.names import READ, TAGS, bits
from webanalytics.page.document import Document, Element
from webanalytics.page.visible_text import BLOCK_TAGS, UNSEEN_TAGS, drop_invisible, is_undisplayed

EDGES = (BLOCK_TAGS | {"button", "html"}) - {"br"}
"""Elements that start and end a block."""
LEFT_OUT = UNSEEN_TAGS - {"math"} | {"option", "optgroup", "progress", "meter", "map", "rp", "rt", "noindex"}
_REPLACED = frozenset(("br", "math", "script"))
_UNREAD = LEFT_OUT | _REPLACED
_LINK, _NODE = 1, 2
BREAK = "\n"

Piece = tuple[str, Element]


class Blocks:
    """The blocks of a page in order, and the block-level elements ("nodes") that hold them.

    Attributes
    ----------
    texts : list of str
        The text of each block, white space folded.
    pieces : list of list of tuple of str and Element
        What a block consists of: texts with the elements that they stand in.
    hosts : list of int
        The node around each block.
    linked : list of int
        Characters of each block that stand in links.
    inner : list of int
        Bits of the names of inline elements in each block.
    nodes : list of Element
        Block-level elements.
    parents, starts, ends, names, repeats : list of int
        Of each node: the node around it, its first block and the first behind it, bits of its own name,
        and how many of its siblings look like it.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pieces: list[list[Piece]] = []
        self.hosts: list[int] = []
        self.linked: list[int] = []
        self.inner: list[int] = []
        self.nodes: list[Element] = []
        self.parents: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.names: list[int] = []
        self.repeats: list[int] = []

    def add(self, pieces: list[Piece], node: int, in_links: int, inside: int) -> None:
        """Add a block that consists of some pieces, unless there is nothing to read in them."""
        text = " ".join("".join([piece for piece, _ in pieces]).split())
        if not text.isascii():
            text = drop_invisible(text).strip()
        if text:
            self.texts.append(text)
            self.pieces.append(pieces)
            self.hosts.append(node)
            self.linked.append(min(in_links, len(text)))
            self.inner.append(inside)


def _names_of(element: Element) -> int:
    found = TAGS.get(element.tag, 0)
    attributes = element.attrib
    for name, value in attributes.items():
        if name in READ:
            found |= bits(value)
    return found


def blocks_of(document: Document) -> Blocks:
    """Return the blocks of text that a page shows."""
    made = Blocks()
    elements = document.elements
    nodes, parents, starts, ends, names = made.nodes, made.parents, made.starts, made.ends, made.names
    shapes: dict[tuple[int, str, str], int] = {}
    keys: list[tuple[int, str, str]] = []
    pieces: list[Piece] = []
    # Open links and open code; bits of names and characters in links of the block that is being read.
    links = in_code = inside = in_links = 0
    node = -1
    opened: list[tuple[Element, int]] = []
    place, size = 0, len(elements)
    while place < size or opened:
        while opened and (place >= size or opened[-1][0].end <= place):
            element, kind = opened.pop()
            if kind == _NODE:
                if pieces:
                    made.add(pieces, node, in_links, inside)
                    pieces, in_links = [], 0
                inside = 0
                ends[node] = len(made.texts)
                in_code -= element.tag == "pre"
                node = parents[node]
            elif kind == _LINK:
                links -= 1
            tail = element.tail
            if tail and (pieces or not tail.isspace()) and (around := element.parent) is not None:
                pieces.append((tail, around))
                if links:
                    in_links += len(tail)
        if place >= size:
            break
        element = elements[place]
        tag = element.tag
        attributes = element.attrib
        if tag in _UNREAD or (
            attributes
            and ("style" in attributes or "hidden" in attributes or "aria-hidden" in attributes)
            and _is_left_out(element, size)
        ):
            if tag == "br" and not in_code and _breaks(pieces):
                made.add(pieces, node, in_links, inside)
                pieces, in_links, inside = [], 0, 0
            elif tag in _REPLACED and (written := _in_place_of(document, element)):
                pieces.append((written, element))
            place = element.end
            tail = element.tail
            if tail and (pieces or not tail.isspace()) and (around := element.parent) is not None:
                pieces.append((tail, around))
                if links:
                    in_links += len(tail)
            continue
        place += 1
        kind = 0
        if tag in EDGES:
            if pieces:
                made.add(pieces, node, in_links, inside)
                pieces, in_links = [], 0
            inside = 0
            kind = _NODE
            key = (node, tag, attributes.get("class", "") if attributes else "")
            shapes[key] = shapes.get(key, 0) + 1
            keys.append(key)
            parents.append(node)
            node = len(nodes)
            in_code += tag == "pre"
            nodes.append(element)
            starts.append(len(made.texts))
            ends.append(0)
            names.append(_names_of(element) if attributes else TAGS.get(tag, 0))
        else:
            if attributes:
                inside |= _names_of(element)
            if tag == "a":
                links += 1
                kind = _LINK
        text = element.text
        if text and (pieces or not text.isspace()):
            pieces.append((text, element))
            if links:
                in_links += len(text)
        if kind == _NODE or element.end > place:
            opened.append((element, kind))
            continue
        # An inline element with nothing but text in it ends at once.
        links -= kind == _LINK
        tail = element.tail
        if tail and (pieces or not tail.isspace()):
            pieces.append((tail, element.parent or element))
            if links:
                in_links += len(tail)
    made.repeats = [shapes[key] for key in keys]
    return made


def _in_place_of(document: Document, element: Element) -> str:
    """Return what stands for an element that is not read: a line break, or a formula as it was written."""
    if element.tag == "br":
        return BREAK
    if element.tag == "math":
        return _formula(document, element)
    return (element.text or "") if (element.get("type") or "").startswith("math/tex") else ""


def _formula(document: Document, element: Element) -> str:
    """Return a formula as it was written, in TeX where the page has it, else its signs."""
    written = element.get("alttext") or ""
    if not written:
        for part in document.inside(element):
            if part.tag == "annotation" and "tex" in (part.get("encoding") or "").lower():
                written = part.text or ""
    return " ".join((written or document.text_of(element)).split())


def _breaks(pieces: list[Piece]) -> bool:
    """Return whether a line break ends a block, where nothing but white space stands behind another."""
    for text, element in reversed(pieces):
        if text == BREAK and element.tag == "br":
            return True
        if text.strip():
            return False
    return False


def _is_left_out(element: Element, size: int) -> bool:
    attributes = element.attrib
    # What is behind an open dialog is hidden from assistive technology as a whole.
    if attributes.get("aria-hidden") == "true" and 2 * (element.end - element.position) < size:
        return True
    if "mwe-math" in attributes.get("class", ""):
        return False  # the formula of the picture beside it
    return is_undisplayed(element)
