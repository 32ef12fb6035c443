"""Rules about access for people who use screen readers or a keyboard, as far as HTML alone tells."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import Find, enumerated, listed
from webanalytics.audits.site import Site


def _fields(with_example: bool) -> Find:
    @page_by_page
    def find(site: Site, _: Any) -> Iterator[Finding]:
        for row, fields in site.read("fields_without_label"):
            found = [field for field in fields or () if ("placeholder" in field) == with_example]
            if found:
                yield Finding(row, len(found), enumerated(map(_shown, found)))

    return find


def _shown(field: dict[str, str]) -> str:
    example = field.get("placeholder")
    return f"{field['field']} with the placeholder {example}" if example else field["field"]


@page_by_page
def _ids(site: Site, _: Any) -> Iterator[Finding]:
    for row, ids, used in site.read("duplicate_ids", "duplicate_ids_used"):
        others = [name for name in ids or () if name not in (used or ())]
        if others:
            yield Finding(row, len(others), enumerated(others))


_rule = partial(Rule, category="accessibility")

RULES = (
    _rule(
        name="fields_without_label",
        title="Form fields without label",
        explanation="Screen readers cannot say what to enter in a field that has no label "
        "(WCAG 2.2, criteria 1.3.1, 3.3.2 and 4.1.2; axe: label, select-name).",
        fix="Add a label element for the field, or an aria-label.",
        find=_fields(with_example=False),
        columns=("fields_without_label",),
        measured="Fields of forms without a label element, aria-label, aria-labelledby or title are "
        "counted; hidden ones and those with a placeholder are left out.",
        source=sources.wcag("1.3.1", "3.3.2", "4.1.2"),
    ),
    _rule(
        name="fields_with_placeholder_only",
        title="Placeholder in place of a label",
        type="warning",
        priority="low",
        explanation="A placeholder goes away with the first letter, and often has too little contrast, so it "
        "is no label (WCAG 2.2, criterion 3.3.2).",
        fix="Add a label element for the field, or an aria-label, and keep the placeholder for an example.",
        find=_fields(with_example=True),
        columns=("fields_without_label",),
        measured="Fields of forms that have a placeholder, but no label element, aria-label, aria- "
        "labelledby or title.",
        source=sources.wcag("3.3.2"),
    ),
    _rule(
        name="buttons_without_name",
        title="Buttons without a name",
        explanation="Screen readers say only that there is a button, not what it does "
        "(WCAG 2.2, criterion 4.1.2; axe: button-name, input-button-name, input-image-alt).",
        fix="Give the button a text, or one that shows a mere icon an aria-label.",
        find=listed("buttons_without_name"),
        columns=("buttons_without_name",),
        measured="Buttons are counted that have neither text nor an alternative text, label or title; "
        "hidden ones are left out.",
        source=sources.wcag("4.1.2"),
    ),
    _rule(
        name="iframes_without_title",
        title="Frames without title",
        priority="low",
        explanation="Screen readers name a frame by its title; without one, people must enter it to learn "
        "what it is (WCAG 2.2, criterion 4.1.2; axe: frame-title).",
        fix="Add a title to the iframe that says what it shows.",
        find=listed("iframes_without_title"),
        columns=("iframes_without_title",),
        measured="iframe and frame elements without title, aria-label or aria-labelledby are counted; "
        "hidden ones are left out.",
        source=sources.wcag("4.1.2"),
    ),
    _rule(
        name="duplicate_ids_used",
        title="Labels that point to several elements",
        priority="low",
        explanation="A label or an attribute of ARIA refers to an id that several elements have: only the "
        "first of them is named by it (WCAG 2.2, criterion 1.3.1; axe: duplicate-id-aria).",
        fix="Give each element an id of its own, and let each label name the one it is for.",
        find=listed("duplicate_ids_used"),
        columns=("duplicate_ids_used",),
        measured="Ids that several elements have and that a label, a cell or an attribute of ARIA refers to.",
        source=sources.both(sources.wcag("1.3.1", "4.1.2"), sources.ID),
    ),
    _rule(
        name="duplicate_ids",
        title="Ids that are not unique",
        type="warning",
        priority="low",
        explanation="Links to a part of the page and scripts find only the first element with an id, and the "
        "HTML Standard allows one (section 3.2.6; axe: duplicate-id).",
        fix="Give each element an id of its own.",
        find=_ids,
        columns=("duplicate_ids",),
        measured="Ids that several elements have and that no label, cell or attribute of ARIA refers to.",
        source=sources.ID,
    ),
    _rule(
        name="headings_empty",
        title="Empty headings",
        priority="low",
        explanation="People who go from heading to heading come to one that says nothing "
        "(WCAG 2.2, criteria 1.3.1 and 2.4.6; axe: empty-heading).",
        fix="Remove the heading, or give it a text; make room between parts by style alone.",
        find=listed("empty_headings"),
        columns=("empty_headings",),
        measured="Headings without text, alternative text or label are counted; hidden ones are left out.",
        source=sources.wcag("1.3.1", "2.4.6"),
    ),
    _rule(
        name="tabindex_positive",
        title="Tabindex over 0",
        type="warning",
        priority="low",
        explanation="A tabindex over 0 puts an element before all others, so the tab key jumps about "
        "(WCAG 2.2, criterion 2.4.3; axe: tabindex).",
        fix="Use tabindex 0 or none, and put elements into the order in which they are used.",
        find=listed("positive_tabindex"),
        columns=("positive_tabindex",),
        measured="Elements whose tabindex is over 0 are counted.",
        source=sources.wcag("2.4.3"),
    ),
)
