"""The links of a page, all kinds of them, as a crawl follows, counts and checks them.

A worker calls `analyse`; the elements come from the walk that the analyses of a page share.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any
from zlib import crc32

from webanalytics.page.declarations.unserved import DEFAULT_MAX_LINKS, SKETCH_SIZE
from webanalytics.page.document import Element
from webanalytics.page.facts.access import Names
from webanalytics.page.facts.links import DEFAULT_MAX_URL, Resolver
from webanalytics.page.facts.resources import late_source
from webanalytics.page.page import Collector, Page, Reader, collected, fold
from webanalytics.urls import address, place_asked, place_hashes

MOST_ANCHORS = 10
"""Most texts and positions kept of the links to one target; further links count as one with the first."""

MOST_IDS = 100_000
"""Places of a page that links can lead to, from which they are not known."""

DEFAULT_MAX_ANCHOR = 200
"""Longest anchor text that is kept, in characters."""

_REL = {"nofollow": 1, "ugc": 2, "sponsored": 4}
_SECTIONS = {name: name for name in ("head", "header", "nav", "main", "aside", "footer", "body")}
_ROLES = {
    "banner": "header",
    "navigation": "nav",
    "main": "main",
    "complementary": "aside",
    "contentinfo": "footer",
}
_SWITCHES = frozenset(("role", "aria-controls", "aria-expanded", "aria-haspopup"))
_ICONS = frozenset(("icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon"))
_MEDIA = {"audio": ("src",), "video": ("src",), "track": ("src",), "embed": ("src",), "object": ("data",)}
_REFRESH = re.compile(r"""\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(\S.*))""", re.IGNORECASE)
_ADDRESS = re.compile(r"[\s,]*(\S+)")
_MAX_CANDIDATES = 50
_ACTION = re.compile(r"[:=]|%3[aAdD]")
_WORD = re.compile(r"[^\W\d_]+")


class OutlinkElements(Collector):
    """Links as they are written, in document order: address, anchor text, rel, kind and position."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.found: dict[tuple[str, str, int, str, str], int] = {}
        self.names: list[str] = []
        self.left_out = 0
        self._targets: dict[tuple[str, int, str], list[tuple[str, str, int, str, str]]] = {}
        self._names = Names(page.document)
        self._positions: dict[Element, str] = {}
        self._page_url = page.final_url.partition("#")[0]

    def readers(self) -> dict[str, Reader]:
        """Return its readers by tag."""
        return {
            "a": self._anchor,
            "area": self._area,
            "link": self._link,
            "meta": self._meta,
            "iframe": self._frame,
            "frame": self._frame,
            "form": self._form,
            "img": self._image,
            "input": self._input,
            "source": self._source,
            "script": self._script,
            **dict.fromkeys(_MEDIA, self._media),
        }

    def _add(self, element: Element, href: str | None, kind: str, anchor: str = "", rel: int = 0) -> None:
        if href is None:
            return
        known = self._targets.get((href, rel, kind))
        if known is None:
            if len(self._targets) >= DEFAULT_MAX_LINKS:
                self.left_out += 1
                return
            known = self._targets[href, rel, kind] = []
        link = (href, anchor[:DEFAULT_MAX_ANCHOR], rel, kind, self._position(element))
        if link not in self.found:
            if len(known) < MOST_ANCHORS:
                known.append(link)
            else:
                link = known[0]
        self.found[link] = self.found.get(link, 0) + 1

    def _anchor(self, element: Element) -> None:
        if name := element.get("name"):
            self.names.append(name)
        href = element.get("href")
        if href is not None and not (href.lstrip()[:1] == "#" and _is_switch(element)):
            names = self._names
            text = names.content(element) or names.label(element) or fold(element.get("title"))
            self._add(element, href, "link", text, _rel(element))

    def _area(self, element: Element) -> None:
        if (href := element.get("href")) is not None:
            text = fold(element.get("alt")) or self._names.label(element) or fold(element.get("title"))
            self._add(element, href, "link", text, _rel(element))

    def _link(self, element: Element) -> None:
        get = element.get
        kinds = (get("rel") or "").lower().split()
        if not kinds:
            return
        kind = _link_kind(kinds, get("hreflang"))
        if kind:
            self._add(element, get("href"), kind, (get("hreflang") or "") if kind == "hreflang" else "")

    def _meta(self, element: Element) -> None:
        if (element.get("http-equiv") or "").strip().lower() == "refresh" and (
            found := _REFRESH.match(fold(element.get("content")))
        ):
            self._add(element, next(filter(None, found.groups()), None), "refresh")

    def _frame(self, element: Element) -> None:
        self._add(element, element.get("src"), "frame", fold(element.get("title")))

    def _form(self, element: Element) -> None:
        if (element.get("method") or "get").strip().lower() == "get":
            # What is filled in takes the place of the query (HTML Standard, section 4.10.21.3).
            action = (element.get("action") or "").strip() or self._page_url
            self._add(element, action.partition("#")[0].partition("?")[0] or self._page_url, "form")

    def _image(self, element: Element) -> None:
        get = element.get
        alt = fold(get("alt"))
        source = get("src") or ""
        if not source.strip() or source.lstrip()[:5].lower() == "data:":
            source = late_source(element)
        for one in (source, *_candidates(get("srcset"))):
            if one.strip() and one.lstrip()[:5].lower() != "data:":
                self._add(element, one, "image", alt)

    def _input(self, element: Element) -> None:
        if (element.get("type") or "").strip().lower() == "image":
            self._add(element, element.get("src"), "image", fold(element.get("alt")))

    def _source(self, element: Element) -> None:
        for source in _candidates(element.get("srcset")):
            self._add(element, source, "image")
        self._add(element, element.get("src"), "media")

    def _media(self, element: Element) -> None:
        for name in _MEDIA[element.tag]:
            self._add(element, element.get(name), "media")
        self._add(element, element.get("poster"), "image")

    def _script(self, element: Element) -> None:
        self._add(element, element.get("src"), "script")

    def _position(self, element: Element) -> str:
        """Return the nearest section around an element; each element of the page is looked at once."""
        known, passed = self._positions, []
        place: Element | None = element.parent
        position = "body"
        while place is not None:
            if (found := known.get(place)) is not None:
                position = found
                break
            passed.append(place)
            section = _SECTIONS.get(place.tag) or _ROLES.get((place.get("role") or "").strip().lower())
            if section is not None:
                position = section
                break
            place = place.parent
        for one in passed:
            known[one] = position
        return position


