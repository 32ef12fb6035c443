"""Every rule that reads the tree of a page has its columns compared with html5lib's reading of the saved pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page import independent, independent_loading
from tests.page.independent_columns import ADDRESS, COLUMNS
from webanalytics.audits.rules import BUILT_IN, RULES
from webanalytics.page import metadata
from webanalytics.page.facts import facts
from webanalytics.page.page import Page

READ_THERE = {
    "titles": "titles",
    "title": "titles",
    "title_pixels": "titles",
    "descriptions": "descriptions",
    "description": "descriptions",
    "description_pixels": "descriptions",
    "robots": "robots",
    "noindex": "robots",
    "viewport": "viewport",
    "charset": "charset",
    "declared_charset": "charset",
    "lang": "lang",
    "canonicals": "canonicals",
    "canonical_state": "canonicals",
    "hreflangs": "hreflangs",
    "outside_head": "outside head",
    "headings": "headings",
    "links": "links",
    "internal_links": "links",
    "external_links": "links",
    "inlinks": "links",
    "insecure_links": "links",
    "imgTags": "images",
    "structured_errors": "JSON-LD",
    "structured_types": "JSON-LD",
    "links_without_name": "links without name",
    "uncrawlable_links": "links without address",
    "fields_without_label": "fields without label",
    "buttons_without_name": "buttons without name",
    "iframes_without_title": "frames without title",
    "empty_headings": "empty headings",
    "duplicate_ids": "duplicate ids",
    "positive_tabindex": "tabindex",
    "relative_images": "shared images",
    **{name: name for name in independent_loading.READERS},
}
"""Columns whose facts `tests.page.independent` compares, by the name that they have there."""

TOGETHER = dict.fromkeys(("og:type", "og:image", "og:url", "card:card", "card:image"), "og:title")
"""Columns that are compared under the name of another."""

HEADS = {"doctype", "head_ended_by", "heads"}
"""Facts about the source of the head, which `test_independent` compares with the complaints of html5lib."""

NOT_OF_THE_TREE = {
    **dict.fromkeys(
        ("error", "error_type", "final_url", "redirects", "elapsed", "bytes", "x_robots_tag", "in_sitemap"),
        "known of the fetch or the sitemap",
    ),
    **dict.fromkeys(
        ("headers", "certificate", "error_key", "fetched_at", "redirect_kinds", "broken_resources"),
        "known of the fetch",
    ),
    **dict.fromkeys(("crawl_depth", "checked_links", "whole_crawl"), "known of the crawl"),
    **dict.fromkeys(("rendering", "rendered", "rendered_words"), "known of a browser"),
    **dict.fromkeys(("url", "url_length"), "the address alone"),
    **dict.fromkeys(
        ("text", "wordCount", "fleschReadingEase", "language"),
        "the main text, compared elsewhere",
    ),
    **dict.fromkeys(
        ("content_words", "content_hash"), "the pages of a site, compared in `test_shared_blocks`"
    ),
    "image_bytes": "sizes of files",
    "charset_late": "the bytes of the source",
    "charset_mislabelled": "the bytes of the source",
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
    assert set(RULES[rule].columns) <= known, "compare it in tests/page/independent_columns.py"


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
