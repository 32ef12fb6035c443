"""A site whose changes are scripted, page by page, among noise: a comparison tells these changes, and no others.

What is expected is written beside each change, by hand. Every page has the noise of real ones on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import ANY

import pytest

import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer

ORIGIN = "{{origin}}"
Part = Callable[[int], str]
Fields = dict[str, tuple[Any, Any]]


class Has(str):
    """Equal to every text that has this one in it."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and str(self) in str(other)


@dataclass(frozen=True)
class Page:
    """A page of the site, well made; what a script changes is a field."""

    name: str
    title: str
    description: str
    h1: str
    body: str
    lang: str = "en"
    head: str = ""
    more: str | Part = ""
    viewport: str = '<meta name=viewport content="width=device-width">'
    doctype: str = "<!doctype html>"
    charset: str = "utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200


def texts(name: str) -> str:
    """Return sentences that no other page has."""
    return (
        f"<p>The lamp called {name} stands in the window of the shop by the harbour. It was made by the workshop "
        f"{name} in a small town of the north.</p><p>Whoever buys {name} gets a spare bulb and a cable with it. "
        f"Its light is warm, and the switch of {name} sits where the hand looks for it.</p>"
    )


def page(name: str, **more: Any) -> Page:
    title, said = f"The lamp {name} for every room", f"All about the lamp {name}, in a few words."
    return replace(Page(name, title, said, f"Lamp {name}", texts(name)), **more)


def html(page: Page, visit: int) -> bytes:
    """Return a page as a visit gets it: with a nonce, tokens, a build number, ids, spaces that come and go."""
    space, more = " " * visit + "\n" * visit, page.more if isinstance(page.more, str) else page.more(visit)
    return (
        f"{page.doctype}<html lang={page.lang}><head><meta charset={page.charset}>{space}"
        f"<!-- built {visit * 7919} --><meta name=csrf-token content=t{visit * 104729}>"
        f"<script nonce=n{visit}>var now = {visit * 1000};</script>"
        f'<link rel=stylesheet href="/site.css?v={visit}">'
        f'<title>{page.title}</title><meta name=description content="{page.description}">{page.viewport}{page.head}'
        f"</head><body class=v{visit}><header><nav><a href=/>Home</a></nav><form action=/search><input type=hidden name=token "
        f"value=k{visit * 31}><input name=q aria-label=Search></form></header>{space}<main id=m{visit}>"
        f"<h1>{page.h1}</h1>{space}{page.body}{more}</main><footer><p>The harbour shop, 1 Quay</p></footer>"
        f'<img src="/pixel.gif?cb={visit * 17}&amp;sid=s{visit}" alt="" width=1 height=1></body></html>'
    ).encode()


def reply(page: Page, visit: int) -> Reply:
    """Return the answer, with the headers of a visit."""
    headers = {
        "Content-Type": "text/html; charset=utf-8" if page.charset == "utf-8" else "text/html",
        "Date": f"Mon, {visit:02} Nov 2026 10:00:0{visit} GMT",
        "Last-Modified": f"Mon, {visit:02} Nov 2026 09:59:0{visit} GMT",
        "Expires": f"Mon, {visit:02} Nov 2026 11:00:0{visit} GMT",
        "ETag": f'"e{visit}"',
        "Age": str(visit * 11),
        "Set-Cookie": f"sid=s{visit}; Path=/",
        "X-Request-Id": f"r{visit * 65537}",
        "Server": f"lamps/1.{visit}",
        "Content-Security-Policy": f"script-src 'nonce-n{visit}' 'self'",
        "Strict-Transport-Security": "max-age=31536000",
        "Cache-Control": "max-age=600",
        "Vary": "Accept-Encoding",
    }
    return Reply(page.status, headers | page.headers, html(page, visit))


@dataclass(frozen=True)
class Change:
    """A page before and after, and the fields that are expected to change, with their values."""

    name: str
    before: dict[str, Any]
    after: dict[str, Any]
    expected: Fields


