"""Rules about sitemaps: which pages they name, and their files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pandas as pd

from webanalytics.audits.directives.sitemap_dates import day_of, moment_of
from webanalytics.audits.graph.site_links import listed, normal, origin
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.rules.crawl import later_pages
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.links import unlinked
from webanalytics.audits.site import Site
from webanalytics.runs.frames.sitemap import sitemap_files


def _listed(site: Site) -> Iterator[int]:
    return (row for row, inside in enumerate(site.values("in_sitemap")) if inside)


def _not_indexable(site: Site, _: Any) -> Iterator[Finding]:
    reasons = site.values("indexability")
    for row in _listed(site):
        if reasons[row] in ("noindex", "canonicalised", "blocked by robots.txt"):
            yield Finding(row, reasons[row], f"In the sitemap, but not indexable: {reasons[row]}.")


def _failing(site: Site, _: Any) -> Iterator[Finding]:
    for row in _listed(site):
        target = site.find(site.values("url")[row])
        fault = "" if target is None else site.fault(target)
        if fault:
            yield Finding(row, None, f"In the sitemap, but {fault}.")


def _not_listed(site: Site, _: Any) -> Iterator[Finding]:
    listing, later = site.values("in_sitemap"), later_pages(site)
    for row in site.distinct:
        if listing[row] is not None and not listing[row] and row not in later:
            yield Finding(row)


def _orphan(site: Site, _: Any) -> Iterator[Finding]:
    listing = site.values("in_sitemap")
    return (finding for finding in unlinked(site) if listing[finding.row])


def _homes(site: Site) -> dict[str, int]:
    """Return the page that stands for each origin: its home page, else its first one."""
    found: dict[str, int] = {}
    for row, url in enumerate(site.addresses.requested):
        place = origin(url)
        if place is not None and (place not in found or url == f"{place}/"):
            found[place] = row
    return found


def _robots(site: Site, _: Any) -> Iterator[Finding]:
    chosen = _homes(site)
    for place, problems in site.robots.items():
        row = chosen.get(origin(place) or place, -1)
        if problems and row >= 0:
            yield Finding(row, len(problems), f"{place}/robots.txt: {' '.join(problems)}", whole=True)


LARGEST_FILE = 52_428_800
"""Bytes of a sitemap without compression."""

Entry = dict[str, Any]


def _entries(site: Site) -> dict[int, list[Entry]]:
    """Return the entries of the sitemap of each page of the audit; found once."""

    def find() -> dict[int, list[Entry]]:
        found: dict[int, list[Entry]] = {}
        for entry in _all(site):
            if (target := site.find(entry["url"])) is not None:
                found.setdefault(target.row, []).append(entry)
        return found

    made: dict[int, list[Entry]] = site.once("sitemap entries", find)
    return made


def _all(site: Site) -> Iterator[Entry]:
    """Yield the entries of all sitemaps, with empty texts for what they do not say."""
    found = pd.DataFrame() if site.sitemap is None else site.sitemap
    names = ("url", "sitemap", "lastmod", "extension_faults")
    cells = {name: found[name].tolist() for name in names if name in found}
    for values in zip(*cells.values(), strict=True):
        texts = (value if isinstance(value, str) else "" for value in values)
        yield dict(zip(cells, texts, strict=True))


def _files(site: Site) -> Iterable[Mapping[Any, Any]]:
    return () if site.sitemap is None else sitemap_files(site.sitemap).to_dict("records")


def _rows_of_files(site: Site) -> dict[str, int]:
    """Return the page that stands for each sitemap: the home page of its origin, else its first page."""
    first: dict[str, int] = {}
    homes = _homes(site)
    for row, entries in _entries(site).items():
        for entry in entries:
            first[entry["sitemap"]] = min(row, first.get(entry["sitemap"], row))
    places = {row["url"]: origin(row["url"]) for row in _files(site)}
    return first | {file: homes[place] for file, place in places.items() if place in homes}


def _by_page(site: Site, files: list[tuple[str, Any, str]]) -> Iterator[Finding]:
    """Yield one finding for each page that stands for some files."""
    rows = _rows_of_files(site)
    found: dict[int, list[tuple[Any, str]]] = {}
    for url, value, evidence in files:
        if url in rows:
            found.setdefault(rows[url], []).append((value, evidence))
    for row, items in sorted(found.items()):
        more = f" And {len(items) - 3:,} more." if len(items) > 3 else ""
        yield Finding(row, items[0][0], " ".join(evidence for _, evidence in items[:3]) + more)


def _too_large(site: Site, threshold: float) -> Iterator[Finding]:
    large = []
    for row in _files(site):
        count = int(row["entries"]) + int(row["sitemaps"])
        if count > threshold:
            large.append((row["url"], count, f"{row['url']} lists {count:,} addresses."))
        elif row["bytes"] > LARGEST_FILE or row["error_key"] == "too_large":
            large.append((row["url"], int(row["bytes"]), f"{row['url']} has more than 50 MB."))
    return _by_page(site, large)


def _own_hosts(site: Site) -> dict[str, set[str]]:
    """Return the sitemaps that the robots.txt of each origin names: those may stand on another host."""
    return {
        origin(place) or place: {normal(url) or url for url in copy.file.sitemaps}
        for place, copy in site.robots_files.items()
    }


def _astray(entry: Entry, part: str, allowed: Mapping[str, set[str]]) -> str:
    """Return the origin of a page whose sitemap is of another host, or scheme, and not named by its own."""
    page, file = origin(entry["url"]), origin(entry["sitemap"])
    if page is None or file is None or page == file:
        return ""
    same_host = page.partition("://")[2] == file.partition("://")[2]
    named = not same_host and normal(entry["sitemap"]) in allowed.get(page, ())
    return page if same_host == (part == "scheme") and not named else ""


def _elsewhere(site: Site, _: Any, part: str) -> Iterator[Finding]:
    allowed, pages = _own_hosts(site), _entries(site)
    for row, entries in pages.items():
        for entry in entries:
            if page := _astray(entry, part, allowed):
                yield Finding(row, page, f"Listed in {entry['sitemap']}")
                break
    counts: dict[str, Counter[str]] = {}
    for entry in () if pages else _all(site):
        if entry["url"]:
            counts.setdefault(entry["sitemap"], Counter())[_astray(entry, part, allowed)] += 1
    files = [
        (file, found.total(), f"{file} lists addresses of {listed(found)} alone: {found.total():,}.")
        for file, found in counts.items()
        if "" not in found
    ]
    yield from _by_page(site, files)


def _repeated(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in _entries(site).items():
        same: dict[str, list[str]] = {}
        for entry in entries:
            same.setdefault(normal(entry["url"]) or entry["url"], []).append(entry["sitemap"])
        most = max(same.values(), key=len)
        if len(most) > 1:
            files = dict.fromkeys(most)
            where = listed(files) if len(files) > 1 else f"{most[0]}, {len(most)} times"
            yield Finding(row, len(most), f"Listed in {where}.")


def _now(site: Site) -> datetime:
    """Return when the sitemaps were read, or now."""
    made = {} if site.sitemap is None else site.sitemap.attrs.get("webanalytics", {})
    return moment_of(str(made.get("date") or "")) or datetime.now(UTC)


def _future(site: Site, _: Any) -> Iterator[Finding]:
    limit = _now(site) + timedelta(days=1)  # a day in another zone may have begun already
    for row, entries in _entries(site).items():
        for entry in entries:
            moment = moment_of(entry.get("lastmod", ""))
            if moment is not None and moment > limit:
                yield Finding(row, entry["lastmod"], f"{entry['lastmod']} in {entry['sitemap']}")
                break


def _invalid(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in _entries(site).items():
        for entry in entries:
            said = entry.get("lastmod", "")
            if said and moment_of(said) is None:
                yield Finding(row, said[:60], f'"{said[:60]}" in {entry["sitemap"]}')
                break


def _always_today(site: Site, threshold: float) -> Iterator[Finding]:
    read = _now(site)
    days: dict[str, list[str]] = {}
    for entry in _all(site):
        if said := entry.get("lastmod"):
            days.setdefault(entry["sitemap"], []).append(day_of(said))
    today = {(read + timedelta(hours=hours)).date().isoformat() for hours in (-14, 0, 14)}
    fresh = [
        (file, len(found), f"{file}: all {len(found):,} dates are {found[0]}, the day on which it was read.")
        for file, found in days.items()
        if len(found) >= threshold and len(set(found)) == 1 and found[0] in today
    ]
    return _by_page(site, fresh)


def _unnamed(site: Site, _: Any) -> Iterator[Finding]:
    allowed = _own_hosts(site)
    known = {origin(place) for place, copy in site.robots_files.items() if copy.is_known}
    named = set().union(*allowed.values()) if allowed else set()
    unnamed = [
        (row["url"], None, f"{row['url']} is not in the robots.txt of its host.")
        for row in _files(site)
        if row["source"] == "given"
        and not row["url"].endswith("/robots.txt")
        and origin(row["url"]) in known
        and (normal(row["url"]) or row["url"]) not in named
    ]
    return _by_page(site, unnamed)


def _extensions(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in _entries(site).items():
        faults = [entry for entry in entries if entry.get("extension_faults")]
        if faults:
            first = faults[0]
            yield Finding(row, len(faults), f"{first['extension_faults']} ({first['sitemap']})")


RULES = rules_of(
    __name__,
    {
        "sitemap_not_indexable": _not_indexable,
        "sitemap_failing": _failing,
        "sitemap_missing_page": _not_listed,
        "sitemap_orphan": _orphan,
        "robots_txt_problems": _robots,
        "sitemap_too_large": _too_large,
        "sitemap_other_host": partial(_elsewhere, part="host"),
        "sitemap_other_scheme": partial(_elsewhere, part="scheme"),
        "sitemap_repeated": _repeated,
        "sitemap_date_in_future": _future,
        "sitemap_date_invalid": _invalid,
        "sitemap_date_always_today": _always_today,
        "sitemap_not_in_robots": _unnamed,
        "sitemap_extension_faults": _extensions,
    },
)
