"""Rules for the structured data of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.shared import Find, enumerated
from webanalytics.audits.site import Site

_RECOMMENDED = "(recommended)"


def _is_broken(fault: dict[str, str]) -> bool:
    return fault["type"] == "JSON-LD"


def _is_recommended(fault: dict[str, str]) -> bool:
    return not _is_broken(fault) and fault["problem"].endswith(_RECOMMENDED)


def _is_required(fault: dict[str, str]) -> bool:
    return not _is_broken(fault) and not fault["problem"].endswith(_RECOMMENDED)


def _faults(chosen: Callable[[dict[str, str]], bool]) -> Find:
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, faults in site.read("structuredErrors"):
            problems = [f"{fault['type']}: {fault['problem']}" for fault in faults or () if chosen(fault)]
            if problems:
                yield Finding(row, len(problems), enumerated(problems))

    return find


def _missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, types, faults in site.read("structuredTypes", "structuredErrors"):
        if types is not None and not types and not faults:
            yield Finding(row)


RULES = (
    Rule(
        name="structured_data_broken",
        title="Structured data that does not parse",
        category="structured data",
        type="issue",
        priority="high",
        explanation="A block of structured data is not valid JSON, so search engines read nothing of it.",
        fix="Correct the block at the place that is named; often a comma or a quotation mark is missing.",
        find=_faults(_is_broken),
        columns=("structuredErrors",),
    ),
    Rule(
        name="structured_data_incomplete",
        title="Structured data lacks required properties",
        category="structured data",
        type="issue",
        priority="high",
        explanation="Without the properties that search engines require of a type, the page does not get "
        "the rich result of that type.",
        fix="Add the properties that are named, with values that the page itself shows.",
        find=_faults(_is_required),
        columns=("structuredErrors",),
    ),
    Rule(
        name="structured_data_recommended",
        title="Structured data lacks recommended properties",
        category="structured data",
        type="opportunity",
        priority="low",
        explanation="Search engines can show more of a page that has the recommended properties too.",
        fix="Add the properties that are named where the page has values for them.",
        find=_faults(_is_recommended),
        columns=("structuredErrors",),
    ),
    Rule(
        name="structured_data_missing",
        title="No structured data",
        category="structured data",
        type="opportunity",
        priority="low",
        explanation="Structured data tells search engines what a page is about and may earn a rich result.",
        fix="Add JSON-LD of the schema.org type that fits, such as Article, Product or BreadcrumbList.",
        find=_missing,
        columns=("structuredTypes", "structuredErrors"),
    ),
)