def change(name: str, after: dict[str, Any], before: dict[str, Any] | None = None, **expected: Any) -> Change:
    """Return a change; ``__`` of a field is a colon, ``_`` a hyphen in the name of a header."""
    return Change(name, before or {}, after, {_field(name): told for name, told in expected.items()})


def _field(name: str) -> str:
    kind, _, rest = name.partition("__")
    return f"{kind}:{rest.replace('_', '-')}" if rest else name


def in_head(tag: str) -> dict[str, Any]:
    return {"head": tag}


def meta(name: str, content: str, key: str = "name") -> dict[str, Any]:
    return in_head(f'<meta {key}="{name}" content="{content}">')


def canonical(path: str) -> dict[str, Any]:
    return in_head(f'<link rel=canonical href="{ORIGIN}/{path}">')


def price(amount: str) -> dict[str, Any]:
    product = f'{{"@type": "Product", "name": "L", "offers": {{"price": "{amount}"}}}}'
    return in_head(f'<script type="application/ld+json">{product}</script>')


def product(amount: str) -> list[dict[str, Any]]:
    return [{"@type": "Product", "name": "L", "offers": {"price": amount}}]


def linked(name: str, attributes: str = "href=/h1") -> dict[str, Any]:
    return {"body": texts(name).replace("harbour", f"<a {attributes}>harbour</a>", 1)}


def image(alt: str) -> dict[str, Any]:
    return {"more": f'<img src="/lamp.png" alt="{alt}" width=9 height=9>'}


def redirect(path: str, status: int = 301) -> dict[str, Any]:
    return {"status": status, "headers": {"Location": f"{ORIGIN}/{path}"}}


def headings(*found: str) -> list[dict[str, str]]:
    return [dict(zip(("level", "text"), heading.split(" ", 1), strict=True)) for heading in found]


PIXEL = {"src": Has("/pixel.gif"), "alt": "", "width": "1", "height": "1"}
LAMP = {"src": "/lamp.png", "alt": "A lamp", "width": "9", "height": "9"}

