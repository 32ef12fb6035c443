"""How one page looks elsewhere: as a search result, as a social card, and field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from webanalytics.thresholds import DESCRIPTION_CHARACTERS, TITLE_CHARACTERS
from webanalytics.widgets.explorer.table import as_text, clean, is_missing, label

CARD_TITLE_LIMIT = 70
LONGEST_FIELD = 2_000
MOST_HEADINGS = 60


def details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the explorer shows about one page.

    Returns
    -------
    dict
        ``search`` and ``card`` (the previews, None where the frame has no metadata), ``headings``,
        ``keywords`` (pairs of word and frequency) and ``fields`` (label and text of each non-empty field).
    """
    has_metadata = "title" in row and ("description" in row or "og:title" in row)
    return {
        "search": search_result(row) if has_metadata else None,
        "card": social_card(row) if has_metadata else None,
        "headings": _headings(row.get("headings")),
        "keywords": _keywords(row.get("keywords")),
        "fields": [
            [label(str(name)), clean(as_text(value), LONGEST_FIELD)]
            for name, value in row.items()
            if not _empty(value) and name not in ("headings", "keywords")
        ],
    }


def search_result(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a search result: where, title and description, each with its length.

    Examples
    --------
    >>> page = {"url": "https://tea.example/green/sencha", "title": "Sencha", "description": ""}
    >>> preview = search_result(page)
    >>> preview["host"], preview["trail"], preview["title"]["text"], preview["description"]["state"]
    ('tea.example', ['green', 'sencha'], 'Sencha', 'missing')
    """
    canonical = _first(row, "canonical")
    address = canonical if is_web(canonical) else _first(row, "final_url", "url")
    host, trail = _address(address)
    return {
        "url": clean(address, LONGEST_FIELD),
        "host": host,
        "trail": trail,
        "site": clean(_first(row, "og:site_name", "application-name"), 80),
        "title": _measured(_first(row, "title"), TITLE_CHARACTERS[1]),
        "description": _measured(_first(row, "description"), DESCRIPTION_CHARACTERS[1]),
    }


def social_card(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a social card, which fall back from card tags to Open Graph to the page."""
    image = _first(row, "card:image", "og:image:secure_url", "og:image", "image")
    large = _first(row, "card:card").strip().lower() != "summary"
    host, _ = _address(_first(row, "og:url", "final_url", "url"))
    title = _first(row, "card:title", "og:title", "title")
    return {
        "host": host,
        "title": clean(title, CARD_TITLE_LIMIT),
        "description": clean(_first(row, "card:description", "og:description", "description"), 200),
        "image": image if is_web(image) and len(image) <= LONGEST_FIELD else "",
        "alt": clean(_first(row, "card:image:alt", "og:image:alt"), 200),
        "large": large,
        "missing": [
            name for name in ("og:title", "og:description", "og:image", "card:card") if not _first(row, name)
        ],
    }


def is_web(address: str) -> bool:
    """Return whether an address is an absolute http or https URL."""
    return address[:8].lower().startswith(("http://", "https://"))


def _measured(text: str, limit: int) -> dict[str, Any]:
    """Return text as a search result cuts it, with its length and whether it is missing or too long."""
    folded = " ".join(text.split())
    state = "missing" if not folded else "long" if len(folded) > limit else "good"
    cut = folded if len(folded) <= limit else f"{folded[: limit - 2].rsplit(' ', 1)[0]} …"
    return {"text": clean(cut, limit + 2), "length": len(folded), "limit": limit, "state": state}


def _address(url: str) -> tuple[str, list[str]]:
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return clean(url, 80), []
    trail = [clean(unquote(part), 40) for part in parts.path.split("/") if part]
    return clean(host, 80), trail if len(trail) <= 4 else [trail[0], "…", *trail[-2:]]


def _first(row: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _empty(value: Any) -> bool:
    if isinstance(value, (list, dict, tuple, str)):
        return len(value) == 0
    return is_missing(value)


def _headings(found: Any) -> list[list[Any]]:
    items = found if isinstance(found, list) else []
    levels = {f"h{number}": number for number in range(1, 7)}
    return [
        [levels[item["level"]], clean(str(item.get("text", "")), 200)]
        for item in items[:MOST_HEADINGS]
        if isinstance(item, Mapping) and item.get("level") in levels
    ]


def _keywords(found: Any) -> list[list[Any]]:
    words = found if isinstance(found, Mapping) else {}
    return [[clean(str(word), 80), int(count)] for word, count in list(words.items())[:50]]
