"""The guides' lines about a hosted API, run as they stand against a real service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import webanalytics as wa
from tests.service.live import Server
from webanalytics.fetching.testing import sample_site

GUIDES = Path(__file__).parents[3] / "docs" / "guides"


def block(guide: str) -> str:
    found = re.search(r"```python\n(.*?)```", (GUIDES / guide).read_text("utf-8"), re.S)
    assert found
    return found[1]


def test_the_lines_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Server(tmp_path) as server, sample_site() as site:
        monkeypatch.setenv("WEBANALYTICS_API_KEY", server.key(plan="pro"))
        names = {"pages": wa.sitemap(site.sitemap, allow_private=True)}
        code = block("hosted.md").replace("https://api.example.com", server.base)
        try:
            exec(code, names)
            told = names["audit"].raw.attrs["credits"]
            estimate = names["wa"].estimate("audit", names["pages"], names["api"])
            exec(block("checkpoints.md"), names)
        finally:
            wa.use(None)
    assert str(estimate) in code
    assert str(told) in code
    assert names["signed"].loc[0, "status"] == "ok"
    assert {path.suffix for path in (tmp_path / "audit-2026").iterdir()} == {
        "",
        ".json",
        ".jsonl",
        ".parquet",
    }
    assert (names["audit"].raw["status"] == "ok").sum() == 36