SCRIPT = [
    change("title", {"title": "Another"}, title=("The lamp title for every room", "Another")),
    change("title-gone", {"title": ""}, title=("The lamp title-gone for every room", "")),
    change(
        "words", {"description": "Anew."}, description=("All about the lamp words, in a few words.", "Anew.")
    ),
    change("h1", {"h1": "Another"}, headings=(headings("h1 Lamp h1"), headings("h1 Another"))),
    change(
        "h2",
        {"body": "<h2>Sizes</h2>" + texts("h2")},
        headings=(headings("h1 Lamp h2"), headings("h1 Lamp h2", "h2 Sizes")),
    ),
    change(
        "canonical",
        canonical("title"),
        canonical("canonical"),
        indexability=("indexable", "canonicalised"),
        canonical=("/canonical", "/title"),
    ),
    change(
        "noindex", meta("robots", "noindex"), indexability=("indexable", "noindex"), robots=("", "noindex")
    ),
    change(
        "header",
        {"headers": {"X-Robots-Tag": "noindex"}},
        indexability=("indexable", "noindex"),
        x_robots_tag=("", "noindex"),
    ),
    change(
        "again", {}, meta("robots", "noindex"), indexability=("noindex", "indexable"), robots=("noindex", "")
    ),
    change("nofollow", meta("robots", "nofollow"), robots=("", "nofollow")),
    change("snippet", meta("googlebot", "nosnippet"), googlebot=("", "nosnippet")),
    change("missing", {"status": 404}, indexability=("indexable", "client error"), http_status=(200, 404)),
    change("broken", {"status": 500}, indexability=("indexable", "server error"), http_status=(200, 500)),
    change(
        "moved", redirect("title"), indexability=("indexable", "redirected"), final_url=("/moved", "/title")
    ),
    change("moved-on", redirect("h1"), redirect("title"), final_url=("/title", "/h1")),
    change("for-now", redirect("h1", 302), redirect("h1"), redirect_kinds=(ANY, ANY)),
    change(
        "text",
        {"body": texts("text").replace("a spare bulb", "two spare bulbs")},
        text=(Has("gets a spare bulb and"), Has("gets two spare bulbs and")),
    ),
    change("longer", {"more": "<p>A smaller one of it stands beside.</p>"}, text=(ANY, Has("A smaller one"))),
    change("link", linked("link"), links=(["/"], ["/", "/h1"])),
    change("link-gone", {}, linked("link-gone"), links=(["/", "/h1"], ["/"])),
    change(
        "unfollowed",
        linked("unfollowed", "href=/h1 rel=nofollow"),
        linked("unfollowed"),
        nofollow_links=([], ["/h1"]),
    ),
    change("image", image("A lamp"), imgTags=([PIXEL], [LAMP, PIXEL])),
    change("alt", image("Brass"), image("A lamp"), imgTags=([LAMP, PIXEL], [LAMP | {"alt": "Brass"}, PIXEL])),
    change(
        "hreflang",
        in_head('<link rel=alternate hreflang=de href="https://lamps.example/de">'),
        hreflangs=([], [{"lang": "de", "url": "https://lamps.example/de"}]),
    ),
    change("json", price("9"), price("8"), jsonld=(product("8"), product("9")), price=("8", "9")),
    change("json-gone", {}, price("8"), jsonld=(product("8"), []), price=("8", "")),
    change("language", {"lang": "de"}, lang=("en", "de")),
    change("share", meta("og:title", "To share", "property"), og__title=("", "To share")),
    change("card", meta("twitter:card", "summary"), card__card=("", "summary")),
    change("viewport", {"viewport": ""}, viewport=("width=device-width", "")),
    change("doctype", {"doctype": ""}, doctype=(True, False)),
    change(
        "charset",
        {"charset": "iso-8859-1"},
        charset=("utf-8", "iso-8859-1"),
        content_type=("text/html; charset=utf-8", "text/html"),
    ),
    change(
        "icon",
        in_head("<link rel=icon href=/new.ico>"),
        in_head("<link rel=icon href=/i.ico>"),
        favicons=(ANY, ANY),
    ),
    change("amp", in_head("<link rel=amphtml href=/amp/amp>"), amphtml=("", "/amp/amp")),
    change("tags", meta("keywords", "lamp, light"), meta_keywords=("", "lamp, light")),
    change("author", meta("author", "Ada"), author=("", "Ada")),
    change("policy", meta("referrer", "no-referrer"), meta_referrer=("", "no-referrer")),
    change(
        "transport",
        {"headers": {"Strict-Transport-Security": "max-age=0"}},
        header__strict_transport_security=("max-age=31536000", "max-age=0"),
    ),
    change(
        "cache", {"headers": {"Cache-Control": "no-store"}}, header__cache_control=("max-age=600", "no-store")
    ),
    change("frames", {"headers": {"X-Frame-Options": "DENY"}}, header__x_frame_options=("", "DENY")),
    change("unlisted", {}, in_sitemap=(True, False)),
    change("closed", {}, indexability=("indexable", "blocked by robots.txt")),
    change("still", {}),
    change("still-image", image("A lamp"), image("A lamp")),
    change(
        "still-turned",
        in_head("<link rel=alternate hreflang=fr href=/fr><link rel=alternate hreflang=de href=/de>"),
        in_head("<link rel=alternate hreflang=de href=/de><link rel=alternate hreflang=fr href=/fr>"),
    ),
    change(
        "still-marked", {"body": f"<nav>{texts('still-marked')}</nav>"}
    ),  # of which main texts have nothing
    change(
        "still-session",
        *[{"more": lambda visit: f"<p><a rel=nofollow href='/h1?PHPSESSID=a{visit}'>More</a></p>"}] * 2,
    ),
]
"""What is done to each page, and what a comparison says of it."""


def counter(visit: int) -> str:
    return f"<p>This page was read {visit * 1234:,} times, by people of all ages.</p>"


