"""The backend of a hosted API: batches over HTTP, retries by its error rules, credits kept count of."""

from __future__ import annotations

from webanalytics.backends.hosted.client import Hosted

__all__ = ["Hosted"]
