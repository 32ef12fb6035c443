"""Rules about access for people who use screen readers or a keyboard, as far as HTML alone tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import enumerated, listed
from webanalytics.audits.site import Site


def _fields(with_example: bool) -> Find:
    @PageByPage
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, fields in site.read("fields_without_label"):
            found = [field for field in fields or () if ("placeholder" in field) == with_example]
            if found:
                yield Finding(row, len(found), enumerated(map(_shown, found)))

    return find


def _shown(field: dict[str, str]) -> str:
    example = field.get("placeholder")
    return f"{field['field']} with the placeholder {example}" if example else field["field"]


@PageByPage
def _ids(site: Site, _: Any) -> Iterator[Finding]:
    for row, ids, used in site.read("duplicate_ids", "duplicate_ids_used"):
        others = [name for name in ids or () if name not in (used or ())]
        if others:
            yield Finding(row, len(others), enumerated(others))


RULES = rules_of(
    __name__,
    {
        "fields_without_label": _fields(with_example=False),
        "fields_with_placeholder_only": _fields(with_example=True),
        "buttons_without_name": listed("buttons_without_name"),
        "iframes_without_title": listed("iframes_without_title"),
        "duplicate_ids_used": listed("duplicate_ids_used"),
        "duplicate_ids": _ids,
        "headings_empty": listed("empty_headings"),
        "tabindex_positive": listed("positive_tabindex"),
    },
)
