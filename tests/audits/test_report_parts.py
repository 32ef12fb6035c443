"""The report's parts beside issues and pages: its first screen, its order, and how it cuts pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import lxml.html
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.report_data import NOTHING, made_audit, readable, shown, texts
from tests.audits.test_report import HOSTILE, data_of
from webanalytics.audits.report import build, write_report
from webanalytics.audits.report.content import read
from webanalytics.audits.report.groups import cut

RANKED = [
    # rule, priority, pages, indexable, findings
    ("b", "high", 9, 2, 9),
    ("a", "high", 3, 3, 3),
    ("d", "medium", 5, 5, 5),
    ("c", "medium", 5, 5, 40),
    ("e", "low", 99, 99, 99),
]
FIX_FIRST = ["a", "b", "c", "d", "e"]


def ranked(rules: list[tuple[Any, ...]] = RANKED) -> dict[str, pd.DataFrame]:
    pages = pd.DataFrame({"url": [f"https://a.example/{number}" for number in range(99)], "status": "ok"})
    issues = pd.DataFrame(
        [
            {"url": url, "rule": rule, "rule_title": f"Rule {rule}", "category": rule, "priority": priority}
            for rule, priority, count, *_ in rules
            for url in pages["url"][:count]
        ]
    )
    summary = pd.DataFrame(rules, columns=["rule", "priority", "pages", "indexable", "findings"])
    return {"pages": pages, "issues": issues, "summary": summary.sample(frac=1, random_state=3)}


def test_every_list_of_rules_is_in_the_order_fix_first() -> None:
    frames = ranked()
    pages = frames["pages"].assign(section=["x", "y", "z"] * 33)
    document = shown(pages, frames["issues"], summary=frames["summary"])
    titles = [f"Rule {name}" for name in FIX_FIRST]
    assert texts(document.xpath("//ol[@class='first']//a")) == titles
    assert texts(document.xpath("//details[contains(@class, 'rule')]//span[@class='name']")) == titles
    categories = [name.capitalize() for name in FIX_FIRST]
    assert texts(document.xpath("//table[@class='matrix']//th[@scope='col']"))[2:] == categories
    assert [group.get("label") for group in document.iter("optgroup")] == categories
    assert [rule["name"] for rule in data_of_document(document)["rules"]] == FIX_FIRST


def data_of_document(document: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(document.get_element_by_id("data").text)
    return found


def test_the_order_is_counted_where_the_summary_lacks_it() -> None:
    frames = ranked()
    indexable = [number not in range(7) for number in range(99)]
    pages = frames["pages"].assign(indexable=indexable)
    content = read(pages, frames["issues"], pd.DataFrame())
    # b stands on nine pages of which two may be indexed, a on none that may, and c and d on none alike
    assert [(line.name, line.indexable) for line in content.rules] == [
        ("b", 2), ("a", 0), ("d", 0), ("c", 0), ("e", 92),
    ]  # fmt: skip


def test_rules_of_high_priority_are_all_on_the_first_screen() -> None:
    rules = [(f"r{number:02}", "high", 1, 1, 1) for number in range(11)] + [("z", "low", 90, 90, 90)]
    frames = ranked(rules)
    document = shown(frames["pages"], frames["issues"], summary=frames["summary"])
    first = texts(document.xpath("//ol[@class='first']//a"))
    assert sorted(first) == [f"Rule r{number:02}" for number in range(11)]
    (panel,) = document.xpath("//section[contains(@class, 'chart first')]")
    assert "1 more rule" in panel.text_content()


def test_the_first_screen_says_how_many_pages_and_why() -> None:
    frames = ranked(
        [("http_page", "high", 5, 0, 5), ("viewport_missing", "medium", 4, 1, 4), ("x", "low", 1, 1, 1)]
    )
    issues = frames["issues"].drop(columns="rule_title")
    document = shown(frames["pages"], issues, summary=frames["summary"], score=71.25)
    lines = texts(document.xpath("//ol[@class='first']/li"))
    assert lines[0].startswith("highPage without httpsThe page is served over http: browsers")
    assert lines[0].endswith("5 pages, none indexable")
    assert lines[1].endswith("4 pages, 1 indexable")
    assert lines[2].endswith("1 page")
    (health,) = document.find_class("health")
    assert health.text_content().split()[:4] == ["Score71.2", "of", "100Pages", "start"]
    assert health.xpath(".//svg[@role='img']/@aria-label") == ["71.2 of 100"]


def test_a_score_that_is_missing_is_a_dash() -> None:
    (health,) = shown(pd.DataFrame({"url": ["u"]})).find_class("health")
    assert health.text_content() == "Score–No page could be judged."


def test_failures_are_told_without_what_to_write_in_python() -> None:
    pages = pd.DataFrame(
        {"url": list("abc"), "status": ["ok", "error", "error"], "error": [None, "Oh.", "Oh."]}
    )
    failures = pd.DataFrame(
        {
            "reason": ["The host is not public.", HOSTILE[2]],
            "pages": [2, 1],
            "advice": ["`allow_private=True` lets it through", None],
        }
    )
    (given,) = shown(pages, failures=failures).find_class("failed")[-1:]
    assert texts(list(given.iter("li"))) == [
        "2 addresses The host is not public.",
        f"1 address {HOSTILE[2]}",
    ]


def test_a_report_of_frames_finds_out_why_pages_were_not_read(tmp_path: Path) -> None:
    said = ["The host is not public; `allow_private=True` lets it through."] * 2
    pages = pd.DataFrame(
        {"url": list("abc"), "status": ["ok", "error", "error"], "error": [None, *said]},
    )

    def failed(pages: pd.DataFrame) -> list[Any]:
        file = write_report(tmp_path / "r.html", pages, NOTHING, pd.DataFrame())
        return lxml.html.fromstring(file.read_text("utf-8")).xpath(
            "//section[contains(@class, 'failed')]//li"
        )

    assert texts(failed(pages)) == ["2 addresses The host is not public."]
    assert failed(pages.head(1)) == []


def test_what_was_not_tried_is_no_matter_of_a_client() -> None:
    issues = NOTHING.copy()
    issues.attrs["webanalytics"] = {
        "rules_not_tried": {"sitemap_orphan": ["in_sitemap"]},
        "rules_failed": ["my_own"],
    }
    (body,) = shown(pd.DataFrame({"url": ["u"]}), issues).iter("body")
    text = "".join(body.xpath(".//text()[not(ancestor::script)]"))
    assert "in_sitemap" not in text
    assert "my_own" not in text
    assert "Not tried" not in text


@pytest.mark.parametrize(
    ("urls", "sections", "expected"),
    [
        (["https://a.example/x/1", "https://www.a.example/"], ["x", ""], ("section", ["x", "(top level)"])),
        (["https://a.example/x", "https://b.example/x"], ["x", "x"], ("host", ["a.example", "b.example"])),
        (["https://a.example/x"] * 9 + ["https://b.example/x"], ["x"] * 10, ("section", ["x"] * 9 + ["b.example"])),
        (["https://a.example/x"] * 8 + ["https://b.example/x"], ["x"] * 9, ("host", ["a.example"] * 8 + ["b.example"])),
        (["u1", None, "https://[broken"], ["x", None, ""], ("section", ["x", None, "(top level)"])),
        ([], [], ("section", [])),
    ],
)  # fmt: skip
def test_pages_are_cut_by_folders_or_hosts(
    urls: list[Any], sections: list[Any], expected: tuple[Any, ...]
) -> None:
    assert cut(urls, sections) == expected


def test_a_list_over_many_sites_is_cut_by_host() -> None:
    urls = [f"https://site{number % 85}.example/{number}/page" for number in range(99)]
    pages = pd.DataFrame({"url": urls, "status": "ok", "section": [str(number) for number in range(99)]})
    issues = pd.DataFrame(
        {"url": [urls[84], *urls], "rule": ["h", *["r"] * 99], "priority": ["high", *["low"] * 99]}
    )
    document = shown(pages, issues)
    (table,) = document.find_class("matrix")
    rows = [texts(row.xpath("./th | ./td")) for row in table.iter("tr")]
    assert rows[0][:2] == ["Host", "Pages"]
    assert rows[1] == ["site0.example", "2", "2"]
    assert len(rows) == 15  # hosts of one page would say yes or no
    assert "The largest 14 of 85" in document.text_content()
    choices = document.xpath("//select[@name='section']/option/@value")
    assert len(choices) == 86
    assert document.xpath("//select[@name='section']/../span/text()") == ["Host"]


def test_of_hosts_of_one_size_those_with_the_most_to_fix_come_first() -> None:
    urls = [f"https://site{number}.example/" for number in range(20)]
    pages = pd.DataFrame({"url": [*urls, *(f"{url}more" for url in urls)], "section": ""})
    issues = pd.DataFrame(
        {"url": [urls[19], urls[0], urls[5]], "rule": ["h", "l", "m"], "priority": ["high", "low", "medium"]}
    )
    (table,) = shown(pages, issues).find_class("matrix")
    heads = texts(table.xpath(".//th[@scope='row']"))
    assert heads[:4] == ["site19.example", "site5.example", "site0.example", "site1.example"]


def test_titles_are_judged_by_their_width_where_it_is_known() -> None:
    pages = pd.DataFrame(
        {"url": list("abcde"), "title_pixels": [199, 200, 561, 562, 0], "title_length": [5, 5, 5, 5, 0]}
    )
    (chart,) = shown(pages).find_class("titles")
    assert "Title widths200 to 561 pixels: 2; shorter: 1; longer: 1." in chart.text_content()


def test_types_of_pages_are_counted_and_filter() -> None:
    pages = pd.DataFrame({"url": [f"https://a.example/{n}" for n in range(4)], "status": "ok"})
    document = shown(
        pages.assign(
            page_type=["product", "article", "product", None], content_note=["", "fragment", "", None]
        )
    )
    (chart,) = document.xpath("//section[@aria-labelledby='chart-types-of-pages']")
    assert texts(chart.xpath(".//li")) == ["Product2 50%", "Article1 25%"]
    assert "The text of 1 page may lack parts." in chart.text_content()
    assert chart.xpath(".//button/@data-page_type") == ["product", "article"]
    assert document.xpath("//select[@name='page_type']/option/@value") == ["", "product", "article"]
    assert not shown(pages).xpath("//select[@name='page_type']")
    gone = pages.assign(page_type=["product", "article", None, None], status=["ok", "ok", "error", "error"])
    (chart,) = shown(gone).xpath("//section[@aria-labelledby='chart-types-of-pages']")
    assert texts(chart.xpath(".//li")) == ["Product1 50%", "Article1 50%"]  # of those that were read


def hostile(columns: tuple[str, ...], **others: Any) -> pd.DataFrame:
    """A frame in which every text is hostile."""
    return pd.DataFrame({name: list(HOSTILE) for name in columns}, dtype=object).assign(**others)


def test_hostile_frames_are_text_everywhere(tmp_path: Path) -> None:
    texts_given = list(HOSTILE)
    size = len(texts_given)
    pages = pd.DataFrame({"url": texts_given, "status": "ok"}, dtype=object)
    for name in ("title", "language", "lang", "text", "readability_scale", "audience", "readability_note"):
        pages[name] = pd.Series(texts_given, dtype=object)
    pages["readability_score"] = [float(number) for number in range(size - 1)] + [float("nan")]
    pages["keywords"] = [{text: 3} for text in texts_given]
    issues = hostile(("url", "rule", "rule_title", "category"))
    issues.attrs["webanalytics"] = {
        "rules_not_tried": {texts_given[0]: [texts_given[2]]}, "rules_failed": [texts_given[4]]
    }  # fmt: skip
    change = issues.assign(change="new", priority="high", evidence=issues["url"])
    summary = issues[["rule", "rule_title"]].assign(new=1, before=0, after=1)
    file = write_report(
        tmp_path / "h.html",
        pages,
        issues,
        pd.DataFrame(),
        title=HOSTILE[0],
        notes=texts_given,
        failures=hostile(("reason", "advice"), pages=1),
        keywords=hostile(("keyword", "best_page"), pages=1, frequency=1, distinctiveness=9.0),
        cannibalisation=hostile(("keyword", "url", "rival", "places", "shared")),
        changes={"Summary": summary, "Issues": change, HOSTILE[0]: pages[["url", "title"]]},
    )  # fmt: skip
    text = file.read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    for bad in ("<img", "<!--<", "\x00", "\u2028", "\u202e", 'onfocus="window'):
        assert bad not in text
    document = lxml.html.fromstring(text)
    for element in document.iter(lxml.etree.Element):
        assert not any(name.startswith("on") for name in element.attrib), element.tag
        assert element.get("href", "#").startswith("#")
        assert element.tag not in ("img", "iframe", "object", "embed", "base", "link")
    assert column_texts(document) >= {HOSTILE[2]}
    assert data_of(file)["size"] == size


def column_texts(document: Any) -> set[str]:
    return {element.text_content() for element in document.iter("bdi")}


def test_headings_descend_one_level_at_a_time() -> None:
    audit = made_audit(60)
    document = shown(audit.pages, audit.issues, summary=audit.summary, keywords=None)
    levels = [int(element.tag[1]) for element in document.xpath("//h1 | //h2 | //h3 | //h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_table_has_a_name_and_heads() -> None:
    pages = readable()
    document = shown(pages)
    for table in document.iter("table"):
        (region,) = table.xpath("./ancestor::*[@role='region']")
        assert region.get("aria-label")
        assert region.get("tabindex") == "0"
        assert table.xpath("./thead//th[@scope='col']")
        assert all(len(row.xpath("./th[@scope='row']")) == 1 for row in table.xpath("./tbody/tr"))


def calls(function: Callable[[], object]) -> int:
    """How many functions of Python a call runs: work that does not depend on the machine."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def test_the_work_grows_with_the_pages_and_not_faster() -> None:
    steps = []
    for size in (200, 400, 800):
        audit = made_audit(size)
        pages = audit.pages.assign(
            readability_score=range(size), readability_scale="one", audience="college", section="x"
        )
        steps.append(
            calls(lambda pages=pages, audit=audit: build.render(read(pages, audit.issues, audit.summary)))
        )
    assert steps[2] - steps[1] < 2.2 * (steps[1] - steps[0])


def test_a_rule_has_the_pages_of_its_summary_not_those_of_its_first_issue() -> None:
    frame = {"url": [f"https://a.example/{name}" for name in "abc"], "html": ["<title>A", "<title>B", "<p>C"]}
    audit = wa.audit(pd.DataFrame(frame))
    summary = audit.summary()
    told = read(audit.pages, audit.issues, summary)
    assert {line.name: line.pages for line in told.rules} == {
        rule: pages for rule, pages in zip(summary["rule"], summary["pages"], strict=True) if pages
    }
    assert next(line.pages for line in told.rules if line.name == "viewport_missing") == 3


def test_what_is_called_failed_is_counted_once() -> None:
    """An address without a page was not read and has not failed: the filter that shows both says neither."""
    rows = {
        "url": ["https://a.example/", "https://a.example/b"],
        "status": "error",
        "http_status": [404, 500],
    }
    pages = pd.DataFrame({**rows, "error": "The page answered.", "error_type": "http"})
    document = shown(pages)
    tiles = {tile.text_content().split("\n")[0] for tile in document.find_class("tile")}
    assert any("Failed" in tile and "1" in tile for tile in tiles)
    (option,) = document.xpath("//select[@name='status']/option[@value='failed']/text()")
    assert option == "Not read"
