"""The functions of webanalytics for asynchronous code: await each of them.

`webanalytics.metadata` and its sisters are these very functions, started on a loop of their own.

Examples
--------
>>> import asyncio
>>> import webanalytics as wa
>>> frame = asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))
>>> frame.shape
(2, 7)
"""

from __future__ import annotations

from webanalytics.aio.images import convert
from webanalytics.aio.pages import audit, keywords, metadata, readability, text
from webanalytics.aio.records import dane, hmac, phones
from webanalytics.aio.sites import sitemap

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
]
