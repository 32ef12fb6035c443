"""Where old addresses lead after the launch, asked of a server."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.moves.landing import planned_in

Reply = wa.testing.Reply
PAGE = b"<!doctype html><title>A page</title><h1>A page</h1><p>Text of the page."
REPLIES = {
    "/good": Reply(301, {"Location": "/new"}),
    "/other": Reply(308, {"Location": "/wrong"}),
    "/passing": Reply(302, {"Location": "/new"}),
    "/chain": Reply(301, {"Location": "/good"}),
    "/loop": Reply(301, {"Location": "/loop"}),
    "/stays": PAGE,
    "/hidden": Reply(301, {"Location": "/closed"}),
    "/copy": Reply(301, {"Location": "/canonical"}),
    "/forgotten": PAGE,
    "/new": PAGE,
    "/wrong": PAGE,
    "/closed": b"<meta name=robots content=noindex><title>C</title><p>Closed",
    "/canonical": b"<link rel=canonical href=/new><title>C</title><p>Copy",
}
PLAN = {
    "/good": "/new",
    "/other": "/new",
    "/passing": "/new",
    "/chain": "/new",
    "/loop": "/new",
    "/stays": "/new",
    "/hidden": "/closed",
    "/copy": "/canonical",
    "/dead": None,
}


def test_each_old_address_is_asked_and_judged(tmp_path: Path) -> None:
    with wa.testing.SiteServer(REPLIES) as server:
        plan = pd.DataFrame(
            {
                "old": [server.url + old for old in PLAN],
                "new": [new and server.url + new for new in PLAN.values()],
            }
        )
        plan.to_csv(tmp_path / "plan.csv", index=False)
        old = [f"{server.url}/forgotten", f"{server.url}/good"]
        report = tmp_path / "report.html"
        given = {"old": old, "report": report, "allow_private": True, "progress": False}
        found = wa.check_redirects(tmp_path / "plan.csv", **given)
        written = report.read_text()
        for path in ("/loop", "/stays", "/other", "/forgotten", "/passing", "/chain", "/hidden", "/copy"):
            assert f"{server.url}{path}<" in written
        assert f"{server.url}/good<" not in written
        assert f"{server.url}/dead<" not in written
        paths = found["old"].str.removeprefix(server.url)
        assert dict(zip(paths, found["verdict"], strict=True)) == {
            "/loop": "fails",
            "/stays": "not redirected",
            "/other": "elsewhere",
            "/forgotten": "not in the plan",
            **dict.fromkeys(("/good", "/passing", "/chain", "/hidden", "/copy"), "as planned"),
            "/dead": "gone",
        }
        notes = dict(zip(paths, found["note"].fillna(""), strict=True))
        assert notes["/good"] == ""
        assert "302" in notes["/passing"]
        assert notes["/chain"] == "A chain of 2 redirects (301, 301)."
        assert "noindex" in notes["/hidden"]
        assert notes["/copy"].endswith("/new")
        assert "circle" in notes["/loop"]
        assert found.set_index(paths).loc["/chain", ["hops", "kinds"]].tolist() == [2, ["301", "301"]]


def test_a_page_that_may_not_be_indexed_is_told_behind_any_redirect() -> None:
    replies = REPLIES | {
        "/a": Reply(302, {"Location": "/closed"}),
        "/b": Reply(301, {"Location": "/hidden"}),
    }
    with wa.testing.SiteServer(replies) as server:
        plan = pd.DataFrame({"old": [server.url + path for path in ("/a", "/b")]})
        found = wa.check_redirects(
            plan.assign(new=f"{server.url}/closed"), allow_private=True, progress=False
        )
    assert found["verdict"].tolist() == ["as planned"] * 2
    assert found["note"].str.contains("noindex").all()
    assert found["note"].str.contains("302|chain").all()


def test_escapes_in_other_letters_are_the_same_address() -> None:
    """RFC 3986 section 6.2.2.1: hexadecimal digits of escapes are the same in both cases."""
    replies = {"/old": Reply(301, {"Location": "/new?q=%C3%A9"}), "/new?q=%C3%A9": PAGE}
    with wa.testing.SiteServer(replies) as server:
        plan = pd.DataFrame({"old": [f"{server.url}/old"], "new": [f"{server.url}/new?q=%c3%a9"]})
        found = wa.check_redirects(plan, allow_private=True, progress=False)
    assert found["verdict"].tolist() == ["as planned"]


@pytest.mark.parametrize(
    ("old", "new"), [("https://a.example/a", "/new"), ("/a", "https://a.example/b"), ("a b", None)]
)
def test_a_plan_with_what_is_no_address_is_refused(old: str, new: str | None) -> None:
    """A new address that cannot be read is no page that is gone, and an old one is not left out unseen."""
    plan = pd.DataFrame({"old": ["https://a.example/", old], "new": [" ", new]})
    with pytest.raises(wa.ParameterError, match=r"names '(/new|/a|a b)', which is no address"):
        wa.check_redirects(plan)


def test_a_plan_that_leads_an_address_to_two_places_is_refused() -> None:
    """The last row would hide the first one; a fragment never reaches a server (RFC 9110, section 7.1)."""
    rows = {"old": ["https://a.example/a", "https://A.example/a#x"], "new": ["https://a.example/b"] * 2}
    assert planned_in(pd.DataFrame(rows)) == {"https://a.example/a": "https://a.example/b"}
    for other, said in (("https://a.example/c", "https://a.example/c"), (None, "no address")):
        plan = pd.DataFrame(rows | {"new": ["https://a.example/b", other]})
        with pytest.raises(
            wa.ParameterError, match=rf"`plan`.* two places: https://a\.example/b and {said}\."
        ):
            planned_in(plan)


@pytest.mark.parametrize(
    ("status", "verdict"), [(404, "gone"), (410, "gone"), (503, "fails"), (401, "fails")]
)
def test_gone_is_what_answers_that_there_is_no_page(status: int, verdict: str) -> None:
    """RFC 9110 section 15.5.11: 410 tells that a page is gone, and 404 may; no other status does."""
    with wa.testing.SiteServer({"/old": wa.testing.Reply(status)}) as server:
        plan = pd.DataFrame({"old": [f"{server.url}/old"], "new": [None]})
        found = wa.check_redirects(plan, allow_private=True, progress=False, retries=0)
    assert found["verdict"].tolist() == [verdict]


def test_old_addresses_are_asked_on_another_host() -> None:
    with wa.testing.SiteServer(REPLIES) as server:
        plan = pd.DataFrame({"old": ["https://old.example/good"], "new": ["https://new.example/new"]})
        found = wa.check_redirects(plan, site=server.url, allow_private=True, progress=False)
        assert [request.target for request in server.requests if "robots" not in request.target] == [
            "/good",
            "/new",
        ]
    assert found[["old", "verdict"]].values.tolist() == [["https://old.example/good", "as planned"]]


@pytest.mark.parametrize(
    ("plan", "more", "named"),
    [
        (["https://a.example/"], {}, "plan"),
        (pd.DataFrame({"old": [None], "new": [None]}), {}, "plan"),
        (pd.DataFrame({"old": ["https://a.example/"], "new": [None]}), {"site": "here"}, "site"),
    ],
)
def test_wrong_calls(plan: object, more: dict[str, str], named: str) -> None:
    with pytest.raises(wa.ParameterError, match=f"`{named}`"):
        wa.check_redirects(plan, **more)


def test_a_table_with_two_columns_of_one_name_is_no_plan() -> None:
    twice = pd.DataFrame([["https://a.example/"] * 3], columns=["old", "new", "new"])
    with pytest.raises(wa.ParameterError, match=r"`plan` .*the columns old and new"):
        wa.check_redirects(twice)
