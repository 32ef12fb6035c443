"""Runs of a history that are not as the others: most pages failed, or addresses are spelled in another way."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.history.nights import Watch, page
from tests.audits.history.test_history import audited, html
from webanalytics.audits.history.alerts import View, judge
from webanalytics.audits.origin import Origin
from webanalytics.fetching.testing import Reply
from webanalytics.runs.storage.store import Store

HOME = "https://a.example/"


@pytest.fixture
def history(tmp_path: Path) -> Any:
    """Three good runs, a day each; in the second one a title is missing."""
    made = wa.history(tmp_path / "site")
    for day, title in (("01", "Tea"), ("02", ""), ("03", "Tea")):
        other = html(2, title=title or "x").replace("<title>x</title>", "")
        made.append(audited({"": html(1, title="Home"), "tea": other}, f"2026-11-{day}"))
    return made


def test_a_page_is_found_in_any_form_of_its_address(history: Any) -> None:
    other = audited({"": html(1, title="At home")}, "2026-11-04")
    other.raw["url"] = ["https://A.example"]
    history.append(other)
    for url in (HOME, "HTTPS://A.example:443/#top", "https://a.example/x/.."):
        assert history.page(url)["title"].tolist() == ["Home", "Home", "Home", "At home"]


def test_a_sitemap_that_spells_its_addresses_in_another_way_has_the_same() -> None:
    before, after = (
        wa.Audit(pd.DataFrame({"url": [HOME], "status": "ok"}), Origin(sitemap=pd.DataFrame({"url": urls})))
        for urls in ([HOME, f"{HOME}%C3%BC", f"{HOME}old"], ["https://a.example", f"{HOME}ü", f"{HOME}new"])
    )
    alert = {"when": "sitemap", "segment": "", "of": [1, 1]}
    _, [told], _ = judge([alert], View(after, wa.compare(before, after), {}), [])
    assert told["said"] == "1 addresses more, 1 less"


def test_a_night_in_which_most_pages_failed_is_no_fall_and_no_repair(history: Any, tmp_path: Path) -> None:
    before = history.scores()["score"].tolist()
    down = audited({"": html(1), "tea": html(2)}, "2026-11-02")
    down.raw = down.raw.assign(status="error", error_type="http", http_status=500, title=None)
    down.origin = down.origin.__class__(date="2026-11-02T12:00:00+00:00")
    history.append(down)
    assert history.scores()["score"].tolist() == [*before[:2], 0, before[2]]
    assert history.rule("title_missing")["issues"].tolist()[2] == 0
    assert history.rule("title_missing")["change"].tolist() == [pd.NA, 1, pd.NA, -1]
    assert history.timeline().get_lines()[0].get_ydata().tolist() == before
    audit = history.load()
    chapter = audit.report(tmp_path / "report.html").read_text("utf-8").partition('id="over-time"')[2]
    chapter = chapter.partition('class="block')[0]
    assert (chapter.count("<circle"), chapter.count("<tr")) == (3, 5)
    past = [one for one in wa.explore(audit)._content["summary"]["bars"] if "over time" in one["title"]]
    assert [score for _, score in past[0]["rows"]] == before[::-1]


@pytest.mark.parametrize(
    ("number", "said"), [(errno.EROFS, "Read-only"), (errno.EACCES, "Permission denied")]
)
def test_a_folder_that_the_system_refuses_is_not_called_damaged(
    history: Any, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refused(*_: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Store, "appended", refused)
    with pytest.raises(wa.ParameterError, match=rf"`folder`.* that can be used: {said}"):
        history.thin()
    monkeypatch.setattr(Store, "opened", refused)
    for call in (history.scores, lambda: history.page(HOME)):
        with pytest.raises(wa.ParameterError, match=rf"`folder`.* that can be used: {said}"):
            call()


def test_what_a_crawl_does_not_find_is_asked_before_it_is_called_lost(tmp_path: Path) -> None:
    def night(*linked: str, **more: Any) -> dict[str, Any]:
        home = "<html lang=en><title>Home</title>" + "".join(f"<a href=/{path}>{path}</a>" for path in linked)
        texts = {"/": home.encode()} | {f"/{path}": page(f"/{path}") for path in ("a", "b", "c", "d", "new")}
        return texts | {f"/{name}": reply for name, reply in more.items()}

    moved, away = Reply(301, {"Location": "/new"}), Reply(503, {}, b"Away")
    gone = Reply(404, {"Content-Type": "text/html"}, b"<title>No")
    watched = Watch(tmp_path, '[[alert]]\nwhen = "lost"\nruns = "2 of 2"\n')
    assert watched.run(night("a", "b", "c", "d")) == (0, [])
    later = night("new", a=moved, b=gone, d=away)
    assert watched.run(later) == (0, [])
    assert watched.run(later) == (1, ["new lost 2 (/* 2)"])
    said = {item["where"].removeprefix(watched.url): item["said"] for item in watched.state["items"]}
    assert said == {"/b": "gone", "/c": "no link leads there any more"}
    assert watched.run(night("new", "c", b=moved)) == (0, [])
    assert watched.run(night("new", "c", b=moved)) == (0, ["resolved lost 2 (/* 2)"])
