"""The proxy injects what it says it does: otherwise tests of the client would prove nothing."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead, RemoteDisconnected

import pytest

from tests.runs.hosted.proxy import Proxy, away, cut_after, cut_before, delay, half_body, half_request, status
from webanalytics.fetching.testing import Reply, SiteServer

BODY = b"0123456789" * 100


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    pages = {"/a": BODY, "/b": Reply(404, {"X-Twice": "1"}, b"gone")}
    with SiteServer(pages) as site, Proxy(site.url) as running:
        yield running


def ask(proxy: Proxy, path: str = "/a", body: bytes | None = None) -> tuple[int, bytes]:
    connection = HTTPConnection(proxy.base.removeprefix("http://"), timeout=20)
    try:
        connection.request("POST" if body else "GET", path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_requests_are_passed_on_and_recorded(proxy: Proxy) -> None:
    assert ask(proxy) == (200, BODY)
    assert ask(proxy, "/b?q=%2F") == (404, b"gone")
    first, second = proxy.requests
    assert (first.path, first.query, first.upstream_status, first.connection) == ("/a", "", 200, 0)
    assert (second.path, second.query, second.upstream_status, second.connection) == ("/b", "q=%2F", 404, 1)


@pytest.mark.parametrize(
    ("fault", "upstream"), [(cut_before(), None), (cut_after(), 200), (half_request(), None)], ids=str
)
def test_a_connection_is_reset_before_or_after_the_service_answered(
    proxy: Proxy, fault: object, upstream: int | None
) -> None:
    proxy.plan(fault)  # type: ignore[arg-type]
    with pytest.raises((ConnectionResetError, RemoteDisconnected, BrokenPipeError)):
        ask(proxy, body=b"x" * 100)
    (record,) = proxy.requests
    assert (record.upstream_status is None) == (upstream is None)


def test_half_a_body_has_the_whole_length(proxy: Proxy) -> None:
    proxy.plan(half_body())
    with pytest.raises(IncompleteRead) as caught:
        ask(proxy)
    assert caught.value.partial == BODY[:500]
    assert caught.value.expected == 500


def test_plan_goes_before_rule_before_always(proxy: Proxy) -> None:
    proxy.always(status(500, "always"))
    proxy.rule(lambda record: status(503, "rule") if record.path == "/a" else None)
    proxy.plan(delay(0.01, status(429, "plan")), None)
    assert [ask(proxy)[0] for _ in range(3)] == [429, 200, 503]
    assert ask(proxy, "/b")[0] == 500
    proxy.clear()
    assert ask(proxy)[0] == 200


def test_a_rule_that_raises_is_heard_of() -> None:
    def broken(record: object) -> None:
        raise KeyError("broken")

    with SiteServer({}) as site:
        proxy = Proxy(site.url).__enter__()
        proxy.rule(broken)
        with pytest.raises((ConnectionResetError, RemoteDisconnected)):
            ask(proxy)
        with pytest.raises(KeyError, match="broken"):
            proxy.__exit__(None, None, None)


def test_it_goes_away_and_comes_back_on_the_same_port(proxy: Proxy) -> None:
    proxy.stop_listening()
    with pytest.raises(ConnectionRefusedError):
        ask(proxy)
    proxy.listen_again()
    assert ask(proxy)[0] == 200
    proxy.plan(away(0.3))
    with pytest.raises((ConnectionResetError, RemoteDisconnected)):
        ask(proxy)
    with pytest.raises(ConnectionRefusedError):
        ask(proxy)
    proxy.listen_again()
    assert ask(proxy)[0] == 200
