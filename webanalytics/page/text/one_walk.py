"""The tree that trafilatura's fast mode would have arrived at, built by one walk over a page.

trafilatura copies the page four times and goes over each copy for every kind of element that it takes out,
takes off or renames. Here each element is visited once: what has no main text is passed over, what only
formats leaves its text where it is, and everything else is made anew under the name that trafilatura gives
it. Which is which is read from trafilatura's own lists.
"""

from __future__ import annotations

from typing import Any

from lxml import etree
from trafilatura import xpaths
from trafilatura.htmlprocessing import CODE_INDICATORS, REND_TAG_MAPPING, TEX_ANNOTATION_XPATH
from trafilatura.settings import CUT_EMPTY_ELEMS, MANUALLY_CLEANED, MANUALLY_STRIPPED
from trafilatura.xml import delete_element

from webanalytics.page.document import Document, Element, as_lxml, new_root
from webanalytics.page.text.verdicts import UnknownExpressionError, Verdicts
from webanalytics.page.text.working_copy import INLINE, WITHOUT_TEXT, is_reference

APPENDED, COMMENTS, DISCARDED, TEASER, CAPTION, FRAME = (1 << number for number in range(6))
"""What an element is: an appended page, user comments, no main text, a teaser, a caption; from `FRAME` on,
one bit for each of trafilatura's searches for the element that holds the main text."""

_CARRIED = ("colspan", "rowspan", "lang")
"""Attributes that trafilatura reads later, besides a class that marks code."""

_FRAMES = {FRAME << number: [path] for number, path in enumerate(xpaths.BODY_XPATH)}
FRAMES = tuple(_FRAMES)
_VERDICTS = Verdicts(
    {
        APPENDED: xpaths.RAW_TREE_PRUNE_XPATH,
        COMMENTS: xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
        DISCARDED: xpaths.OVERALL_DISCARD_XPATH,
        TEASER: xpaths.TEASER_DISCARD_XPATH,
        CAPTION: xpaths.DISCARD_IMAGE_ELEMENTS,
        **_FRAMES,
    },
    [("class", "highlight|w3-code"), ("class", "^hljs"), *((name, "^") for name in _CARRIED)],
)
_CODE_BOX, _CODE_SPAN, *_ = _VERDICTS.marks
_APART = APPENDED | COMMENTS
TEXT_OF = etree.XPath("string()", smart_strings=False)
_add_element: Any = etree.SubElement

