"""What keeps people who use assistive technology from using a page, as far as its HTML tells.

The accessible name of an element, what that technology calls it, is found here too.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from webanalytics.page.document import Document, Element, Walk
from webanalytics.page.page import Collector, Page, Reader, fold

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
"""The name of what is no longer read, or not known."""


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
        if name := self.label(element) or self.content(element) or fold(element.get("title")):
            return name
        # of a component: what its slot shows stands elsewhere in the page
        return UNREAD if self._document.holds(element, "slot") else ""

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


_REFERRING = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "headers", "list")
_NAMED_BY_VALUE = frozenset(("submit", "reset"))
_BUTTONS = frozenset(("button", "image"))
_NO_FIELDS = frozenset(("hidden", *_NAMED_BY_VALUE, *_BUTTONS))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class AccessElements(Collector):
    """Fields, frames, buttons and headings without a name, in document order."""

    max_length = 200

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.iframes: list[str] = []
        self.buttons: list[str] = []
        self.empty_headings: list[str] = []
        self.image_headings: list[dict[str, str]] = []
        self._fields: list[tuple[str, dict[str, str]]] = []
        self._switches: set[str] = set()
        self._labelled: set[str] = set()
        self._drawn: set[str] = set()
        self._headings = 0
        self._names = Names(page.document)

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {
            "label": self._label,
            "input": self._input,
            "select": self._field,
            "textarea": self._field,
            "iframe": self._frame,
            "frame": self._frame,
            "button": self._button,
            **dict.fromkeys(_HEADINGS, self._heading),
        }

    @property
    def fields(self) -> list[dict[str, str]]:
        """Fields without a label; known when all labels are.

        A checkbox that no form sends and whose label is a picture is a switch of style sheets, which hide it,
        and so is one whose class says so (``md-toggle``).
        """
        clear = self._labelled | (self._drawn & self._switches)
        return [said for name, said in self._fields if not name or name not in clear]

    def _label(self, element: Element) -> None:
        if target := element.get("for"):
            (self._labelled if self._names.name(element) else self._drawn).add(target)

    def _input(self, element: Element) -> None:
        kind = (element.get("type") or "").strip().lower()
        if kind in _BUTTONS:
            get = element.get
            if not fold(get("value")) and not (kind == "image" and fold(get("alt"))):
                self._check_button(element)
        elif kind not in _NO_FIELDS:
            if kind == "checkbox" and not element.get("name"):
                self._switches.add(element.get("id") or "")
                if "-toggle" in (element.get("class") or ""):
                    return
            self._field(element)

    def _field(self, element: Element) -> None:
        get = element.get
        if (
            len(self._fields) >= self.max_entries
            or self._names.label(element)
            or fold(get("title"))
            or not self.may_climb()
        ):
            return
        around = next(element.iterancestors("label"), None)
        if (around is not None and self._names.name(around)) or is_hidden(element):
            return
        said = {"field": _shown(element)[: self.max_length]}
        if example := fold(get("placeholder")):
            said["placeholder"] = example[: self.max_length]
        self._fields.append((get("id") or "", said))

    def _frame(self, element: Element) -> None:
        get = element.get
        if (
            not fold(get("title"))
            and (get("role") or "").strip().lower() not in ("none", "presentation")
            and not self._names.label(element)
            and self._may_name(self.iframes, element)
        ):
            self.iframes.append((get("src") or get("name") or get("id") or "without src").strip()[:500])

    def _button(self, element: Element) -> None:
        named_by_state = element.get("role") == "switch" and element.get("title") is not None  # by a script
        if not self._names.name(element) and not named_by_state:
            self._add_button(element)

    def _check_button(self, element: Element) -> None:
        if not self._names.label(element) and not fold(element.get("title")):
            self._add_button(element)

    def _add_button(self, element: Element) -> None:
        if self._may_name(self.buttons, element):
            self.buttons.append(_shown(element)[: self.max_length])

    def _heading(self, element: Element) -> None:
        name = self._names.name(element)
        if not name:
            self._empty_heading(element)
        elif not element.is_leaf and name != UNREAD and self._is_image(element):
            self.image_headings.append({"level": element.tag, "alt": name[: self.max_length]})

    def _is_image(self, heading: Element) -> bool:
        self._headings += 1
        if self._headings > self.max_entries or not self._document.holds(heading, "img"):
            return False
        return not fold(self._document.text_of(heading))

    def _empty_heading(self, element: Element) -> None:
        if self._may_name(self.empty_headings, element):
            self.empty_headings.append(element.tag)

    def _may_name(self, entries: list[str], element: Element) -> bool:
        return len(entries) < self.max_entries and self.may_climb() and not is_hidden(element)


def _shown(element: Element) -> str:
    """Return an element's start tag, cut to what tells it from others."""
    said = [element.tag]
    for name in ("type", "name", "id", "class"):
        if value := fold(element.get(name)):
            said.append(f'{name}="{value[:60]}"')
            if name in ("name", "id"):
                break
    return f"<{' '.join(said)}>"


def access_facts(page: Page, elements: AccessElements) -> dict[str, Any]:
    """Return the facts about access; ids that are used are those which labels, fields or cells refer to.

    Notes
    -----
    WCAG 2.2 criteria 1.1.1, 1.3.1, 2.4.3, 2.4.6 and 4.1.2, and axe's rules ``label``, ``select-name``,
    ``frame-title``, ``button-name``, ``input-button-name``, ``input-image-alt``, ``duplicate-id``,
    ``duplicate-id-aria``, ``empty-heading`` and ``tabindex``. Names as in `Names`; hidden elements are left
    out.

    Examples
    --------
    >>> from webanalytics.page.page import collected
    >>> page = Page("<label for=a>Tea</label><input id=a><select name=b></select><iframe src=/c></iframe>")
    >>> found = access_facts(page, collected(page, AccessElements))
    >>> found["fields_without_label"], found["iframes_without_title"]
    ([{'field': '<select name="b">'}], ['/c'])
    """
    repeated, used = _repeated_ids(page)
    limit = elements.max_entries
    return {
        "fields_without_label": elements.fields,
        "iframes_without_title": elements.iframes,
        "buttons_without_name": elements.buttons,
        "empty_headings": elements.empty_headings,
        "image_headings": elements.image_headings,
        "duplicate_ids": [name[: elements.max_length] for name in repeated[:limit]],
        "duplicate_ids_used": [name[: elements.max_length] for name in used[:limit]],
        "positive_tabindex": _positive(page)[:limit],
    }


def _repeated_ids(page: Page) -> tuple[list[str], list[str]]:
    ids = [element.get("id") or "" for element in page.having("id") if element is not page.root]
    if len(ids) == len(set(ids)):
        return [], []
    repeated = [name for name, count in Counter(ids).items() if count > 1 and name and not name.isspace()]
    referring = ((element, name) for name in _REFERRING for element in page.having(name))
    referred = {target for element, name in referring for target in (element.get(name) or "").split()}
    return repeated, [name for name in repeated if name in referred]


def _positive(page: Page) -> list[str]:
    below = (element for element in page.having("tabindex") if element is not page.root)
    return [_shown(element) for element in below if _is_positive(element)]


def _is_positive(element: Element) -> bool:
    """Return whether a tabindex is over zero, read as the HTML Standard reads integers (section 2.3.4.1)."""
    text = (element.get("tabindex") or "").lstrip(" \t\n\r\f").removeprefix("+")
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    return bool(digits.strip("0"))
