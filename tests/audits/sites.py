"""Small audits made by hand, for tests of rules: rows as `wa.audit` gives them, without a network.

A page of `page` is a good one: it gives no rule that looks at single pages a reason to speak. What a test
is about it changes by name::

    site(page("/a"), page("/b", title="", headings=[h1("B"), h2("b")]), failed("/c", "status", status=404))
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urljoin

import pandas as pd

from webanalytics.audits.pages import make_site
from webanalytics.audits.site import Site
from webanalytics.core.messages import error_type_of, sentence
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.frames.schema import frame_fields, make_series

HOST = "https://example.org"

_WORDS = (
    "lamp oil wick glass tin brass harbour night storm ship deck rope sail wind rain fog light flame "
    "shelf price order box paper string label stamp letter road bridge market square tower clock bell "
    "baker bread flour salt water well stone wall door window garden tree apple pear plum hedge field"
)
WORDS = _WORDS.split()


def h1(text: str) -> dict[str, str]:
    """Return a first heading."""
    return {"level": "h1", "text": text}


def h2(text: str) -> dict[str, str]:
    """Return a second heading."""
    return {"level": "h2", "text": text}


def prose(seed: str, words: int = 240) -> str:
    """Return a text of its own for each seed, in short sentences of plain words."""
    count = len(WORDS)
    picked = []
    for number in range(words):
        value = int.from_bytes(hashlib.blake2b(f"{seed} {number}".encode(), digest_size=4).digest(), "big")
        picked.append(WORDS[value % count])
    sentences = [" ".join(picked[start : start + 8]).capitalize() for start in range(0, words, 8)]
    return ". ".join(sentences) + "."


def canonical(href: str, base: str = HOST) -> dict[str, str]:
    """Return a canonical link as the facts have it."""
    return {"href": href, "url": urljoin(base, href)}


def alternates(**languages: str) -> list[dict[str, str]]:
    """Return hreflang entries, ``en_GB="/uk"`` for ``en-GB`` and ``x_default`` for ``x-default``."""
    return [
        {"lang": language.replace("_", "-"), "url": urljoin(HOST, url)} for language, url in languages.items()
    ]


def page(url: str = "/", **changes: Any) -> dict[str, Any]:
    """Return the row of a page that was read, a path below `HOST` or a whole address."""
    url = urljoin(HOST, url)
    final = changes.get("final_url", url)
    name = final.removeprefix(HOST).strip("/") or "home"
    text = changes.get("text", prose(final))
    row: dict[str, Any] = {
        "url": url,
        "status": "ok",
        "final_url": final,
        "redirects": [],
        "http_status": 200,
        "elapsed": 0.2,
        "bytes": 20_000,
        "content_type": "text/html; charset=utf-8",
        "x_robots_tag": "",
        "canonical": final,
        "canonicals": [{"href": final, "url": final}],
        "lang": "en",
        "charset": "utf-8",
        "title": f"Lamps and lanterns for ships: {name[:25]}",
        "titles": [f"Lamps and lanterns for ships: {name[:25]}"],
        "description": f"Storm lanterns of tin and brass, made by hand on our island since 1921: {name[:40]}.",
        "robots": "",
        "viewport": "width=device-width, initial-scale=1",
        "headings": [h1(f"Lanterns, {name}"), h2("What they cost")],
        "imgTags": [],
        "favicons": [],
        "jsonld": [],
        "og:title": f"Lanterns, {name}",
        "og:description": "Storm lanterns of tin and brass.",
        "og:image": f"{HOST}/lantern.png",
        "og:url": final,
        "og:type": "website",
        "card:card": "summary_large_image",
        "card:title": f"Lanterns, {name}",
        "card:image": f"{HOST}/lantern.png",
        "text": text,
        "language": "en",
        "wordCount": len(text.split()),
        "sentenceCount": text.count(". ") + 1,
        "fleschReadingEase": 75.0,
        "fleschReadingEaseText": "Fairly easy to read",
        "fleschKincaidGrade": 6.0,
        "hreflangs": [],
        "outside_head": [],
        "refresh": "",
        "internal_links": 3,
        "external_links": 2,
        "links": [f"{HOST}/"],
        "images": 0,
        "images_without_alt": [],
        "images_with_empty_alt": [],
        "images_without_size": [],
        "images_with_long_alt": [],
        "mixed_content": [],
        "insecure_forms": [],
        "structured_types": [],
        "structured_errors": [],
        "visible_text": text,
    }
    row["descriptions"] = [row["description"]]
    row.update(changes)
    for one, several in (("title", "titles"), ("description", "descriptions")):
        if one in changes and several not in changes:
            row[several] = [row[one]] if row[one] else []
    return row


def moved(url: str, *hops: str, **changes: Any) -> dict[str, Any]:
    """Return the row of an address that leads, over those between, to the last of the hops."""
    whole = [urljoin(HOST, hop) for hop in (url, *hops)]
    return page(whole[0], final_url=whole[-1], redirects=whole[:-1], **changes)


def failed(url: str, key: str, *, hops: tuple[str, ...] = (), **details: Any) -> dict[str, Any]:
    """Return the row of a page that could not be read, with the sentence of the table that says why."""
    whole = [urljoin(HOST, hop) for hop in (url, *hops)]
    error = sentence(key, parameter="url", redirected=bool(hops), **{"reason": "expired", **details})
    return {
        "url": whole[0],
        "status": "error",
        "error": error,
        "error_type": error_type_of(key, details.get("status")),
        "error_key": key,
        "final_url": whole[-1],
        "redirects": whole[:-1],
        "http_status": details.get("status"),
        "elapsed": 0.1,
    }


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Return rows as an audit's frame: all of its columns, with their dtypes."""
    index = pd.RangeIndex(len(rows))
    fields = [(field.column_name, field) for field in frame_fields(AUDIT_PAGES)]
    unknown = {name for row in rows for name in row} - {name for name, _ in fields}
    assert not unknown, f"no such column: {unknown}"
    return pd.DataFrame(
        {name: make_series([row.get(name) for row in rows], field.dtype, index) for name, field in fields}
    )


def sitemap(*urls: str) -> pd.DataFrame:
    """Return the frame of a sitemap that lists pages."""
    whole = [urljoin(HOST, url) for url in urls]
    return pd.DataFrame({"url": whole, "sitemap": f"{HOST}/sitemap.xml", "status": "ok"})


def site(
    *rows: dict[str, Any],
    listed: tuple[str, ...] | None = None,
    robots: dict[str, list[str]] | None = None,
) -> Site:
    """Return rows as what rules look at; ``listed`` are the pages of its sitemap."""
    listing = None if listed is None else sitemap(*listed)
    return Site(derived(frame(*rows), listing), listing, robots or {})


def derived(pages: pd.DataFrame, listing: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return pages with their derived columns."""
    return make_site(pages, listing).pages
