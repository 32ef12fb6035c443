"""What a worker imports while a first call does the rest: written by ``python -m webanalytics.generate``."""

from __future__ import annotations

DECLARED = (
    "hmac",
    "metadata",
    "readability",
    "text",
)
"""The functions that follow from their declarations alone."""

ANALYSES: dict[str, tuple[str, ...]] = {
    "audit": (
        "webanalytics.page.metadata:analyse",
        "webanalytics.page.text.text:analyse",
        "webanalytics.page.readability.readability:analyse",
        "webanalytics.page.keywords.keywords:analyse",
        "webanalytics.page.facts.facts:analyse",
    ),
    "convert": ("webanalytics.records.images.convert:analyse",),
    "crawl": (
        "webanalytics.page.metadata:analyse",
        "webanalytics.page.text.text:analyse",
        "webanalytics.page.readability.readability:analyse",
        "webanalytics.page.keywords.keywords:analyse",
        "webanalytics.page.facts.facts:analyse",
        "webanalytics.page.facts.outlinks:analyse",
    ),
    "keywords": ("webanalytics.page.keywords.keywords:analyse",),
    "metadata": ("webanalytics.page.metadata:analyse",),
    "readability": ("webanalytics.page.readability.readability:analyse",),
    "text": ("webanalytics.page.text.text:analyse",),
}
"""By function, the analyses of pages and images."""
