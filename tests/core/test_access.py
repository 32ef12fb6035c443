"""What opens hosts: what is sent where, and that nothing shows it."""

from __future__ import annotations

import base64
import copy
import pickle
import sys
from http.cookiejar import MozillaCookieJar
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request

import pytest

import webanalytics as wa
from tests.fetching.closed_sites import Authority
from webanalytics.core.access_by_host import AccessByHost, without_logins

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
        ".example.org\tTRUE\t/\tFALSE\t4102444800\tall\t1\n"
        "#HttpOnly_www.example.org\tFALSE\t/in\tTRUE\t4102444800\tinner\t2\n"
        "www.example.org\tFALSE\t/\tFALSE\t1\told\t3\n"
        "other.example\tFALSE\t/\tFALSE\t4102444800\tother\t4\n"
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
    assert list(sent.values()) == ["inner=2; all=1", "all=1", "all=1", "all=1"]
    jar = MozillaCookieJar(file)
    jar.load(ignore_discard=True)
    for (scheme, host, path), pairs in sent.items():
        request = Request(f"{scheme}://{host}{path}")
        jar.add_cookie_header(request)
        assert request.get_header("Cookie") == pairs


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


# Those of the connection and of the message's frame (RFC 9110 sections 7.6.1 and 10.1, RFC 9112 section 6), and what the
# package sends for reasons of its own.
@pytest.mark.parametrize(
    "name",
    [
        *("Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization"),
        *("Content-Length", "Expect", "Host", "Accept", "Accept-Encoding", "Range", "User-Agent"),
    ],
)
def test_headers_that_requests_have_for_other_reasons_are_refused(name: str) -> None:
    for spelling in (name, name.lower(), name.upper()):
        with pytest.raises(wa.ParameterError, match="`headers` parameter must map names"):
            wa.Access(headers={spelling: "x"})
    assert wa.Access(headers={f"X-{name}": "x"}).sent("https", "a.example", "/") == {f"X-{name}": "x"}


# What curl, wget and extensions of browsers write, and what browsers keep against RFC 6265's advice to servers.
@pytest.mark.parametrize(
    ("line", "sent"),
    [
        (".a.example\tTRUE\t/\tTRUE\t4102444800.25\tsid\tv", "sid=v"),
        (".a.example\tTRUE\t/\tTRUE\t\tsid\tv", "sid=v"),
        (".a.example\tTRUE\t/\tTRUE\t-1\tsid\tv", "sid=v"),
        (".a.example\ttrue\t/\ttrue\t0\tsid\tv\r", "sid=v"),
        (".a.example\tTRUE\t/\tTRUE\t0\tsid", "sid="),
        (".A.Example\tTRUE\t/\tTRUE\t0\t_ga[x]\tv", "_ga[x]=v"),
        ('.a.example\tTRUE\t/\tTRUE\t0\tj\t{"a": "b\\n"}', 'j={"a": "b\\n"}'),
        (".a.example\tTRUE\t/\tTRUE\t0\ttown\tZürich", "town=Zürich"),
    ],
)
def test_cookies_as_programs_write_them(line: str, sent: str, tmp_path: Path) -> None:
    (tmp_path / "cookies.txt").write_text(f"# Netscape HTTP Cookie File\n{line}\n", "utf-8")
    found = doors({"a.example": wa.Access(cookies=tmp_path / "cookies.txt")})
    assert found.sent("https://a.example/x") == {"Cookie": sent}


def test_cookies_of_other_hosts_and_of_the_past_are_a_wrong_call(tmp_path: Path) -> None:
    file = tmp_path / "cookies.json"
    file.write_text(
        """[{"name": "sid", "value": "s3cret-word", "domain": "www.a.example"},
            {"name": "old", "value": "s3cret-word", "domain": "b.example", "expiry": 1}]"""
    )
    given = wa.Access(cookies=file)
    for key in ("www.a.example", "*.a.example", "*.example"):
        assert doors({key: given}).sent("https://www.a.example/") == {"Cookie": "sid=s3cret-word"}
    for key in ("a.example", "b.example", "*.b.example", "*.www.a.example", "other.example"):
        with pytest.raises(
            wa.ParameterError, match=r"`cookies` parameter must hold a cookie of .*example that"
        ):
            wa.text(["https://c.example/"], access={key: given})


