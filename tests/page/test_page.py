"""The one parse of a page that all analyses share."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.page.decoder import wrap_plain_text
from webanalytics.page.page import Page
from webanalytics.page.text.text import analyse


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<title> Tea \n time </title>", "Tea time"),
        ("<title></title><title>Second</title>", "Second"),
        ("<body><svg><title>Icon</title></svg><p>x", ""),
        ("<title>Caf&eacute; &amp; more</title>", "Café & more"),
        ("<title>Sil\xadben</title>", "Silben"),
        ("<p>none", ""),
    ],
)
def test_title(markup: str, title: str) -> None:
    assert Page(markup).title == title


def test_what_the_page_says_of_itself() -> None:
    page = Page(
        '<html lang=" de-AT "><meta name=Description content=""><meta name=description content=" Tee  und Milch">'
        '<meta property=og:description content="Tee"><h1> </h1><h1>Guten <b>Tag</b><br>heute</h1>'
    )
    assert (page.lang, page.description, page.h1) == ("de-AT", "Tee und Milch", "Guten Tag heute")
    assert page.descriptions == ["Tee und Milch", "Tee"]
    assert page.metas("og:description", "description") == ["Tee", "Tee und Milch"]


@pytest.mark.parametrize(
    ("base", "href", "absolute"),
    [
        ("", "b?c#d", "https://example.org/a/b?c#d"),
        ("", "//cdn.example/x", "https://cdn.example/x"),
        ("", " \n/x\ty\r\n ", "https://example.org/xy"),
        ("", "", "https://example.org/a/"),
        ("", "javascript:void(0)", "javascript:void(0)"),
        ("", "data:text/plain,a b", "data:text/plain,a b"),
        ("", "mailto:a@example.org", "mailto:a@example.org"),
        ("", "http://[::1", "http://[::1"),
        ("", "\x00\x1f/x\x0b", "https://example.org/x"),
        ("https://other.example/z/", "x", "https://other.example/z/x"),
        ("../up/", "x", "https://example.org/up/x"),
        ("data:text/plain,", "x", "https://example.org/a/x"),
        ("http://[", "x", "x"),
    ],
)
def test_links(base: str, href: str, absolute: str) -> None:
    page = Page(f'<base href="{base}"><p>x', "https://example.org/first", "https://example.org/a/")
    assert page.urljoin(href) == absolute


@given(st.text(max_size=40), st.text(max_size=40))
def test_links_never_raise(base: str, href: str) -> None:
    assert isinstance(Page("<p>x", base).urljoin(href), str)


def test_visible_text() -> None:
    page = Page(
        "<title>T</title><style>s</style><nav><a>Home</a> <a>News</a></nav><main><h1>One\n two</h1>"
        "<p>in<b>li</b>ne <i>text</i></p><p hidden>no</p><p style='color:red; Display : None'>no</p>tail"
        "<script>no</script><template>no</template><noscript>no</noscript><select><option>no</select>"
        "<ul><li>a<li>b</ul>x<br>y<table><td>cell<td>d</table></main><textarea>no</textarea>soft\xadhyphen&nbsp;space"
    )
    lines = page.visible_text.split("\n")
    assert lines == [
        *("Home News", "One two", "inline text", "tail", "a", "b", "x", "y", "cell", "d", "softhyphen space")
    ]


@pytest.mark.parametrize(
    ("content", "visible"),
    [
        (b"just text", "just text"),
        (b"<frameset><frame src=a><noframes>No frames.</noframes></frameset>", ""),
        (
            b'<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><p>\xc3\xa4</p>',
            "ä",
        ),
        ('<?xml version="1.0" encoding="iso-8859-1"?><html><p>ä', "ä"),
        (b"<p>a\x00b\x01c\x0cd</p>", "abc d"),
        ("<p>a\ufffe\uffffb", "ab"),
        ("<p>\ud800x", "?x"),
        (b"<p>&#1;&#0;x", None),
        (b"\x89PNG\r\n\x1a\n<p>x", None),
        (b"<<<p>x<<", None),
    ],
)
def test_odd_pages(content: bytes | str, visible: str | None) -> None:
    page = Page(content)
    text = page.visible_text
    assert visible is None or text == visible
    assert (analyse(page)["text"].encode() == b"") is (visible == "")
    # The tree holds nothing that XML could not: it can be written back.
    assert etree.fromstring(etree.tostring(page.tree)) is not None


def test_plain_text_is_no_markup() -> None:
    page = Page(b"5 < 6 & <b>7</b>\n\nSecond block", content_type="Text/Plain; charset=utf-8")
    assert page.visible_text == "5 < 6 & <b>7</b>\nSecond block"
    assert wrap_plain_text(" \n ") == ""


@pytest.mark.parametrize("content", [b"", b" \n\t", b"<!-- only a comment -->", "", b"\xef\xbb\xbf"])
def test_empty_pages_are_row_errors(content: bytes | str) -> None:
    with pytest.raises(RowError, match="is empty") as caught:
        analyse(Page(content))
    assert caught.value.error_type == "parse"


def test_analyses_leave_the_tree_alone(corpus_pages: dict[str, bytes]) -> None:
    for content in list(corpus_pages.values())[:12]:
        page = Page(content, "https://example.org/")
        before = etree.tostring(page.tree)
        analyse(page)
        assert etree.tostring(page.tree) == before


def test_broken_pages_raise_nothing_but_row_errors(corpus_pages: dict[str, bytes]) -> None:
    random = Random(7)
    pages = list(corpus_pages.values())
    for _ in range(60):
        content = bytearray(random.choice(pages)[:40_000])
        for _ in range(random.randint(1, 40)):
            place = random.randrange(len(content))
            if random.random() < 0.5:
                content[place] = random.randrange(256)
            else:
                del content[place : place + random.randint(1, 200)]
        try:
            answer = analyse(Page(bytes(content), "https://example.org/"))
        except RowError as error:
            assert error.error_type == "parse"  # noqa: PT017
        else:
            assert answer["text"].encode() is not None


def words(count: int, seed: int = 1) -> str:
    random = Random(seed)
    return " ".join("".join(random.choices("abcdefgh", k=6)) for _ in range(count)) + "."


def paragraphs(size: int, length: int) -> str:
    return "".join(f"<p>{words(length, seed)}</p>" for seed in range(size // (7 * length)))


HOSTILE = {
    "1 MB of text": lambda: paragraphs(1_000_000, 60),
    "10 MB of distinct paragraphs": lambda: paragraphs(10_000_000, 300),
    "10 MB of one paragraph over and over": lambda: f"<p>{words(60)}</p>" * 23_000,
    "1,000 nested div": lambda: "<div>" * 1_000 + f"<p>{words(60)} deep</p>" + "</div>" * 1_000,
    "500,000 br": lambda: "word<br>" * 500_000,
    "10,000 tables": lambda: "<table><tr><td>word</td><td>b</td></tr></table>" * 10_000,
    "50,000 links": lambda: "".join(f"<a href=/{n}>word {n}</a> " for n in range(50_000)),
    "30,000 unclosed rows": lambda: "<table>" + "".join(f"<tr><td>word{n}<td>{n}" for n in range(30_000)),
    "10,000 comments by users": lambda: f'<div class="comment">{words(9)}</div>' * 10_000,
    "a text node of 20 MB": lambda: "<p>" + "word " * 4_000_000,
    "a word of 20 MB": lambda: "<p>" + "x" * 20_000_000,
    "10 MB of &": lambda: "&" * 10_000_000,
    "entities": lambda: "&amp;" * 2_000_000,
    "JSON-LD of brackets": lambda: (
        f"<script type='application/ld+json'>{'[' * 100_000}</script><p>{words(60)}"
    ),
    "a data URI": lambda: f'<img src="data:image/png;base64,{"A" * 300_000}"><p>{words(60)}',
    "a script without an end of tag": lambda: f"<script>{'if (a <b) c ; ' * 20_000}</script><p>{words(60)}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_answered_in_seconds_without_loss(name: str) -> None:
    page = Page("<html><body>" + HOSTILE[name]())
    started = time.process_time()
    text = analyse(page)["text"]
    assert effort_since(started) < 5
    assert len(text) > 0.9 * len(page.visible_text)


REFUSED = {
    "100,000 attributes": (
        lambda: "<div " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x",
        "attributes",
    ),
    "attributes in many tags": (
        lambda: ("<div " + " ".join(f"a{n}=1" for n in range(999)) + ">x") * 1_000,
        "attributes",
    ),
    "100,000 nested div": (lambda: "<div>" * 100_000 + "deep", "nested"),
    "50,000 nested lists": (lambda: "<ul><li>" * 50_000 + "deep", "nested"),
    "50,000 nested quotations": (lambda: "<blockquote>" * 50_000 + "deep", "nested"),
    "100,000 nested b": (lambda: "<b>" * 100_000 + "deep", "nested"),
    "33,000 nested tables": (lambda: "<table><tr><td>" * 33_000, "nested"),
    "1,000,000 nested div": (lambda: "<div>" * 1_000_000, "nested"),
    "10 MB of opened comments": (lambda: "<!--" * 2_500_000, "is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_pages_that_would_hang_or_lose_text_are_refused(name: str) -> None:
    markup, reason = REFUSED[name]
    content = markup() if reason == "is empty" else "<html><body>" + markup()
    started = time.process_time()
    with pytest.raises(RowError, match=reason) as caught:
        analyse(Page(content))
    assert effort_since(started) < 5
    assert caught.value.error_type == "parse"
    assert caught.value.sentence.startswith("The `url` parameter ")
