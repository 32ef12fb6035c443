"""Addresses in normal form, and links told apart by their host."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from webanalytics.fetching.guard import check_url
from webanalytics.page.facts import facts
from webanalytics.page.facts.links import read_links
from webanalytics.page.page import Page
from webanalytics.urls import Address, address

URL = "https://shop.example/tea/green.html"

# The left sides are written by hand after the URL Standard, as are the right ones.
ADDRESSES = [
    ("https://a.example/x", "a.example", "https://a.example/x"),
    ("https://a.example", "a.example", "https://a.example/"),
    ("https://a.example?q=1", "a.example", "https://a.example/?q=1"),
    ("HTTP://A.Example:80/X#y", "a.example", "http://a.example/X"),
    ("https://a.example:80/", "a.example:80", "https://a.example:80/"),
    ("https://user:pass@a.example/x", "a.example", "https://a.example/x"),
    ("https://a.example/a b/ü", "a.example", "https://a.example/a%20b/%C3%BC"),
    ("https://a.example/%7Ex%2f", "a.example", "https://a.example/%7Ex%2f"),
    ("https://a.example/a/./b/../c", "a.example", "https://a.example/a/c"),
    ("https://a.example/a/%2e%2E/c", "a.example", "https://a.example/c"),
    ("https://a.example/.well-known/x", "a.example", "https://a.example/.well-known/x"),
    ("https://a.example/a/..", "a.example", "https://a.example/"),
    ("https://bücher.example./", "xn--bcher-kva.example", "https://xn--bcher-kva.example/"),
    ("https://Straße.example:8443/", "xn--strae-oqa.example:8443", "https://xn--strae-oqa.example:8443/"),
    ("http://[2001:db8::1]:80/x", "[2001:db8::1]", "http://[2001:db8::1]/x"),
    ("https://a.example/x?", "a.example", "https://a.example/x"),
    ("https://a.example/x?a=b c&d='e'", "a.example", "https://a.example/x?a=b%20c&d=%27e%27"),
]


@pytest.mark.parametrize(("url", "host", "normal"), ADDRESSES, ids=[row[0] for row in ADDRESSES])
def test_addresses_in_normal_form(url: str, host: str, normal: str) -> None:
    assert address(url) == Address(host, normal)
    assert address(normal) == Address(host, normal)


@pytest.mark.parametrize(
    "text",
    ["", "x", "/x", "//a.example/", "mailto:a@b.example", "ftp://a.example/", "http://", "http:///x",
     "https://[x]/", "http://a b.example/", "http://a%20b/", "https://a.example:port/"],
)  # fmt: skip
def test_what_is_no_address(text: str) -> None:
    assert address(text) is None


@pytest.mark.parametrize("url", [row[0] for row in ADDRESSES if "@" not in row[0]])
def test_the_form_is_that_in_which_pages_are_fetched(url: str) -> None:
    found = address(url)
    assert found is not None
    assert found.url == str(check_url(url, allow_private=True))


_SEGMENTS = st.lists(
    st.sampled_from(
        ["a", "B", ".", "..", "%2e", "%41", "ü", " ", "'", '"', "|", "~", "", "x.y", "{", "@", ":"]
    ),
    max_size=5,
).map("/".join)


@given(st.sampled_from(["a.example", "A.Example", "a.example:8080", "ä.example"]), _SEGMENTS, _SEGMENTS)
def test_any_path_has_the_form_in_which_it_is_fetched(host: str, path: str, query: str) -> None:
    url = f"https://{host}/{path}" + (f"?{query}" if query else "")
    found = address(url.strip())
    assert found is not None
    assert found.url == str(check_url(url, allow_private=True))


def links_of(html: str, url: str = URL) -> tuple[int, int, list[str]]:
    found = facts.analyse(Page(html, url))
    return found["internal_links"], found["external_links"], found["links"]


@pytest.mark.parametrize(
    ("href", "internal", "external", "kept"),
    [
        ("/milk", 1, 0, ["https://shop.example/milk"]),
        ("milk?a=1#b", 1, 0, ["https://shop.example/tea/milk?a=1"]),
        ("../milk", 1, 0, ["https://shop.example/milk"]),
        ("?page=2", 1, 0, ["https://shop.example/tea/green.html?page=2"]),
        ("", 1, 0, [URL]),
        ("//SHOP.example/x", 1, 0, ["https://shop.example/x"]),
        ("http://shop.example:80/x", 1, 0, ["http://shop.example/x"]),
        ("https://www.shop.example/", 0, 1, []),
        ("https://shop.example:8443/", 0, 1, []),
        ("https://other.example/", 0, 1, []),
        ("#top", 0, 0, []),
        ("mailto:tea@shop.example", 0, 0, []),
        ("JavaScript:void(0)", 0, 0, []),
        ("tel:+123", 0, 0, []),
        ("  /spaces \n", 1, 0, ["https://shop.example/spaces"]),
        ("/line\nbreak", 1, 0, ["https://shop.example/linebreak"]),
    ],
)
def test_one_link(href: str, internal: int, external: int, kept: list[str]) -> None:
    assert links_of(f'<a href="{href}">x</a>') == (internal, external, kept)


_HREFS = st.lists(
    st.sampled_from(
        ["a", "B", ".", "..", "/", "//", "?", "#", "%2e", ":", "https:", "a.example", "shop.example", "ü", " ",
         "@", "'", "x.html", "=", "[", "80"]
    ),
    max_size=6,
).map("".join)  # fmt: skip


@given(_HREFS)
@example("//shop.example")
@example("a:b/c")
@example("%2e/a")
def test_links_lead_where_the_standard_library_says(href: str) -> None:
    page = Page("<p>", URL)
    written = href.partition("#")[0].strip()
    assume(
        not re.search("[^:]//", written)
    )  # the standard library drops empty segments, the URL Standard none
    try:
        wanted = address(urljoin(URL, written)) if written or "#" not in href else None
    except ValueError:
        return
    found = read_links(page, [href])
    internal = wanted is not None and wanted.host == "shop.example"
    assert found.pages == ([wanted.url] if wanted is not None and internal else [])
    assert (found.internal, found.external) == (int(internal), int(wanted is not None and not internal))


def test_links_are_kept_once_and_counted_each_time() -> None:
    html = "<a href=/a>1</a><a href=/a#b>2</a><a href=/b>3</a><a href=/a>4</a><map><area href=/c></map><a name=d>5</a>"
    assert links_of(html) == (5, 0, [f"https://shop.example/{name}" for name in "abc"])


def test_links_that_are_not_there_for_a_browser_with_scripts() -> None:
    html = "<noscript><a href=/a>1</a></noscript><template><a href=/b>2</a></template><a href=/c>3</a>"
    assert links_of(html) == (1, 0, ["https://shop.example/c"])


def test_a_base_moves_links_and_not_the_page() -> None:
    html = "<base href='https://cdn.example/x/'><a href=y>1</a><a href=/z>2</a><a href='https://shop.example/'>3</a>"
    assert links_of(html) == (1, 2, ["https://shop.example/"])


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("https://xn--bcher-kva.example/", "https://Bücher.example/x"),
        ("https://a.example:8443/", "https://a.example:8443/x"),
        ("HTTPS://A.example/", "//a.EXAMPLE/x"),
    ],
)
def test_hosts_are_compared_in_one_form(page: str, link: str) -> None:
    assert links_of(f'<a href="{link}">x</a>', page)[:2] == (1, 0)


def test_a_saved_file_has_no_host() -> None:
    html = "<a href=x.html>1</a><a href='https://a.example/'>2</a>"
    assert links_of(html, "/home/ann/page.html") == (0, 1, [])


def test_limits() -> None:
    page = Page("<p>", "https://a.example/")
    hrefs = [f"/{number}" for number in range(3_000)] + ["/" + "x" * 3_000]
    found = read_links(page, hrefs)
    assert (found.internal, len(found.pages)) == (3_001, 2_000)
    assert read_links(page, ["/long", "/b"], max_url=19).pages == ["https://a.example/b"]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        *(("sv", "Läs mer..."), ("da", "Læs mere..."), ("fi", "Lue lisää..."), ("sk", "Čítať viac..."), ("hr", "Pročitaj više...")),
        *(("zh-CN", "（更多…）"), ("zh-TW", "閱讀更多…"), ("ja", "続き"), ("ru", "Больше"), ("sl", "(več…)")),
        *(("el", "Περισσότερα"), ("he", "עוד"), ("ar", "المزيد"), ("ca", "Llegeix més"), ("sr", "Прочитај више...")),
    ],
)  # fmt: skip
def test_texts_that_say_nothing_in_other_languages(lang: str, text: str) -> None:
    """As catalogues of WordPress in these languages write "Read more..." and "More"."""
    page = Page(f"<html lang={lang}><a href=/tin>{text}</a><a href=/oil>{text} Oil</a>", "https://a.example/")
    assert facts.analyse(page)["generic_links"] == [{"href": "/tin", "text": text}]


@pytest.mark.parametrize(
    ("lang", "text"), [("en", "Next"), ("de", "Weiter"), ("ru", "Далее"), ("hu", "Tovább")]
)
def test_the_way_to_the_next_page_says_where_it_leads(lang: str, text: str) -> None:
    page = Page(f"<html lang={lang}><a href=/2 rel=next>{text}</a>", "https://a.example/")
    assert facts.analyse(page)["generic_links"] == []
