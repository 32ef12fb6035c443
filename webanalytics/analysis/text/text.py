"""The text operation: a page's readable text with its title, dates, language and publisher.

A worker calls `analyse`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from email.utils import parsedate
from typing import Any

from htmldate import find_date
from lxml import etree

from webanalytics.analysis.page.page import Page
from webanalytics.analysis.page.visible_text import drop_invisible
from webanalytics.analysis.structured.jsonld import jsonld
from webanalytics.analysis.text import language, main_text
from webanalytics.analysis.text.main_language import main_language
from webanalytics.analysis.text.markdown import main_markdown

EARLIEST = date(1990, 1, 1)
"""Earlier dates are older than the web: a page's subject may have them, but not the page."""

MAX_ELEMENTS = 10_000
"""Elements up to which the text of a page is searched for a date."""

# fmt: off
_PUBLISHED = {
    "jsonld": ("datePublished", "dateCreated", "uploadDate", "datePosted"),
    "meta": (
        "article:published_time", "og:article:published_time", "og:published_time", "datepublished",
        "article.published", "date", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date",
        "dc.date.created", "dcterms.created", "citation_publication_date", "citation_date",
        "parsely-pub-date", "sailthru.date", "publication_date", "publish_date", "publishdate", "pubdate",
        "published_time", "video:release_date", "datecreated",
    ),
    "itemprop": ("datePublished", "dateCreated"),
}
_MODIFIED = {
    "jsonld": ("dateModified",),
    "meta": (
        "article:modified_time", "og:article:modified_time", "og:updated_time", "og:modified_time",
        "datemodified", "article.updated", "last-modified", "lastmod", "dc.date.modified", "dcterms.modified",
        "revised", "modified_time",
    ),
    "itemprop": ("dateModified",),
}
# Items that have another date than the page they stand on.
_NOT_THE_PAGE = frozenset({
    "Answer", "AudioObject", "Comment", "Event", "ImageObject", "Organization", "Person", "Rating", "Review",
    "WebSite",
})
# fmt: on
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Recipe|HowTo|Page)$")
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d\d)(\d\d))(?!\d)")
_ITEMPROPS = etree.XPath("descendant::*[@itemprop][contains(@itemprop, 'date')]")
# Organisations of schema.org that a site names itself with; every other one ends in "Organization".
_ORGANISATIONS = frozenset({"Corporation", "LocalBusiness", "OnlineBusiness", "OnlineStore", "NGO", "Store"})
_SITE_NAMES = ("og:site_name", "publisher", "dc.publisher", "dcterms.publisher", "citation_publisher")
# A reference may name a reference.
_MAX_REFERENCES = 5


def warm_up() -> None:
    """Load what the first page would otherwise wait for."""
    language.warm_up()
    main_text.warm_up()


