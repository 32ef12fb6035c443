"""The main text of a page, for its text, readability and facts: without menus, advertisements and footers.

trafilatura does the extraction. Its fast mode costs two thirds of its standard mode and gives the same text
on most pages. Where it does not, the fast result holds only a small share of the page's prose: only then are
the other modes used.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree
from lxml.html import HtmlElement
from trafilatura import bare_extraction
from trafilatura.meta import reset_caches
from trafilatura.settings import Extractor

from webanalytics.page.document import Document
from webanalytics.page.page import Page, once_per_page
from webanalytics.page.structured.jsonld import jsonld_texts
from webanalytics.page.text.language import page_language
from webanalytics.page.text.own_mode import own_mode
from webanalytics.page.text.working_copy import working_copy
from webanalytics.page.visible_text import drop_invisible

if TYPE_CHECKING:
    from webanalytics.page.text.stages import Stages

PROSE_LINE = 80
"""Characters from which on a line of the visible text counts as prose, not as a label or a menu entry."""

TRUSTED_SHARE = 0.4
"""Share of the page's prose below which an extraction is not trusted."""

FRAGMENT_LENGTH = 3_000
"""Characters below which an extraction with half of the trusted share is treated as a fragment."""

MAX_ELEMENTS = 15_000
"""Elements up to which a page is given to trafilatura, whose time grows faster than the page."""

MAX_CHARACTERS = 1_000_000
"""Characters of visible text up to which a page is given to trafilatura."""

MAX_LOOSE_ELEMENTS = 4_000
"""Elements up to which the paragraphs of a page are judged one by one."""

LEAD_KEY = 40
"""Characters at the start of a description by which the lead is recognised on the page."""

# A page may nest deeper than Python's calls, or be otherwise unexpected: its prose is used.
_FAILURES = (RecursionError, LookupError, AttributeError, TypeError, ValueError, etree.LxmlError)
# How trafilatura recognises a page on which comments are what it is about.
_FORUM_NAME = "DiscussionForumPosting"
_FORUM = re.compile(rf'"@type"\s*:\s*(?:\[[^\]]*)?"{_FORUM_NAME}"')
# Pages from which on trafilatura's caches, which keep texts by the thousand, are emptied again.
LARGE_TEXT = 200_000
# A page that yields nothing is an answer here, not a warning.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def _options(fast: bool, recall: bool = False) -> Any:
    options = Extractor(output_format="python", fast=fast, recall=recall, comments=False)
    if not recall:
        # In its focus "balanced" trafilatura measures the whole page once more to see whether its answer
        # is too short, and widens the search then. This is done below, with the visible text, which other
        # analyses need anyway.
        options.focus = "unmeasured"
    return options


FAST = _options(fast=True)
WIDE = _options(fast=True, recall=True)
STANDARD = _options(fast=False)


def find_main_text(
    page: Page,
    trusted_share: float = TRUSTED_SHARE,
    max_elements: int = MAX_ELEMENTS,
    max_characters: int = MAX_CHARACTERS,
) -> str:
    """Return the main text of a page, one line per paragraph; empty when the page has no text.

    `trusted_share` is the share of the page's prose that the fast extraction must hold to be taken as it is.
    Larger pages than the limits are not given to trafilatura: their main text is their prose, or all of their
    visible text where little of it is prose. User comments are left out.

    Notes
    -----
    Prose is what stands on lines of at least 80 characters of the visible text. The shares were set in the
    middle of the range in which the F-score over pages with known text did not change (0.2 to 0.55).
    """
    visible = page.visible_text
    if not visible:
        return ""
    if is_large(page, max_elements, max_characters):
        return _largest_part(visible, trusted_share)
    text = search(page, visible, trusted_share).text
    if len(visible) > LARGE_TEXT:
        reset_caches()
    return with_lead(text or _largest_part(visible, trusted_share), visible, page.descriptions)


def is_large(page: Page, max_elements: int = MAX_ELEMENTS, max_characters: int = MAX_CHARACTERS) -> bool:
    """Return whether a page is too large to be given to trafilatura."""
    return len(page.visible_text) > max_characters or page.size > max_elements


@once_per_page
def main_text(page: Page) -> str:
    """Return the main text of a page, found with the usual limits; of a text, all of it."""
    return page.visible_text if page.is_text else find_main_text(page)


def _largest_part(visible: str, trusted_share: float) -> str:
    """Return the page's prose, or all that it shows where little of it is prose."""
    text = prose(visible)
    return text if len(text) >= trusted_share * len(visible) else visible


class Found(NamedTuple):
    """What a search for the main text found, and trafilatura's options; None for another extractor."""

    text: str
    options: Any


