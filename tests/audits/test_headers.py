"""Headers of an answer: read once, in any case; `Link:` as RFC 8288 has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audits.sites import HOST, alternates, page, site
from webanalytics.audits.directives.headers import MOST_LINKS, Headers, links, shared_headers
from webanalytics.audits.rules import RULES

TOKENS = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=8)
TEXTS = st.text(
    st.characters(codec="ascii", exclude_characters="\r\n", categories=("L", "N", "P", "S", "Zs"))
)
TARGETS = st.text("abc/?=&;,:%.~-'", max_size=12)
NAMES = TOKENS.filter(lambda name: name not in ("rel", "anchor", "hreflang"))


def quoted(text: str) -> str:
    """A quoted string of RFC 9110, section 5.6.4."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.mark.parametrize(
    ("value", "expected"),
    [  # the examples of RFC 8288, section 3.5, and what servers send besides
        (
            '<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"',
            [("http://example.com/TheBook/chapter2", ("previous",), {"title": "previous chapter"})],
        ),
        ('</>; rel="http://example.net/foo"', [("/", ("http://example.net/foo",), {})]),
        ('</terms>; rel="copyright"; anchor="#foo"', []),
        (
            "</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'letztes%20Kapitel, "
            "</TheBook/chapter4>; rel=\"next\"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel",
            [
                ("/TheBook/chapter2", ("previous",), {"title": "letztes Kapitel"}),
                ("/TheBook/chapter4", ("next",), {"title": "nächstes Kapitel"}),
            ],
        ),
        (
            '<http://example.org/>; rel="start http://example.net/relation/other"',
            [("http://example.org/", ("start", "http://example.net/relation/other"), {})],
        ),
        (
            '<https://example.org/>; rel="start", <https://example.org/index>; rel="index"',
            [("https://example.org/", ("start",), {}), ("https://example.org/index", ("index",), {})],
        ),
        ("<a>;rel=canonical;rel=next", [("a", ("canonical",), {})]),
        ("<a> ; REL = Canonical ;; , ,<b>", [("a", ("canonical",), {}), ("b", (), {})]),
        ("junk, <a,b;c>; rel=x; flag", [("a,b;c", ("x",), {"flag": ""})]),
        (
            '<a>; title="never closed, <b>; rel=canonical',
            [("a", (), {"title": "never closed, <b>; rel=canonical"})],
        ),
        ("<a", []),
        ("", []),
    ],
)
def test_links_are_read_as_the_standard_says(value: str, expected: list[object]) -> None:
    assert [tuple(link) for link in links(value)] == expected


@given(
    st.lists(
        st.tuples(TARGETS, st.lists(TOKENS, max_size=3), st.dictionaries(NAMES, TEXTS, max_size=3)),
        max_size=4,
    )
)
def test_what_is_written_is_read(given_links: list[tuple[str, list[str], dict[str, str]]]) -> None:
    parts = [
        "; ".join(
            [f"<{target}>", f'rel="{" ".join(rels)}"', *(f"{n}={quoted(v)}" for n, v in others.items())]
        )
        for target, rels, others in given_links
    ]
    read = [(link.target, list(link.rels), link.parameters) for link in links(" , ".join(parts))]
    assert read == [(target.strip(), rels, others) for target, rels, others in given_links]


@given(st.text("<>;,=\"\\ abc*'", max_size=200))
def test_no_header_is_too_odd_to_be_read(value: str) -> None:
    for link in links(value):
        assert f"<{link.target}" in value.replace("< ", "<").replace(" ", "") or link.target in value


def test_headers_are_found_in_any_case_and_all_of_a_name() -> None:
    headers = Headers.of("ETag: 1\nX-Robots-Tag: noindex\nx-robots-tag: nofollow\nLINK: <a>; rel=canonical")
    assert headers.all("x-ROBOTS-tag") == ["noindex", "nofollow"]
    assert headers.get("etag") == "1"
    assert "Etag" in headers
    assert "vary" not in headers
    assert headers.canonicals(f"{HOST}/b/") == [{"href": "a", "url": f"{HOST}/b/a", "place": "header"}]


