"""The backend of a hosted API: batches over HTTP, retries by its error rules, credits counted."""

from __future__ import annotations

from webanalytics.runs.backends.hosted.backend import Hosted

__all__ = ["Hosted"]
