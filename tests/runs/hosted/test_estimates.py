"""What a call would cost, said before it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.proxy import Proxy
from tests.runs.hosted.running import CALLS, PAGES, PRICES, Account, Call
from tests.service.live import Server
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import SiteServer
from webanalytics.runs.backends.local import LocalBackend

BACKEND = wa.Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_price_of_good_inputs_is_what_is_charged(call: Call, server: Server) -> None:
    account = Account.new(server)
    with SiteServer(PAGES) as site:
        inputs = [call.make(site.url, number) for number in (0, 1, 1, 2)]
        backend = wa.Hosted(server.base, account.key)
        told = wa.estimate(call.name, inputs, backend)
        call(inputs, backend=backend)
    assert (told.rows, told.inputs, told.credits) == (4, 3, 3 * PRICES[call.name])
    assert int(told) == account.charged == told.credits


def test_nothing_is_sent(hosted: Callable[..., wa.Hosted], proxy: Proxy) -> None:
    assert wa.estimate("text", ["https://a.example/"] * 5, hosted()).credits == 10
    assert proxy.requests == []


def test_inputs_that_cannot_be_sent_cost_nothing() -> None:
    told = wa.estimate("hmac", ["a", None, 7, float("nan"), "a"], BACKEND)
    assert (told.rows, told.inputs, told.credits) == (5, 1, 2)


def test_this_machine_is_free() -> None:
    assert wa.estimate("audit", ["https://a.example/"]).credits == 0
    assert wa.estimate("audit", ["https://a.example/"], LocalBackend()).credits == 0


def test_the_backend_in_use_is_asked() -> None:
    wa.use(BACKEND)
    assert wa.estimate("audit", ["https://a.example/"]).credits == 32
    with wa.option_context(backend=None):
        assert wa.estimate("audit", ["https://a.example/"]).credits == 0


def test_prices_of_ones_own() -> None:
    backend = wa.Hosted(
        "https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc", prices={"text": 3, "hmac": 0}
    )
    assert wa.estimate("audit", ["https://a.example/"], backend).credits == 2 + 3 + 10 + 10
    assert wa.estimate("hmac", ["a"], backend).credits == 0


@pytest.mark.parametrize(("inputs", "column"), [
    (pd.DataFrame({"where": ["https://a.example/"], "note": ["x"]}), "where"),
    (pd.DataFrame({"url": ["https://a.example/"], "note": ["x"]}), None),
    (pd.Series(["https://a.example/"], index=["z"]), None),
    ("https://a.example/", None),
    (iter(["https://a.example/"]), None),
])  # fmt: skip
def test_inputs_of_every_form(inputs: Any, column: str | None) -> None:
    assert wa.estimate("keywords", inputs, BACKEND, column=column) == wa.estimate(
        "keywords", ["https://a.example/"], BACKEND
    )


def test_nothing_costs_nothing() -> None:
    assert wa.estimate("text", [], BACKEND).credits == 0


@pytest.mark.parametrize(("arguments", "parameter"), [
    (("sitemap", []), "operation"), (("", []), "operation"), (("text", 7), "inputs"), (("text", [], "there"), "backend"),
])  # fmt: skip
def test_what_is_wrong_is_named(arguments: tuple[Any, ...], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        wa.estimate(*arguments)
    assert caught.value.parameter == parameter
    assert f"`{parameter}`" in str(caught.value)


def test_an_unknown_operation_is_told_the_names_of_the_functions() -> None:
    with pytest.raises(ParameterError, match="must be one of: audit, ") as caught:
        wa.estimate("nope", [])
    names = str(caught.value).rstrip(".").partition(": ")[2].split(", ")
    assert "phones" in names
    assert all(callable(getattr(wa, name)) for name in names)
