"""What opens hosts: what is sent where, and that nothing shows it."""

from __future__ import annotations

import base64
import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.core.access_by_host import AccessByHost

SECRETS = ("s3cret-word", "t0ken-abc", "he4der-val", "c00kie-val")
BASIC = "Basic " + base64.b64encode(b"ann:s3cret-word").decode()


def doors(given: dict[str, wa.Access], *addresses: str) -> AccessByHost:
    made = AccessByHost.of(given)
    assert made is not None
    return made.asked(addresses)


def test_the_most_exact_key_opens() -> None:
    given = {
        name: wa.Access(headers={"X-Key": name})
        for name in ("*.example.org", "*.shop.example.org", "a.shop.example.org", "a.shop.example.org:8443")
    }
    found = doors(given)

    def key(host: str, port: int = 443) -> str | None:
        return found.sent(f"https://{host}:{port}/").get("X-Key")

    assert key("www.example.org") == "*.example.org"
    assert key("b.shop.example.org") == "*.shop.example.org"
    assert key("a.shop.example.org") == "a.shop.example.org"
    assert key("a.shop.example.org", 8443) == "a.shop.example.org:8443"
    assert [key("example.org"), key("badexample.org"), key("example.org.evil.test")] == [None] * 3


def test_plain_http_only_where_the_user_asks_by_http() -> None:
    given = {"a.example": wa.Access(token="t0ken-abc"), "[::1]": wa.Access(token="six")}
    assert doors(given, "https://a.example/").sent("http://a.example/") == {}
    asked = doors(given, " HTTP://A.example/x", "http://[::1]:81/", "http://[", None)  # type: ignore[arg-type]
    assert asked.sent("http://a.example/") == {"Authorization": "Bearer t0ken-abc"}
    assert asked.sent("http://[::1]:81/") == {"Authorization": "Bearer six"}
    assert asked.sent("http://a.example:8080/") == {}


def test_cookies_of_a_file_go_where_it_says(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text(
        "# Netscape HTTP Cookie File\n\n"
        ".example.org\tTRUE\t/\tFALSE\t0\tall\t1\n"
        "#HttpOnly_www.example.org\tFALSE\t/in\tTRUE\t0\tinner\t2\n"
        "www.example.org\tFALSE\t/\tFALSE\t1\told\t3\n"
        "other.example\tFALSE\t/\tFALSE\t0\tother\t4\n"
    )
    found = doors({"*.example.org": wa.Access(cookies=file)}, "http://www.example.org/")
    sent = {
        (scheme, host, path): found.sent(f"{scheme}://{host}{path}").get("Cookie")
        for scheme, host, path in (
            ("https", "www.example.org", "/in/x"),
            ("https", "www.example.org", "/inside"),
            ("http", "www.example.org", "/in"),
            ("https", "b.example.org", "/in"),
        )
    }
    assert list(sent.values()) == ["all=1; inner=2", "all=1", "all=1", "all=1"]


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({}, "access"),
        ({"user": "a:b"}, "user"),
        ({"user": "a\nb"}, "user"),
        ({"password": "s3cret-word"}, "user"),
        ({"token": "s3cret-word x"}, "token"),
        ({"token": "x", "user": "s3cret-word"}, "token"),
        ({"headers": {"X": "s3cret-word\r\nY: z"}}, "headers"),
        ({"headers": {"Host": "s3cret-word"}}, "headers"),
        ({"headers": {"authorization": "s3cret-word"}, "token": "x"}, "headers"),
        ({"headers": {"cookie": "s3cret-word"}, "cookies": {"a": "b"}}, "headers"),
        ({"cookies": {"a": "s3cret-word; b=c"}}, "cookies"),
        ({"cookies": "no-such-s3cret-word.txt"}, "cookies"),
        ({"cookies": __file__}, "cookies"),
    ],
)
def test_wrong_values_are_named_and_not_shown(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.Access(**given)
    assert caught.value.parameter == parameter
    assert "s3cret" not in f"{caught.value!r}{caught.value}{caught.value.__context__ or ''}"


@pytest.mark.parametrize("key", ["", "https://a.example", "a b", "*", "*.", "a.*.example", "a:99999", 3])
def test_wrong_keys(key: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`access`"):
        AccessByHost.of({key: wa.Access(token="x")})


def test_nothing_shows_a_value() -> None:
    access = wa.Access(
        user="ann", password=SECRETS[0], headers={"X-Key": SECRETS[2]}, cookies={"session": SECRETS[3]}
    )
    with wa.option_context(access={"a.example": access, "b.example:81": wa.Access(token=SECRETS[1])}):
        shown = f"{wa.options!r} {wa.options.access!r} {wa.options.access} {access} {access!r}"
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(wa.options.access)
    assert "access to" in shown
    assert "b.example:81" in shown
    assert not [secret for secret in (*SECRETS, "ann:", BASIC) if secret in shown]
    assert copy.deepcopy(access) is access
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(access)
    with pytest.raises(AttributeError):
        access._headers = {}


def test_hosted_backends_and_clusters_are_refused() -> None:
    access = {"a.example": wa.Access(token=SECRETS[1])}
    with pytest.raises(wa.ParameterError, match="`access` parameter must be left out with a hosted"):
        wa.text(["https://a.example/"], access=access, backend=wa.Hosted("http://127.0.0.1:1", "k"))
