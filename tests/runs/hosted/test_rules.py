"""Which answers are asked for again, how often and when: of whole requests, and of their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from PIL import Image

import webanalytics as wa
from tests.runs.hosted.calls import asked, batch_of, in_turn, item, keys_sent, sign
from tests.runs.hosted.conftest import PAUSE
from tests.runs.hosted.proxy import (
    Fault,
    Proxy,
    Record,
    json_of,
    not_found,
    out_of_credits,
    rate_limited,
    server_failure,
    status,
    unavailable,
)
from webanalytics.errors import IncompleteRunWarning, ServiceUnavailableError
from webanalytics.fetching.testing import SampleSite
from webanalytics.runs.backends.hosted import http as exchange

Make = Callable[..., wa.Hosted]

# ------------------------------------------------------------------ whole requests


@pytest.mark.parametrize("fault", [server_failure(), unavailable(), unavailable(0)])
def test_500_and_503_are_sent_again_under_one_key(proxy: Proxy, hosted: Make, fault: Fault) -> None:
    proxy.plan(fault, fault)
    frame = sign(5, hosted())
    assert frame["status"].eq("ok").all()
    assert len(proxy.requests) == 3
    assert len(keys_sent(proxy)) == 1
    assert len({record.body for record in proxy.requests}) == 1


def test_pauses_grow_up_to_a_limit_and_vary(
    proxy: Proxy, hosted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def pause(self: exchange.RetryGate, seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(exchange.RetryGate, "pause", pause)
    proxy.plan(*[server_failure()] * 8)
    assert sign(1, hosted())["status"].eq("ok").all()
    longest = [min(0.4, PAUSE * 2**number) for number in range(8)]
    assert len(pauses) == 8
    assert all(most / 2 <= seconds <= most for seconds, most in zip(pauses, longest, strict=True))
    assert len({seconds / most for seconds, most in zip(pauses, longest, strict=True)}) > 1


def test_a_503_may_say_how_long_to_wait(proxy: Proxy, hosted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "LONGEST_PAUSE", 30.0)
    proxy.plan(unavailable(1))
    sign(1, hosted())
    first, second = proxy.requests
    assert first.ended is not None
    assert second.arrived - first.ended > 0.95


@pytest.mark.parametrize("code", [400, 402, 405, 413, 418, 422, 501, 502, 504])
def test_other_answers_are_never_asked_for_again(proxy: Proxy, hosted: Make, code: int) -> None:
    proxy.always(status(code, "The `message` parameter must be another one."))
    frame = sign(1, hosted(), retries=20)
    assert frame["error"].tolist() == ["The `message` parameter must be another one."]
    assert frame["error_type"].tolist() == ["invalid" if code == 400 else "service"]
    assert len(proxy.requests) == 1


# ------------------------------------------------------------------ 429


@pytest.mark.parametrize("by_date", [False, True])
def test_429_with_credits_holds_all_requests_back(proxy: Proxy, hosted: Make, by_date: bool) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)
    proxy.plan(None, None, None, rate_limited(until if by_date else 1))
    frame = sign(200, hosted(batch_size=10, concurrency=3))
    assert frame["status"].eq("ok").all()
    requests = proxy.requests
    limited = requests[3].ended
    assert limited is not None
    later = [record.arrived - limited for record in requests if record.arrived - limited > 0.15]
    assert len(later) > 10
    assert min(later) > 0.95
    assert len(requests) == 21
    assert len(keys_sent(proxy)) == 20


@pytest.mark.parametrize("remaining", [7, None])
def test_429_without_retry_after_waits_a_second(proxy: Proxy, hosted: Make, remaining: int | None) -> None:
    proxy.plan(rate_limited(None, remaining))
    assert sign(1, hosted())["status"].eq("ok").all()
    first, second = proxy.requests
    assert second.arrived - first.arrived > 0.95


def test_429_holds_back_the_other_operations_of_an_audit(
    proxy: Proxy, hosted: Make, site: SampleSite
) -> None:
    proxy.plan(rate_limited(1))
    frame = wa.audit([site.url + "/about"], backend=hosted(concurrency=1), progress=False)
    assert frame.raw["status"].tolist() == ["ok"]
    requests = proxy.requests
    assert len(requests) == 5
    assert requests[1].arrived - requests[0].arrived > 0.95


@pytest.mark.parametrize(
    "fault",
    [out_of_credits(), status(403, "Not enough credits for this call.", {"x-api-remaining-credits": "0"})],
)
def test_no_credits_are_never_asked_about_again(proxy: Proxy, hosted: Make, fault: Fault) -> None:
    proxy.plan(None)
    proxy.always(fault)
    with pytest.warns(IncompleteRunWarning, match="No credits are left"):
        frame = sign(50, hosted(batch_size=10, concurrency=1), retries=20)
    assert len(proxy.requests) == 2
    assert frame["status"].tolist() == ["ok"] * 10 + ["error"] * 40
    assert frame["error_type"][10:].eq("credits").all()
    assert frame.attrs["credits"]["needed"] == 80


def test_items_that_meet_no_credits_are_asked_about_once_more(proxy: Proxy, hosted: Make) -> None:
    """An item's 429 may be about a rate; whether credits are spent is what the whole answer says."""
    proxy.plan(batch_of([item(200), item(429), item(429)]), out_of_credits())
    with pytest.warns(IncompleteRunWarning):
        frame = sign(3, hosted(), retries=0)
    assert asked(proxy) == [["m0", "m1", "m2"], ["m1", "m2"]]
    assert frame["error_type"].isna().tolist() == [True, False, False]


