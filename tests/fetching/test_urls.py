"""URLs as people write them, and the form in which they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from webanalytics.fetching import FetchError
from webanalytics.fetching.guard import check_redirect, check_url, host_key
from webanalytics.fetching.response import Problem

# The right column follows the URL Standard (url.spec.whatwg.org), which browsers follow.
SENT = [
    ("http://example.com", "http://example.com/"),
    ("  https://example.com/a \n", "https://example.com/a"),
    ("\ufeffhttps://example.com/", "https://example.com/"),
    ("HTTPS://EXAMPLE.com/Path", "https://example.com/Path"),
    ("https://example.com:443/", "https://example.com/"),
    ("http://example.com:443/", "http://example.com:443/"),
    ("https://example.com:8080/a", "https://example.com:8080/a"),
    ("https://example.com:008080/a", None),
    ("https://example.com./a", "https://example.com/a"),
    ("https://example.com/a,b,c;d", "https://example.com/a,b,c;d"),
    ("https://example.com/a%2Cb%2fc%7E", "https://example.com/a%2Cb%2fc%7E"),
    ("https://example.com/100%", "https://example.com/100%"),
    ("https://example.com/a b", "https://example.com/a%20b"),
    ("https://example.com/a+b?c+d=%2B", "https://example.com/a+b?c+d=%2B"),
    ("https://example.com/[a]?b[]=1&b[]=2", "https://example.com/[a]?b[]=1&b[]=2"),
    ("https://example.com/{a}|<b>", "https://example.com/%7Ba%7D|%3Cb%3E"),
    ("https://example.com/straße/日本?q=ü", "https://example.com/stra%C3%9Fe/%E6%97%A5%E6%9C%AC?q=%C3%BC"),
    ("https://example.com/?q=a\\b'c\"", "https://example.com/?q=a%5Cb%27c%22"),
    ("https://example.com/a#frag ment?x", "https://example.com/a"),
    ("https://example.com?q=1", "https://example.com/?q=1"),
    ("https://example.com/a/../b/./c/", "https://example.com/b/c/"),
    ("https://example.com/a/b/%2e%2E/c/..", "https://example.com/a/"),
    ("https://example.com/../../a", "https://example.com/a"),
    ("https://example.com/a//b", "https://example.com/a//b"),
    ("https://example.com/.hidden/..a/a..", "https://example.com/.hidden/..a/a.."),
    ("https://example.com/http://other.org/", "https://example.com/http://other.org/"),
    ("https://my_site.example.com/", "https://my_site.example.com/"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ("https://BÜCHER.example/", "https://xn--bcher-kva.example/"),
    ("https://faß.de/", "https://xn--fa-hia.de/"),
    ("https://例え。テスト/", "https://xn--r8jz45g.xn--zckzah/"),
    ("https://пример.испытание/", "https://xn--e1afmkfd.xn--80akhbyknj4f/"),
    ("https://☃.net/", "https://xn--n3h.net/"),
    ("https://xn--n3h.net/", "https://xn--n3h.net/"),
    ("http://[2606:4700:0:0::1111]:80/", "http://[2606:4700::1111]/"),
    ("http://1.1.1.1/", "http://1.1.1.1/"),
    ("http://1.1.1.1./", "http://1.1.1.1/"),
    ("http://example.com/a\\b\\..\\c?d\\e", "http://example.com/a/c?d%5Ce"),
]


@pytest.mark.parametrize(("given", "sent"), SENT)
def test_the_form_that_is_sent(given: str, sent: str | None) -> None:
    if sent is None:
        with pytest.raises(Problem):
            check_url(given)
        return
    checked = str(check_url(given))
    assert checked == sent
    assert str(check_url(checked)) == sent


NOT_FETCHED = [
    ("example.com", "invalid_url"),
    ("www.example.com/a", "invalid_url"),
    ("example.com:8080/a", "invalid_url"),
    ("localhost:5000", "invalid_url"),
    ("", "invalid_url"),
    ("   ", "invalid_url"),
    ("//example.com/", "invalid_url"),
    ("/a/b", "invalid_url"),
    ("mailto:someone@example.com", "invalid_url"),
    ("C:\\page.html", "invalid_url"),
    ("ftp://example.com/", "invalid_url"),
    ("http:example.com", "invalid_url"),
    ("http:///example.com/", "invalid_url"),
    ("http://", "invalid_url"),
    ("http://?a", "invalid_url"),
    ("http://example.com:/", "invalid_url"),
    ("http://example.com:80a/", "invalid_url"),
    ("http://example.com:-80/", "invalid_url"),
    ("http://example.com:８０/", "invalid_url"),
    ("http://example.com:65536/", "invalid_url"),
    ("http://example.com:80:80/", "invalid_url"),
    ("http://[::1]x/", "invalid_url"),
    ("http://[example.com]/", "invalid_url"),
    ("http://exa mple.com/", "invalid_url"),
    ("http://exa\tmple.com/", "invalid_url"),
    ("http://example.com/a\nb", "invalid_url"),
    ("http://example.com/a\x00b", "invalid_url"),
    ("http://example.com\\a", "invalid_url"),
    ("http://example.com／a/", "invalid_url"),
    ("http://ex%61mple.com/", "invalid_url"),
    ("http://a..example.com/", "invalid_url"),
    ("http://xn--zzzz.example.com/", "invalid_url"),
    (f"http://{'a' * 64}.example.com/", "invalid_url"),
    (f"http://{'a.' * 130}example.com/", "invalid_url"),
    (f"http://{'ü' * 5000}.example.com/", "invalid_url"),
    ("http://example.com/\ud800", "invalid_url"),
    ("http://user@example.com/", "credentials"),
    ("http://user:word@example.com/", "credentials"),
    ("http://example.com/" + "a" * 9000, "long_url"),
    ("http://1.2.3.4.5/", "invalid_url"),
    ("http://1.1.1.01/", "invalid_url"),
    ("http://16843009/", "invalid_url"),
    ("http://0x1010101/", "invalid_url"),
    ("http://example.256/", "invalid_url"),
    (None, "invalid_url"),
    (float("nan"), "invalid_url"),
    (b"http://example.com/", "invalid_url"),
]


@pytest.mark.parametrize(("given", "key"), NOT_FETCHED)
def test_what_is_not_fetched(given: object, key: str) -> None:
    with pytest.raises(Problem) as refused:
        check_url(given)
    assert refused.value.key == key


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/c", "https://example.com/c"),
        ("c?d", "https://example.com/a/c?d"),
        ("?d", "https://example.com/a/b?d"),
        ("//other.example/", "https://other.example/"),
        (" http://other.example/ ü#x ", "http://other.example/%20%C3%BC"),
        ("/caf\udce9", "https://example.com/caf%E9"),  # a byte that is no UTF-8, as aiohttp keeps it
        ("/ü", "https://example.com/%C3%BC"),
        ("..\\c", "https://example.com/c"),
        ("\\\\other.example\\c", "https://other.example/c"),
    ],
)
def test_where_a_location_leads(location: str, target: str) -> None:
    assert str(check_redirect(check_url("https://example.com/a/b?c"), location)) == target


def test_one_host_for_both_schemes() -> None:
    assert host_key(check_url("https://example.com/")) == host_key(check_url("http://EXAMPLE.com./a"))
    assert host_key(check_url("http://example.com:8080/")) != host_key(check_url("http://example.com/"))


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/a b,c;[d]%20%2C?x=[1]&y=%C3%BC ü#z", "/a%20b,c;[d]%20%2C?x=[1]&y=%C3%BC%20%C3%BC"),
        ("", "/"),
        ("?", "/"),
        ("/%", "/%"),
    ],
)
def test_the_server_sees_that_form(one: Any, answer: Any, path: str, seen: str) -> None:
    paths: list[str] = []

    def respond(target: str, headers: Any) -> bytes:
        paths.append(target)
        return answer()

    response = one(respond, path)
    assert not isinstance(response, FetchError)
    assert paths == [seen]
    assert response.url.endswith(path)
    assert response.final_url.endswith(seen)
