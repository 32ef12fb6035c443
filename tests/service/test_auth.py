"""Where a request comes from, and what a key may do."""

from __future__ import annotations

import time
from ipaddress import ip_address
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from webanalytics.service.accounts.base import Key
from webanalytics.service.headers import caller_address, check_address, check_key
from webanalytics.service.results import Problem
from webanalytics.service.settings import read_address, read_networks, within

PROXIES = read_networks(["10.0.0.0/8", "2001:db8:1::/48"])


def key(**values: Any) -> Key:
    return Key(1, 1, "12345678", "pro", **values)


def request(remote: str, *forwarded: str) -> Any:
    headers = CIMultiDict([("X-Forwarded-For", value) for value in forwarded])
    return make_mocked_request("GET", "/", headers=headers).clone(remote=remote)


@pytest.mark.parametrize(
    ("remote", "forwarded", "expected"),
    [
        ("198.51.100.1", [], "198.51.100.1"),
        ("198.51.100.1", ["192.0.2.1"], "198.51.100.1"),  # no proxy: what it says is its own claim
        ("10.0.0.1", ["192.0.2.1"], "192.0.2.1"),
        ("10.0.0.1", ["203.0.113.9, 192.0.2.1"], "192.0.2.1"),  # the first was written by the caller
        ("10.0.0.1", ["203.0.113.9", "192.0.2.1, 10.0.0.2"], "192.0.2.1"),  # two proxies, two headers
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),  # a caller inside the proxies' network
        ("10.0.0.1", ["192.0.2.1, nonsense"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("::ffff:10.0.0.1", ["2001:db8::7"], "2001:db8::7"),
        ("2001:db8:1::5", ["::ffff:192.0.2.1"], "192.0.2.1"),
    ],
)
def test_caller_address(remote: str, forwarded: list[str], expected: str) -> None:
    assert caller_address(request(remote, *forwarded), PROXIES) == ip_address(expected)


def test_without_proxies_in_the_configuration_no_header_is_believed() -> None:
    assert caller_address(request("10.0.0.1", "192.0.2.1"), ()) == ip_address("10.0.0.1")


@pytest.mark.parametrize("text", ["192.0.2.0/33", "192.0.2.1/24", "nonsense", ""])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_networks([text])


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (None, 401),
        (key(expires=time.time() - 1), 401),
        (key(revoked=time.time() - 1), 403),
        (key(revoked=time.time() - 1, expires=time.time() - 1), 403),
    ],
)
def test_keys_that_are_refused(given: Key | None, status: int) -> None:
    with pytest.raises(Problem) as problem:
        check_key(given)
    assert problem.value.status == status


def test_keys_that_are_valid() -> None:
    soon = time.time() + 60
    for given in (key(), key(expires=soon), key(revoked=soon)):
        assert check_key(given) is given


def test_an_unknown_address_is_on_no_list() -> None:
    for remote in ("nonsense", "198.51.100.1"):
        with pytest.raises(Problem):
            check_address(key(networks=PROXIES), request(remote), ())
        check_address(key(), request(remote), ())
    check_address(key(networks=PROXIES), request("10.0.0.1"), ())


def test_the_zone_of_an_address_is_left_out() -> None:
    assert read_address("fe80::1%eth0") == ip_address("fe80::1")
    assert within(read_address("fe80::1%eth0"), read_networks(["fe80::/10"]))