def _is_switch(element: Element) -> bool:
    """Return whether a link within its page is one that a script answers: a menu, a tab, a window."""
    return any(name.startswith(("data-", "on")) or name in _SWITCHES for name in element.attrib)


def _link_kind(kinds: list[str], hreflang: str | None) -> str:
    """Return the kind of a link element, '' for one that leads to no page or resource."""
    if "canonical" in kinds:
        return "canonical"
    if "stylesheet" in kinds:
        return "stylesheet"
    if "alternate" in kinds:
        return "hreflang" if hreflang is not None else ""
    for name, kind in (("next", "next"), ("prev", "prev"), ("previous", "prev"), ("amphtml", "amp")):
        if name in kinds:
            return kind
    return "" if _ICONS.isdisjoint(kinds) else "icon"


def _rel(element: Element) -> int:
    rel = element.get("rel")
    if not rel:
        return 0
    words = rel.lower().replace(",", " ").split()
    return sum({_REL[word] for word in words if word in _REL})


def _candidates(srcset: str | None) -> list[str]:
    """Return the addresses of a srcset, which may contain commas themselves (HTML Standard, 4.8.4.2.1).

    >>> _candidates("/a.png, /b,c.png 2x,/d.png 100w")
    ['/a.png', '/b,c.png', '/d.png']
    """
    found: list[str] = []
    place, text = 0, srcset or ""
    while len(found) < _MAX_CANDIDATES and (match := _ADDRESS.match(text, place)):
        address, place = match[1], match.end()
        if not address.endswith(","):  # what follows are its width or density, up to a comma
            place = text.find(",", place) + 1 or len(text)
        found.append(address.rstrip(","))
    return list(filter(None, found))


