"""A call that was broken off, made again: what was paid for is not paid for twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

import webanalytics as wa
from tests.effort import BUSY_SECONDS
from tests.runs.hosted.faults import delay
from tests.runs.hosted.proxy import Proxy
from tests.runs.hosted.running import Account
from tests.runs.hosted.test_resume import settled
from tests.service.live import Server
from tests.service.supervised import wait_until

MESSAGES = [f"message {number}" for number in range(300)]


def interrupted_while_under_way(proxy: Proxy, call: Callable[[], object]) -> wa.AuditInterrupted:
    """Interrupt a call when the first of its requests have been answered and others are under way."""

    def interrupt() -> None:
        end = time.monotonic() + BUSY_SECONDS
        while len(proxy.requests) < 4 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(wa.AuditInterrupted) as caught:
            call()
    finally:
        thread.join()
    return caught.value


def test_the_same_call_takes_what_was_under_way_for_nothing(server: Server, proxy: Proxy) -> None:
    account = Account.new(server)
    backend = wa.Hosted(proxy.base, account.key, concurrency=2, batch_size=50)
    taken = iter(range(100))
    proxy.rule(lambda record: None if next(taken) < 2 else delay(0.6))

    def call(**more: str) -> object:
        return wa.hmac(MESSAGES, secret=more.get("secret", "s"), backend=backend)

    partial = interrupted_while_under_way(proxy, call).partial
    assert 0 < len(partial) < 300
    assert wait_until(lambda: account.charged > 2 * len(partial)), "nothing was paid for and not received"
    settled(account)
    proxy.clear()
    frame = wa.hmac(MESSAGES, secret="s", backend=backend)
    assert (frame["status"] == "ok").all()
    assert settled(account) == 2 * 300
    assert frame.attrs["credits"]["used"] < 2 * 300
    wa.hmac(MESSAGES, secret="s", backend=backend)
    assert settled(account) == 4 * 300, "a call that came to its end is another one when it is repeated"


def test_another_secret_is_another_call(server: Server, proxy: Proxy) -> None:
    account = Account.new(server)
    backend = wa.Hosted(proxy.base, account.key, concurrency=2, batch_size=50)
    proxy.rule(lambda record: delay(0.2))
    interrupted_while_under_way(proxy, lambda: wa.hmac(MESSAGES, secret="one", backend=backend))
    proxy.clear()
    paid = settled(account)
    frame = wa.hmac(MESSAGES, secret="two", backend=backend)
    assert frame["hmac"].equals(wa.hmac(MESSAGES, secret="two")["hmac"])
    assert settled(account) == paid + 2 * 300
