"""Audits by date in a folder: what is asked of them, how little is stored, and what an interruption does."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from webanalytics.audits.history import folder as folders
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import crawl_site
from webanalytics.notebook.charts.timeline import timeline
from webanalytics.runs.storage.store import Store

LETTERS = random.Random(3)
WORDS = ["".join(LETTERS.choice("abdeginorstu") for _ in range(LETTERS.randint(3, 9))) for _ in range(4_000)]


def html(seed: int, words: int = 30, title: str = "") -> str:
    said = random.Random(seed)
    text = " ".join(said.choice(WORDS) for _ in range(words))
    links = "".join(f'<a href="/{said.randrange(99)}">{said.choice(WORDS)}</a>' for _ in range(5))
    return f"<title>{title or said.choice(WORDS)}</title><h1>{said.choice(WORDS)}</h1><p>{text}</p>{links}"


def audited(pages: dict[str, str], date: str) -> wa.Audit:
    frame = pd.DataFrame(
        {"url": [f"https://a.example/{name}" for name in pages], "html": list(pages.values())}
    )
    audit = wa.audit(frame)
    return wa.Audit(audit, dataclasses.replace(audit.origin, date=f"{date}T02:00:00+00:00"))


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a history of three audits, and the last one alone beside it."""
    place = tmp_path_factory.mktemp("three")
    history = wa.history(place / "site")
    pages = {"": html(1, title="Home"), "tea": html(2, title="Tea"), "old": html(3, title="Old")}
    audited(pages, "2026-09-30").save(history=history.folder)
    pages |= {"tea": html(2, title="Green tea"), "new": html(4).replace("<title>", "<b>")}
    pages.pop("old")
    audited(pages, "2026-10-01").save(history=history.folder)
    audited(pages | {"new": html(4, title="New")}, "2026-11-01").save(place / "alone", history=history.folder)
    return place


@pytest.fixture
def three(made: Path, tmp_path: Path) -> wa.audits.history.history.History:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return wa.history(tmp_path / "site")


def test_what_is_asked_of_a_history(three: Any, tmp_path: Path) -> None:
    assert [f"{date:%Y-%m-%d}" for date in three.dates] == ["2026-09-30", "2026-10-01", "2026-11-01"]
    assert three.scores()["pages"].tolist() == [3, 3, 3]
    loaded = [wa.Audit(*folders.audit_of(folders.store_of(three.folder), run)) for run in three._runs]
    assert three.scores()["score"].tolist() == [audit.score for audit in loaded]
    assert three.rule("title_missing")["issues"].tolist() == [0, 1, 0]
    assert three.rule("title_missing")["change"].tolist() == [pd.NA, 1, -1]
    assert three.rule("slow_response")["issues"].isna().all(), "pages that were given have no time"
    tea = three.page("https://A.example/tea", ["title", "lang"])
    assert tea["title"].tolist() == ["Tea", "Green tea", "Green tea"]
    assert tea["changed"].tolist() == [None, ["title"], []]
    old = three.page("https://a.example/old", ["title"])
    assert old["title"].dropna().tolist() == ["Old"]
    assert old["changed"].isna().all(), "it was there once: nothing to compare with"
    assert len(three.since("2026-10")) == 2
    assert len(three.since("2026-10").since("2026")) == 2
    assert three.load("2026-10").pages["title"].tolist() == loaded[1].pages["title"].tolist()
    assert three.load(datetime.date(2026, 10, 1)).origin.date == three.dates[1].isoformat()  # type: ignore[arg-type]
    assert three.load(three.dates[1]).origin.date == three.dates[1].isoformat()
    moment = three.dates[1]
    for said in (
        moment.tz_convert("Asia/Tokyo"),
        moment.tz_localize(None),
        "2026-10-01T02:00",
        "2026-09-30T22:00-04:00",
    ):
        assert three.load(said).origin.date == moment.isoformat()
    assert len(three.since(datetime.date(2026, 10, 1))) == 2  # type: ignore[arg-type]
    assert three.compare(after="2026-10").before.origin.date == three.dates[0].isoformat()
    changed = three.compare().changes
    assert changed.loc[changed["field"] == "title", "url"].tolist() == ["https://a.example/new"]
    assert (
        three.compare("2026-09", "2026-11").pages.set_index("url")["change"]["https://a.example/old"]
        == "removed"
    )
    ax = three.timeline()
    assert ax.get_lines()[0].get_ydata().tolist() == three.scores()["score"].tolist()
    assert "2026-11-01" in repr(three)
    assert wa.load(tmp_path / "alone").raw.equals(three.load().raw)


