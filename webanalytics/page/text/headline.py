"""The headline of a page, and the items of its structured data that may be the page itself."""

from __future__ import annotations

import re
from typing import Any

from webanalytics.page.page import Page
from webanalytics.page.structured.jsonld import jsonld
from webanalytics.page.structured.offer import types_of
from webanalytics.page.text.publisher import plain_name

# fmt: off
# Items that are another thing than the page they stand on.
_NOT_THE_PAGE = frozenset({
    "Answer", "AudioObject", "Comment", "Event", "ImageObject", "Organization", "Person", "Rating", "Review",
    "VideoObject", "WebSite",
})
# fmt: on
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Recipe|HowTo|Page)$")


def page_headline(page: Page) -> str:
    """Return the headline of a page: what its reader takes for its title, without the name of the site.

    It is the headline in its JSON-LD, else the line that its title begins with, else its main heading, its
    Open Graph title or its title.

    Examples
    --------
    >>> page_headline(Page("<title>Green tea | Tea Times</title><h1>Tea Times</h1><h2>Green tea</h2>"))
    'Green tea'
    """
    declared = (plain_name(item.get("headline")) for item in main_items(page))
    if headline := next(filter(None, declared), ""):
        return headline
    lines = page.visible_text.split("\n")
    place = headline_place(page, lines)
    line = lines[place] if place is not None else ""
    return line or page.h1 or next(iter(page.metas("og:title")), "") or page.title


def headline_place(page: Page, lines: list[str]) -> int | None:
    """Return the number of the line with the main heading, else of the longest that the title begins with.

    Of several the last: breadcrumbs and lists of news stand above an article.
    """
    title, headline = page.title, page.h1
    if not (headline and headline in lines and title.startswith(headline)):
        longest = max(filter(title.startswith, lines), key=len, default="")
        if longest and 3 * len(longest) >= len(title):
            headline = longest
    found = (number for number in reversed(range(len(lines))) if lines[number] == headline)
    return next(found, None) if headline else None


def main_items(page: Page) -> list[dict[str, Any]]:
    """Return the JSON-LD items that may be the page itself, articles first."""
    ranked = []
    for item in jsonld(page):
        names = types_of(item)
        if not _NOT_THE_PAGE.intersection(names):
            article = any(_ARTICLE.search(name) for name in names)
            ranked.append((0 if article and "WebPage" not in names else 1 if article else 2, item))
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
