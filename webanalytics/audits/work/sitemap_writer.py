"""A sitemap of the pages that may be indexed: its files, and what was left out with the reason.

The forms are those of https://www.sitemaps.org/protocol.html, and of Google's extensions for languages,
images, videos and news at https://developers.google.com/search/docs/crawling-indexing/sitemaps.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pandas as pd

from webanalytics.audits.directives.sitemap_dates import moment_of
from webanalytics.audits.graph.site_links import normal, origin
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import for_xml
from webanalytics.errors import ParameterError, WriteError
from webanalytics.page.structured.jsonld import flatten
from webanalytics.page.structured.offer import types_of
from webanalytics.runs.frames.output_files import new_file
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import is_web

MOST_ENTRIES = 50_000
MOST_BYTES = 52_428_800
"""Addresses and bytes of one file, without compression, by the protocol."""
LONGEST = 2_047
"""Characters of an address, by the protocol."""
MOST_IMAGES = 1_000
MOST_NEWS = 1_000
"""Images of a page, and articles of one file, by Google's extensions."""
NEWS_AGE = timedelta(days=2)
"""How old an article may be to be news, by the same."""
LONGEST_VIDEO = 28_800
FARTHEST_ZONE = timedelta(hours=14)
"""From UTC, by XML Schema."""
COMMON = 0.5
"""Share of a host's pages that have an image, above which it belongs to the layout."""
SMALLEST = 50
"""Width or height in pixels below which an image is an icon."""

