"""Refusals in place of pages: challenges and blocks of content networks, walls that ask to log in or consent.

`Fetcher` looks at each answer of an audit, so that the pace of a host follows from it; audits of saved pages
look too. The rules are data, each with its source and its day: ``data/refusals.csv``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from webanalytics.fetching.response import Problem
from webanalytics.urls import registrable_domain

LOOKED_AT = 1_000_000
"""Bytes of a page that are looked at: a challenge may stand behind a long script."""

WALLS: Mapping[str, str] = {"login": "login_wall", "consent": "consent_wall"}
"""Kinds of walls, and the keys of their messages."""

MOST_LINKS = 10
"""Links of a page in place of another one: a page with more is one of the site."""

_FIELDS = (b'type="password"', b'type="email"', b"<textarea")
"""What forms have that a challenge guards, and challenges do not."""

_SCRIPT = re.compile(rb"<(/?)(?:script|style|svg|template)\b", re.IGNORECASE)
_TAG = re.compile(rb"<[^<>]*>?")
_WAY_BACK = re.compile(
    r"[?&](next|return|return_?to|return_?url|redirect|redirect_?to|redirect_?ur[il]|continue|destination|dest"
    r"|from|goto|rd|url|service|ref|target|origin|state|samlrequest)=",
    re.IGNORECASE,
)


class Sign(NamedTuple):
    """By what an answer is known as a refusal: one header, or texts of the page, or where redirects led.

    Attributes
    ----------
    who : str
        Who answers so.
    kind : str
        What the answer is: "a challenge", "a refusal", "login" or "consent".
    header : tuple of str or None
        Name of a header and its value, in small letters.
    markers : tuple
        Texts of the page in small letters; of each part one.
    address : re.Pattern or None
        What the address has where redirects led.
    characters : int
        Most visible text of such a page: one that has more speaks of challenges, or guards a form.
    """

    who: str
    kind: str
    header: tuple[str, str] | None
    markers: tuple[tuple[bytes, ...], ...]
    address: re.Pattern[str] | None
    characters: int


@cache
def signs() -> tuple[Sign, ...]:
    """Return the rules, those of headers first."""
    text = resources.files("webanalytics.fetching").joinpath("data/refusals.csv").read_text("utf-8")
    return tuple(sorted(map(_sign, csv.DictReader(io.StringIO(text))), key=lambda sign: sign.header is None))


def _sign(row: Mapping[str, str]) -> Sign:
    name, _, value = row["header"].partition(": ")
    parts = [part.split("|") for part in row["markers"].split(" && ")] if row["markers"] else []
    return Sign(
        row["who"],
        row["kind"],
        (name, value) if name else None,
        tuple(tuple(text.encode() for text in part) for part in parts),
        re.compile(row["address"], re.IGNORECASE) if row["address"] else None,
        int(row["characters"] or 0),
    )


def refusal(
    status: int, headers: Mapping[str, str], content: bytes, hops: Sequence[str] = (), final: str = ""
) -> Problem | None:
    """Return the problem with an answer that stands in place of the page, None for a page.

    Parameters
    ----------
    status : int
        Of the last answer.
    headers : Mapping
        Of the last answer, by names in any case.
    content : bytes
        The page.
    hops : sequence of str
        Addresses passed through before `final`, the one asked for first.
    final : str
        Where the redirects led.

    Examples
    --------
    >>> found = refusal(403, {"cf-mitigated": "challenge"}, b"")
    >>> found.key, found.details["who"], found.details["answer"]
    ('challenge', 'Cloudflare', 'a challenge')
    >>> refusal(200, {}, b"", ["https://a.example/orders"], "https://a.example/login?next=/orders").key
    'login_wall'
    >>> refusal(200, {}, b"<p>How to pass Cloudflare's window._cf_chl_opt") is None
    True
    """
    body = content[:LOOKED_AT]
    is_bare = body.count(b"<a ") <= MOST_LINKS  # most pages are known by this alone
    body = body.lower() if is_bare or hops else b""
    is_bare = is_bare and not any(field in body for field in _FIELDS)
    for sign in signs():
        if sign.address is not None:
            found = bool(hops) and _is_wall(sign.address, hops[0], final, body)
        elif sign.header is not None:
            found = headers.get(sign.header[0], "").strip().lower() == sign.header[1]
        else:
            found = is_bare and _says(sign, body)
        if found and sign.address is not None:
            return Problem(WALLS[sign.kind], http_status=status)
        if found:
            return Problem("challenge", http_status=status, who=sign.who, answer=sign.kind, status=status)
    return None


def _says(sign: Sign, body: bytes) -> bool:
    """Return whether a page has all the texts of a rule, and not much else to show."""
    if not all(any(text in body for text in part) for part in sign.markers):
        return False
    count = 0
    for piece in _shown(body):
        count += len(b" ".join(_TAG.sub(b" ", piece).split()).decode("utf-8", "replace"))
        if count > sign.characters:
            return False
    return True


def _shown(body: bytes) -> Iterator[bytes]:
    """Yield what stands outside scripts and styles."""
    begin, depth = 0, False
    for tag in _SCRIPT.finditer(body):
        if not depth:
            yield body[begin : tag.start()]
        depth, begin = not tag[1], tag.start()
    if not depth:
        yield body[begin:]


def _is_wall(address: re.Pattern[str], asked: str, final: str, body: bytes) -> bool:
    """Return whether a redirect led to a wall: one that knows where to go back, or asks for a password."""
    (one, ask), (other, end) = _place(asked), _place(final)
    if not address.search(end) or address.search(ask):
        return False
    elsewhere = registrable_domain(one) != registrable_domain(other)
    return elsewhere or bool(_WAY_BACK.search(unquote(final))) or _FIELDS[0] in body


def _place(url: str) -> tuple[str, str]:
    """Return the host of an address, and the address without its query."""
    try:
        return urlsplit(url).hostname or "", url.partition("#")[0].partition("?")[0]
    except ValueError:
        return "", ""
