"""Broken connections and answers that are none: sent again under one key, and paid for once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.hosted.calls import PRICE, credits_left, keys_sent, sign
from tests.runs.hosted.conftest import OPTIONS
from tests.runs.hosted.faults import Answer
from tests.runs.hosted.proxy import (
    Fault,
    Proxy,
    Record,
    away,
    cut_after,
    cut_before,
    delay,
    endless,
    half_body,
    half_request,
    json_of,
    redirect,
    server_failure,
    slow_answer,
    status,
    wrong_json,
)
from tests.service.live import Server
from webanalytics.errors import HostedError, ServiceUnavailableError
from webanalytics.fetching.testing import Reply, SampleSite, SiteServer
from webanalytics.runs.backends.hosted import http as exchange

Make = Callable[..., wa.Hosted]

HTML = Answer(200, (("Content-Type", "text/html"),), b"<!doctype html><title>Welcome to the network</title>")


def gateway(code: int) -> Fault:
    return Answer(
        code, (("Content-Type", "text/html"),), b"<html><head><title>Bad Gateway</title></head></html>"
    )


FAULTS: dict[str, list[Fault]] = {
    "reset before": [cut_before()] * 2,
    "reset after": [cut_after()],
    "reset after, twice": [cut_after(), cut_after()],
    "half a body": [half_body()],
    "half a request": [half_request()],
    "away": [away(0.5)],
    "computed, then away": [cut_after(), away(0.3)],
    "no JSON": [wrong_json()],
    "a JSON list": [json_of([])],
    "a JSON string": [json_of("ok")],
    "another object": [json_of({"hello": "world"})],
    "no data": [json_of({"status": "ok", "error": None})],
    "data null": [json_of({"status": "ok", "error": None, "data": None})],
    "no results": [json_of({"status": "ok", "error": None, "data": {"results": None}})],
    "too few results": [json_of({"status": "ok", "error": None, "data": {"results": []}})],
    "too many results": [json_of({"status": "ok", "error": None, "data": {"results": [{}] * 99}})],
    "an error in a 200": [json_of({"status": "error", "error": "The server failed.", "data": None})],
    "not UTF-8": [wrong_json(b'{"status": "\xff"}')],
    "deep JSON": [wrong_json(b"[" * 200_000)],
    "a page": [HTML],
    # what nginx answers for a service that is being restarted, or slower than its own patience (RFC 9110 15.5.9, 15.6)
    "gateway": [gateway(502), gateway(504), gateway(503), gateway(408)],
    "computed, and then a gateway": [cut_after(), gateway(504)],
    "nothing": [Answer(200, (("Content-Type", "application/json"),))],
    "one after the other": [cut_before(), server_failure(), half_body(), wrong_json()],
}


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_sent_again_under_one_key_and_charged_once(
    server: Server, proxy: Proxy, hosted: Make, faults: list[Fault]
) -> None:
    key = server.key(plan="starter")
    before = credits_left(server, key)
    proxy.plan(*faults)
    frame = sign(12, hosted(key))
    assert frame["hmac"].equals(sign(12, None)["hmac"])
    assert before - credits_left(server, key) == 12 * PRICE
    assert frame.attrs["credits"]["used"] == 12 * PRICE
    assert frame.attrs["credits"]["left"] == before - 12 * PRICE
    assert len(keys_sent(proxy)) == 1
    assert None not in keys_sent(proxy)
    assert len(proxy.requests) == len(faults) + 1


def test_a_slow_answer_is_given_up_and_fetched_again(server: Server, proxy: Proxy, hosted: Make) -> None:
    key = server.key()
    before = credits_left(server, key)
    proxy.plan(slow_answer(seconds=30))
    began = time.monotonic()
    frame = sign(3, hosted(key, timeout=0.5))
    assert time.monotonic() - began < BUSY_SECONDS
    assert frame["status"].eq("ok").all()
    assert before - credits_left(server, key) == 3 * PRICE == frame.attrs["credits"]["used"]
    assert len(keys_sent(proxy)) == 1


def test_a_late_request_is_paid_for_once(server: Server, proxy: Proxy, hosted: Make) -> None:
    """The first sending reaches the service after the second one was answered."""
    key = server.key()
    before = credits_left(server, key)
    proxy.plan(delay(1.0))
    assert sign(3, hosted(key, timeout=0.4))["status"].eq("ok").all()
    end = time.monotonic() + BUSY_SECONDS
    while proxy.requests[0].upstream_status is None and time.monotonic() < end:
        time.sleep(0.02)
    assert proxy.requests[0].upstream_status == 200
    assert before - credits_left(server, key) == 3 * PRICE


def test_an_endless_answer_is_left(proxy: Proxy, hosted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_ANSWER_BYTES", 1_000_000)
    proxy.plan(endless())
    assert sign(2, hosted())["status"].eq("ok").all()
    assert len(proxy.requests) == 2


def test_a_request_that_is_still_worked_on_is_waited_for(server: Server, proxy: Proxy, hosted: Make) -> None:
    key = server.key()
    before = credits_left(server, key)
    with SiteServer({"/slow": Reply(body=b"<title>Late</title>", delay=1.0)}) as site:
        frame = wa.metadata([site.url + "/slow"], backend=hosted(key, timeout=0.4), progress=False)
        fetches = [request.target for request in site.requests].count("/slow")
    assert frame["title"].tolist() == ["Late"]
    statuses = [record.upstream_status for record in proxy.requests]
    assert 409 in statuses
    assert statuses[-1] == 200
    assert fetches == 1
    assert len(keys_sent(proxy)) == 1
    assert before - credits_left(server, key) == 2 == frame.attrs["credits"]["used"]


def test_409_lasts_longer_than_the_patience(proxy: Proxy, hosted: Make) -> None:
    """A service that says it is at work is not one that is away."""
    proxy.plan(*[status(409, "It is still being worked on.", {"retry-after": "0"})] * 4)
    assert sign(1, hosted(patience=0.1, timeout=20))["status"].eq("ok").all()
    assert len(proxy.requests) == 5
    assert len(keys_sent(proxy)) == 1


def test_an_upload_that_broke_is_sent_again_whole(
    server: Server, proxy: Proxy, hosted: Make, tmp_path: Path
) -> None:
    key = server.key()
    before = credits_left(server, key)
    Image.effect_noise((1200, 1100), 90).save(tmp_path / "large.png")
    proxy.plan(half_request(), cut_after(), server_failure())
    frame = wa.convert(tmp_path / "large.png", "gif", backend=hosted(key), progress=False)
    assert frame["content"][0].startswith(b"GIF8")
    uploads = [record for record in proxy.requests if record.method == "POST"]
    assert len(uploads) == 4
    assert len({record.headers["Idempotency-Key"] for record in uploads}) == 1
    assert before - credits_left(server, key) == 5 == frame.attrs["credits"]["used"]


def test_several_requests_at_once_survive_a_service_that_is_away(
    server: Server, proxy: Proxy, hosted: Make
) -> None:
    key = server.key()
    before = credits_left(server, key)
    proxy.plan(None, None, None, away(1.0))
    frame = sign(300, hosted(key, concurrency=3, batch_size=25))
    assert frame["hmac"].equals(sign(300, None)["hmac"])
    assert before - credits_left(server, key) == 300 * PRICE == frame.attrs["credits"]["used"]
    assert proxy.at_once <= 3


# ------------------------------------------------------------------ redirects


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_ends_the_run_and_the_key_goes_nowhere_else(
    server: Server, proxy: Proxy, hosted: Make, code: int
) -> None:
    with Proxy(server.base) as elsewhere:
        proxy.always(redirect(f"{elsewhere.base}/v1/hmac/batch", code))
        with pytest.raises(HostedError, match="redirects elsewhere") as caught:
            sign(2, hosted())
        assert elsewhere.requests == []
    assert caught.value.status == code
    assert len(proxy.requests) == 1


# ------------------------------------------------------------------ patience


def _fail_after(good: int, fault: Fault) -> Callable[[Record], Fault | None]:
    count = 0

    def decide(record: Record) -> Fault | None:
        nonlocal count
        count += 1
        return fault if count > good else None

    return decide


@pytest.mark.parametrize(
    ("fault", "code"),
    [(cut_before(), None), (server_failure(), 500), (HTML, 200), (wrong_json(), None), (away(60), None)],
)
def test_patience_ends_with_the_rows_that_were_done(
    proxy: Proxy, hosted: Make, fault: Fault, code: int | None
) -> None:
    proxy.rule(_fail_after(2, fault))
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError, match=r"20 of 50 rows are in \.partial") as caught:
        sign(50, hosted(patience=0.6, batch_size=10, concurrency=1))
    assert 0.6 < time.monotonic() - began < BUSY_SECONDS
    assert "`patience` of 0.6 s" in str(caught.value)
    assert caught.value.status == code
    assert caught.value.partial["message"].tolist() == [f"m{number}" for number in range(20)]
    assert caught.value.partial["status"].eq("ok").all()
    partial = wa.last_partial()
    assert partial is not None
    assert partial.equals(caught.value.partial)


def test_a_host_that_does_not_exist_is_said(quick: None) -> None:
    with pytest.raises(ServiceUnavailableError, match="could not be looked up"):
        sign(1, wa.Hosted("https://no-such-host.invalid", "key", patience=0.2))


def test_a_server_without_tls_is_said(server: Server, quick: None) -> None:
    with pytest.raises(ServiceUnavailableError, match="secure connection"):
        sign(1, wa.Hosted(server.base.replace("http:", "https:"), "key", patience=0.2))


# ------------------------------------------------------------------ answers with little room


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A service that keeps only small answers for an Idempotency-Key."""
    options = (*OPTIONS, "--saved-bytes", "30000")
    with Server(tmp_path_factory.mktemp("narrow"), options) as running:
        yield running


def test_answers_over_the_cap_come_in_further_requests(narrow: Server, site: SampleSite, quick: None) -> None:
    key = narrow.key()
    before = credits_left(narrow, key)
    big = b"<title>Big</title><p>" + b"many words " * 4000
    with Proxy(narrow.base) as proxy, SiteServer({"/big": big, "/small": b"<title>Small</title>"}) as odd:
        urls = [*site.pages, odd.url + "/big", odd.url + "/small"]
        options = {"body": True, "allow_private": True, "progress": False, "retries": 0}
        backend = wa.Hosted(proxy.base, key, concurrency=2)
        frame = wa.metadata(urls, backend=backend, **options)
        wanted = wa.metadata(urls, **options)
    assert frame["error"].equals(wanted["error"])
    assert frame["responseBody"].equals(wanted["responseBody"])
    good = int(frame["status"].eq("ok").sum())
    assert before - credits_left(narrow, key) == 2 * good == frame.attrs["credits"]["used"]
    assert len(proxy.requests) < len(urls)
    without = [r.json for r in proxy.requests if "Idempotency-Key" not in r.headers]
    assert without == [{"url": odd.url + "/big"}]
