"""The content of a page, of whatever type it is: the one door of this room.

A page's blocks of text are measured (`features`), a small model says of each how likely it is content, and
those are chosen that together have the highest F1 that is to be expected. The type of the page is decided
first, from all its blocks and its structured data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webanalytics.errors import RowError
from webanalytics.page.content.features import Numbers, block_features, node_sums, weights_of
from webanalytics.page.content.formats import markdown, plain
from webanalytics.page.content.kinds import LITTLE_CONTENT, OTHER_BELOW, PARAGRAPH, marked, of_type, within
from webanalytics.page.content.model import TYPES, confidence_features, logistic, models, softmax
from webanalytics.page.content.names import BIT
from webanalytics.page.content.notices import SURE_NOT, page_notices
from webanalytics.page.content.page_features import page_features
from webanalytics.page.content.units import Unit, units
from webanalytics.page.document import Document
from webanalytics.page.page import Page, once_per_page
from webanalytics.page.structured.jsonld import jsonld, without_references
from webanalytics.page.tree import parse
from webanalytics.page.visible_text import Blocks, blocks_of
from webanalytics.page.visible_text import shown as shown_text

MAYBE_FORUM = 0.1
"""Probability of a forum from which on comments are what a page is about."""
MAYBE_ARTICLE = 0.4
"""Probability of an article from which on what is only around it is left out."""
MAYBE_PRODUCT = 0.3
"""Probability of a product from which on what customers say of it is no content."""
MAYBE_DOCUMENTATION = 0.25
"""Probability of documentation from which on a page may say the same thing several times."""
SHORT_LABEL = 20
"""Characters up to which any page may."""
STANDS_OUT = 0.85
"""Expected F1 from which on the content of an article stands out,"""
SURE_BLOCK = 0.7
"""how likely a block must be content then;"""
LIKELY_BLOCK = 0.5
"""how likely a part of a table, of definitions or of code, which begins or ends at such a block;"""
LAST_BLOCK = 0.85
"""and how likely a short text with which it ends."""
PARTS = ("td", "th", "pre", "dd", "dt")
"""Parts of tables, definitions and code."""
LISTS = ("ul", "ol", "dl")
AROUND = frozenset(("nav", "navigation", "footer", "contentinfo", "navheader", "navfooter"))
"""Elements, roles and classes of what is around content; the footer of a quotation says whose it is."""
MOST_BLOCKS = 20_000
"""Blocks of text up to which each is judged: a page of data has more."""
SURE = 0.5
"""Confidence from which on there is nothing to note."""
LARGEST_PART = 0.8
"""Share of a page up to which a table is a part of it, and does not lay it out."""
LONGEST_LABEL = 40
"""Characters in front of the link of a cross-reference."""
RELATED_LINKS = 0.9
"""Share of links from which on an element named as related, or beside the main one, leads elsewhere."""
LABEL = 40
"""Characters from which on a text is more than a label."""
LITTLE_TEXT = 1_000
"""Characters of visible text below which parts for browsers without scripts are looked at."""

_NOSCRIPT = re.compile(r"<(/?)(?:noscript|noframes|frameset)\b", re.IGNORECASE)
_SAID = ("articleBody", "description", "text", "reviewBody")


class Chosen(NamedTuple):
    """What was decided of a page's blocks."""

    blocks: Blocks
    keep: NDArray[np.bool_]
    comments: NDArray[np.bool_]


class Content:
    """The content of a page."""

    def __init__(
        self, page_type: str, confidence: float, note: str, chosen: Chosen | None, page: Page
    ) -> None:
        self.page_type = page_type  # one of `TYPES`, or "other"
        self.confidence = confidence  # probability that the text found is right (word F1 above 0.8)
        self.note = note  # why it is low: ``no_text``, ``by_scripts``, ``fragment``, or empty
        self._chosen = chosen
        self._absolute = page.links.absolute

    @cached_property
    def units(self) -> list[Unit]:
        """Its paragraphs, headings, tables and so on."""
        return list(units(self._chosen.blocks, self._chosen.keep.tolist())) if self._chosen else []

    @cached_property
    def text(self) -> str:
        """It as plain text."""
        return plain(self.units)

    @property
    def markdown(self) -> str:
        """It as Markdown."""
        return markdown(self.units, self._absolute)

    @property
    def comments(self) -> str:
        """The readers' comments beside it, as plain text."""
        return plain(units(self._chosen.blocks, self._chosen.comments.tolist())) if self._chosen else ""


