"""Main text, measured on saved pages of which it is known what belongs to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import trafilatura

from webanalytics.page.page import Page
from webanalytics.page.text import main_text as module
from webanalytics.page.text.main_text import (
    find_main_text,
    good_paragraphs,
    main_text,
    prose,
    warm_up,
    with_lead,
)

SENTENCE = (
    "The leaves of the tea plant are picked by hand, dried in the sun and then packed in small wooden boxes."
)
OTHER = "Water should be hot but not boil when it is poured on green leaves, or the tea will taste of grass and hay."


def f_score(read: Callable[[bytes], str], pages: dict[str, bytes], segments: dict[str, Any]) -> float:
    """F of precision and recall over all strings: a hit is one that must be in the text, and is."""
    hits = misses = false_hits = 0
    for name, strings in segments.items():
        text = read(pages[name])
        found = sum(string in text for string in strings["with"])
        hits += found
        misses += len(strings["with"]) - found
        false_hits += sum(string in text for string in strings["without"])
    precision, recall = hits / (hits + false_hits), hits / (hits + misses)
    return 2 * precision * recall / (precision + recall)


def ours(content: bytes) -> str:
    return main_text(Page(content))


def standard(content: bytes) -> str:
    return trafilatura.extract(content, include_comments=False) or ""


def fast(content: bytes) -> str:
    return trafilatura.extract(content, include_comments=False, fast=True) or ""


def test_better_than_the_standard_mode(
    corpus_pages: dict[str, bytes], corpus_segments: dict[str, Any]
) -> None:
    score = f_score(ours, corpus_pages, corpus_segments)
    assert score >= 0.8988
    assert score >= f_score(standard, corpus_pages, corpus_segments)


def test_better_on_every_fold(corpus_pages: dict[str, bytes], corpus_segments: dict[str, Any]) -> None:
    """The shares were not made for some of the pages: no third of them is read much worse than before."""
    names = sorted(corpus_segments)
    for fold in range(3):
        part = {name: corpus_segments[name] for name in names[fold::3]}
        assert f_score(ours, corpus_pages, part) >= f_score(fast, corpus_pages, part) - 0.005


def test_most_pages_are_answered_by_the_fast_search_alone(
    corpus_pages: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    extract = module._extract
    monkeypatch.setattr(
        module, "_extract", lambda tree, options: asked.append(options) or extract(tree, options)
    )
    for content in corpus_pages.values():
        main_text(Page(content))
    assert asked.count(module.FAST) == len(corpus_pages)
    assert len(asked) - len(corpus_pages) < 0.2 * len(corpus_pages)


def test_no_slower_than_the_fast_mode(corpus_pages: dict[str, bytes]) -> None:
    """Decoding, parsing and the visible text included; it takes two thirds of the time when both are alone."""
    warm_up()
    spent = {ours: 0.0, fast: 0.0}
    for content in corpus_pages.values():
        for read in spent:  # page by page, so that a busy machine slows both
            start = time.process_time()
            read(content)
            spent[read] += time.process_time() - start
    assert spent[ours] < 1.2 * spent[fast]


def test_every_page_with_text_has_main_text(corpus_pages: dict[str, bytes]) -> None:
    assert [name for name, content in corpus_pages.items() if not ours(content)] == []


def article(*paragraphs: str, head: str = "") -> Page:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return Page(f"<html><head>{head}</head><body><article><h2>Tea</h2>{body}</article></body></html>")


@pytest.mark.parametrize(
    "reference",
    [
        "Read also: <a href=/x>Ten things about tea</a>",
        "<em>Lesen Sie auch: <a href=/x>Zehn Dinge über Tee</a></em>",
        "<strong>À lire aussi »</strong> <a href=/x>Dix choses à savoir</a>",
    ],
)
def test_paragraphs_that_point_elsewhere_are_left_out(reference: str) -> None:
    text = main_text(article(SENTENCE, reference, OTHER, SENTENCE.lower()))
    assert SENTENCE in text
    assert OTHER in text
    assert "also" not in text
    assert "auch" not in text
    assert "aussi" not in text


@pytest.mark.parametrize(
    "paragraph",
    [
        "He said: <a href=/x>tea</a>",
        "<a href=/x>Ten things about green tea</a>: a book for all who drink it every day and at every hour",
        f"{SENTENCE} More: <a href=/x>ten things about tea</a>",
    ],
)
def test_paragraphs_with_something_of_their_own_to_say_stay(paragraph: str) -> None:
    page = article(SENTENCE, paragraph, OTHER)
    kept = " ".join(Page(f"<p>{paragraph}</p>").visible_text.split())
    assert kept in main_text(page)


def test_a_page_of_references_keeps_them() -> None:
    links = [f"Part {n}: <a href=/{n}>Chapter {n} of the book on tea</a>" for n in range(12)]
    assert "Chapter 7 of the book on tea" in main_text(article(*links))


LEAD = "Tea is older than its name: a new book tells how the leaves came from the mountains to the harbours."


@pytest.mark.parametrize("name", ["name=description", "property=og:description"])
def test_the_lead_outside_of_the_article_is_found(name: str) -> None:
    page = Page(
        f'<html><head><meta {name} content="{LEAD[:70]}…"></head><body><header><div>BERLIN, {LEAD}</div></header>'
        f"<article><p>{SENTENCE}</p><p>{OTHER}</p><p>{SENTENCE.upper()}</p></article></body></html>"
    )
    assert main_text(page).split("\n")[0] == f"BERLIN, {LEAD}"


@pytest.mark.parametrize(
    ("visible", "descriptions"),
    [
        (f"{SENTENCE}\n{OTHER}", [LEAD]),  # not on the page
        (f"{LEAD[:60]}\n{SENTENCE}", [LEAD]),  # a headline, not a lead
        (f"{OTHER} {OTHER} {LEAD}\n{SENTENCE}", [LEAD]),  # in the middle of a paragraph
        (f"{LEAD}\n{SENTENCE}", ["Tea"]),  # too short to tell
        (f"{LEAD}\n{SENTENCE}", []),
    ],
)
def test_what_is_no_lead_is_not_added(visible: str, descriptions: list[str]) -> None:
    assert with_lead(SENTENCE, visible, descriptions) == SENTENCE


def test_a_lead_that_is_there_is_not_added_again() -> None:
    assert with_lead(f"{LEAD}\n{SENTENCE}", f"{LEAD}\n{SENTENCE}", [LEAD]).count(LEAD) == 1


def test_a_lead_goes_where_it_stands() -> None:
    visible = f"Menu\nTea\n{LEAD}\n{SENTENCE}\n{OTHER}"
    assert with_lead(f"Tea\n{SENTENCE}\n{OTHER}", visible, [LEAD]) == f"Tea\n{LEAD}\n{SENTENCE}\n{OTHER}"


def test_posts_of_a_forum_are_found() -> None:
    posts = [
        f"Post {n}: I have a cat and it is the best of all that we had in this house. {SENTENCE} {OTHER}"
        for n in range(9)
    ]
    page = Page(
        "".join(f"<div class=message><div class=user>Name</div><div>{post}</div></div>" for post in posts)
    )
    text = good_paragraphs(page.document, "en")
    assert all(post in text for post in posts)
    assert good_paragraphs(page.document, "en", max_elements=10) == ""


def test_user_comments_are_left_out() -> None:
    comment = (
        "First! I never liked tea and I do not think that I will start now, whatever you may say about it."
    )
    page = Page(
        f"<article><p>{SENTENCE}</p><p>{OTHER}</p><p>{SENTENCE.lower()}</p></article>"
        f"<div id=comments class=comment-list><p>{comment}</p></div>"
    )
    assert comment not in main_text(page)


def test_large_pages_are_read_without_the_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_extract", lambda *_: pytest.fail("was asked"))
    page = Page(f"<nav>Menu</nav><p>{SENTENCE}</p><p>{OTHER}</p>")
    assert find_main_text(page, max_elements=3) == f"{SENTENCE}\n{OTHER}"
    assert find_main_text(page, max_characters=30) == f"{SENTENCE}\n{OTHER}"
    menu = Page("<nav>Menu</nav><p>Short</p>")
    assert find_main_text(menu, max_elements=1) == "Menu\nShort"


def test_an_extractor_that_fails_leaves_the_prose(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RecursionError

    monkeypatch.setattr(module, "bare_extraction", fail)
    assert main_text(Page(f"<p>{SENTENCE}</p>")) == SENTENCE


def test_soft_hyphens_are_no_part_of_the_text() -> None:
    assert "Silbentrennung" in main_text(article(SENTENCE.replace("leaves", "Silben\xadtrennung"), OTHER))


def test_prose() -> None:
    assert prose(f"Menu\n{SENTENCE}\n{'x' * 79}\n{'y' * 80}") == f"{SENTENCE}\n{'y' * 80}"
