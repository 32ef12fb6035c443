"""The tree that trafilatura's fast mode would have arrived at, built by one walk over a page.

trafilatura copies the page four times and goes over each copy for every kind of element that it takes out,
takes off or renames. Here each element is visited once: what has no main text is passed over, what only
formats leaves its text where it is, and everything else is made anew under the name that trafilatura gives
it. Which is which is read from trafilatura's own lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.html import HtmlElement
from trafilatura import xpaths
from trafilatura.htmlprocessing import CODE_INDICATORS, REND_TAG_MAPPING, TEX_ANNOTATION_XPATH
from trafilatura.settings import CUT_EMPTY_ELEMS, MANUALLY_CLEANED, MANUALLY_STRIPPED
from trafilatura.xml import delete_element

from webanalytics.analysis.page.tree import new_root
from webanalytics.analysis.text.verdicts import UnknownExpressionError, Verdicts
from webanalytics.analysis.text.working_copy import INLINE, WITHOUT_TEXT, is_reference

APPENDED, COMMENTS, DISCARDED, TEASER, CAPTION, FRAME = (1 << number for number in range(6))
"""What an element is: an appended page, user comments, no main text, a teaser, a caption; from `FRAME` on,
one bit for each of trafilatura's searches for the element that holds the main text."""

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
    [("class", "highlight|w3-code"), ("class", "^hljs")],
)
_CODE_BOX, _CODE_SPAN = _VERDICTS.marks
_APART = APPENDED | COMMENTS
TEXT_OF = etree.XPath("string()", smart_strings=False)

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
_CARRIED = frozenset(("colspan", "rowspan", "lang"))
"""Attributes that trafilatura reads later, besides a class that marks code."""
_LAYOUT_ROLES = ("presentation", "none")
_IN_CONTAINER, _IN_LIST, _IN_DETAILS, _IN_PRE = 1, 2, 4, 8


