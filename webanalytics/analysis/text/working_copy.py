"""A page's tree without what has no main text, for extractors to modify."""

from __future__ import annotations

import copy

from lxml import etree
from lxml.html import HtmlElement

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
_WITH_ONE_LINK = etree.XPath(".//p[.//a][count(.//a) = 1]")


def working_copy(tree: HtmlElement) -> HtmlElement:
    """Return a copy of a page's tree for an extractor to modify, without elements that hold no main text."""
    tree = copy.deepcopy(tree)
    # trafilatura recognises forums by their JSON-LD and falls back on an articleBody in it.
    jsonld = tree.findall(".//script[@type='application/ld+json']")
    for script in jsonld:
        script.tag = "jsonld"
    etree.strip_elements(tree, *WITHOUT_TEXT, with_tail=False)
    for script in jsonld:
        script.tag = "script"
    etree.strip_tags(tree, *INLINE)
    _drop_references(tree)
    return tree


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
