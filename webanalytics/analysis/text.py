"""Page text: the readable text of a page with its title, dates, language and publisher."""

from __future__ import annotations

from typing import Any

from webanalytics.analysis import language, main_text
from webanalytics.analysis.dates import page_dates
from webanalytics.analysis.page import Page
from webanalytics.analysis.publisher import page_publisher


def warm_up() -> None:
    """Load what the first page would have to wait for."""
    language.warm_up()
    main_text.warm_up()


def analyse(page: Page) -> dict[str, Any]:
    """Return the readable text of a page and what the page says of it.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    dict
        The fields of the text operation. Strings that the page does not supply are empty; ``date`` and
        ``publisher`` are None then.

    Raises
    ------
    RowError
        When the page cannot be parsed.

    Examples
    --------
    >>> page = Page("<title>Tea - The Tea Times</title><p>Tea is made of leaves and hot water.")
    >>> answer = analyse(page)
    >>> answer["title"], answer["date"], answer["publisher"]
    ('Tea - The Tea Times', None, None)
    >>> answer["text"], answer["language"]
    ('Tea is made of leaves and hot water.', 'en')
    """
    return {
        "date": page_dates(page),
        "description": page.description,
        "title": page.title,
        "title_alt": page.h1,
        "text": page.main_text,
        "language": page.language,
        "publisher": page_publisher(page),
        "url": page.url,
    }