_DROP, _OPEN, _OPEN_LATER, _KEEP, _LINK, _ITEM, _HEAD, _PRE = range(8)
_DETAILS, _SUMMARY, _FIGURE, _TABLE, _MATH = range(8, 13)
_SPECIAL = {
    "a": _LINK,
    **dict.fromkeys(("li", "dd", "dt"), _ITEM),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _HEAD),
    **{"pre": _PRE, "details": _DETAILS, "summary": _SUMMARY, "figure": _FIGURE, "table": _TABLE},
    "math": _MATH,
}
_KEPT_FOR_A_LOOK = {"form", "figure", "math"}
_ACTIONS: dict[Any, int] = {
    **dict.fromkeys(REND_TAG_MAPPING, _OPEN_LATER),
    **_SPECIAL,
    **dict.fromkeys(MANUALLY_STRIPPED, _OPEN),
    **dict.fromkeys(INLINE, _OPEN),
    **dict.fromkeys({*MANUALLY_CLEANED} - _KEPT_FOR_A_LOOK, _DROP),
    **dict.fromkeys(WITHOUT_TEXT, _DROP),
}
_NAMES: dict[Any, str] = {
    **dict.fromkeys(("dl", "ol", "ul"), "list"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "head"),
    **dict.fromkeys(("br", "hr"), "lb"),
    **dict.fromkeys(("blockquote", "q", "pre"), "quote"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    **dict.fromkeys(("details", "figure"), "div"),
    "a": "ref",
}
# Where a link stands in one of these it is kept for a while: a form that stays becomes a div.
_CONTAINERS = frozenset(("div", "figure", "form", "li", "p", "table"))
_CUT_EMPTY = frozenset(CUT_EMPTY_ELEMS)
_CUT_CONVERTED = frozenset(_NAMES.get(tag, tag) for tag in _CUT_EMPTY) | {"item"}
_LAYOUT_ROLES = ("presentation", "none")
_IN_CONTAINER, _IN_LIST, _IN_DETAILS = 1, 2, 4
_WITHIN: dict[Any, int] = {
    **dict.fromkeys(_CONTAINERS, _IN_CONTAINER),
    **dict.fromkeys(("dl", "ol", "ul"), _IN_LIST),
    "details": _IN_DETAILS,
}


class _Level:
    """An element of the new tree that is open, where it stands, and what was seen in it so far.

    Parameters
    ----------
    node : HtmlElement
        The element.
    tag : str
        What it is in the page, as far as it matters for whether it may be empty.
    within : int
        What it is or stands in.
    pre : HtmlElement or None
        The outermost preformatted text that it is or stands in.
    links : int
        Links that were kept before it.
    """

    __slots__ = ("last", "links", "node", "pre", "seen", "tag", "within")

    def __init__(self, node: Any, tag: str, within: int, pre: Any, links: int) -> None:
        self.node, self.tag, self.within, self.pre, self.links = node, tag, within, pre, links
        self.last: Any = None
        self.seen = 0


class _Walk:
    """Walks over a page and makes the new tree; what only its end decides is noted for `Tree`."""

    def __init__(self, document: Document, forum: bool) -> None:
        self._document = document
        self.known: dict[Any, int] = {}
        self.root: Any = new_root()
        self.references: list[Any] = []
        self.forms: list[tuple[Any, _Level]] = []
        self.pres: list[Any] = []
        self.highlighted: set[Any] = set()
        self._forum = forum
        self._links = 0
        self._level = _Level(self.root, "html", 0, None, 0)
        # Text since the last element, which is not yet in the tree.
        self._pieces: list[str] = []

    def over(self) -> None:
        """Visit what is in the page, without recursion: pages nest deeply."""
        visit, pieces, elements = self._visit, self._pieces, self._document.elements
        outer: list[tuple[Element, _Level]] = []
        place, end = 1, len(elements)
        while place < end or outer:
            while outer and outer[-1][0].end <= place:
                element, level = outer.pop()
                if level is not self._level:
                    self._close(level)
                if text := element.tail:
                    pieces.append(text)
            if place == end:
                continue
            element, level = elements[place], self._level
            if visit(element):
                outer.append((element, level))
                place += 1
                continue
            if text := element.tail:
                pieces.append(text)
            place = element.end
        self._put_text()

    def _visit(self, element: Element) -> bool:
        """Return whether to visit what is in an element, which is passed over, opened or made anew."""
        tag = element.tag
        action = _ACTIONS.get(tag, _KEEP)
        if action == _DROP:
            return False
        if action == _OPEN:
            return self._open(element)
        if action == _OPEN_LATER:
            self._level.seen += 1
            return self._open(element)
        attributes = element.attrib
        answers = _VERDICTS.answers(attributes) if attributes else 0
        if answers and self._is_apart(element, tag, answers):
            return False
        if action == _LINK:
            if not self._level.within & _IN_CONTAINER:
                self._level.seen += 1
                return self._open(element)
            self._links += 1
        elif action == _MATH:
            self._pieces.append(_formula(as_lxml([element, *self._document.inside(element)])))
            return False
        elif action == _FIGURE and not self._document.holds(element, "table"):
            return False
        elif action == _HEAD:
            answers = 0
        if action == _FIGURE or (action == _TABLE and element.get("role") in _LAYOUT_ROLES):
            tag = "div"
        return self._make(element, tag, action, answers)

    def _open(self, element: Element) -> bool:
        """Leave the text of an element where it stands."""
        if text := element.text:
            self._pieces.append(text)
        return element.end - element.position > 1

    def _make(self, element: Element, tag: str, action: int, answers: int) -> bool:
        """Make an element anew, unless it is empty; return whether there are others in it."""
        level = self._level
        level.seen += 1
        text, inner = element.text, element.end - element.position > 1
        if not inner and text is None and tag in _CUT_EMPTY:
            return False
        self._put_text()
        name = _NAMES.get(tag, tag) if action == _KEEP else _name(tag, action, level.within)
        try:
            node = _add_element(level.node, name)
        except ValueError:  # a name that is none, such as <ahref="...">
            node = _add_element(level.node, "unknown")
        if answers or name in _PLAIN:
            self._note(node, tag, name, answers, element.attrib)
        if tag == "form":
            self.forms.append((node, level))
        elif tag == "pre":
            self.pres.append(node)
        if not inner:
            node.text = text
            level.last = node
            return False
        if text:
            self._pieces.append(text)
        pre = level.pre if tag != "pre" or level.pre is not None else node
        self._level = _Level(node, tag, level.within | _WITHIN.get(tag, 0), pre, self._links)
        return True

    def _note(self, node: Any, tag: str, name: str, answers: int, attributes: dict[str, str]) -> None:
        """Note what is known of a new element, and give it the attributes that are read later."""
        if answers & _CODE_SPAN and tag == "span" and (pre := self._level.pre) is not None:
            self.highlighted.add(pre)
            answers = 0
        for key, value in attributes.items():
            if key in _CARRIED or (key == "class" and answers & _CODE_BOX):
                node.set(key, value)
        if verdict := _VERDICTS.decided("div" if tag == "form" else name, answers)[0] & ~_APART:
            self.known[node] = verdict

    def _close(self, outer: _Level) -> None:
        """Go back to the level around; take out the element that ends if nothing was seen in it."""
        self._put_text()
        level, self._level = self._level, outer
        node = level.node
        if not level.seen and node.text is None and level.tag in _CUT_EMPTY:
            self.known.pop(node, None)
            outer.node.remove(node)
            # The text in front of it goes on behind it.
            if text := outer.node.text if outer.last is None else outer.last.tail:
                self._pieces.append(text)
            return
        outer.last = node
        if level.tag == "p" and self._links == level.links + 1:
            self.references.append(node)

    def _put_text(self) -> None:
        """Put the text since the last element, if there is any, into the tree."""
        if not self._pieces:
            return
        text = "".join(self._pieces)
        self._pieces.clear()
        level = self._level
        if level.last is None:
            level.node.text = text
        else:
            level.last.tail = text

    def _is_apart(self, element: Element, tag: str, answers: int) -> bool:
        """Return whether an element holds other pages or comments."""
        verdict, within = _VERDICTS.decided(tag, answers)
        if verdict != within and self._document.holds(element, "h1"):
            verdict = within
        return bool(verdict & APPENDED or (verdict & COMMENTS and not self._forum))


class Tree:
    """The tree that trafilatura would have made of a page, and what is known of its elements.

    Parameters
    ----------
    source : Document
        The page.
    forum : bool
        Whether comments are what the page is about.

    Attributes
    ----------
    root : HtmlElement
        Root of the tree.
    known : dict of HtmlElement to int
        What an element's name and attributes say of it, in document order, where they say anything.
    """

    def __init__(self, source: Document, forum: bool = False) -> None:
        walk = _Walk(source, forum)
        walk.over()
        self.known, self.root = walk.known, walk.root
        _drop_references(walk.references, source)
        _judge_forms(walk.forms, self.root)
        for pre in walk.pres:
            if pre in walk.highlighted or _is_code(pre):
                pre.tag = "code"


def _name(tag: str, action: int, within: int) -> str:
    """Return the name that an element gets."""
    if action == _ITEM and within & _IN_LIST:
        return "item"
    if action == _SUMMARY and within & _IN_DETAILS:
        return "head"
    return _NAMES.get(tag, tag)


def _drop_references(candidates: list[Any], source: Document) -> None:
    """Take out paragraphs that only point elsewhere, unless most of the page's paragraphs do."""
    found = [paragraph for paragraph in candidates if _points_elsewhere(paragraph)]
    if not found:
        return
    skipped = frozenset(WITHOUT_TEXT)
    paragraphs = sum(
        1
        for element in source.elements
        if element.tag == "p" and not any(around.tag in skipped for around in element.iterancestors())
    )
    if 2 * len(found) <= paragraphs:
        for paragraph in found:
            _delete(paragraph, paragraph.getparent())


def _judge_forms(forms: list[tuple[Any, _Level]], root: Any) -> None:
    """Take out forms, but for those that hold most of the page."""
    total = len(TEXT_OF(root)) if forms else 0
    for form, around in forms:
        if total and len(TEXT_OF(form)) > total / 2:
            form.tag = "div"
        else:
            # what holds nothing else goes with it, but for a details element
            alone = around.seen == 1 and around.tag != "details"
            _delete(form, around.node if alone else None)


def _delete(element: Any, parent: Any) -> None:
    """Take out an element, and the one around it if it holds nothing else."""
    delete_element(element)
    if parent is not None and len(parent) == 0 and parent.text is None and parent.tag in _CUT_CONVERTED:
        delete_element(parent)


def _points_elsewhere(paragraph: Any) -> bool:
    target = TEXT_OF(next(paragraph.iter("ref")))
    return target.count(" ") > 1 and is_reference(target, TEXT_OF(paragraph))


def _is_code(pre: Any) -> bool:
    text = pre.text or ""
    return (len(pre) == 1 and pre[0].tag == "span") or any(sign in text for sign in CODE_INDICATORS)


def _formula(element: Any) -> str:
    """Return the LaTeX of a formula between the marks that trafilatura writes around it."""
    annotation = TEX_ANNOTATION_XPATH(element)
    latex = " ".join(((annotation[0].text if annotation else element.get("alttext")) or "").split())
    if not latex:
        return ""
    opening, closing = ("\\[", "\\]") if element.get("display") == "block" else ("\\(", "\\)")
    return f"{opening}{latex}{closing}"


def _plain_frames() -> dict[str, int]:
    """Return the elements that may hold the main text whatever their attributes are."""
    found = {tag: _VERDICTS.decided(tag, 0)[0] for tag in ("article", "main")}
    if any(_VERDICTS.decided(tag, 0)[0] for tag in ("div", "p", "span", "list", "body")):
        raise UnknownExpressionError("every element would be taken out")
    return {tag: verdict for tag, verdict in found.items() if verdict}


_PLAIN = _plain_frames()
