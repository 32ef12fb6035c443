"""Hosts that begin to refuse while they are asked, by a clock that jumps, and one server in earnest."""

from __future__ import annotations

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import pytest
from multidict import CIMultiDict
from yarl import URL

import webanalytics as wa
from tests.fetching.test_giving_up import Behaviour, World, fine, keys, urls
from webanalytics.core.messages import advised
from webanalytics.fetching.exchange import RawResponse
from webanalytics.fetching.pace import PATIENCE, UNKNOWN, Pace
from webanalytics.fetching.response import Problem
from webanalytics.runs.backends import local

Result = tuple[float, Problem | None]


def refusing(status: int = 403, wait: float | None = None) -> Behaviour:
    return lambda url, now: (0.1, Problem("status", status=status, http_status=status, retry_after=wait))


def challenging(url: URL, now: float) -> Result:
    return 0.1, Problem("challenge", http_status=200, who="A wall", answer="a challenge", status=200)


def walled(url: URL, now: float) -> Any:
    """Lead to a page to log in, as a host whose session has ended does, and refuse that."""
    wall = Problem("wall", http_status=200, what="log in")
    return 0.1, wall if url.path == "/login" else RawResponse(302, CIMultiDict(), location="/login?next=/")


def refused_at_its_end(url: URL, now: float) -> Any:
    there = RawResponse(301, CIMultiDict(), location=f"{url}/")
    return refusing(429)(url, now) if url.path.endswith("/") else (0.1, there)


def refused_after_a_challenge(url: URL, now: float) -> Any:
    """Ask for Digest, and do not accept what comes, which is the request right after it."""
    problem = Problem("not_accepted", status=401, http_status=401)
    CHALLENGED.symmetric_difference_update({url})
    problem.challenged = url in CHALLENGED
    return 0.1, problem


CHALLENGED: set[URL] = set()


def after(count: int, then: Behaviour) -> Behaviour:
    """Answer so many requests, and refuse all further ones."""
    asked: list[str] = []

    def answer(url: URL, now: float) -> Any:
        asked.append(str(url))
        return fine(url, now) if len(asked) <= count else then(url, now)

    return answer


@pytest.mark.parametrize(
    ("then", "steps"),
    [
        *((then, 1) for then in (refusing(403), refusing(999), refusing(401), challenging)),
        *((then, 2) for then in (walled, refused_at_its_end, refused_after_a_challenge)),
    ],
)
def test_a_host_that_turns_after_fifty_pages_is_asked_little_more(
    monkeypatch: pytest.MonkeyPatch, then: Behaviour, steps: int
) -> None:
    world = World(monkeypatch, shop=after(50, then), other=fine)
    found, times, hosts = world.fetch(urls("shop", 2000) + urls("other", 200))
    asked = sum(host == "shop" for host, _ in world.asked)
    assert asked <= 50 + steps * (8 + 24)  # what was under way, and what is asked in a minute of pauses
    assert max(times[:2000]) < 2 * PATIENCE + 10
    assert max(times[2000:]) < 10  # nobody else waits
    counts = keys(found[:2000])
    assert counts["ok"] == 50
    assert counts["host_refused"] > 1900
    said = next(error for error in found if getattr(error, "key", "") == "host_refused")
    assert said.error_type == "refused"
    wants_login = then in (walled, refused_after_a_challenge) or "(HTTP 401)" in said.sentence
    assert ("(a page to log in)" in said.sentence) == (then is walled)
    assert advised(said.key, said.sentence).split("`")[-2] == ("access=" if wants_login else "delay=")
    assert {row["host"]: row["connections"] for row in hosts} == {"shop.example": 0, "other.example": 8}


def test_a_host_that_refuses_for_a_quarter_of_a_minute_loses_few_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All were asked for by then: whoever was refused is asked again after the pauses."""

    def moody(url: URL, now: float) -> Any:
        return refusing(403)(url, now) if 5 < now < 20 else fine(url, now)

    world = World(monkeypatch, shop=moody)
    found, times, hosts = world.fetch(urls("shop", 1000))
    assert keys(found)["ok"] >= 970
    assert "host_refused" not in keys(found)
    assert sum(5 < at < 20 for _, at in world.asked) < 30
    assert hosts[0]["connections"] == 8
    assert max(times) < 120


def test_pages_that_are_closed_to_all_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred in a row: the host stands, as one of its pages shows, asked for ever more seldom."""

    def members(url: URL, now: float) -> Any:
        return refusing(403)(url, now) if 100 <= int(url.name) < 500 else fine(url, now)

    world = World(monkeypatch, shop=members)
    found, times, hosts = world.fetch(urls("shop", 600))
    assert keys(found) == {"ok": 200, "status": 400}
    assert len(world.asked) <= 600 + 10
    assert (hosts[0]["connections"], hosts[0]["note"]) == (8, "")
    assert max(times) < 600 * 0.1 / 8 + 5


