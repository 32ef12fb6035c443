"""Facts of hand-made pages, one rule of reading each."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.operations import FACTS
from webanalytics.page.facts import facts
from webanalytics.page.facts.facts import FactElements
from webanalytics.page.page import Page, collected
from webanalytics.page.text.main import main_text

URL = "https://shop.example/tea/green.html"


def read(html: str | bytes, url: str = URL) -> dict[str, Any]:
    return facts.analyse(Page(html, url, url, "text/html"))


def test_the_result_has_the_declared_fields_in_their_order() -> None:
    assert list(read("<p>x")) == [field.name for field in FACTS.fields]


def test_an_empty_page_says_nothing() -> None:
    found = read("<p></p>")
    counts = ("internal_links", "external_links", "images", "elements")
    assert [found.pop(name) for name in counts] == [0, 0, 0, 4]
    assert not any(found.values())


def test_what_is_no_page_is_an_error() -> None:
    with pytest.raises(RowError):
        read("")


@pytest.mark.parametrize(
    ("html", "titles"),
    [
        ("<title> Green\n tea </title>", ["Green tea"]),
        ("<title></title>", [""]),
        ("<title>One</title><title>Two</title>", ["One", "Two"]),
        ("<title>One</title><svg><title>Drawing</title></svg>", ["One"]),
        ("<title>A &amp; B</title>", ["A & B"]),
        ("<noscript><title>No</title></noscript><title>Yes</title>", ["Yes"]),
    ],
)
def test_titles(html: str, titles: list[str]) -> None:
    assert read(html)["titles"] == titles


def test_descriptions_with_empty_ones() -> None:
    html = (
        "<meta name=Description content=' One '><meta name=description><meta name='og:description' content=x>"
    )
    assert read(html)["descriptions"] == ["One", ""]


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ('<link rel=canonical href="/a">', {"href": "/a", "url": "https://shop.example/a"}),
        ('<link rel="shortlink Canonical" href="b?x=1#c">', {"href": "b?x=1#c", "url": "https://shop.example/tea/b?x=1#c"}),
        ('<link rel=canonical href=" https://Shop.EXAMPLE:443 ">', {"href": "https://Shop.EXAMPLE:443", "url": "https://shop.example/"}),
        ("<link rel=canonical>", {"href": "", "url": ""}),
        ('<base href="https://other.example/x/"><link rel=canonical href=y>', {"href": "y", "url": "https://other.example/x/y"}),
    ],
)  # fmt: skip
def test_canonicals(html: str, wanted: dict[str, str]) -> None:
    assert read(html)["canonicals"] == [wanted]


def test_every_canonical_is_kept_in_order() -> None:
    html = "<link rel=canonical href=/1><p><link rel=canonical href=/2>"
    assert [item["href"] for item in read(html)["canonicals"]] == ["/1", "/2"]


def test_alternates_in_other_languages() -> None:
    html = (
        '<link rel=alternate hreflang="de-AT" href="/at/"><link rel=alternate hreflang=x-default href="/">'
        '<link rel="alternate stylesheet" hreflang=en href=/s.css><link rel=alternate type="application/rss+xml" href=/rss>'
        '<a rel=alternate hreflang=fr href="/fr/">Fr</a><link rel=alternate hreflang="" href="/none">'
    )
    assert read(html)["hreflangs"] == [
        {"lang": "de-AT", "url": "https://shop.example/at/"},
        {"lang": "x-default", "url": "https://shop.example/"},
        {"lang": "", "url": "https://shop.example/none", "place": "body"},
    ]


@pytest.mark.parametrize(
    ("html", "outside"),
    [
        ("<html><head><title>x</title><link rel=canonical href=/></head><body><p>x</body></html>", []),
        ("<head><title>x</title></head><body><link rel=canonical href=/><p>x", ["canonical"]),
        ("<head><div>broken</div><title>x</title><meta name=description content=y></head><body>", ["title", "description"]),
        ("<body><p>x<link rel=alternate hreflang=de href=/de/>", ["hreflang"]),
        ("<link rel=canonical href=/><p>no tags of head and body at all", []),
        ("<body><svg><title>x</title></svg>", []),
        ("<head><title>x</title><link rel=canonical href=/a></head><body><title>Menu</title><link rel=canonical href=/b>", []),
        ("<head><title> </title><meta name=description></head><body><title>x</title>", ["title"]),
    ],
)  # fmt: skip
def test_what_stands_outside_the_head(html: str, outside: list[str]) -> None:
    assert read(html)["outside_head"] == outside


@pytest.mark.parametrize(
    ("html", "refresh"),
    [
        ('<meta http-equiv=Refresh content="5; url=/next">', "5; url=/next"),
        ('<noscript><meta http-equiv=refresh content="0; url=/noscript"></noscript>', ""),
        ('<meta http-equiv=refresh><meta http-equiv=refresh content="600">', "600"),
        ("<meta name=refresh content=5>", ""),
    ],
)
def test_meta_refresh(html: str, refresh: str) -> None:
    assert read(html)["refresh"] == refresh


IMAGES = {
    "no alt": ("<img src=/i.png width=9 height=9>", "images_without_alt"),
    "empty alt": ("<img src=/i.png width=9 height=9 alt>", "images_with_empty_alt"),
    "blank alt": ("<img src=/i.png width=9 height=9 alt=' \n '>", "images_with_empty_alt"),
    "hidden no": ("<img src=/i.png width=9 height=9 alt='' aria-hidden=false>", "images_with_empty_alt"),
    "decorative, no alt": ("<img src=/i.png width=9 height=9 role=presentation>", "images_without_alt"),
    "no size": ("<img src=/i.png alt=x>", "images_without_size"),
    "no height": ("<img src=/i.png alt=x width=9>", "images_without_size"),
    "empty width": ("<img src=/i.png alt=x width='' height=9>", "images_without_size"),
    "decorative": ("<img src=/i.png width=9 height=9 alt='' role=presentation>", None),
    "none": ("<img src=/i.png width=9 height=9 alt='' role=None>", None),
    "hidden": ("<img src=/i.png width=9 height=9 alt='' aria-hidden=true>", None),
    "pixel": ("<img src=/i.png alt=x width=1>", None),
    "empty alt, pixel": ("<img src=/i.png alt='' width=2 height=1px>", None),
    "beside text": ("<a href=/><b><img src=/i.png width=9 height=9 alt=''></b> <i>Tea</i></a>", None),
    "in a button": ("<button><img src=/i.png width=9 height=9 alt=''> Buy</button>", None),
    "alone in a link": ("<a href=/> <img src=/i.png width=9 height=9 alt=''> </a>", "images_with_empty_alt"),
    "link beside it": (
        "<p><img src=/i.png width=9 height=9 alt=''><a href=/>Tea</a>",
        "images_with_empty_alt",
    ),
    "data": ("<img src='data:image/gif;base64,R0' alt=x>", None),
    "good": ("<img src=/i.png width=9 height=9 alt='A cup'>", None),
    "alt of 100": (f"<img src=/i.png width=9 height=9 alt='{'a' * 100}'>", None),
    "blanks do not count": (f"<img src=/i.png width=9 height=9 alt='{' a' * 40}{'  ' * 40}'>", None),
}


@pytest.mark.parametrize(("html", "told"), IMAGES.values(), ids=list(IMAGES))
def test_images(html: str, told: str | None) -> None:
    found = read(html)
    lists = ("images_without_alt", "images_with_empty_alt", "images_without_size", "images_with_long_alt")
    assert found["images"] == 1
    assert {name: found[name] for name in lists if found[name]} == (
        {told: ["https://shop.example/i.png"]} if told else {}
    )


def test_a_long_alternative_text_is_shown_with_its_image() -> None:
    text = "A cup of green tea " * 6
    (entry,) = read(f"<img src=i.png alt='{text}'>")["images_with_long_alt"]
    assert entry == {"alt": text.strip(), "src": "https://shop.example/tea/i.png"}


def test_images_that_are_not_shown_are_not_counted() -> None:
    html = (
        "<img src=1 alt=x><noscript><img src=2></noscript><template><img src=3></template>"
        "<div><template shadowrootmode=open><img src=4 alt=x></template></div>"
    )
    assert read(html)["images"] == 2


def test_the_source_of_an_image_that_scripts_load_later() -> None:
    html = (
        "<img src='data:image/gif;base64,R0lGODlhAQABA' data-src=/real.png><img src='data:image/png;base64,"
    )
    found = read(html + "A" * 5000 + "'>")["images_without_alt"]
    assert found[0] == "https://shop.example/real.png"
    assert found[1].startswith("data:image/png;base64,AAA")
    assert len(found[1]) < 100
    late = read(
        "<img src='data:image/svg+xml,' data-lazy=true data-lazy-src=/real.png><img data-original={}>"
    )
    assert late["images_without_alt"] == ["https://shop.example/real.png", ""]


MIXED = {
    "img": "<img src='http://a.example/x'>",
    "srcset": "<img src=/y srcset='/y 1x, http://a.example/x 2x'>",
    "srcset without space": "<img src=/y srcset='http://a.example/x,https://a.example/y 2x'>",
    "script": "<script src='http://a.example/x'></script>",
    "stylesheet": "<link rel=stylesheet href='http://a.example/x'>",
    "icon": "<link rel='shortcut icon' href='http://a.example/x'>",
    "preload": "<link rel=preload as=font href='http://a.example/x'>",
    "iframe": "<iframe src='HTTP://a.example/x'></iframe>",
    "audio": "<audio src='http://a.example/x'></audio>",
    "video": "<video src='http://a.example/x'></video>",
    "poster": "<video poster='http://a.example/x'></video>",
    "source": "<picture><source srcset='http://a.example/x'><img src=/y alt=x></picture>",
    "object": "<object data=' http://a.example/x'></object>",
    "character reference": "<img src='http&#58;//a.example/x'>",
}


@pytest.mark.parametrize("html", MIXED.values(), ids=list(MIXED))
def test_mixed_content(html: str) -> None:
    found = read(html)["mixed_content"]
    assert [url.lower().split(",")[0] for url in found] == ["http://a.example/x"]
    assert read(html, "http://shop.example/")["mixed_content"] == []
    upgraded = '<meta http-equiv="Content-Security-Policy" content="upgrade-insecure-requests">'
    assert read(html + upgraded)["mixed_content"] == []


@pytest.mark.parametrize(
    "html",
    [
        "<a href='http://a.example/'>x</a>",
        "<link rel=canonical href='http://a.example/'>",
        "<img src='https://a.example/http://b.example/x'>",
        "<img src='//a.example/x'>",
        "<script>load('http://a.example/x')</script>",
    ],
)
def test_what_is_no_mixed_content(html: str) -> None:
    assert read(html)["mixed_content"] == []


def test_a_base_in_http_makes_relative_addresses_insecure() -> None:
    html = "<base href='http://shop.example/'><img src=x.png><script src='https://a.example/s.js'></script>"
    assert read(html)["mixed_content"] == ["http://shop.example/x.png"]


def test_forms_that_send_in_the_clear() -> None:
    html = "<form action='http://shop.example/buy'></form><form action=/search></form><form></form>"
    assert read(html)["insecure_forms"] == ["http://shop.example/buy"]
    assert read(html, "http://shop.example/")["insecure_forms"] == []


def test_the_visible_text_is_all_that_is_shown() -> None:
    html = "<title>A</title><nav>Home</nav><p>Tea  with\nmilk</p><p hidden>Sugar</p><footer>1921</footer>"
    assert read(html)["visible_text"] == "Home\nTea with milk\n1921"
    assert read("<script>x</script>")["visible_text"] == ""


def test_lists_and_strings_are_bounded() -> None:
    long = "x" * 100_000
    html = (
        f"<title>{long}</title>" * 3
        + f"<link rel=canonical href='/{long}'>"
        + f"<link rel=alternate hreflang='{long}' href='/{long}'>" * 600
        + f"<img src='http://a.example/{long}' alt='{long}'>" * 3
        + "<img src=/x.png>" * 5_000
    )
    found = read(html)
    assert found["images"] == 5_003
    assert len(found["images_without_alt"]) == len(found["hreflangs"]) == 500
    assert _longest(found) <= 2_000


def _longest(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(map(_longest, inner), default=0)


class FewFacts(FactElements):
    max_entries, max_length = 1, 5


def test_limits_of_a_collector() -> None:
    page = Page("<img src=aaaa><img src=bbbb>", "http://a.example/")
    found = collected(page, FewFacts)
    assert (found.images, found.without_alt) == (2, ["http:"])


HOSTILE = {
    "links": "".join(f"<a href='/p{number}'>x</a>" for number in range(50_000)),
    "one link again and again": "<a href='../x y?ü'>x</a>" * 50_000,
    "titles in drawings, deep": "<svg>" + "<g>" * 1_900 + "<title>x</title>" * 9_000,
    "nested noscript": "<noscript>" * 1_500 + "<img>" * 3_000,
    "long srcset": f"<img srcset='{'http:' * 100_000}'><img srcset='{', http://a/ ' * 50_000}'>",
    "microdata, deep": "<div itemscope itemtype='https://schema.org/Product'>" * 1_900 + "<b itemprop=x>y</b>" * 6_000,
    "types": "<div typeof='schema:Thing' vocab='https://schema.org/'>" * 1_900,
    "nested labels": "<label for=a>" * 1_000 + "<b></b>" * 20_000,
    "nested headings": "<h1><div>" * 900 + "<i></i>" * 20_000,
    "one long label": f"<p id=a>{'x ' * 50_000}</p>" + "<a href=/ aria-labelledby='a a a'></a>" * 5_000,
    "deep fields": "<div>" * 1_500 + "<input>" * 10_000,
    "unclosed scripts": "<script>" * 100_000,
    "unclosed quotes": "<link a='" * 4_000 + "<meta b=\"c'" * 4_000,
    "tabindex": "<p tabindex=" + " " * 200_000 + ">" + "tabindex  = " * 50_000,
    "slashes": "<a href='" + "/." * 100_000 + "'>x</a>",
    "spaces": "<a href='" + " " * 200_000 + "x'>x</a>" + "<img alt='" + " " * 200_000 + "'>",
}  # fmt: skip


@pytest.mark.parametrize("html", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_pages_take_little_time(html: str) -> None:
    page = Page(html, URL)
    _ = page.tree, main_text(page)  # what others have done by then
    start = time.process_time()
    found = facts.analyse(page)
    assert effort_since(start) < 2.0
    assert len(found["links"]) <= 2_000
    assert found.pop("visible_text") == page.visible_text, "as long as the page"
    assert _longest(found) <= 2_000
