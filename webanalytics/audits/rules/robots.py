"""Rules about what robots.txt closes to search engines, and what a site says to AI services."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from webanalytics.audits.ai.access import blocked, may_read, use_frame
from webanalytics.audits.graph.site_links import listed
from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.site import Site


def _blocked(site: Site, _: Any, crawler: str, others: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the pages closed to a crawler, but not to all, nor to others: each is named by one rule."""
    told = {row for other in others for row, _verdict in blocked(site, other)}
    for row, verdict in blocked(site, crawler):
        if row not in told and site.fetches[row].problem != "blocked by robots.txt":
            yield Finding(row, None, f"robots.txt, line {verdict.line}: {verdict.rule}")


def _loaded(site: Site) -> Iterator[tuple[int, set[str]]]:
    """Yield what each page loads: images, scripts and style sheets."""
    for row, tags, resources in site.read("imgTags", "resources"):
        found = {str(tag.get("src") or "") for tag in tags or () if isinstance(tag, dict)}
        found.update(resources or ())
        yield row, {url for url in found if url.startswith(("http://", "https://"))}


def _blocked_resources(site: Site, _: Any) -> Iterator[Finding]:
    if not site.robots_files:
        return
    asked: set[str] = set()
    closed: set[str] = set()
    for row, urls in _loaded(site):
        new = urls - asked
        asked |= new
        closed.update(url for url, verdict in may_read(site, "Googlebot", new) if verdict.allowed is False)
        if found := sorted(urls & closed):
            yield Finding(row, len(found), listed(found))


def _signals(site: Site, _: Any) -> Iterator[Finding]:
    if not site.robots_files:
        return
    rows = site.row_of
    seen: set[str] = set()
    uses = use_frame(site)
    for url, faults in zip(uses["url"], uses["signal_faults"], strict=True):
        place = "/".join(str(url).split("/", 3)[:3])
        if faults and place not in seen and url in rows:
            seen.add(place)  # robots.txt speaks for all pages of its origin: it is named once
            yield Finding(rows[url], None, f"{place}: {faults}", whole=True)


@PageByPage
def _script_only(site: Site, _: Any) -> Iterator[Finding]:
    for row, words, scripts in site.read("wordCount", "scripts"):
        if scripts and words is not None and words < 1:
            count = "1 script" if scripts == 1 else f"{scripts} scripts"
            yield Finding(row, scripts, f"No main text, and {count}.")


RULES = rules_of(
    __name__,
    {
        "blocked_for_googlebot": partial(_blocked, crawler="Googlebot"),
        "blocked_for_bingbot": partial(_blocked, crawler="bingbot", others=("Googlebot",)),
        "blocked_resources": _blocked_resources,
        "content_signal_faults": _signals,
        "content_by_scripts": _script_only,
    },
)
