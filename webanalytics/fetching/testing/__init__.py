"""Websites on the loopback interface, for tests, examples and the demonstration.

`SiteServer` serves whatever pages it is given, and remembers what it was asked; `sample_site` serves the
sample site that comes with webanalytics: pages of a small lantern maker in ten languages, some in good
order and some with the faults that audits look for. `crawl_site` serves a made-up site for crawlers.
"""

from __future__ import annotations

from webanalytics.fetching.testing.crawl_site import CrawlSite, crawl_site
from webanalytics.fetching.testing.sample import SampleSite, sample_site
from webanalytics.fetching.testing.server import Reply, Request, SiteServer

__all__ = ["CrawlSite", "Reply", "Request", "SampleSite", "SiteServer", "crawl_site", "sample_site"]
