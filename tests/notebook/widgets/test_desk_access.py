"""The desk's passwords and proxy: what is sent, and that no state of a widget has a secret."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pandas as pd
import pytest
from ipywidgets import Widget

import webanalytics as wa
from tests.fetching.closed_sites import ClosedSites, DigestLock, basic_lock, cookie_lock, header_lock, no_lock
from tests.notebook.widgets.desks import run, widgets_of
from webanalytics.errors import ParameterError
from webanalytics.notebook.desk.desk import AuditDesk, app
from webanalytics.notebook.desk.run import failure_list

STAGING, OPEN = "staging.tea.invalid", "www.tea.invalid"
PAGES = {"/": b"<title>Tea</title><a href=/b>b</a><p>words", "/b": b"<title>B</title>"}


def hosts(lock: object) -> dict[str, object]:
    return {STAGING: (lock, PAGES), OPEN: (no_lock, PAGES)}


def states(desk: AuditDesk) -> str:
    return " ".join(str(one.get_state()) for one in widgets_of(desk) if isinstance(one, Widget))


def filled(sites: ClosedSites, **fields: str) -> AuditDesk:
    desk = app([f"http://{OPEN}/"])
    desk.form.site.value, desk.form.crawl.value = f"http://{STAGING}/", True
    access = desk.form.access
    access.proxy.value = sites.proxy.replace(":pr0xy-word", "")
    access.proxy_secret.keep("pr0xy-word")
    for name, value in fields.items():
        if name == "secret":
            access.secret.keep(value)
        else:
            getattr(access, name).value = value
    return desk


@pytest.mark.parametrize("way", ["basic", "digest", "token", "cookies", "host", "address"])
def test_a_site_is_crawled_behind_its_lock(way: str, tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text(f"{STAGING}\tFALSE\t/\tFALSE\t0\tsession\tc00kie-val\n")
    lock, fields = {
        "basic": (basic_lock("ann", "s3cret-word"), {"user": "ann", "secret": "s3cret-word"}),
        "digest": (DigestLock("ann", "s3cret-word"), {"user": "ann", "secret": "s3cret-word"}),
        "token": (header_lock("authorization", "Bearer s3cret-word"), {"secret": "s3cret-word"}),
        "cookies": (cookie_lock("session", "c00kie-val"), {"cookies": str(tmp_path / "cookies.txt")}),
        "host": (
            basic_lock("ann", "s3cret-word"),
            {"user": "ann", "secret": "s3cret-word", "host": "*.tea.invalid"},
        ),
        "address": (basic_lock("ann", "s3cret-word"), {}),
    }[way]
    with ClosedSites(hosts(lock)) as sites:  # type: ignore[arg-type]
        desk = filled(sites, **fields)
        if way == "address":
            desk.form.site.value = f"http://ann:s3cret-word@{STAGING}/"
        frame = run(desk)
    titles = dict(zip(frame["url"], frame["title"], strict=True))
    assert titles[f"http://{STAGING}/"] == "Tea"
    assert titles[f"http://{STAGING}/b"] == "B"
    carried = sites.carried(OPEN, "authorization", "cookie")
    assert carried == ({("authorization",)} if way == "host" else {()})
    shown = states(desk) + desk.message + str(desk.audit)
    basic = b64encode(b"ann:s3cret-word").decode()
    assert [word for word in ("s3cret-word", "c00kie-val", "pr0xy-word", basic) if word in shown] == []


def test_a_list_of_pages_and_its_sitemap() -> None:
    pages = {**PAGES, "/sitemap.xml": f"<urlset><url><loc>http://{STAGING}/b</loc></url></urlset>".encode()}
    with ClosedSites({STAGING: (basic_lock("ann", "s3cret-word"), pages)}) as sites:
        desk = filled(sites, user="ann", secret="s3cret-word")
        desk.form.crawl.value = False
        desk.form.urls.value = f"http://{STAGING}/"
        frame = run(desk)
    assert frame["title"].tolist() == ["Tea", "B"]
    assert {one.target for one in sites.asked} >= {"/robots.txt", "/sitemap.xml", "/", "/b"}


def test_logins_of_given_urls_are_not_in_the_state() -> None:
    desk = app([f"https://ann:s3cret-word@{STAGING}/"])
    assert desk.form.urls.value == f"https://{STAGING}/"
    assert "s3cret" not in states(desk)
    assert "s3cret" not in f"{desk.plan()}"


def test_without_a_host_it_is_a_wrong_call() -> None:
    desk = app(["https://a.example/"])
    desk.form.access.secret.keep("s3cret-word")
    with pytest.raises(ParameterError, match="`access` parameter must name the host"):
        desk.plan()


def test_what_the_session_opens_stays_open() -> None:
    with ClosedSites(hosts(basic_lock("ann", "s3cret-word"))) as sites:  # type: ignore[arg-type]
        desk = filled(sites)
        desk.form.urls.value = f"http://bob:other-word@{OPEN}/"
        with wa.option_context(access={STAGING: wa.Access(user="ann", password="s3cret-word")}):
            frame = run(desk)
    assert dict(zip(frame["url"], frame["title"], strict=True))[f"http://{STAGING}/b"] == "B"


@pytest.mark.parametrize(
    ("error", "kind", "key", "said"),
    [
        (
            "The page answered HTTP 401.",
            "refused",
            "status",
            "fill in “Passwords and proxies” (<code>access=</code>)",
        ),
        (
            "The host is not known here, and the environment names a proxy.",
            *("dns", "unknown_here", "write env into “Proxy” (<code>proxy="),
        ),
        (
            "The proxy asks for a user name and a password, or refuses those it was sent.",
            *("refused", "proxy_auth", "fill in “Proxy” and its password (<code>proxy=</code>)"),
        ),
        ("The page answered HTTP 429.", "refused", "status", "raise “Seconds between fetches”"),
    ],
)
def test_a_failure_names_the_field_that_helps(error: str, kind: str, key: str, said: str) -> None:
    pages = {"url": ["https://a.example/"], "status": ["error"], "error": [error]}
    shown = failure_list(pd.DataFrame({**pages, "error_type": [kind], "error_key": [key]}))
    assert said in shown