def test_report_and_explorer_show_the_audits_before(three: Any, tmp_path: Path) -> None:
    def chapter(audit: wa.Audit, **options: Any) -> str:
        text = audit.report(tmp_path / "report.html", **options).read_text("utf-8")
        return text.partition('id="over-time"')[2].partition('class="block')[0]

    def bars(audit: wa.Audit) -> list[dict[str, Any]]:
        found = wa.explore(audit)._content["summary"]["bars"]
        return [one for one in found if one["title"].startswith("Score over time")]

    last = three.load()
    scores = three.scores()["score"].tolist()
    shown = chapter(last)
    rows = re.findall(r'<th scope=row><bdi dir="auto">([^<]+)</bdi>.*?<bdi dir="auto">([^<]+)</bdi>', shown)
    assert rows == [
        (day, f"{score:.1f}")
        for day, score in zip(("2026-11-01", "2026-10-01", "2026-09-30"), scores[::-1], strict=True)
    ]
    assert shown.count("<circle") == 3
    ((x, _), *_, (end, y)) = [
        map(float, re.findall(r'c[xy]="([\d.]+)%"', dot)) for dot in shown.split("<circle")[1:]
    ]
    low = int(re.findall(r'class="tick">(\d+)<', shown)[1])
    assert (x, end) == (0, 100), "by date, and not by number"
    assert y == pytest.approx(100 - 100 * (scores[-1] - low) / (100 - low), abs=0.01)
    assert "Im Lauf der Zeit" in chapter(last, language="de")
    assert bars(last)[0]["rows"] == [
        [day, score]
        for day, score in zip(("2026-11-01", "2026-10-01", "2026-09-30"), scores[::-1], strict=True)
    ]
    second = three.load("2026-10")
    assert len(second.history) == 2, "nothing of later days"
    assert chapter(second.with_profile(thresholds={"content_low": 10})).count("<circle") == 2
    first, part = three.load("2026-09"), last.select(["https://a.example/tea"])
    assert (chapter(first), bars(first), chapter(part), bars(part)) == ("", [], "", [])
    assert chapter(last, history=None) == ""
    again = audited({"": html(1)}, "2026-11-01")
    again.save(history=three.folder)
    assert len(again.history) == 3, "one of the same moment takes the place of the other"
    unread = pd.DataFrame({"url": ["https://a.example/"], "status": "error", "error_type": "timeout"})
    gone = wa.Audit(unread, dataclasses.replace(wa.Audit(unread).origin, date="2026-12-01T02:00:00+00:00"))
    gone.save(history=three.folder)
    assert "Most pages were not read." in chapter(gone)
    assert chapter(gone).count("<circle") == 3, "a day without a score has no point"
    three.append(wa.Audit(unread, dataclasses.replace(gone.origin, date="2026-12-01T03:00:00+00:00")))
    assert "2026-12-01 03:00" in chapter(three.load())


def test_an_audit_is_read_as_it_was(three: Any, tmp_path: Path) -> None:
    few = {"include": "/guide|/$", "allow_private": True, "retries": 0, "resources": "ignore"}
    with crawl_site() as served:
        crawl = wa.crawl(served.start_url, max_depth=1, **few)
        again = wa.crawl(served.start_url, max_depth=2, **few)
    kept = wa.history(tmp_path / "crawls")
    dated = []
    for day, audit in enumerate((crawl, again, crawl), 1):
        origin = dataclasses.replace(audit.origin, date=f"2026-11-0{day}T02:00:00+00:00")
        kept.append(
            wa.Audit(
                audit.mute(rule="title_missing", reason="known"),
                dataclasses.replace(origin, score=audit.score),
            )
        )
        dated.append(audit)
    for day, audit in enumerate(dated, 1):
        found = kept.load(f"2026-11-0{day}")
        assert found.raw.equals(audit.raw)
        assert found.raw.attrs == audit.raw.attrs
        assert found.links.equals(audit.links)
        assert found.issues["rule"].tolist() == audit.issues["rule"].tolist()
        assert found.origin.robots_files == audit.origin.robots_files


