"""Pages rendered by the worker processes of a cluster: what comes of them, who starts browsers, and what is left."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.watching import looking
from webanalytics.fetching.testing import Reply, SiteServer

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHELL = b"<!doctype html><html lang=en><title>Shop</title><div id=root></div><script src=/app.js></script>"
SCRIPT = b"""fetch('/lamps.json').then(answer => answer.json()).then(lamps => {
  document.title = lamps[location.pathname][0];
  document.getElementById('root').innerHTML = lamps[location.pathname].map(text => `<p>${text}</p>`).join('') +
    '<a href=/1>First</a>' })"""
LAMPS = ", ".join(f'"/{number}": ["Lamp {number}", "It burns for {number} hours."]' for number in range(3))
SITE: dict[str, bytes | Reply] = {
    **{f"/{number}": SHELL for number in range(3)},
    "/app.js": Reply(headers={"Content-Type": "text/javascript"}, body=SCRIPT),
    "/lamps.json": Reply(headers={"Content-Type": "application/json"}, body=f"{{{LAMPS}}}".encode()),
    "/plain": b"<!doctype html><title>Plain</title><p>" + b"The keeper lit it at dusk. " * 10,
}
COLUMNS = [
    *("url", "status", "title", "visible_text", "rendered", "rendered_words"),
    *("words_without_scripts", "render_note"),
]


def browsers() -> dict[int, set[int]]:
    """Return the browsers below this process, and for each the processes between it and this one."""
    found = {}
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            line = " ".join(child.cmdline())
            if "--user-data-dir" in line and "--type=" not in line:
                found[child.pid] = {parent.pid for parent in child.parents()}
    return found


@contextmanager
def watched() -> Iterator[dict[int, set[int]]]:
    """Remember each browser that is seen in the block."""
    seen: dict[int, set[int]] = {}
    with looking(lambda: seen.update(browsers()), 0.1):
        yield seen


@pytest.fixture
def client() -> Iterator[Any]:
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster, set_as_default=False) as made:
        yield made


def test_workers_render_with_browsers_of_their_own(client: Any) -> None:
    workers = set(client.run(lambda dask_worker: __import__("os").getpid()).values())
    options: dict[str, Any] = {"render": "auto", "allow_private": True, "progress": False, "timeout": 60}
    with SiteServer(SITE, host="127.0.0.1") as one, SiteServer(SITE, host="127.0.0.2") as other:
        urls = [f"{site.url}{path}" for site in (one, other) for path in SITE if not path.startswith("/app")]
        urls = [url for url in urls if not url.endswith(".json")]
        with watched() as seen:
            audit = wa.audit(urls, backend=wa.Dask(client, chunk=3), **options)
        here = wa.audit(urls, **options)
    table, wanted = audit.raw[COLUMNS], here.raw[COLUMNS]
    assert_frame_equal(table, wanted, check_flags=False)
    assert table["rendered"].tolist() == [*([True] * 3), False] * 2
    assert table["visible_text"].str.contains("It burns for 2 hours.").sum() == 2
    changes = [found.rendering[["url", "what", "sent", "rendered"]] for found in (audit, here)]
    assert_frame_equal(*changes, check_flags=False)
    assert len(changes[0]) > 3 * 6
    assert seen
    assert all(parents & workers for parents in seen.values()), "each browser is one of a worker"
    end = time.monotonic() + BUSY_SECONDS
    while browsers() and time.monotonic() < end:
        time.sleep(0.1)
    assert browsers() == {}
