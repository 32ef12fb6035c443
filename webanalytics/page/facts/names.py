"""What assistive technology calls an element, its accessible name, as far as the HTML of a page tells it."""

from __future__ import annotations

import re

from webanalytics.page.document import Document, Element, Walk
from webanalytics.page.page import fold

_CODE = ("script", "style")
_PICTURES = frozenset(("img", "area"))
# What may make a name differ from the text.
_SPECIAL = frozenset(("aria-hidden", "aria-label", "hidden", "style"))
_UNDISPLAYED = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)


def hides(element: Element) -> bool:
    """Return whether an element hides itself from assistive technology, by attribute or by its own style."""
    get = element.get
    if get("hidden") is not None or (get("aria-hidden") or "").strip().lower() == "true":
        return True
    style = get("style")
    return style is not None and _UNDISPLAYED.search(style) is not None


def is_hidden(element: Element) -> bool:
    """Return whether an element or one around it is hidden; costs the depth of the tree."""
    return hides(element) or any(map(hides, element.iterancestors()))


def content_name(document: Document, element: Element) -> str:
    """Return the name that an element has from its content: text, alternative texts and labels inside it.

    Examples
    --------
    >>> from webanalytics.page.tree import parse
    >>> document = parse("<a><b>Green</b> <img src=t.png alt=tea><i aria-hidden=true>x</i></a>")
    >>> content_name(document, document.elements[3])
    'Green tea'
    """
    if element.is_leaf:
        return fold(element.text)
    parts = document.inside(element)
    text = fold(document.text_of(element))
    if text and not any(part.tag in _CODE or not _SPECIAL.isdisjoint(part.attrib) for part in parts):
        return text
    only = parts[0]
    if not text and only.tag == "img" and len(parts) == 1 and not hides(only):
        return fold(only.get("aria-label")) or fold(only.get("alt")) or fold(only.get("title"))
    return _walked(document, element)


def _walked(document: Document, element: Element) -> str:
    """Return the name from the content, part by part; a tooltip counts where nothing else does."""
    pieces = [element.text or ""]
    tooltips = []
    walk = Walk(document, element)
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

    def __init__(self, document: Document) -> None:
        self._document = document
        self._steps = 0
        self._by_id: dict[str, Element] | None = None

    def label(self, element: Element) -> str:
        """Return the name that attributes of ARIA give an element, '' if none."""
        get = element.get
        if (ids := get("aria-labelledby")) and (found := self._referred(ids)):
            return found
        return fold(get("aria-label"))

    def name(self, element: Element) -> str:
        """Return the name of an element that its content names: a link, a button, a heading."""
        return self.label(element) or self.content(element) or fold(element.get("title"))

    def content(self, element: Element) -> str:
        """Return `content_name`; of a page that would keep it busy, `UNREAD` in place of further names."""
        if self._steps > self.max_steps:
            return UNREAD
        name = content_name(self._document, element)
        # An element without a name is looked through once more.
        self._steps += len(name) + (1 if name else 20) * (element.end - element.position - 1)
        return name

    def _referred(self, ids: str) -> str:
        if self._by_id is None:
            self._by_id = {}
            for found in self._document.noted["id"]:
                self._by_id.setdefault(found.attrib["id"], found)
        targets = (self._by_id.get(name) for name in ids.split()[:20])
        return fold(" ".join(self._own_name(target) for target in targets if target is not None))

    def _own_name(self, target: Element) -> str:
        return fold(target.get("aria-label")) or self.content(target) or fold(target.get("alt"))
