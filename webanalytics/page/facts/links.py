"""The links of a page: where they lead, and what rules say of each of them.

Texts that say nothing of where a link leads: the idea and the English core are those of Lighthouse's audit
"Links do not have descriptive text" (developer.chrome.com/docs/lighthouse/seo/link-text); the other languages
have what their sites write in its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from importlib import resources
from typing import NamedTuple

from webanalytics.page.document import Element
from webanalytics.page.facts.access import Names, is_hidden
from webanalytics.page.page import Collector, Page, Reader, fold
from webanalytics.urls import (
    NORMAL_IN_PATH,
    NORMAL_NAME,
    NORMAL_QUERY,
    address,
    registrable_domain,
    with_slashes,
)


def _generic() -> dict[str, frozenset[str]]:
    lines = (resources.files("webanalytics.page") / "data" / "generic-link-texts.txt").read_text("utf-8")
    rows = (line.split(": ", 1) for line in lines.splitlines())
    return {language: frozenset(texts.split(", ")) for language, texts in rows}


GENERIC = _generic()
"""Texts that say nothing of where a link leads, by language."""

LONGEST = 8 + max(len(text) for texts in GENERIC.values() for text in texts)
"""Characters of the longest such text, with some signs around it."""

_ENDS = " \u00a0.…:;,!?>»›→➔➜▶►«‹←+-–—|()（）[]*"


def generic_texts(language: str) -> frozenset[str]:
    """Return the texts that say nothing in a page's language or in English, in lower case.

    >>> [bare(text) in generic_texts("de-AT") for text in ("Weiterlesen …", "Read more »", "Lire la suite")]
    [True, True, False]
    """
    return GENERIC["en"] | GENERIC.get(language.replace("_", "-").partition("-")[0].lower(), frozenset())


def bare(text: str) -> str:
    """Return a link's text in lower case, without the signs around it."""
    return text.strip(_ENDS).lower().replace("\u2019", "'")


MAX_LINKS = 2_000
"""Most links kept per page."""

DEFAULT_MAX_URL = 2_000
"""Longest address that is kept, in characters: sitemaps and search engines hardly accept longer ones."""

# Nearly all links are in normal form already, once they are joined to the page's host or folder.
_WRITTEN = re.compile(
    rf"(?:((?:https?:)?//)({NORMAL_NAME})(?=/))?"
    rf"((?!//)/{NORMAL_IN_PATH}{NORMAL_QUERY}|[!$-&(-.0-9;=@-Z_a-z~]{NORMAL_IN_PATH}{NORMAL_QUERY})(?:#.*)?",
    re.DOTALL,
)
_ORIGIN = re.compile(r"https?://[^/]+")
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE | re.ASCII)


class LinkFacts(NamedTuple):
    """The numbers of links to the page's own host and elsewhere, and the distinct pages of its own host."""

    internal: int
    external: int
    subdomains: int
    pages: list[str]


def read_links(page: Page, hrefs: Iterable[str], *, max_url: int = DEFAULT_MAX_URL) -> LinkFacts:
    """Return the links of a page to its own host and count those that lead elsewhere; counts are of all.

    A link to a place on the page itself (``#top``) does not lead to a page, nor does one that is not
    http(s). Hosts are the same where the host names are and the ports, usual ones left out:
    ``www.example.org`` is another host than ``example.org``.

    >>> page = Page("<p>", "https://example.org/a")
    >>> read_links(page, ["/b#c", "b", "https://other.example/", "mailto:x@example.org", "#top"])
    LinkFacts(internal=2, external=1, subdomains=0, pages=['https://example.org/b'])
    """
    base = address(page.final_url)
    own = base.host if base else ""
    resolve = Resolver(page).resolve
    internal = external = subdomains = 0
    kept: dict[str, None] = {}
    for href, count in Counter(hrefs).items():
        target = resolve(href)
        if target is None:
            continue
        if target[0] != own:
            external += count
            if own and registrable_domain(target[0]) == registrable_domain(own):
                subdomains += count
            continue
        internal += count
        if len(kept) < MAX_LINKS and len(target[1]) <= max_url:
            kept[target[1]] = None
    return LinkFacts(internal, external, subdomains, list(kept))


class Resolver:
    """Finds where the links of one page lead."""

    def __init__(self, page: Page) -> None:
        self._page = page
        base = address(page.base_url)
        self._host, url = base or ("", "")
        path = url.partition("?")[0]
        found = _ORIGIN.match(url)
        self._origin = found[0] if found else ""
        self._folder = path[: path.rfind("/") + 1]
        self._scheme = url[: url.find("//")]

    def resolve(self, href: str) -> tuple[str, str] | None:
        """Return host and address of the page that a link leads to, None if it does not lead to a page."""
        found = _WRITTEN.fullmatch(href)
        if found is not None and self._origin and "/." not in href and "/%2" not in href:
            start, host, path = found.groups()
            if host is not None:
                return host, f"{self._scheme if start == '//' else ''}{start}{host}{path}"
            if path[0] == "/":
                return self._host, self._origin + path
            if path[0] != "." and path[0] != "%" and ":" not in path:
                return self._host, self._folder + path
        link = with_slashes(href.partition("#")[0].strip())
        if (not link and "#" in href) or _OTHER_SCHEME.match(link):
            return None
        return address(self._page.links.absolute(link) if link else self._page.base_url)


