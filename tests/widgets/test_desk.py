"""The audit desk by its Python state: without a kernel, and on a loop as a kernel has one."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import ipywidgets
import pandas as pd
import pytest
from ipywidgets.embed import dependency_state

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.service.live import Server
from webanalytics.errors import ParameterError
from webanalytics.messages import MESSAGES
from webanalytics.testing import Reply, SampleSite, SiteServer, sample_site
from webanalytics.widgets.desk.desk import AuditDesk, app
from webanalytics.widgets.desk.form import HERE, THERE
from webanalytics.widgets.desk.inputs import read_upload, urls_in_table, urls_in_text
from webanalytics.widgets.desk.outcome import FIELDS, outcome, report_path
from webanalytics.widgets.desk.run import OPERATIONS, Plan, joined
from webanalytics.widgets.desk.site import addresses_of, is_sitemap
from webanalytics.widgets.explorer.failures import told

KEY = "22bce1bb-4929-4c08-a13f-6061b2c16adc"


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with sample_site() as running:
        yield running


def desk_for(urls: list[str], *operations: str) -> AuditDesk:
    desk = app(urls)
    desk.form.flags["allow_private"].value = True
    for name, box in desk.form.operations.items():
        box.value = not operations or name in operations
    return desk


def run(desk: AuditDesk) -> pd.DataFrame:
    desk.form.run.click()
    assert desk.join(60)
    assert desk.frame is not None, desk.message
    return desk.frame


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


def upload(desk: AuditDesk, name: str, content: bytes) -> None:
    file = {"name": name, "type": "", "size": len(content), "content": memoryview(content)}
    desk.form.upload.value = ({**file, "last_modified": datetime.now(UTC)},)


def test_a_run_gives_the_frame_of_an_audit(site: SampleSite) -> None:
    desk = desk_for(site.pages)
    frame = run(desk)
    pd.testing.assert_frame_equal(
        frame.drop(columns=["elapsed", "fetched_at"]),
        wa.audit(site.pages, allow_private=True, progress=False).drop(columns=["elapsed", "fetched_at"]),
    )
    assert isinstance(frame, wa.Audit)
    assert len(frame.issues) > 43
    assert re.fullmatch(r"Done in \d+\.\d s: 41 pages read, 2 pages failed\.", desk.message)
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
        frame = run(desk_for([server.url + "/"], "text", "readability"))
        assert [request.target for request in server.requests].count("/") == 1
    assert not isinstance(frame, wa.Audit)  # not all that rules look at
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
        assert isinstance(desk.frame, wa.Audit)
        assert desk.message == f"Stopped: {len(desk.frame)} of 40 pages are done."
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
    assert desk.message.startswith("Stopped: ")


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
    ways = {told("", "It failed.", key).option for key in MESSAGES}
    assert set(FIELDS) <= ways
    desk = app(["https://a.example/"])
    form = desk.form
    titles = [str(flag.description) for flag in form.flags.values()]
    labels = repr([box.value for box in widgets_of(desk) if isinstance(box, ipywidgets.HTML)])
    for text in FIELDS.values():
        named = re.findall("“(.+)”", text)
        assert all(name in titles or name in labels for name in named), text


def widgets_of(box: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    return [box, *(inner for child in getattr(box, "children", ()) for inner in widgets_of(child))]


SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{{origin}}/</loc></url><url><loc>{{origin}}/a</loc></url><url><loc>{{origin}}/b</loc></url></urlset>"""
PAGES = {path: f"<title>Page {path}</title><p>Tea".encode() for path in ("/", "/a", "/b")}


