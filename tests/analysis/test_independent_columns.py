"""Every rule that reads the tree of a page has its columns compared with html5lib's reading of the saved pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.analysis import independent, independent_loading
from tests.analysis.independent_columns import ADDRESS, COLUMNS
from webanalytics.analysis import metadata
from webanalytics.analysis.facts import facts
from webanalytics.analysis.page.page import Page
from webanalytics.audits.rules import BUILT_IN, RULES

READ_THERE = {
    "titles": "titles",
    "title": "titles",
    "titlePixels": "titles",
    "descriptions": "descriptions",
    "description": "descriptions",
    "descriptionPixels": "descriptions",
    "robots": "robots",
    "noindex": "robots",
    "viewport": "viewport",
    "charset": "charset",
    "declaredCharset": "charset",
    "lang": "lang",
    "canonicals": "canonicals",
    "canonicalState": "canonicals",
    "hreflangs": "hreflangs",
    "outsideHead": "outside head",
    "headings": "headings",
    "links": "links",
    "internalLinks": "links",
    "externalLinks": "links",
    "inlinks": "links",
    "insecureLinks": "links",
    "imgTags": "images",
    "structuredErrors": "JSON-LD",
    "structuredTypes": "JSON-LD",
    "linksWithoutName": "links without name",
    "uncrawlableLinks": "links without address",
    "fieldsWithoutLabel": "fields without label",
    "buttonsWithoutName": "buttons without name",
    "iframesWithoutTitle": "frames without title",
    "emptyHeadings": "empty headings",
    "duplicateIds": "duplicate ids",
    "positiveTabindex": "tabindex",
    "relativeImages": "shared images",
    **{name: name for name in independent_loading.READERS},
}
"""Columns whose facts `tests.analysis.independent` compares, by the name that they have there."""

TOGETHER = dict.fromkeys(("og:type", "og:image", "og:url", "card:card", "card:image"), "og:title")
"""Columns that are compared under the name of another."""

HEADS = {"doctype", "headEndedBy", "heads"}
"""Facts about the source of the head, which `test_independent` compares with the complaints of html5lib."""

NOT_OF_THE_TREE = {
    **dict.fromkeys(
        ("error", "error_type", "final_url", "redirects", "elapsed", "bytes", "x_robots_tag", "inSitemap"),
        "known of the fetch or the sitemap",
    ),
    **dict.fromkeys(("headers", "redirect_kinds", "brokenResources"), "known of the fetch"),
    **dict.fromkeys(("crawl_depth", "checked_links"), "known of the crawl"),
    **dict.fromkeys(("url", "urlLength"), "the address alone"),
    **dict.fromkeys(
        ("text", "wordCount", "fleschReadingEase", "language", "contentHash"),
        "the main text, compared elsewhere",
    ),
    "imageBytes": "sizes of files",
    "charsetLate": "the bytes of the source",
    "charsetMislabelled": "the bytes of the source",
    "amp": "an attribute of the html element, which no saved page has",
}
"""Columns that no tree has, and where they come from."""

# Page and column that differ, and why.
EXPLAINED: dict[tuple[str, str], str] = {}


@pytest.fixture(autouse=True)
def deep_pages() -> Iterator[None]:
    """Let html5lib's trees be walked with recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("rule", sorted(BUILT_IN))
def test_what_a_rule_reads_is_compared(rule: str) -> None:
    known = {*READ_THERE, *TOGETHER, *COLUMNS, *HEADS, *NOT_OF_THE_TREE}
    assert set(RULES[rule].columns) <= known, "compare it in tests/analysis/independent_columns.py"


def test_the_names_are_those_of_the_comparison() -> None:
    assert set(READ_THERE.values()) <= set(independent.READERS)
    assert set(TOGETHER.values()) <= set(COLUMNS)
    assert not {*READ_THERE, *TOGETHER} & {*COLUMNS, *NOT_OF_THE_TREE}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_columns_of_saved_pages_are_those_of_another_reader(corpus_pages: dict[str, bytes]) -> None:
    differing: dict[tuple[str, str], tuple[Any, Any]] = {}
    found: set[str] = set()
    for name, given in corpus_pages.items():
        page = Page(Page(given).html.replace("\x7f", ""), ADDRESS)
        cells = {**metadata.analyse(page), **facts.analyse(page)}
        root = independent.parse(page.html)
        for column, (read, own) in COLUMNS.items():
            wanted = read(root)
            if wanted and wanted != [False] * 6:
                found.add(column)
            if own(cells) != wanted:
                differing[name, column] = own(cells), wanted
    assert differing.keys() == EXPLAINED.keys(), differing
    assert found == COLUMNS.keys()  # each is on some page
