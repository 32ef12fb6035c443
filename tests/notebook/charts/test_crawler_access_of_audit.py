"""The matrix of crawlers drawn of an audit itself."""

from __future__ import annotations

from dataclasses import replace

import webanalytics as wa
from tests.audits.sites import frame, page
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.notebook import charts


def test_an_audit_is_drawn_as_its_sections() -> None:
    made = wa.audit(frame(page("/"), page("/blog/a")))
    site = made.raw["url"].iloc[0].rstrip("/")
    closed = RobotsCopy("User-agent: GPTBot\nDisallow: /blog/", 200)
    audit = wa.Audit(made.raw, replace(made.origin, robots_files={site: closed}))
    drawn, same = charts.crawler_access(audit), charts.crawler_access(audit.ai_sections())
    rows = [label.get_text() for label in drawn.get_yticklabels()]
    assert "/blog" in rows
    assert rows == [label.get_text() for label in same.get_yticklabels()]
    assert [text.get_text() for text in drawn.texts] == [text.get_text() for text in same.texts]
    all_open = wa.Audit(made.raw, replace(made.origin, robots_files={site: RobotsCopy("User-agent: *", 200)}))
    said = " ".join(" ".join(text.get_text() for text in charts.crawler_access(all_open).texts).split())
    assert said.startswith("robots.txt leaves every page open to"), "no wall of cells that all say 100"