COLUMNS: Mapping[str, Dtype] = {
    **{"url": "string", "file": "string", "reason": "string", "lastmod": "string", "lastmod_from": "string"},
    **{"alternates": "integer", "images": "integer", "videos": "integer", "news": "boolean"},
}
_SPACES = {
    "": "http://www.sitemaps.org/schemas/sitemap/0.9",
    "xhtml": "http://www.w3.org/1999/xhtml",
    "image": "http://www.google.com/schemas/sitemap-image/1.1",
    "video": "http://www.google.com/schemas/sitemap-video/1.1",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
}
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_OPEN = "<urlset {}>\n".format(
    " ".join(f'xmlns{":" * bool(name)}{name}="{space}"' for name, space in _SPACES.items())
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*")
_LANGUAGE_OF_NEWS = re.compile("zh-cn|zh-tw|[a-z]{2,3}")
"""Dates and codes of languages as the published schemas have them."""
_LENGTH = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")


class _Entry(NamedTuple):
    text: str
    """The element, with its line break."""
    row: dict[str, Any]


def write_sitemap(
    site: Site, read: datetime, folder: Path, base: str | None, compressed: bool
) -> pd.DataFrame:
    """Write the files, and return the frame of `Audit.write_sitemap`."""
    groups: dict[str, list[int]] = {}
    left: list[dict[str, Any]] = []
    for row, reason in _judged(site):
        if reason:
            left.append({"url": site.values("url")[row] or "", "reason": reason})
        else:
            groups.setdefault(str(origin(site.name(row))), []).append(row)
    if base is not None and (len(groups) > 1 or not is_web(str(base))):
        raise ParameterError.must_be("base_url", "an address in http or https, of an audit of one host")
    written: list[dict[str, Any]] = []
    hosts = Counter(place.split("//")[1] for place in groups)
    for place, rows in groups.items():
        host = place.split("//")[1]  # in http and in https it is two sites
        name = re.sub(r"[^\w.-]+", "_", host if hosts[host] == 1 else place)
        inside = folder if len(groups) == 1 else folder / name
        served = (base or place).rstrip("/") + "/"
        written += _write(_entries(site, rows, read), inside, served, compressed, folder)
    return frame_of(COLUMNS, [*written, *left])


def _judged(site: Site) -> Iterator[tuple[int, str]]:
    """Yield each row that stands for an address, and why that is not listed."""
    states = site.values("indexability")
    for row, name in enumerate(site.values("url")):
        moved = f"redirects to {site.name(row)}"
        if not site.addresses.first(row):
            if site.good[row]:
                yield row, "in the audit twice" if site.addresses.final[row] == normal(name) else moved
                continue
        elif site.indexable[row]:
            reason = "" if origin(site.name(row)) else "not an address of the web"
            reason = "a plain text" if row in site.texts else reason
            yield row, reason if len(site.name(row)) <= LONGEST else f"longer than {LONGEST:,} characters"
            continue
        yield row, moved if states[row] == "redirected" else str(states[row] or "not read")


def _write(
    entries: Iterable[_Entry], folder: Path, served: str, compressed: bool, top: Path
) -> list[dict[str, Any]]:
    """Write the files of one host, and return the rows of its entries."""
    parts = list(_parts(entries))
    suffix = ".xml.gz" if compressed else ".xml"
    names = [f"sitemap-{number}{suffix}" for number in range(1, len(parts) + 1)]
    if len(parts) == 1:
        names = [f"sitemap{suffix}"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError.at("folder", "a folder that can be written to", error) from None
    for name, part in zip(names, parts, strict=True):
        _to_file(folder / name, _OPEN, (entry.text for entry in part), "</urlset>\n")
    if len(parts) > 1:
        lines = (f"<sitemap><loc>{_text(served + name)}</loc></sitemap>\n" for name in names)
        _to_file(
            folder / "sitemap.xml", f'<sitemapindex xmlns="{_SPACES[""]}">\n', lines, "</sitemapindex>\n"
        )
    return [
        {**entry.row, "file": str((folder / name).relative_to(top))}
        for name, part in zip(names, parts, strict=True)
        for entry in part
    ]


def _parts(entries: Iterable[_Entry]) -> Iterator[list[_Entry]]:
    """Yield the entries of each file, by the limits of the protocol."""
    part: list[_Entry] = []
    size = news = 0
    spare = MOST_BYTES - 1_000  # for what stands around the entries
    for entry in entries:
        more = len(entry.text.encode())
        full = len(part) == MOST_ENTRIES or size + more > spare or (news == MOST_NEWS and entry.row["news"])
        if part and full:
            yield part
            part, size, news = [], 0, 0
        part.append(entry)
        size, news = size + more, news + entry.row["news"]
    if part:
        yield part


def _to_file(path: Path, head: str, lines: Iterable[str], end: str) -> None:
    with new_file(path, "folder") as temporary, temporary.open("wb") as file:
        # without name and time, so that equal sitemaps are equal files
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else nullcontext(file)
        with packed as content:
            content.writelines(line.encode() for line in chain([_HEAD, head], lines, [end]))


def _text(value: object) -> str:
    return escape(for_xml(str(value)), {'"': "&quot;", "'": "&apos;"})


def _element(name: str, value: object) -> str:
    return f"<{name}>{_text(value)}</{name}>"


def _entries(site: Site, rows: list[int], read: datetime) -> Iterator[_Entry]:
    """Yield the entries of the pages of one host."""
    listed = _listed_dates(site)
    pictures = _pictures(site, rows)
    names = ("date", "headers", "fetched_at", "jsonld", "publisher", "headline", "title", "language")
    columns = [site.values(name) for name in names]
    for row in rows:
        known = dict(zip(names, (column[row] for column in columns), strict=True))
        url = site.name(row)
        changed, source = _changed(known, listed.get(normal(url) or url, ""), read)
        videos, news = list(_videos(known)), _news(known, read)
        named = site.alternates.get(row, ())
        alternates = [one for one in named if _LANGUAGE.fullmatch(one[0]) and origin(one[1])]
        parts = [
            _element("loc", url),
            _element("lastmod", changed) if changed else "",
            *(
                f'<xhtml:link rel="alternate" hreflang="{_text(language)}" href="{_text(address)}"/>'
                for language, address in alternates
            ),
            *(f"<image:image>{_element('image:loc', image)}</image:image>" for image in pictures[row]),
            *videos,
            news,
        ]
        counts = {"alternates": len(alternates), "images": len(pictures[row]), "videos": len(videos)}
        told = {"url": url, "reason": "", "lastmod": changed or None, "lastmod_from": source or None}
        yield _Entry(f"<url>{''.join(parts)}</url>\n", {**told, **counts, "news": bool(news)})


def _listed_dates(site: Site) -> dict[str, str]:
    """Return the dates that the site's own sitemap gives."""
    if site.sitemap is None or "lastmod" not in site.sitemap:
        return {}
    rows = zip(site.sitemap["url"].tolist(), site.sitemap["lastmod"].tolist(), strict=True)
    return {normal(url) or url: date for url, date in rows if isinstance(url, str) and isinstance(date, str)}


def _changed(known: Mapping[str, Any], listed: str, read: datetime) -> tuple[str, str]:
    """Return when a page was last changed, and who says so: the page, its sitemap, its header; '' if nobody.

    A header that names the time of the answer is the server's clock, and a date to come is nobody's.
    """
    said = known["date"].get("modified") if isinstance(known["date"], dict) else None
    for text, source in ((said, "page"), (listed, "sitemap")):
        moment = moment_of(text) if isinstance(text, str) else None
        if moment is not None and moment <= read:
            return _date(str(text), moment), source
    header = re.search(r"(?im)^last-modified:(.+)$", known["headers"] or "")
    moment = moment_of(header[1]) if header else None
    fetched = moment_of(known["fetched_at"] or "") or read
    if moment is None or moment > fetched - timedelta(hours=1):
        return "", ""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "header"


def _date(text: str, moment: datetime) -> str:
    """Return a date as it stands where a schema takes it, else in that form: years and minutes are none."""
    if abs(moment.utcoffset() or timedelta(0)) > FARTHEST_ZONE:
        return moment.astimezone(UTC).isoformat()
    if _DATE.fullmatch(text.strip()):
        return text.strip()
    return moment.isoformat() if ":" in text else moment.date().isoformat()


def _pictures(site: Site, rows: list[int]) -> dict[int, list[str]]:
    """Return the images of each page, without icons and what most pages have."""
    cells = site.values("imgTags")
    found = {
        row: list(dict.fromkeys(src for image in cells[row] or () if (src := _picture(image))))
        for row in rows
    }
    counts = Counter(image for images in found.values() for image in images)
    common = {image for image, count in counts.items() if count > max(2, COMMON * len(rows))}
    return {row: [one for one in images if one not in common][:MOST_IMAGES] for row, images in found.items()}


def _picture(image: Mapping[str, Any]) -> str | None:
    """Return the address of an image that is no icon, None for another one and for no address."""
    src = normal(image.get("src"))
    sizes = (str(image.get(name) or "") for name in ("width", "height"))
    small = any(size.isdecimal() and int(size[:6]) < SMALLEST for size in sizes)
    return None if src is None or len(src) > LONGEST or small else src


def _nested(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the items of structured data, those inside others too."""
    for item in flatten(value):
        yield item
        if depth < 4:
            for part in item.values():
                if isinstance(part, (dict, list)):
                    yield from _nested(part, depth + 1)


def _first(value: Any, *names: str) -> str:
    """Return the first text of a value: of a list its first part, of an object what it is called."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = next((value[name] for name in names if isinstance(value.get(name), str)), None)
    return value.strip() if isinstance(value, str) else ""


def _videos(known: Mapping[str, Any]) -> Iterator[str]:
    """Yield the elements of the videos that have all that the extension asks for."""
    seen = set()
    for item in _nested(known["jsonld"] or []):
        if "VideoObject" not in types_of(item):
            continue
        image = normal(_first(item.get("thumbnailUrl"), "url"))
        title, about = _first(item.get("name")), _first(item.get("description"))
        known_as = {"video:content_loc": "contentUrl", "video:player_loc": "embedUrl"}
        places = {tag: place for tag, name in known_as.items() if (place := normal(_first(item.get(name))))}
        if not (image and places and title and about) or image in seen:
            continue
        seen.add(image)
        length, shown = _seconds(item.get("duration")), _first(item.get("uploadDate"))
        fields = {
            "video:thumbnail_loc": image,
            "video:title": title[:100],
            "video:description": about[:2_048],
            **places,
            **({"video:duration": length} if 1 <= length <= LONGEST_VIDEO else {}),
            **({"video:publication_date": _date(shown, day)} if (day := moment_of(shown)) else {}),
        }
        yield f"<video:video>{''.join(_element(*field) for field in fields.items())}</video:video>"


def _seconds(duration: Any) -> int:
    found = _LENGTH.fullmatch(duration) if isinstance(duration, str) and len(duration) < 40 else None
    if found is None:
        return 0
    units = zip((86_400, 3_600, 60, 1), found.groups(), strict=True)
    return math.floor(sum(unit * float(count or 0) for unit, count in units))


def _news(known: Mapping[str, Any], read: datetime) -> str:
    """Return the element of an article of the last two days whose publisher, date and language are known."""
    kinds = {kind for item in _nested(known["jsonld"] or []) for kind in types_of(item)}
    date = known["date"].get("published") if isinstance(known["date"], dict) else None
    moment = moment_of(date) if isinstance(date, str) else None
    name = _first(known["publisher"], "name")
    title, said = known["headline"] or known["title"], re.split("[-_]", (known["language"] or "").lower())
    code = "-".join(said) if said in (["zh", "cn"], ["zh", "tw"]) else said[0]
    known_code = _LANGUAGE_OF_NEWS.fullmatch(code)
    if not (kinds & {"NewsArticle", "ReportageNewsArticle"} and moment and name and title and known_code):
        return ""
    if not timedelta(0) <= read - moment <= NEWS_AGE:
        return ""
    publication = _element("news:name", name) + _element("news:language", code)
    return (
        f"<news:news><news:publication>{publication}</news:publication>"
        f"{_element('news:publication_date', _date(str(date), moment))}"
        f"{_element('news:title', title)}</news:news>"
    )
