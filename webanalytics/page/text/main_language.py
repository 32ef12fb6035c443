"""The language of a page's main text: what the text and readability operations answer and score by."""

from __future__ import annotations

from webanalytics.page.page import Page, once_per_page
from webanalytics.page.text.language import detect_by_lines
from webanalytics.page.text.main_text import main_text


@once_per_page
def main_language(page: Page) -> str:
    """Return the ISO 639-1 code of the language of a page's main text, empty where it is undetermined.

    What the page declares decides only between languages that the text may be in: it never stands in for a
    text that says nothing. Of a text, it is the language given with it, if there is one.

    Examples
    --------
    >>> main_language(Page("<html lang=en><p>Der Abend kam, und es wurde langsam kühl im Garten."))
    'de'
    >>> main_language(Page("<html lang=de><p>42"))
    ''
    """
    if page.is_text and page.language:
        return page.language
    return detect_by_lines(main_text(page), page.lang)