def test_a_host_that_refused_from_the_first_page_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, shop=refusing(403))
    found, times, _ = world.fetch(urls("shop", 500))
    assert len(world.asked) <= 8 + UNKNOWN + 24
    assert keys(found)["host_refused"] > 450
    assert max(times) < 2 * PATIENCE + 10


def test_a_few_pages_that_are_refused_cost_one_request_each(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, shop=refusing(403))
    found, times, _ = world.fetch(urls("shop", UNKNOWN - 1))
    assert (len(world.asked), keys(found)["status"]) == (UNKNOWN - 1, UNKNOWN - 1)
    assert max(times) < 2


@pytest.mark.parametrize(("wait", "obeyed"), [(20.0, True), (3600.0, False)])
def test_retry_after_is_obeyed_within_a_bound(
    monkeypatch: pytest.MonkeyPatch, wait: float, obeyed: bool
) -> None:
    world = World(monkeypatch, shop=after(50, refusing(403, wait)))
    _, times, _ = world.fetch(urls("shop", 300))
    late = [at for _, at in world.asked[50:]]
    gaps = [later - earlier for earlier, later in pairwise(late)]
    assert (max(gaps) >= wait) == obeyed
    assert max(times) < 2 * PATIENCE + 5 * 20


def test_who_serves_many_callers_asks_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, shop=refusing(403))
    found, _, _ = world.fetch(urls("shop", 500), adaptive=False)
    assert (len(world.asked), keys(found)["status"]) == (500, 500)


def test_the_states_of_a_doubted_host() -> None:
    pace = Pace(8)
    pace.opened("https://a.example/1")
    pace.turned_away(1.0, 1.1, "HTTP 403")
    assert pace.is_doubted
    pace.stands()
    assert (pace.is_doubted, pace.trusted, pace.connections) == (False, 2, 8)
    pace.turned_away(3.0, 3.1, "HTTP 403")
    assert not pace.is_doubted
    pace.turned_away(3.2, 3.3, "HTTP 403")
    assert pace.is_doubted
    pace.turned_away(4.0, 4.1, "HTTP 403", sure=True)
    assert (pace.turned, pace.is_doubted, pace.connections) == (True, False, 4)
    assert pace.note == "slowed down (HTTP 403)"
    pace.opened("")
    assert (pace.turned, pace.away, pace.good) == (False, 0, "https://a.example/1")


class Turning(BaseHTTPRequestHandler):
    """A site of 400 pages that refuses all of them after the fiftieth."""

    asked: list[str]
    links = "".join(f'<a href="/{number}">Page {number}</a>' for number in range(400))

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            return self.answer(404, b"")
        self.asked.append(self.path)
        if len(self.asked) > 50:
            return self.answer(403, b"<title>No</title>")
        return self.answer(200, f"<title>A page</title><p>Words of {self.path}. {self.links}".encode())

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_crawl_of_a_server_that_turns_after_fifty_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """In earnest, with pauses a hundredth as long: the server counts."""
    plain = local.fetch_settings
    monkeypatch.setattr(local, "fetch_settings", lambda options: replace(plain(options), backoff=0.005))
    monkeypatch.setattr("webanalytics.fetching.pace.PATIENCE", 0.6)
    monkeypatch.setattr(Turning, "asked", [], raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Turning) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        audit = wa.crawl(url, allow_private=True, progress=False, workers=1)
        server.shutdown()
    found = audit.failures().groupby("error_key")["pages"].sum()
    assert len(Turning.asked) <= 50 + 8 + 30
    assert 45 <= (audit.pages["status"] == "ok").sum() <= 50
    assert found["host_refused"] >= 300
    assert set(audit.failures()["error_type"]) == {"refused"}
    assert audit.failures().loc[audit.failures()["error_key"] == "host_refused", "option"].tolist() == [
        "delay="
    ]
    assert "refused" in repr(audit).splitlines()[0]
    assert "this audit speaks of the others alone" in " ".join(repr(audit).split())
    (host,) = audit.hosts.to_dict("records")
    assert host["note"].startswith("given up after")
    assert host["note"].endswith("(HTTP 403)")
