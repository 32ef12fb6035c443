"""Keywords of 99 real pages: they stand in the main text, and most menus' words are gone."""

from __future__ import annotations

from collections.abc import Callable

from tests.page.test_keywords import naive_words
from webanalytics.page.keywords import segmentation
from webanalytics.page.keywords.keywords import analyse
from webanalytics.page.page import Page
from webanalytics.page.text.main import main_text

TOP = 5


def share_in_main_text(pages: list[Page], keywords_of: Callable[[Page], dict[str, int]]) -> float:
    """Return the share of the top keywords that occur among the words of the main text."""
    stand = asked = 0
    for page in pages:
        text = main_text(page).lower()
        words = {word.removesuffix("'s") for word in naive_words(text)}
        words |= {part for word in words for part in word.split("'")}  # l'homme
        top = list(keywords_of(page))[:TOP]
        stand += sum(keyword in words or (not keyword.isalpha() and keyword in text) for keyword in top)
        asked += len(top)
    return stand / asked


def test_top_keywords_stand_in_the_main_text(corpus_pages: dict[str, bytes]) -> None:
    pages = [Page(content) for content in corpus_pages.values()]
    assert not any(segmentation.UNSPACED.search(main_text(page)) for page in pages)
    main = share_in_main_text(pages, lambda page: analyse(page, details=False)["keywords"])
    whole = share_in_main_text(pages, lambda page: analyse(page, details=False, source="page")["keywords"])
    print(f"\ntop {TOP} keywords that stand in the main text: {main:.1%}, of the whole page {whole:.1%}")
    assert main == 1
    assert 0.5 < whole < 0.8  # so the test can tell
