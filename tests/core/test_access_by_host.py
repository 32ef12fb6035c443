"""Which requests to which hosts are opened, answered or kept away from, and every field of what is sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.core.access_by_host import AccessByHost, Challenge, access_for, without_logins

TOKEN = wa.Access(token="t0ken-abc")
LOGIN = wa.Access(user="ann", password="s3cret-word")
DIGEST = 'Digest realm="a", nonce="1", qop="auth"'


def doors(given: dict[str, wa.Access], *addresses: str) -> AccessByHost:
    made = AccessByHost.of(given)
    assert made is not None
    return made.asked(addresses)


def fields(header: str) -> dict[str, str]:
    """The fields of a header, by RFC 9110 section 11.4, each as it is written."""
    return dict(re.findall(r'(?:^Digest |, )([a-z*]+)=("(?:[^"\\]|\\.)*"|[^",]+)', header))


def test_an_answer_has_the_fields_of_the_rfc_and_no_other() -> None:
    """RFC 7616 section 3.9.1."""
    challenge = Challenge.of(
        [
            'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5,'
            ' nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",'
            ' opaque="FQhe/qaU925kfnzjev0ciny7QMkPqMAFRtzCUYo5tdS"'
        ]
    )
    assert challenge is not None
    cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    assert fields(challenge.answer("Mufasa", "Circle of Life", "GET", "/dir/index.html", cnonce)) == {
        "username": '"Mufasa"',
        "realm": '"http-auth@example.org"',
        "uri": '"/dir/index.html"',
        "algorithm": "MD5",
        "nonce": '"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"',
        "nc": "00000001",
        "cnonce": f'"{cnonce}"',
        "qop": "auth",
        "response": '"8ca523f5e9506fed4657c9700eebdbec"',
        "opaque": '"FQhe/qaU925kfnzjev0ciny7QMkPqMAFRtzCUYo5tdS"',
    }


def test_the_least_that_a_server_may_say_is_answered() -> None:
    challenge = Challenge.of(['Digest realm="a", nonce="1"'])
    assert challenge is not None
    assert [*fields(challenge.answer("ann", "tea", "GET", "/"))] == [
        "username",
        "realm",
        "nonce",
        "uri",
        "response",
    ]


@pytest.mark.parametrize("value", ["true", "TRUE", "false", ""])
def test_only_what_is_told_so_is_stale(value: str) -> None:
    found = Challenge.of([f'Digest realm="a", nonce="1", stale={value}'])
    assert found is not None
    assert found.stale == (value.lower() == "true")


@pytest.mark.parametrize(
    "key", ["a/b", "a?b", "a#b", "ann@a", "*.a/b", "a\tb", "https://a.example", "a.example:0"]
)
def test_a_key_that_is_none_is_told_of_the_parameter(key: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        AccessByHost.of({key: TOKEN})
    assert caught.value.parameter == "access"


@pytest.mark.parametrize(
    "value", [3, "a.example", {"a.example": "token"}, {"a.example": TOKEN, "b.example": None}]
)
def test_a_value_that_is_none_is_told_of_the_parameter(value: Any) -> None:
    with pytest.raises(wa.ParameterError, match=r"must map hosts") as caught:
        AccessByHost.of(value)
    assert caught.value.parameter == "access"


def test_the_first_host_without_a_cookie_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cookies.txt"
    file.write_text("# Netscape HTTP Cookie File\na.example\tFALSE\t/\tFALSE\t0\tsid\t1\n")
    given = wa.Access(cookies=file)
    with pytest.raises(wa.ParameterError) as caught:
        AccessByHost.of({"a.example": given, "b.example": given, "c.example": given})
    assert (
        str(caught.value) == "The `cookies` parameter must hold a cookie of b.example that has not expired."
    )
    assert caught.value.parameter == "cookies"


@pytest.mark.parametrize("value", [None, AccessByHost(())])
def test_what_was_checked_is_not_checked_again(value: Any) -> None:
    assert AccessByHost.of(value) is value


@pytest.mark.parametrize(
    ("key", "opened", "shut"),
    [
        (
            "x.example",
            ["https://x.example/", "https://x.example:8443/"],
            ["https://example/", "https://a.x.example/"],
        ),
        ("example.x", ["https://example.x/"], ["https://example./"]),
        ("a.example:443", ["https://a.example/"], ["https://a.example:444/", "http://a.example/"]),
        ("a.example:80", ["http://a.example/"], ["https://a.example/", "http://a.example:81/"]),
        ("[::1]:8443", ["https://[::1]:8443/"], ["https://[::1]/"]),
        (
            "*.a.example",
            ["https://b.a.example/", "https://c.b.a.example/"],
            ["https://a.example/", "https://ba.example/"],
        ),
    ],
)
def test_which_addresses_a_key_opens(key: str, opened: list[str], shut: list[str]) -> None:
    found = doors({key: TOKEN}, *(url for url in opened if url.startswith("http:")))
    assert [found.found(url) for url in (*opened, *shut)] == [*[TOKEN] * len(opened), *[None] * len(shut)]


def test_its_representation_names_every_key_and_nothing_else() -> None:
    given = {"b.example": TOKEN, "*.a.example": LOGIN, "a.example:8443": LOGIN}
    assert repr(doors(given)) == "access to a.example:8443, b.example, *.a.example"


def test_http_that_was_asked_for_stays_so_in_a_further_call() -> None:
    found = doors({"a.example": TOKEN}, "http://a.example/").asked(
        ["https://a.example/"], {"b.example": LOGIN}
    )
    assert [found.found(url) for url in ("http://a.example/x", "http://b.example/")] == [TOKEN, None]
    assert found.found("https://b.example/") is LOGIN
    assert doors({"a.example": TOKEN}, "a.example", "ftp://a.example").found("http://a.example/") is None


def avoiding() -> AccessByHost:
    """Addresses with these words are avoided, but for one."""
    kinds = (("logout", lambda url: "logout" in url), ("reset", lambda url: "reset" in url))
    given = doors({"a.example": LOGIN}, "http://a.example/")
    return given.avoiding(kinds, ["https://a.example/logout/start"])


def test_what_a_crawl_keeps_away_from_is_neither_opened_nor_answered() -> None:
    found = avoiding()
    urls = ["", "logout", "x?reset", "logout/start"]
    assert [found.avoided(f"https://a.example/{path}") for path in urls] == [None, "logout", "reset", None]
    assert found.avoided("https://b.example/logout") is None, "nobody is logged in there"
    assert [bool(found.sent(f"https://a.example/{path}")) for path in urls] == [True, False, False, True]
    assert found.sent("https://a.example/logout") == found.sent("https://b.example/") == {}
    assert [found.challenged(f"https://a.example/{path}", [DIGEST], "") for path in urls] == [
        True,
        False,
        False,
        True,
    ]
    again = found.asked(["https://c.example/"])
    assert again.avoided("https://a.example/logout") == "logout"
    assert again.avoided("https://a.example/logout/start") is None
    assert again.sent("http://a.example/")
    assert doors({"a.example": LOGIN}).avoided("https://a.example/logout") is None


@pytest.mark.parametrize(
    ("given", "url", "lines", "sent", "met"),
    [
        (LOGIN, "https://a.example/", [DIGEST], "", True),
        (LOGIN, "https://a.example/", [DIGEST], "Basic YW5u", True),
        (LOGIN, "https://a.example/", [DIGEST], 'Digest username="ann"', False),
        (LOGIN, "https://a.example/", [f"{DIGEST}, stale=true"], 'Digest username="ann"', True),
        (LOGIN, "https://a.example/", ["Basic realm=a"], "", False),
        (LOGIN, "https://b.example/", [DIGEST], "", False),
        (LOGIN, "http://a.example/", [DIGEST], "", False),
        (TOKEN, "https://a.example/", [DIGEST], "", False),
    ],
)
def test_which_challenges_are_met(given: wa.Access, url: str, lines: list[str], sent: str, met: bool) -> None:
    assert doors({"a.example": given}).challenged(url, lines, sent) is met


@pytest.mark.parametrize(
    ("path", "target"), [("", "/"), ("/", "/"), ("/x", "/x"), ("/x?y=1", "/x?y=1"), ("?y=1", "/?y=1")]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_was_challenged_is_answered_for_its_own_target(path: str, target: str, method: str) -> None:
    found = doors({"a.example": LOGIN})
    assert found.challenged("https://a.example/", ['Digest realm="a", nonce="1"'], "")
    how = {} if method == "GET" else {"method": method}
    said = found.sent(f"https://a.example{path}", **how)
    challenge = Challenge({"realm": "a", "nonce": "1"})
    assert said == {"Authorization": challenge.answer("ann", "s3cret-word", method, target)}
    assert found.sent("https://a.example:8443/")["Authorization"].startswith("Basic "), "another server"


def test_options_of_a_call_know_its_addresses_and_logins() -> None:
    options = {"access": AccessByHost.of({"a.example": TOKEN}), "delay": 1.0}
    made = access_for(options, ["http://a.example/"])
    assert made["delay"] == 1.0
    assert made["access"].found("http://a.example/") is TOKEN
    assert options["access"].found("http://a.example/") is None
    assert access_for({"access": None, "delay": 1.0}, ["http://a.example/"]) == {"access": None, "delay": 1.0}
    opened = access_for({"access": None}, ["https://b.example/"], {"b.example": LOGIN})["access"]
    assert opened.found("https://b.example/") is LOGIN


def test_logins_are_taken_out_of_every_address_and_nothing_else_is_touched() -> None:
    given = [
        None,
        3,
        "https://ann@a.example/",
        "https://ann:@b.example/",
        "no address",
        b"https://a:b@c.example/",
    ]
    found, opened = without_logins(iter(given))
    assert found == [
        None,
        3,
        "https://a.example/",
        "https://b.example/",
        "no address",
        b"https://a:b@c.example/",
    ]
    assert {host: access.login for host, access in opened.items()} == {
        "b.example": ("ann", ""),
        "a.example": ("ann", ""),
    }