@pytest.mark.parametrize(
    ("robots", "place", "typed", "said"),
    [
        (b"Sitemap: {{origin}}/maps/all.xml", "/maps/all.xml", "/", "which robots.txt names"),
        (b"", "/sitemap.xml", "/some/page", "robots.txt names none, this one is there"),
        (None, "/sitemap_index.xml", "", "robots.txt names none, this one is there"),
        (b"", "/elsewhere.xml", "/elsewhere.xml", "The sitemap http"),
    ],
)
def test_a_site_is_audited_by_its_sitemap(robots: bytes | None, place: str, typed: str, said: str) -> None:
    pages = {**PAGES, place: Reply(200, {"Content-Type": "text/xml"}, SITEMAP.encode())}
    if robots is not None:
        pages["/robots.txt"] = robots
    with SiteServer(pages, not_found=Reply(404, body=b"none")) as server:
        desk = desk_for([])
        desk.form.site.value = server.url + typed
        frame = run(desk)
        assert frame["url"].tolist() == [server.url + path for path in PAGES]
        assert said in desk.message
        assert f"{server.url}{place}" in desk.message
        assert desk.message.startswith("Done in ")
        assert isinstance(frame, wa.Audit)
        whole = wa.audit(sitemap=server.url + place, allow_private=True, progress=False)
        assert set(frame.issues["rule"]) == set(whole.issues["rule"])  # the sitemap's and robots.txt's too


def test_a_site_without_a_sitemap_is_one_page() -> None:
    with SiteServer(PAGES, not_found=Reply(404, body=b"none")) as server:
        desk = desk_for([])
        desk.form.site.value = server.url + "/a"
        frame = run(desk)
    assert frame["url"].tolist() == [server.url + "/a"]
    assert "No sitemap was found" in desk.message
    assert "Only this page was audited" in desk.message


def test_pages_of_a_sitemap_are_bounded_and_come_after_those_given() -> None:
    pages = {**PAGES, "/x": b"<title>X</title>", "/sitemap.xml": SITEMAP.encode()}
    with SiteServer(pages) as server:
        desk = desk_for([server.url + "/x"])
        desk.form.site.value = server.url
        desk.form.most.value = 2
        frame = run(desk)
    assert frame["url"].tolist() == [server.url + "/x", server.url + "/"]
    assert "Its first 2 of 4 pages." in desk.message


def test_a_single_operation_takes_a_site_too() -> None:
    with SiteServer({**PAGES, "/sitemap.xml": SITEMAP.encode()}) as server:
        desk = desk_for([server.url + "/sitemap.xml"], "metadata")  # a sitemap among the pages is one
        frame = run(desk)
    assert frame["title"].tolist() == ["Page /", "Page /a", "Page /b"]


def test_a_sitemap_without_pages_says_so() -> None:
    with SiteServer({"/sitemap.xml": b"<urlset></urlset>"}) as server:
        desk = desk_for([])
        desk.form.site.value = server.url + "/sitemap.xml"
        desk.form.run.click()
        assert desk.join(BUSY_SECONDS)
    assert desk.frame is None
    assert "sitemap" in desk.message
    assert desk.form.bar.bar_style == "danger"


def test_what_is_no_site_is_refused() -> None:
    desk = desk_for([])
    desk.form.site.value = "notes"
    desk.form.run.click()
    assert desk.join(BUSY_SECONDS)
    assert desk.message.startswith("The `sitemap` parameter must be the address of a site or of a sitemap.")
    for text in ("ftp://a.example/", "http://", "https://[::1", "javascript:alert(1)", "a b.example"):
        with pytest.raises(ParameterError, match="address of a site"):
            addresses_of(text)
    assert [is_sitemap(f"https://a.example/{path}") for path in ("s.xml", "Sitemap", "about", "")] == [
        True,
        True,
        False,
        False,
    ]


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
    monkeypatch.setattr("webanalytics.widgets.desk.desk.report_path", lambda *_: missing)
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
        (lambda desk: setattr(desk.form.urls, "value", "notes.html\n"), "The `urls` parameter is required"),
        (
            lambda desk: [setattr(box, "value", False) for box in desk.form.operations.values()],
            "at least one",
        ),
        (lambda desk: setattr(desk.form.where, "value", THERE), "The `api_key` parameter is required"),
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
    assert desk.message == "This could not be done (RuntimeError). 0 of 1 pages are done."


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


