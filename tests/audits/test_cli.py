"""The command line of audits, run as a user runs it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from webanalytics.audits.overview.display import FIX_FIRST
from webanalytics.cli import main
from webanalytics.fetching.testing import Reply, SiteServer

SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{{origin}}/</loc></url><url><loc>{{origin}}/b</loc></url></urlset>"""
PAGE = b"<!doctype html><title>Page</title><h1>One</h1><h1>Two</h1>"


@pytest.fixture
def site() -> Iterator[SiteServer]:
    pages = {
        "/": PAGE,
        "/b": b"<!doctype html><h1>No title</h1>",
        "/sitemap.xml": SITEMAP,
        "/gone": Reply(404),
    }
    with SiteServer(pages) as server:
        yield server


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webanalytics", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PROCESS_SECONDS, stdin=subprocess.DEVNULL, cwd=cwd
    )


class Told:
    """What a command said and how it ended, run in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        self.status = main([str(argument) for argument in arguments])
        self.out, self.err = capsys.readouterr()


def test_a_sitemap_to_a_report_and_a_gate(site: SiteServer, tmp_path: Path) -> None:
    arguments = ("audit", "--sitemap", f"{site.url}/sitemap.xml", "--allow-private")
    done = run(*arguments, "--report", "report.html", "--save", "kept", "--fail-on", "high", cwd=tmp_path)
    assert done.returncode == 3
    report = (tmp_path / "report.html").read_text("utf-8")
    assert f"{site.url}/b" in report
    kept, host = wa.load(tmp_path / "kept"), site.url.partition("://")[2]
    high = int((kept.issues["priority"] == "high").sum())
    assert f"webanalytics: --fail-on high: {high} issues ({high} high)" in done.stderr
    assert len(pd.read_csv(io.StringIO(done.stdout))) == 2, "into a pipe goes the table"
    lines = done.stderr.splitlines()
    lines = lines[lines.index(next(line for line in lines if line.startswith("Audit of "))) :]
    faults = int(((kept.issues["priority"] == "high") & (kept.issues["type"] != "warning")).sum())
    assert lines[0].startswith(f"Audit of {host}: 2 pages, 2 ok, 0 failed, {faults} high faults, ")
    assert f"Score: {kept.score:g} of 100" in lines
    first = lines[lines.index(FIX_FIRST) + 1]
    assert first.split() == [
        "20.0",
        "Page",
        "without",
        "https",
        "on",
        f"{host}:",
        "all",
        "2",
        "pages.",
        "[http_page]",
    ]
    assert f"Title missing on {site.url}/b. [title_missing]" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "flags", [(), ("--profile", "news"), ("--resources", "check"), ("--fail-on", "high")]
)
@pytest.mark.parametrize("command", ["audit", "crawl"])
def test_a_pipe_gets_the_pages_whatever_the_flags(
    site: SiteServer, capsys: pytest.CaptureFixture[str], command: str, flags: tuple[str, ...]
) -> None:
    told = Told(capsys, command, f"{site.url}/", "--allow-private", *flags)
    assert "Page" in pd.read_csv(io.StringIO(told.out))["title"].tolist()
    assert (FIX_FIRST in told.err) == (flags not in ((), ("--resources", "check")))


@pytest.mark.parametrize("flags", [(), ("--sitemap", "/sitemap.xml")], ids=["urls", "sitemap"])
def test_a_terminal_shows_what_to_fix_first_and_a_pipe_is_a_table(
    site: SiteServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
) -> None:
    asked = [f"{site.url}{flag}" if flag.startswith("/") else flag for flag in flags or ("/",)]
    piped = Told(capsys, "audit", *asked, "--allow-private")
    assert "Page" in pd.read_csv(io.StringIO(piped.out))["title"].tolist()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = Told(capsys, "audit", *asked, "--allow-private", "--no-progress")
    assert shown.out.startswith(f"Audit of {site.url[7:]}: ")
    assert FIX_FIRST in shown.out
    assert "All of it: --report report.html or -o audit.xlsx." in shown.out
    monkeypatch.undo()
    asked_for = Told(capsys, "audit", *asked, "--allow-private", "--format", "summary")
    assert asked_for.out == shown.out, "the same screen, into a pipe"
    table = Told(capsys, "audit", *asked, "--allow-private", "--no-progress", "--format", "table")
    assert FIX_FIRST not in table.out + table.err


def test_a_pipe_speaks_of_flags(site: SiteServer, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, "audit", f"{site.url}/")
    assert "--allow-private lets it through" in told.out
    assert "allow_private" not in told.out


@pytest.mark.parametrize(
    ("lowest", "status"), [("high", 0), ("medium", 3), ("low", 3)], ids=["high", "medium", "low"]
)
def test_the_gate_counts_a_priority_and_those_above(
    site: SiteServer, capsys: pytest.CaptureFixture[str], tmp_path: Path, lowest: str, status: int
) -> None:
    (tmp_path / "own.toml").write_text(
        'off = ["http_page", "no_internal_links", "content_empty", "title_missing"]\n'
    )
    told = Told(
        capsys,
        "audit",
        f"{site.url}/",
        "--allow-private",
        "--thresholds",
        tmp_path / "own.toml",
        "--fail-on",
        lowest,
    )
    assert "0 high faults" in told.err
    assert told.status == status
    assert (f"--fail-on {lowest}: " in told.err) == bool(status)


def test_failed_rows_are_status_1_and_a_gate_goes_before(
    site: SiteServer, capsys: pytest.CaptureFixture[str]
) -> None:
    told = Told(capsys, "audit", f"{site.url}/gone", "--allow-private", "--profile", "strict")
    assert told.status == 1
    assert "0 pages, 0 ok, 0 failed, 1 missing" in told.err
    assert "Not read\n1 address: The page answered HTTP 404, such as" in told.err
    assert Told(capsys, "audit", f"{site.url}/gone", "--allow-private", "--fail-on", "high").status == 3


def test_pages_and_summary_do_not_mix(
    site: SiteServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = Told(capsys, "audit", f"{site.url}/", "--allow-private", "--profile", "news", "-f", "csv")
    assert pd.read_csv(io.StringIO(told.out))["title"].tolist() == ["Page"]
    assert FIX_FIRST in told.err
    path = tmp_path / "pages.csv"
    told = Told(capsys, "audit", f"{site.url}/", "--allow-private", "--profile", "news", "-o", path)
    assert pd.read_csv(path)["title"].tolist() == ["Page"]
    assert FIX_FIRST in told.out
    told = Told(
        capsys, "audit", f"{site.url}/", "--allow-private", "--profile", "news", "-o", tmp_path / "a.xlsx"
    )
    book = openpyxl.load_workbook(tmp_path / "a.xlsx", read_only=True)
    assert book.sheetnames == ["Overview", "Fix first", "Summary", "Issues", "Pages"]
    book.close()


def test_sizes_of_images_are_a_flag(
    site: SiteServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Told(capsys, "audit", f"{site.url}/", "--allow-private", "--image-sizes", "--save", tmp_path / "kept")
    assert "image_bytes" in wa.load(tmp_path / "kept").raw


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--profile", "none"], "The `profile` parameter names no known profile"),
        (["--thresholds", "none.toml"], "The `thresholds` parameter names a file that cannot be read"),
        (["--report", "none/report.html"], "The `report` parameter must be in an existing folder."),
        (["--save", "none/kept"], "The `save` parameter must be in an existing folder."),
    ],
)
def test_a_wrong_call_is_told_before_any_fetch(
    site: SiteServer, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    told = Told(capsys, "audit", f"{site.url}/", "--allow-private", *arguments)
    assert told.status == 2
    assert told.err.startswith(f"webanalytics: {sentence}")
    assert not site.requests
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "x", "--fail-on", "severe"])


def test_a_sitemap_that_is_none_is_a_wrong_call(site: SiteServer, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, "audit", "--sitemap", f"{site.url}/gone", "--allow-private")
    assert told.status == 2
    assert (
        "The `sitemap` parameter must be a sitemap that lists pages. The sitemap answered HTTP 404."
        in told.err
    )


@pytest.mark.parametrize("flags", [(), ("-o", "pages.csv", "--format", "summary")], ids=["pipe", "file"])
def test_a_sitemap_that_could_not_be_read_is_told_beside_the_pages(
    flags: tuple[str, ...], site: SiteServer, tmp_path: Path
) -> None:
    given = ("--sitemap", f"{site.url}/gone", "--allow-private", *flags)
    done = run("audit", f"{site.url}/", *given, cwd=tmp_path)
    assert done.returncode == 1
    assert "/gone: The sitemap answered HTTP 404." in done.stdout + done.stderr


def test_two_saved_audits_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    better = PAGE.replace(b"<h1>Two</h1>", b"")
    with SiteServer({"/": [better, PAGE], "/b": PAGE}) as site:
        common = ("--allow-private", "--save")
        Told(capsys, "audit", f"{site.url}/", *common, tmp_path / "a")
        Told(capsys, "audit", f"{site.url}/", f"{site.url}/b", *common, tmp_path / "b")
    same = Told(capsys, "compare", tmp_path / "a", tmp_path / "a", "--fail-on-new", "low")
    assert (same.status, same.err) == (0, "")
    told = Told(
        capsys,
        "compare",
        tmp_path / "a",
        tmp_path / "b",
        "--fail-on-new",
        "medium",
        "-o",
        tmp_path / "c.xlsx",
    )
    assert told.status == 3
    assert told.out.startswith(f"Comparison of {site.url[7:]}: 1 page added, 0 pages removed, 1 page changed")
    assert "webanalytics: --fail-on-new medium: " in told.err
    assert "new issues (" in told.err
    line = next(line.split() for line in told.out.splitlines() if "Several h1" in line)
    assert line[:8] == ["Several", "h1", "medium", "0", "2", "1", "1", "0"]
    again = Told(capsys, "compare", tmp_path / "a", tmp_path / "b", "--again", tmp_path / "a")
    assert "1 page changed" not in again.out, "where the page differs from itself is no change"
    assert Told(capsys, "compare", tmp_path / "a", tmp_path / "b", "--again", tmp_path).status == 2
    assert (tmp_path / "c.xlsx").is_file()
    assert Told(capsys, "compare", tmp_path / "a", tmp_path / "b").status == 0
    told = Told(capsys, "compare", tmp_path / "a", tmp_path / "b", "--report", tmp_path / "r.html")
    assert "Changed fields" in (tmp_path / "r.html").read_text("utf-8")


def test_folders_without_an_audit_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, "compare", tmp_path, tmp_path / "none")
    assert told.status == 2
    assert told.err.startswith(
        f"webanalytics: The `before` parameter must be a folder that holds a saved audit, unlike `{tmp_path}`; "
    )


def test_the_exit_statuses_are_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("audit", "compare"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "exit with status 3" in " ".join(capsys.readouterr().out.split())


def test_an_interrupted_audit_does_not_take_the_place_of_a_whole_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = wa.audit(pd.DataFrame({"url": ["x", "y"], "html": ["<p>a", "<p>b"]}), progress=False, workers=1)
    whole.save(tmp_path / "kept")

    def interrupted(*_: object, **__: object) -> None:
        raise wa.AuditInterrupted(wa.Audit(whole.raw.head(1)), 2)

    monkeypatch.setattr("webanalytics.sync.audit", interrupted)
    told = Told(capsys, "audit", "x", "y", "--save", tmp_path / "kept", "--fail-on", "high")
    assert told.status == 130
    assert "not kept" in told.err
    assert "1 page, 1 ok, 0 failed" in told.err
    assert len(wa.load(tmp_path / "kept")) == 2


def test_options_are_named_as_flags(site: SiteServer, capsys: pytest.CaptureFixture[str]) -> None:
    told = Told(capsys, "audit", f"{site.url}/", "--format", "summary")
    assert "1 address: The host is not public: --allow-private lets it through" in " ".join(told.out.split())
    assert "`" not in told.out
    told = Told(capsys, "audit", f"{site.url}/", "-f", "table")
    assert "1 x The host is not public; --allow-private lets it through." in told.out


def test_the_demo_says_what_to_fix_first_and_how_to_open_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", str(tmp_path / "demo")]) == 0
    out = capsys.readouterr().out
    assert f"\n{FIX_FIRST}\n" in out
    assert "Page without https" not in out
    assert "Switched off: http_page." in out
    assert "Score: " in out
    assert "10 languages" in out  # those that data/README.md names
    assert "Hardest to read: Visual comfort" in out  # the terms of sale have no sentences that a scale fits
    assert "nan" not in out.split(FIX_FIRST)[0]
    report = tmp_path / "demo" / "report.html"
    assert f"Open the report in a browser: {report.as_uri()}" in out
    for name in ("audit.csv", "audit.parquet", "keywords.png", "readability.png", "report.html"):
        assert (tmp_path / "demo" / name).stat().st_size
