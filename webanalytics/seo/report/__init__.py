"""The report of an audit: one HTML file that needs no network and runs nothing that a page has brought."""

from __future__ import annotations

from webanalytics.seo.report.build import write_report

__all__ = ["write_report"]
