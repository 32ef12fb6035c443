"""The fast search for main texts, compared with trafilatura's public functions."""

from __future__ import annotations

import logging
import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from lxml import etree
from trafilatura import xpaths

from webanalytics.page.document import as_lxml
from webanalytics.page.page import Page
from webanalytics.page.text import main_text as module
from webanalytics.page.text.main_text import FAST, STANDARD, WIDE, main_text
from webanalytics.page.text.one_walk import Tree
from webanalytics.page.text.own_mode import PROBES, own_mode
from webanalytics.page.text.stages import Stages
from webanalytics.page.text.verdicts import UnknownExpressionError, Verdicts
from webanalytics.page.tree import parse

SENTENCE = "The leaves of the tea plant are picked by hand, and dried in the sun before they are packed."
LONG = "".join(f"<p>{SENTENCE} That was part {number}.</p>" for number in range(5))


MODES = {"fast": FAST, "wide": WIDE, "standard": STANDARD}


def public(html: str) -> str:
    return module._public_text(parse(html), FAST) or ""


def own(html: str) -> str | None:
    return Stages(parse(html)).text(FAST)


@pytest.mark.parametrize("mode", MODES)
def test_the_corpus_reads_as_by_trafilatura(mode: str, corpus_pages: dict[str, bytes]) -> None:
    """No page differs; a few without paragraphs are left to trafilatura in its wide mode."""
    left, different = [], []
    for name, content in corpus_pages.items():
        document = Page(content).document
        text = Stages(document).text(MODES[mode])
        if text is None:
            left.append(name)
        elif text != (module._public_text(document, MODES[mode]) or ""):
            different.append(name)
    assert different == []
    assert len(left) <= (4 if mode == "wide" else 0)


def test_modes_one_after_another_read_as_alone(corpus_pages: dict[str, bytes]) -> None:
    """The standard mode goes on from what the fast one found, but not where that took all of the page."""
    pages = [parse(made_up(seed)) for seed in range(1_000, 1_060)]
    for document in [*pages, *(Page(content).document for content in list(corpus_pages.values())[::4])]:
        stages = Stages(document)
        assert [stages.text(mode) for mode in MODES.values()] == [
            Stages(document).text(mode) for mode in MODES.values()
        ]


@pytest.mark.parametrize(
    "inner",
    [
        "<ul><li>One<li>Two <b>bold</b><ul><li>In<li></ul><li><a href=/x>Link</a></ul>",
        "<dl><dt>Term<dd>Meaning<dd>Other</dl><li>Loose item",
        "<table><caption>Name</caption><thead><tr><th>A<th>B<tbody><tr><td>1<td colspan=2>2<table><tr><td>in</table></table>after",
        "<table role=presentation><tr><td><p>Layout</p></table>",
        "<table><tr><td><a href=/1>One link of many</a><td><a href=/2>Another one of them</a></table>" * 4,
        "<pre>let x = {}</pre><pre><span class=hljs-k>if</span> x</pre><pre><span>one</span></pre><pre>plain</pre>",
        "<div class=highlight><pre>a b c</pre></div><div class='x w3-code y'>code here</div><code>inline</code>",
        "<blockquote lang=py>print</blockquote><q>quoted <p>inside</p></q>",
        "text <del>old</del> <s>new</s> more<br>line<hr>rule",
        "<details><summary>Sum</summary>Body <ul><li>of it</ul></details><summary>Loose</summary>",
        "<figure><img><figcaption>Caption</figcaption></figure><figure><table><tr><td>In figure</table></figure>",
        "<form><p>Search</p></form><div><form></form></div><div><kbd></kbd></div><fieldset>Field</fieldset>",
        "<math display=block><semantics><annotation encoding=application/x-tex>a^2</annotation></semantics></math> x",
        "<p>E = <math alttext='mc^2'></math> and <sub>2</sub><sup></sup> H<tt>2</tt>O</p>",
        "<p>By <span class=author>Ann</span>, <time>today</time></p><div class=cookie-note>We use</div>",
        "<div id=a class=cookie>kept</div><div class=cookie id=a>dropped</div><p id=x style='visibility:hidden'>y</p>",
        "<div style='display: none'>no</div><div aria-hidden=true>no</div><span class='x hidden'>no</span>",
        "<div class=caption>no</div><div id=BigTeaser>no</div><div data-component=MostPopularStories>no</div>",
        "<section class=comment-list><p>First!</p></section><ol id=comments><li>Second</ol><ul class=commentary><li>Yes</ul>",
        "<div class=infinite-scroll><p>Next page</p></div><div class='mvp-post-add-box'><h1>Other</h1></div>",
        "<div class='elementor-share-buttons widget'>Share</div>",
        "".join(f"<p><a href=/{n}>Chapter {n}</a></p>" for n in range(9)),
        "".join(f"<div><a href=/{n}>{SENTENCE}</a></div>" for n in range(6)),
        "<div><a href=/1>One</a> <a href=/2>Two</a> <a href=/3>Three</a></div><p>Read also: <a href=/x>Ten things of tea</a></p>",
        "<a href=/x>Link in the frame</a> tail <font>font</font><center>centre</center><unknown-tag>own</unknown-tag>",
        f"<p>{SENTENCE}</p>" * 2,
        "<h2>Head <a href=/x>link</a></h2><h3 class=hidden>Shown, for headings lose their class</h3><h4></h4>",
        "Facebook<p>Facebook</p><p>E-Mail</p><p> </p><p><br></p><div> </div>",
    ],
)
def test_kinds_of_elements(inner: str) -> None:
    for before, after in (
        ("<article>", "</article>"),
        ("<div class=post-content>", "</div>"),
        ("<main>", "</main>"),
    ):
        html = f"<body>{before}Lead{LONG}{inner}{LONG.upper()}{after}<p>Outside of the frame</p>"
        assert own(html) == public(html)
    html = f"<body><div class=wide>{inner}<div>{LONG}</div>{inner}</div>"
    assert own(html) in (public(html), None)


