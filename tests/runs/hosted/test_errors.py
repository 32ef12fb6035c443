"""What ends a run at once: each with its own exception, the request's id, and the rows done so far."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from multidict import CIMultiDict

import webanalytics as wa
from tests.runs.hosted.calls import KEY, sign
from tests.runs.hosted.faults import Fault
from tests.runs.hosted.proxy import REQUEST_ID, Proxy, Record, delay, html_403, status
from tests.service.live import Server
from webanalytics.cli import main
from webanalytics.errors import (
    AddressBlockedError,
    BackendError,
    HostedError,
    KeyRejectedError,
    KeyRevokedError,
    OperationBlockedError,
    ParameterError,
    ServiceUnavailableError,
    WebAnalyticsError,
)
from webanalytics.runs.backends.hosted.wire import Reply, fatal, is_out_of_credits

Make = Callable[..., wa.Hosted]


def _expired(server: Server) -> str:
    return server.key(expires=int(time.time()) - 86_400)


def _revoked(server: Server) -> str:
    key = server.key()
    assert main(["keys", "revoke", "--database", server.database, key]) == 0
    return key


KEYS: dict[str, tuple[Callable[[Server], str], type[HostedError], int]] = {
    "unknown": (lambda server: KEY, KeyRejectedError, 401),
    "no UUID": (lambda server: "my-key", KeyRejectedError, 403),
    "expired": (_expired, KeyRejectedError, 401),
    "revoked": (_revoked, KeyRevokedError, 403),
    "operation blocked": (lambda server: server.key(operations=["text"]), OperationBlockedError, 403),
    "address blocked": (lambda server: server.key(networks=["10.0.0.0/8"]), AddressBlockedError, 403),
}


@pytest.mark.parametrize(("make_key", "kind", "code"), KEYS.values(), ids=KEYS)
def test_a_key_that_may_not_ends_the_run_at_once(
    server: Server,
    proxy: Proxy,
    hosted: Make,
    make_key: Callable[[Server], str],
    kind: type[HostedError],
    code: int,
) -> None:
    with pytest.raises(kind) as caught:
        sign(500, hosted(make_key(server), batch_size=10, concurrency=1), retries=20)
    error = caught.value
    assert type(error) is kind
    assert error.status == code
    assert len(proxy.requests) == 1
    text = str(error)
    assert text.startswith("The `api_key` parameter must be ")
    assert f"(HTTP {code}, request {error.request_id})" in text
    assert error.request_id
    assert "0 of 500 rows are in .partial and last_partial()" in text
    assert text.count("\n") == 0
    assert list(error.partial.columns) == list(sign(1, None).columns)
    assert len(error.partial) == 0


def test_with_several_requests_at_once_none_is_sent_after_the_refusal(proxy: Proxy, hosted: Make) -> None:
    with pytest.raises(KeyRejectedError):
        sign(2000, hosted(KEY, batch_size=10, concurrency=4))
    assert len(proxy.requests) <= 4


def test_revoked_in_the_middle(server: Server, proxy: Proxy, hosted: Make) -> None:
    key = server.key()
    revoked = status(403, "API key has been revoked.")
    count = 0

    def later(_: Record) -> Fault | None:
        nonlocal count
        count += 1
        return revoked if count > 3 else None

    proxy.rule(later)
    with pytest.raises(KeyRevokedError, match="30 of 100 rows") as caught:
        sign(100, hosted(key, batch_size=10, concurrency=1))
    assert len(proxy.requests) == 4
    assert caught.value.partial["message"].tolist() == [f"m{number}" for number in range(30)]
    assert caught.value.partial["hmac"].tolist() == sign(30, None)["hmac"].tolist()
    assert caught.value.partial.attrs["credits"]["used"] == 60
    partial = wa.last_partial()
    assert partial is not None
    assert partial.equals(caught.value.partial)


def test_what_is_under_way_is_still_taken(proxy: Proxy, hosted: Make) -> None:
    """Requests that the service has been paid for keep their rows when another one ends the run."""
    proxy.plan(delay(0.5), delay(0.2, status(403, "API key has been revoked.")))
    with pytest.raises(KeyRevokedError) as caught:
        sign(50, hosted(batch_size=10, concurrency=2))
    assert len(caught.value.partial) == 10
    assert caught.value.partial["status"].eq("ok").all()


def test_partial_rows_keep_the_index(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(None, status(401, "unauthorized"))
    values = pd.Series([f"m{number}" for number in range(20)], index=[f"row {n}" for n in range(20)])
    with pytest.raises(KeyRejectedError) as caught:
        wa.hmac(values, secret="k", backend=hosted(batch_size=10, concurrency=1), progress=False)
    assert caught.value.partial.index.tolist() == [f"row {n}" for n in range(10)]


def test_the_async_functions_raise_the_same(proxy: Proxy, hosted: Make) -> None:
    async def run() -> Any:
        return await wa.aio.hmac(["a"], secret="k", backend=hosted(KEY), progress=False)

    with pytest.raises(KeyRejectedError) as caught:
        asyncio.run(run())
    assert len(caught.value.partial) == 0


def test_an_audit_stops_where_one_operation_is_blocked(server: Server, proxy: Proxy, hosted: Make) -> None:
    key = server.key(operations=["metadata", "text"])
    with pytest.raises(
        OperationBlockedError, match=r"may call (websitereadability|keywordextractor)"
    ) as caught:
        wa.audit(["http://127.0.0.1:1/"], backend=hosted(key), progress=False)
    assert caught.value.status == 403


# ------------------------------------------------------------------ the request's id


def _reply(code: int, error: str | None, **headers: str) -> Reply:
    envelope = None if error is None else {"status": "error", "error": error, "data": None}
    return Reply(
        code, CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()}), envelope
    )


def test_the_id_comes_from_whichever_header_there_is(proxy: Proxy, hosted: Make) -> None:
    proxy.always(html_403())
    with pytest.raises(KeyRejectedError) as caught:
        sign(1, hosted())
    assert caught.value.request_id == REQUEST_ID
    assert _reply(401, "unauthorized", x_cloud_trace_context="trace").request_id == "trace"
    assert _reply(401, "unauthorized").request_id is None
    assert _reply(401, "unauthorized", X_Request_ID="a\x1b[31m" + "b" * 500).request_id == "a[31m" + "b" * 95


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (_reply(401, "unauthorized"), KeyRejectedError),
        (_reply(401, None), KeyRejectedError),
        (_reply(403, None), KeyRejectedError),
        (_reply(403, "API key has been revoked."), KeyRevokedError),
        (_reply(403, "Access to `hmac` is blocked for this API key"), OperationBlockedError),
        (_reply(403, "IP address not allowed for this API key"), AddressBlockedError),
        (_reply(403, "Forbidden for another reason."), HostedError),
        (_reply(302, None), HostedError),
    ],
)
def test_kinds(reply: Reply, kind: type[HostedError]) -> None:
    assert type(fatal(reply, "https://api.example.com", "hmac")) is kind


@pytest.mark.parametrize("code", [200, 400, 404, 409, 422, 429, 500, 502, 503])
def test_answers_that_end_nothing(code: int) -> None:
    assert fatal(_reply(code, "Any sentence."), "https://api.example.com", "hmac") is None


@pytest.mark.parametrize(
    ("code", "error", "remaining", "spent"),
    [
        (429, "Too many.", "0", True),
        (429, "Too many.", "1", False),
        (429, "Too many.", "", False),
        (429, "Too many.", "none", False),
        (403, "Insufficient credits.", "0", True),
        (403, "Insufficient credits.", "5", False),
        (403, "API key has been revoked.", "0", False),
        (403, "Access to `hmac` is blocked for this API key", "0", False),
        (403, "IP address not allowed for this API key", "0", False),
        (400, "Wrong.", "0", False),
        (200, "", "0", False),
    ],
)
def test_the_header_tells_that_credits_are_spent(code: int, error: str, remaining: str, spent: bool) -> None:
    reply = _reply(code, error, x_api_remaining_credits=remaining)
    assert is_out_of_credits(reply) is spent


# ------------------------------------------------------------------ the exceptions themselves


@pytest.mark.parametrize(
    "kind",
    [HostedError, KeyRejectedError, KeyRevokedError, OperationBlockedError, AddressBlockedError,
     ServiceUnavailableError],
)  # fmt: skip
def test_exceptions_survive_pickling_with_their_rows(kind: type[HostedError]) -> None:
    error = kind("The `api_key` parameter must be another key.", 403, "id-1")
    error.keep(sign(3, None), 10)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert (copy.status, copy.request_id, copy.sentence) == (403, "id-1", error.sentence)
    assert copy.partial.equals(error.partial)
    assert isinstance(copy, BackendError)
    assert isinstance(copy, WebAnalyticsError)


def test_an_exception_without_details_is_its_sentence() -> None:
    assert str(HostedError("One sentence.")) == "One sentence."
    assert str(pickle.loads(pickle.dumps(HostedError("One sentence.")))) == "One sentence."


# ------------------------------------------------------------------ wrong calls


@pytest.mark.parametrize(
    "base_url",
    ["", "api.example.com", "ftp://api.example.com", "http://", "https://", "https://user:word@api.example.com",
     "https://api.example.com?x=1", "https://api.example.com#x", "https://api.example.com:0",
     "https://api.example.com:99999", "https://exa mple.com", "https://[::1", "https://a\\b", None, 7, b"https://a"],
)  # fmt: skip
def test_wrong_addresses(base_url: Any) -> None:
    with pytest.raises(ParameterError, match="`base_url`") as caught:
        wa.Hosted(base_url, KEY)
    assert caught.value.parameter == "base_url"


@pytest.mark.parametrize(
    ("base_url", "wanted"),
    [
        ("https://api.example.com/", "https://api.example.com"),
        ("https://api.example.com/v1", "https://api.example.com"),
        (" https://api.example.com/below/v1/ ", "https://api.example.com/below"),
        ("https://api.example.com:8443", "https://api.example.com:8443"),
        ("https://\u00fcber.example", "https://\u00fcber.example"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://localhost:8080/v1/", "http://localhost:8080"),
    ],
)
def test_addresses_are_kept_short(base_url: str, wanted: str) -> None:
    assert wa.Hosted(base_url, KEY).base_url == wanted


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"api_key": ""}, "api_key"),
        ({"api_key": "  "}, "api_key"),
        ({"api_key": "a\nb"}, "api_key"),
        ({"api_key": "k\u00e9y"}, "api_key"),
        ({"api_key": "\ud800"}, "api_key"),
        ({"api_key": "x" * 501}, "api_key"),
        ({"api_key": 7}, "api_key"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"concurrency": 2.0}, "concurrency"),
        ({"batch_size": 0}, "batch_size"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"patience": -1}, "patience"),
        ({"patience": "long"}, "patience"),
        ({"prices": {"hmac": -1}}, "prices"),
        ({"prices": {"hmac": 1.5}}, "prices"),
        ({"prices": {"unknown": 1}}, "prices"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"`{parameter}`") as caught:
        wa.Hosted("https://api.example.com", **{"api_key": KEY, **arguments})
    assert caught.value.parameter == parameter


WRONG_CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "ngrams": (lambda b: wa.keywords(["http://a.example/"], ngrams=2, backend=b), "ngrams"),
    "top": (lambda b: wa.keywords(["http://a.example/"], top=10, backend=b), "top"),
    "min_length": (lambda b: wa.keywords(["http://a.example/"], min_length=3, backend=b), "min_length"),
    "stop_words": (lambda b: wa.keywords(["http://a.example/"], stop_words=["a"], backend=b), "stop_words"),
    "budget": (lambda b: wa.hmac(["a"], secret="k", backend=b, budget=-1), "budget"),
    "budget as text": (lambda b: wa.hmac(["a"], secret="k", backend=b, budget="10"), "budget"),
    "retries": (lambda b: wa.hmac(["a"], secret="k", backend=b, retries=-1), "retries"),
    "redo": (lambda b: wa.hmac(["a"], secret="k", backend=b, redo="all"), "redo"),
    "store": (lambda b: wa.hmac(["a"], secret="k", backend=b, store=""), "store"),
    "algorithm": (lambda b: wa.hmac(["a"], secret="k", backend=b, algorithm="sha3"), "algorithm"),
    "secret": (lambda b: wa.hmac(["a"], secret="", backend=b), "secret"),
    "secret that is no text": (lambda b: wa.hmac(["a"], secret=b"\xff\xfe", backend=b), "secret"),
    "quality": (lambda b: wa.convert([b"x"], "webp", quality=0, backend=b), "quality"),
    "region": (lambda b: wa.phones(["+1"], region="XX", backend=b), "region"),
    "inputs": (lambda b: wa.metadata({"a": 1}, backend=b), "urls"),
}


@pytest.mark.parametrize(("call", "parameter"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_a_wrong_call_sends_nothing(
    proxy: Proxy, hosted: Make, call: Callable[[Any], Any], parameter: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        call(hosted())
    assert caught.value.parameter == parameter
    assert proxy.requests == []


@pytest.mark.parametrize("backend", ["hosted", 7, wa.Hosted, object()])
def test_what_is_no_backend(backend: Any) -> None:
    for call in (lambda: wa.use(backend), lambda: sign(1, backend)):
        with pytest.raises(ParameterError, match="`backend`"):
            call()
