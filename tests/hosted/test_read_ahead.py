"""How many pages a local audit has fetched in vain when it is killed with -9."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tests.hosted.test_resume import Killed
from webanalytics.backends.answering import AHEAD
from webanalytics.operations import AUDIT_PAGES
from webanalytics.testing import SiteServer

PAGES, WORKERS, KILLS = 200, 2, 3
LINES = "".join(
    f"<p>Sentence number {number} of a page that takes a moment to read." for number in range(600)
)
WAITING = WORKERS * AHEAD
UNWRITTEN = 40
"""Room for pages that are analysed and not yet in a part: parts are written each second, so often every few."""


def test_a_kill_costs_few_fetched_pages(tmp_path: Path) -> None:
    """Pages come faster than they are analysed: those that wait are lost, so few of them may."""
    content = {f"/p{number}": f"<title>Page {number}</title>{LINES}".encode() for number in range(PAGES)}
    with SiteServer(content) as site:
        arguments = {"allow_private": True, "workers": WORKERS, "robots": False, "per_host": 32}
        call = Killed(tmp_path, "audit", [site.url + path for path in content], arguments)
        wasted = []
        for _ in range(KILLS):
            asked, kept = len(site.requests), call.rows // len(AUDIT_PAGES) if call.checkpoint.exists() else 0
            assert call.leg(
                lambda: call.rows if call.checkpoint.exists() else 0, (kept + 40) * len(AUDIT_PAGES)
            )
            wasted.append(len(site.requests) - asked - (call.rows // len(AUDIT_PAGES) - kept))
        frame = call.finish()
    assert max(wasted) <= WAITING + 32 + UNWRITTEN, wasted
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(PAGES))
    assert (frame["status"] == "ok").all()
