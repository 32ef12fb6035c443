"""The main text of a page and its language: what most analyses of a page go by."""

from __future__ import annotations

from webanalytics.page.content.content import content
from webanalytics.page.page import Page, once_per_page
from webanalytics.page.text.language import detect_by_lines

PROSE_LINE = 80
"""Characters from which on a line of a text counts as prose, not as a label or a menu entry."""


@once_per_page
def main_text(page: Page) -> str:
    """Return the main text of a page; of a text, all of it."""
    return page.visible_text if page.is_text else content(page).text


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


def prose(visible: str, shortest: int = PROSE_LINE) -> str:
    r"""Return the lines of a visible text that are long enough to be sentences.

    Examples
    --------
    >>> prose("Menu\nThis is a sentence.", shortest=10)
    'This is a sentence.'
    """
    return "\n".join(line for line in visible.split("\n") if len(line) >= shortest)
