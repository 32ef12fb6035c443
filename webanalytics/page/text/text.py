"""The text operation: a page's readable text with its title, dates, language and publisher.

A worker calls `analyse`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.page.content.content import Content, content
from webanalytics.page.content.model import models
from webanalytics.page.content.writing import paragraphs
from webanalytics.page.document import Document
from webanalytics.page.page import Page
from webanalytics.page.structured.jsonld import jsonld, without_references
from webanalytics.page.text import language
from webanalytics.page.text.dates import month_names, page_dates
from webanalytics.page.text.main_language import main_language
from webanalytics.page.text.main_text import main_text
from webanalytics.page.visible_text import drop_invisible

# Organisations of schema.org that a site names itself with; every other one ends in "Organization".
_ORGANISATIONS = frozenset({"Corporation", "LocalBusiness", "OnlineBusiness", "OnlineStore", "NGO", "Store"})
_CODE = ("script", "style")
_SITE_NAMES = ("og:site_name", "publisher", "dc.publisher", "dcterms.publisher", "citation_publisher")
# A reference may name a reference.
_MAX_REFERENCES = 5


def warm_up() -> None:
    """Load what the first page would otherwise wait for."""
    language.warm_up()
    models()
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
    return {
        "date": page_dates(page),
        "description": page.description,
        "title": page.title,
        "title_alt": page.h1,
        "text": _marked(found, plain) if format == "markdown" else plain,
        "language": main_language(page),
        "publisher": page_publisher(page),
        "url": page.url,
        "note": "" if plain else why_empty(page),
        "page_type": found.page_type if found else "other",
        "content_confidence": found.confidence if found else 1.0,
        "content_note": found.note if found else "",
        "comments": found.comments if found and comments else "",
    }


def _marked(found: Content | None, plain: str) -> str:
    return found.markdown if found else paragraphs(plain)


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
        return "The page holds no text before its scripts have run."
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
    return {"name": _text(name), "url": None, "logo": None} if name else None


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
    return " ".join(drop_invisible(without_references(value)).split()) if isinstance(value, str) else ""


def _address(value: Any, identified: dict[str, dict[str, Any]]) -> str:
    """Return the URL of a value that is one, or of an image object."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, str):
        return without_references(value).strip()
    image = next(_objects(value, identified), {})
    for key in ("url", "contentUrl", "@id"):
        address = image.get(key)
        if isinstance(address, str) and address.strip() and not (key == "@id" and "#" in address):
            return without_references(address).strip()
    return ""
