"""The type of a page: what the model finds likely, and what the page shows that says it for sure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from webanalytics.page.content.features import Numbers
from webanalytics.page.content.model import TYPES
from webanalytics.page.content.names import BIT
from webanalytics.page.document import Element
from webanalytics.page.page import Page
from webanalytics.page.structured.jsonld import jsonld
from webanalytics.page.visible_text import Blocks
from webanalytics.urls import parts_of

PARAGRAPH = 80
"""Characters from which on a block is a paragraph."""
OTHER_BELOW = 0.35
"""Probability below which a page is of none of the types."""
POSSIBLE = 0.1
"""Probability from which on a page is documentation that a program for documentation has made."""
LITTLE_CONTENT = 300
"""Characters of text below which a page shows next to nothing."""
NEAR_HEADING = 15
"""Blocks from a main heading on in which a price is that of what it names."""

_ARCHIVE = re.compile(r"(?:/[a-z]{1,20}){0,2}/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/\d\d?)?(?:/page/\d+)?/?")
_OF_DOCS = re.compile(
    "(?i)mkdocs|zensical|sphinx|docusaurus|v(ite|ue)press|rspress|starlight|gitbook|honkit|antora"
    "|docutils|docbook|publican|doxygen|javadoc|pdoc|pydoctor"
)
_MADE_BY = ("documentation_options.js", "/jsdoc-default.css", '"tsd-generator"', "generated using mdBook")
_POST = re.compile("Article|BlogPosting")


def of_type(page: Page, blocks: Blocks, column: Mapping[str, Numbers], kinds: Numbers) -> Numbers:
    """Return how likely a page is of each type, where it shows one half for that."""
    named = (str(item.get("@type")) for item in jsonld(page) if page.h1 and item.get("headline") == page.h1)
    likeliest = TYPES[int(np.argmax(kinds))]
    is_post = likeliest == "listing" and any(map(_POST.search, named))  # others are told of below it
    is_text = likeliest in ("article", "forum") or kinds.max() < OTHER_BELOW
    is_list = is_text and _lists_articles(blocks, column, likeliest)
    is_list |= _ARCHIVE.fullmatch(parts_of(page.url).path) is not None
    of_docs = any(map(_OF_DOCS.match, page.metas("generator"))) or any(sign in page.html for sign in _MADE_BY)
    known = "listing" if is_list else "article" if is_post else "documentation"
    known = "product" if _sells_one(page, column) else known
    if known != "documentation" or (of_docs and kinds[TYPES.index("documentation")] >= POSSIBLE):
        kinds = kinds / 2 + 0.5 * (np.array(TYPES) == known).astype(np.float32)
    return kinds


def _sells_one(page: Page, column: Mapping[str, Numbers]) -> bool:
    """Return whether a price stands behind the one main heading of a page, and a field asks how many."""
    headings = np.flatnonzero(column["is_h1"])
    if len(headings) != 1:
        return False
    behind = slice(headings[0], headings[0] + NEAR_HEADING)
    priced = (column["currency"][behind] * column["digits"][behind]).any()
    fields = [element.get("name") for element in page.document.tagged["input"]]
    # Some pages have a second form that stays in view; a list of goods may have one for each.
    return bool(priced) and 1 <= sum(map(fields.count, ("quantity", "qty"))) <= 2


def _lists_articles(blocks: Blocks, column: Mapping[str, Numbers], likeliest: str) -> bool:
    """Return whether a page is mostly articles whose headings are links, and has no text of its own."""
    leads, chars = column["link_share"] > 0.5, column["chars"]
    heading = np.logical_or.reduce([column[f"is_h{level}"] for level in range(1, 5)])
    nodes = [node for node in marked(blocks, {"article", "li"}) if not blocks.names[node] & BIT["comment"]]
    if likeliest == "article":  # also parts that look alike; those of a thread are its posts
        nodes += [n for n, times in enumerate(blocks.repeats) if times > 2 and blocks.nodes[n].tag == "div"]
        leads &= ~np.array([_is_within_page(pieces[0][1]) for pieces in blocks.pieces])
    parts = {node: slice(blocks.starts[node], blocks.ends[node]) for node in nodes}
    listed = [node for node, part in parts.items() if leads[part][heading[part]][:1].any()]
    own = ~within(blocks, listed)
    says = 2 * float(chars[own & (chars >= PARAGRAPH) & ~leads].sum()) >= LITTLE_CONTENT
    mostly = len(listed) > 1 and 2 * float(chars[own].sum()) <= float(chars.sum())
    return mostly and not (says and (column["is_h1"] * ~leads).any())


def _is_within_page(element: Element) -> bool:
    """Return whether a text stands in a link to a place of the same page."""
    around = (element, *islice(element.iterancestors(), 2))
    return any(part.tag == "a" and (part.get("href") or "").startswith("#") for part in around)


def marked(blocks: Blocks, names: Set[str]) -> list[int]:
    """Return the nodes that have one of some names as their tag or role."""
    return [node for node, part in enumerate(blocks.nodes) if part.tag in names or part.get("role") in names]


def within(blocks: Blocks, nodes: list[int]) -> NDArray[np.bool_]:
    """Return which blocks stand in some nodes, those of the page as a whole left out."""
    found = np.zeros(len(blocks.texts), dtype=bool)
    for node in nodes:
        if blocks.nodes[node].tag not in ("html", "body"):
            found[blocks.starts[node] : blocks.ends[node]] = True
    return found
