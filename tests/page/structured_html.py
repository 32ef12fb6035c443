"""Pages with structured data for tests of facts, and what is told of them."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from webanalytics.page.facts.schema_org import (
    KINDS,
    StructuredFacts,
    structured_facts,
)
from webanalytics.page.page import Page

TODAY = dt.date(2026, 11, 22)


def read(html: str) -> StructuredFacts:
    return structured_facts(Page(html, "https://a.example/"), today=TODAY)


def block(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<script type="application/ld+json">{text}</script>'


def faults(value: Any, *kinds: str) -> list[tuple[str, str]]:
    """The faults of a block, all but those of recommended properties."""
    wanted = kinds or KINDS[:-1]
    return [
        (fault["type"], fault["problem"]) for fault in read(block(value)).faults if fault["kind"] in wanted
    ]


def needed(html: str) -> list[tuple[str, str]]:
    return [
        (fault["type"], fault["problem"]) for fault in read(html).faults if fault["kind"] != "recommended"
    ]
