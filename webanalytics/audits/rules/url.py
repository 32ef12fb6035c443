"""Rules for the address of a page, and for addresses that differ in spelling and show one page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, unquote_plus

from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import above
from webanalytics.audits.site import Site

_PARTS = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
_ESCAPE = re.compile("%[0-9a-fA-F]{2}")

MOST_SEGMENTS = 100
"""Most parts of a path that are checked for repetitions."""


def _path_and_query(url: str) -> tuple[str, str]:
    parts = _PARTS.match(url.strip())
    return (parts[1], parts[2] or "") if parts else ("", "")


def _where(found: Callable[[str], str]) -> Find:
    """Return the search for addresses in which the function finds something."""

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, url in site.read("url"):
            if url and (evidence := found(url)):
                yield Finding(row, evidence=evidence)

    return find


def _spaces(url: str) -> str:
    url = url.strip()
    return url if " " in url or "%20" in url else ""


def _upper_case(url: str) -> str:
    path = _ESCAPE.sub("", _path_and_query(url)[0])
    return "" if path == path.lower() else _path_and_query(url)[0]


def _underscores(url: str) -> str:
    path = _path_and_query(url)[0]
    return path if "_" in path else ""


def _parameters(url: str) -> str:
    return _path_and_query(url)[1]


def _not_ascii(url: str) -> str:
    read = unquote(url.strip(), errors="replace")
    return "" if read.isascii() else read


def _repeated_slashes(url: str) -> str:
    path = _path_and_query(url)[0]
    return path if "//" in path else ""


def _repeated_path(url: str) -> str:
    """Return the part of a path that repeats; numbers may, like the days and months of dates."""
    parts = [part for part in _path_and_query(url)[0].split("/") if part][:MOST_SEGMENTS]
    for size in range(1, len(parts) // 2 + 1):
        for start in range(len(parts) - 2 * size + 1):
            block = parts[start : start + size]
            following = parts[start + size : start + 2 * size]
            if block == following and not all(part.isdecimal() for part in block):
                return "/" + "/".join(block + following) + "/"
    return ""


Form = Callable[[str], str]

_ABSOLUTE = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_TRACKING = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|srsltid"
    r"|mc_cid|mc_eid|_hsenc|_hsmi|mkt_tok|_ga|_gl|pk_\w+|mtm_\w+",
    re.IGNORECASE,
)
"""Parameters by which analytics, advertisements and newsletters know where a visit comes from."""
_SESSION = re.compile(
    r"phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|sid|cfid|cftoken", re.IGNORECASE
)
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/;]*", re.IGNORECASE)


def _form(changed: Callable[[str, str, str, str], tuple[str, str, str, str]]) -> Form:
    return lambda url: _joined(*changed(*_parts(url)))


lower_case = _form(lambda scheme, host, path, query: (scheme, host, path.lower(), query))
without_slash = _form(lambda scheme, host, path, query: (scheme, host, path.rstrip("/"), query))
without_www = _form(lambda scheme, host, path, query: (scheme, host.removeprefix("www."), path, query))
without_scheme = _form(lambda _, host, path, query: ("https", host, path, query))


def without_tracking(url: str) -> str:
    """Return an address without parameters that say where a visit comes from.

    Examples
    --------
    >>> without_tracking("https://a.example/tea?utm_source=mail&page=2")
    'https://a.example/tea?page=2'
    """
    scheme, host, path, query = _parts(url)
    return _joined(scheme, host, path, _kept(query, _TRACKING))


def without_session(url: str) -> str:
    """Return an address without the number of a session.

    Examples
    --------
    >>> without_session("https://a.example/tea;jsessionid=1A?page=2&PHPSESSID=9")
    'https://a.example/tea?page=2'
    """
    scheme, host, path, query = _parts(url)
    return _joined(scheme, host, _SESSION_IN_PATH.sub("", path), _kept(query, _SESSION))


def _parts(url: str) -> tuple[str, str, str, str]:
    found = _ABSOLUTE.match(url)
    return (found[1], found[2], found[3], found[4] or "") if found else ("", "", url, "")


def _joined(scheme: str, host: str, path: str, query: str) -> str:
    return f"{scheme}://{host}{path}" + (f"?{query}" if query else "")


def _kept(query: str, unwanted: re.Pattern[str]) -> str:
    pairs = (pair for pair in query.split("&") if pair)
    return "&".join(pair for pair in pairs if not unwanted.fullmatch(unquote_plus(pair.partition("=")[0])))


def _same_page(form: Form) -> Find:
    """Return the search for indexable pages with one text whose addresses have one form."""

    def find(site: Site, _: Any) -> Iterator[Finding]:
        hashes = site.values("content_hash")
        groups: dict[tuple[str, str], list[int]] = {}
        for row in site.distinct:
            url = site.addresses.final[row]
            if url is not None and hashes[row]:
                groups.setdefault((form(url), hashes[row]), []).append(row)
        for group in groups.values():
            if len(group) > 1:
                for row in group:
                    yield Finding(row, len(group), f"The same page as {site.others(group, row)}")

    return find


def plain_form(url: str) -> str:
    """Return an address without all that its variants differ in.

    Examples
    --------
    >>> plain_form("http://www.a.example/Tea/?utm_source=mail")
    'https://a.example/tea'
    """
    _, host, path, query = _parts(without_session(without_tracking(url)))
    return _joined("https", host.removeprefix("www."), path.lower().rstrip("/"), query)


def _linked(site: Site, _: Any) -> Iterator[Finding]:
    """Find pages that link to a spelling of an address that is not the one of the page behind it."""
    known: dict[str, str] = {}
    for row in site.distinct:
        url = site.addresses.final[row]
        if url is not None:
            known.setdefault(plain_form(url), url)
    spelt: dict[str, str] = {}
    for row, links in site.read("links"):
        found = []
        for link in links or ():
            if link not in spelt:
                spelt[link] = "" if site.find(link) is not None else known.get(plain_form(link), "")
            if spelt[link]:
                found.append(f"{link} for {spelt[link]}")
        if found:
            yield Finding(row, len(found), listed(found))


RULES = rules_of(
    __name__,
    {
        "url_too_long": above("url_length", "url"),
        "url_with_space": _where(_spaces),
        "url_upper_case": _where(_upper_case),
        "url_underscores": _where(_underscores),
        "url_parameters": _where(_parameters),
        "url_not_ascii": _where(_not_ascii),
        "url_repeated_slashes": _where(_repeated_slashes),
        "url_repeated_path": _where(_repeated_path),
        "url_variant_case": _same_page(lower_case),
        "url_variant_slash": _same_page(without_slash),
        "url_variant_www": _same_page(without_www),
        "url_variant_scheme": _same_page(without_scheme),
        "url_variant_tracking": _same_page(without_tracking),
        "url_variant_session": _same_page(without_session),
        "links_to_variants": _linked,
    },
)
