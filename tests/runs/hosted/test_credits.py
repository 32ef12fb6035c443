"""Credits: what a call spends, what it says of it, and how it ends when they do not reach."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.proxy import Proxy, cut_after, delay, status
from tests.runs.hosted.running import CALLS, HMAC, PAGES, PRICES, Account, Call, record, same
from tests.service.live import Server
from webanalytics.errors import IncompleteRunWarning, KeyRejectedError
from webanalytics.fetching.testing import SiteServer
from webanalytics.operations import FACTS
from webanalytics.runs import boundary

PREMIUM = {
    "text": set(),
    "keywords": set(),
    "hmac": set(),
    "phones": set(),
    "dane": {"interpretation"},
    "convert": {"id", "inputSize", "outputSize"},
    "readability": {
        "gunningFog", "colemanLiauIndex", "smogIndex", "automatedReadabilityIndex", "daleChallReadabilityScore",
        "daleChallReadabilityScoreText", "averageGradeLevel", "targetAudience",
    },
}  # fmt: skip
"""Fields marked Premium in the service's specification; of metadata there are many more."""
PREMIUM_METADATA = {
    "canonical",
    "image",
    "favicons",
    "jsonld",
    "headings",
    "imgTags",
    "responseBody",
    "og:title",
    "card:site",
}
FREE_METADATA = {
    "url",
    "lang",
    "charset",
    "title",
    "author",
    "description",
    "keywords",
    "robots",
    "viewport",
    "og:image:alt",
}


@pytest.fixture(scope="module")
def pages() -> Iterator[SiteServer]:
    with SiteServer(PAGES) as site:
        yield site


Make = Callable[..., wa.Hosted]


@pytest.mark.parametrize(("concurrency", "batch_size"), [(1, 200), (4, 50), (8, 200)])
def test_credits_that_end_after_300_of_1000_rows(
    server: Server, quick: None, concurrency: int, batch_size: int
) -> None:
    account = Account.new(server, balance=600)
    backend = wa.Hosted(server.base, account.key, concurrency=concurrency, batch_size=batch_size)
    messages = [f"message {number}" for number in range(1000)]
    with pytest.warns(
        IncompleteRunWarning, match=r"No credits are left\. The rows that are left need 1,400 credits"
    ):
        frame = HMAC(messages, backend=backend)
    assert frame["status"].value_counts().to_dict() == {"ok": 300, "error": 700}
    assert frame["error_type"].value_counts().to_dict() == {"credits": 700}
    assert frame["error"].dropna().str.contains("no credits left").all()
    assert frame.attrs["credits"] == {"used": 600, "left": 0, "needed": 1400}
    assert (account.charged, account.left) == (600, 0)
    good = frame["status"] == "ok"
    local = HMAC(messages)
    pd.testing.assert_frame_equal(frame[good], local[good])


def test_credits_that_do_not_reach_for_one_more_row(server: Server, quick: None) -> None:
    account = Account.new(server, balance=7)
    with pytest.warns(IncompleteRunWarning, match="need 4 credits"):
        frame = HMAC(list("abcde"), backend=wa.Hosted(server.base, account.key, patience=10))
    assert frame["status"].tolist() == ["ok"] * 3 + ["error"] * 2
    assert frame.attrs["credits"]["used"] == account.charged == 6


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("cut", [0.0, 0.25])
def test_a_budget_is_spent_to_its_end_and_never_exceeded(
    server: Server, proxy: Proxy, quick: None, seed: int, cut: float
) -> None:
    """Inputs that fail give their credits back; answers that are lost on their way have been paid for."""
    chance = random.Random(seed)
    account = Account.new(server)
    proxy.rule(lambda request: cut_after() if chance.random() < cut else delay(chance.random() * 0.02))
    inputs = [record(number + 1) if chance.random() < 0.7 else f"no record {number}" for number in range(300)]
    good = sum(item.startswith("_") for item in inputs)
    budget = chance.randint(1, 2 * good - 1)
    backend = wa.Hosted(
        proxy.base,
        account.key,
        concurrency=chance.randint(1, 6),
        batch_size=chance.randint(1, 40),
        patience=20,
    )
    with pytest.warns(IncompleteRunWarning, match="The budget is spent"):
        frame = wa.dane(inputs, backend=backend, budget=budget)
    assert account.charged == budget // 2 * 2
    assert frame.attrs["credits"]["used"] == account.charged == 2 * (frame["status"] == "ok").sum()
    unasked = frame["error_type"] == "credits"
    assert frame["error"][unasked].str.contains("The budget did not reach this row; `budget=`").all()
    assert frame.attrs["credits"]["needed"] == 2 * unasked.sum()


