"""The report of an audit in a real browser, from a file: hostile pages, filters, sorting, links, changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from tests.audits.report_data import MadeAudit
from tests.audits.test_report import HOSTILE, hostile_audit
from tests.notebook.browser.report_page import Reader, matches, shown, until
from webanalytics.audits.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_hostile_texts_are_shown_and_run_nothing(reader: Reader, tmp_path: Path) -> None:
    pages, issues, summary = hostile_audit()
    file = write_report(
        tmp_path / "h.html", pages, issues, summary, title=HOSTILE[0], changes={HOSTILE[1]: pages}
    )
    page = reader.open(file)
    for details in page.locator("details").all():
        if details.get_attribute("open") is None:
            details.locator("summary").click()
    page.locator("[data-view=cards]").click()
    assert page.locator("#list article").count() == len(HOSTILE)
    text = page.locator("body").inner_text()
    for hostile in HOSTILE[:6]:
        assert hostile in text
    for named in ("⟨U+2028⟩", "⟨U+0000⟩", "⟨U+D83D⟩", "⟨U+DC00⟩", "photo⟨U+202E⟩gpj.exe"):
        assert named in text
    for number in range(len(HOSTILE)):
        page.evaluate(f"location.hash = '#page-{number + 1}'")
        until(page, f"document.querySelector('dialog article')?.dataset.page === '{number + 1}'")
    assert page.evaluate(
        "window.ran === undefined && document.querySelectorAll('body img, iframe, svg script').length === 0"
    )
    assert page.evaluate("document.scripts.length") == 2


def test_links_lead_to_pages_alone(reader: Reader, tmp_path: Path) -> None:
    page = reader.open(write_report(tmp_path / "h.html", *hostile_audit()))
    page.locator("[data-view=cards]").click()
    links = page.evaluate(
        "[...document.querySelectorAll('a[href]')].map(a => [a.getAttribute('href'), a.rel])"
    )
    outward = [(address, rel) for address, rel in links if not address.startswith("#")]
    assert outward
    assert any("onfocus" in address for address, _ in outward)
    for address, rel in outward:
        assert address.startswith(("http://", "https://"))
        assert rel.split() == ["noopener", "noreferrer", "nofollow"]


def test_a_hostile_section_can_be_chosen(reader: Reader, tmp_path: Path) -> None:
    page = reader.open(write_report(tmp_path / "h.html", *hostile_audit()))
    page.select_option("[name=section]", "photo⟨U+202E⟩gpj.exe")
    matches(page, f"1 of {len(HOSTILE)} pages, 1 issue")


def test_the_policy_stops_what_is_not_the_reports_own(chromium: Browser, report: Path) -> None:
    """The guard behind the guard: markup that got in would not run."""
    reader = Reader(chromium)
    page, stopped = reader.open(report), []
    page.on("requestfailed", lambda request: stopped.append((request.url, request.failure)))
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.append("window.ran = 1");
        try { document.body.append(script); } catch { /* stopped even earlier */ }
        const image = document.createElement("img");
        image.src = "https://evil.example/pixel.png";
        document.body.append(image);
    }""")
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    for stop in ("requires 'TrustedScript'", "policy: img-src"):
        assert any(stop in note for note in reader.wrong), (stop, reader.wrong)
    assert stopped == [("https://evil.example/pixel.png", "csp")]
    page.context.close()


