"""What assistive technology calls an element, its accessible name, as far as the HTML of a page tells it."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from webanalytics.analysis.page.page import fold

_CODE = ("script", "style")
_PICTURES = frozenset(("img", "area"))
# Both run in C: most links and headings are plain text, and need no walk in Python.
_TEXT = etree.XPath("string()", smart_strings=False)
_SPECIAL = etree.XPath(
    "boolean(descendant::*[@aria-hidden or @aria-label or @hidden or @style or self::style or self::script])"
)
_WITH_ID = etree.XPath("//@id/..", smart_strings=False)
_UNDISPLAYED = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)


def hides(element: HtmlElement) -> bool:
    """Return whether an element hides itself from assistive technology, by attribute or by its own style."""
    get = element.get
    if get("hidden") is not None or (get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = get("style")
    return style is not None and _UNDISPLAYED.search(style) is not None


def is_hidden(element: HtmlElement) -> bool:
    """Return whether an element or one around it is hidden; costs the depth of the tree."""
    return hides(element) or any(map(hides, element.iterancestors()))


def content_name(element: HtmlElement) -> str:
    """Return the name that an element has from its content: text, alternative texts and labels inside it.

    Examples
    --------
    >>> from lxml.html import fromstring
    >>> content_name(fromstring("<a><b>Green</b> <img src=t.png alt=tea><i aria-hidden=true>x</i></a>"))
    'Green tea'
    """
    if not len(element):
        return fold(element.text)
    text = fold(_TEXT(element))
    if text and not _SPECIAL(element):
        return text
    only = element[0]
    if not text and only.tag == "img" and len(element) == 1 and not hides(only):
        return fold(only.get("aria-label")) or fold(only.get("alt")) or fold(only.get("title"))
    return _walked(element)


def _walked(element: HtmlElement) -> str:
    """Return the name from the content, part by part; a tooltip counts where nothing else does."""
    pieces = [element.text or ""]
    tooltips = []
    walk: Any = etree.iterwalk(element, events=("start", "end"))
    for event, part in walk:
        if part is element:
            continue
        if event == "end":
            pieces.append(part.tail or "")
        elif part.tag in _CODE or hides(part):
            walk.skip_subtree()
        elif label := fold(part.get("aria-label")):
            pieces.append(f" {label} ")
            walk.skip_subtree()
        else:
            pieces.append((part.get("alt") if part.tag in _PICTURES else part.text) or "")
            tooltips.append(fold(part.get("title")))
    return fold("".join(pieces)) or next(filter(None, tooltips), "")


UNREAD = "…"
"""The name of what is no longer read."""


class Names:
    """The accessible names of the elements of one page.

    Notes
    -----
    Accessible Name and Description Computation 1.2, section 4.3, and HTML Accessibility API Mappings 1.0,
    section 4.1: ``aria-labelledby``, ``aria-label``, what the language gives (content, ``alt``), ``title``.
    Style sheets and scripts are not read: what they add or hide is not known.
    """

    max_steps = 5_000_000
    """Characters and elements of content that are read in all: elements within each other are read again."""

    def __init__(self) -> None:
        self._steps = 0
        self._by_id: dict[str, HtmlElement] | None = None

    def label(self, element: HtmlElement) -> str:
        """Return the name that attributes of ARIA give an element, '' if none."""
        get = element.get
        if (ids := get("aria-labelledby")) and (found := self._referred(element, ids)):
            return found
        return fold(get("aria-label"))

    def name(self, element: HtmlElement) -> str:
        """Return the name of an element that its content names: a link, a button, a heading."""
        return self.label(element) or self.content(element) or fold(element.get("title"))

    def content(self, element: HtmlElement) -> str:
        """Return `content_name`; of a page that would keep it busy, `UNREAD` in place of further names."""
        if self._steps > self.max_steps:
            return UNREAD
        name = content_name(element)
        # What was read is at least as long as its name; without a name, it may be any number of elements.
        if name:
            self._steps += len(name)
        elif len(element):
            self._steps += 20 * sum(1 for _ in element.iter())
        return name

    def _referred(self, element: HtmlElement, ids: str) -> str:
        if self._by_id is None:
            self._by_id = {}
            for found in _WITH_ID(element):
                self._by_id.setdefault(found.get("id"), found)
        targets = (self._by_id.get(name) for name in ids.split()[:20])
        return fold(" ".join(self._own_name(target) for target in targets if target is not None))

    def _own_name(self, target: HtmlElement) -> str:
        return fold(target.get("aria-label")) or self.content(target) or fold(target.get("alt"))