def test_urls_to_begin_with() -> None:
    wanted = ["https://a.example/", "https://b.example/"]
    for given in (wanted, pd.Series(wanted), pd.DataFrame({"page": wanted, "n": [1, 2]}), iter(wanted)):
        assert app(given).form.urls.value.split() == wanted
    with pytest.raises(ParameterError, match="column"):
        app(pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}))


def test_urls_of_a_text() -> None:
    read = urls_in_text(
        ' https://a.example/,\n\n"HTTPS://b.example/x";\nexample.org\n/etc/passwd\nhttps://a.example/\n'
    )
    assert read.found == ["https://a.example/", "HTTPS://b.example/x"]
    assert read.left_out == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"name,url\nx,https://a.example/\ny,https://b.example/\n"),
        ("a.csv", b"\xef\xbb\xbfname;url\nx;https://a.example/\ny;https://b.example/\n"),
        ("a.tsv", b"name\turl\nx\thttps://a.example/\ny\thttps://b.example/\n"),
        ("a.csv", b"https://a.example/\nhttps://b.example/\n"),
        ("a.txt", b"https://a.example/\r\nhttps://b.example/\r\n"),
        ("a.csv", b"caf\xe9;url\nx;https://a.example/\n\xfc;https://b.example/\n"),
    ],
)
def test_urls_of_an_upload(name: str, content: bytes) -> None:
    assert urls_in_table(read_upload(name, content)).found == ["https://a.example/", "https://b.example/"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04\x00\x00", b'"unclosed\n' + b"a,b\n" * 3])
def test_an_upload_that_is_no_table(content: bytes) -> None:
    desk = app()
    upload(desk, "a.csv", content)
    assert desk.message.startswith("The `")
    assert desk.form.urls.value == ""


def test_an_upload_fills_the_form_and_leaves_the_widget() -> None:
    desk = app()
    upload(desk, "a.csv", b"url,n\nhttps://a.example/,1\nnone,2\n")
    assert desk.form.urls.value == "https://a.example/"
    assert desk.form.upload.value == ()
    assert desk.message == "1 URL taken from the file; 1 other cell left out."


def test_a_doubtful_upload_asks_for_the_column() -> None:
    desk = app()
    upload(desk, "a.csv", b"first,second\nhttps://a.example/,https://b.example/\n")
    assert desk.message == "Which column of the file holds the URLs?"
    assert desk.form.column_box.layout.display == ""
    desk.form.column.value = "second"
    assert desk.form.urls.value == "https://b.example/"


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
        assert result[column].fillna("").tolist()[:3] == audit[column].fillna("").tolist()[:3], column
    assert result["error_type"].tolist()[3] == "http"
    broken_off = joined([calls[0], ("keywords", calls[2][1].head(1))], ("metadata", "keywords"))
    assert broken_off is not None
    assert broken_off["title"].tolist()[:3] == audit["title"].tolist()[:3]
    assert broken_off["keywords"].notna().tolist() == [True, False, False, False]
    assert joined([], OPERATIONS) is None


def test_the_key_is_no_state() -> None:
    desk = app(["https://a.example/"])
    desk.form.where.value = THERE
    desk.form.base_url.value = "https://api.example.com"
    desk.form.budget.value = "1,000"
    desk.form.key._handle_custom_msg({"secret": KEY}, [])
    plan = desk.plan()
    assert plan.options["backend"].key_header() == KEY
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
        assert frame[column].tolist() == here[column].tolist()
    assert "title_alt" not in frame.columns  # a column of the text operation, which was not asked for
    assert desk.form.bar.max == 8


def test_a_rejected_key_is_said(service: Server) -> None:
    desk = app(["https://a.example/"], wa.Hosted(service.base, KEY))
    desk.form.run.click()
    assert desk.join(30)
    assert "key" in desk.message
    assert KEY not in desk.message
    assert "0 of 1 pages are done" in desk.message
