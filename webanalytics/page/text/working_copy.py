"""A page's tree without what has no main text, for extractors to modify."""

from __future__ import annotations

from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from webanalytics.page.document import Document, Element, add_to

LABEL_LENGTH = 40
"""Longest label in front of the link of a cross-reference."""

# fmt: off
# What trafilatura takes out as well, but only after its first searches have walked over it, ...
WITHOUT_TEXT = (
    "applet", "area", "aside", "audio", "button", "canvas", "datalist", "dialog", "embed", "footer", "iframe",
    "input", "link", "map", "menu", "meta", "nav", "noindex", "noscript", "object", "optgroup", "option",
    "param", "progress", "script", "select", "source", "style", "svg", "template", "textarea", "track",
    "video",
)
# ... and the tags that it takes off, leaving their text where it is.
INLINE = (
    "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "dfn", "em", "font", "hgroup", "i", "img",
    "ins", "mark", "nobr", "small", "strong", "tbody", "tfoot", "thead", "u", "wbr",
)
# fmt: on
_WITHOUT_TEXT, _INLINE = frozenset(WITHOUT_TEXT), frozenset(INLINE)
_JSONLD = "application/ld+json"
_WITH_ONE_LINK = etree.XPath(".//p[.//a][count(.//a) = 1]")


def working_copy(document: Document) -> HtmlElement:
    """Return lxml's tree of a page for an extractor to modify, without elements that hold no main text."""
    elements = document.elements
    root: HtmlElement = add_to(None, elements[0])
    made: dict[Element | None, Any] = {elements[0]: root}
    # Elements whose tags are taken off: where what is behind them goes, when they end.
    opened: list[tuple[Element, Any]] = []
    place, end = 1, len(elements)
    while place < end or opened:
        while opened and opened[-1][0].end <= place:
            element, around = opened.pop()
            _add_text(around, element.tail)
        if place == end:
            continue
        element = elements[place]
        around = made[element.parent]
        place = element.end
        # trafilatura recognises forums by their JSON-LD and falls back on an articleBody in it.
        if element.tag in _WITHOUT_TEXT and not (element.tag == "script" and element.get("type") == _JSONLD):
            _add_text(around, element.tail)
            continue
        place = element.position + 1
        if element.tag in _INLINE:
            made[element] = around
            _add_text(around, element.text)
            opened.append((element, around))
        else:
            made[element] = add_to(around, element)
    _drop_references(root)
    return root


def _add_text(around: Any, text: str | None) -> None:
    """Add text at the end of an element."""
    if not text:
        return
    if len(around):
        last = around[-1]
        last.tail = (last.tail or "") + text
    else:
        around.text = (around.text or "") + text


def _drop_references(tree: HtmlElement) -> None:
    """Take out paragraphs that only point elsewhere ("Read also: Ten things to know about tea").

    They interrupt an article and are not part of it. A page on which most paragraphs are of this kind is a
    list of links, and is left unchanged.
    """
    references = [
        paragraph
        for paragraph in _WITH_ONE_LINK(tree)
        if is_reference(next(paragraph.iter("a")).text_content(), paragraph.text_content())
    ]
    if references and 2 * len(references) <= tree.xpath("count(.//p)"):
        for paragraph in references:
            paragraph.drop_tree()


def is_reference(target: str, text: str, label_length: int = LABEL_LENGTH) -> bool:
    """Return whether a paragraph is but a label and a link, by the texts of its only link and of itself.

    Examples
    --------
    >>> is_reference("Ten things to know about tea", "Read also: Ten things to know about tea")
    True
    >>> is_reference("tea", "He said: tea")
    False
    """
    target, text = " ".join(target.split()), " ".join(text.split())
    label = text[: -len(target)].rstrip() if target and text.endswith(target) else ""
    return 0 < len(label) <= label_length and label[-1] in ":»>→|" and target.count(" ") >= 2
