"""The main text of a page as Markdown: the same content as the plain text, with its structure.

trafilatura finds and writes it, with the extractor that found the plain text; headings, lists, tables, code
and links stay, images do not.
"""

from __future__ import annotations

import copy
import re
import unicodedata
from collections import Counter
from functools import cache
from typing import Any

from lxml import etree
from trafilatura.meta import reset_caches

from webanalytics.page.page import Page
from webanalytics.page.text.main_text import (
    LARGE_TEXT,
    document_of,
    is_large,
    main_text,
    search,
)
from webanalytics.page.text.working_copy import working_copy
from webanalytics.page.visible_text import drop_invisible

LONGEST_LINK = 2_000
"""Characters of an address from which on its text stays without the link."""
MOST_LINKS = 500_000
"""Characters that all addresses of a page may have."""
SAME_SHARE = 0.9
"""Share of words that plain text and Markdown must have in common to count as the same content."""

_HTML_ONLY = ("sub", "sup")
"""Elements that Markdown has no signs for: they would be written as HTML."""
_BLANK_LINES = re.compile(r"\n{3,}")
_WORD = re.compile(r"\w+")
_ADDRESS = re.compile(r"(?:https?://|mailto:|tel:)[^\s<>\"]+", re.IGNORECASE)
_TARGET = re.compile(r"\]\((?:<[^<>\n]*+>|(?:[^()<>\\\s]|\\.|\([^()\s]*+\))*+)\)")
_SIGNS = re.compile(r"([\\`*_\[\]<>~|])")
_BLOCK_SIGN = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+\s*$|-+\s*$|\d{1,9}(?=[.)](?:\s|$)))")


def main_markdown(page: Page) -> str:
    r"""Return the main text of a page as Markdown (CommonMark, with the tables of GitHub).

    Links are absolute; of those that are neither http, mailto nor tel, and very long ones, the text stays.
    Where the structure cannot be kept without changing the content, it is the plain text in paragraphs.

    Examples
    --------
    >>> text = "Tea is made of leaves and of hot water, and some drink it with milk. " * 4
    >>> html = f"<article><h1>Tea</h1><p>{text}<a href=/m>Milk</a>.</p></article>"
    >>> page = Page(html, "https://tea.example/")
    >>> main_markdown(page).split("\n")[0], "[Milk](https://tea.example/m)" in main_markdown(page)
    ('# Tea', True)
    """
    plain = main_text(page)
    if page.is_text or is_large(page):
        return paragraphs(plain)
    found = search(page, page.visible_text)
    written = ""
    if found.options is not None:
        for links in (True, False):
            candidate = _written(page, _with_structure(found.options, links))
            if _same(found.text, candidate):
                written = candidate
                break
    if len(page.visible_text) > LARGE_TEXT:
        reset_caches()
    return _with_lead(written, found.text, plain) if written else paragraphs(plain)


def paragraphs(text: str) -> str:
    r"""Return plain text as paragraphs of Markdown, each sign escaped that would have a meaning.

    Examples
    --------
    >>> paragraphs("# no heading\n2 * 3 < 7")
    '\\# no heading\n\n2 \\* 3 \\< 7'
    """
    lines = (line.strip() for line in text.split("\n"))
    return "\n\n".join(escaped(line) for line in lines if line)


def escaped(line: str) -> str:
    """Return a line of text as Markdown that shows it unchanged."""
    line = _SIGNS.sub(r"\\\1", line)
    return _BLOCK_SIGN.sub(_without_meaning, line)


def _without_meaning(found: re.Match[str]) -> str:
    blank, sign = found.groups()
    return f"{blank}{sign}\\" if sign.isdigit() else f"{blank}\\{sign}"


@cache
def _with_structure(options: Any, links: bool) -> Any:
    """Return the options of an extractor, with structure and maybe links."""
    changed = copy.copy(options)
    changed.formatting, changed.links, changed.images = True, links, False
    return changed


def _written(page: Page, options: Any) -> str:
    tree = working_copy(page.document)
    room = MOST_LINKS
    for link in tree.iter("a"):
        target = page.links.absolute(link.get("href") or "")
        room -= len(target)
        if room > 0 and len(target) <= LONGEST_LINK and _ADDRESS.fullmatch(target):
            link.set("href", target)
        else:
            link.attrib.pop("href", None)
            link.tag = "span"
    etree.strip_tags(tree, *_HTML_ONLY)
    document = document_of(tree, options)
    text = unicodedata.normalize("NFC", drop_invisible(getattr(document, "text", None) or "")).strip()
    return text if "```" in text else _BLANK_LINES.sub("\n\n", text)


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.replace("\\", "")))


def _same(plain: str, written: str) -> bool:
    """Return whether Markdown has the words of a plain text, and few others."""
    ours, theirs = _words(plain), _words(_TARGET.sub("]", written))
    common = sum((ours & theirs).values())
    return bool(written) and common >= SAME_SHARE * max(sum(ours.values()), sum(theirs.values()))


def _with_lead(written: str, found: str, plain: str) -> str:
    """Return Markdown with the lead that the plain text has and the extraction did not find, in its place."""
    before = set(found.split("\n"))
    lines = plain.split("\n")
    place = next((number for number, line in enumerate(lines) if line not in before), None)
    if place is None:
        return written
    blocks = written.split("\n\n")
    ahead = _words("\n".join(lines[:place]))
    kept = 0
    while kept < len(blocks) and (words := _words(blocks[kept])) <= ahead and words:
        ahead -= words
        kept += 1
    return "\n\n".join([*blocks[:kept], escaped(lines[place]), *blocks[kept:]])
