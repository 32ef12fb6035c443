"""What the desk is given: sites by their sitemaps, texts and uploads."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pandas as pd
import pytest
from lxml import html

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.notebook.widgets.desks import desk_for, run, upload
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.notebook.desk.desk import app
from webanalytics.notebook.desk.form import read_upload, urls_in_table, urls_in_text
from webanalytics.notebook.desk.site import addresses_of, is_sitemap

SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{{origin}}/</loc></url><url><loc>{{origin}}/a</loc></url><url><loc>{{origin}}/b</loc></url></urlset>"""
PAGES = {path: f"<title>Page {path}</title><p>Tea".encode() for path in ("/", "/a", "/b")}


@pytest.mark.parametrize(
    ("robots", "place", "typed", "said"),
    [
        (b"Sitemap: {{origin}}/maps/all.xml", "/maps/all.xml", "/", "which robots.txt names"),
        (b"", "/sitemap.xml", "/some/page", "robots.txt names none, this one is there"),
        (None, "/sitemap_index.xml", "", "robots.txt names none, this one is there"),
        (b"", "/elsewhere.xml", "/elsewhere.xml", "The pages are those of the sitemap http"),
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
        assert isinstance(desk.audit, wa.Audit)
        whole = wa.audit(sitemap=server.url + place, allow_private=True, progress=False)
        assert set(desk.audit.issues["rule"]) == set(
            whole.issues["rule"]
        )  # the sitemap's and robots.txt's too


def test_a_site_without_a_sitemap_is_one_page() -> None:
    with SiteServer(PAGES, not_found=Reply(404, body=b"none")) as server:
        desk = desk_for([])
        desk.form.site.value = server.url + "/a"
        frame = run(desk)
    assert frame["url"].tolist() == [server.url + "/a"]
    assert "No sitemap was found" in desk.message
    assert "Only this page was audited" in desk.message


def test_how_a_run_ended_is_a_message_for_screen_readers() -> None:
    """https://www.w3.org/TR/WCAG22/#status-messages: by a role, as techniques ARIA19 and ARIA22 have it."""
    desk = desk_for(["notes"])
    shown = []
    desk._status.observe(lambda change: shown.append(html.fromstring(change["new"])), "value")
    desk.form.run.click()
    desk.form.urls.value = "http://127.0.0.1:9/"
    run(desk)
    saved = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Tea"]})
    desk = app(saved)
    desk._status.observe(lambda change: shown.append(html.fromstring(change["new"])), "value")
    run(desk)
    roles = [(text.text_content(), text.xpath("//@role")) for text in shown]
    assert [role for said, role in roles if "“Site or sitemap” is empty" in said] == [["alert"]]
    assert [role for said, role in roles if "none was read" in said] == [["alert"]]
    assert [role for said, role in roles if said.endswith("1 page read.")] == [["status"]]
    assert {role for said, (role,) in roles if said.startswith("Starting") or "answers" in said} == {"none"}


def test_a_site_that_does_not_answer_has_not_said_that_it_has_no_sitemap() -> None:
    desk = desk_for([])
    desk.form.site.value = "http://127.0.0.1:9"
    run(desk)
    assert "No sitemap was found: 127.0.0.1:9 did not answer." in desk.message
    assert "names none" not in desk.message


def test_pages_of_a_sitemap_are_bounded_and_come_after_those_given() -> None:
    pages = {**PAGES, "/x": b"<title>X</title>", "/sitemap.xml": SITEMAP.encode()}
    with SiteServer(pages) as server:
        desk = desk_for([server.url + "/x"])
        desk.form.site.value = server.url
        desk.form.most.value = 2
        frame = run(desk)
    assert frame["url"].tolist() == [server.url + "/x", server.url + "/"]
    assert "The first 2 of its 4 are taken." in desk.message


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
    assert desk.message == "“Site or sitemap” must be the address of a site or of a sitemap."
    for text in ("ftp://a.example/", "http://", "https://[::1", "javascript:alert(1)", "a b.example"):
        with pytest.raises(ParameterError, match="address of a site"):
            addresses_of(text)
    assert [is_sitemap(f"https://a.example/{path}") for path in ("s.xml", "Sitemap", "about", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_urls_to_begin_with() -> None:
    wanted = ["https://a.example/", "https://b.example/"]
    for given in (wanted, pd.Series(wanted), pd.DataFrame({"page": wanted, "n": [1, 2]}), iter(wanted)):
        assert app(given).form.urls.value.split() == wanted
    with pytest.raises(ParameterError, match="column"):
        app(pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}))


def test_enter_in_the_address_field_runs() -> None:
    with SiteServer({**PAGES, "/sitemap.xml": SITEMAP.encode()}) as server:
        desk = desk_for([])
        desk.form.site.value = server.url
        desk.form.site._handle_custom_msg({"event": "submit"}, [])  # what the field sends at Enter
        assert desk.join(BUSY_SECONDS)
    assert desk.frame is not None
    assert len(desk.frame) == 3


def test_a_line_that_is_no_address_is_named() -> None:
    desk = desk_for([])
    desk.form.urls.value = "https://a.example/\nabout us\n/etc/passwd"
    assert "1 URL, 2 lines left out, such as “about us”" in desk._note.value


def test_urls_of_a_text() -> None:
    read = urls_in_text(
        ' https://a.example/,\n\n"HTTPS://b.example/x";\nexample.org\n/etc/passwd\nhttps://a.example/\n'
    )
    assert read.found == ["https://a.example/", "HTTPS://b.example/x", "example.org"]
    assert (read.left_out, read.such_as) == (1, "/etc/passwd")


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
    assert desk.message.startswith("“Upload CSV” must be ")
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


def test_search_data_go_beside_the_pages_that_are_shown() -> None:
    desk = desk_for(["https://a.example/"])
    assert desk.form.search.disabled
    upload(desk, "Pages.csv", b"Page,Clicks\nhttps://a.example/,7\n", "search")
    assert (desk.audit, desk.form.search.value) == (None, ())
    html = ["<title>Tea</title><p>Tea", "<title>Cart</title><meta name=robots content=noindex><p>Cart"]
    desk = app(pd.DataFrame({"url": ["https://a.example/", "https://a.example/cart"], "html": html}))
    run(desk)
    assert not desk.form.search.disabled
    exported = (
        "Häufigste Seiten;Klicks;Impressionen\nhttps://a.example/cart;1.070;9.000\nhttps://b.example/;1;1\n"
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("Seiten.csv", "\ufeff" + exported)
    upload(desk, "a.example-Performance-on-Search-2026-11-25.zip", stream.getvalue(), "search")
    assert desk.message == "Search data of 1 page, 1 row of no page: see “To do”."
    assert desk.form.search.value == ()
    assert desk.audit is not None
    assert desk.audit.pages["clicks"].tolist() == [pd.NA, 1070]
    assert desk.explorer is not None
    assert desk.explorer.frame["clicks"].tolist() == [pd.NA, 1070]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"Page,Clicks\nhttps://a.example/,7\n"])
def test_search_data_that_cannot_be_joined_leave_the_audit_as_it_is(content: bytes) -> None:
    desk = app(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Tea"]}))
    run(desk)
    upload(desk, "Pages.csv", b"Page,Clicks\n/,3\n", "search")
    before = desk.audit
    upload(desk, "Pages.csv", content, "search")  # the last one would bring clicks twice
    assert desk.message.startswith("“Search data” must ")
    assert desk.audit is before


@pytest.mark.parametrize("backend", [5, "https://api.example.com", object()])
def test_another_backend_is_refused(backend: Any) -> None:
    with pytest.raises(ParameterError, match="`backend` parameter must be a"):
        app(backend=backend)
