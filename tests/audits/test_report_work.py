"""The report's chapters and the workbook's sheets on segments, search results, logs and what to keep."""

from __future__ import annotations

from pathlib import Path

import lxml.html
import pandas as pd
import pytest

import webanalytics as wa

TOP = "https://a.example"
TEXT = "Trim the wick of a brass lamp with sharp scissors and fill it with oil. " * 40
HTML = {
    "/": "<title>Home of lamps and of wicks</title><p>Welcome.",
    "/shop/a": f"<title>Lamp A</title><h1>A</h1><p>{TEXT}",
    "/shop/b": f"<title>Lamp B</title><p>{TEXT}",
    "/blog/c": "<title>Closed</title><meta name=robots content=noindex><p>Few words.",
}
CLICKS = {
    "page": ["/", "/shop/a", "/shop/b", "/blog/c", "/x<b>"],
    "clicks": [90, 1300, 0, 7, 3],
    "impressions": [1000, 20000, 3, 90, 50],
}
LINE = '::1 - - [24/Nov/2026:09:00:00 +0000] "GET {} HTTP/1.1" {} 9 "-" "{}"\n'
HITS = [
    *[("/shop/a", 200, "Googlebot/2.1")] * 5,
    ("/old", 301, "Googlebot/2.1"),
    ("/blog/c", 200, "GPTBot/1.2"),
]


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> wa.Audit:
    log = tmp_path_factory.mktemp("logs") / "access.log"
    log.write_text("".join(LINE.format(*hit) for hit in [*HITS, ("/", 404, "Mozilla/5.0")]))
    made = wa.audit(pd.DataFrame({"url": [TOP + path for path in HTML], "html": list(HTML.values())}))
    cut = made.segments({"shop": "/shop/*", "blog": "/blog/*"})
    return cut.with_search_data(pd.DataFrame(CLICKS)).with_logs(wa.logs(log))


def chapter(file: Path, name: str) -> list[list[str]]:
    document = lxml.html.fromstring(file.read_text("utf-8"))
    (found,) = document.xpath(f"//section[@aria-labelledby='{name}']")
    return [[cell.text_content().strip() for cell in row] for row in found.xpath(".//tr")]


def test_chapters_say_what_the_tables_say(audit: wa.Audit, tmp_path: Path) -> None:
    file = audit.report(tmp_path / "report.html")
    scores = audit.scores()
    assert chapter(file, "segments")[1:] == [
        [row["segment"], str(row["pages"]), f"{row['score']:.1f}"]
        + [str(row[f"issues_{name}"]) for name in ("high", "medium", "low")]
        for row in scores.to_dict("records")
    ]
    rows = chapter(file, "search")
    causes = audit.causes(by="clicks")
    first = causes.iloc[0]
    assert rows[1] == [first["cause"], f"{first['clicks']:,}", str(first["pages"])]
    facts = {row[0][:7]: row for row in rows if len(row) == 4}
    assert facts["Noindex"][1:3] == ["1", "7"]
    assert facts["Not in "][1:] == ["1", "3", "/x<b>"]
    rows = chapter(file, "logs")
    assert ["Googlebot", "6", "1", "1", "0"] in rows
    assert ["people", "1", "1", "0", "1"] in rows
    assert any(row[0].startswith("Never crawled") and row[1] == "2" for row in rows)
    rows = chapter(file, "advice")
    counts = audit.prune()["advice"].value_counts()
    assert {row[0]: int(row[1]) for row in rows[1:]} == {
        name.capitalize(): count for name, count in counts.items()
    }
    (moved,) = (row for row in rows if row[0] == "Redirect to")
    assert f"{TOP}/shop/b → {TOP}/shop/a" in moved[3]


def test_a_plain_audit_has_none_of_them(tmp_path: Path) -> None:
    plain = wa.audit(pd.DataFrame({"url": [TOP], "html": ["<title>Tea</title>"]}))
    text = plain.report(tmp_path / "report.html").read_text("utf-8")
    assert not any(f'aria-labelledby="{name}"' in text for name in ("segments", "search", "logs", "advice"))
    assert not {"Segments", "Search results", "Server logs", "What to keep"} & set(plain.parts())


@pytest.mark.parametrize(("language", "said"), [("de", "Nie besucht"), ("fr", "Jamais"), ("es", "Nunca")])
def test_they_speak_the_language_of_the_report(
    audit: wa.Audit, tmp_path: Path, language: str, said: str
) -> None:
    file = audit.report(tmp_path / "report.html", language=language)
    assert any(row[0].startswith(said) for row in chapter(file, "logs"))
    english = {"Search results", "What to keep", "Never crawled", "Not in the audit", "Redirect to"}
    cells = [cell for name in ("search", "logs", "advice") for row in chapter(file, name) for cell in row]
    assert not english & set(cells)


def test_sheets_hold_the_whole_tables(audit: wa.Audit, tmp_path: Path) -> None:
    sheets = pd.read_excel(audit.to_excel(tmp_path / "audit.xlsx"), sheet_name=None)
    assert len(sheets["Search results"]) == len(audit.search_issues())
    assert sheets["What to keep"]["advice"].tolist() == audit.prune()["advice"].tolist()
    assert sheets["Server logs"]["fact"].tolist() == audit.log_issues()["fact"].tolist()
    assert sheets["Crawlers"]["hits"].tolist() == [6, 1, 1]
    assert sheets["Segments"]["score"].round(1).tolist() == audit.scores()["score"].round(1).tolist()


def test_what_search_results_show_beside_the_audit_is_known_after_logs_and_queries(audit: wa.Audit) -> None:
    assert "/x<b>" in set(audit.search_issues()["url"])
    queries = {
        "page": ["/", "/y", "/y"],
        "query": ["a", "b", "c"],
        "clicks": [1, 1, 1],
        "impressions": [9, 9, 9],
    }
    more = audit.with_search_data(pd.DataFrame(queries)).search_issues()
    assert more[more["fact"] == "not in the audit"]["url"].tolist() == ["/x<b>"]


def test_a_saved_audit_has_the_columns_and_no_hits(audit: wa.Audit, tmp_path: Path) -> None:
    loaded = wa.load(audit.save(tmp_path / "saved"))
    assert "Segments" in loaded.parts()
    assert "Server logs" not in loaded.parts()
    with pytest.raises(wa.ParameterError, match="with_logs"):
        loaded.log_issues()
