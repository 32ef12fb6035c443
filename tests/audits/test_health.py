"""The health score: its formula by hand, and what it does not count."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import webanalytics as wa
from webanalytics.audits.origin import Origin
from webanalytics.audits.score import Health
from webanalytics.audits.site import Site


def site(**columns: list[object]) -> Site:
    rows = len(next(iter(columns.values())))
    urls = [f"https://example.org/{row}" for row in range(rows)]
    return Site(pd.DataFrame({"url": urls, "status": ["ok"] * rows} | columns))


def issues(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["url", "rule", "type", "priority"])


FIRST = "https://example.org/0"


def page_scores(pages: Site, found: pd.DataFrame) -> list[float | None]:
    return Health(pages, found).scores


def score(pages: Site, found: pd.DataFrame) -> float | None:
    return Health(pages, found).score


def test_each_fault_costs_by_its_priority_and_warnings_cost_nothing() -> None:
    found = issues(
        (FIRST, "a", "issue", "high"),
        (FIRST, "b", "opportunity", "medium"),
        (FIRST, "c", "issue", "low"),
        (FIRST, "d", "warning", "high"),
    )
    pages = site(status=["ok", "ok"])
    assert page_scores(pages, found) == [74.0, 100.0]  # 100 - 20 - 5 - 1
    assert score(pages, found) == 87.0
    counts = Health(pages, found).counts_by_priority()
    assert counts == {"high": [1, 0], "medium": [1, 0], "low": [1, 0]}, (
        "the counts beside the score are its sum"
    )


def test_a_page_does_not_fall_below_zero() -> None:
    found = issues(*((FIRST, f"rule {number}", "issue", "high") for number in range(7)))
    assert page_scores(site(status=["ok"]), found) == [0.0]


def test_a_missing_address_is_no_page_and_one_that_the_server_fails_to_give_counts_as_zero() -> None:
    pages = site(
        status=["ok", "error", "error", "error", "error"],
        error_type=[None, "http", "http", "timeout", "robots"],
        http_status=[200, 404, 503, None, None],
    )
    assert page_scores(pages, issues()) == [100.0, None, None, None, None]
    assert score(pages, issues()) == 50.0  # of the page and the 503
    gone = site(status=["error"], error_type=["http"], http_status=[404])
    assert score(gone, issues()) is None


def test_a_page_counts_once_however_often_it_was_given() -> None:
    pages = site(url=[FIRST, FIRST], final_url=[FIRST, FIRST])
    found = issues(*[(FIRST, "a", "issue", "high")] * 2)
    assert page_scores(pages, found) == [80.0, 80.0]
    assert score(pages, found) == 80.0


def test_no_page_no_score() -> None:
    assert score(site(status=["error"], error_type=["dns"]), issues()) is None
    assert wa.audit([], progress=False).score is None


@pytest.mark.parametrize(
    ("rule", "closed", "points", "alarm"),
    [
        ("noindex", 1, 99.8, ""),  # 1 - (1/20)^2
        ("noindex", 2, 99.0, ""),
        ("noindex", 10, 75.0, "10 of 20 pages may not be indexed: noindex."),
        ("noindex_header", 20, 0.0, "None of 20 pages may be indexed: noindex."),
        ("blocked_for_googlebot", 20, 0.0, "None of 20 pages may be indexed: closed by robots.txt."),
        ("canonicalised", 20, 0.0, "None of 20 pages may be indexed: the canonical link leads elsewhere."),
        ("nofollow", 20, 75.0, "The links of 20 of 20 pages may not be followed: nofollow."),
        ("nofollow", 2, 99.8, ""),  # 1 - (1/10)^2 / 4
    ],
)
def test_what_keeps_pages_from_being_found_costs_by_the_square_of_its_share(
    rule: str, closed: int, points: float, alarm: str
) -> None:
    pages = site(url=[f"https://example.org/{row}" for row in range(20)])
    found = issues(*((f"https://example.org/{row}", rule, "warning", "high") for row in range(closed)))
    health = Health(pages, found)
    assert (health.score, health.alarm) == (points, alarm)
    assert sum(health.costs_by_rule().values()) == pytest.approx(100 - points, abs=0.051)
    assert sum(health.points) == pytest.approx(100 - points, abs=0.051)


def test_a_hidden_page_in_the_sitemap_is_one_fact_and_its_cause_gives_all_that_is_missing() -> None:
    """By hand: 5 of 20 pages, 1 - (1/4)^2; a second address of a page is not hidden, and the sitemap names it."""
    pages = site(url=[f"https://example.org/{row}" for row in range(20)])
    hidden = [(f"https://example.org/{row}", "noindex", "warning", "high") for row in range(5)]
    named = [(f"https://example.org/{row}", "sitemap_not_indexable", "issue", "high") for row in range(6)]
    health = Health(pages, issues(*hidden, *named[:5]))
    assert (health.score, sum(health.points[:5])) == (93.8, pytest.approx(6.25))
    assert not health.points[5:].any()
    other = Health(pages, issues(*hidden, *named))
    assert other.told_again.tolist() == [False] * 5 + [True] * 5 + [False]
    assert other.points[-1] == pytest.approx(20 / 20 * (1 - 1 / 16))


def test_pages_that_robots_txt_closed_to_the_audit_are_pages_that_cannot_be_found() -> None:
    closed = site(status=["error"] * 3, error_type=["robots"] * 3)
    found = issues(
        *((f"https://example.org/{row}", "blocked_by_robots", "warning", "high") for row in range(3))
    )
    health = Health(closed, found)
    assert (health.score, health.alarm) == (0.0, "None of 3 pages may be indexed: closed by robots.txt.")
    assert health.costs_by_rule() == {"blocked_by_robots": pytest.approx(100)}


def canonicals(*targets: tuple[str, str]) -> wa.Audit:
    """Pages of different titles that name these pages as canonical, by path."""
    frame = {
        "url": [f"https://example.org{path}" for path, _ in targets],
        "html": [
            f'<title>Lamp {path.split("?")[0]}</title><link rel=canonical href="https://example.org{name}">'
            for path, name in targets
        ],
    }
    return wa.audit(pd.DataFrame(frame), progress=False, workers=1)


def test_a_second_address_of_a_page_is_none_that_cannot_be_found() -> None:
    shop = canonicals(("/lamp", "/lamp"), *((f"/lamp?colour={number}", "/lamp") for number in range(9)))
    assert shop.health.hidden == {}
    assert shop.alarm == ""
    wrong = canonicals(("/", "/"), *((f"/lamp{number}", "/") for number in range(9)))
    assert len(wrong.health.hidden) == 9
    assert wrong.alarm == "9 of 10 pages may not be indexed: the canonical link leads elsewhere."


def test_a_fault_of_the_host_costs_by_the_share_of_its_pages_and_no_page_of_its_own() -> None:
    """By hand: 5 of 20 pages are sent without https, a high fault: 20 points by a quarter."""
    urls = [f"http{'s' * (row > 4)}://example.org/{row}" for row in range(20)]
    audit = wa.audit(
        pd.DataFrame({"url": urls, "html": ["<title>Lamps</title><p>Lamp"] * 20}), progress=False
    )
    (found,) = audit.issues[audit.issues["rule"] == "http_page"].to_dict("records")
    assert (found["url"], found["scope"], found["pages"]) == ("http://example.org", "host", 5)
    assert found["evidence"] == "5 of 20 pages (25%), such as http://example.org/0."
    assert audit.health.costs_by_rule()["http_page"] == pytest.approx(5)
    assert audit.pages["score"].nunique() == 1, "pages with and without https have the same score"
    assert audit.summary().set_index("rule").loc["http_page", ["pages", "share"]].tolist() == [5, 0.25]


@pytest.mark.parametrize(
    ("faulty", "pages"),
    [(("http",), 5), (("https",), 15), (("http", "https"), 20)],
    ids=["http", "https", "both"],
)
def test_a_robots_txt_is_of_the_pages_of_its_scheme(faulty: tuple[str, ...], pages: int) -> None:
    """RFC 9309, section 2.3: the file of an authority, and with the scheme as every address has it."""
    urls = [f"http{'s' * (row > 4)}://example.org/{row}" for row in range(20)]
    frame = pd.DataFrame({"url": urls, "html": ["<title>Lamps</title><p>Lamp"] * 20})
    robots = {f"{scheme}://example.org": ["It is not a text in UTF-8."] for scheme in faulty}
    audit = wa.Audit(wa.audit(frame, progress=False).raw, Origin(robots=robots))
    (found,) = audit.issues[audit.issues["rule"] == "robots_txt_problems"].to_dict("records")
    assert found["pages"] == pages


@pytest.mark.parametrize("fault", ["title", "lang"])
def test_mending_a_fault_raises_the_score(fault: str) -> None:
    good = "<!doctype html><html lang=en><title>Storm lanterns for dark evenings</title><h1>Lanterns</h1>"
    bad = good.replace(" lang=en", "") if fault == "lang" else good.replace("Storm", "").split("<title>")[0]
    before, after = (
        wa.audit(pd.DataFrame({"url": [FIRST], "html": [html]}), progress=False) for html in (bad, good)
    )
    assert before.score is not None
    assert after.score is not None
    if fault == "lang":  # a warning: another attribute may name the language
        assert after.score == before.score
    else:
        assert after.score > before.score


def test_a_redirect_counts_where_it_ends() -> None:
    """By hand: /0 leads to /1, which has a medium fault; /2 leads outside of what was given, with a low one."""
    pages = site(
        status=["ok"] * 3,
        final_url=["https://example.org/1", "https://example.org/1", "https://example.org/new"],
        redirects=[[FIRST], [], ["https://example.org/2"]],
    )
    found = issues(
        (FIRST, "redirect", "issue", "low"),
        ("https://example.org/1", "a", "issue", "medium"),
        ("https://example.org/2", "redirect", "issue", "low"),
    )
    assert page_scores(pages, found) == [99.0, 95.0, 99.0]
    assert score(pages, found) == 97.0
    assert Health(pages, found, [0, 1]).score == 99.0, "each page once, by its first row"
    assert Health(pages, found, [1]).score == 95.0


FAULTS = st.lists(
    st.tuples(
        st.sampled_from([f"https://example.org/{row}" for row in range(5)]),
        st.sampled_from([*(f"rule {number}" for number in range(5)), "noindex", "nofollow", "canonicalised"]),
        st.sampled_from(["issue", "opportunity", "warning"]),
        st.sampled_from(["high", "medium", "low"]),
    ),
    max_size=40,
    unique_by=lambda fault: fault[:2],
)
KINDS = st.lists(st.sampled_from(["", "http", "timeout", "dns"]), min_size=5, max_size=5)


@given(faults=FAULTS, kinds=KINDS, data=st.data())
def test_fixing_any_fault_never_lowers_the_score(
    faults: list[tuple[str, str, str, str]], kinds: list[str], data: st.DataObject
) -> None:
    pages = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
    before = score(pages, issues(*faults))
    if faults:
        fixed = data.draw(st.integers(0, len(faults) - 1))
        after = score(pages, issues(*faults[:fixed], *faults[fixed + 1 :]))
        assert before is after is None or after >= before
    found = issues(*(fault for fault in faults if fault[1].startswith("rule")))
    before = score(pages, found)
    broken = [row for row, kind in enumerate(kinds) if kind == "http"]
    for row in broken:  # a page that answers again, and may be found
        kinds[row] = ""
        mended = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
        assert score(mended, found) >= before


@given(faults=FAULTS, kinds=KINDS)
def test_the_costs_of_all_rules_are_what_is_missing_to_100(
    faults: list[tuple[str, str, str, str]], kinds: list[str]
) -> None:
    urls = [f"https://example.org/{row}" for row in range(5)]
    found = issues(
        *faults,
        *((url, "error", "issue", "high") for url, kind in zip(urls, kinds, strict=True) if kind == "http"),
    )
    pages = site(status=["error" if kind else "ok" for kind in kinds], error_type=list(kinds))
    known = score(pages, found)
    costs = Health(pages, found).costs_by_rule()
    assert sum(costs.values()) == pytest.approx(0 if known is None else 100 - known, abs=0.051)
