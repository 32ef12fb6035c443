"""The report of an audit in a real browser, from a file: hostile pages, filter, sort, links, keys, windows, speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from tests.audits.report_data import MadeAudit, made_audit
from tests.audits.test_report import HOSTILE, hostile_audit
from webanalytics.audits.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WATCH = """addEventListener("securitypolicyviolation", event => console.error(
    `policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""
PAGES = 5000
SECONDS = 2.0
"""How long a report of 5,000 pages may take until its first screen is shown."""


class Reader:
    """Opens reports, and notes everything that none may do."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.wrong: list[str] = []

    def open(self, file: Path, fragment: str = "", **options: Any) -> Page:
        context = self._browser.new_context(**{"viewport": {"width": 1400, "height": 900}} | options)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.on("console", lambda message: self.wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.wrong.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: self._requested(request.url))
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    def _requested(self, url: str) -> None:
        if not url.startswith("file:"):
            self.wrong.append(f"request: {url[:200]}")


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    reader = Reader(chromium)
    yield reader
    for context in chromium.contexts:
        context.close()
    assert reader.wrong == []


@pytest.fixture(scope="module")
def audit() -> MadeAudit:
    return made_audit(260)


@pytest.fixture(scope="module")
def report(audit: MadeAudit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    changes = {
        "Changed fields": pd.DataFrame({"url": [audit.pages["url"][4]], "before": ["Old"], "after": ["New"]})
    }
    file = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(file, audit.pages, audit.issues, audit.summary, changes=changes)


def until(page: Page, expression: str, argument: Any = None) -> None:
    """Wait for something in the page, without the eval in it that its policy forbids."""
    end = time.monotonic() + 30
    while not page.evaluate(expression, argument):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


def matches(page: Page, text: str) -> None:
    until(page, "text => document.getElementById('matches').textContent === text", text)


def shown(page: Page) -> list[int]:
    """Numbers of the pages in the list, in its order."""
    return [int(row.get_attribute("data-page") or 0) for row in page.locator("#list [data-page]").all()]


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
    assert heads() == everything
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
    assert heads() == everything


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
    assert errors == audit.pages.loc[audit.pages["status"] != "ok", "error"].tolist()


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
    weights = audit.issues["priority"].map(level).groupby(audit.issues["url"]).sum()
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
    assert "Threshold: 70" in rule.inner_text()
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


def test_a_card_by_keyboard(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    link = page.locator("#list tbody a").first
    link.focus()
    page.keyboard.press("Enter")
    card = page.get_by_role("dialog")
    card.wait_for()
    assert page.evaluate("document.activeElement.id") == "card-title"
    number = shown(page)[1]
    card.get_by_role("button", name="Next").press("Enter")
    assert page.evaluate("location.hash") == f"#page-{number}"
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('dialog').open")
    assert page.evaluate("document.activeElement === document.querySelector('#list tbody a')")
    assert page.evaluate("location.hash") == "#pages"
    link.press("Enter")
    card.locator(".issues a").first.press("Enter")
    until(page, "!document.querySelector('dialog').open")
    assert (
        page.evaluate("document.activeElement.parentElement.open && document.activeElement.tagName")
        == "SUMMARY"
    )


def test_landmarks_and_names(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    for role, name in (
        ("banner", None), ("main", None), ("contentinfo", None), ("search", "Filter issues and pages"),
        ("navigation", "Parts of the report"), ("region", "Overview"), ("region", "Issues"), ("region", "Pages"),
        ("region", "What changed"), ("region", "Table of pages"), ("table", "Pages"),
    ):  # fmt: skip
        found = page.get_by_role(role, name=name, exact=True) if name else page.get_by_role(role)
        assert found.count() == 1, (role, name)
    assert page.get_by_role("heading", level=1).count() == 1
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, select, input")].filter(
        e => !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).length""")
    assert nameless == 0


@pytest.mark.parametrize("width", [360, 800, 1400])
@pytest.mark.parametrize("view", ["table", "cards"])
def test_nothing_sticks_out_of_the_window(reader: Reader, report: Path, width: int, view: str) -> None:
    page = reader.open(report, viewport={"width": width, "height": 800})
    page.locator(f"[data-view={view}]").click()
    page.locator("details.rule summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{report.as_uri()}#page-2")
    assert page.evaluate(
        "document.querySelector('dialog').scrollWidth <= document.querySelector('dialog').clientWidth"
    )


def test_dark_and_light_differ_and_can_be_read(reader: Reader, report: Path) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        page = reader.open(report, color_scheme=scheme)
        grounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        for selector in (
            ".note",
            ".badge.high",
            ".badge.medium",
            ".badge.low",
            ".address",
            ".tile .after",
            "ol.first p",
            ".reach span",
            ".of-chapter td .set, .of-chapter th .set",
            ".number small",
            "a",
        ):
            assert page.evaluate(CONTRAST, selector) >= 4.5, (scheme, selector)
    assert grounds["light"] != grounds["dark"]


CONTRAST = """selector => {
    const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(p => p / 255).map(
        p => p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4).reduce(
        (sum, p, i) => sum + p * [0.2126, 0.7152, 0.0722][i], 0);
    const element = document.querySelector(selector.split(', ').map(part => `main ${part}`).join(', '));
    let ground = element;
    while (numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
    const pair = [getComputedStyle(element).color, getComputedStyle(ground).backgroundColor].map(numbers).map(light);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
}"""


def test_print_has_every_rule_and_no_controls(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    page.emulate_media(media="print")
    assert not page.locator("#filter").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    rules = page.locator("details.rule")
    assert page.locator("details.rule[open] .list tbody").count() == rules.count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.rule[open]").count() == 0
    assert page.pdf()[:5] == b"%PDF-"


def test_changes_lead_to_pages(reader: Reader, report: Path) -> None:
    page = reader.open(report)
    change = page.locator("details.change")
    assert [cell.inner_text() for cell in change.locator("tbody td").all()][1:] == ["Old", "New"]
    change.locator("tbody a").click()
    page.get_by_role("dialog").wait_for()
    assert page.evaluate("location.hash") == "#page-5"


def test_five_thousand_pages_open_in_two_seconds(reader: Reader, tmp_path: Path) -> None:
    audit = made_audit(PAGES)
    file = write_report(tmp_path / "r.html", audit.pages, audit.issues, audit.summary)
    times = []
    for _ in range(5):
        page = reader.open(file)
        until(page, "performance.getEntriesByName('report-shown').length")
        times.append(page.evaluate("performance.getEntriesByName('report-shown')[0].startTime") / 1000)
        assert page.locator("#list tbody tr").count() == 100
        page.context.close()
    assert statistics.median(times) < SECONDS, times
