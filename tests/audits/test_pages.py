"""Derived columns, against what is worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.rule_pages import page as rule_page
from tests.audits.sites import HOST, canonical, derived, failed, frame, h1, h2, moved, page, prose, sitemap
from webanalytics.audits.pages import DERIVED
from webanalytics.core.messages import FETCHING, sentence
from webanalytics.fetching.testing import Reply, SiteServer


def values(column: str, *rows: dict[str, Any], listing: pd.DataFrame | None = None) -> list[Any]:
    """Return one derived column, None for missing values."""
    made = derived(frame(*rows), listing)[column].astype(object)
    return made.where(made.notna(), None).tolist()


def level(number: int) -> dict[str, str]:
    return {"level": f"h{number}", "text": "Lamps"}


def test_the_columns_come_after_the_others_with_their_dtypes() -> None:
    given = frame(page("/a"), failed("/b", "refused"))
    given.attrs["webanalytics"] = {"operation": "audit"}
    made = derived(given)
    assert list(made.columns) == [*given.columns, *DERIVED]
    assert made.attrs == given.attrs
    strings = frame(page()).dtypes["title"]
    dtypes = {"integer": "Int64", "float": "float64", "boolean": "boolean", "string": strings}
    assert {name: made.dtypes[name] for name in DERIVED} == {
        name: dtypes[dtype] for name, (dtype, _) in DERIVED.items()
    }


def test_the_given_frame_stays_as_it_is_and_its_index_is_left_behind() -> None:
    given = frame(page("/a"), page("/b")).set_axis(["x", "x"])
    before = given.copy()
    made = derived(given)
    pd.testing.assert_frame_equal(given, before)
    assert made.index.equals(pd.RangeIndex(2))


def test_columns_are_made_anew_when_they_are_there() -> None:
    once = derived(frame(page("/a"), page("/b", robots="noindex")))
    pd.testing.assert_frame_equal(derived(once), once)


def test_a_frame_without_rows_has_the_columns() -> None:
    assert list(derived(frame()).columns)[-len(DERIVED) :] == list(DERIVED)


def test_lengths_count_characters() -> None:
    row = page("/ä", title="Größe", description="")
    assert values("title_length", row) == [5]
    assert values("description_length", row) == [0]
    assert values("description_pixels", row) == [0]
    assert values("url_length", row) == [len("https://example.org/ä")]
    assert values("title_length", page(title=None), failed("/b", "refused")) == [None, None]


def test_pixels_are_those_of_the_sizes_in_search_results() -> None:
    # Advance widths of Arial: i is 455 units of 2048, W is 1933.
    assert values("title_pixels", page(title="iiii")) == [round(4 * 455 * 20 / 2048)]
    assert values("description_pixels", page(description="WW")) == [round(2 * 1933 * 14 / 2048)]


@pytest.mark.parametrize(
    ("levels", "firsts", "seconds", "order"),
    [
        ([1, 2, 3, 2, 3, 4, 2], 1, 3, True),
        ([1, 3], 1, 0, False),
        ([1, 2, 4, 3], 1, 1, False),
        ([2, 1, 2], 1, 2, True),
        ([4, 1, 1], 2, 0, True),
        ([], 0, 0, True),
    ],
)
def test_headings(levels: list[int], firsts: int, seconds: int, order: bool) -> None:
    made = derived(frame(page(headings=[level(number) for number in levels]))).loc[0]
    assert (made["h1_count"], made["h2_count"], made["heading_order"]) == (firsts, seconds, order)


def test_headings_without_text_do_not_count() -> None:
    row = page(headings=[h1(" "), h1("Lamps"), h2("")])
    assert (values("h1_count", row), values("h2_count", row)) == ([1], [0])


@pytest.mark.parametrize(
    ("meta", "header", "noindex", "nofollow"),
    [
        ("", "", False, False),
        ("index, follow", "all", False, False),
        ("NOINDEX", "", True, False),
        ("", "noindex, nofollow", True, True),
        ("none", "", True, True),
        ("follow", "none", True, True),
        ("noindex", "index", True, False),
        ("", "googlebot: noindex", True, False),
        ("", "GoogleBot: nofollow, otherbot: noindex", False, True),
        ("", "otherbot: noindex, nofollow", False, False),
        ("", "otherbot: noindex\nnofollow", False, True),
        ("", "unavailable_after: Friday, 25-Jun-10 15:00:00 PST, noindex", True, False),
        ("max-snippet:-1, max-image-preview:large, noindex", "", True, False),
        ("noindexing", "x-noindex", False, False),
        (None, "noindex", True, False),
        (None, None, None, None),
    ],
)
def test_robots_directives(meta: str | None, header: str | None, noindex: bool, nofollow: bool) -> None:
    row = page(robots=meta, x_robots_tag=header)
    assert (values("noindex", row), values("nofollow", row)) == ([noindex], [nofollow])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (page("/a"), "indexable"),
        (page("/a", robots=None, x_robots_tag=None), "indexable"),
        (page("/a", robots="noindex"), "noindex"),
        (page("/a", x_robots_tag="none"), "noindex"),
        (page("/a", canonicals=[canonical("/b")]), "canonicalised"),
        (page("/a", canonicals=[canonical("/b")], robots="noindex"), "noindex"),
        (page("/a", canonicals=[canonical("/a"), canonical("/b")]), "indexable"),
        (moved("/a", "/b"), "redirected"),
        (moved("/a", "/b", robots="noindex"), "redirected"),
        (failed("/a", "status", status=404), "client error"),
        (failed("/a", "status", status=404, hops=("/b",)), "client error"),
        (failed("/a", "status", status=503), "server error"),
        (failed("/a", "robots"), "blocked by robots.txt"),
        (failed("/a", "robots_unreadable", status=500), "blocked by robots.txt"),
        (failed("/a", "redirect_loop"), "redirect loop"),
        (failed("/a", "redirects", limit=10, hops=("/b", "/c")), "redirect loop"),
        (failed("/a", "timeout", seconds=30), "no response"),
        (failed("/a", "unknown_host"), "no response"),
        (failed("/a", "certificate"), "no response"),
        (failed("/a", "protocol"), "no response"),
        (failed("/a", "not_html", content_type="application/pdf"), "not a page"),
        (failed("/a", "too_large", limit=10_000_000), "not read"),
        (failed("/a", "invalid_url"), "not read"),
        (failed("/a", "analysis_timeout", seconds=15), "not read"),
        ({"url": "/a", "status": "error", "error": "?", "error_type": "unfinished"}, "not read"),
    ],
)
def test_indexability(row: dict[str, Any], reason: str) -> None:
    assert values("indexability", row) == [reason]
    assert values("indexable", row) == [reason == "indexable"]


def test_the_status_of_a_hosted_failure_is_read_from_its_sentence() -> None:
    text = sentence("status", parameter="url", status=502)
    row = {"url": f"{HOST}/a", "status": "error", "error": text, "error_type": "http"}
    assert values("indexability", row) == ["server error"]


@pytest.mark.parametrize(
    ("url", "final", "redirects", "reason"),
    [
        (f"{HOST}/a", f"{HOST}/b", None, "redirected"),
        (HOST, f"{HOST}/", None, "indexable"),
        (f"{HOST}/a", None, None, "indexable"),
        # The way is known, and there was no redirect on it.
        (f"{HOST}/a", f"{HOST}/b", [], "indexable"),
    ],
)
def test_redirects_whose_way_is_not_known(
    url: str, final: str | None, redirects: list[str] | None, reason: str
) -> None:
    row = {"url": url, "final_url": final, "redirects": redirects, "status": "ok"}
    assert values("indexability", row) == [reason]


@pytest.mark.parametrize("key", FETCHING)
def test_every_failure_has_a_reason(key: str) -> None:
    details = dict.fromkeys(
        ("limit", "seconds", "ports", "count", "content_type", "reason", "who", "answer", "what"), 1
    )
    reason = values("indexability", failed("/a", key, status=404, **details))[0]
    assert reason not in ("indexable", "redirected", "")


@pytest.mark.parametrize(
    ("canonicals", "url", "state"),
    [
        ([], None, "missing"),
        ([{"href": " ", "url": ""}], None, "missing"),
        ([canonical("/a")], f"{HOST}/a", "self"),
        ([canonical("https://Example.ORG:443/a#top")], "https://Example.ORG:443/a#top", "self"),
        ([canonical("/a"), canonical(f"{HOST}/a")], f"{HOST}/a", "self"),
        ([canonical("/a/")], f"{HOST}/a/", "other"),
        ([canonical("/a?b")], f"{HOST}/a?b", "other"),
        ([canonical("http://example.org/a")], "http://example.org/a", "other"),
        ([canonical("/a"), canonical("/b")], f"{HOST}/a", "multiple"),
        ([canonical("javascript:a")], "javascript:a", "invalid"),
    ],
)
def test_canonicals(canonicals: list[dict[str, str]], url: str | None, state: str) -> None:
    row = page("/a", canonicals=canonicals)
    assert (values("canonical_url", row), values("canonical_state", row)) == ([url], [state])


def test_the_metadata_has_the_canonical_where_there_are_no_facts() -> None:
    rows = [page("/a", canonicals=None, canonical=text) for text in (f"{HOST}/b", "", None)]
    assert values("canonical_state", *rows) == ["other", "missing", None]


def test_a_canonical_is_compared_with_the_page_where_the_fetch_ended() -> None:
    assert values("canonical_state", moved("/a", "/b")) == ["self"]


def test_sections_and_depth() -> None:
    rows = [page(path) for path in ("/", "/about", "/blog", "/blog/a?b=/c/d", "/shop/", "/x/y/z/")]
    assert values("depth", *rows) == [0, 1, 1, 2, 1, 3]
    assert values("section", *rows) == ["", "", "blog", "blog", "shop", "x"]
    # A page of another host with the name of a section here is no entrance to it.
    assert values("section", page("https://other.example/blog"), page("/blog/a")) == ["", "blog"]


def test_inlinks() -> None:
    rows = [
        page("/", links=[f"{HOST}/a", f"{HOST}/old", f"{HOST}/"]),
        page("/a", links=[f"{HOST}/new", f"{HOST}/gone"]),
        moved("/old", "/new", links=[f"{HOST}/a"]),
        page("/new", links=[f"{HOST}/a"]),
        failed("/gone", "status", status=404),
        page("/", links=[f"{HOST}/a", f"{HOST}/gone"]),
    ]
    # /a from / and /new, which /old repeats; /new from /a and by /old from /; the home page twice.
    assert values("inlinks", *rows) == [0, 2, 1, 2, 1, 0]
    assert values("inlinks", page("/a", links=None), page("/b", links=None)) == [None, None]


def test_pages_that_repeat_have_the_same_inlinks() -> None:
    rows = [page("/a", links=[f"{HOST}/b"]), page("/b"), page("/b", final_url=f"{HOST}/b#x")]
    assert values("inlinks", *rows) == [0, 1, 1]


def test_membership_of_the_sitemap() -> None:
    rows = [page("/a"), page("/b/"), moved("/c", "/a"), page("https://EXAMPLE.org:443")]
    assert values("in_sitemap", *rows) == [None] * 4
    assert values("in_sitemap", *rows, listing=sitemap("/a", "/b", "/")) == [True, False, False, True]


def test_near_duplicates_are_among_different_indexable_pages() -> None:
    text = prose("a", 300)
    changed = f"{text} One sentence more."
    rows = [
        page("/a", text=text),
        page("/b", text=text, robots="noindex"),
        page("/c", text=prose("c", 300)),
        page("/d", text=changed),
        page("/a", text=text),
        moved("/e", "/a", text=text),
    ]
    assert values("near_duplicate_cluster", *rows) == [0, None, None, 0, None, None]


def test_frames_with_few_columns_have_missing_values() -> None:
    made = derived(pd.DataFrame({"url": [f"{HOST}/a"], "status": ["ok"]}))
    known = {"url_length", "indexable", "indexability", "section", "depth"}
    assert set(made.loc[0, list(DERIVED)].dropna().index) == known
    assert made.loc[0, "indexability"] == "indexable"


def refreshed(content: str, more: str = "") -> str:
    return f'<html><head><meta http-equiv="refresh" content="{content}">{more}</head></html>'


def test_a_page_that_refreshes_to_another_at_once_is_a_redirect_and_has_no_content_to_judge() -> None:
    noindex = '<meta name="robots" content="noindex">'
    pages = {
        "at-once": refreshed("0; url=new#part"),
        "old": refreshed("0;URL='/new'", f'{noindex}<link rel="canonical" href="https://example.org/new">'),
        "broken": refreshed("1, http://[", "<title>A</title>"),
        "later": refreshed("9; url=/new", "<title>B</title>"),
        "itself": refreshed("0; url=/itself", "<title>C</title>"),
        "news": refreshed("600", "<title>D</title>"),
        "new": rule_page(),
    }
    given = {"url": [f"https://example.org/{name}" for name in pages], "html": list(pages.values())}
    audit = wa.audit(pd.DataFrame(given), progress=False)
    reasons = audit.pages["indexability"].tolist()
    assert reasons == ["redirected", "redirected", *["indexable"] * 5]
    found = audit.issues.groupby(audit.issues["url"].str.rpartition("/")[2])["rule"].agg(set)
    assert found["at-once"] == found["old"] == {"meta_refresh_redirect"}
    for name in ("broken", "later", "itself", "news"):
        assert {"h1_missing", "content_empty", "viewport_missing"} <= found[name]
    assert not audit.alarm


def test_plain_texts_are_judged_by_their_address_and_answer_alone(tmp_path: Path) -> None:
    text = "\n".join(
        f"Line {number} of how tea is picked, dried and sold in the north." for number in range(40)
    )
    plain = {"Content-Type": "Text/Plain; charset=utf-8"}
    links = "".join(f"<a href=/{name}>{name}</a>" for name in ("LICENSE", "source", "raw", "sent", "gone"))
    pages = {
        "/": rule_page(after=links).encode(),
        "/LICENSE": Reply(200, plain, text.encode()),
        "/source": Reply(200, plain, b"<!-- of a page -->" + text.encode()),
        "/raw": Reply(200, {"Content-Type": ""}, b'r"""Tea.\n\n<p> is a paragraph"""\n' + text.encode()),
        "/sent": Reply(200, plain, b"<!doctype html><html><p>" + text.encode()),
    }
    with SiteServer(pages) as site:
        audit = wa.crawl(site.url, robots=False, allow_private=True, progress=False)
    audit.save(tmp_path / "kept")
    for each in (audit, wa.load(tmp_path / "kept")):
        found = each.issues[each.issues["scope"] == "page"].groupby("url")["rule"].agg(set)
        assert found[f"{site.url}/LICENSE"] == {"url_upper_case"}
        assert not {f"{site.url}/source", f"{site.url}/raw"} & set(found.index), (
            "neither a duplicate nor without a title"
        )
        assert {"title_missing", "h1_missing"} <= found[f"{site.url}/sent"], (
            "the server takes a page for a text"
        )
        assert "links_to_failing_pages" in found[f"{site.url}/"]
        assert each.pages["near_duplicate_cluster"].isna().all()
    written = audit.write_sitemap(tmp_path / "maps").set_index("url")["reason"].dropna()
    assert written[f"{site.url}/LICENSE"] == written[f"{site.url}/source"] == "a plain text"
