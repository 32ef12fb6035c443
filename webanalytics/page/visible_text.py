"""The text that a reader of a page sees, block by block, for keywords, main text and language.

Main text is chosen among the blocks, with the elements around them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from webanalytics.core.strings import encodable, normalized
from webanalytics.page.content.names import BIT, READ, TAGS, bits
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
    >>> shown([EDGE, "two", "fold ", EDGE, "\n", EDGE, "Tea \u200b"])
    'twofold\nTea'
    """
    folded = " ".join(drop_invisible("".join(pieces)).split())
    return "\n".join(filter(None, (line.strip() for line in folded.split(EDGE))))


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
    return normalized(drop_invisible(encodable("\n".join(filter(None, lines)))))


def _pieces(document: Document, root: Element) -> Iterator[str]:
    """Yield the text in order, with marks at the edges of blocks, without recursion: pages nest deeply."""
    yield root.text or ""
    walk = Walk(document, root)
    for event, element in walk:
        if element is root:
            continue
        kind = UNSEEN if is_undisplayed(element) or is_added(element) else KINDS.get(element.tag)
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


EDGES = (BLOCK_TAGS | {"button", "html"}) - {"br"}
"""Elements that start and end a block."""
LEFT_OUT = UNSEEN_TAGS - {"math"} | {"option", "optgroup", "progress", "meter", "map", "rp", "rt", "noindex"}
_OF_WIKIS = frozenset(("mw-editsection", "mw-jump-link", "printfooter", "siteSub"))
"""Classes and an id of what MediaWiki, which Wikipedia runs on, adds to a text: [edit], Jump to search."""
_PERMALINKS = frozenset(("¶", "§", "#", "🔗"))
"""What Sphinx, MkDocs, rustdoc, Hugo and others put behind a heading, as a link to its own place."""
_LINE_NUMBERS = frozenset(("gutter", "rouge-gutter", "crayon-nums", "linenos", "lineno", "lnt", "ln"))
"""Classes that Hexo, Jekyll, WordPress, Pygments and Hugo give cells and spans with numbers of lines."""
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_REPLACED = frozenset(("br", "math", "script"))
_UNREAD = LEFT_OUT | _REPLACED
_BESIDE = BIT["navigation"] | BIT["header"] | BIT["footer"] | BIT["popup"]
BREAK = "\n"

Piece = tuple[str, Element]


class Blocks:
    """The blocks of a page in order, and the block-level elements ("nodes") that hold them."""

    def __init__(self) -> None:
        self.texts: list[str] = []  # the text of each block, white space folded
        # what a block consists of: texts with the elements that they stand in
        self.pieces: list[list[Piece]] = []
        self.hosts: list[int] = []  # the node around each block
        self.linked: list[int] = []  # characters of each block that stand in links
        self.inner: list[int] = []  # bits of the names of inline elements in each block
        self.nodes: list[Element] = []  # block-level elements
        # of each node: the node around it, its first block and the first behind it, bits of its own name, and
        # how many of its siblings look like it
        self.parents: list[int] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.names: list[int] = []
        self.repeats: list[int] = []

    def add(self, pieces: list[Piece], node: int, in_links: int, inside: int) -> None:
        """Add a block that consists of some pieces, unless there is nothing to read in them."""
        text = pieces[0][0] if len(pieces) == 1 else "".join([piece for piece, _ in pieces])
        text = " ".join(text.split())
        if not text.isascii():
            text = drop_invisible(text).strip()
        if text:
            self.texts.append(text)
            self.pieces.append(pieces)
            self.hosts.append(node)
            self.linked.append(min(in_links, len(text)))
            self.inner.append(inside)

    def begin(self, element: Element, parent: int) -> int:
        """Begin a node within another, and return its number."""
        self.parents.append(parent)
        self.nodes.append(element)
        self.starts.append(len(self.texts))
        self.ends.append(0)
        self.names.append(_names_of(element))
        return len(self.nodes) - 1


def _names_of(element: Element) -> int:
    found = TAGS.get(element.tag, 0)
    for name, value in element.attrib.items():
        if name in READ:
            found |= bits(value)
    return found


