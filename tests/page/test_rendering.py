"""Which pages look empty without scripts, and what is said of the difference."""

from __future__ import annotations

import pytest

from webanalytics.page.page import Page
from webanalytics.page.rendering import LONGEST, MOST, analyse, look, needs_scripts

# The bodies that build tools write, shortened: create-vite (React, Vue, Svelte), Angular, Next, Nuxt, Gatsby.
EMPTY = {
    "react": '<body><div id="root"></div></body><script type="module" src="/assets/index-1.js"></script>',
    "vue": '<script type="module" crossorigin src="/assets/index.js"></script><body><div id="app"></div></body>',
    "svelte": '<body><div id="app"></div><script type="module" src="/assets/index.js"></script></body>',
    "angular": "<body><app-root></app-root><script src=polyfills.js type=module></script></body>",
    "angular, loading": "<body><app-root>Loading...</app-root><script src=main.js type=module></script></body>",
    "next, in the client": '<body><div hidden=""></div><script src="/_next/static/chunks/main.js" async></script></body>',
    "create-react-app": "<body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
    "<script src=/static/js/main.js></script></body>",
    "a menu and a place": "<header>"
    + "Menu entry " * 30
    + "</header><main id=app></main><script src=a.js></script>",
    "a sentence that asks": "<p>Please wait while the shop opens.</p><noscript>Turn on JavaScript</noscript>"
    "<script>start()</script>",
}
FULL = {
    "next, exported": "<body><main><h1>Storm lanterns</h1><p>"
    + "The keeper lit the lamp. " * 10
    + "</p></main>"
    '<script src="/_next/static/chunks/main.js" async></script></body>',
    "vue, on the server": "<div id=app data-server-rendered=true><p>"
    + "The keeper lit it. " * 20
    + "</p></div>"
    "<script type=module src=/assets/index.js></script>",
    "plain and short": "<h1>Contact</h1><p>Call us.</p><script src=analytics.js></script>",
    "no script": "<div id=root></div>",
    "data alone": '<div id=root></div><script type="application/ld+json">{}</script>',
    "a pixel for those without": "<p>Short page.</p><noscript><img src=/pixel></noscript><script>go()</script>",
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_scripts_fill_looks_empty(name: str) -> None:
    assert needs_scripts(Page(f"<!doctype html><title>{name}</title>{EMPTY[name]}"))


@pytest.mark.parametrize("name", FULL)
def test_what_has_its_content_does_not(name: str) -> None:
    assert not needs_scripts(Page(f"<!doctype html><title>{name}</title>{FULL[name]}"))


SENT = """<title>App</title><meta name=robots content=noindex><link rel=canonical href=/>
<div id=root><a href=/old>Old</a></div><script src=a.js></script>"""
RENDERED = """<title>Lanterns</title><meta name=robots content=index><link rel=canonical href=/lamps>
<div id=root><h1>Lamps</h1><a href=/new>New</a></div><script type=application/ld+json>{"@type": "Product"}</script>"""


def test_what_scripts_change_is_told_one_by_one() -> None:
    url = "https://a.example/lamps"
    seen = {"rendered": True, "errors": ("TypeError: x",), "failed": (("https://a.example/api", "HTTP 500"),)}
    answer = analyse(Page(RENDERED, url), look(Page(SENT, url), whole=True), seen)
    found = {(entry["what"], entry["sent"], entry["rendered"]) for entry in answer["rendering"]}
    assert found == {
        ("title", "App", "Lanterns"),
        ("canonical", "https://a.example/", "https://a.example/lamps"),
        ("robots", "noindex", "index"),
        ("heading", "", "h1 Lamps"),
        ("link", "https://a.example/old", ""),
        ("link", "", "https://a.example/new"),
        ("structured", "", "Product"),
        ("text", "Old", ""),
        ("text", "", "Lamps"),
        ("text", "", "New"),
        ("console", "", "TypeError: x"),
        ("failed", "https://a.example/api", "HTTP 500"),
    }
    assert (answer["words_without_scripts"], answer["rendered_words"]) == (1, 2)


def test_nothing_is_cut_in_silence() -> None:
    many = "".join(f"<p>{number}{'x' * 400}</p>" for number in range(MOST + 7))
    answer = analyse(Page(many), look(Page("<div id=root></div><script>1</script>")), {"rendered": True})
    texts = [entry["rendered"] for entry in answer["rendering"]]
    assert len(texts) == MOST + 1
    assert texts[-1] == "and 7 more"
    assert len(texts[0]) == LONGEST


def test_a_page_that_was_not_rendered_says_its_words_alone() -> None:
    answer = analyse(Page("<p>Three words here<script>1</script>"))
    assert answer["rendering"] == []
    assert (answer["rendered"], answer["rendered_words"], answer["words_without_scripts"]) == (False, None, 3)