def analyse(page: Page, format: str = "plain") -> dict[str, Any]:  # noqa: A002 - the name of the parameter
    """Return the fields of the text operation; raises RowError for a page that cannot be parsed.

    The text is plain, or with ``format="markdown"`` keeps its structure.

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
    return {
        "date": page_dates(page),
        "description": page.description,
        "title": page.title,
        "title_alt": page.h1,
        "text": main_markdown(page) if format == "markdown" else main_text.main_text(page),
        "language": main_language(page),
        "publisher": page_publisher(page),
        "url": page.url,
    }


def parse_date(value: object) -> date | None:
    """Return the day that a machine-readable date names, in the time zone it is written in.

    It reads ISO 8601, and RFC 5322 as in HTTP headers and feeds. None for anything else, for days before
    1990, and for days later than tomorrow (a page published now may stand in a time zone where tomorrow
    has begun).

    Examples
    --------
    >>> parse_date("2022-05-04T23:30:00-04:00"), parse_date("Wed, 04 May 2022 12:00:00 GMT")
    (datetime.date(2022, 5, 4), datetime.date(2022, 5, 4))
    >>> parse_date("yesterday"), parse_date("2022-02-30"), parse_date("1789-07-14"), parse_date("9999-01-01")
    (None, None, None, None)
    """
    if not isinstance(value, str):
        return None
    found = _YEAR_FIRST.match(value)
    if found:
        parts = (int(found[1]), int(found[3] or found[5]), int(found[4] or found[6]))
    else:
        fields = parsedate(value[:64])
        if fields is None:
            return None
        parts = fields[:3]
    try:
        day = date(*parts)
    except ValueError:
        return None
    return day if EARLIEST <= day <= date.today() + timedelta(days=1) else None


def page_dates(page: Page) -> dict[str, str | None] | None:
    """Return ``published`` and ``modified`` as ``YYYY-MM-DD`` or None; None when the page has neither.

    Structured data takes precedence: JSON-LD, then meta elements, then microdata. Only if none of these gives
    a date of publication is htmldate used, which reads URLs, canonical links and dates in the text.

    Examples
    --------
    >>> page_dates(Page('<meta property="article:published_time" content="2022-05-04T01:10:21-04:00">'))
    {'published': '2022-05-04', 'modified': None}
    """
    items = _main_items(page)
    modified = _first_date(_date_values(page, items, _MODIFIED))
    published = _first_date(_date_values(page, items, _PUBLISHED))
    if published is None:
        # If the search finds the day of the last change, it adds nothing new.
        searched = _searched_date(page)
        published = searched if searched != modified else None
    if published is None and modified is None:
        return None
    return {
        "published": published.isoformat() if published else None,
        "modified": modified.isoformat() if modified else None,
    }


def _first_date(values: Iterable[object]) -> date | None:
    return next(filter(None, map(parse_date, values)), None)


def _main_items(page: Page) -> list[dict[str, Any]]:
    """Return the JSON-LD items that may be the page itself, articles first."""
    ranked = []
    for item in jsonld(page):
        types = item.get("@type")
        names = [str(name) for name in (types if isinstance(types, list) else [types])]
        if not _NOT_THE_PAGE.intersection(names):
            article = any(_ARTICLE.search(name) for name in names)
            ranked.append((0 if article and "WebPage" not in names else 1 if article else 2, item))
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]


def _date_values(
    page: Page, items: list[dict[str, Any]], names: dict[str, tuple[str, ...]]
) -> Iterator[object]:
    for key in names["jsonld"]:
        yield from (item.get(key) for item in items)
    yield from page.metas(*names["meta"])
    elements = _ITEMPROPS(page.tree)
    for name in names["itemprop"]:
        for element in elements:
            if name in element.get("itemprop").split():
                yield element.get("content") or element.get("datetime") or element.text


def _searched_date(page: Page) -> date | None:
    if page.tree.xpath("count(//*)") > MAX_ELEMENTS:
        return None
    url = page.final_url or None
    # It works on a copy of the tree.
    found = find_date(page.tree, extensive_search=False, original_date=True, url=url)
    return parse_date(found)


def page_publisher(page: Page) -> dict[str, str | None] | None:
    """Return ``name``, ``url`` and ``logo`` of a page's publisher, None if it does not name one.

    URLs are absolute. It is the publisher in the page's JSON-LD, else the organisation in it, else the site's
    name from meta elements.

    Examples
    --------
    >>> page_publisher(Page('<meta property="og:site_name" content="The Tea Times">'))
    {'name': 'The Tea Times', 'url': None, 'logo': None}
    """
    identified = {
        item["@id"]: item for item in jsonld(page) if isinstance(item.get("@id"), str) and len(item) > 1
    }
    for candidate in _candidates(page, identified):
        name = _text(candidate.get("name"))
        if name:
            url = _address(candidate.get("url"), identified)
            logo = _address(candidate.get("logo"), identified)
            return {
                "name": name,
                "url": page.urljoin(url) if url else None,
                "logo": page.urljoin(logo) if logo else None,
            }
    name = next(filter(_is_name, page.metas(*_SITE_NAMES)), "")
    return {"name": drop_invisible(name), "url": None, "logo": None} if name else None


def _candidates(page: Page, identified: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for item in jsonld(page):
        yield from _objects(item.get("publisher"), identified)
    yield from filter(_is_organisation, jsonld(page))


def _objects(value: Any, identified: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what a property names as objects: references resolved, plain names as objects with a name."""
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, str) and part.strip():
            yield identified.get(part, {"name": part} if _is_name(part) else {})
        elif isinstance(part, dict):
            for _ in range(_MAX_REFERENCES):
                known = part.keys() - {"@id", "@type", "@context"}
                if known or not isinstance(part.get("@id"), str) or part["@id"] not in identified:
                    break
                part = identified[part["@id"]]
            yield part


def _is_organisation(item: dict[str, Any]) -> bool:
    types = item.get("@type")
    names = [str(name) for name in (types if isinstance(types, list) else [types])]
    return any(name in _ORGANISATIONS or name.endswith("Organization") for name in names)


def _is_name(text: str) -> bool:
    return bool(text.strip()) and "://" not in text


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = next((part for part in value if isinstance(part, str)), "")
    return " ".join(drop_invisible(value).split()) if isinstance(value, str) else ""


def _address(value: Any, identified: dict[str, dict[str, Any]]) -> str:
    """Return the URL of a value that is one, or of an image object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        return value.strip()
    image = next(_objects(value, identified), {})
    for key in ("url", "contentUrl", "@id"):
        address = image.get(key)
        if isinstance(address, str) and address.strip() and not (key == "@id" and "#" in address):
            return address.strip()
    return ""
