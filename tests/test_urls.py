"""One normal form: the address of a link is the address under which its target is fetched."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webanalytics.fetching.guard import check_url
from webanalytics.fetching.response import Problem
from webanalytics.urls import address, with_slashes

# Given, in normal form, and as it is fetched; by the URL Standard, None where that fails or is not fetched.
# Each is a case in which the two forms differed when there were two.
CASES = [
    ("http://💩.la/x", "http://xn--ls8h.la/x", True),
    ("http://r3---sn.ä.example/", "http://r3---sn.xn--4ca.example/", True),
    ("http://h.example/a\\b?c\\d", "http://h.example/a/b?c%5Cd", True),
    ("http://1.1.1.1./", "http://1.1.1.1/", True),
    ("http://h.example:0080/", "http://h.example/", True),
    ("https://h.example:00443/", "https://h.example/", True),
    ("http://[0:0::0:1]/", "http://[::1]/", True),
    ("http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/", True),
    ("http://h.example/caf\udce9", "http://h.example/caf%E9", True),
    ("http://0x7f.1/", "http://127.0.0.1/", False),
    ("http://2130706433/", "http://127.0.0.1/", False),
    ("http://0177.0.0.1/", "http://127.0.0.1/", False),
    ("http://1.2.3/", "http://1.2.0.3/", False),
    ("http://h.example\\x", "http://h.example/x", False),
    ("http://user:word@h.example/", "http://h.example/", False),
    ("http://h.example:65536/", None, False),
    ("http://1.2.3.4.5/", None, False),
    ("http://1.2.3.256/", None, False),
    ("http://1_0.0.0.1/", None, False),
    ("http://foo.0x/", None, False),
    ("http://[1::2::3]/", None, False),
    ("http://a../", None, False),
    ("http://[::1]./", None, False),
    ("http://h.example/\ud800", None, False),
]


@pytest.mark.parametrize(("given", "normal", "fetched"), CASES, ids=[ascii(case[0]) for case in CASES])
def test_one_form(given: str, normal: str | None, fetched: bool) -> None:
    found = address(given)
    assert (found and found.url) == normal
    if fetched:
        assert str(check_url(given, allow_private=True)) == normal
    else:
        with pytest.raises(Problem):
            check_url(given, allow_private=True)


_HOSTS = st.lists(
    st.sampled_from(
        [".", "。", "a", "B", "ä", "ß", "💩", "xn--", "xn--n3h", "-", "---", "_", "1", "0x7f", "127", "256", "08", "[",
         "]", ":", "::1", "80", "443", "0", "@", "\\", "%c3", "\u00ad", "１", " ", "!", "example"]
    ),
    max_size=7,
).map("".join)  # fmt: skip
_PATHS = st.lists(
    st.sampled_from(
        ["/", "\\", ".", "..", "%2e", "%2E", "%c3%a4", "%", "ä", "日", " ", "'", '"', "|", "^", "`", "{", "a", "B",
         "?", "#", "[", "~", "\udce9", "\ud800", "💩", "\t", "\u2028", "+", "&=", ";"]
    ),
    max_size=8,
).map("".join)  # fmt: skip


@given(st.sampled_from(["http://", "HTTPS://"]), st.one_of(_HOSTS, st.just("h.example")), _PATHS)
@example("http://", "a.0x", "")
@example("http://", "[::1]", "\\..\\")
def test_a_link_is_fetched_under_its_address(scheme: str, host: str, rest: str) -> None:
    url = (scheme + host + rest).strip()
    found = address(url)
    if found is not None:
        assert address(found.url) == found
        assert found.url.isascii()
        with suppress(Problem):  # an address that is refused is refused in every spelling
            assert str(check_url(found.url, allow_private=True)) == found.url
    try:
        fetched = str(check_url(url, allow_private=True))
    except Problem:
        return
    assert found is not None
    assert found.url == fetched


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    found = address(text) or address(f"http://{text}")
    assert found is None or address(found.url) == found
    assert with_slashes(with_slashes(text)) == with_slashes(text)
