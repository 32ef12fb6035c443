"""What a page loads: mixed content, what blocks rendering, images, and facts beside them."""

from __future__ import annotations

from typing import Any

import pytest

from webanalytics.page.facts.facts import analyse
from webanalytics.page.facts.resources import FIRST_IMAGES
from webanalytics.page.page import Page
from webanalytics.urls import registrable_domain

BASE = "https://a.example/b/"


def facts(html: str | bytes, url: str = BASE, content_type: str = "text/html") -> dict[str, Any]:
    return analyse(Page(html, url, url, content_type))


@pytest.mark.parametrize(
    ("html", "loaded"),
    [
        ("<style>p { background: url(http://x.example/a.png) }</style>", ["http://x.example/a.png"]),
        ("<style>p { background: URL( 'HTTP://x.example/a b.png' ) }</style>", ["HTTP://x.example/a"]),
        ('<style>@import "http://x.example/a.css";</style>', ["http://x.example/a.css"]),
        ("<style>@import url(http://x.example/a.css) print;</style>", ["http://x.example/a.css"]),
        ("<style>/* url(http://x.example/a.png) */ p { color: red }</style>", []),
        ("<style>@namespace svg url(http://www.w3.org/2000/svg);</style>", []),
        (
            "<style>p { background: url(\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'>\") }</style>",
            [],
        ),
        ("<style>p { background: url(https://x.example/a.png) }</style><p>http://x.example/", []),
        ("<p style=\"background:url('http://x.example/a.png')\">", ["http://x.example/a.png"]),
        ("<p style='background:url(&quot;http://x.example/a.png&quot;)'>", ["http://x.example/a.png"]),
        ("<p style='background:url(/a.png)' title='url(http://x.example)'>", []),
        ("<input type=Image src=http://x.example/a.png>", ["http://x.example/a.png"]),
        ("<input type=text src=http://x.example/a.png>", []),
        ("<noscript><style>p { background: url(http://x.example/a.png) }</style></noscript>", []),
    ],
)
def test_mixed_content(html: str, loaded: list[str]) -> None:
    assert facts(html)["mixed_content"] == loaded
    assert facts(html, "http://a.example/")["mixed_content"] == []


def test_a_meta_element_upgrades_requests() -> None:
    policy = '<meta http-equiv=Content-Security-Policy content="default-src *; upgrade-insecure-requests">'
    found = facts(f"{policy}<img src=http://x.example/a.png><form action=http://x.example/>")
    assert found["mixed_content"] == found["insecure_forms"] == []
    assert found["meta_policy"] == "default-src *; upgrade-insecure-requests"


@pytest.mark.parametrize(
    ("html", "sent"),
    [
        ("<form><button formaction=http://x.example/go>Go</button></form>", ["http://x.example/go"]),
        ("<form><input type=submit formaction='HTTP://x.example/go'></form>", ["HTTP://x.example/go"]),
        ("<form><button formaction=/go>Go</button></form>", []),
    ],
)
def test_buttons_may_send_a_form_elsewhere(html: str, sent: list[str]) -> None:
    assert facts(html)["insecure_forms"] == sent


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<head><script src=a.js></script>", True),
        ("<head><script src=a.js type='text/javascript; charset=utf-8'></script>", True),
        *(
            (f"<head><script src=a.js {how}></script>", False)
            for how in ("async", "defer", "nomodule", "type=module")
        ),
        ("<head><script>go()</script>", False),
        ("<head><script src=a.json type=application/json></script>", False),
        ("<body><script src=a.js></script>", False),
    ],
)
def test_scripts_that_block(html: str, blocks: bool) -> None:
    assert facts(html)["blocking_scripts"] == (["https://a.example/b/a.js"] if blocks else [])


@pytest.mark.parametrize(
    ("attributes", "blocks"),
    [
        ("", True),
        ("media=Screen", True),
        ("media=print", False),
        ("media='(min-width: 900px)'", False),
        ("disabled", False),
        ("rel='alternate stylesheet'", False),
        ("rel=preload as=style", False),
    ],
)
def test_style_sheets_that_block(attributes: str, blocks: bool) -> None:
    html = f"<head><link {attributes} rel=stylesheet href=a.css>"
    assert facts(html)["blocking_styles"] == (["https://a.example/b/a.css"] if blocks else [])