def test_fifteen_days_take_less_than_twice_one(tmp_path: Path) -> None:
    history, one = wa.history(tmp_path / "site"), tmp_path / "one"
    noise = random.Random(5)
    pages = {str(number): html(number, 1_500) for number in range(100)}
    first = audited(pages, "2026-09-01")
    first.save(one)
    raw = first.raw
    for day in range(15):
        changed = (
            {str(number): html(1000 * day + number, 1_500) for number in noise.sample(range(100), 3)}
            if day
            else {}
        )
        if changed:
            new = audited(changed, "2026-09-01").raw
            rows = {url: row for row, url in enumerate(new["url"])}
            raw = pd.DataFrame(
                {
                    name: pd.Series(
                        [
                            new[name].iat[rows[url]] if url in rows else cell
                            for url, cell in zip(raw["url"], raw[name], strict=True)
                        ],
                        dtype=raw[name].dtype,
                    )
                    for name in raw
                }
            )
        raw = raw.assign(
            elapsed=[noise.random() for _ in range(100)]
        )  # as the time of an answer, never twice the same
        raw.attrs = dict(first.raw.attrs)
        audit = wa.Audit(raw, dataclasses.replace(first.origin, date=f"2026-09-{day + 1:02}T02:00:00+00:00"))
        history.append(audit)
        if day in (0, 8, 14):
            assert history.load().raw.equals(audit.raw)
    assert len(history) == 15
    assert size(history.folder) < 2 * size(one), f"{size(history.folder) / size(one):.2f} times one audit"
    same = size(history.folder)
    history.append(wa.Audit(raw, dataclasses.replace(audit.origin, date="2026-10-01T02:00:00+00:00")))
    assert size(history.folder) - same < size(one) / 15, (
        "an audit that is as the last one takes next to nothing"
    )


