"""The report of an audit: one HTML file that needs no network and executes nothing from a page."""

from __future__ import annotations

from webanalytics.audits.report.brand import Brand
from webanalytics.audits.report.build import write_report
from webanalytics.audits.report.facts import besides

__all__ = ["Brand", "besides", "write_report"]