class Tree:
    """The tree that trafilatura would have made of a page, and what is known of its elements.

    Parameters
    ----------
    source : HtmlElement
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

    def __init__(self, source: HtmlElement, forum: bool = False) -> None:
        self.known: dict[Any, int] = {}
        self.root: Any = new_root()
        self._forum = forum
        self._references: list[Any] = []
        self._forms: list[list[Any]] = []
        self._pres: list[tuple[Any, bool]] = []
        self._build(source)
        self._drop_references(source)
        self._judge_forms()
        for pre, highlighted in self._pres:
            pre.tag = "code" if highlighted or _is_code(pre) else "quote"

    def _build(self, source: HtmlElement) -> None:
        """Walk over the page without recursion: pages nest deeply."""
        actions, names, cut_empty, known = _ACTIONS, _NAMES, _CUT_EMPTY, self.known
        add_element: Any = etree.SubElement
        first_only = _VERDICTS.first_only
        values, decided, plain_frames = _VERDICTS.values, _VERDICTS.decided, _PLAIN
        current, last = self.root, None
        children: Iterator[Any] = iter(source)
        outer: list[tuple[Any, ...]] = []
        containers = lists = details = pres = links = 0
        # Elements seen in the current one, and whether one of a pre is highlighted code.
        seen, highlighted = 0, False
        pieces: list[str] = []
        add = pieces.append
        while True:
            for element in children:
                tag = element.tag
                action = actions.get(tag, _KEEP)
                if action <= _OPEN_LATER:
                    if action != _DROP:
                        if action == _OPEN_LATER:
                            seen += 1
                        if text := element.text:
                            add(text)
                        if len(element):
                            outer.append((children, element.tail, None))
                            children = iter(element)
                            break
                    if text := element.tail:
                        add(text)
                    continue
                name = names.get(tag, tag)
                attributes = element.items()
                answers = 0
                if attributes:
                    for key, value in attributes:
                        if key in values:
                            answers |= values[key][value]
                    if answers:
                        if answers & first_only:
                            answers = _VERDICTS.resolved(answers, attributes)
                        if self._is_apart(element, tag, answers):
                            if text := element.tail:
                                add(text)
                            continue
                if action != _KEEP:
                    if action == _LINK:
                        if not containers:
                            seen += 1
                            if text := element.text:
                                add(text)
                            if len(element):
                                outer.append((children, element.tail, None))
                                children = iter(element)
                                break
                            if text := element.tail:
                                add(text)
                            continue
                        links += 1
                    elif action == _ITEM:
                        if lists:
                            name = "item"
                    elif action == _HEAD:
                        answers = 0
                        attributes = []
                    elif action == _MATH:
                        add(_formula(element) + (element.tail or ""))
                        continue
                    elif action == _FIGURE:
                        if element.find(".//table") is None:
                            if text := element.tail:
                                add(text)
                            continue
                        tag = "div"
                    elif action == _TABLE:
                        if element.get("role") in _LAYOUT_ROLES:
                            tag = name = "div"
                    elif action == _SUMMARY and details:
                        name = "head"
                seen += 1
                text = element.text
                inner = len(element)
                if not inner and text is None and tag in cut_empty:
                    if text := element.tail:
                        add(text)
                    continue
                if pieces:
                    if last is None:
                        current.text = "".join(pieces)
                    else:
                        last.tail = "".join(pieces)
                    pieces.clear()
                try:
                    node = add_element(current, name)
                except ValueError:  # a name that is none, such as <ahref="...">
                    node = add_element(current, "unknown")
                if answers:
                    if answers & _CODE_SPAN and pres and tag == "span":
                        highlighted = True
                        answers = 0
                    elif answers & _CODE_BOX:
                        node.set("class", element.get("class"))
                    if verdict := decided("div" if tag == "form" else name, answers)[0] & ~_APART:
                        known[node] = verdict
                elif name in plain_frames:
                    known[node] = plain_frames[name]
                for key, value in attributes:
                    if key in _CARRIED:
                        node.set(key, value)
                if tag == "form":
                    # what holds nothing else goes with it, but for a details element
                    self._forms.append([node, None if element.getparent().tag == "details" else current])
                if text:
                    add(text)
                if inner:
                    level = _IN_CONTAINER if tag in _CONTAINERS else 0
                    if name == "list":
                        level |= _IN_LIST
                        lists += 1
                    elif action == _DETAILS:
                        level |= _IN_DETAILS
                        details += 1
                    elif action == _PRE:
                        level |= _IN_PRE
                        pres += 1
                        highlighted = False
                    if level & _IN_CONTAINER:
                        containers += 1
                    outer.append((children, element.tail, node, current, last, level, seen, links, tag))
                    children = iter(element)
                    current, last, seen = node, None, 0
                    break
                if pieces:
                    node.text = "".join(pieces)
                    pieces.clear()
                if action == _PRE:
                    self._pres.append((node, False))
                last = node
                if text := element.tail:
                    add(text)
            else:
                if not outer:
                    break
                frame = outer.pop()
                children, tail, node = frame[:3]
                if node is not None:
                    if pieces:
                        if last is None:
                            node.text = "".join(pieces)
                        else:
                            last.tail = "".join(pieces)
                        pieces.clear()
                    inside = seen
                    _, _, _, current, last, level, seen, before, tag = frame
                    if level:
                        if level & _IN_CONTAINER:
                            containers -= 1
                        if level & _IN_LIST:
                            lists -= 1
                        elif level & _IN_DETAILS:
                            details -= 1
                        elif level & _IN_PRE:
                            pres -= 1
                            self._pres.append((node, highlighted))
                    if not inside and node.text is None and tag in cut_empty:
                        known.pop(node, None)
                        current.remove(node)
                        if text := current.text if last is None else last.tail:
                            add(text)
                    else:
                        if inside > 1 and self._forms and self._forms[-1][1] is node:
                            self._forms[-1][1] = None
                        if tag == "p" and links == before + 1:
                            self._references.append(node)
                        last = node
                if tail:
                    add(tail)
        if pieces and last is not None:
            last.tail = "".join(pieces)

    def _is_apart(self, element: Any, tag: str, answers: int) -> bool:
        """Return whether an element holds other pages or comments."""
        verdict, within = _VERDICTS.decided(tag, answers)
        if verdict != within and element.find(".//h1") is not None:
            verdict = within
        return bool(verdict & APPENDED or (verdict & COMMENTS and not self._forum))

    def _drop_references(self, source: HtmlElement) -> None:
        """Take out paragraphs that only point elsewhere, unless most of the page's paragraphs do."""
        found = [paragraph for paragraph in self._references if _points_elsewhere(paragraph)]
        if not found:
            return
        skipped = frozenset(WITHOUT_TEXT)
        paragraphs = sum(
            1 for element in source.iter("p") if not any(a.tag in skipped for a in element.iterancestors())
        )
        if 2 * len(found) <= paragraphs:
            for paragraph in found:
                _delete(paragraph, paragraph.getparent())

    def _judge_forms(self) -> None:
        """Take out forms, but for those that hold most of the page."""
        if not self._forms:
            return
        total = len(TEXT_OF(self.root))
        for form, parent in self._forms:
            if total and len(TEXT_OF(form)) > total / 2:
                form.tag = "div"
            else:
                _delete(form, parent)


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