def clock(visit: int) -> str:
    return f"<p>It is now {visit}:0{visit} in the harbour, and the shop is open until late.</p>"


def advert(visit: int) -> str:
    return f'<img src="https://ads.example/show?id={visit * 7919}" alt="Advertisement" width=9 height=9>'


def rotating(visit: int) -> str:
    chosen = [("title", "words", "json"), ("share", "card", "words"), ("tags", "author", "title")][visit - 1]
    return "<ul>" + "".join(f"<li><a href=/{name}>Lamp {name}</a></li>" for name in chosen) + "</ul>"


NOISE: list[tuple[Part, Fields]] = [
    (counter, {"text": (ANY, ANY)}),
    (clock, {"text": (ANY, ANY)}),
    (advert, {"imgTags": (ANY, ANY)}),
    (rotating, {"links": (ANY, ANY), "text": (ANY, ANY)}),
]
"""Noise that a second reading alone tells from changes, and what it looks like without one."""

BESIDE = [
    change(
        "beside-counter",
        {"more": counter, "body": texts("beside-counter").replace("a spare bulb", "two spare bulbs")},
        {"more": counter},
        text=(Has("a spare bulb"), Has("two spare bulbs")),
    ),
    change("beside-links", {"more": rotating} | linked("beside-links"), {"more": rotating}, links=(ANY, ANY)),
    change(
        "beside-advert",
        {"more": lambda visit: advert(visit) + image("A lamp")["more"]},
        {"more": advert},
        imgTags=(ANY, ANY),
    ),
]
"""Changes beside such noise."""


def site(visit: int, changes: Iterable[Change]) -> dict[str, Any]:
    """Return the site as a visit finds it: the first before the changes, the others after."""
    pages = [page(told.name, **(told.before if visit == 1 else told.after)) for told in changes]
    pages += [page(f"noise-{noise.__name__}", more=noise) for noise, _ in NOISE]
    pages.append(page("gone" if visit == 1 else "fresh"))
    names = [made.name for made in pages]
    links = "".join(f"<li><a href=/{name}>Lamp {name}</a></li>" for name in names)
    listed = [name for name in names if visit == 1 or name != "unlisted"]
    entries = "".join(f"<url><loc>{ORIGIN}/{name}</loc></url>" for name in ["", *listed])
    robots = "" if visit == 1 else "Disallow: /closed\n"
    replies = {f"/{made.name}": reply(made, visit) for made in pages}
    return {
        "/": reply(page("home", body=f"<nav><ul>{links}</ul></nav>" + texts("home")), visit),
        "/sitemap.xml": f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode(),
        "/robots.txt": f"User-agent: *\nAllow: /\n{robots}Sitemap: {ORIGIN}/sitemap.xml\n".encode(),
        "/lamp.png": b"",
        **replies,
    }


@dataclass
class Visits:
    """Three crawls of the site: before the changes, after them, and once more at once."""

    url: str
    before: wa.Audit
    after: wa.Audit
    again: wa.Audit

    def at(self, value: Any) -> Any:
        """Return an expected value with its paths as addresses."""
        if isinstance(value, list):
            return [self.at(part) for part in value]
        if isinstance(value, dict):
            return {key: self.at(part) for key, part in value.items()}
        path = isinstance(value, str) and value.startswith("/") and not isinstance(value, Has)
        return self.url + value if path else value


@pytest.fixture(scope="module")
def visits() -> Visits:
    port, audits = 0, []
    for visit in (1, 2, 3):
        with SiteServer(site(visit, [*SCRIPT, *BESIDE]), port=port) as server:
            port = int(server.url.rpartition(":")[2])
            audits.append(wa.crawl(server.url, allow_private=True, progress=False, retries=0, workers=1))
    return Visits(server.url, *audits)


def told(comparison: wa.Comparison, visits: Visits) -> dict[str, Fields]:
    found: dict[str, Fields] = {}
    for row in comparison.changes.itertuples():
        found.setdefault(row.url.removeprefix(visits.url), {})[row.field] = (row.before, row.after)
    return found


