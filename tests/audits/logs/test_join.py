"""Hits of logs beside the pages of an audit: each hit is of its page or left over, and none twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.logs import writers
from webanalytics.cli import main

TOP = "https://shop.example"
PAGES = {
    "/": "<title>Shop</title><h1>Shop</h1><a href=/tea>Tea</a><a href=/pot>Pot</a>",
    "/tea": "<title>Tea</title><h1>Tea</h1>",
    "/pot": "<title>Pot</title><h1>Pot</h1>",
    "/hidden": "<title>Hidden</title><meta name=robots content=noindex>",
}
GOOGLE, GPT, USER = "Googlebot/2.1", "GPTBot/1.2", "Mozilla/5.0 (Windows NT 10.0)"
HITS = [
    *[("/", GOOGLE, 200)] * 3,
    *[("/tea", GPT, 200)] * 2,
    ("/TEA/?utm_source=x", GOOGLE, 200),
    ("/tea/", GOOGLE, 301),  # leads to the page, and is not of it
    *[("/hidden", GOOGLE, 200)] * 4,
    *[("/pot", USER, 200)] * 7,
    *[("/forgotten", GOOGLE, 200)] * 2,
    ("/forgotten", USER, 200),
    ("/logo.png", GOOGLE, 200),
    ("/gone", GOOGLE, 404),
    ("", USER, 400),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access.log"
    lines = [writers.combined(writers.apache, url, agent, status=status) for url, agent, status in HITS]
    path.write_text("".join(lines))
    return path


def audited() -> Any:
    return wa.audit(pd.DataFrame({"url": [TOP + path for path in PAGES], "html": list(PAGES.values())}))


def test_each_hit_is_of_its_page_or_left_over(log: Path) -> None:
    audit = audited().with_logs(wa.logs(log))
    columns = ["search_hits", "ai_hits", "people_hits", "last_search_hit"]
    found = audit.pages.set_index("url")[columns]
    assert found.loc[f"{TOP}/"].tolist() == [3, 0, 0, "2026-11-24"]
    assert found.loc[f"{TOP}/tea", columns[:3]].tolist() == [1, 2, 0]
    assert found.loc[f"{TOP}/pot", columns[:3]].tolist() == [0, 0, 7]
    assert pd.isna(found.loc[f"{TOP}/pot", "last_search_hit"])
    assert audit.log_hits["hits"].sum() == len(HITS)
    assert audit.log_hits.groupby("page")["hits"].sum()[False] == audit.unmatched["hits"].sum()
    assert set(audit.unmatched["url"]) == {"/tea/", "/forgotten", "/logo.png", "/gone", ""}
    row = audit.log_hits.set_index(["url", "crawler"]).loc[(f"{TOP}/tea", "GPTBot")]
    assert row[["purpose", "status", "hits"]].tolist() == ["ai training", 200, 2]


def test_what_only_both_know(log: Path) -> None:
    audit = audited().with_logs(wa.logs(log))
    issues = audit.log_issues()
    assert issues[["url", "fact", "hits"]].values.tolist() == [
        [f"{TOP}/hidden", "noindex", 4],
        ["/forgotten", "not in the audit", 3],
        [f"{TOP}/pot", "never crawled", 0],
        [f"{TOP}/", "no AI crawler", 0],
        [f"{TOP}/pot", "no AI crawler", 0],
    ]
    assert issues["evidence"].tolist()[:2] == [
        "Crawlers asked for it 4 times (Googlebot), last on 2026-11-24.",
        "Answered HTTP 200 3 times (Googlebot, people), last on 2026-11-24.",
    ]
    clicks = pd.DataFrame({"page": ["/tea", "/nowhere"], "clicks": [7, 1]})
    assert audit.with_search_data(clicks).log_issues().equals(issues), (
        "what is left over of clicks is not of logs"
    )
    part = audit.select(f"{TOP}/pot")
    assert part.log_issues()["url"].unique().tolist() == [f"{TOP}/pot"]
    assert len(part.unmatched) == len(audit.unmatched)
    assert part.log_hits.equals(audit.log_hits)


def test_who_only_says_that_he_is_a_crawler_counts_for_none(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ranges"
    folder.mkdir()
    folder.joinpath("googlebot.json").write_text('{"prefixes": [{"ipv4Prefix": "66.249.64.0/19"}]}')
    audit = audited().with_logs(wa.logs(log, verify=folder))
    assert audit.pages["search_hits"].sum() == 0
    assert audit.pages["ai_hits"].sum() == 2
    assert audit.log_issues()["fact"].tolist().count("never crawled") == 0, "no search engine came at all"


def test_wrong_calls_are_refused(log: Path) -> None:
    audit = audited()
    with pytest.raises(wa.ParameterError, match="with_logs"):
        audit.log_issues()
    with pytest.raises(wa.ParameterError, match="`logs`"):
        audit.with_logs(str(log))
    with pytest.raises(wa.ParameterError, match="`logs`"):
        audit.with_logs(wa.logs(log)).with_logs(wa.logs(log))


def test_logs_without_a_line(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text("")
    found = wa.logs(tmp_path / "access.log")
    assert (len(found), found.crawlers().empty, len(found.hits.columns)) == (0, True, 10)
    audit = audited().with_logs(found)
    assert audit.pages["search_hits"].tolist() == [0] * len(PAGES)
    assert audit.log_issues().empty


def test_on_the_command_line(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", str(log), "-o", str(tmp_path / "crawlers.csv")]) == 0
    table = pd.read_csv(tmp_path / "crawlers.csv").set_index("purpose")
    assert table.loc["search", ["hits", "redirects", "errors"]].tolist() == [13, 1, 1]
    assert f"{len(HITS)} lines, 0 unread" in capsys.readouterr().err
    audited().save(tmp_path / "saved")
    assert main(["logs", str(log), "--audit", str(tmp_path / "saved"), "--log-format", "combined"]) == 0
    assert "not in the audit" in capsys.readouterr().out
    assert main(["logs", str(tmp_path / "none.log")]) == 2
    assert "none.log" in capsys.readouterr().err
