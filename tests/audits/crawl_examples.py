"""The crawls of examples of rules: what `webanalytics.crawl` would know of their pages.

The site of an example that needs a crawl is a table with ``pages`` (page records, as in the other examples),
``start``, and what the crawl found besides: rows of ``checked``, ``skipped`` and ``traps``, and the addresses of
pages in ``soft_404``.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from webanalytics.crawls.facts import with_missing_places
from webanalytics.page.facts.outlinks import analyse
from webanalytics.page.page import Page
from webanalytics.runs.frames.link_table import CHECKED, SKIPPED, TRAPS, CrawlFacts, Link, LinkTableBuilder
from webanalytics.runs.frames.schema import frame_of


def crawl_of(site: Mapping[str, Any]) -> CrawlFacts | None:
    """What a crawl of an example's site knows, None for a site without a start."""
    if "start" not in site:
        return None
    links, ids = LinkTableBuilder(), {}
    for record in site["pages"]:
        final = record.get("final_url", record["url"])
        for source, target in pairwise([*record.get("redirects", ()), final]):
            links.add(source, [Link(target, kind="redirect", position="http")])
        if record.get("http_status", 200) < 400:
            said = analyse(Page(record["html"], record["url"], final))
            columns = (said["outlinks"][name] for name in Link._fields)
            links.add(final, [Link(*cells) for cells in zip(*columns, strict=True)])
            ids[final] = np.array(said["ids"], np.uint32)
    return CrawlFacts(
        with_missing_places(links.table(), ids),
        frame_of(SKIPPED, site.get("skipped", ())),
        frame_of(CHECKED, site.get("checked", ())),
        frame_of(TRAPS, site.get("traps", ())),
        starts=(site["start"],),
        soft_404=frozenset(site.get("soft_404", ())),
    )
