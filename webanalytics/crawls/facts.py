"""What a crawl knows besides its pages, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from webanalytics.audits.graph.site_links import normal
from webanalytics.audits.requests.resources import loaded_of_links, with_broken
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.candidates import Candidate, Skip
from webanalytics.crawls.scope import PAGE_KINDS
from webanalytics.runs.frames.link_table import (
    CHECKED,
    HOSTS,
    KINDS,
    SKIPPED,
    TRAPS,
    CrawlFacts,
    LinkTable,
    table,
)

GIVEN_UP = "host_given_up"
"""Key of the failure of a page whose host was not asked any more."""


def crawl_facts(
    admission: Admission,
    checked: Sequence[dict[str, Any]],
    hosts: Sequence[dict[str, Any]],
    soft: frozenset[str],
    stopped: str,
) -> CrawlFacts:
    """Return what is known when a crawl ends."""
    links = admission.links.table()
    skips = {url: known for url, known in admission.seen.items() if isinstance(known, Skip)}
    if admission.scope.external == "ignore":
        skips = {url: skip for url, skip in skips.items() if skip.reason != "external"}
    counts = _links_to(links, list(skips))
    trapped = Counter(skip.detail for skip in skips.values() if skip.reason == "trap")
    return CrawlFacts(
        links,
        table(
            SKIPPED,
            (
                {"url": url, **skip._asdict(), "links": count}
                for (url, skip), count in zip(skips.items(), counts, strict=True)
            ),
        ),
        table(CHECKED, [*admission.files, *checked]),
        table(TRAPS, admission.traps.rows(trapped)),
        table(HOSTS, hosts),
        tuple(admission.starts),
        soft,
        admission.scope.plain,
        stopped,
    )


def with_resources(frame: pd.DataFrame, facts: CrawlFacts) -> pd.DataFrame:
    """Return the pages of a crawl with what they load and do not get, where that was asked."""
    read = zip(frame["final_url"], frame["status"], strict=True)
    urls = [normal(url) if status == "ok" else None for url, status in read]
    loaded = loaded_of_links(facts.links, urls)
    pages = [None if url is None else page for url, page in zip(urls, loaded, strict=True)]
    return with_broken(frame, pages, facts.checked)


def to_check(admission: Admission) -> dict[str, str]:
    """Return the addresses that are asked for their status alone, with their kinds, in order of discovery."""
    scope, found = admission.scope, dict[str, str]()
    if scope.external == "check":
        skips = ((url, known) for url, known in admission.seen.items() if isinstance(known, Skip))
        found |= {url: "external" for url, skip in skips if skip.reason == "external"}
    if scope.resources == "check":
        links = admission.links.table()
        kinds = {KINDS.index(kind) for kind in KINDS if kind not in PAGE_KINDS}
        for target, kind in zip(links.target.tolist(), links.kind.tolist(), strict=True):
            if kind in kinds:
                found.setdefault(links.urls[target], KINDS[kind])
    asked = {row["url"] for row in admission.files}
    return {
        url: kind
        for url, kind in found.items()
        if url not in asked and not isinstance(admission.seen.get(url), Candidate)
    }


def given_up(frame: pd.DataFrame) -> Iterator[str]:
    """Yield what to say of each host of the pages that was given up."""
    rows = frame.loc[frame["error_key"] == GIVEN_UP, ["url", "final_url", "error"]]
    found: dict[str, list[str]] = {}
    for url, final, error in rows.itertuples(index=False, name=None):
        found.setdefault(urlsplit(final if isinstance(final, str) else url).netloc, []).append(error)
    for host, errors in found.items():
        pages = "1 page" if len(errors) == 1 else f"{len(errors):,} pages"
        yield f"{pages} of {host} could not be fetched. {errors[0]}"


def _links_to(links: LinkTable, urls: Sequence[str]) -> list[int]:
    """Return how many links lead to each address."""
    counts = np.bincount(links.target, minlength=len(links.urls))
    places = {url: place for place, url in enumerate(links.urls)}
    return [int(counts[places[url]]) if url in places else 0 for url in urls]
