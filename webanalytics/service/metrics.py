"""Counters of the service in the Prometheus text format, of this process or of all that share a port.

Where several processes serve, each writes its numbers to files in one folder, and whichever answers
``/metrics`` adds them up. prometheus-client decides on this when it is first imported: the folder is
named by the environment variable ``PROMETHEUS_MULTIPROC_DIR``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from webanalytics.service.results import Record

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
PREFIX = "webanalytics_"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the durations' histogram, seconds: one HMAC takes 1 ms, a slow page half a minute."""

KILLED = ("timeout", "died")
"""Outcomes of an analysis that cost a worker process."""


class Metrics:
    """The counters of one service.

    Each has its own registry, so that one process can hold several services.
    """

    def __init__(self) -> None:
        self._folder = os.environ.get(FOLDER_VARIABLE)
        self._registry = CollectorRegistry()
        self._requests = self._counter(
            "requests", "Requests answered, by operation and HTTP status.", "operation", "status"
        )
        self._durations = self._histogram(
            "request_duration_seconds", "Time from the headers of a request to its answer.", "operation"
        )
        self._credits = self._counter("credits_charged", "Credits charged, by operation.", "operation")
        self._fetches = self._counter("fetches", "Fetches of pages and images, by outcome.", "outcome")
        self._fetch_durations = self._histogram(
            "fetch_duration_seconds", "Time of a fetch, redirects and body included.", "outcome"
        )
        self._analyses = self._counter(
            "analyses", "Analyses in worker processes, by operation and outcome.", "operation", "outcome"
        )
        self._analysis_durations = self._histogram(
            "analysis_duration_seconds", "Time of an analysis, by operation.", "operation"
        )
        self._kills = self._counter(
            "worker_kills", "Worker processes lost to an analysis, by reason.", "reason"
        )
        self._page_cache = self._counter(
            "page_cache", "Pages asked for, by hit or miss of the cache.", "result"
        )
        self._in_progress = self._gauge("requests_in_progress", "Requests under way.")
        self._queue = self._gauge("queue_length", "Requests for pages and images that hold a place.")
        self._connections = self._gauge("connections", "Open connections.")

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(PREFIX + name, meaning, labels, registry=self._registry)

    def _histogram(self, name: str, meaning: str, *labels: str) -> Histogram:
        return Histogram(PREFIX + name, meaning, labels, registry=self._registry, buckets=BUCKETS)

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(PREFIX + name, meaning, registry=self._registry, multiprocess_mode="livesum")

    def request(self, record: Record, seconds: float) -> None:
        """Count a finished request."""
        self._requests.labels(record.operation, record.status).inc()
        self._durations.labels(record.operation).observe(seconds)
        if record.credits:
            self._credits.labels(record.operation).inc(record.credits)

    def begun(self) -> None:
        """Count a request as in progress."""
        self._in_progress.inc()

    def ended(self) -> None:
        """Count a request as no longer in progress."""
        self._in_progress.dec()

    def fetched(self, outcome: str, seconds: float) -> None:
        """Count a fetch: ``ok``, or the error type of its failure."""
        self._fetches.labels(outcome).inc()
        self._fetch_durations.labels(outcome).observe(seconds)

    def analysed(self, operation: str, outcome: str, seconds: float) -> None:
        """Count an analysis: ``ok``, ``error``, ``timeout`` or ``died``."""
        self._analyses.labels(operation, outcome).inc()
        self._analysis_durations.labels(operation).observe(seconds)
        if outcome in KILLED:
            self._kills.labels(outcome).inc()

    def page_cache(self, hit: bool) -> None:
        """Count a requested page."""
        self._page_cache.labels("hit" if hit else "miss").inc()

    def queue(self, length: int) -> None:
        """Set how many requests hold a place now."""
        self._queue.set(length)

    def connections(self, number: int) -> None:
        """Set how many connections are open now."""
        self._connections.set(number)

    def render(self) -> tuple[bytes, str]:
        """Return the text of all counters, and its content type."""
        registry = self._registry
        if self._folder is not None:
            registry = CollectorRegistry()
            collector: Callable[..., Any] = MultiProcessCollector
            collector(registry, path=self._folder)
        return generate_latest(registry), CONTENT_TYPE_LATEST