def test_a_budget_that_reaches_changes_nothing(hosted: Make) -> None:
    frame = HMAC(["a", "b"], backend=hosted(), budget=4)
    same(frame, HMAC(["a", "b"]))
    assert frame.attrs["credits"]["used"] == 4


def test_a_budget_of_nothing_sends_nothing(hosted: Make, proxy: Proxy) -> None:
    with pytest.warns(IncompleteRunWarning, match="need 4 credits"):
        frame = HMAC(["a", "b", "a"], backend=hosted(), budget=0)
    assert proxy.requests == []
    assert frame["error_type"].tolist() == ["credits"] * 3
    assert frame.attrs["credits"] == {"used": 0, "left": None, "needed": 4}


@pytest.mark.parametrize("budget", [31, 32, 100, 129])
def test_a_budget_never_pays_for_half_an_audit(server: Server, pages: SiteServer, budget: int) -> None:
    account = Account.new(server)
    urls = [f"{pages.url}/p{number}" for number in range(6)]
    backend = wa.Hosted(server.base, account.key, concurrency=3, batch_size=2)
    with pytest.warns(IncompleteRunWarning):
        frame = wa.audit(urls, backend=backend, budget=budget)
    rows = budget // 32
    assert account.charged == rows * 32
    assert (frame.raw["status"] == "ok").sum() == rows
    paid = frame.raw[["title", "text", "wordCount", "keywords"]].notna()
    assert paid.all(axis=1).sum() == rows
    assert paid.any(axis=1).sum() == rows


def test_credits_that_end_midway_in_an_audit_keep_the_columns_that_were_paid_for(
    server: Server, pages: SiteServer, quick: None
) -> None:
    account = Account.new(server, balance=32 * 2 + 15)
    urls = [f"{pages.url}/p{number}" for number in range(5)]
    with pytest.warns(IncompleteRunWarning, match="No credits"):
        frame = wa.audit(urls, backend=wa.Hosted(server.base, account.key, concurrency=1, batch_size=2))
    paid = frame.raw[["title", "text", "wordCount", "keywords"]].notna() @ [2, 10, 10, 10]
    assert paid.sum() == account.charged == frame.raw.attrs["credits"]["used"]
    assert frame.raw.attrs["credits"]["needed"] == 5 * 32 - account.charged
    assert ((paid == 32) == (frame.raw["status"] == "ok")).all()
    assert account.left < 10
    assert (frame.raw.loc[frame.raw["status"] != "ok", "error_type"] == "credits").all()