TAGS = [
    "div",
    "div",
    "div",
    "p",
    "p",
    "span",
    "a",
    "a",
    "ul",
    "li",
    "ol",
    "h2",
    "section",
    "article",
    "table",
    "tr",
    "td",
    "blockquote",
    "pre",
    "q",
    "b",
    "em",
    "br",
    "form",
    "details",
    "summary",
    "main",
]
NAMES = [
    "content",
    "main",
    "article-body",
    "post-content",
    "menu",
    "sidebar",
    "share",
    "hidden",
    "comment",
    "comments",
    "teaser",
    "caption",
    "cookie",
    "widget",
    "ad",
    "text",
    "story",
    "nav",
    "footer",
    "related",
    "highlight",
    "entry",
    "col-md-6",
    "row",
    "x",
]


def made_up(seed: int) -> str:
    """Return a page of elements by chance, with names that extractors look for."""
    chance = random.Random(seed)

    def attributes() -> str:
        found = ""
        for name in chance.sample(("class", "id", "style", "role"), chance.choice((0, 0, 1, 1, 2))):
            if name == "style":
                value = chance.choice(("display:none", "color:red", "visibility: hidden"))
            else:
                value = " ".join(chance.choices(NAMES, k=chance.choice((1, 1, 2, 3))))
            found += f' {name}="{value}"'
        return found

    def inside(depth: int) -> Iterator[str]:
        for _ in range(chance.randint(0, 5)):
            kind = chance.random()
            if depth > 6 or kind < 0.45:
                yield chance.choice(
                    (SENTENCE, "Tea ", " ", "Read also: ", "One, two. ", f"{SENTENCE} {chance.random()} ")
                )
            else:
                tag = chance.choice(TAGS)
                yield f"<{tag}{attributes()}>{''.join(inside(depth + 1))}</{tag}>"

    return f"<body>{''.join(''.join(inside(0)) for _ in range(8))}"


@pytest.mark.parametrize("mode", MODES)
def test_made_up_pages_read_as_by_trafilatura(mode: str) -> None:
    left = 0
    for seed in range(300):
        document = parse(made_up(seed))
        text = Stages(document).text(MODES[mode])
        left += text is None
        assert text in (None, module._public_text(document, MODES[mode]) or ""), seed
    assert left < (100 if mode == "wide" else 1)


def test_the_page_is_not_modified(corpus_pages: dict[str, bytes]) -> None:
    document = Page(next(iter(corpus_pages.values()))).document
    before = etree.tostring(as_lxml(document.elements))
    stages = Stages(document)
    for mode in MODES.values():
        stages.text(mode)
    assert etree.tostring(document.tree) == etree.tostring(as_lxml(document.elements)) == before


def test_a_forum_keeps_its_posts() -> None:
    posts = f"<div class=comment-list>{LONG.replace('part', 'post')}</div>"
    html = f"<body><article>{LONG}{posts}</article>"
    data = '<script type="application/ld+json">{"@type": ["A", "DiscussionForumPosting"]}</script>'
    assert "post 3" not in main_text(Page(html))
    assert "post 3" in main_text(Page(data + html))


