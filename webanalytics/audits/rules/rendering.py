"""Rules for what scripts bring to a page or change on it, told from a browser's rendering of it.

AI crawlers and previews in social networks run no scripts, and search engines run them later than they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from webanalytics.audits.directives.robots import directives
from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import enumerated
from webanalytics.audits.site import Site

FEWEST = 20
"""Words that scripts must bring before their share counts: a date or a name in a menu is no content."""

_Entries = Sequence[Mapping[str, str]]


def _of(entries: _Entries | None, what: str) -> list[Mapping[str, str]]:
    return [entry for entry in entries or () if entry["what"] == what]


@PageByPage
def _content(site: Site, threshold: float) -> Iterator[Finding]:
    for row, sent, rendered, entries in site.read("words_without_scripts", "rendered_words", "rendering"):
        if sent is None or not rendered or rendered - sent < FEWEST or 100 * sent / rendered >= threshold:
            continue
        brought = [entry["rendered"] for entry in _of(entries, "text") if entry["rendered"]]
        yield Finding(row, round(100 * sent / rendered), " ".join(brought)[:300])


@PageByPage
def _directives(site: Site, _: Any) -> Iterator[Finding]:
    for row, entries in site.read("rendering"):
        found = [
            entry
            for entry in _of(entries, "robots")
            if ("noindex" in directives(entry["sent"])) != ("noindex" in directives(entry["rendered"]))
        ]
        found += _of(entries, "canonical")
        if found:
            shown = (
                f"{entry['what']}: {entry['sent'] or 'nothing'} as sent, "
                f"{entry['rendered'] or 'nothing'} after scripts"
                for entry in found
            )
            yield Finding(row, evidence="; ".join(shown))


def _each(what: str, show: Callable[[Mapping[str, str]], str]) -> Find:
    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, entries in site.read("rendering"):
            if found := [text for entry in _of(entries, what) if (text := show(entry))]:
                yield Finding(row, len(found), enumerated(found))

    return find


RULES = rules_of(
    __name__,
    {
        "content_only_rendered": _content,
        "links_only_rendered": _each("link", lambda entry: entry["rendered"]),
        "directives_changed_by_scripts": _directives,
        "console_errors": _each("console", lambda entry: entry["rendered"]),
        "rendering_failed_resources": _each(
            "failed", lambda entry: f"{entry['sent'][:200]} ({entry['rendered']})"
        ),
    },
)
