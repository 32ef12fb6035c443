"""The elements of a page as Python objects, in one list in document order.

To ask one of lxml's elements for an attribute or its text is a call into C that looks it up and decodes it
anew; every analysis asks nearly every element. Here it is the lookup of a name. What needs XPath, or another
library's work, has the same tree as lxml's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any, ClassVar, Literal

from lxml import etree
from lxml.html import HtmlComment, HtmlElement, HtmlProcessingInstruction

# lxml's own HtmlElementClassLookup is a Python function called for every element that is touched;
# the default lookup is done in C and gives the same class to all of them.
_MAKER = etree.HTMLParser()
_MAKER.set_element_class_lookup(
    etree.ElementDefaultClassLookup(element=HtmlElement, comment=HtmlComment, pi=HtmlProcessingInstruction)
)
_add_element: Any = etree.SubElement
# HtmlElement.set is a function in Python around this one, and SubElement's own argument is slower.
_put: Any = etree._Element.set
_NO_NAME = re.compile(r"""[\x00-\x20\x7f&<>"'/{}\ufffe\uffff]""")
# One for all elements without attributes: a page may have millions.
_NOTHING = dict[str, str]().get
_POSITION: Callable[[Element], int] = attrgetter("position")


class Element:
    """An element of a page; names are those of ElementTree.

    It knows the elements around it, and its `Document` those in it: two that knew of each other would wait
    for the garbage collector.
    """

    __slots__ = ("attrib", "end", "get", "parent", "position", "tag", "tail", "text")

    def __init__(
        self, tag: str, attrib: dict[str, str], parent: Element | None, position: int, end: int
    ) -> None:
        self.tag = tag
        self.attrib = attrib
        # ``attrib.get``: it returns the value of an attribute, or None
        self.get: Callable[[str], str | None] = attrib.get if attrib else _NOTHING
        self.parent = parent  # the element around it
        self.position = position  # its place in the list of its document
        self.end = end  # that of the first element behind it and what is in it
        # text in it up to the first element in it, and behind it up to the next element
        self.text: str | None = None
        self.tail: str | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether no element is in it."""
        return self.end - self.position == 1

    def iterancestors(self, tag: str = "") -> Iterator[Element]:
        """Yield the elements around it, the nearest first; of a tag, or all."""
        around = self.parent
        while around is not None:
            if not tag or around.tag == tag:
                yield around
            around = around.parent


class Document:
    """The elements of a page, and what was noted when they were made.

    Examples
    --------
    >>> from webanalytics.page.tree import parse
    >>> document = parse("<h1 id=a>Green <b>tea</b>!</h1>Leaves")
    >>> heading = document.noted["id"][0]
    >>> document.text_of(heading), heading.tail, [element.tag for element in document.inside(heading)]
    ('Green tea!', 'Leaves', ['b'])
    """

    most_read: ClassVar[int] = 10_000_000
    """Elements whose texts are read in all: those in each other are read again for each."""

    def __init__(self, elements: list[Element], noted: dict[str, list[Element]], pieces: list[str]) -> None:
        # all elements in document order: what is in an element stands behind it, up to its ``end``
        self.elements = elements
        self.noted = noted  # the elements that have some attributes, by attribute
        self.pieces = pieces  # the text that a reader sees, as `visible_text.shown` takes it
        self._read = 0

    @property
    def root(self) -> Element:
        """The ``html`` element."""
        return self.elements[0]

    @cached_property
    def tree(self) -> HtmlElement:
        """The same tree as lxml's, made when it is first asked for."""
        return as_lxml(self.elements)

    @cached_property
    def tagged(self) -> Mapping[str, list[Element]]:
        """Its elements by tag, in document order."""
        found: dict[str, list[Element]] = defaultdict(list)
        for element in self.elements:
            found[element.tag].append(element)
        return found

    def inside(self, element: Element) -> list[Element]:
        """Return the elements in an element, in document order."""
        return self.elements[element.position + 1 : element.end]

    def holds(self, element: Element, tag: str) -> bool:
        """Return whether there is an element of a tag in an element."""
        alike = self.tagged[tag]
        found = bisect_right(alike, element.position, key=_POSITION)
        return found < len(alike) and alike[found].position < element.end

    def may_read(self, element: Element) -> bool:
        """Return whether the text in an element may still be read: a page must not keep that busy."""
        self._read += element.end - element.position
        return self._read <= self.most_read

    def text_of(self, element: Element) -> str:
        """Return all text in an element, none where it may not be read any more."""
        if element.end - element.position == 1:
            return element.text or ""
        if not self.may_read(element):
            return ""
        pieces = [element.text] if element.text else []
        opened: list[Element] = []
        for part in self.inside(element):
            while opened and opened[-1].end <= part.position:
                if tail := opened.pop().tail:
                    pieces.append(tail)
            if part.text:
                pieces.append(part.text)
            opened.append(part)
        pieces.extend(part.tail for part in reversed(opened) if part.tail)
        return "".join(pieces)


class Walk:
    """The starts and ends of an element and those in it, as `lxml.etree.iterwalk` gives them.

    Examples
    --------
    >>> from webanalytics.page.tree import parse
    >>> document = parse("<p><b>Green <i>tea</i></b></p>")
    >>> [f"{event} {element.tag}" for event, element in Walk(document, document.elements[4])]
    ['start b', 'start i', 'end i', 'end b']
    """

    def __init__(self, document: Document, element: Element) -> None:
        self._elements = document.elements
        self._element = element
        self._skips = False

    def skip_subtree(self) -> None:
        """Pass over what is in the element that has just started."""
        self._skips = True

    def __iter__(self) -> Iterator[tuple[Literal["start", "end"], Element]]:
        """Yield events and elements."""
        elements, place = self._elements, self._element.position
        opened: list[Element] = []
        while place < self._element.end:
            element = elements[place]
            while opened and opened[-1].end <= place:
                yield "end", opened.pop()
            yield "start", element
            opened.append(element)
            place = element.end if self._skips else place + 1
            self._skips = False
        while opened:
            yield "end", opened.pop()


def new_root() -> HtmlElement:
    """Return an ``html`` element to which a tree of lxml's HTML elements can be added."""
    root: Any = _MAKER.makeelement("html")
    return root  # type: ignore[no-any-return]


def as_lxml(elements: list[Element]) -> HtmlElement:
    """Return the tree of elements, the first of which holds the others, as lxml's.

    Examples
    --------
    >>> from webanalytics.page.tree import parse
    >>> etree.tostring(as_lxml(parse("<p id=a>Tea").elements))
    b'<html><head/><body><p id="a">Tea</p></body></html>'
    """
    made: dict[Element | None, Any] = {}
    for element in elements:
        made[element] = add_to(made[element.parent] if made else None, element)
    root: HtmlElement = made[elements[0]]
    return root


def add_to(around: Any, element: Element) -> Any:
    """Return lxml's element for one without what is in it, as the last of the one around it or as a root."""
    if around is None:
        node = new_root()
        node.tag = element.tag
    else:
        try:
            node = _add_element(around, element.tag)
        except ValueError:
            node = _add_element(around, _name(element.tag))
        node.tail = element.tail
    node.text = element.text
    for name, value in element.attrib.items():
        try:
            _put(node, name, value)
        except ValueError:
            _put(node, _name(name), value)
    return node


def _name(name: str) -> str:
    """Return a name that lxml does not take without what it does not take of it."""
    return _NO_NAME.sub("_", name)