@pytest.mark.parametrize(
    "key", ["", "https://a.example", "a b", "*", "*.", "a.*.example", "a:99999", "a:0", 3]
)
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


def encrypted(folder: Path) -> Path:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    locked = form.BestAvailableEncryption(b"s3cret-word")
    (folder / "locked.pem").write_bytes(
        key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked)
    )
    return folder / "locked.pem"


def test_wrong_certificates_are_named_and_no_terminal_is_asked(tmp_path: Path) -> None:
    made = Authority(tmp_path)
    locked, text = encrypted(tmp_path), tmp_path / "s3cret-word.txt"
    text.write_text("s3cret-word")
    for given, parameter in (
        ({"ca": text}, "ca"),
        ({"ca": tmp_path / "s3cret-none.pem"}, "ca"),
        ({"ca": 3}, "ca"),
        ({"certificate": made.certificate, "key": locked}, "certificate"),
        ({"certificate": made.certificate, "key": text}, "certificate"),
        ({"certificate": made.certificate}, "certificate"),
        ({"key": made.key}, "certificate"),
        ({"password": "s3cret-word", "digest": True}, "user"),
        ({"token": "s3cret-word", "digest": True}, "digest"),
        ({"user": "ann", "digest": "s3cret-word"}, "digest"),
    ):
        with pytest.raises(wa.ParameterError) as caught:
            wa.Access(**given)  # type: ignore[arg-type]
        assert caught.value.parameter == parameter
        assert "s3cret" not in f"{caught.value!r}{caught.value}{caught.value.__context__ or ''}"


@pytest.mark.parametrize(
    "text",
    [
        "[", "{}", "[3]", '[{"name": "a", "value": "b", "domain": "x", "expires": 1e999}]', '[{"name": "a"}]', '[{"name": "a", "value": "s3cret;b", "domain": "x"}]',
        '[{"name": 1, "value": "s3cret", "domain": "x"}]', '{"cookies": 3}', "[" * 200_000, "a\tb", "\0",
        '[{"name": "a", "value": "s3cret", "domain": 3}]', '[{"name": "a", "value": "b", "domain": "x", "expires": "s3cret"}]',
    ],
)  # fmt: skip
def test_wrong_exports_of_cookies(text: str, tmp_path: Path) -> None:
    (tmp_path / "cookies").write_text(text)
    with pytest.raises(wa.ParameterError, match="`cookies` parameter must be a mapping") as caught:
        wa.Access(cookies=tmp_path / "cookies")
    assert "s3cret" not in f"{caught.value!r}{caught.value.__context__ or ''}"


def test_exported_cookies_go_where_they_say(tmp_path: Path) -> None:
    (tmp_path / "cookies.json").write_text(
        """[{"name": "all", "value": "1", "domain": ".example.org", "expires": -1},
            {"name": "one", "value": "2", "domain": "www.example.org", "hostOnly": true, "secure": true, "path": "/in"},
            {"name": "old", "value": "3", "domain": "www.example.org", "expirationDate": 1.5}]"""
    )
    found = doors({"*.example.org": wa.Access(cookies=tmp_path / "cookies.json")}, "http://www.example.org/")
    urls = ("https://www.example.org/in/x", "https://b.www.example.org/in", "http://www.example.org/in")
    assert [found.sent(url).get("Cookie") for url in urls] == ["one=2; all=1", "all=1", "all=1"]


