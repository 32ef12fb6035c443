"""The audit desk by its Python state: without a kernel, and on a loop as a kernel has one."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from ipywidgets.embed import dependency_state

import webanalytics as wa
from tests.notebook.widgets.desks import desk_for, run, until, widgets_of
from tests.service.live import Server
from webanalytics.core.messages import ADVICE
from webanalytics.fetching.testing import SampleSite, SiteServer, sample_site
from webanalytics.notebook.desk.desk import AuditDesk, app
from webanalytics.notebook.desk.form import HERE, THERE
from webanalytics.notebook.desk.run import FIELDS, OPERATIONS, Plan, joined, outcome, report_path

KEY = "22bce1bb-4929-4c08-a13f-6061b2c16adc"


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with sample_site() as running:
        yield running


def test_a_run_gives_the_frame_of_an_audit(site: SampleSite) -> None:
    desk = desk_for(site.pages)
    frame = run(desk)
    pd.testing.assert_frame_equal(
        frame.drop(columns=["elapsed", "fetched_at"]),
        wa.audit(site.pages, allow_private=True, progress=False).raw.drop(columns=["elapsed", "fetched_at"]),
    )
    assert desk.audit is not None
    assert frame is desk.audit.raw
    assert len(desk.audit.issues) > 43
    assert re.fullmatch(r"Done in \d+\.\d s: 41 pages read, 1 page failed and 1 page missing\.", desk.message)
    assert desk.form.bar.bar_style == "warning"
    assert "robots=False" in desk._failures.value
    assert desk.explorer is not None
    assert desk.explorer.frame is frame
    assert desk.explorer._content["issues"] == {"there": True, "at_once": True}
    assert (desk.form.run.disabled, desk.form.stop.disabled) == (False, True)
    again = desk.explorer
    run(desk)
    assert desk.explorer is again


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_single_operation(site: SampleSite, name: str) -> None:
    frame = run(desk_for(site.pages[:3], name))
    assert frame.columns.tolist() == getattr(wa, name)(site.pages[:3], allow_private=True).columns.tolist()


def test_several_operations_fetch_each_page_once() -> None:
    with SiteServer({"/": b"<title>Tea</title><p>Tea and cake"}) as server:
        desk = desk_for([server.url + "/"], "text", "readability")
        frame = run(desk)
        assert [request.target for request in server.requests].count("/") == 1
    assert desk.audit is None  # not all that rules look at
    assert {"text", "title", "wordCount", "language"} <= set(frame.columns)
    assert not {"og:title", "keywords", "canonical"} & set(frame.columns)


def test_stopping_keeps_the_finished_rows() -> None:
    pages = {f"/{number}": f"<title>{number}</title>".encode() for number in range(40)}
    with SiteServer(pages, delay=0.1) as server:
        desk = desk_for([server.url + path for path in pages])
        desk.form.numbers["per_host"].value = 2
        desk.form.run.click()
        assert (desk.form.run.disabled, desk.form.stop.disabled) == (True, False)
        until(lambda: desk.form.bar.value >= 2)
        desk.form.run.click()  # a second run beside the first is none
        desk.form.stop.click()
        assert desk.join(30)
        assert desk.frame is not None
        assert 2 <= len(desk.frame) < 40
        assert desk.audit is not None
        assert desk.message == f"Stopped at {len(desk.frame)} of 40 pages."
        assert (desk.form.bar.value, desk.form.bar.max) == (len(desk.frame), 40), "a full bar would be a lie"
        assert set(desk.frame["status"]) == {"ok"}
        seen = len(server.requests)
        time.sleep(0.4)
        assert len(server.requests) == seen
    assert (desk.form.run.disabled, desk.form.stop.disabled) == (False, True)


def test_a_loop_stays_free_while_the_desk_works() -> None:
    pages = {f"/{number}": b"<title>Tea</title>" for number in range(20)}

    async def main(server: SiteServer) -> tuple[int, AuditDesk]:
        desk = desk_for([server.url + path for path in pages])
        desk.form.run.click()
        ticks = 0
        while desk.form.run.disabled:
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, desk

    with SiteServer(pages, delay=0.2) as server:
        ticks, desk = asyncio.run(main(server))
    assert desk.frame is not None
    assert len(desk.frame) == 20
    assert ticks > 10


def test_stopping_on_a_loop() -> None:
    pages = {f"/{number}": b"<title>Tea</title>" for number in range(30)}

    async def main(server: SiteServer) -> AuditDesk:
        desk = desk_for([server.url + path for path in pages])
        desk.form.numbers["per_host"].value = 1
        desk.form.run.click()
        await asyncio.to_thread(until, lambda: desk.form.bar.value >= 1)
        desk.form.stop.click()
        await asyncio.to_thread(until, lambda: not desk.form.run.disabled)
        return desk

    with SiteServer(pages, delay=0.05) as server:
        desk = asyncio.run(main(server))
    assert desk.frame is not None
    assert 1 <= len(desk.frame) < 30
    assert desk.message == f"Stopped at {len(desk.frame)} of 30 pages."


def test_a_run_of_failures_is_no_success() -> None:
    """Fourteen pages that may not be fetched: a red bar, the reason, and the field of the form to change."""
    desk = app([f"http://127.0.0.1:9/{number}" for number in range(14)])
    run(desk)
    assert re.fullmatch(r"Done in \d+\.\d s: 14 pages failed, none was read\.", desk.message)
    assert desk.form.bar.bar_style == "danger"
    assert "#b3261e" in desk._status.value  # red
    assert "<b>14</b> \u00d7" in desk._failures.value
    assert "Private and loopback addresses too" in desk._failures.value
    assert "allow_private=True" in desk._failures.value
    assert not desk.form.report.disabled


def test_a_run_without_failures_is_green(site: SampleSite) -> None:
    desk = desk_for(site.pages[:2])
    run(desk)
    assert (desk.form.bar.bar_style, desk._failures.value) == ("success", "")


def test_what_a_server_says_is_text_among_the_reasons() -> None:
    frame = pd.DataFrame(
        {"url": ["u"], "status": ["error"], "error_type": ["service"], "error": ["<img src=x onerror=a()>"]}
    )
    said = outcome(frame, "", 1, 0.1).failures
    assert "<img" not in said
    assert "&lt;img" in said


def test_every_field_that_a_failure_names_is_in_the_form() -> None:
    ways = {advice.option for advice in ADVICE.values()}
    assert set(FIELDS) <= ways
    desk = app(["https://a.example/"])
    form = desk.form
    titles = [str(flag.description) for flag in form.flags.values()]
    labels = [getattr(field, "description", "") for field in widgets_of(desk)]
    labels += desk.form.accordion.titles
    for text in FIELDS.values():
        named = re.findall("“(.+)”", text)
        assert all(name in (*titles, *labels) for name in named), text


def test_the_report_is_written_beside_the_notebook(
    site: SampleSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    desk = desk_for(site.pages[:3])
    assert desk.form.report.disabled
    run(desk)
    for count in (1, 2):  # never over another file
        desk.form.report.click()
        assert len(list(tmp_path.glob("audit-127.0.0.1-*.html"))) == count
        assert desk.message.startswith("Report written: audit-127.0.0.1-")
    (shown,) = desk._written.outputs
    names = re.findall(r'href="([^"]+)"', shown["data"]["text/html"])
    assert len(set(names)) == 1
    assert "<html" in (tmp_path / names[0]).read_text("utf-8")
    missing = tmp_path / "missing" / "report.html"
    monkeypatch.setattr("webanalytics.notebook.desk.desk.report_path", lambda *_: missing)
    desk.form.report.click()
    assert "downloads" in desk.message


@pytest.mark.parametrize(
    "url", ["https://../../etc/", "https://a/b", "https://\u8336.example/", "x", "https://[::1"]
)
def test_a_host_is_never_a_path(url: str, tmp_path: Path) -> None:
    path = report_path(pd.DataFrame({"url": [url]}), tmp_path)
    assert path.parent == tmp_path
    assert re.fullmatch(r"audit-[a-z0-9.-]+-20\d\d-\d\d-\d\d\.html", path.name)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda desk: setattr(desk.form.urls, "value", "notes.html\n"),
            "“Site or sitemap” is empty, and “Pages, one URL a line” has no address",
        ),
        (
            lambda desk: [setattr(box, "value", False) for box in desk.form.operations.values()],
            "“What to find out” must have at least one tick",
        ),
        (lambda desk: setattr(desk.form.where, "value", THERE), "“API key” is required"),
    ],
)
def test_a_form_that_cannot_be_run_says_why(change: Callable[[AuditDesk], object], sentence: str) -> None:
    desk = desk_for(["https://a.example/"])
    change(desk)
    desk.form.run.click()
    assert sentence in desk.message
    assert desk.frame is None
    assert not desk.form.run.disabled


def test_what_goes_wrong_is_said_without_details(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError(f"with the key {KEY}")

    monkeypatch.setattr("webanalytics.aio.audit", broken)
    desk = desk_for(["https://a.example/"])
    desk.form.run.click()
    assert desk.join(10)
    assert desk.message == "This could not be done (RuntimeError). The run stopped at 0 of 1 page."


def test_saved_pages_stay_in_python() -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title>"]})
    desk = app(pages)
    assert desk.form.urls.value == ""
    assert "1 saved pages" in desk.form.urls.placeholder
    assert run(desk).loc[0, "title"] == "Tea"


def test_a_static_view_shows_the_result_as_text() -> None:
    title = "<title>&lt;img src=x onerror=alert(1)&gt;</title>"
    desk = app(pd.DataFrame({"url": ["https://a.example/"], "html": [title]}))
    assert "Run the cell to use it" in desk._repr_mimebundle_()["text/html"]
    run(desk)
    data = desk._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "&lt;img src=x onerror=alert(1)&gt;" in data["text/html"]
    assert "<img" not in data["text/html"]
    assert data["text/plain"] == "<AuditDesk: 1 rows>"


def test_a_plan_asks_a_hosted_api_only_for_what_is_wanted() -> None:
    backend = wa.Hosted("https://api.example.com", KEY)
    assert Plan([], OPERATIONS, {"backend": backend}).calls == ("audit",)
    assert Plan([], ("text", "keywords"), {"backend": backend}).calls == ("text", "keywords")
    assert Plan([], ("text", "keywords"), {}).calls == ("audit",)


def test_a_hosted_run_keeps_the_backends_own_limits() -> None:
    backend = wa.Hosted("https://api.example.com", KEY, concurrency=2)
    desk = app(["https://a.example/", "https://b.example/"], backend)
    assert desk.plan().options == {"backend": backend}
    desk.form.numbers["concurrency"].value = 5
    assert desk.plan().options == {"backend": backend, "concurrency": 5}
    assert "2 URLs, at most 64 credits" in desk._note.value  # metadata 2, the three others 10 each
    desk.form.operations["text"].value = False
    assert "at most 44 credits" in desk._note.value
    desk.form.where.value = HERE
    assert "credits" not in desk._note.value
    assert desk.plan().options["backend"] is None


def test_the_backend_in_use_is_the_one_to_begin_with() -> None:
    backend = wa.Hosted("https://api.example.com", KEY)
    wa.use(backend)
    try:
        desk = app(["https://a.example/"])
        assert desk.plan().options["backend"] is backend
    finally:
        wa.use(None)


def test_frames_of_several_calls_stand_side_by_side(site: SampleSite) -> None:
    urls = [*site.pages[:3], site.url + "/no-such-page"]
    options = {"allow_private": True, "progress": False}
    calls = [(name, getattr(wa, name)(urls, **options)) for name in ("metadata", "text", "keywords")]
    result = joined(calls, ("metadata", "text", "keywords"))
    audit = wa.audit(urls, **options)
    assert result is not None
    for column in ("status", "title", "meta_keywords", "text", "language", "keywords", "error_type"):
        assert result[column].fillna("").tolist()[:3] == audit.raw[column].fillna("").tolist()[:3], column
    assert result["error_type"].tolist()[3] == "http"
    broken_off = joined([calls[0], ("keywords", calls[2][1].head(1))], ("metadata", "keywords"))
    assert broken_off is not None
    assert broken_off["title"].tolist()[:3] == audit.raw["title"].tolist()[:3]
    assert broken_off["keywords"].notna().tolist() == [True, False, False, False]
    assert joined([], OPERATIONS) is None


def test_the_key_is_no_state() -> None:
    desk = app(["https://a.example/"])
    desk.form.where.value = THERE
    desk.form.base_url.value = "https://api.example.com"
    desk.form.budget.value = "1,000"
    desk.form.key._handle_custom_msg({"secret": KEY}, [])
    plan = desk.plan()
    assert plan.options["backend"]._api.key_header() == KEY
    assert plan.options["budget"] == 1000
    states = dependency_state([desk], drop_defaults=False)
    assert len(states) > 20
    assert KEY not in repr(states)
    assert KEY not in repr([plan, desk, desk.form.key])
    assert app(backend=wa.Hosted("https://api.example.com", KEY)).form.where.value == THERE


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("desk"), ("--allow-private", "--log-level", "warning")) as running:
        yield running


def test_a_hosted_api_answers(service: Server, site: SampleSite) -> None:
    desk = app(site.pages[:4], wa.Hosted(service.base, service.key(plan="pro")))
    for name, box in desk.form.operations.items():
        box.value = name in ("metadata", "readability")
    frame = run(desk)
    assert desk.message.endswith("4 pages read.")
    here = wa.audit(site.pages[:4], allow_private=True, progress=False)
    for column in ("title", "meta_keywords", "averageGradeLevel", "audience"):
        assert frame[column].tolist() == here.raw[column].tolist()
    assert "title_alt" not in frame.columns  # a column of the text operation, which was not asked for
    assert desk.form.bar.max == 8


def test_a_rejected_key_is_said(service: Server) -> None:
    desk = app(["https://a.example/"], wa.Hosted(service.base, KEY))
    desk.form.run.click()
    assert desk.join(30)
    assert "key" in desk.message
    assert KEY not in desk.message
    assert "stopped at 0 of 1 page" in desk.message