def test_filters(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page, pages, issues = reader.open(report), audit.pages, audit.issues
    matches(page, f"260 pages, {len(issues):,} issues")
    for name, value, fits in (
        ("section", "/blog/", pages["section"] == "/blog/"),
        ("status", "failed", pages["status"] != "ok"),
        ("status", "http:404", pages["http_status"] == 404),
        ("status", "none", pages["http_status"].isna()),
        ("status", "not indexable", ~pages["indexable"]),
    ):
        page.select_option(f"[name={name}]", value)
        urls = pages["url"][fits.fillna(False)]
        count = int(issues["url"].isin(urls).sum())
        matches(page, f"{len(urls)} of 260 pages, {count:,} issue{'s' * (count != 1)}")
        page.get_by_role("button", name="Clear").click()
        matches(page, f"260 pages, {len(issues):,} issues")
    for value, fits in (
        ("rule:title_missing", issues["rule"] == "title_missing"),
        ("category:title", issues["category"] == "title"),
    ):
        page.select_option("[name=rule]", value)
        matches(page, f"{issues['url'][fits].nunique()} of 260 pages, {fits.sum()} issues")
    page.get_by_role("button", name="Clear").click()
    page.fill("[name=text]", "LAMP desk")
    texts = pages[["url", "title", "description"]].fillna("").agg(" ".join, axis=1).str.lower()
    urls = pages["url"][texts.str.contains("lamp") & texts.str.contains("desk")]
    assert 0 < len(urls) < 260
    matches(page, f"{len(urls)} of 260 pages, {issues['url'].isin(urls).sum()} issues")


def test_a_filter_narrows_rules(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page = reader.open(report)
    page.select_option("[name=priority]", "high")
    high = set(audit.issues.loc[audit.issues["priority"] == "high", "rule"])
    until(page, "document.querySelector('#rule-lang_missing').hidden")
    visible = page.evaluate("[...document.querySelectorAll('details.rule:not([hidden])')].map(e => e.id)")
    assert set(visible) == {f"rule-{name}" for name in high}
    page.goto(f"{report.as_uri()}#rule-lang_missing")  # a link to what is filtered out shows it
    until(page, "document.querySelector('#rule-lang_missing').open")
    assert page.locator("#rule-lang_missing tbody tr").count() == 25


def test_heads_of_groups_count_what_the_filter_shows(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page, issues = reader.open(report), audit.issues

    def heads() -> dict[str, str]:
        groups = page.locator(".group:not([hidden]) h3").all()
        return {
            head.inner_text().split()[0].lower(): head.inner_text().partition("priority ")[2]
            for head in groups
        }

    def counts(found: pd.DataFrame) -> dict[str, tuple[int, int]]:
        return {name: (part["rule"].nunique(), len(part)) for name, part in found.groupby("priority")}

    everything = {name: f"{rules} rules, {found:,} issues" for name, (rules, found) in counts(issues).items()}
    faults = issues[issues["type"] != "warning"]["priority"].value_counts()
    costing = {
        name: f"{said}; {faults[name]:,} of them take points"
        if faults[name] < counts(issues)[name][1]
        else said
        for name, said in everything.items()
    }
    assert heads() == costing
    page.select_option("[name=section]", "/news/")
    urls = audit.pages["url"][audit.pages["section"] == "/news/"]
    until(page, "document.querySelector('#matches').textContent.includes(' of ')")
    fits = counts(issues[issues["url"].isin(urls)])
    assert heads() == {
        name: f"{rules} of {{}}, {found:,} of {{}}".format(*everything[name].split(", "))
        for name, (rules, found) in fits.items()
    }
    page.get_by_role("button", name="Clear").click()
    matches(page, f"260 pages, {len(issues):,} issues")
    assert heads() == costing


def test_languages_have_names_and_filter(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page, pages, issues = reader.open(report), audit.pages, audit.issues
    chapter = page.get_by_role("region", name="Languages", exact=True)
    chapter.get_by_role("button", name="German (de)").click()
    urls = pages["url"][pages["language"].eq("de")]
    matches(page, f"{len(urls)} of 260 pages, {issues['url'].isin(urls).sum()} issues")
    assert page.input_value("[name=language]") == "de"
    assert page.locator("[name=language] option:checked").inner_text() == f"German ({len(urls)})"
    page.select_option("[name=language]", "undetermined")
    urls = pages["url"][pages["language"].isna() & pages["status"].eq("ok")]
    matches(page, f"{len(urls)} of 260 pages, {issues['url'].isin(urls).sum()} issues")


def test_a_card_has_issues_and_text_before_its_facts(reader: Reader, report: Path, audit: MadeAudit) -> None:
    row = int(audit.pages["text"].notna().idxmax())
    card = reader.open(report, f"#page-{row + 1}").get_by_role("dialog")
    heads = [head.inner_text() for head in card.locator("h3").all()]
    assert heads[0].endswith((" issue", " issues"))
    assert heads[1:] == ["Previews", "Text", "Facts"]
    assert audit.pages["text"][row][:300] in card.inner_text()


def test_a_page_that_was_not_read_says_why_in_the_list(
    reader: Reader, report: Path, audit: MadeAudit
) -> None:
    page = reader.open(report)
    page.select_option("[name=status]", "failed")
    until(page, "document.querySelector('#matches').textContent.includes(' of ')")
    errors = [place.inner_text() for place in page.locator("#list .error").all()]
    said = audit.pages.loc[audit.pages["status"] != "ok", "error"]
    assert errors == [text.replace("`", "") for text in said]


def test_figures_and_the_matrix_filter(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page = reader.open(report)
    page.locator(".tile.high button").click()
    assert page.input_value("[name=priority]") == "high"
    cell = page.locator(".matrix button[data-section='/blog/'][data-category=title]")
    expected = audit.issues[audit.issues["category"] == "title"].merge(
        audit.pages[["url", "section"]], on="url"
    )
    expected = expected[expected["section"] == "/blog/"]
    assert cell.inner_text() == str(expected["url"].nunique())
    cell.click()
    matches(page, f"{expected['url'].nunique()} of 260 pages, {len(expected)} issues")


def test_sorting(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page = reader.open(report)
    level = {"high": 10**8, "medium": 10**4, "low": 1}
    faults = audit.issues[audit.issues["type"] != "warning"]
    weights = faults["priority"].astype(str).map(level).groupby(faults["url"]).sum()
    worst = audit.pages["url"].map(weights).fillna(0).sort_values(ascending=False, kind="stable").index + 1
    assert shown(page) == worst[:100].tolist()
    header = page.locator("th", has=page.get_by_role("button", name="Words"))
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.dataset.sort") == "wordCount"
    words = audit.pages["wordCount"]
    assert shown(page)[:20] == (words.astype(float).sort_values(kind="stable").index + 1)[:20].tolist()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    top = shown(page)[0]
    assert words[top - 1] == words.max()
    page.select_option("#sort", "row")
    assert shown(page) == list(range(1, 101))
    pager = page.get_by_role("navigation", name="Parts of the list of pages")
    pager.get_by_role("button", name="Last").click()
    assert shown(page) == list(range(201, 261))


def test_rules_open_with_their_pages(reader: Reader, report: Path, audit: MadeAudit) -> None:
    page = reader.open(report, "#rule-description_too_short")
    rule = page.locator("#rule-description_too_short")
    found = audit.issues[audit.issues["rule"] == "description_too_short"]
    assert rule.get_attribute("open") is not None
    assert rule.locator("tbody tr").count() == 25
    first = rule.locator("tbody tr").first.inner_text()
    assert f"\t{found['value'].iloc[0]:.0f}\t" in first
    assert found["evidence"].iloc[0] in first
    assert "Threshold (pixels): 70" in rule.inner_text()
    assert "Mend what description too short names." in rule.inner_text()
    rule.get_by_role("button", name="Last").click()
    assert found["evidence"].iloc[-1] in rule.locator("tbody tr").last.inner_text()


def test_a_deep_link_opens_a_card(reader: Reader, report: Path, audit: MadeAudit) -> None:
    row = int(audit.pages["og:title"].notna().idxmax())
    page = reader.open(report, f"#page-{row + 1}")
    card = page.get_by_role("dialog")
    text = card.inner_text()
    values = audit.pages.loc[row]
    for shown_value in (
        values["url"],
        values["title"],
        values["og:site_name"],
        "Image, not loaded",
        values["og:image"],
    ):
        assert shown_value in text
    issues = audit.issues[audit.issues["url"] == values["url"]]
    assert f"{len(issues)} issues" in text
    for evidence in issues["evidence"]:
        assert evidence in text
    assert card.locator("img").count() == 0


@pytest.mark.parametrize(
    "fragment", ["#page-0", "#page-261", "#page-99999999999", "#rule-unknown", "#%E0%A4%A", "#constructor"]
)
def test_links_to_nothing_show_the_report(reader: Reader, report: Path, fragment: str) -> None:
    page = reader.open(report, fragment)
    assert page.locator("#list tbody tr").count() == 100
    assert page.locator("dialog[open]").count() == 0


def test_changes_lead_to_pages(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    change = page.locator("details.change")
    assert [cell.inner_text() for cell in change.locator("tbody td").all()][1:] == ["Old", "New"]
    change.locator("tbody a").click()
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("location.hash") == "#page-5"
