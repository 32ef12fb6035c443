"""Counters of the service in the Prometheus text format, of this process or of all that share a port.

Where several processes serve, each writes its numbers to files in one folder, and whichever answers
``/metrics`` adds them up. prometheus-client decides on this when it is first imported: the folder is
named by the environment variable ``PROMETHEUS_MULTIPROC_DIR``, which ``webanalytics serve`` sets.

What requests change is gathered for one turn of the loop and handed over together: under load many end in
the same turn, and adding to a counter takes as long for one as for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from webanalytics.service.results import Record

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
PREFIX = "webanalytics_"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the durations' histogram, seconds: one HMAC takes 1 ms, a slow page half a minute."""

KILLED = ("timeout", "died")
"""Outcomes of an analysis that cost a worker process."""

MAX_LABELS = 512
"""Most combinations of labels of one metric; what comes after them is counted as ``other``."""

OTHER = "other"

M = TypeVar("M", Counter, Histogram)


class Labelled(Generic[M]):
    """A metric whose children are looked up in a dictionary, which is faster than prometheus-client's way."""

    def __init__(self, metric: M, names: int) -> None:
        self._metric: Any = metric
        self._others = (OTHER,) * names
        self._children: dict[tuple[str, ...], M] = {}

    def __getitem__(self, labels: tuple[str, ...]) -> M:
        child = self._children.get(labels)
        if child is None:
            if len(self._children) >= MAX_LABELS:
                labels = self._others
            child = self._children[labels] = self._metric.labels(*labels)
        return child


class Metrics:
    """The counters of one service.

    Each has its own registry, so that one process can hold several services.

    Parameters
    ----------
    later : Callable, optional
        Runs a function at the end of this turn of the loop; by default it is run at once.
    """

    def __init__(self, later: Callable[[Callable[[], None]], object] = lambda hand_over: hand_over()) -> None:
        self._later = later
        self._gathering = False
        self._under_way = 0
        self._finished: list[tuple[Record, float]] = []
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

    def _counter(self, name: str, meaning: str, *labels: str) -> Labelled[Counter]:
        metric = Counter(PREFIX + name, meaning, labels, registry=self._registry)
        return Labelled(metric, len(labels))

    def _histogram(self, name: str, meaning: str, *labels: str) -> Labelled[Histogram]:
        metric = Histogram(PREFIX + name, meaning, labels, registry=self._registry, buckets=BUCKETS)
        return Labelled(metric, len(labels))

    def _gauge(self, name: str, meaning: str) -> Gauge:
        return Gauge(PREFIX + name, meaning, registry=self._registry, multiprocess_mode="livesum")

    def request(self, record: Record, seconds: float) -> None:
        """Count a finished request."""
        self._finished.append((record, seconds))
        self._gather()

    def begun(self) -> None:
        """Count a request as in progress."""
        self._under_way += 1
        self._gather()

    def ended(self) -> None:
        """Count a request as no longer in progress."""
        self._under_way -= 1
        self._gather()

    def _gather(self) -> None:
        if not self._gathering:
            self._gathering = True
            self._later(self.hand_over)

    def hand_over(self) -> None:
        """Count what has been gathered."""
        self._gathering = False
        self._in_progress.set(self._under_way)
        finished, self._finished = self._finished, []
        requests: dict[tuple[str, int], int] = {}
        credited: dict[str, int] = {}
        for record, seconds in finished:
            operation = record.operation
            self._durations[operation,].observe(seconds)
            kind = operation, record.status
            requests[kind] = requests.get(kind, 0) + 1
            if record.credits:
                credited[operation] = credited.get(operation, 0) + record.credits
        for (operation, status), number in requests.items():
            self._requests[operation, str(status)].inc(number)
        for operation, number in credited.items():
            self._credits[operation,].inc(number)

    def fetched(self, outcome: str, seconds: float) -> None:
        """Count a fetch: ``ok``, or the error type of its failure."""
        self._fetches[outcome,].inc()
        self._fetch_durations[outcome,].observe(seconds)

    def analysed(self, operation: str, outcome: str, seconds: float) -> None:
        """Count an analysis: ``ok``, ``error``, ``timeout`` or ``died``."""
        self._analyses[operation, outcome].inc()
        self._analysis_durations[operation,].observe(seconds)
        if outcome in KILLED:
            self._kills[outcome,].inc()

    def page_cache(self, hit: bool) -> None:
        """Count a requested page."""
        self._page_cache["hit" if hit else "miss",].inc()

    def queue(self, length: int) -> None:
        """Set how many requests hold a place now."""
        self._queue.set(length)

    def connections(self, number: int) -> None:
        """Set how many connections are open now."""
        self._connections.set(number)

    def render(self) -> tuple[bytes, str]:
        """Return the text of all counters, and its content type."""
        self.hand_over()
        registry = self._registry
        if self._folder is not None:
            registry = CollectorRegistry()
            collector: Callable[..., Any] = MultiProcessCollector
            collector(registry, path=self._folder)
        return generate_latest(registry), CONTENT_TYPE_LATEST


def forget_process(pid: int, folder: str) -> None:
    """Drop the gauges of a process that has ended: connections, requests in progress."""
    forget: Callable[..., None] = mark_process_dead
    forget(pid, folder)