def test_rows_that_read_the_same_share_their_headers() -> None:
    one, two, three, none = shared_headers(
        ["Date: Mon\nETag: 1\nVary: a", "Date: Tue\nETag: 2\nVary: a", "Date: Tue\nETag: 2\nVary: b", None]
    )
    assert one is two
    assert one is not three
    assert one is not None
    assert "etag" in one
    assert none is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("max-age=31536000", 31_536_000),
        ('includeSubDomains; MAX-AGE="0"', 0),
        ("includeSubDomains", None),
        ("max-age=abc", None),
    ],
)
def test_seconds_of_transport_security(header: str, seconds: int | None) -> None:
    assert Headers.of(f"Strict-Transport-Security: {header}").transport_seconds == seconds


def test_a_canonical_in_the_header_counts_like_one_in_the_page() -> None:
    sent = f"Link: <{HOST}/lamps>; rel=canonical"
    tried = site(
        page("/a", canonicals=[], headers=sent), page("/b", headers=f"Link: <{HOST}/b>; rel=canonical")
    )
    assert tried.values("canonical_url") == [f"{HOST}/lamps", f"{HOST}/b"]
    assert tried.values("canonical_state") == ["other", "self"]
    assert tried.values("indexability")[0] == "canonicalised"


def test_page_and_header_that_name_different_canonicals_conflict() -> None:
    tried = site(page("/a", headers=f"Link: <{HOST}/lamps>; rel=canonical"))
    (finding,) = RULES["canonical_conflicting"].find(tried, None)
    assert finding.evidence == f"{HOST}/a, {HOST}/lamps (in the Link header: {HOST}/lamps)"


def test_alternates_in_the_header_are_hreflang_entries() -> None:
    both = (
        f'Link: <{HOST}/>; rel="alternate"; hreflang="en", </de>; rel=alternate; hreflang=de; hreflang=de-AT'
    )
    tried = site(page("/", headers=both), page("/de", lang="de", hreflangs=alternates(de="/de")))
    assert tried.alternates[0] == [("en", f"{HOST}/"), ("de", f"{HOST}/de"), ("de-AT", f"{HOST}/de")]
    assert {entry.place for entry in tried.alternate_entries[0]} == {"header"}
    (finding,) = RULES["hreflang_missing_return"].find(tried, None)
    assert finding.row == 0


def test_alternates_of_a_sitemap_are_hreflang_entries() -> None:
    tried = site(page("/"), page("/de"), listed=("/", "/de"))
    assert tried.sitemap is not None
    tried.sitemap["alternates"] = [[{"lang": "de", "url": f"{HOST}/de"}], None]
    assert tried.alternates == {0: [("de", f"{HOST}/de")]}


def test_a_policy_in_the_headers_upgrades_what_a_page_loads() -> None:
    loads = {"mixed_content": ["http://a.example/b.png"], "insecure_forms": ["http://a.example/"]}
    policy = "Content-Security-Policy: upgrade-insecure-requests"
    tried = site(page("/a", **loads), page("/b", headers=policy, **loads))
    for name in ("mixed_content", "insecure_form"):
        assert [finding.row for finding in RULES[name].find(tried, None)] == [0]


@pytest.mark.parametrize("value", ["x,</a>", ",x,</a>", "x; y, </a>", " , ;</a>"])
def test_what_is_no_link_is_skipped_up_to_the_next_comma(value: str) -> None:
    assert [link.target for link in links(value)] == ["/a"]


def test_the_first_links_of_a_long_header_are_read() -> None:
    assert len(list(links(", ".join(f"</{number}>" for number in range(MOST_LINKS + 1))))) == MOST_LINKS


def test_a_language_alone_or_a_relation_alone_is_no_alternate() -> None:
    headers = Headers.of('Link: </de>; rel="canonical"; hreflang=de, </fr>; rel="alternate"')
    assert headers.alternates("https://example.org/") == []


def test_an_address_that_cannot_be_joined_stays_as_written() -> None:
    (entry,) = Headers.of("Link: <http://[>; rel=canonical").canonicals("https://example.org/")
    assert (entry["href"], entry["url"]) == ("http://[", "http://[")
