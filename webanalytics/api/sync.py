"""The blocking functions: those of `webanalytics.aio`, each run on its own event loop.

Written by ``python -m webanalytics.api.generate``: change the declarations, or the generator, not this file.
"""

from __future__ import annotations

from typing import Any

from webanalytics.analysis.dane.tlsa import tlsa_record
from webanalytics.api import crawls, generated, images, pages, records, sites
from webanalytics.api.functions import later_function, later_names
from webanalytics.api.rules import rule
from webanalytics.audits.content_gap import content_gap
from webanalytics.audits.rules import rules
from webanalytics.audits.saved import compare, load
from webanalytics.runs.blocking import plain

__all__ = [
    "audit",
    "compare",
    "content_gap",
    "convert",
    "crawl",
    "dane",
    "hmac",
    "keywords",
    "llms_txt",
    "load",
    "metadata",
    "phones",
    "readability",
    "rule",
    "rules",
    "sitemap",
    "text",
    "tlsa_record",
]

audit = plain(pages.audit)
convert = plain(images.convert)
crawl = plain(crawls.crawl)
dane = plain(records.dane)
hmac = plain(generated.hmac)
keywords = plain(pages.keywords)
llms_txt = plain(sites.llms_txt)
metadata = plain(generated.metadata)
phones = plain(records.phones)
readability = plain(generated.readability)
sitemap = plain(sites.sitemap)
text = plain(generated.text)


def __getattr__(name: str) -> Any:
    return later_function(__name__, name, blocking=True)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
