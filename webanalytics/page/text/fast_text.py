"""Main text by the rules of trafilatura's own search, from the tree of one walk.

What takes time in trafilatura is to find and to take out: it is done here with what the walk has noted of
each element. What becomes of the text that is left is the work of trafilatura's own functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree
from trafilatura.htmlprocessing import is_paragraph_listing, link_density_test_tables, process_node
from trafilatura.main_extractor import NOT_AT_THE_END, REBUILT_BLOCKS, handle_textelem
from trafilatura.settings import (
    DEDUPE_SCAN_CAP,
    INLINE_CONSUMING,
    INLINE_FORMATTABLE,
    MIN_DUPLICATE_LENGTH,
    TAG_CATALOG,
)
from trafilatura.utils import LINK_FARM_RATIO, SPACING_PROTECTED, text_chars_test
from trafilatura.xml import delete_element

from webanalytics.page.document import Document
from webanalytics.page.text.one_walk import CAPTION, DISCARDED, FRAMES, TEASER, TEXT_OF, Tree

_PARAGRAPH_TEXT = etree.XPath("//p//text()", smart_strings=False)
# Tags that trafilatura makes text of; of a div only where there are few paragraphs, or where it is code.
_READ = frozenset({*TAG_CATALOG, *INLINE_CONSUMING, "table"})
_TABLES = frozenset({"table", "td", "th", "tr"})
_WILD_PATH = ".//code|.//p|.//quote|.//table|.//div[contains(@class, 'w3-code')]"
_WILD = etree.XPath(_WILD_PATH)
_WILDER = etree.XPath(f"{_WILD_PATH}|.//div|.//lb|.//list")
_BEGINNING = 1_000
_LISTED = ("item", "td", "th")


class Content(NamedTuple):
    """What a search found: its body and text, and whether it went on to take what is left of the page."""

    body: Any
    text: str
    recovered: bool


def is_wide(options: Any) -> bool:
    """Return whether a mode favours recall."""
    return bool(options.focus == "recall")


def content(source: Document, options: Any, forum: bool = False) -> Content | None:
    """Do what `main_extractor.extract_content` does.

    None where the wide mode, with no paragraph left, would undo what was left out of the page.

    Parameters
    ----------
    source : Document
        The page, which is not modified.
    options : trafilatura.settings.Extractor
        Options of a mode, without comments, links, images and formatting.
    forum : bool
        Whether comments are what the page is about.
    """
    tree = Tree(source, forum)
    if is_wide(options) and tree.root.find(".//p") is None:
        return None
    potential = set(TAG_CATALOG | _TABLES)
    result = etree.Element("body")
    order = _read(tree, result, potential, options)
    text = _text(result)
    recovered = len(text) < options.min_extracted_size
    if recovered:
        consumed: set[Any] = set()
        if order:
            tree = Tree(source, forum)
            consumed = {twin for old, twin in zip(order, tree.root.iter(), strict=True) if old.tag == "done"}
        _recover(tree, result, potential, consumed, options)
        text = _text(result)
    _finish(result)
    return Content(result, text, recovered)


def _text(result: Any) -> str:
    return " ".join(result.itertext()).strip()


def _frames(tree: Tree) -> Iterator[Any]:
    """Yield the first element of each of trafilatura's searches for the one that holds the text."""
    known, root = tree.known, tree.root
    for bit in FRAMES:
        for element, verdict in known.items():
            if verdict & bit and element.tag != "done" and root in element.iterancestors():
                yield element
                break


def _read(tree: Tree, result: Any, potential: set[str], options: Any) -> list[Any]:
    """Do what `main_extractor._extract` does; return the elements as they were if any was changed."""
    order: list[Any] = []
    for frame in _frames(tree):
        order = order or list(tree.root.iter())
        _prune(tree, frame, keep_teasers=is_wide(options))
        if len(frame) == 0:
            continue
        if sum(map(len, _PARAGRAPH_TEXT(frame))) < options.min_extracted_size * 3:
            potential.add("div")
        elements = list(frame.iterdescendants())
        tags = {element.tag for element in elements}
        if tags == {"lb"} or (
            frame.tag == "div" and "div" in potential and tags <= INLINE_FORMATTABLE | {"lb"}
        ):
            elements = [frame]
        lead, start = None, len(result)
        if elements != [frame] and text_chars_test(frame.text):
            lead = _paragraph(frame.text, options)
        _append(elements, result, potential, options)
        while len(result) > 0 and result[-1].tag in NOT_AT_THE_END:
            delete_element(result[-1], keep_tail=False)
        if len(result) > 1:
            if lead is not None:
                result.insert(start, lead)
            break
    return order


def _paragraph(text: str, options: Any) -> Any:
    paragraph = etree.Element("p")
    paragraph.text = text
    return process_node(paragraph, options)


def _append(elements: list[Any], result: Any, potential: set[str], options: Any) -> None:
    """Append to the result what becomes of the elements."""
    with_divs = "div" in potential
    moved: set[Any] = set()
    for element in elements:
        tag = element.tag
        if tag not in _READ and not (tag == "div" and (with_divs or element.get("class") is not None)):
            continue
        if element in moved:
            continue
        tail = element.tail
        processed = handle_textelem(element, potential, options)
        if processed is not None:
            result.append(processed)
            if processed is element or tag in INLINE_CONSUMING:
                moved.update(element.iterdescendants())
            else:
                element.tag = "done"
        if (
            tag in REBUILT_BLOCKS
            and text_chars_test(tail)
            and (processed is None or processed.tail is None)
            and (paragraph := _paragraph(tail, options)) is not None
        ):
            result.append(paragraph)


