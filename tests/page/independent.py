"""What html5lib, a parser that shares no line with ours, reads on a page: the facts that rules look at.

A further fact is one more function in READERS, with what ours gives for it in OURS.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
from html5lib.constants import DataLossWarning

from tests.page import independent_loading, independent_markup
from webanalytics.page import metadata
from webanalytics.page.facts.facts import FactElements
from webanalytics.page.page import Page, collected
from webanalytics.page.structured.jsonld import jsonld_texts

HTML = "{http://www.w3.org/1999/xhtml}"
NEVER_SHOWN = frozenset({"template", "noscript"})
CODE = frozenset({"script", "style"})
PREFIXES = {
    "{http://www.w3.org/1999/xlink": "xlink:",
    "{http://www.w3.org/XML/1998/namespace": "xml:",
    "{http://www.w3.org/2000/xmlns/": "xmlns:",
}
XMLNS = "{http://www.w3.org/2000/xmlns/}xmlns"
ALTERNATE_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})

Reader = Callable[[Element], Any]


def parse(text: str) -> Element:
    """The root of a page as html5lib parses it for a browser with scripts."""
    return parse_and_complain(text)[0]


def parse_and_complain(text: str) -> tuple[Element, list[Any]]:
    """The same, with what html5lib complains of in the source."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataLossWarning)
        root: Element = parser.parse(text, scripting=True)
    return root, parser.errors


def name_of(element: Element) -> str:
    """The name of an HTML element; that of one of SVG or MathML with its namespace in front."""
    return str(element.tag).removeprefix(HTML) if isinstance(element.tag, str) else ""


def local_name(element: Element) -> str:
    return name_of(element).rpartition("}")[2]


def shown(element: Element) -> Iterator[Element]:
    """An element and those below it, without what waits for scripts or stands in for them."""
    yield element
    for child in element:
        if name_of(child) and name_of(child) not in NEVER_SHOWN:
            yield from shown(child)


def text_of(element: Element, left_out: frozenset[str] = NEVER_SHOWN | CODE) -> str:
    """The folded text of an element, without code."""

    def pieces(part: Element) -> Iterator[str]:
        yield part.text or ""
        for child in part:
            if name_of(child) and local_name(child) not in left_out:
                yield from pieces(child)
            yield child.tail or ""

    return " ".join("".join(pieces(element)).split())


def elements(root: Element, *names: str) -> list[Element]:
    return [element for element in shown(root) if name_of(element) in names]


def heading_of(heading: Element) -> str:
    """The text of a heading without the sign behind it that leads to its place, and marks that are not seen."""
    text = text_of(heading)
    for link in elements(heading, "a"):
        if text_of(link) in {"¶", "§", "#", "🔗"} and "#" in link.get("href", ""):
            text = text.removesuffix(text_of(link)).strip()
    return fold(re.sub("[\xad\u200b\u2060\ufeff]", "", text))


def fold(text: str | None) -> str:
    return " ".join((text or "").split())


def metas(root: Element, name: str) -> list[str]:
    found = [meta for meta in elements(root, "meta") if meta.get("name", "").strip().lower() == name]
    return [fold(meta.get("content")) for meta in found]


def links(root: Element, kind: str) -> list[Element]:
    return [link for link in elements(root, "link") if kind in link.get("rel", "").lower().split()]


def charset(root: Element) -> str:
    for meta in elements(root, "meta"):
        if declared := fold(meta.get("charset")):
            return declared
        content = meta.get("content", "")
        if meta.get("http-equiv", "").strip().lower() == "content-type" and "charset=" in content.lower():
            return content[content.lower().index("charset=") + 8 :].strip(" \"'").split(";")[0].strip()
    return ""


def hreflangs(root: Element) -> list[str]:
    return [
        link.get("hreflang", "").strip()
        for link in links(root, "alternate")
        if link.get("hreflang") is not None
        and "stylesheet" not in link.get("rel", "").lower().split()
        and link.get("type", "").partition(";")[0].strip().lower() in ALTERNATE_TYPES
    ]


def outside_head(root: Element) -> list[str]:
    body = next(iter(elements(root, "body", "frameset")), None)
    if body is None:
        return []
    kinds = {
        "title": elements(body, "title"),
        "description": [
            m for m in elements(body, "meta") if m.get("name", "").strip().lower() == "description"
        ],
        "canonical": links(body, "canonical"),
        "hreflang": hreflangs(body),
        "robots": [m for m in elements(body, "meta") if m.get("name", "").strip().lower() == "robots"],
    }
    return sorted(kind for kind, found in kinds.items() if found)