def test_references_among_most_paragraphs_stay() -> None:
    reference = "<p>Read also: <a href=/x>Ten things about tea</a></p>"
    kept = Tree(parse(f"<div>{reference * 3}<p>{SENTENCE}</p><nav><p>x<p>x</nav></div>"))
    assert len(kept.root.findall(".//p")) == 4
    dropped = Tree(parse(f"<div>{reference * 2}<p>{SENTENCE}</p><p>{SENTENCE}</p></div>"))
    assert len(dropped.root.findall(".//p")) == 2


EXPRESSIONS = [
    *xpaths.RAW_TREE_PRUNE_XPATH,
    *xpaths.REMOVE_COMMENTS_AND_LISTS_XPATH,
    *xpaths.OVERALL_DISCARD_XPATH,
    *xpaths.TEASER_DISCARD_XPATH,
    *xpaths.DISCARD_IMAGE_ELEMENTS,
    *xpaths.PRECISION_DISCARD_XPATH[:1],
]


def test_verdicts_are_those_of_the_expressions(corpus_pages: dict[str, bytes]) -> None:
    verdicts = Verdicts({1 << number: [path] for number, path in enumerate(EXPRESSIONS)})
    pages = [parse(made_up(seed)).tree for seed in range(40)]
    pages += [Page(content).tree for content in list(corpus_pages.values())[::4]]
    for tree in pages:
        said = {
            element: verdicts.of(str(element.tag), dict(element.attrib), element.find(".//h1") is not None)
            for element in tree.iterdescendants()
        }
        for number, path in enumerate(EXPRESSIONS):
            assert set(path(tree)) == {element for element, bits in said.items() if bits >> number & 1}


@pytest.mark.parametrize(
    ("condition", "attributes"),
    [
        ("re:test(@class, '^a | b$|x[.]y| c |(?:^| )d-')", ["a b", "a", "b a", "q b", "x.y", "c", "q c q", "q d-x", "d-x"]),
        ("re:test(@class, 'a b|c\\s+d')", ["a b", "a  b", "c d", "x a b y"]),
        ("@class='a b' or @class='c'", ["a b", "c", "c d", "b a"]),
        ("contains(translate(@class, 'MC', 'mc'), 'main-content')", ["Main-Content", "mAIN-content", "main-content"]),
        ("starts-with(@class, 'a.b')", ["a.b", "axb", "a.b c", "c a.b"]),
        ("re:test(@class, 'FullText', 'i')", ["x fulltext", "full text"]),
    ],
)  # fmt: skip
def test_conditions_on_several_names(condition: str, attributes: list[str]) -> None:
    path = etree.XPath(f".//*[{condition}]", namespaces={"re": xpaths.REGEXP_NS})
    verdicts = Verdicts({1: [path]})
    for value in attributes:
        tree = parse(f'<div class="{value}">').tree
        assert bool(verdicts.of("div", {"class": value})) == bool(path(tree)), value


@pytest.mark.parametrize(
    "source",
    [
        "//div",
        ".//div/p",
        ".//*[contains(text(), 'x')]",
        ".//*[position() < 3]",
        ".//*[re:test(@class, 'x*')]",
        ".//*[.//h2]",
        ".//*[string-length(@class) > 3]",
    ],
)
def test_other_expressions_are_refused(source: str) -> None:
    path = etree.XPath(source, namespaces={"re": xpaths.REGEXP_NS})
    with pytest.raises(UnknownExpressionError):
        Verdicts({1: [path]})


def test_the_installed_version_is_read_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    """Where this fails for a new version, the package works as before, and slower."""
    assert own_mode.__wrapped__(module._public_text, tuple(MODES.values())) is Stages
    assert caplog.records == []


def test_another_version_is_left_to_its_public_functions(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "webanalytics"):
        assert own_mode.__wrapped__(lambda *_: "Another text", (FAST,)) is None
        monkeypatch.delattr(xpaths, "RAW_TREE_PRUNE_XPATH")
        for name in ("fast_text", "one_walk", "stages"):
            monkeypatch.delitem(sys.modules, f"webanalytics.page.text.{name}")
        assert own_mode.__wrapped__(module._public_text, (FAST,)) is None
    assert ["reads a page differently" in record.message for record in caplog.records] == [True, False]


def test_without_the_fast_search_the_text_is_the_same(
    monkeypatch: pytest.MonkeyPatch, corpus_pages: dict[str, bytes]
) -> None:
    pages = list(corpus_pages.values())[:5]
    with_it = [main_text(Page(content)) for content in pages]
    asked: list[Any] = []
    monkeypatch.setattr(module, "own_mode", lambda *_: asked.append(1))
    assert [main_text(Page(content)) for content in pages] == with_it
    assert asked


@pytest.mark.parametrize("probe", range(len(PROBES)))
def test_probes(probe: int) -> None:
    assert own(PROBES[probe]) == public(PROBES[probe])
