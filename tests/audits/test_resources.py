"""What pages load and whether it answers: the option of an audit, its column and its rules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.audits.requests.resources import loaded_of_links
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.frames.link_table import CHECKED, Link, LinkTableBuilder

LOCAL: dict[str, Any] = {"allow_private": True, "workers": 1, "progress": False}
PAGE = b"""<!doctype html><html lang=en><title>A page of lamps</title><script src=/fine.js></script>
<script src=/gone.js></script><link rel=stylesheet href=/fine.css><link rel=stylesheet href=/broken.css>
<img src=/fine.png alt=a><img src=/gone.png alt=b><img src=/gone.png alt=c><img src="data:image/gif;base64,R0lGODlh" alt=d>
<img src=/secret.png alt=e><img srcset="/small.png 1x, /large.png 2x" alt=f><a href=/nowhere>A link</a>"""
NEAR = b"""<!doctype html><html lang=en><title>Another page</title><img src=/fine.png alt=a><img src=/secret.png alt=b>
<script src=/moved.js></script><link rel=stylesheet href=/fine.css>"""


@pytest.fixture(scope="module")
def site() -> Any:
    fine = {path: Reply(200, {}, b"x") for path in ("/fine.js", "/fine.css", "/fine.png", "/small.png")}
    pages = {
        **fine,
        "/page": PAGE,
        "/near": NEAR,
        "/broken.css": Reply(500),
        "/secret.png": Reply(403),
        "/moved.js": Reply(301, {"Location": "/fine.js"}),
    }
    with SiteServer(pages) as server:
        yield server


@pytest.fixture(scope="module")
def audit(site: SiteServer) -> wa.Audit:
    site.requests.clear()
    urls = [f"{site.url}/{name}" for name in ("page", "near", "missing")]
    return wa.audit(urls, resources="check", **LOCAL)


def test_what_does_not_answer_is_listed(site: SiteServer, audit: wa.Audit) -> None:
    cells = audit.raw["broken_resources"]
    assert [(item["kind"], item["url"].removeprefix(site.url), item["reason"]) for item in cells.iloc[0]] == [
        ("script", "/gone.js", "HTTP 404"),
        ("stylesheet", "/broken.css", "HTTP 500"),
        ("image", "/gone.png", "HTTP 404"),
        ("image", "/large.png", "HTTP 404"),
    ]
    assert cells.iloc[1] == []
    assert pd.isna(cells.iloc[2])


def test_rules_name_the_pages(site: SiteServer, audit: wa.Audit) -> None:
    found = audit.issues[audit.issues["rule"].str.startswith("broken_")]
    assert Counter(
        zip(found["url"].str.removeprefix(site.url), found["rule"], found["value"], strict=True)
    ) == {
        ("/page", "broken_image", 2.0): 1,
        ("/page", "broken_script", 1.0): 1,
        ("/page", "broken_stylesheet", 1.0): 1,
    }
    assert f"{site.url}/gone.js (HTTP 404)" in set(found["evidence"])


def test_each_address_is_asked_once(site: SiteServer, audit: wa.Audit) -> None:
    asked = Counter(request.target for request in site.requests if request.method == "HEAD")
    assert {path: asked[path] for path in ("/gone.png", "/broken.css", "/large.png", "/secret.png")} == {
        "/gone.png": 1, "/broken.css": 1, "/large.png": 1, "/secret.png": 1,
    }  # fmt: skip
    assert asked["/nowhere"] == 0
    checked = audit.origin.checked
    assert checked is not None
    assert list(checked.columns) == list(CHECKED)
    verdicts = dict(zip(checked["url"].str.removeprefix(site.url), checked["verdict"], strict=True))
    assert verdicts["/moved.js"] == "redirected"
    assert verdicts["/secret.png"] == "refused"
    assert verdicts["/fine.js"] == "ok"


def test_links_of_the_pages_are_not_in_the_frame(site: SiteServer, audit: wa.Audit) -> None:
    plain = wa.audit([f"{site.url}/page"], **LOCAL)
    assert set(audit.raw.columns) - set(plain.raw.columns) == {"broken_resources"}
    assert plain.origin.checked is None
    assert plain.issues.attrs["webanalytics"]["rules_not_tried"]["broken_image"] == ["broken_resources"]


def test_saved_and_loaded(audit: wa.Audit, tmp_path: Path) -> None:
    again = wa.load(audit.save(tmp_path / "kept"))
    assert again.raw["broken_resources"].iloc[0] == audit.raw["broken_resources"].iloc[0]
    assert again.origin.checked is not None
    equal(again.origin.checked, audit.origin.checked)
    equal(again.issues, audit.issues)


def test_a_checkpoint_keeps_what_pages_load(site: SiteServer, tmp_path: Path) -> None:
    urls, more = [f"{site.url}/page"], {"store": tmp_path / "run", **LOCAL}
    first = wa.audit(urls, resources="check", **more)
    again = wa.audit(urls, resources="check", **more)
    assert again.raw["broken_resources"].iloc[0] == first.raw["broken_resources"].iloc[0] != []


def test_rows_of_equal_pages_and_any_index(site: SiteServer) -> None:
    urls = pd.Series([f"{site.url}/near", f"{site.url}/page", f"{site.url}/page"], index=["c", "a", "b"])
    found = wa.audit(urls, resources="check", **LOCAL).raw["broken_resources"]
    assert [len(cell) for cell in found.loc[["a", "b", "c"]]] == [4, 4, 0]


@pytest.mark.parametrize("value", ["all", None, True])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`resources`"):
        wa.audit(["https://example.org/"], resources=value)


def test_a_hosted_api_does_not_say_what_pages_load() -> None:
    with pytest.raises(wa.ParameterError, match='`resources` parameter must be "ignore" with a hosted'):
        wa.audit(
            ["https://example.org/"],
            resources="check",
            backend=wa.Hosted("https://api.example", api_key="key"),
        )


def test_of_the_links_of_a_crawl() -> None:
    links = LinkTableBuilder()
    links.add(
        "https://a.example/", [Link("https://a.example/b"), Link("https://a.example/i.png", kind="image")]
    )
    links.add("https://a.example/b", [Link("https://a.example/s.js", kind="script")])
    urls = ["https://a.example/b", None, "https://a.example/", "https://a.example/unknown"]
    assert loaded_of_links(links.table(), urls) == [
        {"https://a.example/s.js": "script"}, {}, {"https://a.example/i.png": "image"}, {},
    ]  # fmt: skip
