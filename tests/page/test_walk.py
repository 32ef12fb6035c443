"""One walk over a page's elements for all analyses that look at them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from lxml.html import HtmlElement

from webanalytics.operations import AUDIT_PAGES, DECLARED, FACTS, METADATA
from webanalytics.page import metadata
from webanalytics.page import page as page_module
from webanalytics.page.facts import facts
from webanalytics.page.facts.facts import FactElements
from webanalytics.page.metadata import MetadataElements
from webanalytics.page.page import Collector, Page, Reader, collected, once_per_page
from webanalytics.page.structured.jsonld import JsonLdBlocks, jsonld_texts
from webanalytics.page.text import text
from webanalytics.runs.workers.worker import answer_page, collectors

URL = "https://shop.example/tea"
HTML = """
<title>Tea</title><link rel=canonical href=/tea><meta name=description content=Leaves>
<noscript><h1>1</h1><img src=1><a href=/1>1</a><script type=application/ld+json>{"@type": "A"}</script></noscript>
<template><h1>2</h1><img src=2><a href=/2>2</a><noscript><h1>3</h1></noscript></template>
<div><template shadowrootmode=open><h1>4</h1><img src=4><a href=/4>4</a></template></div>
<noscript><template><h1>5</h1><a href=/5>5</a></template></noscript>
<h1>6</h1><img src=6><a href=/6>6</a><script type=application/ld+json>{"@type": "B"}</script>
"""


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The collectors of each walk."""
    done: list[list[str]] = []
    walk = page_module._walk

    def counted(page: Page, kinds: Any) -> None:
        kinds = list(kinds)
        done.append(sorted({kind.__name__ for kind in kinds if kind not in page.found}))
        walk(page, kinds)

    monkeypatch.setattr(page_module, "_walk", counted)
    return done


def test_an_audit_walks_over_a_page_once(walks: list[list[str]]) -> None:
    paths = {item.name: item.analysis for item in AUDIT_PAGES}
    answers = answer_page(paths, {name: {} for name in paths}, (HTML.encode(), URL))
    assert all(isinstance(answer, dict) for answer in answers)
    assert walks == [
        [
            "AccessElements",
            "FactElements",
            "JsonLdBlocks",
            "LinkElements",
            "LoadingElements",
            "MetadataElements",
            "ScriptElements",
        ]
    ]


def test_alone_an_analysis_walks_for_itself(walks: list[list[str]]) -> None:
    for name in ("metadata", "facts", "text", "keywords"):
        answer_page({name: DECLARED[name].analysis}, {name: {}}, (HTML.encode(), URL))
    assert walks == [
        ["JsonLdBlocks", "MetadataElements"],
        [
            "AccessElements",
            "FactElements",
            "JsonLdBlocks",
            "LinkElements",
            "LoadingElements",
            "ScriptElements",
        ],
        ["JsonLdBlocks"],
        ["JsonLdBlocks"],
    ]


def test_together_and_alone_the_answers_are_the_same(corpus_pages: dict[str, bytes]) -> None:
    for content in [HTML.encode(), *list(corpus_pages.values())[::10]]:
        together = Page(content, URL)
        together.expected = collectors((METADATA.analysis, FACTS.analysis))
        assert metadata.analyse(together) == metadata.analyse(Page(content, URL))
        assert facts.analyse(together) == facts.analyse(Page(content, URL))


def test_what_each_collector_sees() -> None:
    page = Page(HTML, URL)
    page.expected = (MetadataElements, FactElements)
    seen = collected(page, MetadataElements)
    assert [heading["text"] for heading in seen.headings] == ["4", "6"]
    assert [image["src"][-1] for image in seen.images] == ["4", "6"]
    assert collected(page, FactElements).hrefs == ["/4", "/6"]
    assert collected(page, FactElements).images == 2
    assert jsonld_texts(page) == ['{"@type": "B"}']


class Faulty(Collector):
    def readers(self) -> dict[str, Reader]:
        """Return a reader that fails."""
        return {"h1": self._fail}

    def _fail(self, element: HtmlElement) -> None:
        raise LookupError(element.tag)


def test_the_fault_of_one_is_not_that_of_another() -> None:
    page = Page(HTML, URL)
    page.expected = (Faulty, JsonLdBlocks)
    assert collected(page, MetadataElements).title == "Tea"
    assert len(collected(page, JsonLdBlocks).texts) == 1
    with pytest.raises(LookupError):
        collected(page, Faulty)


def test_pages_need_no_garbage_collector() -> None:
    gc.disable()
    try:
        page = Page(HTML, URL)
        page.expected = collectors((METADATA.analysis, FACTS.analysis))
        for analyse in (metadata.analyse, text.analyse, facts.analyse):
            analyse(page)
        kept = weakref.ref(page)
        del page
        assert kept() is None
    finally:
        gc.enable()


def test_once_per_page() -> None:
    asked: list[Page] = []

    @once_per_page
    def length(page: Page) -> int:
        asked.append(page)
        return len(page.html)

    first, second = Page("<p>"), Page("<p>x")
    assert [length(first), length(first), length(second)] == [3, 3, 4]
    assert asked == [first, second]
