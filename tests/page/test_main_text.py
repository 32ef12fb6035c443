"""Main text, measured on saved pages of which it is known what belongs to it."""

from __future__ import annotations

from typing import Any

import pytest

from webanalytics.page.page import Page
from webanalytics.page.text.main import main_text, prose

SENTENCE = (
    "The leaves of the tea plant are picked by hand, dried in the sun and then packed in small wooden boxes."
)
OTHER = "Water should be hot but not boil when it is poured on green leaves, or the tea will taste of grass and hay."


def f_score(texts: dict[str, str], segments: dict[str, Any]) -> float:
    """F of precision and recall over all strings: a hit is one that must be in the text, and is."""
    hits = misses = false_hits = 0
    for name, strings in segments.items():
        found = sum(string in texts[name] for string in strings["with"])
        hits += found
        misses += len(strings["with"]) - found
        false_hits += sum(string in texts[name] for string in strings["without"])
    precision, recall = hits / (hits + false_hits), hits / (hits + misses)
    return 2 * precision * recall / (precision + recall)


@pytest.fixture(scope="module")
def texts(corpus_pages: dict[str, bytes]) -> dict[str, str]:
    return {name: main_text(Page(content)) for name, content in corpus_pages.items()}


def test_better_than_the_library_it_came_from(texts: dict[str, str], corpus_segments: dict[str, Any]) -> None:
    """0.8988 is what the standard mode of trafilatura 2.3.1 reaches on these pages."""
    assert f_score(texts, corpus_segments) >= 0.8988


def test_no_third_of_the_pages_is_read_badly(texts: dict[str, str], corpus_segments: dict[str, Any]) -> None:
    names = sorted(corpus_segments)
    for fold in range(3):
        assert f_score(texts, {name: corpus_segments[name] for name in names[fold::3]}) >= 0.87


def test_every_page_with_text_has_main_text(texts: dict[str, str]) -> None:
    assert all(texts.values())


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


def test_user_comments_are_left_out() -> None:
    comment = (
        "First! I never liked tea and I do not think that I will start now, whatever you may say about it."
    )
    page = Page(
        f"<article><p>{SENTENCE}</p><p>{OTHER}</p><p>{SENTENCE.lower()}</p></article>"
        f"<div id=comments class=comment-list><p>{comment}</p></div>"
    )
    assert comment not in main_text(page)


def test_soft_hyphens_are_no_part_of_the_text() -> None:
    assert "Silbentrennung" in main_text(article(SENTENCE.replace("leaves", "Silben\xadtrennung"), OTHER))


def test_prose() -> None:
    assert prose(f"Menu\n{SENTENCE}\n{'x' * 79}\n{'y' * 80}") == f"{SENTENCE}\n{'y' * 80}"
