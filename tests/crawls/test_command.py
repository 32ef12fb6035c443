"""The sub-command ``crawl``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from webanalytics.cli import main
from webanalytics.fetching.testing import SiteServer

PAGES = {
    "/": b"<title>Home</title><a href=/a>A</a><a href=/b rel=nofollow>B</a><a href='/x?utm_source=1'>X</a>",
    "/a": b"<title>A</title><p>text",
    "/b": b"<title>B</title><p>text",
    "/x": b"<title>X</title><p>text",
}
FLAGS = ["--allow-private", "--no-progress", "--workers", "1"]


def test_pages_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with SiteServer(PAGES) as site:
        flags = ["--query", "tracking", "--nofollow", "--exclude", "/a$", "--no-sitemap", "-f", "jsonl"]
        status = main(["crawl", site.url, *FLAGS, *flags])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["url"].removeprefix(site.url) for line in lines] == ["/", "/b", "/x"]
    assert status == 0


@pytest.mark.filterwarnings("default")
def test_a_report_a_saved_audit_and_a_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SiteServer(PAGES) as site:
        kept = ["--report", str(tmp_path / "report.html"), "--save", str(tmp_path / "kept")]
        status = main(["crawl", site.url, "--max-pages", "2", *FLAGS, *kept, "--fail-on", "low"])
    said = capsys.readouterr().err
    assert "stopped at 2 of at least " in said
    assert status == 3
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "kept").is_dir()


def test_wrong_flags_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crawl", "mailto:x@example.org", *FLAGS]) == 2
    assert "`start`" in capsys.readouterr().err
    assert main(["crawl", "https://a.example/", "--include", "(", *FLAGS]) == 2
    assert "`include`" in capsys.readouterr().err
