"""Every fetch of a page, image, robots.txt or sitemap: guarded, polite and bounded.

Backends and audits call `Fetcher.fetch` and `read_sitemap`; nothing else connects to a user's URL.
"""

from __future__ import annotations

from webanalytics.fetching.content import Accept
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.pace import FetchSettings
from webanalytics.fetching.response import FetchError, Response
from webanalytics.fetching.sitemap import SitemapLimits, SitemapTree, read_sitemap

__all__ = [
    "Accept",
    "FetchError",
    "FetchSettings",
    "Fetcher",
    "Response",
    "SitemapLimits",
    "SitemapTree",
    "read_sitemap",
]
