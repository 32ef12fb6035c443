"""Refusals in place of pages: challenges and blocks of content networks, walls that ask to log in or consent.

`Fetcher` looks at each answer of an audit, so that the pace of a host follows from it; audits of saved pages
look too. The rules are data, each with its source and its day: ``data/refusals.csv``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple
from urllib.parse import unquote

from webanalytics.fetching.response import Problem
from webanalytics.urls import address, registrable_domain

LOOKED_AT = 1_000_000
"""Bytes of a page that are looked at: a challenge may stand behind a long script."""
MOST_LINKS = 10
"""Links of a page in place of another one: a page with more is one of the site."""

_FIELD = re.compile(
    rb"<(?:textarea|select|input(?![^<>]{0,300}\btype\s{0,9}=\s{0,9}[\"']?(?:hidden|submit|button|checkbox|image)))\b"
)
"""What forms have that a challenge guards, and challenges do not."""
_PASSWORD = re.compile(rb"<input[^<>]{0,300}\btype\s{0,9}=\s{0,9}[\"']?password")
_HIDDEN = re.compile(rb"<(script|style|svg|template)\b.*?(?:</\1\b|\Z)", re.DOTALL)
_TAG = re.compile(rb"<[^<>]*>?")
_WAY_BACK = re.compile(
    r"[?&](next|return|return_?to|return_?url|redirect|redirect_?to|redirect_?ur[il]|continue|destination|dest"
    r"|from|goto|session_?redirect|rd|url|service|ref|target|origin|state|samlrequest)=",
    re.IGNORECASE,
)


class Sign(NamedTuple):
    """By what an answer of some kind is known: a header and its value, texts of the page, or an address.

    Of each part of the markers the page has one, in small letters, and at most so many visible characters:
    one with more speaks of challenges, and so does one that shows the name of a script. Pages with fields of
    forms are others, unless `has_fields`. The address is one where redirects led.
    """

    who: str
    kind: str
    header: tuple[str, str] | None
    markers: tuple[tuple[bytes, ...], ...]
    address: re.Pattern[str] | None
    characters: int
    has_fields: bool


@cache
def signs() -> tuple[Sign, ...]:
    """Return the rules, those of headers first."""
    text = resources.files("webanalytics.fetching").joinpath("data/refusals.csv").read_text("utf-8")
    return tuple(sorted(map(_sign, csv.DictReader(io.StringIO(text))), key=lambda sign: sign.header is None))


def _sign(row: Mapping[str, str]) -> Sign:
    name, _, value = row["header"].partition(": ")
    parts = row["markers"].split(" && ") if row["markers"] else []
    return Sign(
        row["who"],
        row["kind"],
        (name, value) if name else None,
        tuple(tuple(part.encode().decode("unicode_escape").encode().split(b"|")) for part in parts),
        re.compile(row["address"], re.IGNORECASE) if row["address"] else None,
        int(row["characters"] or 0),
        bool(row["fields"]),
    )


def refusal(
    status: int, headers: Mapping[str, str], content: bytes, hops: Sequence[str] = (), final: str = ""
) -> Problem | None:
    """Return the problem with an answer that stands in place of a page, None for a page.

    `hops` are the addresses passed through before `final`, the one asked for first.

    Examples
    --------
    >>> found = refusal(403, {"cf-mitigated": "challenge"}, b"")
    >>> found.key, found.details["who"], found.details["answer"]
    ('challenge', 'Cloudflare', 'a challenge')
    >>> refusal(200, {}, b"", ["https://a.example/orders"], "https://a.example/login?next=/orders").key
    'wall'
    >>> refusal(200, {}, b"<p>How to pass Cloudflare's window._cf_chl_opt") is None
    True
    """
    body = content[:LOOKED_AT]
    is_bare = body.count(b"<a ") <= MOST_LINKS  # most pages are known by this alone
    body = body.lower() if is_bare or hops else b""
    for sign in signs():
        if sign.address is not None:
            if hops and _is_wall(sign.address, hops[0], final, body):
                return Problem("wall", http_status=status, what=sign.kind)
        elif (
            headers.get(sign.header[0], "").strip().lower() == sign.header[1]
            if sign.header
            else is_bare and _says(sign, body)
        ):
            return Problem("challenge", http_status=status, who=sign.who, answer=sign.kind, status=status)
    return None


def _says(sign: Sign, body: bytes) -> bool:
    """Return whether a page has all the texts of a rule, and not much else to show."""
    if not all(any(text in body for text in part) for part in sign.markers):
        return False
    shown = b" ".join(_TAG.sub(b" ", _HIDDEN.sub(b" <", body)).split())
    is_quoted = any(b"_" in text and text in shown for text in sign.markers[0])
    is_short = len(shown.decode("utf-8", "replace")) <= sign.characters
    return is_short and not is_quoted and (sign.has_fields or not _FIELD.search(body))


def _is_wall(wall: re.Pattern[str], asked: str, final: str, body: bytes) -> bool:
    """Return whether a redirect led to a wall: one that knows where to go back, or asks for a password."""
    before, after = (re.split("[?#]", url, maxsplit=1)[0] for url in (asked, final))
    if not wall.search(after) or wall.search(before):
        return False
    one, other = (found.host if (found := address(url)) else "" for url in (asked, final))
    elsewhere = registrable_domain(one) != registrable_domain(other)
    return elsewhere or bool(_WAY_BACK.search(unquote(final))) or bool(_PASSWORD.search(body))
