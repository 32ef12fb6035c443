"""Authors and headlines of pages, from structured data, meta elements, markup and bylines."""

from __future__ import annotations

import json

import pytest

from webanalytics.page.content.content import content
from webanalytics.page.metadata import analyse
from webanalytics.page.page import Page
from webanalytics.page.text.authors import MOST_AUTHORS, names_in, page_authors
from webanalytics.page.text.publisher import page_headline


def linked(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


ANN = {"@type": "Person", "@id": "#ann", "name": "Ann Lee"}


ODD_HOSTS = ("tea.example:80", "tea.example:port", "tea.example:99999", "[::1")


def card(label: str, said: str) -> str:
    return f'<meta name="twitter:label1" content="{label}"><meta name="twitter:data1" content="{said}">'


@pytest.mark.parametrize(
    ("html", "authors"),
    [
        (linked({"@type": "Article", "author": "Ann Lee"}), ["Ann Lee"]),
        (linked({"@type": "Article", "author": [ANN, {"name": "Bo Wu"}]}), ["Ann Lee", "Bo Wu"]),
        (linked({"@graph": [{"@type": "Article", "author": {"@id": "#ann"}}, ANN]}), ["Ann Lee"]),
        (linked({"@type": "QAPage", "mainEntity": {"@type": "Question", "author": ANN}}), ["Ann Lee"]),
        (linked({"@type": "Article", "author": {"@type": "Organization", "name": "Tea Society"}}), ["Tea Society"]),
        (linked({"@type": "Comment", "author": "Ann Lee"}), []),
        (linked({"@type": "Article", "author": "https://tea.example/ann"}), []),
        ('<meta name="author" content="By Ann Lee and Bo Wu">', ["Ann Lee", "Bo Wu"]),
        ('<meta name="citation_author" content="Lee, Ann"><meta name="citation_author" content="Wu, Bo">', ["Ann Lee", "Bo Wu"]),
        ('<meta name="author" content="ann@tea.example"><a rel="author" href="/ann">Ann Lee</a>', ["Ann Lee"]),
        ('<p itemprop="author" itemscope>Text: <b itemprop="name">Ann Lee</b>, editor</p>', ["Ann Lee"]),
        ('<p><a rel=author>Ann Lee</a> and <a rel=author>Bo Wu</a></p><p><a rel=author>Cy Oh</a>', ["Ann Lee", "Bo Wu"]),
        ('<div class="post__author">Ann Lee<br>4 May 2022</div>', ["Ann Lee"]),
        ('<p class=byline>By <a href="/authors/ann">Ann Lee</a>, who has read much about tea and coffee', ["Ann Lee"]),
        ('<p class=author>Added by <a href="/users/7">Ann Lee</a> about 2 months ago', ["Ann Lee"]),
        ("<h1>Tea</h1><p>Submitted by Ann Lee on May 4, 2022</p>", ["Ann Lee"]),
        ('<p class=vcard><a class="url fn n" href="/ann">Ann Lee</a>', ["Ann Lee"]),
        ('<h4>pub fn <a class="fn" href="#push">push</a>(self)</h4>', []),
        ('<div class="comment-list"><b class="author">Bo Wu</b></div>', []),
        ('<aside><b class="author">Bo Wu</b></aside>', []),
        ('<table><tr><th class="col-author_id">author_id<td class="col-author_id">6</table>', []),
        ('<table><tr><th class="author">Autor<tr><td class="author">Ann Lee</table>', ["Ann Lee"]),
        ('<h1>Tea</h1><p><a class="username" href="/u/1">tea_cup</a></p><p><a class="username">pot</a></p>', ["tea_cup"]),
        ('<h1>Tea</h1><p><a href="/author/ann">Ann Lee</a>', ["Ann Lee"]),
        ("<h1>Tea</h1><p>By Ann Lee on May 4, 2022</p>", ["Ann Lee"]),
        ("<h1>Tea</h1><p>written by annlee on Dec 19, 2025</p>", ["annlee"]),
        ("<h1>Tea</h1><p>Posted by annlee on 4 May 2022</p>", ["annlee"]),
        ("<h1>Tea</h1><p>By turning on a lamp, 2 things are seen.</p>", []),
        ("<h1>Tea</h1><p>Written by</p><p>Ann Lee</p>", ["Ann Lee"]),
        ("<h1>Tea</h1><p>Jan. 3, 2024 by Ann Lee</p>", ["Ann Lee"]),
        ("<h1>Tea</h1><p>Posted on 12 May 2024, by Ann Lee Leave a comment</p>", ["Ann Lee"]),
        ("<h1>Tea</h1><p>Sold in May 2024 by Tea Society</p>", []),
        (card("Written by", "Ann Lee"), ["Ann Lee"]),
        (card("Verfasst von", "Ann Lee"), ["Ann Lee"]),
        (card("Est. reading time", "Less than a minute"), []),
        (card("Availability", "On order"), []),
        ('<h1>Tea</h1><a href="/people/logina">Logina Lee</a>', ["Logina Lee"]),
        *((f'<h1>Tea</h1><a href="https://{host}/people/ann">Ann Lee</a>', ["Ann Lee"]) for host in ODD_HOSTS),
        ('<h1>Tea</h1><a href="/profile/login/">Log in or join</a>', []),
        ('<h1>Tea</h1>Under <a href="https://creativecommons.org/licenses/by/4.0/">Attribution 4.0</a>', []),
        ('<h1>Tea</h1><a href="https://social.example/profile/tea.example">Blue Sky</a>', []),
        ('<div class="byline">Sat, 20 Dec, 2025 - 06:36<br>Ann Lee</div>', ["Ann Lee"]),
        ('<div class="blog-author">Insights from<br>Ann Lee</div>', ["Ann Lee"]),
        ('<span class="byline__category">Health</span><div class="author-description">Tea Taster</div>', []),
        ('<p class="pricing-byline">billed annually</p>', []),
        ("<h1>Tea</h1><p>By default, leaves and water meet.</p>", []),
        ("<h1>Tea</h1><p>Stand by me, it said.</p>", []),
    ],
)  # fmt: skip
def test_authors_are_read_from_all_that_names_them(html: str, authors: list[str]) -> None:
    assert page_authors(Page(html, "https://tea.example/")) == authors


def test_the_publisher_is_no_author_unless_a_person() -> None:
    site = '<meta property="og:site_name" content="Tea Times"><meta name="author" content="Tea Times">'
    assert page_authors(Page(site)) == []
    person = {"@type": "Article", "author": ANN, "publisher": ANN}
    assert page_authors(Page(linked(person))) == ["Ann Lee"]


OF_OTHERS = [
    *(("Yazar: ", "Ayşe Yılmaz"), ("Szerző: ", "Anna Kovács"), ("Tekijä ", "Anna Virtanen"), ("Författare: ", "Anna Ek")),
    *(("От ", "Иван Петров"), ("Аутор: ", "Иван Петровић"), ("Από ", "Γιώργος Παππάς"), ("oleh ", "Anna Sari")),
    *(("Bởi ", "Nga Tran"), ("โดย ", "สมชาย ใจดี"), ("作者：", "王小明"), ("投稿者: ", "山田太郎"), ("글쓴이: ", "김민수")),
    *(("מאת ", "דוד כהן"), ("بواسطة ", "أحمد علي"), ("نویسنده: ", "علی رضایی"), ("", "Oleh Blokhin"), ("", "Per Ek")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ann Lee, Ph.D., MD & Bo Wu", ["Ann Lee", "Bo Wu"]),
        ("von Ann Lee | 3 min read", ["Ann Lee"]),
        ("Ann Lee, Senior Editor", ["Ann Lee"]),
        ("Staff Writer", ["Staff Writer"]),
        ("editor", []),
        ("4 May 2022", []),
        ("https://tea.example/ann", []),
        ("admin", []),
        ("By Author name not set", []),  # Sphinx, without one
        ("José Álvarez y Li 李明", ["José Álvarez", "Li 李明"]),
        # As catalogues of WordPress write "By ..." and "Author: ...".
        *((f"{lead}{name}", [name]) for lead, name in OF_OTHERS),
    ],
)
def test_names_come_without_what_stands_around_them(text: str, names: list[str]) -> None:
    assert list(names_in(text)) == names


def test_the_specifications_author_stays_that_of_the_meta_elements() -> None:
    found = analyse(Page(linked({"@type": "Article", "author": "Ann Lee"})))
    assert (found["author"], found["authors"]) == ("", ["Ann Lee"])


def test_authors_are_bounded() -> None:
    names = [f"Ann {'abcdefghijklmnopqrstuvwxyz'[number]}e" for number in range(26)]
    assert len(page_authors(Page(linked({"@type": "Article", "author": names})))) == MOST_AUTHORS


@pytest.mark.parametrize(
    ("html", "headline"),
    [
        (linked({"@type": "NewsArticle", "headline": "Green tea"}) + "<h1>Tea Times</h1>", "Green tea"),
        (linked({"@type": "Comment", "headline": "Bad"}) + "<h1>Green tea</h1>", "Green tea"),
        ("<title>Green tea | Times</title><h1>Times</h1><p>Green tea</p>", "Green tea"),
        ("<title>Shop</title><h1>Pots</h1>", "Pots"),
        ('<title>T</title><meta property="og:title" content="Green tea">', "Green tea"),
        ("<title>Green tea</title>", "Green tea"),
        ("<p>Hello", ""),
    ],
)
def test_the_headline_is_what_the_reader_takes_for_the_title(html: str, headline: str) -> None:
    assert page_headline(Page(html)) == headline


@pytest.mark.parametrize(
    ("title", "expected"),
    [("By Ólafur Jónsson", ["Ólafur Jónsson"]), ("Senior Editor", []), ("By default", [])],
)
def test_what_is_told_of_an_author_at_the_end_names_the_author(title: str, expected: list[str]) -> None:
    """The markup of WordPress's own themes of 2020 and 2021."""
    lines = "".join(f"<p>Line {n} of the text.</p>" for n in range(20))
    told = f'<div class="author-bio"><h2 class="author-title">{title}</h2><p class="author-description">Writes.</p>'
    link = (
        '<a class="author-link" href="/author/o/" rel="author">View all of Ólafur Jónsson\'s posts.</a></div>'
    )
    assert page_authors(Page(f"<article><h1>Tea</h1>{lines}{told}{link}</article>")) == expected


LISTED = "".join(
    f'<article><h2><a href="/{n}">Tea of the day {n}</a></h2><p class="byline">By Ann Lee</p><p>It is green.</p></article>'
    for n in range(12)
)


@pytest.mark.parametrize(("head", "authors"), [("", []), ('<meta name="author" content="Bo Wu">', ["Bo Wu"])])
def test_who_wrote_the_entries_of_a_list_did_not_write_the_list(head: str, authors: list[str]) -> None:
    page = Page(f"{head}<title>Tea</title><h1>All teas</h1>{LISTED}")
    assert (content(page).page_type, page_authors(page)) == ("listing", authors)


def test_who_wrote_the_first_post_of_a_thread_is_its_author() -> None:
    """The markup of vBulletin."""
    posts = "".join(f'<a class="bigusername" href="member.php?u={n}">{n}</a><p>Tea?' for n in ("Ann", "Bo"))
    assert page_authors(Page(f"<h1>Tea</h1>{posts}")) == ["Ann"]


def test_ghost_names_the_second_author_as_a_contributor() -> None:
    """So does its helper for structured data, below "Ann Lee, Bo Wu" in the heading of a post."""
    article = linked(
        {"@type": "Article", "author": ANN, "contributor": [{"@type": "Person", "name": "Bo Wu"}]}
    )
    assert page_authors(Page(f'<meta name="generator" content="Ghost 5.130">{article}')) == [
        "Ann Lee",
        "Bo Wu",
    ]
    assert page_authors(Page(article)) == ["Ann Lee"]
