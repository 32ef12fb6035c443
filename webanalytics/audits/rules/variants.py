"""Rules about addresses that differ only in their spelling and show one page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote_plus

from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.searches import Find
from webanalytics.audits.site import Site

Form = Callable[[str], str]

_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
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


def lower_case(url: str) -> str:
    """Return an address with its path in lower case."""
    scheme, host, path, query = _parts(url)
    return _joined(scheme, host, path.lower(), query)


def without_slash(url: str) -> str:
    """Return an address without slashes at the end of its path."""
    scheme, host, path, query = _parts(url)
    return _joined(scheme, host, path.rstrip("/"), query)


def without_www(url: str) -> str:
    """Return an address without www."""
    scheme, host, path, query = _parts(url)
    return _joined(scheme, host.removeprefix("www."), path, query)


def without_scheme(url: str) -> str:
    """Return an address as if it were in https."""
    _, host, path, query = _parts(url)
    return _joined("https", host, path, query)


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
    found = _PARTS.match(url)
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
    _, host, path, query = _parts(url)
    if ";" in path:
        path = _SESSION_IN_PATH.sub("", path)
    if query:
        query = _kept(_kept(query, _TRACKING), _SESSION)
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


def _variant(name: str, title: str, explanation: str, fix: str, form: Form, measured: str) -> Rule:
    return Rule(
        name=name,
        title=title,
        category="url",
        explanation=explanation,
        fix=fix,
        find=_same_page(form),
        columns=("content_hash",),
        measured=f"{measured} Pages are compared that are indexable, were read at these addresses and have "
        "the same text.",
        source=sources.both(sources.CANONICALIZATION, sources.URLS),
    )


RULES = (
    _variant(
        "url_variant_case",
        "Addresses that differ in case",
        "One page answers at two addresses that differ only in capital letters, so its links are divided.",
        "Redirect to the address in lower case, or name it as canonical.",
        lower_case,
        "Addresses that are equal once their paths are in lower case.",
    ),
    _variant(
        "url_variant_slash",
        "Addresses that differ in a final slash",
        "One page answers with and without a slash at the end of its address: two pages to search engines.",
        "Redirect one of them to the other, or name it as canonical.",
        without_slash,
        "Addresses that are equal once slashes at the end of their paths are left out.",
    ),
    _variant(
        "url_variant_www",
        "Addresses with and without www",
        "One page answers with and without www: two hosts to search engines, each with a part of the links.",
        "Redirect one of the hosts to the other.",
        without_www,
        "Addresses that are equal once www is left out of the host.",
    ),
    _variant(
        "url_variant_scheme",
        "Addresses over http and https",
        "One page answers over http and over https, so visitors may read it without encryption.",
        "Redirect http to https with status 301.",
        without_scheme,
        "Addresses that are equal but for http and https.",
    ),
    _variant(
        "url_variant_tracking",
        "Addresses that differ in tracking parameters",
        "Parameters that say where a visit comes from make further addresses of one page.",
        "Name the address without them as canonical, and leave them out of links within the site.",
        without_tracking,
        "Addresses that are equal without parameters of analytics and advertisements, such as utm_source.",
    ),
    _variant(
        "url_variant_session",
        "Addresses that differ in session ids",
        "The number of a session in an address makes a new address of each page for every visit.",
        "Keep sessions in cookies, and redirect addresses with a session id.",
        without_session,
        "Addresses that are equal without session ids such as PHPSESSID and jsessionid.",
    ),
    Rule(
        name="links_to_variants",
        title="Links to another spelling of a page's address",
        category="url",
        type="warning",
        priority="low",
        explanation="The page links to addresses that are those of other pages of the audit but for case, a "
        "slash, www, http, tracking parameters or a session id.",
        fix="Link to each page by its one address.",
        find=_linked,
        columns=("links",),
        measured="Links to pages of the own host that the audit did not read, but whose address without "
        "these differences is that of an indexable page which it did.",
        source=sources.both(sources.CANONICALIZATION, sources.URLS),
    ),
)