def test_duplicates_are_paid_for_once(server: Server) -> None:
    account = Account.new(server)
    frame = HMAC(["a", "b"] * 50, backend=wa.Hosted(server.base, account.key))
    assert len(frame) == 100
    assert account.charged == frame.attrs["credits"]["used"] == 4


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_rows_that_fail_cost_nothing(call: Call, server: Server, pages: SiteServer) -> None:
    account = Account.new(server)
    inputs = call.inputs(pages.url, 3)
    frame = call(inputs, backend=wa.Hosted(server.base, account.key))
    assert account.charged == frame.attrs["credits"]["used"] == 2 * PRICES[call.name]
    assert frame.attrs["credits"] == {"used": account.charged, "left": account.left, "needed": 0}


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_plan_without_premium_fields(call: Call, server: Server, pages: SiteServer, pro: str) -> None:
    inputs = call.inputs(pages.url, 3)
    more = {"body": True} if call.name in ("metadata", "audit") else {}
    whole = call(inputs, backend=wa.Hosted(server.base, pro), **more)
    free = call(inputs, backend=wa.Hosted(server.base, server.key(plan="free")), **more)
    assert free.columns.tolist() == whole.columns.tolist()
    assert free.dtypes.tolist() == whole.dtypes.tolist()
    assert free["status"].tolist() == whole["status"].tolist()
    left_out = free.attrs["webanalytics"]["premium_left_out"]
    assert whole.attrs["webanalytics"]["premium_left_out"] == []
    assert left_out == sorted(left_out)
    if call.name in ("metadata", "audit"):
        assert set(left_out) >= PREMIUM_METADATA
        assert not set(left_out) & FREE_METADATA
        assert call.name == "metadata" or set(left_out) >= PREMIUM["readability"]
    else:
        assert set(left_out) == PREMIUM[call.name]
    for name in set(left_out) & set(free.columns):
        assert free[name].isna().all(), name
    derived = {"saved", "saved_share", "audience", "readability_score"}  # from Premium fields
    if call.name == "audit":  # facts are read from the page that the plan leaves out
        derived |= {field.audit_name for field in FACTS.fields}
        assert all(free[name].isna().all() for name in derived & set(free.columns))
    others = [name for name in whole.columns if name not in {*left_out, *derived}]
    if call.name == "dane":
        others = [name for name in others if whole[name].notna().any() and free[name].notna().any()]
    same(free[others], whole[others])


def test_a_body_that_nobody_asked_for_is_null_where_the_plan_leaves_it_out(
    server: Server, pages: SiteServer
) -> None:
    frame = wa.metadata([f"{pages.url}/p1"], backend=wa.Hosted(server.base, server.key(plan="free")))
    assert frame["responseBody"].isna().all()


class Bar:
    """What a progress bar was told."""

    def __init__(self) -> None:
        self.count, self.notes = 0, list[str]()

    def update(self, count: int) -> None:
        self.count += count

    def set_postfix_str(self, text: str) -> None:
        self.notes.append(text)

    def close(self) -> None:
        pass


def test_the_progress_bar_shows_the_credits_that_are_left(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = Bar()
    monkeypatch.setattr(boundary, "progress_bar", lambda total, name, done=0: bar)
    account = Account.new(server, balance=2000)
    backend = wa.Hosted(server.base, account.key, concurrency=1, batch_size=10)
    HMAC([str(number) for number in range(30)], backend=backend, progress=True)
    assert bar.notes == ["1,980 credits left", "1,960 credits left", "1,940 credits left"]
    assert bar.count == 30


def test_an_error_that_ends_the_run_keeps_the_rows_of_requests_under_way(
    server: Server, proxy: Proxy, quick: None
) -> None:
    account = Account.new(server)
    refused = status(401, "unauthorized")
    proxy.rule(lambda record: refused if record.json["inputs"][0]["message"] == "60" else delay(0.4))
    backend = wa.Hosted(proxy.base, account.key, concurrency=4, batch_size=25)
    messages = [str(number) for number in range(1000)]
    index = {str(number): number for number in range(0, 1000, 25)}
    assert "50" in index
    proxy.rule(lambda record: refused if record.json["inputs"][0]["message"] == "50" else delay(0.4))
    with pytest.raises(KeyRejectedError) as caught:
        HMAC(messages, backend=backend)
    partial: Any = caught.value.partial
    assert len(partial) == 75  # the three others that were under way
    assert account.charged == 150
    assert "75 of 1000 rows are in .partial" in str(caught.value)
    assert len(proxy.requests) == 4
    assert partial.attrs["credits"]["used"] == 150
    pd.testing.assert_frame_equal(wa.last_partial(), partial)
