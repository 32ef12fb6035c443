"""Rules for the headings of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Find, Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import enumerated
from webanalytics.audits.site import Site


def _texts(headings: list[dict[str, str]], level: str) -> list[str]:
    return [heading["text"] for heading in headings if heading["level"] == level and heading["text"].strip()]


def _without(headings: list[dict[str, str]] | None, level: str) -> str | None:
    """Return the evidence that no heading of a level has a text; None if one has, or they are not known."""
    if headings is None or _texts(headings, level):
        return None
    without_text = sum(heading["level"] == level for heading in headings)
    return f"{level} without text: {without_text}" if without_text else ""


@PageByPage
def _h1_missing(site: Site, _: Any) -> Iterator[Finding]:
    """Find pages without a text in an h1; the alternative text of an image is one, for another rule."""
    for row, headings, pictures in site.read("headings", "image_headings"):
        evidence = _without(headings, "h1")
        if evidence is not None and not any(heading["level"] == "h1" for heading in pictures or ()):
            yield Finding(row, evidence=evidence)


@PageByPage
def _h2_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("headings"):
        if (evidence := _without(headings, "h2")) is not None:
            yield Finding(row, evidence=evidence)


def _multiple(level: str) -> Find:
    @PageByPage
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, headings in site.read("headings"):
            texts = _texts(headings or [], level)
            if len(texts) > threshold:
                yield Finding(row, len(texts), enumerated(texts))

    return find


def _too_long(level: str) -> Find:
    @PageByPage
    def find(site: Site, threshold: float) -> Iterator[Finding]:
        for row, headings in site.read("headings"):
            longest = max(_texts(headings or [], level), key=len, default="")
            if len(longest) > threshold:
                yield Finding(row, len(longest), longest)

    return find


@PageByPage
def _h1_not_first(site: Site, _: Any) -> Iterator[Finding]:
    for row, headings in site.read("headings"):
        if headings and headings[0]["level"] != "h1" and _texts(headings, "h1"):
            yield Finding(row, evidence=f"first heading: {_shown(headings[0])}")


@PageByPage
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


RULES = rules_of(
    __name__,
    {
        "h1_missing": _h1_missing,
        "h1_multiple": _multiple("h1"),
        "h1_too_long": _too_long("h1"),
        "h1_not_first": _h1_not_first,
        "h2_missing": _h2_missing,
        "h2_multiple": _multiple("h2"),
        "h2_too_long": _too_long("h2"),
        "headings_not_sequential": _not_sequential,
    },
)