def test_other_places_without_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "netrc"
    file.write_text("default login ann password s3cret-word\nmachine b.example login\n")
    with pytest.raises(wa.ParameterError, match="`host` parameter must be a machine") as caught:
        wa.Access.from_netrc("a.example", file)
    assert "s3cret" not in f"{caught.value!r}{caught.value.__context__ or ''}"
    file.write_text("default login ann password s3cret-word\n")
    for host in ("a.example", "default"):
        with pytest.raises(wa.ParameterError, match="`host` parameter"):
            wa.Access.from_netrc(host, file)
    monkeypatch.delenv("STAGING_USER", raising=False)
    monkeypatch.setenv("STAGING_PASSWORD", "s3cret-word")
    with pytest.raises(wa.ParameterError, match="`prefix` parameter must be that of variables: STAGING_USER"):
        wa.Access.from_environment("STAGING")
    monkeypatch.setenv("STAGING_TOKEN", "t0ken-abc")
    monkeypatch.delenv("STAGING_PASSWORD")
    assert doors({"a.example": wa.Access.from_environment("STAGING")}).sent("https://a.example/") == {
        "Authorization": "Bearer t0ken-abc"
    }
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=lambda *_: None))
    with pytest.raises(wa.ParameterError, match="`service` parameter must name a password"):
        wa.Access.from_keyring("staging", "ann")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ImportError, match=r"needs keyring: .*\[keyring\]"):
        wa.Access.from_keyring("staging", "ann")


@pytest.mark.parametrize(
    ("given", "kept", "opened"),
    [
        ("https://ann:a%3Ab@a.example/x@y", "https://a.example/x@y", {"a.example": "ann:a:b"}),
        (" HTTP://ann@A.example:81?q=1", " HTTP://A.example:81?q=1", {"a.example:81": "ann:"}),
        ("https://:b@a.example/", "https://a.example/", {"a.example": ":b"}),
        ("https://ann:p@ss@a.example/", "https://a.example/", {"a.example": "ann:p@ss"}),
        ("https://ann:b@[::1]:8443/", "https://[::1]:8443/", {"[::1]:8443": "ann:b"}),
        ("https://@a.example/", "https://a.example/", {}),
        ("https://a%0a:b@a.example/", "https://a%0a:b@a.example/", {}),
        ("https://a:b@/x", "https://a:b@/x", {}),
        ("https://a:b@a b/", "https://a:b@a b/", {}),
        ("https://a.example/?mail=ann@a.example", "https://a.example/?mail=ann@a.example", {}),
        ("ftp://ann:b@a.example/", "ftp://ann:b@a.example/", {}),
        ("mailto:ann@a.example", "mailto:ann@a.example", {}),
    ],
)
def test_logins_of_addresses(given: str, kept: str, opened: dict[str, str]) -> None:
    found, logins = without_logins(given)
    assert found == [kept]
    sent = {
        host: (access.login or ("", ""))[0] + ":" + (access.login or ("", ""))[1]
        for host, access in logins.items()
    }
    assert sent == opened


def test_the_first_login_of_a_host_counts_and_an_exact_key_before_it() -> None:
    found, logins = without_logins(
        ("https://ann:1@a.example/", "https://bob:2@a.example/", "https://a.example/")
    )
    assert found == ["https://a.example/", "https://bob:2@a.example/", "https://a.example/"]
    for key, opens in (("a.example", "key"), ("*.example", "login"), ("a.example:443", "key")):
        given = AccessByHost.of({key: wa.Access(token="t0ken-abc")})
        assert given is not None
        sent = given.asked(found, logins).sent("https://a.example/")["Authorization"]
        assert sent.startswith({"key": "Bearer", "login": "Basic"}[opens])


@pytest.mark.parametrize("values", [None, 3, b"https://a:b@a.example/", {"https://a:b@a.example/": 1}])
def test_what_is_no_list_stays(values: Any) -> None:
    assert without_logins(values) == (values, {})
