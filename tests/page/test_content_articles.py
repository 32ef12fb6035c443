"""Where an article ends, and what programs and editors put into it and behind it."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.page.test_content import POST, PROSE
from webanalytics.page.content.content import as_article, content, whole_lists
from webanalytics.page.content.features import block_features
from webanalytics.page.page import Page
from webanalytics.page.tree import parse
from webanalytics.page.visible_text import blocks_of


def test_cards_that_lead_to_related_pages_are_none_of_an_article() -> None:
    card = '<a class="post-link" href="/{0}"><div class="info"><h3>{0}</h3><div>{1}</div></div></a>'
    cards = "".join(
        card.format(name, f"{name} {POST}{POST}") for name in ("Oil", "Wick", "Tin", "Stairs", "Cans")
    )
    markup = (
        f'<title>Light</title><h1>Light</h1><article class="post-content"><p>{PROSE}</p><p>{POST}</p></article>'
        f'<div class="relatedPosts"><h2>Related Articles</h2><div class="relatedPosts-list">{cards}</div></div>'
    )
    found = content(Page(markup))
    assert found.page_type == "article"
    assert found.text.split("\n")[-2:] == [PROSE.strip(), POST.strip()]


def test_links_beside_the_main_element_are_none_of_a_short_page() -> None:
    chapters = "".join(f'<li><a href="/{n}">How a lamp of kind {n} is cleaned</a></li>' for n in range(90))
    table = "".join(f"<tr><td>{n}</td><td>LAMP_{n}</td><td>wick of {n} mm</td></tr>" for n in range(20))
    main = f"<h1>Sizes</h1><p>The size of a wick is known by its number.</p><table>{table}</table>"
    markup = (
        f'<title>Sizes</title><div><div role="main">{main}</div></div>'
        f"<div class=rest><h3>Contents of this manual</h3><ul>{chapters}</ul></div>"
    )
    found = content(Page(markup))
    assert "wick of 19 mm" in found.text
    assert "is cleaned" not in found.text
    assert "is cleaned" in content(Page(markup.replace(main, "<h1>Manual</h1>"))).text


def test_a_menu_beside_the_one_article_within_the_main_element_is_none_of_it() -> None:
    chapters = "".join(f'<li><a href="/{n}">How a lamp of kind {n} is cleaned</a></li>' for n in range(90))
    table = "".join(f"<tr><td>{n}</td><td>LAMP_{n}</td><td>wick of {n} mm</td></tr>" for n in range(20))
    article = f"<article><h1>Sizes</h1><p>A wick is known by its number.</p><table>{table}</table></article>"
    markup = f"<title>Sizes</title><main><div><ul>{chapters}</ul></div><div>{article}</div></main>"
    found = content(Page(markup))
    assert "wick of 19 mm" in found.text
    assert "is cleaned" not in found.text
    several = markup.replace("</article>", "</article><article><h2>More</h2></article>")
    assert "is cleaned" in content(Page(several)).text


def test_a_link_behind_a_heading_to_its_own_place_is_none_of_the_text() -> None:
    heading = '<div><h2 id="oil">Oil</h2><a href="#oil"><span>Section titled “Oil”</span></a></div>'
    markup = f"<main><h1>Lamps</h1><p>{PROSE}</p>{heading}<p>{POST}</p><p>{PROSE}{POST}</p></main>"
    assert content(Page(markup)).text.split("\n")[2:4] == ["Oil", POST.strip()]
    other = content(Page(markup.replace('href="#oil"', 'href="#wick"')))
    assert "Section titled “Oil”" in other.text


@pytest.mark.parametrize(
    "gutter",
    [
        '<td class="gutter"><pre><span class="line">1</span><br><span class="line">2</span></pre></td>',
        '<td class="rouge-gutter gl"><pre class="lineno">1\n2\n</pre></td>',
        '<td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td>',
        '<td class="lntd"><pre><code><span class="lnt">1\n</span><span class="lnt">2\n</span></code></pre></td>',
    ],
    ids=["Hexo", "Jekyll", "Pygments", "Hugo"],
)
def test_numbers_of_lines_are_none_of_the_text(gutter: str) -> None:
    code = '<td class="code"><pre>trim --all\nfill tin</pre></td>'
    markup = f"<main><h1>Oil</h1><p>{PROSE}</p><figure><table><tr>{gutter}{code}</table></figure><p>{POST}</p></main>"
    found = content(Page(markup))
    assert found.text.split("\n")[1:] == [PROSE.strip(), "trim --all", "fill tin", POST.strip()]
    assert "```\ntrim --all\nfill tin\n```" in found.markdown


def test_an_article_ends_with_its_last_sentence_however_short() -> None:
    markup = (
        f"<title>Light</title><nav><a href=/>Home</a> <a href=/b>More</a></nav><h1>Light</h1><article><p>{PROSE}</p>"
        f"<p>{POST}</p><p>You can put it out from the stairs.</p><pre>douse -h now</pre>"
        "<p>See what was said of oil.</p></article><footer><p>Newer</p><p>Older</p><p>Share</p></footer>"
    )
    assert content(Page(markup)).text.split("\n")[-3:] == [
        "You can put it out from the stairs.",
        "douse -h now",
        "See what was said of oil.",
    ]


def test_the_likely_cells_of_a_table_that_begins_surely_are_an_articles() -> None:
    """A paragraph, a row that is sure and two that are but likely, one behind a gap, and a link below."""
    chances = np.array([0.98, 0.75, 0.6, 0.55, 0.3, 0.6, 0.2])
    column = defaultdict(lambda: np.zeros(7), chars=np.array([300.0, *[10.0] * 6]))
    column["is_td"] = np.array([0.0, 1, 1, 1, 1, 1, 0])
    keep = as_article(chances >= 0.45, chances, 0.9, column)
    assert keep.tolist() == [True, True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("path", "is_list"),
    [("2026/07/", True), ("blog/2026/7/page/2", True), ("2026/07/31", True), ("2026/07/lamps", False), ("tea-in/2026/07", False)],
)  # fmt: skip
def test_what_was_written_in_a_month_is_a_list(path: str, is_list: bool) -> None:
    posts = "".join(f'<article><h2><a href="/{n}">Lamp {n}</a></h2><p>{PROSE}</article>' for n in range(2))
    kind = content(
        Page(f"<title>Light</title><h1>Light</h1><p>{PROSE}{posts}", f"https://light.example/{path}")
    ).page_type
    assert (kind == "listing") is is_list


@pytest.mark.parametrize(
    ("own", "name", "is_list"), [("", "post", True), (2 * PROSE, "post", False), ("", "comment", False)]
)
def test_posts_below_links_are_a_list_where_a_page_says_nothing_else(
    own: str, name: str, is_list: bool
) -> None:
    """The archive of WordPress's own theme of 2023, whose heading is no link."""
    posts = "".join(
        f'<li class="wp-block-{name} {name} hentry"><h2 class="wp-block-post-title"><a href="/2023/{n}/">'
        f"Ten facts on lamp {n}</a></h2><div><p>{PROSE}</p></div>"
        f'<div><time datetime="2023-12-2{n}"><a href="/2023/{n}/">December 2{n}, 2023</a></time></div></li>'
        for n in range(5)
    )
    heading = '<h1 class="wp-block-query-title">Author: <span>Ann Lee</span></h1>'
    markup = f'<title>Ann Lee</title><body class="archive author"><main>{heading}{own}<ul>{posts}</ul></main>'
    kind = content(Page(markup, "https://light.example/author/ann/")).page_type
    assert (kind == "listing") is is_list


