"""The report for every reader: by keyboard, narrow and wide, dark and light, on paper, and of thousands of pages."""

from __future__ import annotations

import statistics
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.report_data import NOTHING, made_audit
from tests.notebook.browser.report_page import Reader, shown, until
from webanalytics.audits.report import Brand, write_report

PAGES = 5000
SECONDS = 2.0
"""What a report of 5,000 pages may cost its browser's main thread, in processor time, until it
is shown."""


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
    until(page, "location.hash === '#pages'")  # going back in history takes a moment
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


LINES = """element => {
    const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), found = [];
    for (let node = text.nextNode(); node; node = text.nextNode())
        for (const word of node.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            found.push([word[0], new Set([...range.getClientRects()].map(rect => rect.top)).size]);
        }
    return found;
}"""
"""On how many lines each word of an element stands."""


@pytest.mark.parametrize("width", [360, 768])
def test_words_and_addresses_are_not_cut_into_crumbs(reader: Reader, tmp_path: Path, width: int) -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"], "status": ["ok"]})
    address = "https://a.example/products/lamps/?brand=brass&colour=black&size=large"
    kinds = ("worse", "added", "fixed", "removed", "remaining", "unchecked")
    summary = pd.DataFrame({"rule": ["robots_conflict"], "rule_title": ["Directives robots contradictoires"]})
    summary = summary.assign(priority="medium", before=1, after=2, points=-1.0, **dict.fromkeys(kinds, 1))
    issues = pd.DataFrame(
        {"url": pages["url"], "rule": "robots_conflict", "change": "worse", "priority": "medium"}
    )
    facts = pd.DataFrame({"url": [address], "fact": ["not in the audit"], "clicks": [3]})
    file = write_report(
        tmp_path / "report.html", pages, issues, pd.DataFrame(), work={"Search results": facts},
        changes={"Summary": summary, "Issues": issues},
    )  # fmt: skip
    page = reader.open(file, viewport={"width": width, "height": 800})
    words = dict(page.locator(".of-changes tbody th").evaluate(LINES))
    assert words["contradictoires"] == 1, words
    (lines,) = dict(page.locator(f"td:has-text('{address[-10:]}')").evaluate(LINES)).values()
    assert lines <= 1 + len(address) / 15


@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_one_title_are_told_apart(reader: Reader, tmp_path: Path, width: int) -> None:
    urls = [
        f"https://www.shop.example/en/products/lamps-of-brass/table-lamps/{number}" for number in range(9)
    ]
    pages = pd.DataFrame({"url": urls, "status": "ok", "title": "Lamp"})
    file = write_report(tmp_path / "report.html", pages, NOTHING, pd.DataFrame())
    page = reader.open(file, viewport={"width": width, "height": 800})
    cut = page.locator("#list .address bdi").evaluate_all(
        "all => all.map(e => e.scrollHeight > e.clientHeight)"
    )
    assert cut == [False] * 9


def test_the_name_of_a_figure_is_not_cut(reader: Reader, tmp_path: Path) -> None:
    urls = [f"http://a.example/{status}" for status in (200, 404, 500)]
    frame = pd.DataFrame({"url": urls, "html": "<p>", "http_status": [200, 404, 500]})
    audit = wa.audit(frame, progress=False)
    for language in ("en", "de", "fr", "es"):
        file = audit.report(tmp_path / f"{language}.html", language=language)
        page = reader.open(file, viewport={"width": 1280, "height": 800})
        words = [word for name in page.locator(".tile .name").all() for word in name.evaluate(LINES)]
        assert len(words) >= 8
        assert {lines for _, lines in words} == {1}, words


def test_a_page_without_address_and_title_can_be_opened(reader: Reader, tmp_path: Path) -> None:
    """WCAG 2.4.4: what a link is for is known from its text, and a link has one."""
    rows = {"url": ["https://a.example/", ""], "status": "error", "error": ["Gone.", "No address."]}
    changes = {"Changed pages": pd.DataFrame({"url": ["https://a.example/", ""], "change": "added"})}
    file = write_report(
        tmp_path / "report.html", pd.DataFrame(rows), NOTHING, pd.DataFrame(), changes=changes
    )
    page = reader.open(file)
    names = page.evaluate("[...document.querySelectorAll('main a')].map(link => link.textContent.trim())")
    assert "" not in names
    assert names.count("Page 2") == 2
    page.goto(f"{file.as_uri()}#page-2")
    assert page.locator("#card-title").text_content() == "Page 2"


def test_signs_between_a_name_and_a_value_are_those_of_french(reader: Reader, tmp_path: Path) -> None:
    made = made_audit(20)
    brand = Brand(language="fr")
    file = write_report(tmp_path / "report.html", made.pages, made.issues, made.summary, brand=brand)
    page = reader.open(file)
    page.goto(f"{file.as_uri()}#page-1")
    limits = page.evaluate("[...document.querySelectorAll('#card .measured')].map(e => e.textContent)")
    limits = [text for text in limits if "Seuil" in text]
    assert limits
    assert all("Seuil\u00a0: " in text for text in limits)


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
    low = page.locator("details.rule:has(summary .badge.low)")
    assert page.locator("details.rule[open]").count() == rules.count()
    assert page.locator("details.rule[open] .list tbody").count() == rules.count() - low.count()
    assert all(len(rows.all()) <= 5 for rows in (part.locator("tr") for part in rules.locator("tbody").all()))
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.rule[open]").count() == 0
    assert page.pdf()[:5] == b"%PDF-"


def test_a_printed_comparison_says_what_changed(reader: Reader, tmp_path: Path) -> None:
    urls = [f"https://tea.example/{number}" for number in range(30)]
    titles = [[f"{month} {number}" for number in range(30)] for month in ("October", "November")]
    pages = [[f"<title>{title}</title><p>Tea" for title in of_month] for of_month in titles]
    made = [wa.audit(pd.DataFrame({"url": urls, "html": html}), progress=False) for html in pages]
    page = reader.open(wa.compare(*made).report(tmp_path / "changes.html"))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    fields = page.locator("#changes ~ details.change", has_text="Changed fields")
    assert fields.locator("tbody tr").count() == 25
    assert "November 7" in fields.inner_text()
    assert fields.locator(".pager").inner_text().split() == ["1", "to", "25", "of", "30"]
    assert not fields.locator(".pager button").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert fields.get_attribute("open") is None


def test_five_thousand_pages_open_in_two_seconds(reader: Reader, tmp_path: Path) -> None:
    audit = made_audit(PAGES)
    file = write_report(tmp_path / "r.html", audit.pages, audit.issues, audit.summary)
    page = reader.open(file)
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})
    spent = []
    for _ in range(3):
        page.reload()
        until(page, "performance.getEntriesByName('report-shown').length")
        metrics = browser.send("Performance.getMetrics")["metrics"]
        spent.append(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))
        assert page.locator("#list tbody tr").count() == 100
    assert 0.01 < statistics.median(spent) < SECONDS, spent  # counted from each reload
