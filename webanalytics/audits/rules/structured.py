"""Rules for the structured data of a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find, enumerated
from webanalytics.audits.site import Site


def _faults(kind: str) -> Find:
    """Return the search for pages with faults of a kind."""

    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, faults in site.read("structured_errors"):
            problems = [
                f"{fault['type']}: {fault['problem']}" for fault in faults or () if fault.get("kind") == kind
            ]
            if problems:
                yield Finding(row, len(problems), enumerated(problems))

    return find


@page_by_page
def _missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, types, faults in site.read("structured_types", "structured_errors"):
        if types is not None and not types and not faults:
            yield Finding(row)


_rule = partial(Rule, category="structured data")

RULES = (
    _rule(
        name="structured_data_broken",
        title="Structured data that does not parse",
        explanation="A block of structured data is not valid JSON, so programs that read JSON as its "
        "standard says get nothing of it.",
        fix="Correct the block at the place that is named; often a comma or a quotation mark is missing, or "
        "a semicolon stands at the end.",
        find=_faults("broken"),
        columns=("structured_errors",),
        measured="Blocks of JSON-LD that are no JSON are counted.",
        source=sources.both(sources.rfc(8259, "2 (JSON grammar)"), sources.STRUCTURED_DATA),
    ),
    _rule(
        name="structured_data_incomplete",
        title="Structured data lacks required properties",
        explanation="Without the properties that search engines require for the rich result that is named, "
        "the page does not get it. Rich results that are shown no longer, such as FAQs, ask for nothing.",
        fix="Add the properties that are named, with values that the page itself shows.",
        find=_faults("required"),
        columns=("structured_errors",),
        measured="Properties that Google names as required for a rich result and that an item of its type "
        "lacks, by the table in the reference on structured data.",
        source=sources.STRUCTURED_DATA,
    ),
    _rule(
        name="structured_data_invalid",
        title="Structured data with invalid values",
        explanation="Search engines ignore a value that they cannot read, such as a price with a currency "
        "sign, and an offer or a posting that is over.",
        fix="Write dates as 2026-11-22, prices as 19.90, currencies as EUR, and enumerations by their names.",
        find=_faults("value"),
        columns=("structured_errors",),
        measured="Values that are not of the form that schema.org names: dates, prices, currencies, "
        "enumerations, ratings out of range, offers and postings that are over.",
        source=sources.both(sources.SCHEMA_ORG, sources.STRUCTURED_DATA),
    ),
    _rule(
        name="structured_data_unknown",
        title="Structured data with unknown names",
        type="warning",
        priority="low",
        explanation="schema.org has no type or property of this name, so nobody reads it; capitals count.",
        fix="Correct the names that are named, or take a property that schema.org has.",
        find=_faults("unknown"),
        columns=("structured_errors",),
        measured="Types and properties of schema.org's namespace that its vocabulary does not have.",
        source=sources.SCHEMA_ORG,
    ),
    _rule(
        name="structured_data_recommended",
        title="Structured data lacks recommended properties",
        type="opportunity",
        priority="low",
        explanation="Search engines can show more of a page that has the recommended properties too.",
        fix="Add the properties that are named where the page has values for them.",
        find=_faults("recommended"),
        columns=("structured_errors",),
        measured="Properties that Google names as recommended for a rich result and that an item of its "
        "type lacks, by the table in the reference on structured data.",
        source=sources.STRUCTURED_DATA,
    ),
    _rule(
        name="structured_data_missing",
        title="No structured data",
        type="opportunity",
        priority="low",
        explanation="Structured data tells search engines what a page is about and may earn a rich result.",
        fix="Add JSON-LD of the schema.org type that fits, such as Article, Product or BreadcrumbList.",
        find=_missing,
        columns=("structured_types", "structured_errors"),
        measured="Whether the page has JSON-LD or microdata with a type of schema.org.",
        source=sources.STRUCTURED_DATA,
    ),
)
