"""The publisher and the headline of a page, and the names that its structured data gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.page.page import Page, once_per_page
from webanalytics.page.structured.jsonld import jsonld, without_references
from webanalytics.page.structured.offer import types_of
from webanalytics.page.visible_text import drop_invisible

# Organisations of schema.org that a site names itself with; every other one ends in "Organization".
_ORGANISATIONS = frozenset({"Corporation", "LocalBusiness", "OnlineBusiness", "OnlineStore", "NGO", "Store"})
# Pages whose days and bylines are those of other things.
OF_OTHERS = frozenset({"collection", "listing", "product", "service"})
_SITE_NAMES = ("og:site_name", "publisher", "dc.publisher", "dcterms.publisher", "citation_publisher")
# A reference may name a reference.
_MAX_REFERENCES = 5


@once_per_page
def page_publisher(page: Page) -> dict[str, str | None] | None:
    """Return ``name``, ``url`` and ``logo`` of a page's publisher, None if it does not name one.

    URLs are absolute. It is the publisher in the page's JSON-LD, else the organisation in it, else the site's
    name from meta elements.

    Examples
    --------
    >>> page_publisher(Page('<meta property="og:site_name" content="The Tea Times">'))
    {'name': 'The Tea Times', 'url': None, 'logo': None}
    """
    identified = identified_items(page)
    for candidate in _candidates(page, identified):
        name = plain_name(candidate.get("name"))
        if name:
            url = _address(candidate.get("url"), identified)
            logo = _address(candidate.get("logo"), identified)
            return {
                "name": name,
                "url": page.urljoin(url) if url else None,
                "logo": page.urljoin(logo) if logo else None,
            }
    name = next((name for name in page.metas(*_SITE_NAMES) if "://" not in name), "")
    return {"name": plain_name(name), "url": None, "logo": None} if name else None


@once_per_page
def identified_items(page: Page) -> dict[str, dict[str, Any]]:
    """Return the JSON-LD items of a page that others may refer to, by ``@id``."""
    return {item["@id"]: item for item in jsonld(page) if isinstance(item.get("@id"), str) and len(item) > 1}


def _candidates(page: Page, identified: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in jsonld(page):
        yield from named_objects(item.get("publisher"), identified)
    for item in jsonld(page):
        if any(name in _ORGANISATIONS or name.endswith("Organization") for name in types_of(item)):
            yield item


def named_objects(value: Any, identified: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what a property names as objects: references resolved, plain names as objects with a name."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str) and part.strip():
            yield identified.get(part, {} if "://" in part else {"name": part})
        elif isinstance(part, dict):
            for _ in range(_MAX_REFERENCES):
                known = part.keys() - {"@id", "@type", "@context"}
                if known or not isinstance(part.get("@id"), str) or part["@id"] not in identified:
                    break
                part = identified[part["@id"]]
            yield part


def plain_name(value: Any) -> str:
    """Return a name as a reader sees it, of a list the first; '' for anything but a string."""
    if isinstance(value, list):
        value = next((part for part in value if isinstance(part, str)), "")
    return " ".join(drop_invisible(without_references(value)).split()) if isinstance(value, str) else ""


def _address(value: Any, identified: dict[str, dict[str, Any]]) -> str:
    """Return the URL of a value that is one, or of an image object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        return without_references(value).strip()
    image = next(named_objects(value, identified), {})
    for key in ("url", "contentUrl", "@id"):
        address = image.get(key)
        if isinstance(address, str) and address.strip() and not (key == "@id" and "#" in address):
            return without_references(address).strip()
    return ""


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
    lines, place = headline_place(page)
    line = lines[place] if place is not None else ""
    return line or page.h1 or next(iter(page.metas("og:title")), "") or page.title


@once_per_page
def headline_place(page: Page) -> tuple[list[str], int | None]:
    """Return what a page shows line by line, and the number of the line with its main heading.

    Without one, that of the longest line that the title begins with; of several the last: breadcrumbs and
    lists of news stand above an article.
    """
    lines = page.visible_text.split("\n")
    title, headline = page.title, page.h1
    if not (headline and headline in lines and title.startswith(headline)):
        longest = max(filter(title.startswith, lines), key=len, default="")
        if longest and 3 * len(longest) >= len(title):
            headline = longest
    found = (number for number in reversed(range(len(lines))) if lines[number] == headline)
    return lines, next(found, None) if headline else None


@once_per_page
def main_items(page: Page) -> list[dict[str, Any]]:
    """Return the JSON-LD items that may be the page itself, articles first."""
    ranked = []
    for item in jsonld(page):
        names = types_of(item)
        if not _NOT_THE_PAGE.intersection(names):
            article = any(_ARTICLE.search(name) for name in names)
            ranked.append((0 if article and "WebPage" not in names else 1 if article else 2, item))
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]
