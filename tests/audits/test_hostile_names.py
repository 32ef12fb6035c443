"""Names that nobody checks: hosts of logs, queries of search data, segments; nothing made of them is alive."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import lxml.html
import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_agents import asking
from webanalytics.cli import main

TOP = "https://a.example"
EVIL = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    '=HYPERLINK("http://evil.example";"x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "+1-1\t|x",
    "javascript:alert(1)",
    "\x1b]0;x\x07\x1b[31m\x9b31m",
    "\u202egpj.exe\u2028\u2029\x00",
    "{{constructor.constructor('alert(1)')()}}${alert(1)}",
)


def entry(host: str, path: str, agent: str) -> str:
    known = {"RequestHost": host, "RequestPath": path, "request_User-Agent": agent}
    return json.dumps({"DownstreamStatus": 200, "StartUTC": "2026-11-24T09:00:00Z", **known})


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [entry("a.example", f"/{number}", f"{name} Googlebot") for number, name in enumerate(EVIL)]
    lines += [entry(name, f"/{name}", f"{name} xbot") for name in EVIL]
    path = tmp_path_factory.mktemp("logs") / "access.log"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def audit(logs: Path) -> wa.Audit:
    urls = [f"{TOP}/{number}" for number in range(len(EVIL))]
    html = [f"<title>x</title><h1>y</h1><p>{name}" for name in EVIL]
    rows: dict[str, Any] = {"Page": urls, "Query": [f"{name} tea" for name in EVIL]}
    rows |= {"Clicks": [7] * len(EVIL), "Impressions": [90] * len(EVIL), "Position": [3.5] * len(EVIL)}
    known = wa.audit(pd.DataFrame({"url": urls, "html": html}))
    known = known.with_search_data(pd.DataFrame(rows)).with_logs(wa.logs(logs))
    return known.segments({name: f"*/{number}" for number, name in enumerate(EVIL)})


def test_the_report(audit: wa.Audit, tmp_path: Path) -> None:
    text = audit.report(tmp_path / "report.html", title=EVIL[0]).read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    for bad in ("<img", "<!--<", "\x00", "\x1b", "\u2028", "\u202e", "\x9b"):
        assert bad not in text
    for element in lxml.html.fromstring(text).iter(lxml.html.etree.Element):
        for name, value in element.attrib.items():
            assert not name.startswith("on"), (element.tag, name)
            assert name != "href" or value.startswith(("#", "http")), value


def test_the_workbook(audit: wa.Audit, tmp_path: Path) -> None:
    audit.to_excel(tmp_path / "audit.xlsx")
    book = openpyxl.load_workbook(tmp_path / "audit.xlsx")
    seen = set()
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f", (sheet.title, cell.coordinate, cell.value)
                assert cell.hyperlink is None or str(cell.hyperlink.target or "#").startswith(("#", "http"))
                seen.add(str(cell.value))
    assert {EVIL[0], EVIL[3], EVIL[4]} <= seen, "as they were written"


def test_the_command_line(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", str(logs)]) == 0
    said = capsys.readouterr().out
    assert main(["logs", str(logs), "-o", str(tmp_path / "logs.csv")]) == 0
    for text in (said, (tmp_path / "logs.csv").read_text("utf-8")):
        assert not [sign for sign in "\x1b\x07\x9b\x00\u202e\u2028" if sign in text]
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert "Googlebot" in cells
        assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t", "\r")]


def test_agents_are_told_without_what_nobody_sees(audit: wa.Audit, tmp_path: Path) -> None:
    audit.save(tmp_path / "saved")
    with asking(tmp_path) as ask:
        said = repr(ask("summary", audit="saved")) + repr(ask("issues", audit="saved"))
        said += repr(ask("page", audit="saved", page=f"{TOP}/7"))
    for bad in ("\x1b", "\x00", "\u202e", "\x9b", "\\x1b", "\\u202e", "\\x9b"):
        assert bad not in said
