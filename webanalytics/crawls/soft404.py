"""Pages that say "not found" with status 200, known by what a site answers to an address that cannot exist.

A crawl calls `soft_404s` when its pages are read; it works for the pages of any audit too.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import pandas as pd

from webanalytics.audits.content.duplicates import jaccard, shingles
from webanalytics.audits.content.words import words
from webanalytics.core.messages import ADVICE
from webanalytics.errors import RowError
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.fetching.response import PASSWORD
from webanalytics.runs.storage.lazy_columns import values_of_column
from webanalytics.urls import HOME_PATHS, parts_of

ALIKE = 0.85
"""Similarity of texts from which two pages are the same one: shared among all shingles of three words."""
ALIKE_WITH_TITLE = 0.6
"""The same for pages whose titles are equal."""
MOST_ORIGINS = 20
"""Origins that are asked; those with the most pages first."""
MOST_FOLDERS = 10
"""Folders of one origin that are asked besides."""
LONGEST_ADDRESSES = 1_000
"""Characters by which equal answers may differ in length, for the addresses that they repeat."""
MOST_BYTES = 500_000
"""Bytes of an answer that are read."""

_LOG_IN = re.compile(r"(?i)\b(?:log[- ]?[io]n|sign[- ]?in|anmeld\w+|connexion|iniciar sesi[oó]n)\b")

Walls = dict[str, set[str]]
"""Sentences on pages that show a page to log in, each with their addresses."""


class Seen(NamedTuple):
    """A page that was read with status 200: its address, where it ended, its title, main and visible text."""

    url: str
    final_url: str
    title: str
    text: str
    visible: str = ""


@dataclass(frozen=True)
class SeenPages(Iterable[Seen]):
    """Pages that were read; of those in a folder, titles and texts are read each time anew."""

    urls: Sequence[str]
    final_urls: Sequence[str]
    texts: Callable[[Sequence[int]], Iterator[tuple[str, str, str]]]
    places: Sequence[int]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Seen]:
        for place, said in zip(self.places, self.texts(self.places), strict=True):
            yield Seen(self.urls[place], self.final_urls[place], *said)

    def only(self, is_wanted: Callable[[str], bool]) -> SeenPages:
        """Return those that ended where it is wanted."""
        return replace(self, places=[place for place in self.places if is_wanted(self.final_urls[place])])

    def by_origin(self) -> dict[str, SeenPages]:
        """Return the pages of each origin."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for place in self.places:
            if (origin := _origin(self.final_urls[place])) is not None:
                found[origin].append(place)
        return {origin: replace(self, places=places) for origin, places in found.items()}


@dataclass(frozen=True)
class Probe:
    """What a place answers to an address that cannot exist; `missing` where that is HTTP 404 or 410."""

    place: str
    answer: Seen
    missing: bool = False
    asks: bool = False  # whether it is a page to log in

    def matches(self, page: Seen) -> bool:
        """Return whether a page is the same answer; a right one is compared word for word."""
        if self.missing:
            longer = abs(len(page.visible) - len(self.answer.visible))
            ours, theirs = self._said_by(page, "visible") if longer <= LONGEST_ADDRESSES else ("", "")
            return bool(ours) and ours == theirs
        end = self.answer.final_url
        if end != self.answer.url and page.final_url == end:
            # Both lead to one page, such as the home page, which itself and under its other names is none.
            return page.url != end and not HOME_PATHS.fullmatch(urlsplit(page.url).path)
        ours, theirs = self._said_by(page, "text")
        if ours == theirs:
            return bool(ours) or self.answer.title == page.title
        alike = jaccard(shingles(ours), shingles(theirs))
        return alike >= (ALIKE_WITH_TITLE if self.answer.title == page.title else ALIKE)

    def _said_by(self, page: Seen, text: Literal["text", "visible"]) -> list[str]:
        """Return the words of the answer and of a page, those of their addresses and numbers left out."""
        own: set[str] = set()
        for url in (self.answer.url, page.url):
            parts = urlsplit(url)
            own.update(words(re.sub(r"[/_.=&-]+", " ", unquote(f"{parts.path} {parts.query}"))))
        return [
            " ".join(word for word in words(getattr(said, text)) if word not in own and not word.isdecimal())
            for said in (self.answer, page)
        ]


def impossible(place: str) -> str:
    """Return an address at a place that cannot exist; the same each time.

    >>> impossible("https://example.org/")
    'https://example.org/no-such-page-6ec7e91c7656bfb8'
    """
    return f"{place}no-such-page-{blake2b(place.encode(), digest_size=8).hexdigest()}"


async def probe(fetcher: Fetcher, place: str) -> Probe | None:
    """Ask an origin or a folder, which end in a slash, for an address that cannot exist."""
    found = await _asked(fetcher, impossible(place))
    return None if found is None else replace(found, place=place)


async def _asked(fetcher: Fetcher, url: str) -> Probe | None:
    """Return what an address answers, None for an error other than a page that says that nothing is there."""
    try:
        answer = await fetcher.fetch(url, max_bytes=MOST_BYTES, error_pages=True)
        content: bytes | str = answer.content
        end, kind, missing = answer.final_url, answer.content_type, False
        asks = PASSWORD.search(answer.content.lower()) is not None
    except FetchError as error:
        if error.http_status not in (404, 410) or not error.content:
            return None
        content, end, missing, asks = error.content, error.final_url or url, True, False
        kind = "" if error.headers is None else error.headers.get("Content-Type", "")
    try:
        said = await asyncio.to_thread(_read, content, url, end, kind)
        return Probe(url, said, missing, asks and _LOG_IN.search(said.title) is not None)
    except RowError:
        return None


