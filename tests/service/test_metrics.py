"""Counters, read back by the reference parser of the Prometheus text format."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from webanalytics.service.metrics import Metrics
from webanalytics.service.results import Record


def samples(text: bytes) -> dict[tuple[str, ...], float]:
    """Return values by name of the sample and its labels' values, by their names."""
    return {
        (
            sample.name.removeprefix("webanalytics_"),
            *(value for _, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_requests_are_counted_by_operation_and_status() -> None:
    metrics = Metrics()
    metrics.request(Record("a", 0.0, operation="hmac", status=200, credits=2), 0.004)
    metrics.request(Record("b", 0.0, operation="hmac", status=200, credits=2), 0.3)
    metrics.request(Record("c", 0.0, operation="text", status=503), 20.0)
    text, content_type = metrics.render()
    assert content_type.startswith("text/plain")
    found = samples(text)
    assert found["requests_total", "hmac", "200"] == 2
    assert found["requests_total", "text", "503"] == 1
    assert found["credits_charged_total", "hmac"] == 4
    assert ("credits_charged_total", "text") not in found
    assert found["request_duration_seconds_bucket", "0.005", "hmac"] == 1
    assert found["request_duration_seconds_count", "hmac"] == 2
    assert abs(found["request_duration_seconds_sum", "hmac"] - 0.304) < 1e-9


def test_what_is_under_way_is_a_gauge() -> None:
    metrics = Metrics()
    metrics.queue(3)
    metrics.connections(5)
    metrics.begun()
    metrics.begun()
    found = samples(metrics.render()[0])
    assert (found["requests_in_progress",], found["queue_length",], found["connections",]) == (2, 3, 5)
    metrics.ended()
    metrics.ended()
    assert samples(metrics.render()[0])["requests_in_progress",] == 0


def test_work_and_lost_workers_are_counted() -> None:
    metrics = Metrics()
    metrics.fetched("ok", 0.2)
    metrics.fetched("timeout", 30.0)
    for outcome in ("ok", "error", "timeout", "died", "died"):
        metrics.analysed("text", outcome, 0.1)
    metrics.page_cache(hit=True)
    metrics.page_cache(hit=False)
    found = samples(metrics.render()[0])
    assert found["fetches_total", "timeout"] == 1
    assert found["analyses_total", "text", "died"] == 2
    assert (found["worker_kills_total", "timeout"], found["worker_kills_total", "died"]) == (1, 2)
    assert (found["page_cache_total", "hit"], found["page_cache_total", "miss"]) == (1, 1)


def test_services_in_one_process_count_for_themselves() -> None:
    one, two = Metrics(), Metrics()
    one.fetched("ok", 0.1)
    assert ("fetches_total", "ok") in samples(one.render()[0])
    assert ("fetches_total", "ok") not in samples(two.render()[0])


def test_processes_that_share_a_port_are_added_up(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from prometheus_client.multiprocess import mark_process_dead\n"
        "from webanalytics.service.metrics import Metrics\n"
        "from webanalytics.service.results import Record\n"
        "metrics = Metrics()\n"
        "metrics.request(Record('a', 0.0, operation='hmac', status=200, credits=2), 0.1)\n"
        "metrics.connections(4)\n"
        "if sys.argv[1:]: mark_process_dead(int(sys.argv[1]))\n"
        "sys.stdout.buffer.write(metrics.render()[0])\n"
    )
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}

    def run(*arguments: str) -> tuple[int, dict[tuple[str, ...], float]]:
        command = [sys.executable, "-c", code, *arguments]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
            return process.pid, samples(process.communicate()[0])

    first, _ = run()
    second, found = run()
    assert found["requests_total", "hmac", "200"] == 2
    assert found["credits_charged_total", "hmac"] == 4
    assert found["connections",] == 8
    _, found = run(str(first))
    assert found["requests_total", "hmac", "200"] == 3, "what a process has counted stays when it has ended"
    assert found["connections",] == 8
    assert first != second
