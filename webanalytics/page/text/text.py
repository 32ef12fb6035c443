"""The text operation: a page's readable text with its title, dates, language and publisher.

A worker calls `analyse`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.page.content.content import content
from webanalytics.page.content.formats import paragraphs
from webanalytics.page.content.model import models
from webanalytics.page.document import Document
from webanalytics.page.page import Page
from webanalytics.page.text import language
from webanalytics.page.text.dates import month_names, page_dates
from webanalytics.page.text.main import main_language, main_text
from webanalytics.page.text.publisher import page_publisher

_CODE = ("script", "style")


def warm_up() -> None:
    """Load what the first page would otherwise wait for."""
    language.warm_up()
    models()


def warm_up_more() -> None:
    """Load what searches for dates that a page does not declare."""
    import htmldate  # noqa: F401

    month_names("en")


def analyse(
    page: Page,
    format: str = "plain",  # noqa: A002 - the name of the parameter
    comments: bool = False,
) -> dict[str, Any]:
    """Return the fields of the text operation; raises RowError for a page that cannot be parsed.

    The text is plain, or with ``format="markdown"`` keeps its structure. Readers' comments, which are no part
    of it, are returned beside it with ``comments=True``.

    Strings that the page does not supply are empty; ``date`` and ``publisher`` are None then.

    Examples
    --------
    >>> page = Page("<title>Tea - The Tea Times</title><p>Tea is made of leaves and hot water.")
    >>> answer = analyse(page)
    >>> answer["title"], answer["date"], answer["publisher"]
    ('Tea - The Tea Times', None, None)
    >>> answer["text"], answer["language"]
    ('Tea is made of leaves and hot water.', 'en')
    """
    plain = main_text(page)
    found = None if page.is_text else content(page)
    text = plain if format != "markdown" else found.markdown if found else paragraphs(plain)
    return {
        "date": page_dates(page, found.page_type if found else "other"),
        "description": page.description,
        "title": page.title,
        "title_alt": page.h1,
        "text": text,
        "language": main_language(page),
        "publisher": page_publisher(page),
        "url": page.url,
        "note": "" if plain else why_empty(page),
        "page_type": found.page_type if found else "other",
        "content_confidence": found.confidence if found else 1.0,
        "content_note": found.note if found else "",
        "comments": found.comments if found and comments else "",
    }


def why_empty(page: Page) -> str:
    """Return why a page shows no text to its reader.

    Examples
    --------
    >>> why_empty(Page("<body><p hidden>Tea</p>"))
    'The page holds text, but none that a browser shows.'
    """
    document = page.document
    if any(text and text.strip(" \t\r\n") for text in _body_texts(document)):
        return "The page holds text, but none that a browser shows."
    if document.holds(document.root, "script"):
        return 'The page holds no text before its scripts have run; `render="auto"` lets a browser run them.'
    return "The page holds no text."


def _body_texts(document: Document) -> Iterator[str | None]:
    """Yield the texts in the body that are not code."""
    for element in document.elements:
        if element.tag == "body" and element.parent is document.root:
            for part in (element, *document.inside(element)):
                if part.tag not in _CODE:
                    yield part.text
                if part is not element:
                    yield part.tail
