"""Workers that something outside kills, as a system does that is out of memory: no page is blamed for it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.runs.workers import pool, template

PAGES = pd.DataFrame(
    {
        "url": [f"https://a.example/{number}" for number in range(60)],
        "html": [f"<title>Page {number}</title><p>Words" for number in range(60)],
    }
)
GOOD = [f"Page {number}" for number in range(60)]


def kills(monkeypatch: pytest.MonkeyPatch, times: int, seed: int = 1) -> list[str]:
    """Kill the worker over a third of the pages, each of them so often in a row."""
    chosen = set(random.Random(seed).sample(PAGES["url"].tolist(), 20))
    real, seen, killed = pool.Worker.exchange, Counter(), []

    def exchange(self: pool.Worker, kind: str, arguments: tuple[Any, ...]) -> Any:
        url = arguments[2][1] if kind == "page" else ""
        if url in chosen and seen[url] < times:
            seen[url] += 1
            killed.append(url)
            self.process.kill()
        return real(self, kind, arguments)

    monkeypatch.setattr(pool.Worker, "exchange", exchange)
    return killed


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("times", [1, 2, 3])
def test_no_page_is_blamed_for_workers_that_were_killed(
    monkeypatch: pytest.MonkeyPatch, times: int, seed: int
) -> None:
    wa.metadata(PAGES.head(2), workers=2, progress=False)  # there are warm ones
    killed = kills(monkeypatch, times, seed)
    frame = wa.metadata(PAGES, workers=2, progress=False)
    assert len(killed) == 20 * times
    assert frame["title"].tolist() == GOOD


def test_a_page_that_ends_every_worker_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    killed = kills(monkeypatch, 10**9)
    frame = wa.metadata(PAGES, workers=2, progress=False)
    failed = frame["status"] == "error"
    assert set(frame.loc[failed, "url"]) == set(killed)
    assert frame.loc[failed, "error_type"].unique().tolist() == ["parse"]
    assert max(Counter(killed).values()) <= pool.TRIES + 1  # bounded: the warm one, and some new ones


@pytest.mark.skipif(not template.Template.works_here(), reason="workers are forked on Linux only")
def test_the_template_may_be_killed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = template.Template.fork, [True] * 5

    def fork(self: template.Template, memory: int, names: tuple[str, ...]) -> template.ForkedProcess:
        process = self._process
        if process is not None and left:
            left.pop()
            process.kill()
            process.wait()
            process.poll = lambda: None  # type: ignore[method-assign]  # it dies as it is asked
        return real(self, memory, names)

    pool.close_idle_workers()
    wa.metadata(PAGES.head(1), workers=1, progress=False)
    while (
        warm := pool.idle_workers.warm(
            pool.idle_workers._workers[0].memory if pool.idle_workers._workers else 0
        )
    ) is not None:
        warm.process.close()
    monkeypatch.setattr(template.Template, "fork", fork)
    kills(monkeypatch, 1)
    # One at a time: of two workers one would lose what the other began.
    frame = wa.metadata(PAGES, workers=1, progress=False)
    assert not left
    assert frame["title"].tolist() == GOOD