async def _shown(fetcher: Fetcher, url: str) -> Seen | None:
    found = await _asked(fetcher, url)
    return None if found is None or found.missing else found.answer


def _read(content: bytes | str, url: str, final_url: str, content_type: str) -> Seen:
    from webanalytics.page.page import Page  # parsers and extractors take time to load
    from webanalytics.page.text.main import main_text

    page = Page(content, url, final_url, content_type)
    return Seen(url, final_url, page.title, main_text(page), page.visible_text)


async def soft_404s(fetcher: Fetcher, pages: SeenPages, walls: Walls) -> frozenset[str]:
    """Return the addresses, as given, of the pages that say "not found" with status 200.

    Where such an address shows a page to log in, pages like it are no missing ones, but added to `walls`.

    Each origin is asked for an address that cannot exist, and so are folders in which several pages have one
    title or one text: some sites answer 404 in general and 200 in their shop. Nothing can be said of the
    pages of a place where every address gives one and the same page, real ones too, as where scripts make it.

    Notes
    -----
    After Bar-Yossef, Broder, Kumar and Tomkins (2004), "Sic transit gloria telae: towards an understanding of
    the web's decay", who compare a page with the answer to a random address in the same folder. Words of
    the address itself do not count, as many such pages repeat it.
    """
    origins = pages.by_origin()
    chosen = sorted(origins, key=lambda origin: -len(origins[origin]))[:MOST_ORIGINS]
    found = await asyncio.gather(*(_of_origin(fetcher, origin, origins[origin], walls) for origin in chosen))
    return frozenset().union(*found)


async def _of_origin(fetcher: Fetcher, origin: str, pages: SeenPages, walls: Walls) -> set[str]:
    home = f"{origin}/"
    everywhere = await probe(fetcher, home)
    soft: set[str] = set()
    if everywhere is not None:
        known = next(iter(pages.only(home.__eq__)), None) or await _shown(fetcher, home)
        if known is not None and everywhere.answer.final_url != home and everywhere.matches(known):
            return set()
        soft.update(await asyncio.to_thread(_matching, everywhere, pages))
        if everywhere.asks:
            if len(soft) > 1:  # one may be the page to log in itself
                said = f"{len(soft):,} pages of {urlsplit(origin).netloc} show a page to log in."
                walls[f"{said} {ADVICE['wall'].effect}."] = soft
            return set()
        if not everywhere.missing:
            return soft
    suspected = await asyncio.to_thread(suspects, pages)
    places = [place for place in suspected if place != home][:MOST_FOLDERS]
    probes = await asyncio.gather(*(probe(fetcher, place) for place in places))
    for place, found in zip(places, probes, strict=True):
        if found is None:
            continue
        inside = pages.only(lambda url, place=place: url.startswith(place))  # type: ignore[misc]
        alike = await asyncio.to_thread(_matching, found, inside)
        own = {end for end in alike.values() if end.partition("?")[0] == place}
        if own and place not in own:  # under other queries; what does it say without one?
            known = await _shown(fetcher, place)
            own = own if known is not None and found.matches(known) else set()
        if not own:
            soft.update(alike)
    return soft


def _matching(found: Probe, pages: Iterable[Seen]) -> dict[str, str]:
    """Return the addresses of the pages that are the same answer, with those where they ended."""
    return {page.url: page.final_url for page in pages if found.matches(page)}


def suspects(pages: Iterable[Seen]) -> list[str]:
    """Return the folders in which several pages have one title or one text, those with the most first.

    >>> pages = [Seen(f"http://a.example/b/{n}", f"http://a.example/b/{n}", "Sold out", "") for n in (1, 2)]
    >>> suspects([*pages, Seen("http://a.example/c/1", "http://a.example/c/1", "Tea", "")])
    ['http://a.example/b/']
    """
    alike: Counter[tuple[str, str, str | bytes]] = Counter()
    for page in pages:
        folder = page.final_url.partition("?")[0].rpartition("/")[0] + "/"
        alike[folder, "title", page.title] += 1
        if page.text:
            alike[folder, "text", blake2b(page.text.encode(errors="replace"), digest_size=16).digest()] += 1
    folders: Counter[str] = Counter()
    for (folder, _, _), count in alike.items():
        if count > 1:
            folders[folder] = max(folders[folder], count)
    return [folder for folder, _ in folders.most_common()]


def _origin(url: str) -> str | None:
    parts = parts_of(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") and parts.netloc else None


def seen_in(frame: pd.DataFrame) -> SeenPages:
    """Return the pages of an audit's frame that were read."""
    read = frame[(frame["status"] == "ok").to_numpy(bool)]
    urls = list(_texts(read["url"]))
    ends = [end or url for end, url in zip(_texts(read["final_url"]), urls, strict=True)]

    def said(places: Sequence[int]) -> Iterator[tuple[str, str, str]]:
        chosen = read[["title", "text", "visible_text"]].iloc[list(places)]
        return zip(*(_texts(chosen[name]) for name in chosen), strict=True)

    return SeenPages(urls, ends, said, range(len(urls)))


def _texts(column: pd.Series) -> Iterator[str]:
    return (value if isinstance(value, str) else "" for value in values_of_column(column))
