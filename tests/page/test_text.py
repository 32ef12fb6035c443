"""The text operation: fields, publisher, and what it answers on saved pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webanalytics.page.content.model import TYPES
from webanalytics.page.page import Page
from webanalytics.page.text.publisher import page_headline, page_publisher
from webanalytics.page.text.text import analyse

# Field names and their order in the specification of the operation, and ours.
FIELDS = ["date", "description", "title", "title_alt", "text", "language", "publisher", "url", "note"]
FIELDS += ["page_type", "content_confidence", "content_note", "comments"]


def test_fields() -> None:
    page = Page(
        '<html><head><title>Tea | The Tea Times</title><meta name=description content="All about tea">'
        '<meta property="article:published_time" content="2022-05-04"></head>'
        "<body><h1>Tea</h1><p>The leaves of the tea plant are picked by hand and dried in the sun.</p></body>",
        "https://example.org/tea?",
        "https://www.example.org/tea",
    )
    answer = analyse(page)
    assert answer.pop("page_type") in (*TYPES, "other")
    assert 0 <= answer.pop("content_confidence") <= 1
    assert answer == {
        "date": {"published": "2022-05-04", "modified": None},
        "description": "All about tea",
        "title": "Tea | The Tea Times",
        "title_alt": "Tea",
        "text": "Tea\nThe leaves of the tea plant are picked by hand and dried in the sun.",
        "language": "en",
        "publisher": None,
        "url": "https://example.org/tea?",
        "note": "",
        "content_note": "",
        "comments": "",
    }


def test_a_page_that_supplies_nothing() -> None:
    answer = analyse(Page("<p>42"))
    assert list(answer) == FIELDS
    own = ("page_type", "content_confidence", "content_note")
    assert {name: value for name, value in answer.items() if value and name not in own} == {"text": "42"}
    assert answer["date"] is None
    assert answer["publisher"] is None
    assert [answer[name] for name in ("description", "title", "title_alt", "language", "url")] == [""] * 5


def jsonld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


TIMES = {"name": "The Tea Times", "url": None, "logo": None}


@pytest.mark.parametrize(
    ("markup", "publisher"),
    [
        (jsonld('{"@type":"Article","publisher":{"@type":"Organization","name":"The Tea Times",'
                '"url":"/","logo":{"@type":"ImageObject","url":"logo.png"}}}'),
         {"name": "The Tea Times", "url": "https://example.org/", "logo": "https://example.org/a/logo.png"}),
        (jsonld('{"@graph":[{"@type":"Article","publisher":{"@id":"#us"}},{"@type":"Organization","@id":"#us",'
                '"name":" The Tea\\nTimes ","logo":{"@id":"#logo"}},'
                '{"@type":"ImageObject","@id":"#logo","contentUrl":"https://cdn.example/l.png"}]}'),
         {"name": "The Tea Times", "url": None, "logo": "https://cdn.example/l.png"}),
        (jsonld('{"publisher":["The Tea Times","Other"]}'), TIMES),
        (jsonld('{"publisher":{"@id":"#nobody"}}') + '<meta property=og:site_name content="The Tea Times">', TIMES),
        (jsonld('{"publisher":{"@id":"#a"},"@id":"#a"}') + '<meta name=publisher content="The Tea Times">', TIMES),
        (jsonld('[{"@type":"Person","name":"A"},{"@type":["Thing","NewsMediaOrganization"],"name":"The Tea Times"}]'), TIMES),
        (jsonld('{"@type":"Article","publisher":{"name":["The Tea Times","TT"],"logo":["l.png"]}}'),
         {"name": "The Tea Times", "url": None, "logo": "https://example.org/a/l.png"}),
        (jsonld('{"@type":"Article","publisher":{"name":5,"logo":6,"url":[]}}'), None),
        (jsonld('{"publisher":"https://example.org/"}'), None),
        # Character references mean nothing in JSON; some pages write them all the same, once or twice.
        (jsonld('{"publisher":{"name":"La Naci&#xF3;n","url":"/?a=1&amp;copy=2&lt=3","logo":"/l&amp;amp;m.png"}}'),
         {"name": "La Nación", "url": "https://example.org/?a=1&copy=2&lt=3", "logo": "https://example.org/l&m.png"}),
        (jsonld('{"publisher":"Tea &amp;amp; Times"}'), {"name": "Tea & Times", "url": None, "logo": None}),
        ('<meta property=og:site_name content="La Naci&amp;oacute;n">', {"name": "La Nación", "url": None, "logo": None}),
        ('<meta property="article:publisher" content="https://facebook.com/tea">', None),
        ("<p>x", None),
    ],
)  # fmt: skip
def test_publisher(markup: str, publisher: dict[str, Any] | None) -> None:
    assert page_publisher(Page(f"{markup}<p>x", "https://example.org/a/b")) == publisher


def test_corpus(corpus_pages: dict[str, bytes], corpus_segments: dict[str, dict[str, Any]]) -> None:
    for name, content in corpus_pages.items():
        answer = analyse(Page(content, corpus_segments[name]["url"]))
        assert list(answer) == FIELDS
        assert answer["text"]
        assert answer["title"]
        assert len(answer["language"]) == 2
        assert answer["url"] == corpus_segments[name]["url"]


# Read by eye in the source of the saved pages.
PUBLISHERS = {
    "0a12df42d1764095989ab078ee0f940b.html": ("ZEIT ONLINE", "https://www.zeit.de/index"),
    "abc7news.com-Napa.html": ("ABC7 San Francisco", None),
    "doschu.com.solopreneur.html": ("DoSchu.Com", "https://www.doschu.com/"),
    "tomshardware.com.rtx.html": ("Tom's Hardware", "https://www.tomshardware.com"),
}


@pytest.mark.parametrize("name", PUBLISHERS)
def test_known_publishers(name: str, corpus_pages: dict[str, bytes]) -> None:
    publisher = page_publisher(Page(corpus_pages[name])) or {}
    assert (publisher["name"], publisher["url"]) == PUBLISHERS[name]


LAMP = (
    "The lamp burns with a steady flame when its wick is trimmed and the tank is filled to the mark. ",
    "Keep the chimney clean, as soot takes a third of the light, and turn the flame down before you carry it. ",
    "Where a draught makes it flicker, the guard goes around the glass, and the lamp stands on the floor. ",
)


def of_a_manual(head: str, end: str) -> Page:
    menu = "".join(
        f'<li><a href="../{name}/">{name}</a></li>' for name in ("Wicks", "Oil", "Faults", "Parts")
    )
    body = "".join(
        f'<h2 id={number}>Part {number}<a class=headerlink href="#{number}">¶</a></h2><p>{said * 2}</p>'
        for number, said in enumerate(LAMP * 3)
    )
    return Page(
        f"<html lang=en><head>{head}</head><nav><ul>{menu}</ul></nav><article><h1>Use</h1>{body}{end}</article>"
    )


MADE_BY = {  # what pages have that do not name a generator
    "Sphinx": "<script src=_static/documentation_options.js></script>",
    "JSDoc": '<link type="text/css" rel="stylesheet" href="styles/jsdoc-default.css">',
    "TypeDoc": '<p class="tsd-generator">Generated using <a href="https://typedoc.org/">TypeDoc</a></p>',
    "mdBook": "<!-- Book generated using mdBook -->",
}
GENERATORS = (
    "mkdocs-1.6.1, mkdocs-material-9.7.1",
    "Docusaurus v3.5.2",
    "VitePress v1.6.4",
    "zensical-0.0.73",
)


@pytest.mark.parametrize("program", [*GENERATORS, *MADE_BY])
def test_what_a_program_for_documentation_made_is_documentation(program: str) -> None:
    made = MADE_BY.get(program) or f'<meta name=generator content="{program}">'
    assert analyse(of_a_manual("", ""))["page_type"] == "article"
    assert analyse(of_a_manual(made, ""))["page_type"] == "documentation"
    posts = "".join(
        f"<article><h2><a href=/{n}>Post {n}</a></h2><p>{said}</p></article>" for n, said in enumerate(LAMP)
    )
    assert analyse(Page(f"<title>Posts</title>{made}<h1>Posts</h1>{posts}"))["page_type"] == "listing"


def test_days_in_documentation_are_those_of_examples_and_versions() -> None:
    made, example = '<meta name="generator" content="mkdocs-1.6.1">', "<p>Ask for the plan of 2025-07-01.</p>"
    assert analyse(of_a_manual("", example))["date"] == {"published": "2025-07-01", "modified": None}
    assert analyse(of_a_manual(made, example))["date"] is None
    shown = f"{example}<p>Last updated 4 May 2025</p>"
    assert analyse(of_a_manual(made, shown))["date"] == {"published": None, "modified": "2025-05-04"}
    stamp = f"{example}<time datetime=2025-03-09>March</time>"
    assert analyse(of_a_manual(made, stamp))["date"] == {"published": "2025-03-09", "modified": None}


def test_posts_below_their_days_are_a_list_where_they_look_like_those_of_a_forum() -> None:
    """As minima shows them, the theme that Jekyll begins with: the page has no main heading."""
    posts = "".join(
        f'<li><span class="post-meta">Mar {day}, 2024</span><h3><a class="post-link" href="/notes/{day}.html">'
        f"What we know of {what}</a></h3><p>{LAMP[day % 3]}</p></li>"
        for day, what in ((3, "wicks"), (5, "oil"), (8, "soot"), (9, "tanks"), (11, "glass"), (12, "burners"))
    )
    found = analyse(
        Page(
            '<html lang="en"><title>Lamp Notes | Notes on lamps and wicks.</title><body><header class="site-header">'
            '<a class="site-title" href="/">Lamp Notes</a><nav class="site-nav"><a href="/about/">About</a></nav></header>'
            '<main class="page-content"><div class="home"><h2 class="post-list-heading">Posts</h2>'
            f'<ul class="post-list">{posts}</ul></div></main><footer><ul class="contact-list"><li>Ann Lee</li></ul></footer>'
        )
    )
    assert (found["page_type"], found["date"]) == ("listing", None)


def test_a_link_to_a_heading_that_shows_nothing_leaves_no_space_behind_it() -> None:
    """VitePress and VuePress put a space without width in it."""
    link = '<a class="header-anchor" href="#wicks" aria-label="Permalink to &quot;Wicks&quot;">&ZeroWidthSpace;</a>'
    page = Page(
        f'<title>Wicks | Lamps</title><main><h1 id="wicks">Wicks {link}</h1><p>{"".join(LAMP)}</p></main>'
    )
    assert page_headline(page) == "Wicks"
    assert analyse(page)["text"] == f"Wicks\n{''.join(LAMP).strip()}"


def test_a_short_post_below_which_longer_ones_are_told_of_is_an_article() -> None:
    """The first post that a site by Ghost begins with, in its theme Source, and a newer one or four."""
    cards = "".join(
        f'<article class="gh-card post"><a class="gh-card-link" href="/post-{n}/"><div class="gh-card-wrapper">'
        f'<h3 class="gh-card-title is-title">What we know of lamps {n}</h3><p class="gh-card-excerpt is-body">'
        f'{"".join(LAMP)}</p><footer class="gh-card-meta"><span class="gh-card-author">By Ann Lee</span>'
        f'<time class="gh-card-date" datetime="2026-03-0{n}">0{n} Mar 2026</time></footer></div></a></article>'
        for n in range(1, 5)
    )
    told = {"@type": "Article", "headline": "Coming soon", "datePublished": "2026-02-11T09:30:00.000Z"}
    post = (
        '<main class="gh-main"><article class="gh-article post"><header class="gh-article-header">'
        '<h1 class="gh-article-title is-title">Coming soon</h1><time datetime="2026-02-11">11 Feb 2026</time></header>'
        f'<section class="gh-content is-body"><p>{LAMP[0]}</p></section></article></main>'
        '<section class="gh-container"><h2 class="gh-container-title">Read more</h2>'
        f'<div class="gh-feed">{cards}</div></section>'
    )
    data = f'<script type="application/ld+json">{json.dumps(told)}</script>'
    assert analyse(Page(f"<html lang=en><title>Coming soon</title>{post}"))["page_type"] == "listing"
    found = analyse(Page(f"<html lang=en><title>Coming soon</title>{data}{post}"))
    assert found["page_type"] == "article"
    assert found["text"].removeprefix("Coming soon\n") == LAMP[0].strip()


def test_whole_posts_one_below_another_are_a_list() -> None:
    """As Lektor's quickstart shows a blog, below the name of the site."""
    posts = "".join(
        f'<div class="blog-post"><h2><a href="{{0}}{n}">What we know of {what}</a></h2><p class="meta">written by '
        f"Ann Lee on Mar {n}, 2024</p><p>{LAMP[n % 3] * 3}</p><p>{LAMP[n % 2] * 2}</p></div>"
        for n, what in ((9, "wicks"), (8, "oil"), (5, "soot"), (3, "tanks"))
    )
    around = "<html lang=en><title>Blog — Tidings</title><header><h1>Tidings</h1><nav><a href=/blog/>Blog</a></nav></header>"
    found = analyse(Page(f'{around}<div class="page">{posts.format("/blog/")}</div>'))
    assert (found["page_type"], found["date"]) == ("listing", None)
    within = analyse(Page(f'{around}<div class="page">{posts.format("#part-")}</div>'))
    assert within["page_type"] == "article", "its headings are links to their own places"
