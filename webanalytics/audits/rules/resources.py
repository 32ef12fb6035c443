"""Rules for what a page loads: images, scripts and style sheets that do not answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find, enumerated
from webanalytics.audits.rules.sources import rfc
from webanalytics.audits.site import Site


def _broken(kind: str) -> Find:
    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, resources in site.read("broken_resources"):
            found = [item for item in resources or () if item["kind"] == kind]
            if found:
                shown = (f"{item['url'][:200]} ({item['reason']})" for item in found)
                yield Finding(row, len(found), enumerated(shown))

    return find


_rule = partial(
    Rule,
    priority="high",
    columns=("broken_resources",),
    measured="Each address that the page loads is asked once, by HEAD and, where that fails, by GET. Those "
    "count that are gone (404, 410, no such host) or fail (another error, no connection); a refusal "
    "does not.",
    source=rfc(9110, "15.5 and 15.6 (client and server errors)"),
)

RULES = (
    _rule(
        name="broken_image",
        title="Broken images",
        category="images",
        explanation="The page shows images whose addresses do not answer: visitors see a gap.",
        fix="Correct the addresses of the images, or remove them.",
        find=_broken("image"),
    ),
    _rule(
        name="broken_script",
        title="Broken scripts",
        category="html",
        explanation="The page loads scripts whose addresses do not answer, so that parts of it may not work.",
        fix="Correct the addresses of the scripts, or remove them.",
        find=_broken("script"),
    ),
    _rule(
        name="broken_stylesheet",
        title="Broken style sheets",
        category="html",
        explanation="The page loads style sheets whose addresses do not answer, and looks broken.",
        fix="Correct the addresses of the style sheets, or remove them.",
        find=_broken("stylesheet"),
    ),
)
