"""Addresses that differ only in their spelling: pages that are one, and those that only look alike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.audits.sites import HOST, canonical, failed, moved, page, prose, site
from webanalytics.audits import rules
from webanalytics.audits.site import Site

RULES = {name: rule for name, rule in rules.RULES.items() if name.startswith("url_variant_")} | {
    "links_to_variants": rules.RULES["links_to_variants"]
}
TEXT = prose("one page")


def same(url: str, **changes: Any) -> dict[str, Any]:
    return page(url, text=TEXT, **changes)


def found(name: str, given: Site) -> dict[int, str]:
    return {finding.row: finding.evidence for finding in RULES[name].find(given, None)}


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("url_variant_case", "/tea/Green", "/tea/green"),
        ("url_variant_slash", "/tea/", "/tea"),
        ("url_variant_www", f"{HOST}/tea", "https://www.example.org/tea"),
        ("url_variant_scheme", f"{HOST}/tea", "http://example.org/tea"),
        ("url_variant_tracking", "/tea?page=2", "/tea?utm_source=mail&page=2&gclid=1"),
        ("url_variant_session", "/tea", "/tea;jsessionid=1A2B?PHPSESSID=9"),
    ],
)
def test_two_addresses_of_one_page(name: str, one: str, other: str) -> None:
    speaking = found(name, site(same(one), same(other), page("/milk")))
    assert set(speaking) == {0, 1}
    assert speaking[0].startswith("The same page as http")
    # Each of the other rules asks for another difference.
    others = [rule for rule in RULES if rule not in (name, "links_to_variants")]
    assert all(not found(rule, site(same(one), same(other))) for rule in others)
    # Another text is another page, a redirect or a canonical has settled it, and a failure is none.
    for settled in (
        page(other, text=prose("another page")),
        moved(other, one, text=TEXT),
        same(other, canonicals=[canonical(one)], canonical=canonical(one)["url"]),
        same(other, robots="noindex"),
        failed(other, "status", status=404),
    ):
        assert not found(name, site(same(one), settled))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/tea?sort=a", "/tea?sort=b"),  # an ordinary parameter
        ("/tea?id=utm_source", "/tea"),  # a value, not a name
        ("/tea", "/tea/green"),
        ("/tea?q=A", "/tea?q=a"),  # case counts in a query
        (f"{HOST}/tea", "https://shop.example.org/tea"),
    ],
)
def test_other_pages_with_one_text_are_no_variants(one: str, other: str) -> None:
    assert all(not found(rule, site(same(one), same(other))) for rule in RULES)


def test_links_to_other_spellings() -> None:
    links = [f"{HOST}/Tea/", f"{HOST}/milk?utm_source=x", f"{HOST}/milk", f"{HOST}/old", f"{HOST}/unknown/"]
    rows = (page("/", links=links), page("/tea"), page("/milk"), moved("/old", "/tea"))
    speaking = found("links_to_variants", site(*rows))
    assert speaking == {0: f"{HOST}/Tea/ for {HOST}/tea, {HOST}/milk?utm_source=x for {HOST}/milk"}
    # An address that the audit has read speaks for itself.
    assert not found(
        "links_to_variants", site(page("/", links=[f"{HOST}/tea/"]), page("/tea"), page("/tea/"))
    )


def test_pages_without_text_are_left_to_other_rules() -> None:
    assert not found("url_variant_slash", site(page("/tea", text=""), page("/tea/", text="")))
