"""Crawls whose rows are in a folder: equal to those in memory, and gone on with from wherever they ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.audits.test_stored import cells, plainly
from tests.crawls.test_crawl import OPTIONS, SITE, TIMES, crawled, page, paths, web
from tests.effort import BUSY_SECONDS
from webanalytics.audits.audit import Audit
from webanalytics.cli import main
from webanalytics.crawls import rows, run
from webanalytics.crawls import rows as kept_rows
from webanalytics.errors import IncompleteRunWarning, ParameterError
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.storage import row_folder as saving
from webanalytics.runs.storage.checkpoint import Checkpoint
from webanalytics.runs.storage.lazy_columns import StoredDtype

PAGES = web(20)
ASKED_BESIDES = ("robots", "sitemap", "no-such-page")
"""What each crawl of a site asks for besides its pages."""
OF_TIMES = (*TIMES, "score", "issues_high", "issues_medium", "issues_low")
"""Columns that tell slow answers."""


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables have 4 rows and parts 8, so that a few pages make several."""
    monkeypatch.setattr(saving, "FRAME_ROWS", 4)
    monkeypatch.setattr(saving, "PART_ROWS", 8)
    monkeypatch.setattr(rows, "FRAME_ROWS", 4)
    monkeypatch.setattr(kept_rows, "PART_CHARACTERS", 4_000)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer(PAGES) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


def asked(site: SiteServer, before: int) -> list[str]:
    """Return the pages that were asked for since so many requests."""
    targets = [request.target for request in list(site.requests)[before:]]
    return [target for target in targets if not any(name in target for name in ASKED_BESIDES)]


def found(audit: wa.Audit) -> pd.DataFrame:
    """Return the issues, apart from those of slow answers: the machine may be busy."""
    issues = plainly(audit.issues)
    return issues[issues["rule"] != "slow_response"].reset_index(drop=True)


def same(first: wa.Audit, second: wa.Audit) -> None:
    """Compare everything that two crawls of one site know, apart from times."""
    assert list(first.raw.columns) == list(second.raw.columns)
    for name in first.raw.columns:
        if name not in TIMES:
            assert cells(first.raw[name]) == cells(second.raw[name]), name
    for name in ("skipped", "checked", "traps"):
        pd.testing.assert_frame_equal(getattr(first.origin.crawl, name), getattr(second.origin.crawl, name))
    pd.testing.assert_frame_equal(first.links, second.links)
    pd.testing.assert_frame_equal(found(first), found(second))
    pages, others = first.pages, second.pages
    assert list(pages.columns) == list(others.columns)
    for name in pages.columns:  # with those of the link graph
        if name not in OF_TIMES:
            assert cells(pages[name]) == cells(others[name]), name


def test_everything_is_that_of_a_crawl_in_memory(tmp_path: Path) -> None:
    with SiteServer(SITE) as site:
        whole = crawled(site)
        kept = crawled(site, store=tmp_path / "crawl")
        deep = f"{site.url}/deep/3"
        assert kept.paths(deep).equals(whole.paths(deep))
    same(whole, kept)
    assert kept.raw.attrs == whole.raw.attrs
    assert isinstance(kept.raw["text"].dtype, StoredDtype)
    names = sorted(path.name for path in (tmp_path / "crawl").iterdir())
    assert sum(name.startswith("rows-") for name in names) == 2
    assert not [name for name in names if name.startswith("part-")], "the log is gone"
    loaded = wa.load(tmp_path / "crawl")
    same(whole, loaded)
    assert loaded.paths(deep).equals(whole.paths(deep))
    assert loaded.broken_links.equals(whole.broken_links)
    assert loaded.report(tmp_path / "report.html").stat().st_size > 10_000
    changes = wa.compare(tmp_path / "crawl", whole).changes
    assert set(changes["field"]) <= {"fetched_at"}


def test_what_is_asked_besides_and_own_columns_are_there_too(tmp_path: Path) -> None:
    pages = {
        "/": b"<title>Home</title><img src=/gone.png><p class=price>7</p><a href=/a>A</a>",
        "/a": b"<title>A</title><a href=/>Home</a>",
    }
    options: dict[str, Any] = {"resources": "check", "extract": {"price": ".price::text"}}
    with SiteServer(pages) as site:
        whole = crawled(site, **options)
        kept = crawled(site, store=tmp_path / "crawl", **options)
    same(whole, kept)
    assert kept.raw["price"].tolist()[0] == "7"
    assert kept.raw["broken_resources"].tolist()[0][0]["url"].endswith("/gone.png")
    same(whole, wa.load(tmp_path / "crawl"))


