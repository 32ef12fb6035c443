"""Rules about what a site says to AI services: only what contradicts itself, or cannot be read as meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.ai.access import use_frame
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.sources import AIPREF, CONTENT_SIGNALS, SCRIPTS, both
from webanalytics.audits.site import Site


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
            yield Finding(rows[url], None, f"{place}: {faults}"[:400], whole=True)


@page_by_page
def _script_only(site: Site, _: Any) -> Iterator[Finding]:
    for row, words, scripts in site.read("wordCount", "scripts"):
        if scripts and words is not None and words < 1:
            count = "1 script" if scripts == 1 else f"{scripts} scripts"
            yield Finding(row, scripts, f"No main text, and {count}.")


RULES = (
    Rule(
        name="content_signal_faults",
        title="Faults in Content-Signal or Content-Usage",
        category="sitemap",
        scope="host",
        type="warning",
        priority="low",
        explanation="What robots.txt or a header says about the use of the content by AI services cannot be "
        "read as it is meant. Both are drafts that few services read yet.",
        fix="Write each signal once, with one of its values, such as ai-train=no.",
        find=_signals,
        columns=("url",),
        measured="By the names and values of contentsignals.org and of draft-ietf-aipref-vocab, in the "
        "groups of robots.txt for all crawlers and in headers; once for each origin.",
        source=both(CONTENT_SIGNALS, AIPREF),
    ),
    Rule(
        name="content_by_scripts",
        title="Content that only scripts make",
        category="content",
        type="warning",
        explanation="Without scripts the page has no main text. Google runs scripts, later than it reads the "
        "page; most crawlers of AI services and of social networks do not run them.",
        fix="Send the content with the page: render it on the server, or in advance.",
        find=_script_only,
        columns=("wordCount", "scripts"),
        measured="The page has at least one script that browsers run, and its main text has no word.",
        source=SCRIPTS,
    ),
)
