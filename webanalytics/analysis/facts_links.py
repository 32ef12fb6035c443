"""Links of a page to pages: which of them stay on its host, each in the form in which it would be fetched."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from webanalytics.analysis.metadata_urls import Links
from webanalytics.analysis.page import Page

DEFAULT_MAX_LINKS = 2_000
"""Most links that are kept of one page."""

DEFAULT_MAX_URL = 2_000
"""Longest address that is kept, in characters: sitemaps and search engines take hardly longer ones."""

# Nearly all links are in normal form already: one match tells so, and finds their host.
_NAME = r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*"
_IN_PATH = r"[!$-;=@-\[\]_a-z|~]*+"
_QUERY = r"(?:\?[!$-&(-;=?-\[\]-~]++)?"
_NORMAL = re.compile(rf"https?://({_NAME})/{_IN_PATH}{_QUERY}")
_WRITTEN = re.compile(
    rf"(?:((?:https?:)?//)({_NAME})(?=/))?((?!//)/{_IN_PATH}{_QUERY}|[!$-&(-.0-9;=@-Z_a-z~]{_IN_PATH}{_QUERY})(?:#.*)?",
    re.DOTALL,
)
_PARTS = re.compile(r"(https?)://([^/?#\\]++)([^?#]*+)(?:\?([^#]*+))?", re.IGNORECASE | re.DOTALL)
_ORIGIN = re.compile(r"https?://[^/]+")
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE)
# Without the forbidden host code points of the URL Standard.
_HOST = re.compile(r"(?:[!$&-.0-9;=_a-z~]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_PORTS = {"http": ":80", "https": ":443"}
_PATH_ENCODED = re.compile(r"""[^!-~]+|["<>^`{}]+""")
_QUERY_ENCODED = re.compile(r"""[^!-~]+|["<>'\\]+""")
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


class Address(NamedTuple):
    """An address on the web: its host, with the port where that is an unusual one, and all of it."""

    host: str
    url: str


def address(url: str) -> Address | None:
    """Return an absolute http(s) address in normal form and without fragment, None for any other text.

    Notes
    -----
    URL Standard: scheme and host in lower case, host names in ASCII, usual ports left out, dot segments
    removed, a path of at least a slash, and what it encodes in paths and queries encoded.

    Examples
    --------
    >>> address("HTTPS://Bücher.Example:443?q=ü#top")
    Address(host='xn--bcher-kva.example', url='https://xn--bcher-kva.example/?q=%C3%BC')
    >>> address("mailto:tea@example.org")
    """
    found = _NORMAL.fullmatch(url)
    if found and "/." not in url and "/%2" not in url:
        return Address(found[1], url)
    parts = _PARTS.match(url)
    if parts is None:
        return None
    scheme = parts[1].lower()
    host = _host(parts[2].rpartition("@")[2]).removesuffix(_PORTS[scheme])
    if not _HOST.fullmatch(host):
        return None
    query = f"?{_encoded(parts[4], _QUERY_ENCODED)}" if parts[4] else ""
    return Address(host, f"{scheme}://{host}{_path(parts[3])}{query}")


def _host(text: str) -> str:
    """Return a host, with its port, in lower case and in ASCII as far as it can be written so."""
    name, colon, port = text.lower().partition(":")
    if not text.isascii():
        import idna  # few pages link to names that are not ASCII

        with suppress(idna.IDNAError, ValueError, IndexError):
            mapped = idna.uts46_remap(name[:253], std3_rules=False, transitional=False)
            name = idna.encode(mapped).decode("ascii")
    return f"{name.removesuffix('.')}{colon}{port}"


def _path(path: str) -> str:
    encoded = _encoded(path.replace("\\", "/"), _PATH_ENCODED) or "/"
    if "/." not in encoded and "/%2" not in encoded:
        return encoded
    kept: list[str] = []
    segments = encoded.split("/")[1:]
    for place, segment in enumerate(segments, 1):
        dots = _DOTS.get(segment.lower())
        if dots is None:
            kept.append(segment)
            continue
        if dots == ".." and kept:
            kept.pop()
        if place == len(segments):
            kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str, encoded: re.Pattern[str]) -> str:
    return encoded.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text
    )


def absolute(links: Links, href: str) -> str:
    """Return a link absolute and in normal form, its fragment kept; as it is where it leads elsewhere."""
    url = links.absolute(href)
    found = address(url)
    if found is None:
        return url
    fragment = url.partition("#")[2]
    return f"{found.url}#{fragment}" if fragment else found.url


class LinkFacts(NamedTuple):
    """How many links lead to the page's own host and elsewhere, and the distinct pages of its own host."""

    internal: int
    external: int
    pages: list[str]


def read_links(
    page: Page,
    links: Links,
    hrefs: Iterable[str],
    *,
    max_links: int = DEFAULT_MAX_LINKS,
    max_url: int = DEFAULT_MAX_URL,
) -> LinkFacts:
    """Tell a page's links to its own host from those that lead elsewhere.

    Parameters
    ----------
    page : Page
        The page.
    links : Links
        Makes its links absolute.
    hrefs : iterable of str
        The links as they are written, in document order.
    max_links, max_url : int
        Most links kept, and the longest, in characters. Counts are of all.

    Returns
    -------
    LinkFacts
        A link to a place on the page itself (``#top``) is none to a page, nor is one that is not http(s).

    Notes
    -----
    Hosts are the same where the host names are and the ports, usual ones left out: ``www.example.org``
    is another host than ``example.org``.

    Examples
    --------
    >>> page = Page("<p>", "https://example.org/a")
    >>> read_links(page, Links(page), ["/b#c", "b", "https://other.example/", "mailto:x@example.org", "#top"])
    LinkFacts(internal=2, external=1, pages=['https://example.org/b'])
    """
    base = address(page.final_url)
    own = base.host if base else ""
    resolve = _Resolver(page, links).resolve
    internal = external = 0
    kept: dict[str, None] = {}
    for href, count in Counter(hrefs).items():
        target = resolve(href)
        if target is None:
            continue
        if target[0] != own:
            external += count
            continue
        internal += count
        if len(kept) < max_links and len(target[1]) <= max_url:
            kept[target[1]] = None
    return LinkFacts(internal, external, list(kept))


class _Resolver:
    """Finds where the links of one page lead."""

    def __init__(self, page: Page, links: Links) -> None:
        self._page = page
        self._links = links
        base = address(page.base_url)
        self._host, url = base or ("", "")
        path = url.partition("?")[0]
        found = _ORIGIN.match(url)
        self._origin = found[0] if found else ""
        self._folder = path[: path.rfind("/") + 1]
        self._scheme = url[: url.find("//")]

    def resolve(self, href: str) -> tuple[str, str] | None:
        """Return host and address of the page that a link leads to, None where it leads to none."""
        found = _WRITTEN.fullmatch(href)
        if found is not None and self._origin and "/." not in href and "/%2" not in href:
            start, host, path = found.groups()
            if host is not None:
                return host, f"{self._scheme if start == '//' else ''}{start}{host}{path}"
            if path[0] == "/":
                return self._host, self._origin + path
            if path[0] != "." and path[0] != "%" and ":" not in path:
                return self._host, self._folder + path
        link = href.partition("#")[0].strip()
        if (not link and "#" in href) or _OTHER_SCHEME.match(link):
            return None
        return address(self._links.absolute(link) if link else self._page.base_url)