def test_the_same_folder_goes_on_and_for_more_pages(site: SiteServer, folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteRunWarning)
        crawled(site, max_pages=12, store=folder)
    before = len(site.requests)
    more = crawled(site, store=folder)
    fetched = asked(site, before)
    assert len(set(fetched)) <= len(more) - 12 + 1  # what a redirect leads to is asked with it
    before = len(site.requests)
    again = crawled(site, store=folder)
    assert not asked(site, before)
    assert len(again) == len(more)
    whole = crawled(site)
    same(whole, more)
    same(whole, wa.load(folder))


KILLED = textwrap.dedent("""
    import sys, webanalytics as wa
    from webanalytics.crawls import rows
    from webanalytics.runs.storage import row_folder as saving
    saving.FRAME_ROWS = rows.FRAME_ROWS = 4
    saving.PART_ROWS = 8
    wa.crawl(sys.argv[1], store=sys.argv[2], allow_private=True, progress=False, workers=1, per_host=4)
""")


def test_killed_at_any_moment_the_same_call_goes_on(folder: Path) -> None:
    with SiteServer(web(36), delay=0.05) as site:
        whole = crawled(site)
        for moment in (1, 3):  # parts that are there
            process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", KILLED, site.url, str(folder)])
            until = time.monotonic() + 4 * BUSY_SECONDS
            while time.monotonic() < until and len(list(folder.glob("rows-*"))) < moment:
                time.sleep(0.02)
            process.kill()
            assert process.wait() == -signal.SIGKILL
        finished = set(pd.concat([pd.read_parquet(path) for path in folder.glob("rows-*")])["input_digest"])
        before = len(site.requests)
        audit = crawled(site, store=folder)
        again = asked(site, before)
    same(whole, audit)
    same(whole, wa.load(folder))
    assert len(finished) >= 16
    assert len(set(again)) <= len(whole) - len(finished) + 1  # what a redirect leads to is asked with it