def _recover(tree: Tree, result: Any, potential: set[str], consumed: set[Any], options: Any) -> None:
    """Do what `main_extractor.recover_wild_text` does: take what is left of all of the page."""
    wide = is_wide(options)
    _prune(tree, tree.root, keep_teasers=wide or options.fast)
    if wide:
        potential = potential | {"div", "lb"}
    texts = [_joined(element) for element in result]
    existing, known = "\n".join(filter(None, texts)), set(texts)
    handled: set[Any] = set()
    for element in (_WILDER if wide else _WILD)(tree.root):
        if element in consumed or any(ancestor in handled for ancestor in element.iterancestors()):
            continue
        processed = handle_textelem(element, potential, options)
        if processed is None:
            continue
        if processed is element:
            handled.add(element)
        text = _joined(processed)
        fragment = _spaced(text + (processed.tail or "")) if text_chars_test(processed.tail) else ""
        few = len(existing) <= DEDUPE_SCAN_CAP
        repeated = (len(text) > MIN_DUPLICATE_LENGTH and text in existing) or (
            fragment and fragment in existing
        )
        if text and (text in known or (few and repeated)):
            continue
        result.append(processed)
        if few:
            existing += "\n" + (fragment or text)
        known.add(text)


def _prune(tree: Tree, frame: Any, keep_teasers: bool = False) -> None:
    """Do what `main_extractor.prune_unwanted_sections` does."""
    found = _inside(tree, frame)
    discarded = {element: None for element, verdict in found if verdict & DISCARDED}
    if discarded:
        outer = [e for e in discarded if not any(a in discarded for a in e.iterancestors())]
        length = len(TEXT_OF(frame))
        if length - sum(len(TEXT_OF(element)) for element in outer) > length / 7:
            for element in outer:
                delete_element(element)
    for bit in (CAPTION,) if keep_teasers else (CAPTION, TEASER):
        for element, verdict in found:
            if verdict & bit:
                delete_element(element)
    judged: dict[Any, tuple[bool, bool]] = {}
    if _prune_links(frame, judged):
        _prune_links(frame, judged)
    for table in [e for e in frame.iter("table") if link_density_test_tables(e) is True]:
        delete_element(table, keep_tail=False)
    etree.strip_tags(frame, "span", "ref")


def _inside(tree: Tree, frame: Any) -> list[tuple[Any, int]]:
    """Return the elements in a part of the tree of which something is known."""
    get = tree.known.get
    return [(element, verdict) for element in frame.iterdescendants() if (verdict := get(element))]


def _prune_links(frame: Any, judged: dict[Any, tuple[bool, bool]]) -> bool:
    """Take out what is mostly links, as three `delete_by_link_density` do; return whether anything was."""
    around: set[Any] = set()
    for link in frame.iter("ref"):
        for ancestor in link.iterancestors():
            if ancestor in around:
                break
            around.add(ancestor)
    deleted = False
    for tag in ("div", "list", "p") if around else ():
        for element in [e for e in frame.iter(tag) if e in around and _is_linked(e, judged)]:
            # What has been found of those that it stood in or before holds no longer.
            for other in (element.getprevious(), *element.iterancestors()):
                judged.pop(other, None)
            delete_element(element)
            deleted = True
    return deleted


def _is_linked(element: Any, judged: dict[Any, tuple[bool, bool]]) -> bool:
    if element not in judged:
        judged[element] = _link_density(element)
    result, short = judged[element]
    if not result and not (
        short and element.tag == "div" and len(element) >= 3 and len(_folded(element)) < 100
    ):
        return False
    parent = element.getparent()
    return not (element.tag == "p" and parent is not None and parent.tag in _LISTED)


def _folded(element: Any) -> str:
    return _spaced(TEXT_OF(element))


def _joined(element: Any) -> str:
    return _spaced("".join(element.itertext()))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _link_density(element: Any) -> tuple[bool, bool]:
    """Do what `htmlprocessing.link_density_test` does, without images."""
    links = list(element.iterdescendants("ref"))
    if not links:
        return False, False
    text = TEXT_OF(element)
    if len(links) == 1:
        only = len(_folded(links[0]))
        if only > 100 and only > len(_spaced(text)) * 0.9:
            return True, False
    alone = element.getnext() is None
    limit = (60 if alone else 30) if element.tag == "p" else 300 if alone else 100
    long = _is_long(text, limit)
    if long and len(links) <= 4:
        return False, False
    lengths = [size for size in map(len, map(_folded, links)) if size]
    total, many = sum(lengths), len(lengths)
    if not long:
        short = sum(1 for size in lengths if size < 10)
        linked = total > len(_spaced(text)) * 0.8
        return not many or linked or (many > 1 and short / many > 0.8), bool(many)
    farm = total < 100 * many and total > len(_spaced(text)) * LINK_FARM_RATIO
    return farm and not is_paragraph_listing(links), False


def _is_long(text: str, limit: int) -> bool:
    """Return whether a text has so many characters once it is folded; most tell by their beginning."""
    if len(_spaced(text[:_BEGINNING])) >= limit:
        return True
    return len(text) > _BEGINNING and len(_spaced(text)) >= limit


def _finish(result: Any) -> None:
    """Do what `main_extractor.extract_content` does in the end."""
    previous = None
    for element in list(result):
        current = _joined(element)
        if current and current == previous and len(current) > MIN_DUPLICATE_LENGTH:
            delete_element(element, keep_tail=False)
        else:
            previous = current
    etree.strip_elements(result, "done")
    etree.strip_tags(result, "div")
    for linebreak in result.iter("lb"):
        if (
            linebreak.tail
            and not text_chars_test(linebreak.tail)
            and not any(ancestor.tag in SPACING_PROTECTED for ancestor in linebreak.iterancestors())
        ):
            linebreak.tail = None
