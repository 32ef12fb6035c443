"""Rules for the title and the meta description, which search results show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import above, below, empty, listed, outside_head
from webanalytics.audits.site import Site


@PageByPage
def _same_as_h1(site: Site, _: Any) -> Iterator[Finding]:
    for row, title, headings in site.read("title", "headings"):
        wanted = (title or "").strip().casefold()
        for heading in headings or ():
            if heading["level"] == "h1" and (text := heading["text"].strip()):
                if wanted and text.casefold() == wanted:
                    yield Finding(row, evidence=text)
                break


RULES = rules_of(
    __name__,
    {
        "title_missing": empty("title"),
        "title_too_long": above("title_pixels", "title", beside="title_length"),
        "title_too_short": below("title_pixels", "title", beside="title_length"),
        "title_same_as_h1": _same_as_h1,
        "title_multiple": listed("titles", 2),
        "title_outside_head": outside_head("title"),
        "description_missing": empty("description"),
        "description_too_long": above("description_pixels", "description", beside="description_length"),
        "description_too_short": below("description_pixels", "description", beside="description_length"),
        "description_multiple": listed("descriptions", 2),
        "description_outside_head": outside_head("description"),
    },
)
