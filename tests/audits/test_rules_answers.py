"""Rules about headers, redirects, where canonicals and alternates lead: limits and near misses of each.

One page that fails and one that passes are in the examples of the documentation; here is what lies between.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.audits.sites import HOST, alternates, canonical, failed, frame, h1, moved, page, site
from webanalytics.audits.issues import find_issues
from webanalytics.audits.pages import make_site
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Finding
from webanalytics.audits.site import Site


def found(name: str, tried: Site) -> list[Finding]:
    rule = RULES[name]
    return list(rule.find(tried, rule.threshold))


def names(target: str) -> dict[str, Any]:
    whole = target if "://" in target else f"{HOST}{target}"
    return {"canonical": whole, "canonicals": [canonical(whole)]}


@pytest.mark.parametrize(
    ("rule", "headers", "speaks"),
    [
        ("hsts_missing", "Vary: a", True),
        ("hsts_missing", "Strict-Transport-Security: includeSubDomains", True),
        ("hsts_missing", "strict-transport-security: max-age=1", False),
        ("hsts_short", "Strict-Transport-Security: max-age=31535999", True),
        ("hsts_short", "Strict-Transport-Security: max-age=31536000", False),
        ("csp_missing", "Content-Security-Policy-Report-Only: default-src 'self'", True),
        ("csp_missing", "Content-Security-Policy: default-src 'self'", False),
        ("nosniff_missing", "X-Content-Type-Options: sniff", True),
        ("nosniff_missing", "X-Content-Type-Options: NoSniff, nosniff", False),
        ("framing_allowed", "X-Frame-Options: ALLOWALL", True),
        ("framing_allowed", "X-Frame-Options: deny", False),
        ("framing_allowed", "Content-Security-Policy: frame-ancestors 'none'", False),
        ("referrer_policy_missing", "Referrer-Policy: no-referrer-when-downgrade", True),
        ("referrer_policy_missing", "Referrer-Policy: unsafe-url, strict-origin", False),
        ("referrer_policy_missing", "Referrer-Policy: strict-origin, made-up", False),
        ("compression_missing", "Content-Encoding: identity", True),
        ("compression_missing", "Content-Encoding: br", False),
        ("compression_missing", "X-Crawler-Content-Encoding: gzip", False),
        ("caching_missing", "Date: today", True),
        ("caching_missing", "Last-Modified: today", False),
        ("caching_forbidden", "Cache-Control: private, No-Store", True),
        ("caching_forbidden", "Cache-Control: no-cache", False),
    ],
)
def test_what_headers_say(rule: str, headers: str, speaks: bool) -> None:
    assert bool(found(rule, site(page("/a", headers=headers)))) == speaks
    assert found(rule, site(page("/a"))) == [], "headers that are not known are not missing"


def test_policies_in_the_page_count_where_browsers_read_them() -> None:
    tried = site(
        page("/a", headers="Vary: a", meta_policy="frame-ancestors 'none'", meta_referrer="no-referrer")
    )
    assert found("csp_missing", tried) == found("referrer_policy_missing", tried) == []
    assert found("framing_allowed", tried), "frame-ancestors in a meta element is ignored"


def test_a_page_in_http_needs_no_transport_security() -> None:
    tried = site(page("http://example.org/a", headers="Vary: a"))
    assert found("hsts_missing", tried) == []


@pytest.mark.parametrize(("size", "speaks"), [(1_400, False), (1_401, True)])
def test_small_pages_need_no_compression(size: int, speaks: bool) -> None:
    assert bool(found("compression_missing", site(page("/a", headers="Vary: a", bytes=size)))) == speaks


def test_header_rules_are_not_tried_without_headers() -> None:
    issues = find_issues(site(page("/a")))
    assert issues.attrs["webanalytics"]["rules_not_tried"]["csp_missing"] == ["headers"]


@pytest.mark.parametrize(
    ("rule", "row", "speaks"),
    [
        ("redirect_temporary", moved("/a", "/b", "/c", redirect_kinds=["301", "307"]), True),
        ("redirect_temporary", moved("/a", "/b", "/c", redirect_kinds=["301", "308"]), False),
        ("redirect_temporary", moved("/a", "/b", redirect_kinds=[]), False),
        ("redirect_to_home", moved("/a", "/"), True),
        ("redirect_to_home", moved("/a", "https://www.example.org/"), True),
        ("redirect_to_home", moved("/a", "https://other.example/"), False),
        ("redirect_to_home", moved("/a", "/?lang=en"), False),
        ("redirect_to_home", moved("http://example.org/", "/"), False),
        ("redirect_to_home", moved("/index.php?id=7", "/"), True),
        ("redirect_to_home", moved("/index.php", "/"), False),
        ("redirect_to_home", moved("/Home/", "/"), False),
        ("redirect_to_home", moved("/de-at/", "/"), False),
        ("redirect_to_home", moved("/?utm_source=mail", "/"), False),
        ("redirect_to_http", moved("/a", "http://example.org/a", "/b"), True),
        ("redirect_to_http", moved("http://example.org/a", "/a"), False),
        ("redirect_to_error", failed("/a", "status", hops=("/b",), status=500), True),
        ("redirect_to_error", failed("/a", "unknown_host", hops=("/b",)), True),
        ("redirect_to_error", failed("/a", "status", status=500), False),
        ("redirect_to_error", failed("/a", "robots", hops=("/b",)), False),
    ],
)
def test_where_redirects_lead(rule: str, row: dict[str, Any], speaks: bool) -> None:
    assert bool(found(rule, site(row))) == speaks


@pytest.mark.parametrize(
    ("rule", "row", "evidence"),
    [
        ("redirect_to_error", failed("/a", "status", hops=("/b",), status=500), "answers HTTP 500."),
        ("redirect_to_error", failed("/a", "unknown_host", hops=("/b",)), "answers not at all."),
        ("html_too_large", page("/a", bytes=2_460_000), "The page has 2.5 MB."),
        ("slow_response", page("/a", elapsed=9.876), "The fetch took 9.88 seconds."),
        ("hsts_missing", page("/a", headers="Strict-Transport-Security: a"), "Strict-Transport-Security: a"),
        (
            "compression_missing",
            page("/a", bytes=1_401, headers="Vary: a"),
            "1.4 kB without Content-Encoding",
        ),
    ],
)
def test_what_answers_show(rule: str, row: dict[str, Any], evidence: str) -> None:
    (finding,) = found(rule, site(row))
    assert finding.evidence.endswith(evidence)


@pytest.mark.parametrize(
    ("rule", "header", "shown"),
    [
        (
            "csp_missing",
            "Content-Security-Policy-Report-Only: a",
            "Content-Security-Policy-Report-Only alone",
        ),
        *(
            ("nosniff_missing", *["X-Content-Type-Options: a"] * 2),
            ("framing_allowed", *["X-Frame-Options: a"] * 2),
        ),
        ("referrer_policy_missing", *["Referrer-Policy: unsafe-url"] * 2),
    ],
)
def test_a_header_that_does_not_do_is_shown(rule: str, header: str, shown: str) -> None:
    told = [found(rule, site(page("/", headers=headers))) for headers in (header, "Vary: a")]
    assert [[finding.evidence for finding in findings] for findings in told] == [[shown], [""]]


@pytest.mark.parametrize(("count", "between"), [(4, "/1 /2 /3 /4"), (5, "/1 /2 /3 …")])
def test_five_hops_are_shown_and_of_more_the_first_four(count: int, between: str) -> None:
    (finding,) = found("redirect_chain", site(moved("/0", *(f"/{hop + 1}" for hop in range(count)), "/end")))
    assert finding.evidence.replace(HOST, "") == f"/0 {between} /end".replace(" ", " → ")
    assert finding.value == count + 1


@pytest.mark.parametrize(
    ("begin", "end", "speaks"),
    [
        ("2026-10-27T12:00:00Z", "2026-11-02T12:00:00Z", False),  # two of six days are left
        ("2026-10-27T12:00:00Z", "2026-11-02T11:59:59Z", True),
        ("2026-10-25T12:00:00Z", "2026-11-08T12:00:00Z", True),  # fourteen days or more: by the threshold
        ("2026-10-25T12:00:01Z", "2026-11-08T12:00:00Z", False),
        ("", "2026-11-02T11:59:59Z", False),
        ("2026-10-27T12:00:00Z", "", False),
    ],
)
def test_a_certificate_for_days_ends_soon_when_a_third_is_left(begin: str, end: str, speaks: bool) -> None:
    certificate = {"issuer": "Middle", "not_before": begin, "not_after": end}
    read = {"fetched_at": "2026-10-31T12:00:00Z"}
    tried = site(page("/", certificate=certificate, **read), page("/a", **read))
    assert [finding.row for finding in found("certificate_expires", tried)] == [0] * speaks


def test_each_hop_shows_its_status() -> None:
    (finding,) = found("redirect_chain", site(moved("/a", "/b", "/c", redirect_kinds=["301", "302"])))
    assert finding.evidence == f"{HOST}/a (301) → {HOST}/b (302) → {HOST}/c"


def test_circles_of_canonicals() -> None:
    circle = site(page("/a", **names("/b")), page("/b", **names("/a")))
    assert [finding.evidence for finding in found("canonical_loop", circle)] == [
        f"{HOST}/a → {HOST}/b → {HOST}/a",
        f"{HOST}/b → {HOST}/a → {HOST}/b",
    ]
    led = site(page("/0", **names("/a")), page("/a", **names("/b")), page("/b", **names("/a")))
    assert [finding.row for finding in found("canonical_loop", led)] == [1, 2]
    assert [(finding.row, finding.value) for finding in found("canonical_chain", led)] == [(0, 3)]


def test_a_circle_of_ten_canonicals_is_no_chain_too() -> None:
    circle = site(*(page(f"/{number}", **names(f"/{(number + 1) % 10}")) for number in range(10)))
    assert [finding.value for finding in found("canonical_loop", circle)] == [10] * 10
    assert found("canonical_chain", circle) == []


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith("hreflang_")])
def test_alternates_that_are_not_in_the_audit_are_not_judged(rule: str) -> None:
    assert found(rule, site(page("/", hreflangs=alternates(en="/", de="/de", x_default="/")))) == []


def test_who_calls_a_page_both_languages_is_left_to_another_rule() -> None:
    both = site(page("/", hreflangs=alternates(en="/tea", de="/tea")), page("/tea"))
    assert found("hreflang_other_language", both) == []
    assert len(found("hreflang_shared_address", both)) == 1


def test_a_code_that_is_no_language_calls_a_page_none() -> None:
    wrong = site(page("/", hreflangs=alternates(xx="/tea")), page("/tea"))
    assert found("hreflang_other_language", wrong) == []
    right = site(page("/", hreflangs=alternates(de="/tea")), page("/tea"))
    assert len(found("hreflang_other_language", right)) == 1


@pytest.mark.parametrize(("count", "more"), [(5, ""), (7, " and 2 more")])
def test_five_wrong_languages_are_named(count: int, more: str) -> None:
    codes = [f"q{letter}" for letter in "abcdefg"[:count]]
    (finding,) = found(
        "hreflang_invalid_language", site(page("/", hreflangs=alternates(**dict.fromkeys(codes, "/"))))
    )
    assert finding.evidence == "hreflang=" + ", ".join(f'"{code}"' for code in codes[:5]) + more


def test_an_amp_version_without_a_canonical_names_no_page() -> None:
    tried = site(page("/", amphtml=f"{HOST}/amp"), page("/amp", amp=True, canonical="", canonicals=[]))
    (finding,) = found("amp_without_return", tried)
    assert finding.evidence == f"{HOST}/amp names no page instead."


def test_what_is_cut_is_shown_as_cut() -> None:
    issues = find_issues(site(page("/", viewport="device-width, " * 40)))
    (evidence,) = issues.loc[issues["rule"] == "viewport_without_width", "evidence"]
    assert len(evidence) == 300
    assert evidence.endswith("…")


@pytest.mark.parametrize(
    ("rule", "target", "speaks"),
    [
        ("canonical_other_host", "https://www.example.org/a", True),
        ("canonical_other_host", "http://example.org/a", False),
        ("canonical_to_http", "http://example.org/a", True),
        ("canonical_to_http", "https://www.example.org/a", False),
    ],
)
def test_where_canonicals_lead(rule: str, target: str, speaks: bool) -> None:
    assert bool(found(rule, site(page("/a", **names(target))))) == speaks


def test_canonical_pages_that_nobody_links_to() -> None:
    links = [f"{HOST}/c"]
    assert found("canonical_unlinked", site(page("/a", **names("/b"), links=links), page("/b"), page("/c")))
    assert found("canonical_unlinked", site(page("/a", **names("/b")), page("/b"))) == [], (
        "no links are known"
    )
    linked = site(page("/a", **names("/b"), links=[f"{HOST}/b"]), page("/b"))
    assert found("canonical_unlinked", linked) == []
    assert found("canonical_unlinked", site(page("/a", **names("/")), page("/", links=[]))) == [], (
        "home pages"
    )
    assert (
        found("canonical_unlinked", site(page("/a", **names("/b"), links=None), page("/b", links=None))) == []
    )


def test_amp_pages_lead_back() -> None:
    amp = {"amphtml": f"{HOST}/amp", "amp": False}
    good = site(page("/a", **amp), page("/amp", amp=True, **names("/a")))
    assert found("amp_without_return", good) == found("amp_failing", good) == []
    plain = site(page("/a", **amp), page("/amp", amp=False, **names("/a")))
    assert [finding.evidence for finding in found("amp_without_return", plain)] == [
        f"{HOST}/amp is no AMP page."
    ]
    through = site(page("/a", **amp, **names("/b")), page("/amp", amp=True, **names("/b")), page("/b"))
    assert found("amp_without_return", through) == [], "both name the same canonical page"
    gone = site(page("/a", **amp), failed("/amp", "status", status=410))
    assert [finding.evidence for finding in found("amp_failing", gone)] == [f"{HOST}/amp answers HTTP 410."]


def test_languages_that_pages_give_each_other() -> None:
    entries = alternates(en="/", de="/de")
    agreed = site(page("/", hreflangs=entries), page("/de", lang="de", hreflangs=entries))
    assert found("hreflang_return_differs", agreed) == []
    austrian = site(page("/", hreflangs=entries), page("/de", hreflangs=alternates(en="/", de_AT="/de")))
    (finding,) = found("hreflang_return_differs", austrian)
    assert finding.evidence == f"{HOST}/de as de, itself as de-at"
    silent = site(page("/", hreflangs=entries), page("/de", hreflangs=alternates(en="/")))
    assert found("hreflang_return_differs", silent) == [], "left to another rule"


@pytest.mark.parametrize(
    ("rule", "row", "speaks"),
    [
        ("hreflang_shared_address", {"hreflangs": alternates(en="/a", de="/a")}, True),
        ("hreflang_shared_address", {"hreflangs": alternates(en="/a", en_GB="/a", x_default="/a")}, False),
        ("hreflang_lang_differs", {"hreflangs": alternates(de="/a"), "lang": "en"}, True),
        ("hreflang_lang_differs", {"hreflangs": alternates(de="/a", en="/a"), "lang": "en-GB"}, False),
        ("hreflang_lang_differs", {"hreflangs": alternates(no="/a"), "lang": "nb"}, False),
        ("hreflang_lang_differs", {"hreflangs": alternates(de="/b"), "lang": "en"}, False),
        ("hreflang_lang_differs", {"hreflangs": alternates(de="/a"), "lang": ""}, False),
        ("hreflang_not_canonical", {"hreflangs": alternates(en="/a"), **names("/b")}, True),
        ("hreflang_not_canonical", {"hreflangs": alternates(en="/a")}, False),
    ],
)
def test_languages_of_one_page(rule: str, row: dict[str, Any], speaks: bool) -> None:
    assert bool(found(rule, site(page("/a", **row)))) == speaks


@pytest.mark.parametrize(("count", "speaks"), [(1_500, False), (1_501, True), (None, False)])
def test_limit_of_elements(count: int | None, speaks: bool) -> None:
    assert bool(found("dom_too_large", site(page("/a", elements=count)))) == speaks


def test_duplicates_across_unrelated_hosts_are_none() -> None:
    same = {
        "title": "Welcome to our shop for lamps",
        "headings": [h1("Welcome")],
        "description": "Lamps." * 20,
    }
    text = {"text": "One text for all. " * 60}
    hosts = ("https://one.example.org/", "https://two.example.org/", "https://lamps.example/")
    tried = make_site(frame(*(page(url, **same, **text) for url in hosts)))
    for rule in ("title_duplicate", "description_duplicate", "h1_duplicate", "duplicate_page"):
        assert [finding.row for finding in found(rule, tried)] == [0, 1], rule
    others = make_site(
        frame(*(page(url, **same, **text) for url in ("https://a.github.io/", "https://b.github.io/")))
    )
    assert found("title_duplicate", others) == found("duplicate_page", others) == []


def test_near_duplicates_across_unrelated_hosts_are_none() -> None:
    texts = [f"{page('/x')['text']} {end}." for end in ("Blue", "Red")]
    tried = make_site(
        frame(
            *(
                page(url, text=text)
                for url, text in zip(("https://a.example/", "https://b.example/"), texts, strict=True)
            )
        )
    )
    assert tried.values("near_duplicate_cluster")[0] is not None
    assert found("near_duplicate", tried) == []
    own = make_site(frame(*(page(url, text=text) for url, text in zip(("/a", "/b"), texts, strict=True))))
    assert [finding.row for finding in found("near_duplicate", own)] == [0, 1]


def test_own_subdomains_are_no_other_sites() -> None:
    many = page("/a", external_links=101, subdomain_links=1)
    assert found("many_external_links", site(many)) == []
    assert found("many_external_links", site({**many, "subdomain_links": 0}))
    alone = page("/a", internal_links=0, external_links=2, subdomain_links=1)
    assert found("no_internal_links", site(alone)) == []
    assert found("no_internal_links", site({**alone, "subdomain_links": 0}))


@pytest.mark.parametrize(
    ("row", "speaks"),
    [
        ({"xml_lang": "de", "lang": "de"}, True),
        ({"xml_lang": "de", "lang": "de", "content_type": "application/xhtml+xml"}, False),
        ({"xml_lang": "", "lang": "de"}, False),
    ],
)
def test_a_language_in_xml_alone_is_missing_in_html(row: dict[str, Any], speaks: bool) -> None:
    assert bool(found("lang_missing", site(page("/a", **row)))) == speaks


def test_a_byte_order_mark_declares_the_encoding() -> None:
    marked = page("/a", declared_charset="utf-8", content_type="text/html")
    assert found("charset_missing", site(marked)) == []
    assert found("charset_missing", site({**marked, "declared_charset": ""}))