def test_images_after_the_first_few_should_wait() -> None:
    first = "<img src=a.webp>" * FIRST_IMAGES
    assert facts(first)["images_not_lazy"] == []
    assert facts(f"{first}<img src=b.webp>")["images_not_lazy"] == ["https://a.example/b/b.webp"]
    plugins = ("lazy-src", "lazyload", "original", "delay-src", "wpfc-original-src", "cl-lazy-srcset")
    for late in ("loading=Lazy", "data-src=c.webp", *(f"data-{name}=c.webp" for name in plugins)):
        assert facts(f"{first}<img src=b.webp {late}>")["images_not_lazy"] == []
    for other in ("zoom-src", "src-2x", "orig-file", "mce-src"):  # for a closer look, or of an editor
        assert facts(f"{first}<img src=b.webp data-{other}=c.webp>")["images_not_lazy"]
    pixels = "<img src=p.gif width=1 height=1><img src='data:image/gif;base64,R0'>" * FIRST_IMAGES
    assert facts(f"{pixels}<img src=b.webp>")["images_not_lazy"] == []


@pytest.mark.parametrize(
    ("html", "old"),
    [
        ("<img src=a.jpg>", True),
        ("<img src=a.JPEG?v=1>", True),
        ("<img src=a.png width=64>", False),
        ("<img src=a.png width=65 height=65>", True),
        ("<img src=a.webp>", False),
        ("<img src=a.svg>", False),
        ("<img src='a.jpg?format=webp'>", False),
        ("<img src='a.jpg?auto=format'>", False),
        ("<img src=a.jpg srcset='a.avif 2x'>", False),
        ("<picture><source type=image/webp srcset=a><img src=a.jpg></picture>", False),
        ("<picture><source media=print srcset=b.jpg><img src=a.jpg></picture>", True),
        ("<img src=a.jpg.html>", False),
    ],
)
def test_images_in_old_formats(html: str, old: bool) -> None:
    assert bool(facts(html)["images_in_old_formats"]) == old


@pytest.mark.parametrize(
    ("html", "alone"),
    [
        ("<img src=a.webp width=601>", True),
        ("<img src=a.webp width=600>", False),
        ("<img src=a.webp width=100%>", False),
        ("<img src=a.svg width=900>", False),
        ("<img src=a.webp width=900 srcset='b.webp 2x'>", False),
        ("<picture><source srcset=b.webp><img src=a.webp width=900></picture>", False),
    ],
)
def test_large_images_in_one_size(html: str, alone: bool) -> None:
    assert bool(facts(html)["images_without_srcset"]) == alone


def test_elements_are_counted_as_a_browser_has_them() -> None:
    assert (
        facts("<p>Tea<p>Milk<!-- no --><noscript><b></noscript>")["elements"] == 6
    )  # html, head, body, noscript


def test_amp_and_referrer_policy() -> None:
    page = facts("<html ⚡><meta name=Referrer content=no-referrer><link rel=amphtml href=/amp#x>")
    assert (page["amp"], page["amphtml"], page["meta_referrer"]) == (
        True,
        "https://a.example/amp#x",
        "no-referrer",
    )
    assert not facts("<p>Tea")["amp"]
    assert facts("<body><p>Tea<link rel=amphtml href=/amp>")["amphtml"] == ""


def test_a_language_in_xml_alone() -> None:
    assert facts('<html xml:lang="de"><p>Tee')["xml_lang"] == "de"
    assert facts('<html lang="de" xml:lang="de"><p>Tee')["xml_lang"] == ""


def test_own_subdomains_are_told_from_other_sites() -> None:
    links = ("/a", "https://shop.example.co.uk/", "https://example.co.uk/", "https://other.co.uk/")
    found = facts("".join(f"<a href={link}>x</a>" for link in links), "https://www.example.co.uk/")
    assert (found["internal_links"], found["external_links"], found["subdomain_links"]) == (1, 3, 2)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.b.example.co.uk", "example.co.uk"),
        ("one.github.io", "one.github.io"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:80", "[::1]"),
        ("co.uk", "co.uk"),
        ("shop.xn--bcher-kva.de", "xn--bcher-kva.de"),
    ],
)
def test_registrable_domains(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