class Judged(NamedTuple):
    """Links of a page that rules speak of."""

    nameless: list[dict[str, str]]
    generic: list[dict[str, str]]
    uncrawlable: list[dict[str, str]]
    nofollow: list[str]
    insecure: list[str]


# What no crawler can follow although it says where to: a script, a file of the reader's own, no host.
_NO_ADDRESS = re.compile(
    r"(?a:(javascript|file):)|(?a:https?:)[/\\]*+(?:$|[?#]|[^/?#\\\s<>^|`\"{}]*+[\s<>^|`\"{}])", re.IGNORECASE
)
_NO_TARGET = re.compile(r"#|(?:javascript|mailto|tel|sms|data|blob):", re.IGNORECASE | re.ASCII)
_PLACEHOLDERS = ("id", "name", "role", "aria-current", "aria-disabled")


class LinkElements(Collector):
    """Links without a name, with a text that says nothing, that cannot be followed or should not be."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.nameless: list[dict[str, str]] = []
        self.generic: list[dict[str, str]] = []
        self.uncrawlable: list[dict[str, str]] = []
        self.nofollow: list[str] = []
        self.insecure: list[str] = []
        self._names = Names(page.document)
        self._generic = generic_texts(page.lang)
        self._secure = page.final_url[:6].lower() == "https:"

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {"a": self._anchor, "area": self._area}

    def _anchor(self, element: Element) -> None:
        href = element.get("href")
        if href is None:
            self._placeholder(element)
            return
        link = href.strip()
        follows = self._address(element, link)
        text = self._names.content(element)
        if not text:
            if not self._names.name(element):
                self._nameless(element, link)
        elif len(text) <= LONGEST and bare(text) in self._generic and follows:
            name = self._names.name(element)
            if not _NO_TARGET.match(link) and bare(name) in self._generic:
                self._put(self.generic, link, text=name)

    def _area(self, element: Element) -> None:
        href = element.get("href")
        if href is None:
            return
        self._address(element, href.strip())
        get = element.get
        if not (self._names.label(element) or fold(get("alt")) or fold(get("title"))):
            self._nameless(element, href.strip())

    def _address(self, element: Element, link: str) -> bool:
        """Examine the address of a link; return whether crawlers follow it."""
        if ":" in link[:12]:
            if self._secure and link[:5].lower() == "http:" and len(self.insecure) < self.max_entries:
                self.insecure.append(link)
            if found := _NO_ADDRESS.match(link):
                if element.get("role") is None or (found[1] or "").lower() == "file":
                    self._put(self.uncrawlable, link, text=self._names.name(element))
                return False
        rel = element.get("rel")
        if rel and "nofollow" in rel.lower().split():
            if len(self.nofollow) < self.max_entries:
                self.nofollow.append(link)
            return False
        return True

    def _placeholder(self, element: Element) -> None:
        """Note an anchor without an address that has a text and is no place to jump to."""
        get = element.get
        if any(get(name) is not None for name in _PLACEHOLDERS) or len(self.uncrawlable) >= self.max_entries:
            return
        if name := self._names.name(element):
            script = get("onclick")
            said = {"href": "", "text": name[: self.max_length]}
            self.uncrawlable.append(said if script is None else said | {"onclick": script[: self.max_length]})

    def _nameless(self, element: Element, link: str) -> None:
        if len(self.nameless) < self.max_entries and self.may_climb() and not is_hidden(element):
            shown = element if element.is_leaf else self._document.elements[element.position + 1]
            self._put(self.nameless, link, inside="" if shown.tag == "a" else shown.tag)

    def _put(self, entries: list[dict[str, str]], link: str, **details: str) -> None:
        if len(entries) < self.max_entries:
            kept = {name: value[: self.max_length] for name, value in details.items()}
            entries.append({"href": link[: self.max_length]} | kept)


def judged_links(page: Page, links: LinkElements) -> Judged:
    """Return what rules say of the links of a page: the own site's are those of its host.

    Notes
    -----
    Names as in `Names`; WCAG 2.2, criteria 2.4.4 and 4.1.2, and axe's rules ``link-name`` and ``area-alt``.
    What can be followed is that of "Make your links crawlable" (developers.google.com/search/docs/
    crawling-indexing/links-crawlable) and of Lighthouse's audit ``crawlable-anchors``, which
    leaves out anchors with a role. Texts are those of `GENERIC`; a label of
    ARIA that says more makes up for one.

    Examples
    --------
    >>> from webanalytics.page.page import collected
    >>> html = "<a href=/><img src=a.png></a><a href=/tea>Read more</a><a onclick=go()>Go"
    >>> page = Page(html, "https://a.example/")
    >>> found = judged_links(page, collected(page, LinkElements))
    >>> [len(found.nameless), len(found.generic), len(found.uncrawlable)]
    [1, 1, 1]
    """
    base = address(page.final_url)
    own = base.host if base else ""
    resolve = Resolver(page).resolve

    def inside(hrefs: list[str]) -> list[str]:
        found = {href: resolve(href) for href in dict.fromkeys(hrefs)}
        return [
            url
            for target in found.values()
            if target is not None and target[0] == own and len(url := target[1]) <= DEFAULT_MAX_URL
        ]

    insecure = [url for url in inside(links.insecure) if url.startswith("http:")]
    return Judged(
        links.nameless,
        links.generic,
        links.uncrawlable,
        list(dict.fromkeys(inside(links.nofollow))),
        list(dict.fromkeys(insecure)),
    )