def test_the_ways_to_the_pages_before_and_after_are_none_of_a_chapter() -> None:
    way = '<td><a href="{0}.html"><img src="{0}.png" alt="{0}"></a></td>'.format
    tables = [
        f'<div class="{part}"><table><tr><th colspan=3>{title}</th></tr><tr>{way("prev")}'
        f"<th>Chapter 6. Wicks</th>{way('next')}</tr></table><hr></div>"
        for part, title in (("navheader", "6.4. Oil"), ("navfooter", "6.5. The stairs"))
    ]
    section = f'<div class="sect1"><h2 class="title">6.4. Oil</h2><p>{PROSE[:101]}</p></div>'
    found = content(Page(f"<title>6.4. Oil</title>{tables[0]}{section}{tables[1]}"))
    assert found.text.split("\n") == ["6.4. Oil", PROSE[:101].strip()]


@pytest.mark.parametrize(("kept", "found"), [({0, 1, 4}, {0, 1, 2, 3, 4}), ({0, 3}, {0})])
def test_the_contents_of_a_chapter_are_read_whole_or_not_at_all(kept: set[int], found: set[int]) -> None:
    contents = "".join(
        f"<dt><a href=#{part}>{part} of lamps</a>" for part in ("Oil", "Wicks", "Tin", "Towers")
    )
    blocks = blocks_of(parse(f"<p>{PROSE}</p><dl>{contents}</dl>"))
    keep = np.array([number in kept for number in range(5)])
    table, names = block_features(blocks, "", "")
    whole_lists(blocks, keep, dict(zip(names, table, strict=True)))
    assert {*np.flatnonzero(keep).tolist()} == found


def test_contents_that_are_most_of_a_page_are_read_chapter_by_chapter() -> None:
    """As DocBook writes them: lists within a list."""
    parts = [[f"{part} of {what} lamps" for part in ("Oil", "Wicks", "Tin")] for what in ("small", "tall")]
    chapters = "".join(
        f"<dt>{names[0]}</dt><dd><dl>{''.join(f'<dt><a href=#{n}>{name}</a></dt>' for n, name in enumerate(names))}</dl></dd>"
        for names in parts
    )
    blocks = blocks_of(parse(f"<dl>{chapters}</dl>"))
    keep = np.zeros(len(blocks.texts), bool)
    keep[[1, 2]] = True  # most of the first chapter, and nothing of the second
    table, names = block_features(blocks, "", "")
    whole_lists(blocks, keep, dict(zip(names, table, strict=True)))
    assert np.flatnonzero(keep).tolist() == [1, 2, 3]