READERS: dict[str, Reader] = {
    "titles": lambda root: [text_of(title, frozenset()) for title in elements(root, "title")],
    "descriptions": lambda root: [text[: FactElements.max_length] for text in metas(root, "description")],
    "robots": lambda root: [content for content in metas(root, "robots") if content],
    "viewport": lambda root: next(filter(None, metas(root, "viewport")), ""),
    "charset": charset,
    "lang": lambda root: root.get("lang", "").strip(),
    "canonicals": lambda root: [link.get("href", "").strip() for link in links(root, "canonical")],
    "hreflangs": hreflangs,
    "outside head": outside_head,
    "headings": lambda root: [
        (name_of(heading), heading_of(heading))
        for heading in elements(root, *(f"h{level}" for level in range(1, 7)))
    ],
    "links": lambda root: [
        (link.get("href"), text_of(link)) for link in elements(root, "a") if link.get("href") is not None
    ],
    "images": lambda root: [(image.get("src"), image.get("alt")) for image in elements(root, "img")],
    "JSON-LD": lambda root: [
        text
        for script in elements(root, "script")
        if script.get("type", "").strip().lower().startswith("application/ld+json")
        and (text := script.text or "").strip()
    ],
    "text": lambda root: text_of(root),
    **independent_markup.READERS,
    **independent_loading.READERS,
}
"""What is compared, by the other parser's tree."""


def in_drawing(element: Any) -> bool:
    return any(parent.tag in ("svg", "math") for parent in element.iterancestors())


def our_text(element: Any) -> str:
    """The text of an element of our tree, without code."""
    code = set(element.iter(*CODE))
    pieces = [
        text
        for text in element.xpath("descendant-or-self::*/text()")
        if not (text.is_text and text.getparent() in code)
        and not (text.is_tail and text.getparent() is element)
    ]
    return fold("".join(pieces))


OURS: dict[str, Callable[[Page], Any]] = {
    "titles": lambda page: collected(page, FactElements).titles,
    "descriptions": lambda page: collected(page, FactElements).descriptions,
    "robots": lambda page: page.metas("robots"),
    "viewport": lambda page: metadata.analyse(page)["viewport"],
    "charset": lambda page: collected(page, metadata.MetadataElements).charset,
    "lang": lambda page: page.tree.get("lang", "").strip(),
    "canonicals": lambda page: [entry["href"] for entry in collected(page, FactElements).canonicals],
    "hreflangs": lambda page: [entry["lang"] for entry in collected(page, FactElements).hreflangs],
    "outside head": lambda page: sorted(collected(page, FactElements).outside_head),
    "headings": lambda page: [
        (heading["level"], heading["text"]) for heading in collected(page, metadata.MetadataElements).headings
    ],
    "links": lambda page: [
        (link.get("href"), our_text(link))
        for link in page.tree.iter("a")
        if link.get("href") is not None and not in_drawing(link)
    ],
    "images": lambda page: [(image.get("src"), image.get("alt")) for image in page.tree.iter("img")],
    "JSON-LD": jsonld_texts,
    "text": lambda page: our_text(page.tree),
    **independent_markup.OURS,
    **independent_loading.OURS,
}
"""The same of our page."""


def our_outline(page: Page) -> list[Any]:
    """Every element and text of our tree in order, by depth."""
    found: list[Any] = []

    def add(element: Any, depth: int) -> None:
        found.append((depth, element.tag.lower(), sorted((n.lower(), v) for n, v in element.items())))
        _add_text(found, depth + 1, element.text)
        for child in element:
            add(child, depth + 1)
            _add_text(found, depth + 1, child.tail)

    add(page.tree, 0)
    return found


def their_outline(root: Element) -> list[Any]:
    """The same of html5lib's tree, without what ours leaves out."""
    found: list[Any] = []

    def add(element: Element, depth: int) -> None:
        attributes = sorted((local_attribute(n).lower(), v) for n, v in element.items())
        found.append((depth, local_name(element).lower(), attributes))
        if name_of(element) in NEVER_SHOWN:
            return
        _add_text(found, depth + 1, element.text)
        for child in element:
            if name_of(child):
                add(child, depth + 1)
            _add_text(found, depth + 1, child.tail)

    add(root, 0)
    return found


def local_attribute(name: str) -> str:
    """The name of an attribute as it is written: html5lib gives some of SVG a namespace."""
    space, _, local = name.partition("}")
    if name == XMLNS:
        return "xmlns"
    return PREFIXES[space] + local if space in PREFIXES else name


def _add_text(found: list[Any], depth: int, text: str | None) -> None:
    if text and found[-1][:2] == (depth, "#text"):
        found[-1] = (depth, "#text", found[-1][2] + text)
    elif text:
        found.append((depth, "#text", text))


def differences(page: Page, root: Element) -> dict[str, tuple[Any, Any]]:
    """What differs: name to what ours reads and what html5lib reads."""
    pairs = {name: (OURS[name](page), read(root)) for name, read in READERS.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