def blocks_of(document: Document) -> Blocks:
    """Return the blocks of text that a page shows, with what its controls open.

    One pass over the elements, from which blocks are made as they end.
    """
    made, elements = Blocks(), document.elements
    controls = document.noted["aria-controls"]
    controlled = {name for control in controls for name in (control.get("aria-controls") or "").split()}
    place, size = 0, len(elements)
    node, begun = -1, list[Element]()  # where the reading is, and the elements that have not ended
    heading = document.root  # the last one that has ended
    links = in_code = 0  # of links and pieces of code that have not ended
    pieces: list[Piece] = []  # of the block that is being read,
    in_links = inside = 0  # with its characters in links and the bits of names in it
    while begun or place < size:
        if begun and begun[-1].end <= place:
            element = begun.pop()
            tag = element.tag
            if tag in EDGES:
                if pieces:
                    made.add(pieces, node, in_links, inside)
                pieces, in_links, inside = [], 0, 0
                made.ends[node] = len(made.texts)
                in_code -= tag == "pre"
                node = made.parents[node]
                heading = element if tag in _HEADINGS else heading
            elif tag == "a":
                links -= 1
        else:
            element = elements[place]
            tag, attributes = element.tag, element.attrib
            if (
                tag in _UNREAD
                or (attributes and is_added(element))
                # the link to the place of the heading that it stands behind, which it names or not
                or (tag == "a" and heading.end == place and attributes.get("href") == f"#{heading.get('id')}")
                or (
                    attributes
                    and ("style" in attributes or "hidden" in attributes or "aria-hidden" in attributes)
                    and _is_left_out(element, size)
                    and not _is_opened(element, controlled)
                )
            ):
                place = element.end
                if tag == "br" and not in_code and _breaks(pieces):
                    made.add(pieces, node, in_links, inside)
                    pieces, in_links, inside = [], 0, 0
                elif tag in _REPLACED and (written := _in_place_of(document, element)):
                    pieces.append((written, element))
            else:
                place += 1
                is_edge = tag in EDGES
                if is_edge:
                    if pieces:
                        made.add(pieces, node, in_links, inside)
                    pieces, in_links, inside = [], 0, 0
                    in_code += tag == "pre"
                    node = made.begin(element, node)
                else:
                    if attributes:
                        inside |= _names_of(element)
                    links += tag == "a"
                if (text := element.text) and (pieces or not text.isspace()):
                    pieces.append((text, element))
                    if links:
                        in_links += len(text)
                if is_edge or element.end > place:
                    begun.append(element)
                    continue
                links -= tag == "a"  # an inline element with nothing but text in it ends at once
        # A block does not begin with white space.
        if (text := element.tail) and (pieces or not text.isspace()) and element.parent is not None:
            pieces.append((text, element.parent))
            if links:
                in_links += len(text)
    shapes = [
        (parent, element.tag, element.get("class") or "")
        for parent, element in zip(made.parents, made.nodes, strict=True)
    ]
    alike = Counter(shapes)
    made.repeats = [alike[shape] for shape in shapes]
    return made


def _is_opened(element: Element, controlled: set[str]) -> bool:
    """Return whether a control opens a part, as it does a tab or an answer, that is no menu or dialog."""
    if element.get("role") != "tabpanel" and element.get("id") not in controlled:
        return False
    around = (part for part in (element, *element.iterancestors()) if part.tag not in ("html", "body"))
    return not any(_names_of(part) & _BESIDE for part in around)


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
        if text.strip() or element.tag == "br":
            return not text.strip()
    return False


def is_added(element: Element) -> bool:
    """Return whether a program added an element to what the author wrote.

    Such are a wiki's [edit], a heading's ¶ and the numbers of lines beside code.
    """
    attributes = element.attrib
    if element.tag == "a" and element.is_leaf and (element.text or "").strip() in _PERMALINKS:
        return "#" in attributes.get("href", "")
    classes = attributes.get("class", "")
    if element.tag in ("td", "span") and not _LINE_NUMBERS.isdisjoint(classes.split()):
        return element.tag == "td" or (element.text or "").strip().isdigit()
    if "mw-" not in classes and "print" not in classes:
        return False
    return not _OF_WIKIS.isdisjoint((*classes.split(), attributes.get("id")))


def _is_left_out(element: Element, size: int) -> bool:
    attributes = element.attrib
    # Most of a page is shown by scripts, or is behind an open dialog.
    if 2 * (element.end - element.position) > size:
        return False
    if attributes.get("aria-hidden") == "true":
        return True
    if "mwe-math" in attributes.get("class", ""):
        return False  # the formula of the picture beside it
    return is_undisplayed(element)
