"""The plain functions: those of `webanalytics.aio`, each started on a loop of its own."""

from __future__ import annotations

from webanalytics import aio
from webanalytics.analysis.tlsa import tlsa_record
from webanalytics.bridge import plain

__all__ = [
    "audit",
    "convert",
    "dane",
    "hmac",
    "keywords",
    "metadata",
    "phones",
    "readability",
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
