"""The matrix of crawlers drawn of an audit itself."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

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


def test_what_is_the_same_to_all_is_a_sentence_or_a_number() -> None:
    names = [("GPTBot", "training"), ("Googlebot", "search")]
    shares = {"": (1.0, 1.0), "shop": (0.5, 0.5), "blog": (0.0, 1.0), "news": (0.0, 1.0)}
    rows = pd.DataFrame(
        [
            (*name, section, 3, share)
            for section, of in shares.items()
            for name, share in zip(names, of, strict=True)
        ],
        columns=["crawler", "purpose", "section", "pages", "share"],
    )
    ax = charts.crawler_access(rows)
    assert sorted(label.get_text() for label in ax.get_yticklabels()) == ["/blog and 1 other", "/shop"]
    assert "1 section open to all" in " ".join(text.get_text() for text in ax.texts)
    alike = charts.crawler_access(rows[~rows["section"].isin(["blog", "news"])])
    said = " ".join(" ".join(text.get_text() for text in alike.texts).split())
    assert (
        "robots.txt makes no difference between 2 crawlers. Open to each: 50% of /shop, all of 1 other section."
        in said
    )
