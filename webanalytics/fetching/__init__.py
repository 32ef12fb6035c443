"""The only door to the network: guarded, polite and bounded."""

from __future__ import annotations

from webanalytics.fetching.content import Accept
from webanalytics.fetching.fetcher import Fetcher
from webanalytics.fetching.response import FetchError, Response
from webanalytics.fetching.sentences import SENTENCES, recognise, sentence
from webanalytics.fetching.settings import FetchSettings
from webanalytics.fetching.sitemap import SitemapLimits, read_sitemap

__all__ = [
    "SENTENCES",
    "Accept",
    "FetchError",
    "FetchSettings",
    "Fetcher",
    "Response",
    "SitemapLimits",
    "read_sitemap",
    "recognise",
    "sentence",
]
