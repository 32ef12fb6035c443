"""Rules for what a page says about itself when it is shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.rules.searches import empty
from webanalytics.audits.site import Site

_BASIC = ("og:title", "og:type", "og:image", "og:url")
"""Properties that every page must have (The Open Graph protocol, ogp.me, "Basic Metadata")."""


@PageByPage
def _open_graph_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, *values in site.read(*_BASIC, "og:description"):
        if not any(values) and any(value is not None for value in values):
            yield Finding(row)


@PageByPage
def _open_graph_incomplete(site: Site, _: Any) -> Iterator[Finding]:
    names = [name for name in _BASIC if name != "og:image"]
    for row, *values in site.read(*names, "og:image", "og:description"):
        missing = [name for name, value in zip(names, values, strict=False) if not value]
        if missing and any(values):
            yield Finding(row, len(missing), f"missing: {', '.join(missing)}")


@PageByPage
def _open_graph_image_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, image, *others in site.read("og:image", "og:title", "og:type", "og:url", "og:description"):
        if not image and any(others):
            yield Finding(row, evidence=f"og:title: {others[0][:200]}" if others[0] else "")


@PageByPage
def _card_image_missing(site: Site, _: Any) -> Iterator[Finding]:
    for row, card, *images in site.read("card:card", "card:image", "og:image"):
        if card and not any(images):
            yield Finding(row, evidence=f"card: {card[:100]}")


RULES = rules_of(
    __name__,
    {
        "open_graph_missing": _open_graph_missing,
        "open_graph_incomplete": _open_graph_incomplete,
        "open_graph_image_missing": _open_graph_image_missing,
        "social_card_missing": empty("card:card"),
        "social_card_without_image": _card_image_missing,
    },
)
