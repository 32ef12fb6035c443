"""Digest answers against the examples of RFC 7616, and against another client's."""

from __future__ import annotations

import re

import pytest
from requests.auth import HTTPDigestAuth

from tests.fetching.closed_sites import Asked, DigestLock
from webanalytics.core.access_by_host import Challenge

CNONCE = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"


# RFC 7616, section 3.9.1: the server offers both, and these are the answers.
@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
    ],
)
def test_examples_of_the_rfc(algorithm: str, response: str) -> None:
    challenge = Challenge.of(
        [
            'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm='
            f'{algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", '
            'opaque="FQhe/qaU925kfnzjev0ciny7QMkPqMAFRtzCUYo5tdS"'
        ]
    )
    assert challenge is not None
    said = challenge.answer("Mufasa", "Circle of Life", "GET", "/dir/index.html", CNONCE)
    assert f'response="{response}"' in said
    assert said.startswith('Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/')
    assert f'uri="/dir/index.html", response="{response}", algorithm={algorithm}, nc=00000001' in said
    assert "nc=00000002" in challenge.answer("Mufasa", "Circle of Life", "GET", "/dir/index.html")


def test_an_old_server_without_qop() -> None:
    """RFC 2069, section 2.4, with the response that its erratum 749 gives."""
    challenge = Challenge.of(
        ['Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc"']
    )
    assert challenge is not None
    said = challenge.answer("Mufasa", "CircleOfLife", "GET", "/dir/index.html")
    assert 'response="1949323746fe6a43ef61f9606e7febea"' in said
    assert "qop" not in said


def test_the_best_of_several() -> None:
    lines = [
        'Negotiate, Basic realm="a, Digest nonce=x", Digest realm="b", nonce="1", algorithm=md5, qop="auth"',
        'Digest realm="b", nonce="2", algorithm=SHA-512-256, qop="auth"',
        'DIGEST nonce=3 , realm = "b" , algorithm=sha-256,qop=auth,stale=TRUE',
        'Digest realm="b", nonce="4", algorithm=SHA-256, qop="auth-int"',
    ]
    found = Challenge.of(lines)
    assert found is not None
    assert found.stale
    assert 'nonce="3"' in found.answer("a", "b", "GET", "/")
    assert Challenge.of(lines[:1]).algorithm == "MD5"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "line",
    [
        'Digest realm="a", nonce="1", qop="auth-int"',
        "",
        "Digest",
        'Digest realm="a"',
        "Basic realm=a",
        'Digest realm="\udc80", nonce="1"',
        "\0" * 50,
    ],
)
def test_what_is_no_challenge(line: str) -> None:
    assert Challenge.of([line]) is None


def test_names_beyond_ascii_and_quotes() -> None:
    challenge = Challenge.of(['Digest realm="é", nonce="1", qop="auth"'])
    assert challenge is not None
    assert "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe" in challenge.answer("Jäsøn Doe", "x", "GET", "/")
    assert r'username="a\"b\\c"' in challenge.answer('a"b\\c', "x", "GET", "/")


@pytest.mark.parametrize("algorithm", ["SHA-256", "MD5"])
def test_the_lock_of_the_tests_takes_another_client_too(algorithm: str) -> None:
    """Else a mistake of ours might be one of the lock as well."""
    lock = DigestLock("ann", "s3cret-word", algorithm)
    challenges = lock(Asked("a", "GET", "/x?y=1", {})) or []
    line = challenges[0].replace('"auth,auth-int"', '"auth"').removeprefix("Digest ")
    client = HTTPDigestAuth("ann", "s3cret-word")
    client.init_per_thread_state()
    client._thread_local.chal = {
        key: quoted or plain
        for key, quoted, plain in re.findall(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))', line)
    }
    sent = client.build_digest_header("GET", "http://a/x?y=1") or ""
    assert lock(Asked("a", "GET", "/x?y=1", {"authorization": sent})) is None, lock.refused
    ours = Challenge.of(lock(Asked("a", "GET", "/x?y=1", {})) or [])
    assert ours is not None
    text = ours.answer("ann", "s3cret-word", "GET", "/x?y=1")
    assert lock(Asked("a", "GET", "/x?y=1", {"authorization": text})) is None, lock.refused
    assert (
        lock(Asked("a", "GET", "/x", {"authorization": ours.answer("ann", "s3cret", "GET", "/x")}))
        is not None
    )
