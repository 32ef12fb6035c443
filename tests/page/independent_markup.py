"""Names of elements and faults of access, read from html5lib's tree: the rules of axe in plain recursion."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

from webanalytics.page.facts.access import AccessElements, access_facts
from webanalytics.page.facts.facts import FactElements
from webanalytics.page.facts.head import head_facts
from webanalytics.page.facts.links import LinkElements
from webanalytics.page.page import Page, collected

HTML = "{http://www.w3.org/1999/xhtml}"
UNREAD = frozenset({"template", "noscript"})
HEADINGS = tuple(f"h{level}" for level in range(1, 7))


def tag(element: Element) -> str:
    return element.tag.removeprefix(HTML).rpartition("}")[2] if isinstance(element.tag, str) else ""


def html_tag(element: Element) -> str:
    return element.tag.removeprefix(HTML) if isinstance(element.tag, str) else ""


def fold(text: str | None) -> str:
    return " ".join((text or "").split())


def takes_away(element: Element) -> bool:
    style = re.sub(r"\s", "", element.get("style", "").lower())
    return (
        "hidden" in element.attrib
        or element.get("aria-hidden", "").strip().lower() == "true"
        or "display:none" in style
        or "visibility:hidden" in style
    )


def with_parents(root: Element) -> Iterator[tuple[Element, list[Element]]]:
    """Every element that is part of the page, with those around it, in document order."""

    def walk(element: Element, around: list[Element]) -> Iterator[tuple[Element, list[Element]]]:
        yield element, around
        for child in element:
            if tag(child) and html_tag(child) not in UNREAD:
                yield from walk(child, [*around, element])

    yield from walk(root, [])


def content(element: Element) -> str:
    """The name from content: text, alternative texts, labels; else the first tooltip inside."""
    tooltips: list[str] = []

    def pieces(part: Element) -> Iterator[str]:
        yield part.text or ""
        for child in part:
            if not tag(child) or html_tag(child) in UNREAD:
                pass
            elif tag(child) not in ("script", "style") and not takes_away(child):
                if label := fold(child.get("aria-label")):
                    yield f" {label} "
                else:
                    tooltips.append(fold(child.get("title")))
                    if tag(child) in ("img", "area"):
                        yield child.get("alt", "")
                    else:
                        yield from pieces(child)
            yield child.tail or ""

    return fold("".join(pieces(element))) or next(filter(None, tooltips), "")


class Reading:
    """The names on one page."""

    def __init__(self, root: Element) -> None:
        self.all = list(with_parents(root))
        self.by_id: dict[str, Element] = {}
        for element, _ in self.all:
            if "id" in element.attrib:
                self.by_id.setdefault(element.get("id", ""), element)

    def label(self, element: Element) -> str:
        parts = [
            self.by_id[name] for name in element.get("aria-labelledby", "").split() if name in self.by_id
        ]
        named = [fold(part.get("aria-label")) or content(part) or fold(part.get("alt")) for part in parts]
        return fold(" ".join(named)) or fold(element.get("aria-label"))

    def name(self, element: Element) -> str:
        return self.label(element) or content(element) or fold(element.get("title"))

    def shown(self, *names: str) -> Iterator[tuple[Element, list[Element]]]:
        for element, around in self.all:
            if tag(element) in names and not any(map(takes_away, [element, *around])):
                yield element, around


def nameless_links(root: Element) -> list[str]:
    page = Reading(root)
    return [
        element.get("href", "").strip()[:500]
        for element, _ in page.shown("a", "area")
        if "href" in element.attrib
        and not (
            page.name(element)
            if tag(element) == "a"
            else page.label(element) or fold(element.get("alt")) or fold(element.get("title"))
        )
    ][:500]


def uncrawlable(root: Element) -> list[str]:
    page = Reading(root)
    found = []
    for element, _ in page.all:
        href = element.get("href")
        if tag(element) not in ("a", "area"):
            continue
        if href is None:
            marked = {"id", "name", "role", "aria-current", "aria-disabled"} & element.attrib.keys()
            if tag(element) == "a" and not marked and page.name(element):
                found.append("")
            continue
        href = href.strip()
        scheme, _, rest = href.partition(":")
        host = re.split(r"[/\\?#]", rest.lstrip("/\\"))[0] if rest.lstrip("/\\")[:1] not in "?#" else ""
        no_host = scheme.lower() in ("http", "https") and (not host or set(host) & set(' \n\t<>^|`"{}'))
        if scheme.lower() == "file" or (
            (scheme.lower() == "javascript" or no_host) and "role" not in element.attrib
        ):
            found.append(href[:500])
    return found[:500]


def is_switch(element: Element, drawn: set[str | None]) -> bool:
    return element.get("id") in drawn or any("-toggle" in name for name in element.get("class", "").split())


def unlabelled(root: Element) -> int:
    page = Reading(root)
    labels = [(e.get("for"), page.name(e)) for e, _ in page.all if tag(e) == "label" and e.get("for")]
    labelled, drawn = {name for name, text in labels if text}, {name for name, _ in labels}
    count = 0
    for element, around in page.shown("input", "select", "textarea"):
        kind = element.get("type", "").strip().lower() if tag(element) == "input" else ""
        inside = [parent for parent in around if tag(parent) == "label"]
        count += not (
            kind in ("hidden", "submit", "reset", "button", "image")
            or page.label(element)
            or fold(element.get("title"))
            or (inside and page.name(inside[-1]))
            or element.get("id") in labelled
            or (kind == "checkbox" and not element.get("name") and is_switch(element, drawn))
        )
    return min(count, 500)


def nameless_buttons(root: Element) -> int:
    page = Reading(root)
    count = 0
    for element, _ in page.shown("button", "input"):
        kind = element.get("type", "").strip().lower()
        if tag(element) == "button":
            is_filled = element.get("role") == "switch" and "title" in element.attrib
            count += not (page.name(element) or is_filled)
        elif kind in ("button", "image"):
            own = fold(element.get("value")) or (fold(element.get("alt")) if kind == "image" else "")
            count += not (own or page.label(element) or fold(element.get("title")))
    return count


def frames(root: Element) -> int:
    page = Reading(root)
    return sum(
        not (fold(element.get("title")) or page.label(element))
        and element.get("role", "").strip().lower() not in ("none", "presentation")
        for element, _ in page.shown("iframe", "frame")
    )


def empty_headings(root: Element) -> list[str]:
    page = Reading(root)
    return [tag(element) for element, _ in page.shown(*HEADINGS) if not page.name(element)]


def ids(root: Element) -> list[str]:
    counts = Counter(e.get("id", "") for e, _ in with_parents(root))
    return sorted(name[:200] for name, count in counts.items() if count > 1 and name.strip())


def tabindexes(root: Element) -> int:
    values = (re.match(r"\s*\+?(\d+)", e.get("tabindex", "")) for e, _ in with_parents(root))
    return sum(int(found[1]) > 0 for found in values if found)


def shared_images(root: Element) -> list[str]:
    names = {"og:image", "og:image:url", "og:image:secure_url", "twitter:image"}
    metas = [e for e, _ in with_parents(root) if html_tag(e) == "meta"]
    found = [
        meta.get("content", "").strip()
        for meta in metas
        if (meta.get("name") or meta.get("property") or "").strip().lower() in names
    ]
    return [link for link in found if link and not re.match("https?://", link, re.IGNORECASE)]


READERS: dict[str, Callable[[Element], Any]] = {
    "links without name": nameless_links,
    "links without address": uncrawlable,
    "fields without label": unlabelled,
    "buttons without name": nameless_buttons,
    "frames without title": frames,
    "empty headings": empty_headings,
    "duplicate ids": ids,
    "tabindex": tabindexes,
    "shared images": shared_images,
}

OURS: dict[str, Callable[[Page], Any]] = {
    "links without name": lambda page: [link["href"] for link in collected(page, LinkElements).nameless],
    "links without address": lambda page: [
        link["href"] for link in collected(page, LinkElements).uncrawlable
    ],
    "fields without label": lambda page: len(collected(page, AccessElements).fields),
    "buttons without name": lambda page: len(collected(page, AccessElements).buttons),
    "frames without title": lambda page: len(collected(page, AccessElements).iframes),
    "empty headings": lambda page: collected(page, AccessElements).empty_headings,
    "duplicate ids": lambda page: sorted(
        access_facts(page, collected(page, AccessElements))["duplicate_ids"]
    ),
    "tabindex": lambda page: len(access_facts(page, collected(page, AccessElements))["positive_tabindex"]),
    "shared images": lambda page: collected(page, FactElements).relative_images,
}


def head_errors(complaints: Iterable[Any]) -> dict[str, bool]:
    """What html5lib's parser complains of in the source before and at the body."""
    said = {(code, str(data.get("name", ""))) for _, code, data in complaints}
    return {
        "doctype": not any(code.startswith("expected-doctype-but-got") for code, _ in said),
        "ended": ("unexpected-end-tag", "head") in said or ("unexpected-start-tag", "body") in said,
    }


def our_head(page: Page) -> dict[str, bool]:
    facts = head_facts(page)
    return {"doctype": facts["doctype"], "ended": bool(facts["head_ended_by"])}
