"""Rules for what a page says about itself when it is shared."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.site import Site

_BASIC = ("og:title", "og:type", "og:image", "og:url")
"""Properties that every page must have (The Open Graph protocol, ogp.me, "Basic Metadata")."""


@page_by_page
def _open_graph_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, *values in site.read(*_BASIC, "og:description"):
        if not any(values) and any(value is not None for value in values):
            yield Finding(row)


@page_by_page
def _open_graph_incomplete(site: Site, _: Any) -> Iterator[Finding]:
    names = [name for name in _BASIC if name != "og:image"]
    for row, *values in site.read(*names, "og:image", "og:description"):
        missing = [name for name, value in zip(names, values, strict=False) if not value]
        if missing and any(values):
            yield Finding(row, len(missing), f"missing: {', '.join(missing)}")


@page_by_page
def _open_graph_image_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, image, *others in site.read("og:image", "og:title", "og:type", "og:url", "og:description"):
        if not image and any(others):
            yield Finding(row, evidence=f"og:title: {others[0][:200]}" if others[0] else "")


@page_by_page
def _card_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, card in site.read("card:card"):
        if card is not None and not card:
            yield Finding(row)


@page_by_page
def _card_image_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, card, *images in site.read("card:card", "card:image", "og:image"):
        if card and not any(images):
            yield Finding(row, evidence=f"card: {card[:100]}")


_rule = partial(Rule, category="social", type="opportunity", priority="low")

RULES = (
    _rule(
        name="open_graph_missing",
        title="Open Graph missing",
        explanation="Without Open Graph tags, networks guess the title and picture of a shared page.",
        fix="Add og:title, og:type, og:url, og:image and og:description to the head.",
        find=_open_graph_missing,
        columns=_BASIC,
        measured="og:title, og:type, og:image, og:url and og:description: a page is reported that has none "
        "of them.",
        source=sources.OPEN_GRAPH,
    ),
    _rule(
        name="open_graph_incomplete",
        title="Open Graph incomplete",
        explanation="The Open Graph protocol asks every page for og:title, og:type and og:url, "
        "and one of them is missing.",
        fix="Add the tags that are named to the head.",
        find=_open_graph_incomplete,
        columns=_BASIC,
        measured="Which of og:title, og:type and og:url a page lacks that has another one of them.",
        source=sources.OPEN_GRAPH,
    ),
    _rule(
        name="open_graph_image_missing",
        title="Open Graph image missing",
        explanation="Shared pages without an image get less attention than those with one.",
        fix="Add og:image with the full address of an image of 1200 by 630 pixels.",
        find=_open_graph_image_missing,
        columns=_BASIC,
        measured="Whether og:image has an address, on pages that have other tags of Open Graph.",
        source=sources.OPEN_GRAPH,
    ),
    _rule(
        name="social_card_missing",
        title="Social card missing",
        explanation="Without a card type, some networks show a shared page as a small or a bare link.",
        fix="Add the meta tag twitter:card, with summary_large_image for pages that have a good picture.",
        find=_card_missing,
        columns=("card:card",),
        measured="Whether twitter:card has a value.",
        source=sources.CARDS,
    ),
    _rule(
        name="social_card_without_image",
        title="Social card without image",
        explanation="The page asks for a card, but has no image to fill it with.",
        fix="Add og:image, which cards use too, with the full address of an image.",
        find=_card_image_missing,
        columns=("card:card", "card:image", "og:image"),
        measured="Whether twitter:image or og:image has an address, on pages with twitter:card.",
        source=sources.CARDS,
    ),
)
