"""Rules for the headings of a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.rules.searches import LONGEST, Find, enumerated
from webanalytics.audits.site import Site


def _texts(headings: list[dict[str, str]], level: str) -> list[str]:
    return [heading["text"] for heading in headings if heading["level"] == level and heading["text"].strip()]


def _without(headings: list[dict[str, str]] | None, level: str) -> str | None:
    """Return the evidence that no heading of a level has a text; None if one has, or they are not known."""
    if headings is None or _texts(headings, level):
        return None
    without_text = sum(heading["level"] == level for heading in headings)
    return f"{level} without text: {without_text}" if without_text else ""


@page_by_page
def _h1_missing(site: Site, _: Any) -> Iterator[Finding]:
    """Find pages without a text in an h1; the alternative text of an image is one, for another rule."""
    for row, headings, pictures in site.read("headings", "image_headings"):
        evidence = _without(headings, "h1")
        if evidence is not None and not any(heading["level"] == "h1" for heading in pictures or ()):
            yield Finding(row, evidence=evidence)


@page_by_page
def _h2_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("headings"):
        evidence = _without(headings, "h2")
        if evidence is not None:
            yield Finding(row, evidence=evidence)


def _multiple(level: str) -> Find:
    @page_by_page
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, headings in site.read("headings"):
            texts = _texts(headings or [], level)
            if len(texts) > threshold:
                yield Finding(row, len(texts), enumerated(texts))

    return find


def _too_long(level: str) -> Find:
    @page_by_page
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, headings in site.read("headings"):
            longest = max(_texts(headings or [], level), key=len, default="")
            if len(longest) > threshold:
                yield Finding(row, len(longest), longest[:LONGEST])

    return find


@page_by_page
def _h1_not_first(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("headings"):
        if headings and headings[0]["level"] != "h1" and _texts(headings, "h1"):
            yield Finding(row, evidence=f"first heading: {_shown(headings[0])}")


@page_by_page
def _not_sequential(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("headings"):
        jumps = [
            (before, after)
            for before, after in zip(headings or (), (headings or ())[1:], strict=False)
            if int(after["level"][1]) > int(before["level"][1]) + 1
        ]
        if jumps:
            before, after = jumps[0]
            yield Finding(row, len(jumps), f"{_shown(before)} | {_shown(after)}")


def _shown(heading: dict[str, str]) -> str:
    return f"{heading['level']} {heading['text'][:100]}".rstrip()


_rule = partial(Rule, category="headings", columns=("headings",))

RULES = (
    _rule(
        name="h1_missing",
        title="h1 missing",
        explanation="The main heading tells readers and search engines what the page is about.",
        fix="Add one h1 with text that describes the content of the page.",
        find=_h1_missing,
        measured="h1 elements with text are counted; one that has only an image with an alternative text is "
        "left to another rule.",
        source=sources.both(sources.STARTER_GUIDE, sources.WAI_HEADINGS),
    ),
    _rule(
        name="h1_multiple",
        title="Several h1",
        type="warning",
        explanation="Several main headings leave open which one names the subject of the page.",
        fix="Keep one h1 and make the others h2 or lower.",
        find=_multiple("h1"),
        threshold=1,
        unit="headings",
        measured="h1 elements with text are counted.",
        source=sources.both(sources.HEADINGS, sources.WAI_HEADINGS),
    ),
    _rule(
        name="h1_too_long",
        title="h1 too long",
        type="opportunity",
        priority="low",
        explanation="A long main heading is hard to take in and dilutes what the page is about.",
        fix="Shorten the h1 to one concise phrase.",
        find=_too_long("h1"),
        threshold=70,
        unit="characters",
        measured="Characters of the longest h1. No standard has a limit: the default is the usual one of "
        "SEO tools.",
        source=sources.WAI_HEADINGS,
    ),
    _rule(
        name="h1_not_first",
        title="h1 is not the first heading",
        type="warning",
        priority="low",
        explanation="The main heading should come first, so that people who move from heading to heading, "
        "such as users of screen readers, meet it before its parts.",
        fix="Put the h1 before all other headings, or make those above it something other than headings.",
        find=_h1_not_first,
        measured="Whether the first heading of the document is another one than an h1, where there is an h1 "
        "with text.",
        source=sources.WAI_HEADINGS,
    ),
    _rule(
        name="h2_missing",
        title="h2 missing",
        type="warning",
        priority="low",
        explanation="Subheadings divide a page into parts that readers can skim.",
        fix="Divide the content into parts and give each an h2 that says what it is about.",
        find=_h2_missing,
        measured="h2 elements with text are counted.",
        source=sources.WAI_HEADINGS,
    ),
    _rule(
        name="h2_multiple",
        title="Several h2",
        type="warning",
        priority="low",
        explanation="Several subheadings are common and right where a page has several parts; "
        "look at those that are there for their style alone.",
        fix="Check that each h2 opens a part of the content, and style other text by other means.",
        find=_multiple("h2"),
        threshold=1,
        unit="headings",
        measured="h2 elements with text are counted.",
        source=sources.WAI_HEADINGS,
    ),
    _rule(
        name="h2_too_long",
        title="h2 too long",
        type="opportunity",
        priority="low",
        explanation="Long subheadings are hard to skim.",
        fix="Shorten the h2 to one concise phrase.",
        find=_too_long("h2"),
        threshold=70,
        unit="characters",
        measured="Characters of the longest h2. No standard has a limit: the default is the usual one of "
        "SEO tools.",
        source=sources.WAI_HEADINGS,
    ),
    _rule(
        name="headings_not_sequential",
        title="Headings skip a level",
        type="warning",
        priority="low",
        explanation="Headings that skip a level, such as an h4 after an h2, make the outline of the page "
        "hard to follow for users of screen readers.",
        fix="Let each heading be at most one level below the one before it.",
        find=_not_sequential,
        measured="Headings that are more than one level below the heading before them are counted, in "
        "document order.",
        source=sources.both(sources.WAI_HEADINGS, sources.HEADINGS),
    ),
)
