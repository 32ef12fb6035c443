"""The plain functions: those of `webanalytics.aio`, each started on a loop of its own."""

from __future__ import annotations

from webanalytics import aio
from webanalytics.analysis.tlsa import tlsa_record
from webanalytics.bridge import plain
from webanalytics.seo.compare import compare
from webanalytics.seo.rules import rule_table
from webanalytics.seo.storage import load

__all__ = [
    "audit",
    "compare",
    "convert",
    "dane",
    "hmac",
    "keywords",
    "load",
    "metadata",
    "phones",
    "readability",
    "rules",
    "sitemap",
    "text",
    "tlsa_record",
]

audit = plain(aio.audit)
convert = plain(aio.convert)
dane = plain(aio.dane)
hmac = plain(aio.hmac)
keywords = plain(aio.keywords)
metadata = plain(aio.metadata)
phones = plain(aio.phones)
readability = plain(aio.readability)
sitemap = plain(aio.sitemap)
text = plain(aio.text)
rules = rule_table()
"""Every rule of an audit: name, title, category, type, priority, threshold, unit, explanation, fix."""
