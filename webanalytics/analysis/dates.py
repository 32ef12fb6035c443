"""When a page was published and last changed, as far as the page says so.

What it says in structured form goes first: JSON-LD, then meta elements, then microdata. Only where none of
these gives a date of publication is htmldate asked, which reads URLs, canonical links and dates in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from email.utils import parsedate
from typing import TYPE_CHECKING, Any

from htmldate import find_date
from lxml import etree

if TYPE_CHECKING:
    from webanalytics.analysis.page import Page

EARLIEST = date(1990, 1, 1)
"""Earlier dates than this are older than the web: a page's subject may have them, the page has not."""

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
# Items that have a date of their own beside the page they stand on.
_NOT_THE_PAGE = frozenset({
    "Answer", "AudioObject", "Comment", "Event", "ImageObject", "Organization", "Person", "Rating", "Review",
    "WebSite",
})
# fmt: on
_ARTICLE = re.compile(r"(?:Article|Posting|Report|Recipe|HowTo|Page)$")
_YEAR_FIRST = re.compile(r"\s*(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d\d)(\d\d))(?!\d)")
_ITEMPROPS = etree.XPath("descendant::*[@itemprop][contains(@itemprop, 'date')]")


def parse_date(value: object) -> date | None:
    """Return the day that a machine-readable date names, in the time zone it is written in.

    Parameters
    ----------
    value : object
        A date or date and time of ISO 8601, or of RFC 5322 as in HTTP headers and feeds.

    Returns
    -------
    datetime.date or None
        None for anything else, for days before 1990, and for days later than tomorrow (a page published
        now may stand in a time zone where tomorrow has begun).

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


def page_dates(page: Page, max_elements: int = MAX_ELEMENTS) -> dict[str, str | None] | None:
    """Return the dates of a page.

    Parameters
    ----------
    page : Page
        The page.
    max_elements : int
        Larger pages are not searched for a date in their text.

    Returns
    -------
    dict or None
        ``published`` and ``modified`` as ``YYYY-MM-DD`` or None; None when the page has neither.

    Examples
    --------
    >>> from webanalytics.analysis.page import Page
    >>> page_dates(Page('<meta property="article:published_time" content="2022-05-04T01:10:21-04:00">'))
    {'published': '2022-05-04', 'modified': None}
    """
    items = _main_items(page)
    modified = _first(_values(page, items, _MODIFIED))
    published = _first(_values(page, items, _PUBLISHED))
    if published is None:
        # Where the search comes upon the day of the last change, it tells nothing new.
        searched = _searched(page, max_elements)
        published = searched if searched != modified else None
    if published is None and modified is None:
        return None
    return {
        "published": published.isoformat() if published else None,
        "modified": modified.isoformat() if modified else None,
    }


def _first(values: Iterable[object]) -> date | None:
    return next(filter(None, map(parse_date, values)), None)


def _main_items(page: Page) -> list[dict[str, Any]]:
    """Return the JSON-LD items that may be the page itself, articles first."""
    ranked = []
    for item in page.jsonld:
        types = item.get("@type")
        names = [str(name) for name in (types if isinstance(types, list) else [types])]
        if not _NOT_THE_PAGE.intersection(names):
            article = any(_ARTICLE.search(name) for name in names)
            ranked.append((0 if article and "WebPage" not in names else 1 if article else 2, item))
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]


def _values(page: Page, items: list[dict[str, Any]], names: dict[str, tuple[str, ...]]) -> Iterator[object]:
    for key in names["jsonld"]:
        yield from (item.get(key) for item in items)
    yield from page.metas(*names["meta"])
    elements = _ITEMPROPS(page.tree)
    for name in names["itemprop"]:
        for element in elements:
            if name in element.get("itemprop").split():
                yield element.get("content") or element.get("datetime") or element.text


def _searched(page: Page, max_elements: int) -> date | None:
    if page.tree.xpath("count(//*)") > max_elements:
        return None
    url = page.final_url or None
    # It works on a copy of the tree.
    found = find_date(page.tree, extensive_search=False, original_date=True, url=url)
    return parse_date(found)
