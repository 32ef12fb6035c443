"""Charts of the frames that webanalytics returns, as matplotlib Axes.

Each function takes a frame and returns an `~matplotlib.axes.Axes`: in a new figure, or the one
given as ``ax=``. Nothing here uses pyplot or changes matplotlib's settings, so charts can be drawn in a
thread, in a widget's callback or on a server. ``ax.figure.savefig("chart.png")`` writes one to a file, and a
notebook shows the chart that ends a cell. ``frame.web.plot`` has the same charts as methods.
"""

from __future__ import annotations

from typing import Any

from webanalytics.core.strings import did_you_mean
from webanalytics.notebook.charts.crawl import crawl_depth
from webanalytics.notebook.charts.crawlers import crawler_access
from webanalytics.notebook.charts.distribution import readability_distribution
from webanalytics.notebook.charts.heatmap import keyword_heatmap
from webanalytics.notebook.charts.issues import issues_by_priority, issues_by_section
from webanalytics.notebook.charts.keywords import keywords
from webanalytics.notebook.charts.lengths import text_lengths
from webanalytics.notebook.charts.link_flow import link_flow
from webanalytics.notebook.charts.measures import reading_time, words
from webanalytics.notebook.charts.readability import readability
from webanalytics.notebook.charts.search import clicks_by_cause, pages_against
from webanalytics.notebook.charts.site_map import site_map
from webanalytics.records.dane.chart import tlsa_security
from webanalytics.records.images.chart import image_sizes
from webanalytics.records.phones.chart import disposable_by_country, disposable_by_month

__all__ = [
    "clicks_by_cause",
    "crawl_depth",
    "crawler_access",
    "disposable_by_country",
    "disposable_by_month",
    "image_sizes",
    "issues_by_priority",
    "issues_by_section",
    "keyword_heatmap",
    "keywords",
    "link_flow",
    "pages_against",
    "readability",
    "readability_distribution",
    "reading_time",
    "site_map",
    "text_lengths",
    "tlsa_security",
    "words",
]


def __getattr__(name: str) -> Any:
    hint = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module 'webanalytics.notebook.charts' has no attribute {name!r}{hint}")