def search(page: Page, visible: str, trusted_share: float = TRUSTED_SHARE) -> Found:
    """Try one extractor after another until one returns enough of the page's prose."""
    size = len(prose(visible))

    def is_fragment(text: str) -> bool:
        return len(text) < min(trusted_share * size / 2, FRAGMENT_LENGTH)

    found = Found(_extract(page, FAST), FAST)
    if is_fragment(found.text):
        wide = _extract(page, WIDE)
        found = Found(wide, WIDE) if len(wide) >= 1.5 * len(found.text) else found
    if len(found.text) < trusted_share * size:
        standard = _extract(page, STANDARD)
        found = Found(standard, STANDARD) if len(standard) > len(found.text) else found
    if is_fragment(found.text):
        paragraphs = good_paragraphs(page.document, page_language(page))
        found = Found(paragraphs, None) if len(paragraphs) >= 2 * len(found.text) else found
    return found


def good_paragraphs(document: Document, language: str, max_elements: int = MAX_LOOSE_ELEMENTS) -> str:
    """Return the paragraphs of a page that jusText classifies as text, wherever they are.

    It looks at each paragraph's length, links and stop words, and not at the elements around it: so it finds
    what is spread over a page, such as the posts of a forum. Its time grows with the square of the number of
    paragraphs: nothing is returned for pages with more elements than allowed.
    """
    if len(document.elements) > max_elements:
        return ""
    from justext import get_stoplist, justext
    from trafilatura.settings import JUSTEXT_LANGUAGES

    name = JUSTEXT_LANGUAGES.get(language)
    markup = etree.tostring(working_copy(document), encoding="unicode", method="html")
    words = get_stoplist(name) if name else frozenset()
    density = (0.1, 0.2) if name else (0.0, 0.0)
    found = justext(markup, words, stopwords_low=density[0], stopwords_high=density[1])
    return drop_invisible("\n".join(paragraph.text for paragraph in found if not paragraph.is_boilerplate))


def warm_up() -> None:
    """Run every extractor once: they read their stop words when first used."""
    page = Page("<p>Tea is made of leaves and of hot water.</p>")
    for options in (FAST, WIDE, STANDARD):
        _extract(page, options)


def prose(visible: str, shortest: int = PROSE_LINE) -> str:
    r"""Return the lines of a visible text that are long enough to be sentences.

    Examples
    --------
    >>> prose("Menu\nThis is a sentence.", shortest=10)
    'This is a sentence.'
    """
    return "\n".join(line for line in visible.split("\n") if len(line) >= shortest)


def _extract(page: Page, options: Any) -> str:
    text = None
    if (stages := _stages(page)) is not None:
        try:
            text = stages.text(options)
        except _FAILURES:
            text = None
    if text is None:
        text = _public_text(page.document, options)
    return unicodedata.normalize("NFC", drop_invisible(text)) if text else ""


@once_per_page
def _stages(page: Page) -> Stages | None:
    """Return this package's way through the modes on a page, where it may stand for trafilatura's."""
    stages = own_mode(_public_text, (FAST, WIDE, STANDARD))
    if stages is None:
        return None
    return stages(page.document, _FORUM_NAME in page.html and any(map(_FORUM.search, jsonld_texts(page))))


def _public_text(document: Document, options: Any) -> str | None:
    """Return what trafilatura's public functions find; they see for themselves what a forum is."""
    text: str | None = getattr(document_of(working_copy(document), options), "text", None)
    return text


def document_of(tree: HtmlElement, options: Any) -> Any:
    """Return trafilatura's document of a tree, which it modifies; None for one that it cannot read."""
    try:
        return bare_extraction(tree, options=options)
    except _FAILURES:
        return None


def with_lead(text: str, visible: str, descriptions: list[str], key_length: int = LEAD_KEY) -> str:
    r"""Return the main text with the page's lead in its place, if the extraction has missed it.

    The lead often stands outside of the element that holds the article, and is the page's description at
    the same time: so a visible paragraph that starts like the description belongs to the main text.

    Examples
    --------
    >>> lead = "Tea is a drink. It is made of leaves and of hot water, and it is drunk from cups."
    >>> print(with_lead("Leaves\nLeaves are picked.", f"Leaves\n{lead}\nLeaves are picked.", [lead]))
    Leaves
    Tea is a drink. It is made of leaves and of hot water, and it is drunk from cups.
    Leaves are picked.
    """
    folded = ""
    for description in descriptions:
        key = description[:key_length]
        place = visible.find(key) if len(key) == key_length else -1
        if place < 0:
            continue
        start = visible.rfind("\n", 0, place) + 1
        lead = visible[start:].partition("\n")[0]
        folded = folded or " ".join(text.split())
        # A place or a date may stand in front of it.
        if place - start <= key_length and len(lead) >= PROSE_LINE and key not in folded:
            return _insert(text, lead, visible, start)
    return text


def _insert(text: str, lead: str, visible: str, start: int, key_length: int = LEAD_KEY) -> str:
    """Put the lead in front of the first line of the text that follows it on the page."""
    lines = text.split("\n")
    before = visible[:start]
    for number, line in enumerate(lines):
        if " ".join(line.split())[:key_length] not in before:
            return "\n".join([*lines[:number], lead, *lines[number:]])
    return "\n".join([*lines, lead])