@pytest.mark.parametrize("step", range(1, 4))  # parts, places, and the file of the run
def test_an_append_that_is_killed_loses_nothing(
    three: Any, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [audit.raw.copy() for audit in (three.load("2026-10"), three.load())]
    audit = audited({"": html(9), "tea": html(8)}, "2026-11-02")
    left = iter(range(step - 1, -1, -1))
    write = Store.write

    def killed(store: Store, name: str, content: Any) -> None:
        if next(left) == 0:
            raise KeyboardInterrupt
        write(store, name, content)

    monkeypatch.setattr(Store, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        three.append(audit)
    monkeypatch.undo()
    assert len(three) == 3
    assert all(
        three.load(day).raw.equals(raw) for day, raw in zip(("2026-10", "2026-11-01"), before, strict=True)
    )
    three.append(audit)
    assert len(three) == 4
    assert three.load().raw.equals(audit.raw)


def test_thin(three: Any) -> None:
    pages = {"": html(1)}
    for date in ("2026-08-02", "2026-08-30", "2026-07-15", "2027-02-01"):
        three.append(audited(pages, date))
    three.append(audited({"": html(1)}, "2026-08-02"))
    assert len(three) == 7, "an audit of the same moment takes the place of the other"
    (three.folder / "cells-00000000000000000000000000000000.parquet").write_bytes(
        b"what an interrupted call left"
    )
    loaded = three.load("2026-10").raw
    gone = three.thin("monthly after 90 days")
    assert [f"{date:%Y-%m-%d}" for date in gone] == ["2026-08-02"]
    assert three.load("2026-10").raw.equals(loaded)
    assert not (three.folder / "cells-00000000000000000000000000000000.parquet").exists()
    gone = three.thin("weekly after 10 days, yearly after 90 days")
    assert [f"{date:%Y-%m-%d}" for date in three.dates] == ["2026-11-01", "2027-02-01"]
    assert three.load("2026-11").raw["title"].tolist() == ["Home", "Green tea", "New"]


def test_wrong_calls(three: Any, tmp_path: Path) -> None:
    for call, said in (
        (lambda: three.rule("title_mising"), "title_missing"),
        (lambda: three.page("https://a.example/nowhere"), "url"),
        (lambda: three.page(5), "`url`"),
        (lambda: three.page("https://a.example/", "title"), "`fields`"),
        (lambda: three.page("https://a.example/", ["title", "titel"]), "`fields`"),
        (lambda: three.since("last week"), "2026-10"),
        (lambda: three.since("2026-13"), "2026-10"),
        (lambda: three.load("2020"), "date"),
        (lambda: three.load("2026-1"), "`date`"),
        (lambda: three.load("2026-10-01T"), "`date`"),
        (lambda: three.load("2026-10-01T02:00:00+01:00"), "`date`"),
        (lambda: three.compare("2026-11"), "`before`"),
        (lambda: three.compare("2026-1", "2026-11"), "`before`"),
        (lambda: three.compare(after="2026-09"), "`before`"),
        (lambda: three.thin("sometimes"), "monthly after 90 days"),
        (lambda: wa.history("nowhere://there/"), "address that fsspec can open"),
        (lambda: wa.history(tmp_path / "none").compare(), "not two audits"),
        (lambda: three.load().save(), "history"),
        (lambda: three.load().save(history=tmp_path), "empty or holds a history"),
    ):
        with pytest.raises(ParameterError, match=said):
            call()


def test_damage_is_noticed(three: Any) -> None:
    for name in ("cells", "places"):
        part = next(path for path in three.folder.iterdir() if path.name.startswith(name))
        content = part.read_bytes()
        part.write_bytes(content[:50] + bytes([content[50] ^ 1]) + content[51:])
        with pytest.raises(ParameterError, match=rf"unchanged, unlike `{part.name}` in "):
            [three.load(f"{date:%Y-%m-%d}") for date in three.dates]
        part.unlink()
        with pytest.raises(ParameterError, match=rf"unchanged, unlike `{part.name}` in "):
            three.page("https://a.example/tea")
        part.write_bytes(content)
    run = next(path for path in three.folder.iterdir() if path.name.startswith("run"))
    run.write_bytes(run.read_bytes()[:-9])
    for call in (three.scores, lambda: three.page("https://a.example/tea")):
        with pytest.raises(ParameterError, match=rf"unchanged, unlike `{run.name}` in "):
            call()
    with pytest.raises(ParameterError, match=r"`folder`.*unchanged"):
        three.append(audited({"": html(1)}, "2027-01-01"))


@pytest.mark.parametrize(
    "change", [{"date": "yesterday"}, {"date": "2026-09-29T02:00:00+00:00"}, {"issues": None}]
)
def test_a_file_that_is_no_run_is_named_a_fault_of_the_folder(three: Any, change: dict[str, Any]) -> None:
    run = min(path for path in three.folder.iterdir() if path.name.startswith("run"))
    said = {**json.loads(run.read_text()), **change}
    run.write_text(json.dumps({name: value for name, value in said.items() if value is not None}))
    for call in (three.scores, three.load, lambda: three.page("https://a.example/tea"), three.thin):
        with pytest.raises(ParameterError, match=r"`folder`.*unchanged"):
            call()


def test_another_file_in_the_folder_is_named(three: Any) -> None:
    (three.folder / "notes.txt").write_text("mine")
    with pytest.raises(ParameterError, match=r"and no `notes\.txt`"):
        three.append(audited({"": html(1)}, "2027-01-01"))


def test_a_history_that_is_not_there_yet_has_moments_too(tmp_path: Path) -> None:
    none = wa.history(tmp_path / "none")
    for dates in (none.dates, none.thin()):
        assert len(dates) == 0
        assert str(dates.tz) == "UTC"


def test_an_audit_that_is_made_again_at_once_hides_no_bars() -> None:
    days = [*pd.date_range("2026-11-01", periods=20, tz="UTC"), pd.Timestamp("2026-11-20T00:00:30", tz="UTC")]
    axes = timeline(pd.DataFrame({"date": days, "score": 70.0, "high": 3, "medium": 9}))
    left, *_ = axes.figure.axes[1].containers
    axes.figure.draw_without_rendering()
    points = [bar.get_window_extent().width * 72 / axes.figure.dpi for bar in left]
    assert min(points[:19]) > 5
    assert min(points) > 0.5


@pytest.mark.parametrize(
    ("date", "kept"),
    [
        ("2026-11-02T01:00:00+02:00", "2026-11-01T23:00:00+00:00"),
        ("2026-11-02T01:00:00", "2026-11-02T01:00:00+00:00"),
        ("2026-11-02", "2026-11-02T00:00:00+00:00"),
        ("2026-11-02T01:00:00.9Z", "2026-11-02T01:00:00+00:00"),
        ("0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59+00:00"),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_odd_dates(three: Any, date: str, kept: str | None) -> None:
    audit = audited({"": html(1)}, "2026-11-02")
    audit.origin = dataclasses.replace(audit.origin, date=date)
    if kept is None:
        with pytest.raises(ParameterError, match="ISO 8601"):
            audit.save(history=three.folder)
        assert len(three) == 3
        return
    audit.save(history=three.folder)
    assert len(three) == len(three.dates) == len(three.scores()) == 4
    assert three.load(kept[:10]).origin.date == kept
    assert pd.Timestamp(kept) in list(three.dates)
    three.append(audited({"": html(1)}, "2026-11-03"))
    assert len(three) == 5
    three.thin("yearly after 1 day")


def keep(place: str, number: int) -> None:
    """Append six audits to a history, as a process of its own."""
    history = wa.history(place)
    for hour in range(6):
        title = f"Tea {number} {hour}"
        audit = audited({"": html(number, title=title), "b": html(hour)}, "2026-01-01")
        audit.origin = dataclasses.replace(audit.origin, date=f"2026-0{number}-01T0{hour}:00:00+00:00")
        history.append(audit)
        if number == 2:
            history.thin("yearly after 9999 days")  # none is that old, but it sweeps


def test_processes_that_append_and_sweep_at_once_lose_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "site")
    code = f"from {__name__} import keep\nif __name__ == '__main__': keep({place!r}, {{}})"
    root = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    processes = [
        subprocess.Popen([sys.executable, "-c", code.format(number)], env=root) for number in (1, 2, 3)
    ]
    assert [process.wait(PROCESS_SECONDS) for process in processes] == [0, 0, 0]
    store = folders.store_of(place)
    titles = {
        run["date"][5:13]: folders.audit_of(store, run)[0]["title"].iloc[0] for run in folders.runs_of(store)
    }
    assert titles == {f"0{n}-01T0{hour}": f"Tea {n} {hour}" for n in (1, 2, 3) for hour in range(6)}


def test_a_history_at_an_address_is_the_same(three: Any, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    for place in ("memory://site/shop", f"file://{tmp_path}/elsewhere"):
        other = wa.history(place)
        assert (len(other), other.folder) == (0, place)
        for date in three.dates:
            audit = three.load(f"{date:%Y-%m-%d}")
            assert audit.save(history=place) == place
        assert len(audit.history) == 3
        assert other.scores().equals(three.scores())
        assert other.load("2026-10").raw.equals(three.load("2026-10").raw)
        assert other.page("https://a.example/tea")["changed"].tolist() == [None, ["title"], []]
        files, root = fsspec.core.url_to_fs(place)
        assert {name.rpartition("/")[2] for name in files.ls(root, detail=False)} == {
            path.name for path in three.folder.iterdir() if path.name != ".lock"
        } | {name.rpartition("/")[2] for name in files.ls(root, detail=False) if name.endswith(".lock")}
        assert [f"{date:%m}" for date in other.thin("yearly after 10 days")] == ["09"]
        assert len(files.ls(root, detail=False)) < len(list(three.folder.iterdir()))
        assert other.load().raw.equals(three.load().raw)
        part = next(name for name in files.ls(root, detail=False) if "cells-" in name)
        files.pipe_file(part, files.cat_file(part)[:-1] + b"x")
        with pytest.raises(ParameterError, match="unchanged"):
            [other.load(f"{date:%Y-%m-%d}") for date in other.dates]


def test_pages_are_counted_as_the_audit_counts_them(tmp_path: Path) -> None:
    rows = {
        "status": ["ok", "error", "error"],
        "http_status": [200, 404, 500],
        "error_type": [None, "http", "http"],
    }
    pages = pd.DataFrame(
        {"url": [f"https://a.example/{number}" for number in range(3)], **rows, "title": "Tea"}
    )
    pages["error"] = [
        None,
        *(f"The `url` parameter names a page that answered HTTP {code}." for code in (404, 500)),
    ]
    audit = wa.Audit(pages)
    audit.save(history=tmp_path)
    history = wa.history(tmp_path)
    assert f"Audit of a.example: {history.scores()['pages'][0]} pages, 1 ok, 1 failed, 1 missing" in repr(
        audit
    )
    assert repr(history).startswith("History of 1 audit in ")