# ------------------------------------------------------------------ items


def test_only_items_that_failed_for_now_go_again_and_together(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(in_turn({"m1": [503, 200], "m3": [500, 503, 200], "m4": [400], "m5": [404]}))
    frame = sign(7, hosted())
    assert asked(proxy) == [[f"m{number}" for number in range(7)], ["m1", "m3"], ["m3"]]
    assert frame["status"].tolist() == ["ok"] * 4 + ["error"] * 2 + ["ok"]
    assert frame["error_type"][4:6].tolist() == ["invalid", "service"]
    assert len(keys_sent(proxy)) == 3
    assert frame.attrs["credits"]["used"] == 10


@pytest.mark.parametrize("retries", [0, 1, 3])
@pytest.mark.parametrize("code", [500, 503])
def test_retries_bound_how_often_an_item_goes_again(
    proxy: Proxy, hosted: Make, code: int, retries: int
) -> None:
    proxy.rule(in_turn({"m1": [code]}))
    frame = sign(3, hosted(), retries=retries)
    assert asked(proxy) == [["m0", "m1", "m2"], *[["m1"]] * retries]
    assert frame["status"].tolist() == ["ok", "error", "ok"]


def test_a_rate_limited_item_goes_again_whatever_the_retries(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(in_turn({"m0": [429, 429, 429, 200]}))
    assert sign(2, hosted(), retries=0)["status"].eq("ok").all()
    assert asked(proxy) == [["m0", "m1"], ["m0"], ["m0"], ["m0"]]


def test_items_wait_as_long_as_their_answer_says(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(in_turn({"m0": [503, 200]}, **{"retry-after": "1"}))
    sign(2, hosted())
    first, second = proxy.requests
    assert second.arrived - first.arrived > 0.95


def test_items_that_are_always_put_off_end_the_run(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(in_turn({"m1": [429]}))
    with pytest.raises(ServiceUnavailableError, match="puts inputs off") as caught:
        sign(2, hosted(patience=0.5))
    assert caught.value.partial["message"].tolist() == ["m0"]


@pytest.mark.parametrize("broken", [None, 7, {}, {"status": "ok"}, {"status": "ok", "data": 3}])
def test_an_item_that_is_no_answer_is_a_row(proxy: Proxy, hosted: Make, broken: object) -> None:
    proxy.rule(lambda record: _with_last(record, broken))
    frame = sign(3, hosted(), retries=1)
    assert frame["status"].tolist() == ["ok", "ok", "error"]
    assert frame["error_type"].tolist()[2] == "service"


def _with_last(record: Record, last: object) -> Fault:
    results = [*(item(200) for _ in record.json["inputs"][1:]), last]
    return json_of({"status": "ok", "error": None, "data": {"results": results}})


# ------------------------------------------------------------------ without batches, and smaller ones


def _no_batch(record: Record) -> Fault | None:
    return not_found() if record.path.endswith("/batch") else None


def test_without_a_batch_path_inputs_go_one_by_one_and_this_is_remembered(
    proxy: Proxy, hosted: Make, pro: str
) -> None:
    proxy.rule(_no_batch)
    backend = hosted(concurrency=3)
    for expected in (["/v1/hmac/batch", *["/v1/hmac"] * 5], ["/v1/hmac"] * 5):
        before = len(proxy.requests)
        frame = sign(5, backend)
        assert frame["hmac"].equals(sign(5, None)["hmac"])
        assert [record.path for record in proxy.requests[before:]] == expected
    other = hosted()
    sign(1, other)
    assert proxy.requests[-2].path == "/v1/hmac/batch"
    assert proxy.at_once <= 3


def test_single_calls_have_keys_of_their_own_that_stay(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(_no_batch)
    backend = hosted(concurrency=1)
    sign(1, backend)
    proxy.plan(server_failure(), server_failure())
    before = len(proxy.requests)
    sign(2, backend)
    keys = Counter(record.headers["Idempotency-Key"] for record in proxy.requests[before:])
    assert list(keys.values()) == [2, 2]


def test_phone_numbers_go_one_by_one_in_the_query(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(_no_batch)
    numbers = ["+12085813945", "+12125550123", "no number"]
    frame = wa.phones(numbers, backend=hosted(concurrency=1), progress=False)
    wanted = wa.phones(numbers)
    assert frame["isDisposable"].equals(wanted["isDisposable"])
    assert frame["error"].equals(wanted["error"])
    assert [(r.method, r.path, r.query, r.body) for r in proxy.requests[1:]] == [
        ("GET", "/v1/disposablephone", "phone=%2B12085813945", b""),
        ("GET", "/v1/disposablephone", "phone=%2B12125550123", b""),
    ]


def test_a_server_without_the_operation_ends_the_run(proxy: Proxy, hosted: Make) -> None:
    proxy.always(not_found())
    with pytest.raises(wa.HostedError, match=r"an API that has /v1/hmac") as caught:
        sign(9, hosted(concurrency=1))
    assert caught.value.status == 404
    assert len(proxy.requests) == 2


def test_a_batch_that_is_refused_as_a_whole_is_sent_in_smaller_ones(proxy: Proxy, hosted: Make) -> None:
    def at_most_three(record: Record) -> Fault | None:
        long = len(record.json["inputs"]) > 3
        return status(400, "The `inputs` parameter must be a list of 1 to 3 objects.") if long else None

    proxy.rule(at_most_three)
    frame = sign(22, hosted(concurrency=1))
    assert frame["hmac"].equals(sign(22, None)["hmac"])
    sizes = [len(messages) for messages in asked(proxy)]
    assert sizes[:4] == [22, 11, 6, 3]
    assert set(sizes[4:]) <= {1, 2, 3}
    assert len(sizes) == 3 + 8


def test_one_input_that_the_server_cannot_read_fails_alone(proxy: Proxy, hosted: Make) -> None:
    def dislike(record: Record) -> Fault | None:
        bad = any(given["message"] == "m5" for given in record.json["inputs"])
        return status(400, "The request body must be a JSON object.") if bad else None

    proxy.rule(dislike)
    frame = sign(9, hosted(concurrency=1))
    assert frame["status"].tolist() == ["ok"] * 5 + ["error"] + ["ok"] * 3
    assert frame["error_type"].tolist()[5] == "invalid"


# ------------------------------------------------------------------ images, which go alone


def _pictures(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"{number}.png" for number in range(count)]
    for number, path in enumerate(paths):
        Image.new("RGB", (10 + number, 10)).save(path)
    return paths


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("The service failed to work on the `image` parameter.", "parse"),
        ("The `image` parameter names content that takes longer than 20 seconds to analyse.", "timeout"),
        (
            "The `image` parameter names a site that takes fewer requests than it is sent; repeat the request later.",
            "timeout",
        ),
    ],
)
def test_a_failure_of_one_image_is_its_row(
    proxy: Proxy, hosted: Make, tmp_path: Path, sentence: str, kind: str
) -> None:
    paths = _pictures(tmp_path, 3)
    bad = paths[1].read_bytes()
    proxy.rule(lambda record: status(503, sentence) if bad in record.body else None)
    frame = wa.convert(paths, "webp", backend=hosted(concurrency=1), retries=1, progress=False)
    assert frame["status"].tolist() == ["ok", "error", "ok"]
    assert frame["error_type"].tolist()[1] == kind
    assert sum(bad in record.body for record in proxy.requests) == 2


def test_a_failure_of_the_service_during_an_image_is_not(proxy: Proxy, hosted: Make, tmp_path: Path) -> None:
    proxy.plan(status(500, "The service failed; repeat the request later with the same parameters."))
    frame = wa.convert(_pictures(tmp_path, 1), "webp", backend=hosted(), retries=0, progress=False)
    assert frame["status"].tolist() == ["ok"]
    posts = [record for record in proxy.requests if record.method == "POST"]
    assert len(posts) == 2
    assert len({record.headers["Idempotency-Key"] for record in posts}) == 1
