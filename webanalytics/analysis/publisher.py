"""The organisation or person that publishes a page, as far as the page says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from webanalytics.analysis.visible import drop_invisible

if TYPE_CHECKING:
    from webanalytics.analysis.page import Page

# Organisations of schema.org that a site names itself with; every other one ends in "Organization".
_ORGANISATIONS = frozenset({"Corporation", "LocalBusiness", "OnlineBusiness", "OnlineStore", "NGO", "Store"})
_SITE_NAMES = ("og:site_name", "publisher", "dc.publisher", "dcterms.publisher", "citation_publisher")
# A reference may name a reference.
_MAX_REFERENCES = 5


def page_publisher(page: Page) -> dict[str, str | None] | None:
    """Return the publisher of a page.

    Parameters
    ----------
    page : Page
        The page.

    Returns
    -------
    dict or None
        ``name``, ``url`` and ``logo`` (absolute URLs, None where the page gives none): the publisher of the
        page's JSON-LD, else the organisation in it, else the site's name from meta elements. None when the
        page names no publisher.

    Examples
    --------
    >>> from webanalytics.analysis.page import Page
    >>> page_publisher(Page('<meta property="og:site_name" content="The Tea Times">'))
    {'name': 'The Tea Times', 'url': None, 'logo': None}
    """
    identified = {
        item["@id"]: item for item in page.jsonld if isinstance(item.get("@id"), str) and len(item) > 1
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
    for item in page.jsonld:
        yield from _objects(item.get("publisher"), identified)
    yield from filter(_is_organisation, page.jsonld)


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