def expected(changes: Iterable[Change], visits: Visits) -> dict[str, Fields]:
    return {
        f"/{change.name}": {name: tuple(map(visits.at, values)) for name, values in change.expected.items()}
        for change in changes
        if change.expected
    }


OF_SITE: dict[str, Fields] = {
    "/": {"links": (ANY, ANY), "text": (Has("Lamp gone"), Has("Lamp fresh"))},
    "/robots.txt": {"robots.txt": (ANY, Has("Disallow: /closed"))},
}


def test_there_are_enough_kinds() -> None:
    assert len([told for told in SCRIPT if told.expected]) >= 30


def test_a_second_reading_leaves_the_changes_alone(visits: Visits) -> None:
    comparison = wa.compare(visits.before, visits.after, again=visits.again)
    assert told(comparison, visits) == expected([*SCRIPT, *BESIDE], visits) | OF_SITE


def test_without_one_noise_of_contents_is_told_too(visits: Visits) -> None:
    noise = {f"/noise-{noise.__name__}": fields for noise, fields in NOISE}
    found = told(wa.compare(visits.before, visits.after), visits)
    assert {url: found[url] for url in found if "beside" not in url} == expected(
        SCRIPT, visits
    ) | noise | OF_SITE


def test_pages_come_and_go_and_those_that_left_the_index_come_first(visits: Visits) -> None:
    comparison = wa.compare(visits.before, visits.after, again=visits.again)
    pages = comparison.pages.assign(url=comparison.pages["url"].str.removeprefix(visits.url))
    urls = pages["url"].tolist()
    assert set(urls[:2]) == {"/noindex", "/header"}
    assert set(urls[2:7]) == {"/canonical", "/missing", "/broken", "/moved", "/closed"}
    of = {change: set(found["url"]) for change, found in pages.groupby("change")}
    assert of["added"] == {"/fresh"}
    assert of["removed"] == {"/gone"}
    assert of["gone"] == {"/missing"}
    assert of["changed"] == set(expected([*SCRIPT, *BESIDE], visits)) - {"/missing"} | {"/"}
    still = {f"/{change.name}" for change in SCRIPT if not change.expected}
    assert of["same"] == still | {f"/noise-{noise.__name__}" for noise, _ in NOISE}
    assert "unchecked" not in of


def test_issues_are_of_the_pages_that_changed(visits: Visits) -> None:
    issues = wa.compare(visits.before, visits.after).issues
    issues = issues.assign(url=issues["url"].str.removeprefix(visits.url))
    for path, change in (("/fresh", "added"), ("/gone", "removed"), ("/closed", "unchecked")):
        assert set(issues.loc[issues["url"] == path, "change"]) == {change}
    urgent = issues[issues["priority"] == "high"]
    found = {
        change: set(zip(rows["url"], rows["rule"], strict=True)) for change, rows in urgent.groupby("change")
    }
    assert found["worse"] == {
        ("/noindex", "noindex"),
        ("/noindex", "sitemap_not_indexable"),
        ("/header", "noindex_header"),
        ("/header", "sitemap_not_indexable"),
        ("/canonical", "canonicalised"),
        ("/canonical", "sitemap_not_indexable"),
        ("/nofollow", "nofollow"),
        ("/hreflang", "hreflang_failing"),
        ("/amp", "amp_failing"),
        ("/missing", "sitemap_failing"),
        ("/broken", "server_error"),
        ("/broken", "sitemap_failing"),
        ("/moved", "sitemap_failing"),
        ("/title-gone", "title_missing"),
        ("/", "links_to_failing_pages"),
    }
    assert found["fixed"] == {
        ("/again", "noindex"),
        ("/again", "sitemap_not_indexable"),
    }
    moved = issues[issues["url"] == "/moved"]
    assert set(moved["change"]) <= {"worse", "unchecked", "remaining"}, "what was wrong there is not fixed"
