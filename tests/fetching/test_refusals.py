"""What stands in place of a page, told from pages of customers of the same content networks."""

from __future__ import annotations

import csv
import io
import re
import time
from datetime import date
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.effort import effort_since
from tests.fetching.refusal_pages import CHALLENGES, FURTHER, NEAR, ORDINARY, SHOP, customer
from webanalytics.fetching.response import refusal, signs
from webanalytics.fetching.testing import Reply, SiteServer

OPTIONS = {"allow_private": True, "workers": 1, "progress": False, "robots": False}


@pytest.mark.parametrize("status", [200, 202, 403, 429, 503])
@pytest.mark.parametrize("vendor", CHALLENGES)
def test_a_challenge_is_known_whatever_its_status(vendor: str, status: int) -> None:
    found = refusal(status, {}, CHALLENGES[vendor])
    assert found is not None
    assert (found.key, found.http_status, found.details["who"]) == ("challenge", status, vendor)


@pytest.mark.parametrize(("vendor", "page"), FURTHER)
def test_further_challenges_and_blocks(vendor: str, page: bytes) -> None:
    found = refusal(200, {}, page)
    assert found is not None
    assert found.details["who"] == vendor


@pytest.mark.parametrize("name", NEAR)
def test_pages_that_are_nearly_challenges(name: str) -> None:
    assert refusal(200, {}, NEAR[name]) is None


@pytest.mark.parametrize("vendor", ORDINARY)
def test_an_ordinary_page_of_a_customer_is_a_page(vendor: str) -> None:
    headers = {"Server": "cloudflare", "X-Iinfo": "1-2-3", "X-CDN": "Imperva", "X-DataDome": "protected"}
    assert refusal(200, headers, ORDINARY[vendor]) is None


@pytest.mark.parametrize("vendor", CHALLENGES)
def test_an_article_that_quotes_a_challenge_is_a_page(vendor: str) -> None:
    source = CHALLENGES[vendor].decode().replace("<", "&lt;").replace("&lt;script", "<script")
    assert refusal(200, {}, customer("", f"<h1>How we are challenged</h1>{SHOP * 9}<pre>{source}")) is None


@pytest.mark.parametrize(
    ("header", "who"),
    [
        (("cf-mitigated", "challenge"), "Cloudflare"),
        (("x-amzn-waf-action", "captcha"), "AWS WAF"),
        (("x-amzn-waf-action", "challenge"), "AWS WAF"),
        (("x-vercel-mitigated", "challenge"), "Vercel"),
        (("sg-captcha", "challenge"), "SiteGround"),
    ],
)
def test_a_header_says_it(header: tuple[str, str], who: str) -> None:
    found = refusal(403, dict([header]), b"")
    assert found is not None
    assert found.details["who"] == who
    assert refusal(403, {header[0]: "none"}, b"") is None


def test_a_marker_far_inside_a_long_challenge_is_found() -> None:
    page = CHALLENGES["Cloudflare"].replace(
        b"<script>", b"<script>" + b"/* x */" * 40_000 + b"</script><script>"
    )
    assert len(page) > 275_000
    assert refusal(200, {}, page) is not None


ASKED = "https://shop.example/orders"


@pytest.mark.parametrize(
    ("final", "what"),
    [
        ("https://shop.example/login?next=/orders", "log in"),
        ("https://shop.example/account/sign-in?return_to=%2Forders", "log in"),
        ("https://accounts.google.com/v3/signin/identifier?continue=x", "log in"),
        ("https://id.other.example/login", "log in"),
        (
            "https://shop.example/authwall?trk=bf&sessionRedirect=https%3A%2F%2Fshop.example%2Forders",
            "log in",
        ),
        ("https://consent.shop.example/v2/collect?url=x", "consent"),
        ("https://shop.example/zustimmung?url=https%3A%2F%2Fshop.example%2Forders", "consent"),
        ("https://shop.example/login", None),  # nothing says that it stands in place of the page
        ("https://shop.example/orders/", None),
        ("https://shop.example/blog/login-pages-that-work", None),
        ("https://shop.example/consent-in-medicine?from=orders", None),
        ("https://www.shop.example/orders", None),
    ],
)
def test_walls_at_the_end_of_redirects(final: str, what: str | None) -> None:
    found = refusal(200, {}, customer(""), [ASKED], final)
    assert (None if found is None else found.details["what"]) == what


