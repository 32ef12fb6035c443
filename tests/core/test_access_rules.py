"""Where cookies go, what headers cookies and tokens may be, and the words of what is refused, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.fetching.closed_sites import Authority
from webanalytics.core import access
from webanalytics.core.access import Cookie, cookies_of


def sent(cookies: Path, scheme: str = "https", host: str = "a.example", path: str = "/") -> str | None:
    return wa.Access(cookies=cookies).sent(scheme, host, path).get("Cookie")


# RFC 6265 section 5.1.4: a path that ends with "/" is a prefix; another needs a "/" behind it.
@pytest.mark.parametrize(
    ("folder", "path", "goes"),
    [
        *(("/in/", "/in/x", True), ("/in/", "/in/", True), ("/in/", "/in", False), ("/in", "/in", True)),
        *(
            ("/in", "/in/x", True),
            ("/in", "/in/a", True),
            ("/in", "/inside", False),
            ("/", "/in", True),
            ("/in", "/", False),
        ),
    ],
)
def test_a_cookie_goes_below_its_path(folder: str, path: str, goes: bool) -> None:
    assert Cookie("a", "b", path=folder).fits("https", "a.example", path) is goes
    assert Cookie("a", "b", path=folder, secure=True).fits("http", "a.example", path) is False


def test_a_cookie_goes_to_its_hosts() -> None:
    below, own, free = (
        Cookie("a", "b", "a.example", below=True),
        Cookie("a", "b", "a.example"),
        Cookie("a", "b"),
    )
    hosts = ("a.example", "www.a.example", "bada.example", "example")
    assert [[one.fits("http", host, "/") for host in hosts] for one in (below, own, free)] == [
        [True, True, False, False],
        [True, False, False, False],
        [True, True, True, True],
    ]


def test_a_cookie_has_expired_when_its_time_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access.time, "time", lambda: 1_000.0)
    assert [Cookie("a", "b", expires=until).lasts("a.example") for until in (999, 1_000, 1_001, 0)] == [
        *(False, False, True, True)
    ]


def test_names_and_lengths_of_cookies() -> None:
    for given in ({"a=b": "c"}, {"": "c"}, {"a": "c" * 4_097}, {"a" * 4_097: "c"}, {"a;": "c"}, {"a": 3}):
        with pytest.raises(wa.ParameterError, match=r"must map names to values of cookies\.$") as caught:
            cookies_of(given)
        assert caught.value.parameter == "cookies"
    for name, value in (("a", "c" * 4_096), ("a" * 4_096, "c"), ("a", "x=y"), ("a", "")):
        assert cookies_of({name: value}) == (Cookie(name, value, "", False, "/", False, 0),)


def test_fields_of_a_file_that_are_empty(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text("a.example\tFALSE\t\tFALSE\t\tsid\tv\n")
    assert cookies_of(file) == (Cookie("sid", "v", "a.example", False, "/", False, 0),)


def test_fields_of_an_export(tmp_path: Path) -> None:
    file = tmp_path / "cookies.json"
    base = {"name": "sid", "value": "v"}
    given: list[dict[str, Any]] = [
        {"domain": "A.example", "hostOnly": False, "path": "/in"},
        {"domain": ".a.example", "hostOnly": True, "secure": True},
        {"domain": ".a.example", "expires": 4_102_444_800},
        {"domain": "a.example", "expiry": 4_102_444_800.7, "path": ""},
    ]
    file.write_text(json.dumps([base | one for one in given]))
    expected = (
        Cookie("sid", "v", "a.example", True, "/in", False, 0),
        Cookie("sid", "v", "a.example", False, "/", True, 0),
        Cookie("sid", "v", "a.example", True, "/", False, 4_102_444_800),
        Cookie("sid", "v", "a.example", False, "/", False, 4_102_444_800),
    )
    assert cookies_of(file) == expected
    file.write_text(json.dumps({"cookies": [base | one for one in given]}))
    assert cookies_of(file) == expected
    assert sent(file, path="/in") == "sid=v; sid=v; sid=v; sid=v"
    assert sent(file, "http", "a.example") == "sid=v; sid=v"


def test_what_is_given_is_named_and_no_more(tmp_path: Path) -> None:
    made, text = Authority(tmp_path), "s3cret"
    given: list[dict[str, Any]] = [
        {"token": text},
        {"headers": {"X": text}},
        {"cookies": {"a": text}},
        {"ca": made.ca},
        {"certificate": made.certificate, "key": made.key},
        {"user": text, "password": text, "digest": True},
    ]
    for one in given:
        found = wa.Access(**one)
        shown = ", ".join(f"{name}='**********'" for name in one if name != "digest")
        assert repr(found) == f"Access({shown})"
        assert found.shows_certificate is ("certificate" in one)
        assert (found.tls is None) is not ("certificate" in one or "ca" in one)
        with pytest.raises(AttributeError):
            found.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "said", "parameter"),
    [
        ({"user": "ann", "password": "a\nb"}, "The `password` parameter must be printable text.", "password"),
        ({"user": b"ann"}, "The `user` parameter must be printable text.", "user"),
        ({"ca": __file__}, "The `ca` parameter must be a file of certificates, in PEM.", "ca"),
        (
            {"certificate": __file__},
            "The `certificate` parameter must be a file of a client certificate, with the `key` of it without a "
            "passphrase, in PEM.",
            "certificate",
        ),
    ],
)
def test_the_sentence_names_what_is_wrong(given: dict[str, Any], said: str, parameter: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.Access(**given)
    assert (str(caught.value), caught.value.parameter) == (said, parameter)


def test_places_of_passwords_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "TOKEN"):
        monkeypatch.delenv(f"STAGING_{name}", raising=False)
    with pytest.raises(wa.ParameterError, match=r"variables: STAGING_USER, STAGING_TOKEN\.$") as caught:
        wa.Access.from_environment("STAGING")
    assert caught.value.parameter == "prefix"
    with pytest.raises(wa.ParameterError) as caught:
        wa.Access.from_netrc("a.example", tmp_path / "none")
    assert caught.value.parameter == "host"
    monkeypatch.setattr(access, "import_module", lambda name: {"keyring": _Empty}[name])
    with pytest.raises(wa.ParameterError) as caught:
        wa.Access.from_keyring("tea", "ann")
    assert caught.value.parameter == "service"


class _Empty:
    """A keyring that keeps nothing."""

    @staticmethod
    def get_password(_service: str, _user: str) -> None:
        return None
