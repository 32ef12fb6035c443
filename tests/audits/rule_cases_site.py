"""Cases of the rules about sites: pages that trigger a rule, and pages that just do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.audits.sites import HOST, alternates, canonical, failed, h1, h2, moved, page, prose, site
from webanalytics.audits.site import Site


class Case(NamedTuple):
    """One rule: a site where it finds the given rows, and one where it finds none."""

    trigger: Site
    rows: set[int]
    near_miss: Site
    evidence: str = ""


def names(url: str) -> dict[str, Any]:
    """Return what a page has that names another one as canonical."""
    return {"canonicals": [canonical(url)], "canonical": canonical(url)["url"]}


def several(*urls: str) -> dict[str, Any]:
    return {"canonicals": [canonical(url) for url in urls]}


def shown(end: str) -> dict[str, Any]:
    """Return what a page has that came by a certificate, fetched on the last of October."""
    certificate = {"issuer": "Middle", "not_before": "2026-09-01T00:00:00+00:00", "not_after": end}
    return {"certificate": certificate, "fetched_at": "2026-10-31T12:00:00+00:00"}


GROUP = {"hreflangs": alternates(en="/en", de="/de", x_default="/en")}
GERMAN = page("/de", lang="de", **GROUP)
LINKS = {"links": [f"{HOST}/a", f"{HOST}/b"]}
LONG = prose("long", 400)
CHANGED = " ".join(LONG.split()[:-3]) + " something else here"
REWRITTEN = " ".join(LONG.split()[:200]) + " " + prose("other", 200)
PROBLEM = ["It is not a text in UTF-8."]
LIST: dict[str, Any] = {"page_type": "listing", "internal_links": 12}
CASES: dict[str, Callable[[], Case]] = {
    "noindex": lambda: Case(
        site(
            page("/a", robots="NOINDEX, follow"), page("/b", robots="none"), page("/c", googlebot="noindex")
        ),
        {0, 1, 2},
        site(page("/a", robots="noarchive, index"), page("/b", x_robots_tag="noindex")),
        'Robots meta tag: "NOINDEX, follow"',
    ),
    "unavailable_after_passed": lambda: Case(
        site(
            page("/a", robots="unavailable_after: 25 Jun 2010 15:00:00 PST"),
            page("/b", x_robots_tag="unavailable_after: Friday, 25-Jun-10 15:00:00 PST"),
        ),
        {0, 1},
        site(
            page("/a", robots="unavailable_after: 2310-06-25"), page("/b", robots="unavailable_after: soon")
        ),
        "unavailable_after: 25 Jun 2010 15:00:00 PST",
    ),
    "noindex_header": lambda: Case(
        site(page("/a", x_robots_tag="noarchive, googlebot: noindex")),
        {0},
        site(page("/a", x_robots_tag="otherbot: noindex, nofollow"), page("/b", robots="noindex")),
        "X-Robots-Tag header",
    ),
    "nofollow": lambda: Case(
        site(page("/a", robots="index,nofollow"), page("/b", x_robots_tag="none")),
        {0, 1},
        site(page("/a", robots="noindex, follow")),
    ),
    "canonicalised": lambda: Case(
        site(page("/a", **names("/b"))),
        {0},
        site(page("/a", **names("HTTPS://EXAMPLE.org:443/a#top"))),
        f"{HOST}/b",
    ),
    "blocked_by_robots": lambda: Case(
        site(failed("/a", "robots"), failed("/b", "robots_unreadable", status=503)),
        {0, 1},
        site(failed("/a", "status", status=403)),
    ),
    "canonical_missing": lambda: Case(
        site(page("/a", canonicals=[], canonical=""), page("/b", canonicals=[{"href": " ", "url": ""}])),
        {0, 1},
        site(page("/a", **names("/b")), failed("/b", "status", status=404)),
    ),
    "canonical_conflicting": lambda: Case(
        site(page("/a", **several("/a", "/b"))),
        {0},
        site(page("/a", **several("/a", f"{HOST}/a#x"))),
        "/a, /b",
    ),
    "canonical_multiple": lambda: Case(
        site(page("/a", **several("/a", f"{HOST}/a"))),
        {0},
        site(page("/a", **several("/a", "/b")), page("/c")),
    ),
    "canonical_relative": lambda: Case(
        site(page("/a", **names("/a")), page("/b", **names("//example.org/b"))),
        {0, 1},
        site(page("/a"), page("/b", **names("HTTPS://example.org/b"))),
        "/a",
    ),
    "canonical_invalid": lambda: Case(
        site(page("/a", **names("mailto:a@example.org"))), {0}, site(page("/a", **names("/b")))
    ),
    "canonical_fragment": lambda: Case(
        site(page("/a", **names(f"{HOST}/a#top"))), {0}, site(page("/a#top", **names(f"{HOST}/a")))
    ),
    "canonical_outside_head": lambda: Case(
        site(page("/a", outside_head=["canonical"])), {0}, site(page("/a", outside_head=["hreflang"]))
    ),
    "hreflang_outside_head": lambda: Case(
        site(page("/a", outside_head=["hreflang"])), {0}, site(page("/a", outside_head=["canonical"]))
    ),
    "canonical_failing": lambda: Case(
        site(
            page("/a", **names("/gone")),
            failed("/gone", "status", status=410),
            page("/b", **names("/old")),
            moved("/old", "/new"),
        ),
        {0, 2},
        # /new was read, if only by the way of /old, and /x is none of the audit.
        site(page("/a", **names("/new")), moved("/old", "/new"), page("/b", **names("/x"))),
        f"{HOST}/gone answers HTTP 410.",
    ),
    "canonical_not_indexable": lambda: Case(
        site(page("/a", **names("/b")), page("/b", robots="noindex")),
        {0},
        site(
            page("/a", **names("/b")),
            page("/b"),
            page("/c", robots="noindex"),
            page("/d", **names("/e")),
            page("/e", **names("/b")),
        ),
        f"{HOST}/b is not indexable: noindex.",
    ),
    "canonical_chain": lambda: Case(
        site(page("/a", **names("/b")), page("/b", **names("/c")), page("/c")),
        {0},
        site(page("/a", **names("/c")), page("/b", **names("/c")), page("/c")),
        f"{HOST}/a → {HOST}/b → {HOST}/c",
    ),
    "hreflang_missing_return": lambda: Case(
        site(page("/en", **GROUP), page("/de", hreflangs=alternates(de="/de"))),
        {0},
        # None of the audit, and one that redirects, which is another rule's matter.
        site(
            page("/en", **GROUP),
            GERMAN,
            page("/fr", hreflangs=alternates(fr="/fr", en="/unknown")),
            page("/pl", hreflangs=alternates(pl="/pl", it="/old")),
            moved("/old", "/it"),
        ),
        f"{HOST}/de",
    ),
    "hreflang_missing_self": lambda: Case(
        site(page("/en", hreflangs=alternates(de="/de")), GERMAN),
        {0},
        # Those of a page with another canonical are of that one.
        site(page("/en", **GROUP), page("/plain"), page("/en?a=1", **GROUP, **names("/en"))),
    ),
    "hreflang_invalid_language": lambda: Case(
        site(page("/a", hreflangs=alternates(jp="/a", en="/b")), page("/b", hreflangs=alternates(en_="/b"))),
        {0},
        site(page("/a", hreflangs=alternates(ja="/a", zh_Hant_TW="/b", EN_gb="/c", x_default="/d"))),
        '"jp"',
    ),
    "hreflang_invalid_region": lambda: Case(
        site(page("/a", hreflangs=alternates(en_UK="/a")), page("/b", hreflangs=alternates(es_419="/b"))),
        {0, 1},
        site(page("/a", hreflangs=alternates(en_GB="/a", uk_UA="/b", sr_Latn="/c"))),
        '"en-UK"',
    ),
    "hreflang_conflicting": lambda: Case(
        site(page("/a", hreflangs=[*alternates(en="/a"), *alternates(EN="/b")])),
        {0},
        site(page("/a", hreflangs=[*alternates(en="/a", en_GB="/b"), *alternates(en="/a#top")])),
        f"{HOST}/a, {HOST}/b",
    ),
    "hreflang_failing": lambda: Case(
        site(page("/en", **GROUP), failed("/de", "timeout", seconds=30)),
        {0},
        site(page("/en", **GROUP), page("/de", robots="noindex")),
        f"{HOST}/de does not answer in time",
    ),
    "hreflang_not_indexable": lambda: Case(
        site(page("/en", **GROUP), page("/de", robots="noindex")),
        {0},
        # A page that is not indexable itself is the matter of other rules.
        site(page("/en", robots="noindex", hreflangs=alternates(en="/en"))),
        f"{HOST}/de (noindex)",
    ),
    "hreflang_missing_x_default": lambda: Case(
        site(page("/en", hreflangs=alternates(en="/en"))), {0}, site(page("/en", **GROUP), page("/plain"))
    ),
    "duplicate_page": lambda: Case(
        site(page("/a", text=LONG), page("/b", text=f" {LONG} ")),
        {0, 1},
        site(
            page("/a", text=LONG),
            page("/a", text=LONG),
            page("/b", text=LONG, robots="noindex"),
            page("/c", text=""),
            page("/d", text=""),
        ),
        f"{HOST}/b",
    ),
    "near_duplicate": lambda: Case(
        site(page("/a", text=LONG), page("/b", text=CHANGED)),
        {0, 1},
        site(page("/a", text=LONG), page("/b", text=REWRITTEN), page("/c", text=LONG)),
        f"{HOST}/b",
    ),
    "title_duplicate": lambda: Case(
        site(page("/a", title="Lamps"), page("/b", title=" Lamps "), page("/c")),
        {0, 1},
        site(
            page("/a", title="Lamps"),
            page("/b", title="Lamps", **names("/a")),
            moved("/c", "/a", title="Lamps"),
            page("/d", title=""),
            page("/e", title=""),
        ),
        f"{HOST}/b",
    ),
    "description_duplicate": lambda: Case(
        site(page("/a", description="Lamps."), page("/b", description="Lamps.")),
        {0, 1},
        site(page("/a", description="Lamps."), page("/b", description="lamps.")),
    ),
    "h1_duplicate": lambda: Case(
        site(page("/a", headings=[h1("Lamps")]), page("/b", headings=[h2("Oil"), h1("Lamps")])),
        {0, 1},
        site(page("/a", headings=[h1("Lamps")]), page("/b", headings=[h1("Oil"), h2("Lamps")])),
    ),
    "client_error": lambda: Case(
        site(failed("/a", "status", status=404), failed("/b", "status", status=410)),
        {0, 1},
        site(failed("/a", "status", status=500), failed("/b", "status", status=410, hops=("/c",))),
        "HTTP 404",
    ),
    "server_error": lambda: Case(
        site(failed("/a", "status", status=503)), {0}, site(failed("/a", "status", status=499))
    ),
    "no_response": lambda: Case(
        site(failed("/a", "unknown_host"), failed("/b", "handshake"), failed("/c", "protocol")),
        {0, 1, 2},
        site(
            *(failed("/a", "timeout", seconds=30), failed("/c", "certificate")),
            failed("/b", "not_html", content_type="application/pdf"),
        ),
    ),
    "timeout": lambda: Case(
        site(failed("/a", "timeout", seconds=30), failed("/b", "connect_timeout", seconds=5)),
        {0, 1},
        site(failed("/a", "refused"), page("/b", elapsed=29.0)),
    ),
    "redirect": lambda: Case(
        site(moved("/a", "/b")),
        {0},
        site(
            *(page("/a"), moved("/b", "/c", "/d"), failed("/c", "status", status=404, hops=("/d",))),
            failed("/e", "redirect_loop", hops=("/f",)),
        ),
        f"{HOST}/a → {HOST}/b",
    ),
    "redirect_chain": lambda: Case(
        site(moved("/a", "/b", "/c")),
        {0},
        site(moved("/a", "/b"), failed("/d", "redirect_loop", hops=("/e", "/f"))),
        f"{HOST}/a → {HOST}/b → {HOST}/c",
    ),
    "redirect_loop": lambda: Case(
        site(
            failed("/a", "redirect_loop", status=302, hops=("/b",)),
            failed("/c", "redirects", limit=10, status=302, hops=tuple(f"/{hop}" for hop in range(10))),
        ),
        {0, 1},
        site(moved("/a", "/b", "/c"), failed("/d", "status", status=302)),
    ),
    "slow_response": lambda: Case(site(page("/a", elapsed=1.01)), {0}, site(page("/a", elapsed=1.0))),
    "html_too_large": lambda: Case(
        site(
            page("/a", bytes=2_000_001), failed("/b", "too_large", limit=10_000_000) | {"bytes": 10_000_001}
        ),
        {0, 1},
        site(page("/a", bytes=2_000_000)),
    ),
    "links_to_failing_pages": lambda: Case(
        site(page("/", **LINKS), failed("/a", "status", status=404), page("/b")),
        {0},
        site(page("/", **LINKS), moved("/a", "/b"), failed("/c", "status", status=404)),
        f"{HOST}/a answers HTTP 404",
    ),
    "links_to_redirects": lambda: Case(
        site(page("/", **LINKS), moved("/a", "/c"), page("/b")),
        {0},
        site(page("/", **LINKS), moved("/c", "/a"), failed("/b", "refused")),
        f"{HOST}/a redirects to {HOST}/c",
    ),
    "no_internal_links": lambda: Case(
        site(page("/a", internal_links=0, external_links=0, visible_text="")),
        {0},
        site(page("/a", internal_links=1), page("/b", internal_links=None)),
        "no links before scripts run",
    ),
    "no_inlinks": lambda: Case(
        site(page("/", links=[f"{HOST}/a"]), page("/a"), page("/b", links=[f"{HOST}/b"])),
        {2},
        # A home page; linked by the way of a redirect; alone on its host; not indexable; in a sitemap.
        site(
            page("/", **LINKS),
            moved("/b", "/c", links=[]),
            page("/c", links=[]),
            page("https://other.example/d", links=[]),
            page("/e", robots="noindex", links=[]),
            page("/f", links=[]),
            # Of a host of which most is not in the list nobody knows what links to a page.
            page("https://part.example/a", links=[f"https://part.example/{name}" for name in "bcd"]),
            page("https://part.example/b", links=[]),
            page("https://scripts.example/a", links=[]),
            page("https://scripts.example/b", links=[]),
            listed=("/f",),
        ),
        "None of the 3 pages of example.org",
    ),
    "many_external_links": lambda: Case(
        site(page("/a", external_links=101)), {0}, site(page("/a", external_links=100, internal_links=500))
    ),
    "many_internal_links": lambda: Case(
        site(page("/a", internal_links=1_001)), {0}, site(page("/a", internal_links=1_000))
    ),
    "sitemap_not_indexable": lambda: Case(
        site(page("/a", robots="noindex"), page("/b", **names("/c")), listed=("/a", "/b")),
        {0, 1},
        site(page("/a", robots="noindex"), page("/b"), moved("/c", "/b"), listed=("/b", "/c")),
    ),
    "sitemap_failing": lambda: Case(
        site(moved("/a", "/b"), failed("/c", "refused"), listed=("/a", "/c")),
        {0, 1},
        site(moved("/a", "/b"), failed("/c", "refused"), page("/b"), listed=("/b",)),
        f"redirects to {HOST}/b",
    ),
    "sitemap_missing_page": lambda: Case(
        site(page("/"), page("/page/7"), page("/page8", **LIST), listed=("/", "/page/8/")),
        {1, 2},
        site(
            *(page("/a"), page("/b", robots="noindex"), moved("/c", "/a")),
            *(page("/"), page("/page/2", **LIST), page("/a?page=3"), page("/a/page/2/")),
            listed=("/", "/a#top"),
        ),
    ),
    "sitemap_orphan": lambda: Case(
        site(page("/"), page("/a"), listed=("/", "/a")),
        {1},
        site(page("/", links=[f"{HOST}/a"]), page("/a"), page("/b"), listed=("/", "/a")),
    ),
    "robots_txt_problems": lambda: Case(
        site(page("/a"), page("/"), robots={HOST: PROBLEM}),
        {1},
        site(page("/a"), robots={HOST: [], "https://other.example": PROBLEM}),
        f"{HOST}/robots.txt: It is not a text in UTF-8.",
    ),
    "http_page": lambda: Case(
        site(page("http://example.org/a")),
        {0},
        site(moved("http://example.org/a", "https://example.org/a")),
    ),
    "certificate_invalid": lambda: Case(
        site(failed("/a", "certificate"), failed("/b", "certificate", hops=("/c",))),
        {0, 1},
        site(failed("/a", "handshake"), page("/b")),
        "a server whose TLS certificate is not valid: expired.",
    ),
    "certificate_expires": lambda: Case(
        site(page("/a", **shown("2026-11-14T11:59:59+00:00")), page("/b")),
        {0},
        site(page("/a", **shown("2026-11-14T12:00:00+00:00")), page("/b", certificate=None)),
        "Days left: 13, until 2026-11-14; issued by Middle.",
    ),
    "mixed_content": lambda: Case(
        site(page("/a", mixed_content=["http://example.org/a.js"])),
        {0},
        site(page("/a", insecure_forms=["http://example.org/a"])),
        "http://example.org/a.js",
    ),
    "insecure_form": lambda: Case(
        site(page("/a", insecure_forms=["http://example.org/send"])),
        {0},
        site(page("/a", mixed_content=["http://example.org/a.js"])),
    ),
}