def content_document(page: Page) -> Document:
    """Return the elements of a page, with those for browsers without scripts or frames where few are."""
    if len(page.visible_text) < LITTLE_TEXT and _NOSCRIPT.search(page.html):
        other = _parsed(_NOSCRIPT.sub(r"<\1div", page.html))
        if other and sum(map(len, other.pieces)) > 2 * sum(map(len, page.document.pieces)) + 200:
            return other
    return page.document


def _parsed(markup: str) -> Document | None:
    """Return the elements of a changed page, None where the change makes it one that is not parsed."""
    try:
        return parse(markup)
    except RowError:
        return None


def known_texts(page: Page) -> str:
    """Return the texts of a page's own data about itself."""
    texts = [value for item in jsonld(page) for key in _SAID if isinstance(value := item.get(key), str)]
    return " ".join([*(" ".join(text.split()) for text in texts), *page.descriptions])[:200_000]


@once_per_page
def content(page: Page) -> Content:
    """Return the content of a page, decided once; raises RowError for a page that cannot be parsed.

    Examples
    --------
    >>> markup = "<nav><a href=/>Home</a></nav><p>Tea is made of leaves, and of water that has boiled."
    >>> found = content(Page(markup))
    >>> found.text
    'Tea is made of leaves, and of water that has boiled.'
    """
    blocks = blocks_of(content_document(page))
    if (size := sum(map(len, blocks.texts))) < LITTLE_CONTENT:
        kind, markup = _said_of_itself(page, max(LITTLE_CONTENT // 2, 2 * size))
        if markup and (said := _parsed(markup)):
            blocks = blocks_of(said)
            everything = np.ones(len(blocks.texts), dtype=bool)
            return Content(kind, 0.5, "by_scripts", Chosen(blocks, everything, ~everything), page)
    if not blocks.texts:
        return Content("other", 0.0, "by_scripts" if _by_scripts(page) else "no_text", None, page)
    if len(blocks.texts) > MOST_BLOCKS:
        return Content("other", 0.0, "fragment", _long_ones(blocks), page)
    return _decided(page, blocks)


def _decided(page: Page, blocks: Blocks) -> Content:
    trained = models()
    table, names = block_features(blocks, known_texts(page), page.title)
    column = dict(zip(names, table, strict=True))
    elsewhere = leads_elsewhere(blocks, column)
    measured, _ = page_features(page, blocks, table[:, ~elsewhere], names)
    kinds = of_type(page, blocks, column, softmax(trained.page.raw(measured[:, None]))[0])
    table = np.vstack([table, np.repeat(kinds[:, None], table.shape[1], axis=1)])
    chances = np.where(elsewhere, 0, logistic(trained.block.raw(table)[:, 0]))
    best = int(np.argmax(kinds))
    page_type = TYPES[best] if kinds[best] >= OTHER_BELOW else "other"
    weights = weights_of(table)
    keep, chances, expected, comments = chosen(chances, kinds, blocks, weights, column)
    row = confidence_features(kinds, chances, keep, weights, expected)
    confidence = float(logistic(trained.confidence.raw(row[:, None]))[0, 0])
    complete(blocks, keep, column)
    if page_type == "documentation":  # whose chapters begin with their contents
        whole_lists(blocks, keep, column)
    note = "" if confidence >= SURE else "by_scripts" if _by_scripts(page) else "fragment"
    return Content(page_type, round(confidence, 3), note, Chosen(blocks, keep, comments & ~keep), page)


def leads_elsewhere(blocks: Blocks, column: Mapping[str, Numbers]) -> NDArray[np.bool_]:
    """Return which blocks are links to other pages, by name or place, where a page has a text itself."""
    chars, share = column["chars"], column["link_share"]
    starts, ends = np.array(blocks.starts), np.array(blocks.ends)
    size, linked = (node_sums(values, starts, ends) for values in (chars, chars * share))
    leading = np.flatnonzero(linked >= RELATED_LINKS * size).tolist()
    related = [node for node in leading if blocks.names[node] & BIT["related"]]
    found = within(blocks, related)
    own = (chars >= LABEL) & (share < 0.3) & ~found
    found &= float(chars[own].sum()) >= LITTLE_CONTENT
    main = marked(blocks, {"main"})
    inside = within(blocks, main)
    articles = [node for node in marked(blocks, {"article"}) if inside[starts[node] : ends[node]].any()]
    for parts in (main, articles if len(articles) == 1 else []):
        inside = within(blocks, parts)
        if float((chars * (1 - share))[inside].sum()) >= LITTLE_CONTENT:
            found |= within(blocks, leading) & ~inside
    return found


def _repeated(chances: Numbers, blocks: Blocks, times: Numbers) -> NDArray[np.bool_]:
    """Return which texts are likelier content in another place; a refrain stands beside itself."""
    again = [n for n in np.flatnonzero(times > 1).tolist() if len(blocks.texts[n]) > SHORT_LABEL]
    places = {number: blocks.parents[blocks.hosts[number]] for number in again}
    best: dict[str, int] = {}
    for number in sorted(again, key=chances.__getitem__, reverse=True):
        best.setdefault(blocks.texts[number], places[number])
    found = np.zeros(len(chances), dtype=bool)
    found[again] = [best[blocks.texts[number]] != places[number] for number in again]
    return found


def chosen(
    chances: Numbers, kinds: Numbers, blocks: Blocks, weights: Numbers, column: Mapping[str, Numbers]
) -> tuple[NDArray[np.bool_], Numbers, float, NDArray[np.bool_]]:
    """Return which blocks are content, by which chances, the expected F1, and which are comments."""
    chance_of = dict(zip(TYPES, kinds.tolist(), strict=True))
    is_article = chance_of["article"] >= max(OTHER_BELOW, *chance_of.values())
    beside = 0
    if chance_of["forum"] < MAYBE_FORUM * (2 if is_article else 1):
        beside = BIT["comment"]
    if chance_of["product"] >= MAYBE_PRODUCT:
        beside |= BIT["review"] | BIT["answer"]
    chances = np.where(page_notices(chances, weights, blocks, column), 0, chances)
    comments = within(blocks, [node for node, name in enumerate(blocks.names) if name & beside])
    prose = (column["chars"] >= PARAGRAPH) & (column["link_share"] < 0.5) & (chances > SURE_NOT)
    said, others = (float(column["chars"][prose & part].sum()) for part in (comments, ~comments))
    if others < LITTLE_CONTENT < said:  # the comments are what the page is about
        comments = np.zeros_like(comments)
    named = [node for node, part in enumerate(blocks.nodes) if part.get("class") in AROUND]
    around = [*marked(blocks, AROUND), *named]
    around = [node for node in around if blocks.nodes[blocks.parents[node]].tag != "blockquote"]
    for left_out in (comments, within(blocks, around)):
        if not left_out.all():
            chances = np.where(left_out, 0, chances)
    if chance_of["documentation"] < MAYBE_DOCUMENTATION:
        chances = np.where(_repeated(chances, blocks, column["times"]), 0, chances)
    keep, expected = choose(chances, weights)
    if chance_of["article"] >= MAYBE_ARTICLE:
        keep = as_article(keep, chances, expected, column)
    return keep, chances, expected, comments


def _by_scripts(page: Page) -> bool:
    """Return whether little is shown before scripts have run; a saved page may have but links to them."""
    return len(page.visible_text) < LITTLE_CONTENT and any(
        element.tag == "script" or (element.tag == "link" and element.get("as") == "script")
        for element in page.document.elements
    )


def complete(blocks: Blocks, keep: NDArray[np.bool_], column: Mapping[str, Numbers]) -> None:
    """Take the whole of tables and code of which most was chosen, and none of the others that have few links.

    Tables within one table are as the posts of a thread: most of all of them counts. What is defined stands
    before its definition.
    """
    chars, terms = column["chars"], column["is_dt"][:-1] * column["is_dd"][1:] > 0
    keep[:-1] |= terms & keep[1:]
    alike: dict[int, list[slice]] = {}
    opened: list[int] = []  # tables that have not ended
    for node, element in [pair for pair in enumerate(blocks.nodes) if pair[1].tag in ("table", "pre")]:
        while opened and blocks.nodes[opened[-1]].end <= element.position:
            opened.pop()
        inside = slice(blocks.starts[node], blocks.ends[node])
        if 0 < float(chars[inside].sum()) < LARGEST_PART * float(chars.sum()):
            alike.setdefault(opened[-1] if opened and element.tag == "table" else node, []).append(inside)
        if element.tag == "table":
            opened.append(node)
    links = chars * column["link_share"]
    for tables in alike.values():
        size, linked, taken = (
            sum(float(values[inside].sum()) for inside in tables) for values in (chars, links, chars * keep)
        )
        if 2 * taken >= size or 4 * linked < size:
            for inside in tables:
                keep[inside] = 2 * taken >= size
    kept = np.flatnonzero(keep).tolist()
    references = [n for n in kept if len(blocks.texts[n]) <= 200 and _is_reference(blocks, n)]
    if 3 * len(references) <= len(kept):
        keep[references] = False


def whole_lists(blocks: Blocks, keep: NDArray[np.bool_], column: Mapping[str, Numbers]) -> None:
    """Take the whole of lists of links of which a fourth was chosen, and none of the others."""
    largest, last = LARGEST_PART * column["chars"].sum(), 0
    for node, element in enumerate(blocks.nodes):
        if element.tag in LISTS and blocks.starts[node] >= last:
            inside = slice(blocks.starts[node], blocks.ends[node])
            chars, share = column["chars"][inside], column["link_share"][inside]
            if 0.8 * chars.sum() <= chars @ share and chars.sum() < largest:
                keep[inside], last = 4 * (chars @ keep[inside]) >= chars.sum(), inside.stop


def _is_reference(blocks: Blocks, number: int) -> bool:
    """Return whether a block is but a label and a link ("Read also: Ten things to know about tea")."""
    text, linked = blocks.texts[number], blocks.linked[number]
    label, target = text[:-linked].rstrip(), text[-linked:]
    return 0 < len(label) <= LONGEST_LABEL and label[-1] in ":»>→|" and target.strip().count(" ") >= 2


def _long_ones(blocks: Blocks) -> Chosen:
    """Return the long blocks of a page that has too many, or all where that is little."""
    chars = np.array(list(map(len, blocks.texts)))
    least = PARAGRAPH if 2 * chars[chars >= PARAGRAPH].sum() >= chars.sum() else 0
    return Chosen(blocks, chars >= least, np.zeros(len(chars), dtype=bool))


def _said_of_itself(page: Page, least: int) -> tuple[str, str]:
    """Return what a page describes in JSON-LD in more characters than that: its type, and made-up markup."""
    longest, kind, markup = least, "", ""
    for item in jsonld(page):
        texts = [value for key in _SAID if isinstance(value := item.get(key), str)]
        text = max(texts, key=len, default="")
        if len(text) > longest:
            name = item.get("name") or item.get("headline")
            shown = without_references(text)
            if "</" in shown and (document := _parsed(shown)):
                shown = shown_text(document.pieces)
            parts = [name if isinstance(name, str) else "", *shown.split("\n")]
            longest = len(text)
            kind = "product" if "Product" in str(item.get("@type")) else "article"
            markup = "".join(f"<p>{escape(part)}</p>" for part in parts if part.strip())
    return kind, markup


def choose(chances: Numbers, weights: Numbers) -> tuple[NDArray[np.bool_], float]:
    """Return the set of blocks with the highest F1 that is to be expected, and that F1.

    It is all blocks above a threshold of half that F1 (Lipton, Elkan and Naryanaswamy, 2014): a page whose
    content stands out is cut more sharply than one on which nothing is sure.
    """
    order = np.argsort(-chances, kind="stable")
    right = np.cumsum((chances * weights)[order])
    expected = 2 * right / (np.cumsum(weights[order]) + right[-1])
    best = int(np.argmax(expected))
    keep = np.zeros(len(chances), dtype=bool)
    keep[order[: best + 1]] = True
    return keep, float(expected[best])


def as_article(
    keep: NDArray[np.bool_], chances: Numbers, expected: float, column: Mapping[str, Numbers]
) -> NDArray[np.bool_]:
    """Return which of the chosen blocks belong to an article, and not to what is around it.

    Captions do not, nor headings under which nothing was chosen, nor what is behind the last paragraph,
    table, list or piece of code. Code between two paragraphs does.
    """
    keep = keep & (column["is_figcaption"] == 0)
    sure = chances >= SURE_BLOCK
    between = np.zeros_like(sure)
    between[1:-1] = sure[:-2] & sure[2:]
    keep |= between & (column["is_pre"] > 0)
    likely = chances >= LIKELY_BLOCK
    part = likely & (sum(column[f"is_{tag}"] for tag in PARTS) > 0)
    if expected >= STANDS_OUT:
        runs = np.cumsum(~likely)
        keep &= sure | between | (part & np.isin(runs, runs[sure]))
    heading = sum(column[f"is_h{level}"] for level in range(1, 6)) > 0
    for place, following in pairwise([*np.flatnonzero(heading), len(keep)]):
        if following > place + 1 and not column["is_title"][place] and not keep[place + 1 : following].any():
            keep[place] = False
    ends = part | (column["is_li"] * sure > 0) | (column["chars"] >= PARAGRAPH) | (chances >= LAST_BLOCK)
    last = np.flatnonzero(keep & ends & (column["link_share"] < 0.5))
    if len(last):
        keep[last[-1] + 1 :] = False
    return keep
