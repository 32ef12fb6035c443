"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and the other plain functions are these, each run on its own event loop.
Written by ``python -m webanalytics.api.generate``: change the declarations, or the generator, not this file.

Examples
--------
>>> import asyncio
>>> import webanalytics as wa
>>> frame = asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))
>>> frame.shape
(2, 7)
"""

from __future__ import annotations

from typing import Any

from webanalytics.api import crawls, generated, images, pages, records, sites
from webanalytics.api.functions import later_function, later_names
from webanalytics.runs.boundary import awaited

__all__ = [
    "audit",
    "convert",
    "crawl",
    "dane",
    "hmac",
    "keywords",
    "metadata",
    "phones",
    "readability",
    "sitemap",
    "text",
]

audit = awaited(pages.audit)
convert = awaited(images.convert)
crawl = awaited(crawls.crawl)
dane = awaited(records.dane)
hmac = awaited(generated.hmac)
keywords = awaited(pages.keywords)
metadata = awaited(generated.metadata)
phones = awaited(records.phones)
readability = awaited(generated.readability)
sitemap = awaited(sites.sitemap)
text = awaited(generated.text)


def __getattr__(name: str) -> Any:
    return later_function(__name__, name)


def __dir__() -> list[str]:
    return [*__all__, *later_names(__all__)]
