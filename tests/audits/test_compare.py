"""Two audits of one site: what changed between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.saved import HOME, HOSTILE, audit
from webanalytics.audits.compare.differences import CHANGES, OF_ONE_FETCH, OF_ROBOTS
from webanalytics.audits.history.alerts import View
from webanalytics.audits.origin import Origin
from webanalytics.fetching.testing import Reply, SiteServer

OLD = f"{HOME}old"
GONE = f"{HOME}gone"
FRESH = f"{HOME}fresh"
BEFORE = {
    HOME: "<title>Lamps for every room of the house</title><h1>One</h1><h1>Two</h1>",
    OLD: "<title>Lamps of earlier times, still good</title><h1>Old</h1>",
    GONE: "<title>Gone</title>",
}
AFTER = {
    FRESH: "<title>Fresh</title><h1>New</h1><h1>Newer</h1>",
    OLD: "<title>Lamps of earlier times, still good</title><h1>Old</h1>",
    HOME: "<title>x</title><h1>One</h1>",
}


@pytest.fixture(scope="module")
def made() -> wa.Comparison:
    return wa.compare(audit(BEFORE), audit(AFTER))


def changed(comparison: wa.Comparison, url: str) -> dict[str, tuple[object, object]]:
    rows = comparison.changes[comparison.changes["url"] == url]
    return {row.field: (row.before, row.after) for row in rows.itertuples()}


def told(comparison: wa.Comparison, url: str, rule: str) -> list[str]:
    issues = comparison.issues
    return issues.loc[(issues["url"] == url) & (issues["rule"] == rule), "change"].tolist()


def test_pages_are_added_removed_changed_or_the_same(made: wa.Comparison) -> None:
    pages = dict(zip(made.pages["url"], made.pages["change"], strict=True))
    assert pages == {FRESH: "added", OLD: "same", HOME: "changed", GONE: "removed"}
    counts = dict(zip(made.pages["url"], made.pages["fields"], strict=True))
    assert counts[HOME] == len(changed(made, HOME))
    assert counts[OLD] == counts[FRESH] == counts[GONE] == 0


def test_a_missing_address_is_no_page_that_came_or_went() -> None:
    """Three pages are 404 now; one link to nothing is new, another one has gone."""

    def site(visit: int) -> wa.Audit:
        names = [*(f"/p{row}" for row in range(4)), f"/nothing-{visit}"]
        links = "".join(f"<a href={name}>Page {name}</a>" for name in names)
        kept = names[: 1 if visit == 2 else 4]
        pages: dict[str, bytes | Reply] = {name: f"<title>{name}</title><p>Text".encode() for name in kept}
        with SiteServer({"/": links.encode(), **pages}, port=ports[-1]) as server:
            ports.append(int(server.url.rpartition(":")[2]))
            return wa.crawl(server.url, allow_private=True, progress=False, retries=0)

    ports = [0]
    comparison = wa.compare(site(1), site(2))
    assert comparison.pages["change"].value_counts().to_dict() == {
        "changed": 1,
        "gone": 3,
        "missing": 2,
        "same": 1,
    }
    assert "3 pages gone (HTTP 404 or 410)" in " ".join(repr(comparison).split())
    assert "0 pages removed" in repr(comparison)


BEHIND = {"/": ["/a", "/b"], "/a": ["/c"], "/b": ["/"], "/c": ["/d"], "/d": ["/"]}


def visited(port: int, options: dict[str, Any], **changed: bytes | Reply) -> wa.Audit:
    """A crawl of five pages, of which two are found over /a alone; some answer otherwise."""
    pages: dict[str, bytes | Reply] = {
        path: f"<title>{path}</title>{''.join(f'<a href={to}>To {to}</a>' for to in links)}".encode()
        for path, links in BEHIND.items()
    }
    pages |= {f"/{name}".replace("robots", "robots.txt"): reply for name, reply in changed.items()}
    with SiteServer(pages, port=port) as server:
        return wa.crawl(server.url, allow_private=True, progress=False, retries=0, **options)


def port_of(audit: wa.Audit) -> int:
    """Of the server that another crawl asks again."""
    return int(audit.pages["url"].min().rstrip("/").rpartition(":")[2])


@pytest.mark.parametrize(
    ("options", "changed", "behind"),
    [
        ({}, {"a": Reply(500)}, "unchecked"),
        ({}, {"a": Reply(403)}, "unchecked"),
        ({}, {"robots": b"User-agent: *\nDisallow: /a"}, "unchecked"),
        ({"exclude": ["/a"]}, {}, "unchecked"),
        ({"max_depth": 1}, {}, "unchecked"),
        ({}, {"a": Reply(404)}, "removed"),
        ({}, {"a": Reply(301, {"Location": "/b"})}, "removed"),
        ({}, {"a": b"<title>/a</title>No links any more"}, "removed"),
    ],
)
def test_pages_behind_one_that_was_not_read_are_neither_gone_nor_new(
    options: dict[str, Any], changed: dict[str, bytes | Reply], behind: str
) -> None:
    """The site has all its pages; what a crawl did not read cannot tell what is behind it."""
    whole = visited(0, {})
    origin = whole.pages["url"].min().rstrip("/")
    part = visited(port_of(whole), options, **changed)
    for sides, became in (((whole, part), "removed"), ((part, whole), "added")):
        comparison = wa.compare(*sides)
        expected = "unchecked" if behind == "unchecked" else became
        pages = comparison.pages.set_index("url")["change"]
        assert pages[[f"{origin}/c", f"{origin}/d"]].tolist() == [expected] * 2
        issues = comparison.issues
        of_them = issues["url"].isin([f"{origin}/c", f"{origin}/d"]) & issues["rule"].eq("h1_missing")
        assert issues[of_them]["change"].tolist() == [expected] * 2
        links = comparison.links.loc[comparison.links["change"] == became, "source"]
        assert f"{origin}/d" not in set(links) or behind == "removed"
    view = View(part, wa.compare(whole, part), {})
    assert view.saw(f"{origin}/c") == view.saw(f"{origin}/d") == (behind == "removed")


def test_what_a_sitemap_that_failed_listed_is_neither_gone_nor_new() -> None:
    def crawl(port: int, *listed: str, status: int = 200) -> wa.Audit:
        rows = "".join(f"<url><loc>http://127.0.0.1:{port}/{name}</loc></url>" for name in ("", *listed))
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        robots = f"Sitemap: http://127.0.0.1:{port}/sitemap.xml".encode()
        changed = {"robots": robots, "sitemap.xml": Reply(status, {}, sitemap.encode()), "far": b"<title>Far"}
        return visited(port, {}, **changed)

    whole = visited(0, {})
    port = port_of(whole)
    before, far = crawl(port, "far"), f"http://127.0.0.1:{port}/far"
    for sides, became in (
        ((before, crawl(port, "far", status=500)), "unchecked"),
        ((crawl(port, "far", status=500), before), "unchecked"),
        ((before, crawl(port)), "removed"),
        ((crawl(port), before), "added"),
    ):
        assert wa.compare(*sides).pages.set_index("url")["change"][far] == became


def test_an_issue_beside_a_page_that_was_not_read_is_neither_fixed_nor_worse() -> None:
    same = b"<title>Tea for all the rooms of the house</title>"
    whole = visited(0, {}, b=same, d=same)
    origin = whole.pages["url"].min().rstrip("/")
    for reply, became in ((Reply(503), "unchecked"), (Reply(404), "fixed"), (b"<title>Cups", "fixed")):
        later = visited(port_of(whole), {}, b=same, d=reply)
        assert told(wa.compare(whole, later), f"{origin}/b", "title_duplicate") == [became]
        back = "unchecked" if became == "unchecked" else "worse"
        assert told(wa.compare(later, whole), f"{origin}/b", "title_duplicate") == [back]


def test_a_page_that_a_sentence_ends_with_is_one_that_was_not_read() -> None:
    lead = b"<title>Tea</title><link rel=alternate hreflang=de href=/d>"
    whole = visited(0, {}, b=lead, d=b"<title>Tee</title>")
    origin = whole.pages["url"].min().rstrip("/")
    later = visited(port_of(whole), {}, b=lead, d=Reply(503))
    for sides in ((whole, later), (later, whole)):
        assert told(wa.compare(*sides), f"{origin}/b", "hreflang_missing_return") == ["unchecked"]


def test_what_is_said_of_a_host_is_not_mended_where_no_page_was_read() -> None:
    whole = visited(0, {})
    port = port_of(whole)
    comparison = wa.compare(whole, visited(port, {}, **{"": Reply(500)}))
    assert "http_page" in set(comparison.before.issues["rule"])
    assert "fixed" not in set(comparison.issues["change"])


def test_changes_are_told_field_by_field(made: wa.Comparison) -> None:
    assert list(made.changes.columns) == ["url", "field", "before", "after"]
    fields = changed(made, HOME)
    assert fields["title"] == ("Lamps for every room of the house", "x")
    assert fields["headings"] == (
        [{"level": "h1", "text": "One"}, {"level": "h1", "text": "Two"}],
        [{"level": "h1", "text": "One"}],
    )
    assert set(fields) == {"title", "headings"}
    assert set(made.changes["url"]) == {HOME}


def test_issues_got_worse_are_fixed_or_remain(made: wa.Comparison) -> None:
    assert told(made, HOME, "h1_multiple") == ["fixed"]
    assert told(made, HOME, "title_too_short") == ["worse"]
    assert told(made, HOME, "viewport_missing") == ["remaining"]
    assert told(made, FRESH, "h1_multiple") == ["added"]
    assert told(made, GONE, "title_too_short") == ["removed"]
    assert list(made.issues.columns) == ["change", *made.after.issues.columns]


def test_every_issue_of_both_is_in_one_group(made: wa.Comparison) -> None:
    groups = made.issues["change"].value_counts()
    assert groups["worse"] + groups["added"] + groups["remaining"] == len(made.after.issues)
    assert groups["fixed"] + groups["removed"] + groups["remaining"] == len(made.before.issues)


def test_the_summary_counts_rule_by_rule(made: wa.Comparison) -> None:
    rows = made.summary().set_index("rule")
    line = rows.loc["h1_multiple", ["before", "after", *CHANGES]].tolist()
    assert line == [1, 1, 0, 1, 1, 0, 0, 0]
    assert rows.loc["h1_multiple", "rule_title"] == "Several h1"
    assert (rows["before"] == rows["fixed"] + rows["removed"] + rows["remaining"]).all()
    assert (rows["after"] == rows["worse"] + rows["added"] + rows["remaining"]).all()
    worse, moved = rows["worse"] > 0, (rows[["added", "fixed", "removed"]] > 0).any(axis=1)
    order = [
        (not bad, not other, ["high", "medium", "low"].index(priority))
        for bad, other, priority in zip(worse, moved, rows["priority"], strict=True)
    ]
    assert order == sorted(order)


def test_an_address_that_is_in_an_audit_twice_counts_once() -> None:
    twice = pd.DataFrame({"url": [HOME, HOME, OLD], "html": [BEFORE[HOME], BEFORE[HOME], BEFORE[OLD]]})
    for sides in ((wa.audit(twice), audit(AFTER)), (audit(AFTER), wa.audit(twice))):
        rows = wa.compare(*sides).summary()
        assert (rows["before"] == rows[["fixed", "removed", "remaining"]].sum(axis=1)).all()
        assert (rows["after"] == rows[["worse", "added", "remaining"]].sum(axis=1)).all()


def test_an_audit_compared_with_itself_has_no_change(made: wa.Comparison) -> None:
    same = made.after.compare(made.after)
    assert len(same.changes) == 0
    assert set(same.issues["change"]) == {"remaining"}
    assert set(same.pages["change"]) == {"same"}
    assert " ".join(repr(same).split()).startswith(
        "Comparison of lamps.example: 0 pages added, 0 pages removed, 0 pages changed, 3 pages same"
    )


def test_the_order_of_rows_and_the_index_make_no_difference() -> None:
    reordered = audit(dict(reversed(BEFORE.items())), index=["x", "y", "z"])
    comparison = wa.compare(audit(BEFORE), reordered)
    assert len(comparison.changes) == 0
    assert set(comparison.issues["change"]) == {"remaining"}


def test_of_a_page_that_was_not_read_nothing_is_said_to_be_fixed() -> None:
    page = b"<title>x</title>"
    with SiteServer({"/": [page, Reply(500)], "/b": [page, Reply(404)]}) as site:
        urls = [f"{site.url}/", f"{site.url}/b"]
        options = {"allow_private": True, "progress": False, "retries": 0}
        first, second = (wa.audit(urls, **options) for _ in range(2))
    comparison = wa.compare(first, second)
    assert told(comparison, urls[0], "title_too_short") == ["unchecked"]
    assert told(comparison, urls[0], "server_error") == ["worse"]
    fields = changed(comparison, urls[0])
    assert fields == {"indexability": ("indexable", "server error"), "http_status": (200, 500)}
    back = wa.compare(second, first)
    assert told(back, urls[0], "server_error") == ["fixed"]
    assert told(back, urls[0], "title_too_short") == ["unchecked"], "nobody could look before"


def test_a_rule_that_could_not_look_says_nothing() -> None:
    full = audit(BEFORE)
    poor = wa.Audit(full.raw.drop(columns=["headings"]))
    assert "h1_multiple" not in set(poor.issues["rule"])
    assert told(wa.compare(full, poor), HOME, "h1_multiple") == ["unchecked"]
    assert told(wa.compare(poor, full), HOME, "h1_multiple") == ["unchecked"]


def test_the_width_of_a_title_that_is_not_there_is_not_mended() -> None:
    full = audit(BEFORE)
    poor = wa.Audit(full.raw.drop(columns=["title", "description"]))
    found = wa.compare(full, poor).issues
    of_width = found[found["rule"].str.contains("title_too|description_too")]
    assert len(of_width)
    assert set(of_width["change"]) == {"unchecked"}


def test_a_robots_txt_that_was_not_looked_at_is_not_corrected() -> None:
    plain = audit(BEFORE)
    closed, good = (
        wa.Audit(plain, Origin(robots={"https://lamps.example": problems})) for problems in (["Odd."], [])
    )
    assert told(wa.compare(closed, plain), HOME.rstrip("/"), "robots_txt_problems") == ["unchecked"]
    assert told(wa.compare(plain, closed), HOME.rstrip("/"), "robots_txt_problems") == ["unchecked"]
    assert told(wa.compare(closed, good), HOME.rstrip("/"), "robots_txt_problems") == ["fixed"]


def test_both_are_judged_by_the_profile_of_the_second() -> None:
    before, after = audit(BEFORE), audit(BEFORE, thresholds={"title_too_short": 2})
    comparison = wa.compare(before, after)
    assert set(comparison.issues["change"]) == {"remaining"}
    assert told(comparison, GONE, "title_too_short") == []
    assert told(wa.compare(after, before), GONE, "title_too_short") == ["remaining"]


def test_a_page_that_is_there_twice_counts_once() -> None:
    frame = pd.DataFrame({"url": [HOME, HOME], "html": [BEFORE[HOME], "<title>other"]})
    twice = wa.audit(frame, progress=False, workers=1)
    comparison = wa.compare(twice, audit({HOME: BEFORE[HOME]}))
    assert len(comparison.pages) == 1
    assert "title" not in changed(comparison, HOME)


def test_empty_audits() -> None:
    empty = wa.audit([], progress=False)
    for before, after, change in ((empty, audit(BEFORE), "added"), (audit(BEFORE), empty, "removed")):
        comparison = wa.compare(before, after)
        assert set(comparison.issues["change"]) == {change}
        assert len(comparison.pages) == 3
        assert repr(comparison)
    nothing = wa.compare(empty, empty)
    assert (len(nothing.pages), len(nothing.changes), len(nothing.issues), len(nothing.summary())) == (
        0,
        0,
        0,
        0,
    )
    assert list(nothing.issues.columns)[:2] == ["change", "url"]


def test_saved_audits_and_frames_are_compared_too(made: wa.Comparison, tmp_path: Path) -> None:
    before, after = made.before.save(tmp_path / "before"), made.after.save(tmp_path / "after")
    for pair in ((before, after), (str(before), made.after), (made.before.raw, made.after.raw)):
        again = wa.compare(*pair)
        pd.testing.assert_frame_equal(again.changes, made.changes)
        pd.testing.assert_frame_equal(again.issues, made.issues)
    pd.testing.assert_frame_equal(made.before.compare(after).changes, made.changes)


@pytest.mark.parametrize("value", [None, 5, pd.DataFrame({"a": [1]}), [1]])
def test_what_is_no_audit_is_refused(value: object, made: wa.Comparison) -> None:
    with pytest.raises(wa.ParameterError, match="The `after` parameter must be an audit, or the folder"):
        wa.compare(made.before, value)  # type: ignore[arg-type]


def test_it_shows_itself_escaped(made: wa.Comparison) -> None:
    assert " ".join(repr(made).split()).startswith(
        "Comparison of lamps.example: 1 page added, 1 page removed, 1 page changed, 1 page same, "
    )
    assert "Several h1" in repr(made)
    assert "<table" in made._repr_html_()
    issues = made.issues.copy()
    odd = wa.compare(made.before, made.after)
    odd.issues = issues.assign(rule=HOSTILE)
    assert HOSTILE not in odd._repr_html_()


def test_a_report_and_a_workbook_of_what_changed(made: wa.Comparison, tmp_path: Path) -> None:
    report = made.report(tmp_path / "report.html").read_text("utf-8")
    assert "Changed fields" in report
    import openpyxl

    made.to_excel(tmp_path / "changes.xlsx")
    book = openpyxl.load_workbook(tmp_path / "changes.xlsx", read_only=True)
    assert book.sheetnames == ["Overview", "Summary", "Issues", "Changed fields", "Changed pages"]
    rows = list(book["Changed fields"].iter_rows(values_only=True))
    book.close()
    assert (HOME, "title", "Lamps for every room of the house", "x") in rows


def test_a_slow_answer_is_no_change() -> None:
    slow, quick = (wa.Audit(audit(BEFORE).raw.assign(elapsed=seconds)) for seconds in (9.0, 0.1))
    assert "slow_response" in set(slow.issues["rule"])
    for pair in ((slow, quick), (quick, slow)):
        assert told(wa.compare(*pair), HOME, "slow_response") == ["unchecked"]
        assert set(wa.compare(*pair).pages["change"]) == {"same"}


def test_rules_that_are_named_exist() -> None:
    assert {*OF_ROBOTS, *OF_ONE_FETCH} <= set(wa.rules()["name"])


def test_the_score_before_and_after_and_what_it_came_from() -> None:
    """By hand: of two pages, one gets the charset that it lacked (1 point) and one loses its viewport (5)."""
    charset, viewport = "<meta charset=utf-8>", "<meta name=viewport content='width=device-width'>"
    one, two = "<!doctype html><title>One</title><h1>a</h1>", "<!doctype html><title>Two</title><h1>c</h1>"
    before = audit({HOME: viewport + one, OLD: charset + viewport + two})
    after = audit({HOME: charset + viewport + one, OLD: charset + two})
    comparison = wa.compare(before, after)
    points = comparison.summary().set_index("rule")["points"]
    assert points["charset_missing"] == 1 / 2
    assert points["viewport_missing"] == -5 / 2
    assert comparison.score.change == -2
    assert comparison.score.before == before.score
    assert comparison.score.after == after.score
    assert comparison.score.change == round(after.score - before.score, 1)
    assert points.sum() == pytest.approx(after.score - before.score, abs=0.1)
    assert f"Score: {before.score:g} -> {after.score:g} of 100 ({comparison.score.change:+g})" in repr(
        comparison
    )


def test_the_points_of_all_rules_are_the_change_of_the_score(made: wa.Comparison) -> None:
    assert made.score.change is not None
    assert made.summary()["points"].sum() == pytest.approx(made.score.change, abs=0.1)


def test_issues_that_went_with_their_page_are_told_apart(made: wa.Comparison) -> None:
    gone = made.issues[made.issues["url"] == GONE]
    assert set(gone["change"]) == {"removed"}
    others = set(made.issues.loc[made.issues["url"] != GONE, "change"])
    assert others <= {"worse", "added", "fixed", "remaining"}
    assert f"{len(gone)} issues removed with their page" in " ".join(repr(made).split())
    assert made.summary()["removed"].sum() == len(gone)


def test_no_score_no_change() -> None:
    empty = wa.audit([], progress=False)
    comparison = wa.compare(empty, audit(BEFORE))
    assert comparison.score.before is None
    assert comparison.score.change is None
    assert "Score" not in repr(comparison)