def test_a_page_to_log_in_is_a_page_where_it_was_asked_for() -> None:
    page = customer("", '<form><input type="password">')
    assert refusal(200, {}, page, ["http://a.example/login"], "https://a.example/login?next=/") is None
    assert refusal(200, {}, page, [], "https://a.example/login") is None
    found = refusal(200, {}, page, [ASKED], "https://shop.example/login")
    assert found is not None  # it asks for a password


def test_the_rules_are_dated_and_have_sources() -> None:
    text = resources.files("webanalytics.fetching").joinpath("data/refusals.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(signs()) > 25
    for row in rows:
        assert row["source"].startswith("https://")
        assert date.fromisoformat(row["date"]) <= date.today()
        assert sum(bool(row[name]) for name in ("header", "markers", "address")) == 1
        assert row["markers"] == row["markers"].lower()
        assert bool(row["markers"]) == bool(row["characters"])
        re.compile(row["address"])
        assert bool(row["who"]) == (row["kind"] in ("a challenge", "a refusal"))


HOSTILE = {
    "open tags": b"<" * 1_000_000,
    "scripts": b"<script" * 140_000,
    "closed scripts": b"<script>a</script>" * 60_000,
    "comments": b"<!--" * 250_000,
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_a_hostile_page_takes_no_longer_than_another(shape: str) -> None:
    page = b"window._cf_chl_opt /cdn-cgi/challenge-platform/ " + HOSTILE[shape] * 3
    start = time.process_time()
    refusal(200, {}, page, ["http://a.example/"], "http://b.example/" + "login-" * 2_000)
    assert effort_since(start) < 2


def test_an_audit_tells_them_and_other_functions_answer_as_a_service_does() -> None:
    pages = {f"/{number}": page for number, page in enumerate(CHALLENGES.values())}
    plain = {f"/page/{number}": page for number, page in enumerate(ORDINARY.values())}
    pages["/503"] = Reply(503, {"Content-Type": "text/html"}, CHALLENGES["Cloudflare"])
    with SiteServer({**pages, **plain}) as server:
        given = [server.url + path for path in (*pages, *plain)]
        audit = wa.audit(given, retries=0, per_host=1, **OPTIONS)
        same = wa.metadata(given[0], **OPTIONS)
    found = audit.raw.set_index("url")
    assert found.loc[given[: len(pages)], "error_key"].tolist() == ["challenge"] * len(pages)
    assert found.loc[given[: len(pages)], "error_type"].tolist() == ["refused"] * len(pages)
    assert found.loc[given[len(pages) :], "status"].tolist() == ["ok"] * len(plain)
    assert found["error"].iloc[0] == (
        "In place of the page Cloudflare answers with a challenge (HTTP 200); `access=` sends what the owner of "
        "the site lets through."
    )
    assert (same["status"].tolist(), same["title"].tolist()) == (["ok"], ["Just a moment..."])


def test_saved_pages_are_told_too() -> None:
    frame = {"url": ["https://a.example/", "https://a.example/b"]}
    frame["html"] = [CHALLENGES["DataDome"].decode(), ORDINARY["DataDome"].decode()]
    audit = wa.audit(pd.DataFrame(frame))
    assert audit.raw["error_key"].tolist()[0] == "challenge"
    assert audit.raw["status"].tolist() == ["error", "ok"]


def test_a_challenge_is_judged_again_from_an_archive(tmp_path: Path) -> None:
    file = str(tmp_path / "site.warc.gz")
    pages = {"/a": CHALLENGES["HUMAN"], "/b": ORDINARY["HUMAN"], "/c": Reply(403, body=b"<title>No")}
    with SiteServer(pages) as server:
        given = [server.url + path for path in pages]
        live = wa.audit(given, archive=file, **OPTIONS)
        wa.metadata(given, archive=str(tmp_path / "plain.warc.gz"), **OPTIONS)
    for again in (wa.audit(file), wa.audit(str(tmp_path / "plain.warc.gz"))):
        for name in ("status", "error", "error_type", "error_key", "http_status"):
            assert again.raw[name].fillna("").tolist() == live.raw[name].fillna("").tolist(), name


def test_no_page_of_the_corpus_is_called_refused(corpus_pages: dict[str, bytes]) -> None:
    assert len(corpus_pages) > 90
    assert [name for name, page in corpus_pages.items() if refusal(200, {}, page)] == []
