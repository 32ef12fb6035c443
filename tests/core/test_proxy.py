"""How the option `proxy` is read: addresses, ports, passwords, and what the environment says."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.core import proxy
from webanalytics.core.proxy import Proxy, Way, is_in_environment
from webanalytics.errors import MissingExtraError

NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def way(value: Any, scheme: str = "https", host: str = "a.example", port: int = 443) -> Way | None:
    made = Proxy.of(value)
    assert made is not None
    return made.way(scheme, host, port)


# The ports are those that IANA has registered for http, https and socks.
@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://p.example", "http://p.example:80"),
        ("p.example:3128", "http://p.example:3128"),
        ("https://p.example/", "https://p.example:443"),
        ("socks5://p.example", "socks5://p.example:1080"),
        ("socks5h://p.example:9050", "socks5://p.example:9050"),
        ("http://[::1]:3128", "http://[::1]:3128"),
        ("http://[2001:db8::7]", "http://[2001:db8::7]:80"),
    ],
)
def test_addresses(given: str, url: str) -> None:
    for scheme in ("http", "https"):
        found = way(given, scheme)
        assert found == Way(url, {}, None)
        assert repr(found) == f"Way('{url}')"
        assert found.is_socks is url.startswith("socks5:")
    made = Proxy.of(given)
    assert repr(made) == f"Proxy('{url}')"
    assert Proxy.of(made) is made
    assert copy.copy(made) is made


def test_none_is_none() -> None:
    assert Proxy.of(None) is None
    assert way("p.example", "ftp") is None


def test_a_password_is_decoded_and_shown_nowhere() -> None:
    found = way("http://an%40n:te%3Aa@p.example")
    header = "Basic " + base64.b64encode(b"an@n:te:a").decode()
    assert found == Way("http://p.example:80", {"Proxy-Authorization": header}, ("an@n", "te:a"))
    assert repr(found) == "Way('http://p.example:80')"
    lacking = way("http://ann@p.example")
    assert lacking is not None
    assert lacking.login == ("ann", "")
    made = Proxy.with_password("http://ann@p.example", "t/e@:a")
    assert made is not None
    asked = made.way("http", "a.example", 80)
    assert asked is not None
    assert asked.login == ("ann", "t/e@:a")


@pytest.mark.parametrize(
    "given",
    [
        "ftp://p.example",
        "http://",
        "http://p.example/path",
        "http://p.example:99999",
        "http://[::1",
        7,
        b"x",
        "",
    ],
)
def test_what_is_no_proxy_is_told_without_its_words(given: Any) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        Proxy.of(given)
    assert str(caught.value) == (
        'The `proxy` parameter must be "env", an address such as http://user:password@proxy:3128, or None for none.'
    )
    assert (caught.value.parameter, caught.value.__context__) == ("proxy", None)


def test_socks_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(proxy, "find_spec", lambda name: asked.append(name))
    assert way("http://p.example") is not None
    with pytest.raises(MissingExtraError, match=r"SOCKS proxy.*aiohttp-socks|aiohttp-socks.*SOCKS") as caught:
        Proxy.of("socks5://p.example")
    assert asked == ["aiohttp_socks"]
    assert "[socks]" in str(caught.value)


@pytest.mark.parametrize("name", ["http_proxy", "https_proxy", "all_proxy"])
def test_the_environment_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_in_environment()
    monkeypatch.setenv(name, "http://p.example:3128")
    assert is_in_environment()
    found = {scheme: way("env", scheme) for scheme in ("http", "https")}
    served = {"http_proxy": ["http"], "https_proxy": ["https"], "all_proxy": ["http", "https"]}[name]
    assert [scheme for scheme, one in found.items() if one is not None] == served
    assert repr(Proxy.of("env")) == "Proxy('env')"


def test_hosts_that_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "http://p.example:3128")
    monkeypatch.setenv("no_proxy", "b.example,c.example:8080")
    assert way("env", "http", "a.example") is not None
    assert way("env", "http", "b.example") is None
    assert way("env", "http", "www.b.example") is None
    assert way("env", "http", "c.example", 8080) is None
    assert way("env", "http", "c.example", 80) is not None
    monkeypatch.setenv("no_proxy", "*")
    assert way("env") is None
    assert way("http://p.example:3128", "http", "b.example") is not None, "what is named goes for all hosts"