def sketch(text: str) -> list[int]:
    """Return hashes of the pairs of words of a text, line by line; digits count for nothing.

    The smallest ones are kept of a long text, so that of two near-equal texts nearly the same ones are.

    >>> sketch("Sales in May 2026") == sketch("Sales in May 2031"), len(sketch("one two one two three"))
    (True, 3)
    """
    found: set[int] = set()
    for line in text.lower().split("\n"):
        words = _WORD.findall(line)
        if len(words) == 1:
            found.add(crc32(words[0].encode("utf-8", "replace")))
        previous = ""
        for word in words:
            if previous:
                found.add(crc32(f"{previous} {word}".encode("utf-8", "replace")))
            previous = word
    return sorted(found)[:SKETCH_SIZE]


def _ids(page: Page, names: list[str]) -> set[int] | None:
    """Return hashes of the places of a page; None where it has no text of its own, or far too many."""
    elements = page.having("id")
    plain = page.content_type.partition(";")[0].strip().lower() == "text/plain"
    if plain or len(elements) + len(names) > MOST_IDS or not page.visible_text:
        return None
    texts = (*(element.attrib["id"] for element in elements), *names)
    return {crc32(text.encode("utf-8", "replace")) for text in texts}


class _Targets:
    """Where the links of one page lead: addresses, and the places that they name there."""

    def __init__(self, page: Page, ids: set[int] | None) -> None:
        self._resolve = Resolver(page).resolve
        own = address(page.final_url)
        in_place = own is not None and page.base_url == page.final_url
        self._own, self._ids = own.url if own is not None and in_place else None, ids
        self._known: dict[str, tuple[str, str] | None] = {}

    def of(self, href: str) -> tuple[str, str] | None:
        """Return address and fragment; None for what leads to no page, and to a place of the own one."""
        if href not in self._known:
            self._known[href] = self._find(href)
        return self._known[href]

    def _find(self, href: str) -> tuple[str, str] | None:
        found, mark, fragment = self._resolve(href), "#" in href, href.partition("#")[2]
        place = place_asked(fragment) if mark else ""
        if found is not None:
            return found[1], place
        # A place of the page itself: no link to a page, but one that leads nowhere is to be told.
        asked = place and href.lstrip()[:1] == "#"  # and not mailto:, chrome: or an address that is none
        if not asked or self._own is None or self._ids is None or _ACTION.search(place):
            return None
        return (self._own, place) if self._ids.isdisjoint(place_hashes(place)) else None


def analyse(page: Page) -> dict[str, Any]:
    """Return the fields of `OUTLINKS`; raises RowError for a page without HTML.

    >>> page = Page('<nav><a href="/milk#cold" rel="ugc nofollow"> Milk <b>jug', "https://example.org/tea")
    >>> links = analyse(page)["outlinks"]
    >>> links["target"], links["anchor"], links["rel"], links["kind"], links["position"]
    (['https://example.org/milk'], ['Milk jug'], [3], ['link'], ['nav'])
    """
    elements = collected(page, OutlinkElements)
    ids = _ids(page, elements.names)
    targets = _Targets(page, ids)
    names = ("target", "anchor", "rel", "kind", "position", "fragment", "times")
    links: dict[str, list[Any]] = {name: [] for name in names}
    cut, left_out = elements.left_out > 0, elements.left_out
    for (href, *rest), count in elements.found.items():
        found = targets.of(href)
        if found is None:
            continue
        if len(found[0]) > DEFAULT_MAX_URL:
            left_out += count
            continue
        place = found[1] if rest[2] == "link" else ""
        for name, value in zip(names, (found[0], *rest, place, count), strict=True):
            links[name].append(value)
    robots = ",".join(page.metas("robots")).lower().replace(" ", "").split(",")
    text = page.visible_text
    return {
        "outlinks": {**links, "left_out": left_out, "cut": cut},
        "ids": None if ids is None else sorted(ids),
        "nofollow": "nofollow" in robots or "none" in robots,
        "sketch": sketch(text),
        "lines": sorted({crc32(line.encode("utf-8", "replace")) for line in text.split("\n")})[:SKETCH_SIZE],
        "text_hash": blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest(),
    }


COLLECTORS = (OutlinkElements,)