def test_an_interrupt_keeps_what_is_there_and_is_gone_on_with(folder: Path) -> None:
    slow = {**SITE, "/c": [Reply(200, {}, SITE["/c"], delay=float("inf")), SITE["/c"]]}
    with SiteServer(slow) as site:

        def interrupt() -> None:
            until = time.monotonic() + BUSY_SECONDS
            while time.monotonic() < until and "/orphan" not in [one.target for one in site.requests]:
                if "/d" in [one.target for one in site.requests]:
                    break
                time.sleep(0.02)
            time.sleep(0.5)
            signal.raise_signal(signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with pytest.raises(wa.AuditInterrupted) as caught:
            crawled(site, store=folder)
        part = caught.value.partial
        assert isinstance(part, Audit)
        assert paths(site, part.raw["url"])[:3] == ["/", "/a", "/b?utm_source=x"]
        assert part.raw["text"].notna().any()
        assert isinstance(part.raw["text"].dtype, StoredDtype)
        with pytest.raises(ParameterError, match="goes on with the same call and `store`"):
            wa.load(folder)
        before = len(site.requests)
        audit = crawled(site, store=folder)
        assert not {"/", "/a", "/old"} & set(asked(site, before))
        same(crawled(site), audit)


def test_a_folder_is_whole_after_each_step_of_writing(
    site: SiteServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed between two steps leaves the log: what is in it has no need of the parts."""
    monkeypatch.setattr(Checkpoint, "forget", lambda *_: None)
    crawled(site, store=folder)
    monkeypatch.undo()
    assert list(folder.glob("part-*"))
    for path in [*folder.glob("found-*"), *sorted(folder.glob("rows-*"))[1:]]:
        path.unlink()
    before = len(site.requests)
    again = crawled(site, store=folder)
    assert not asked(site, before)
    same(crawled(site), again)


def test_a_page_whose_links_are_not_known_is_fetched_again(site: SiteServer, folder: Path) -> None:
    whole = crawled(site, store=folder)
    for path in sorted(folder.glob("found-*"))[-2:]:
        path.unlink()
    before = len(site.requests)
    again = crawled(site, store=folder)
    assert 0 < len(set(asked(site, before))) < len(whole) / 2
    same(whole, again)


def test_what_failed_is_asked_again_when_that_is_wanted(folder: Path) -> None:
    pages = {"/": page("Home", "/late", "/b"), "/late": [Reply(404), page("Late", "/c")], "/b": page("B")}
    with SiteServer({**pages, "/c": page("C")}) as site:
        assert crawled(site, store=folder).raw["http_status"].tolist() == [200, 404, 200]
        assert crawled(site, store=folder).raw["http_status"].tolist() == [200, 404, 200]
        before = len(site.requests)
        audit = crawled(site, store=folder, redo="failed")
        assert asked(site, before) == ["/late", "/c"]
        assert paths(site, audit.raw["url"]) == ["/", "/late", "/b", "/c"]
        assert wa.load(folder).raw["title"].tolist() == ["Home", "Late", "B", "C"]


def test_few_answers_are_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One slow page holds the others up; of those, no more than the limit wait."""
    waiting: list[int] = []
    written: list[int] = []
    take, write = run.Frontier.take, saving.GrowingBuilder.write

    def taking(self: Any, *args: Any, **more: Any) -> None:
        take(self, *args, **more)
        waiting.append(len(self._ready))

    def writing(self: Any, **more: Any) -> Any:
        written.append(sum(answer is not None for answer in self._answers))
        return write(self, **more)

    monkeypatch.setattr(run, "MOST_READY", 10)
    monkeypatch.setattr(run.Frontier, "take", taking)
    monkeypatch.setattr(saving.GrowingBuilder, "write", writing)
    names = [f"/p{number}" for number in range(80)]
    pages: dict[str, Any] = {name: page(name) for name in names}
    pages["/p0"] = Reply(200, {}, page("slow"), delay=2)
    with SiteServer({**pages, "/": page("Home", *names)}) as site:
        audit = crawled(site, store=folder, per_host=4)
    assert len(audit) == 81
    assert max(waiting) < 10 + 4 + 4 * 1 + 1, "what was under way when the limit was reached"
    assert max(written) <= 40


def test_a_folder_of_another_call_or_of_something_else_is_refused(
    site: SiteServer, folder: Path, tmp_path: Path
) -> None:
    crawled(site, store=folder, max_depth=1)
    for wrong, name in (
        (lambda: wa.crawl("https://another.example/", store=folder, **OPTIONS), "store"),
        (lambda: crawled(site, store=folder, extract={"a": "h1"}), "store"),
        (lambda: wa.audit([site.url], store=folder, **OPTIONS), "store"),
        (lambda: crawled(site, store=tmp_path / "file" / "x"), "store"),
    ):
        (tmp_path / "file").write_text("x")
        with pytest.raises(ParameterError) as caught:
            wrong()
        assert caught.value.parameter == name


def test_parts_that_were_changed_are_refused_and_never_believed(site: SiteServer, folder: Path) -> None:
    crawled(site, store=folder, max_depth=1)
    part = min(folder.glob("found-*"))
    table = parquet.read_table(part)
    (place,) = [number for number, name in enumerate(table.column_names) if name == "data"]
    hostile = table.set_column(place, "data", [['{"outlinks": 5}'] * len(table)])
    for wrong in (table.drop_columns(["data"]), hostile.cast(table.schema)):
        parquet.write_table(wrong, part)
        with pytest.raises(ParameterError, match=r"`store`.*unchanged, unlike found-"):
            crawled(site, store=folder, max_depth=1)
    part.write_bytes(b"PAR1")
    with pytest.raises(ParameterError, match=r"`store`.*unchanged, unlike found-"):
        crawled(site, store=folder, max_depth=1)


def test_on_the_command_line(site: SiteServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(
        ["crawl", site.url, "--allow-private", "--store", str(folder), "--max-depth", "1", "-f", "csv"]
    )
    assert status == 0
    shown = capsys.readouterr().out
    assert "Home" in shown
    assert len(wa.load(folder)) == shown.count(site.url + "/p") or len(wa.load(folder)) > 1
