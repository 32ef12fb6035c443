"""Rules for the structured data of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import enumerated
from webanalytics.audits.site import Site


def _faults(kind: str) -> Find:

    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, faults in site.read("structured_errors"):
            problems = [
                f"{fault['type']}: {fault['problem']}" for fault in faults or () if fault.get("kind") == kind
            ]
            if problems:
                yield Finding(row, len(problems), enumerated(problems))

    return find


_WANTED = {
    "article": "an article: no Article",
    "forum": "a forum: no DiscussionForumPosting or QAPage",
    "product": "a product: no Product",
}
"""What structured data is wanted of a type of page, as evidence says it."""
_SUBJECTS = (
    "AboutPage Article* CollectionPage* ContactPage Course* Event* FAQPage HowTo* ItemPage JobPosting "
    "Product* ProfilePage QAPage* Question* Recipe* Review* Service* SoftwareApplication*"
)
"""Types that say what a page is about; all others may stand on every page of a site."""


@PageByPage
def _missing(site: Site, _: Any) -> Iterator[Finding]:
    from webanalytics.page.structured.requirements import types_named  # it takes the parser along

    for row, types, faults, kind in site.read("structured_types", "structured_errors", "page_type"):
        is_broken = any(fault.get("kind") == "broken" for fault in faults or ())
        if types is None or is_broken or (not types and faults):
            continue
        if kind in _WANTED and types_named(_SUBJECTS).isdisjoint(types):
            others = f", but {', '.join(types[:8])}" if types else ""
            yield Finding(row, evidence=f"The page reads as {_WANTED[kind]}{others}")
        elif not types:
            yield Finding(row)


RULES = rules_of(
    __name__,
    {
        "structured_data_broken": _faults("broken"),
        "structured_data_incomplete": _faults("required"),
        "structured_data_invalid": _faults("value"),
        "structured_data_unknown": _faults("unknown"),
        "structured_data_recommended": _faults("recommended"),
        "structured_data_missing": _missing,
    },
)
