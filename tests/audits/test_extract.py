"""Columns of one's own: CSS, XPath and regular expressions, bounded in time, everywhere an audit goes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.running import equal
from webanalytics.audits.rules import RULES
from webanalytics.cli import main
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.operations import Operation
from webanalytics.page import extraction
from webanalytics.page.extraction import Selector, analyse, selectors, values
from webanalytics.page.page import Page
from webanalytics.runs.backends import content
from webanalytics.runs.backends.local import LocalBackend

HTML = """<!doctype html><html lang=en><title>Tea</title><meta itemprop="sku" content=" A12 ">
<body><h1>Tea</h1><p class="price" data-old="11"> 9.90 <b>EUR</b> </p><p class="price">8</p><p class="price"> </p>
<a href="/milk" rel="tag">Milk</a><a href="/ice">Ice</a><script>ga("G-ABC1"); ga("G-ABC2")</script>
<template><p class="price">template</p></template></body></html>"""
WANTED: dict[str, Any] = {
    "price": ".price::text",
    "sku": "//meta[@itemprop='sku']/@content",
    "ga": re.compile(r"g-\w+", re.IGNORECASE),
    "tags": ["//a[@rel='tag']"],
    "nothing": "#none",
    "none_of_them": ["#none"],
}
SLOW = "//*[count(//*[count(//*[count(//*)>0])>0])>0]"


def given(*htmls: str) -> pd.DataFrame:
    urls = [f"https://tea.example/{number}" for number in range(len(htmls))]
    return pd.DataFrame({"url": urls, "html": list(htmls)})


def page(html: str = HTML) -> Page:
    return Page(html, "https://tea.example/0")


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        (".price", ["9.90 EUR", "8"]),
        (".price::text", ["9.90 EUR", "8"]),
        (".price::attr(data-old)", ["11"]),
        ("p.price:not([data-old])::text", ["8"]),
        ("a::attr( HREF )", ["/milk", "/ice"]),
        ("css: h1", ["Tea"]),
        ("//p[@class='price']", ["9.90 EUR", "8"]),
        ("//p[1]/text()", ["9.90"]),
        ("(//a)[last()]/@href", ["/ice"]),
        ("xpath:count(//a)", ["2"]),
        ("xpath:boolean(//h1)", ["true"]),
        ("xpath:normalize-space(//p[1])", ["9.90 EUR"]),
        ("xpath:0 div 0", []),
        (re.compile(r"G-\w+"), ["G-ABC1", "G-ABC2"]),
        (re.compile(r'ga\("([^"]+)|(never)'), ["G-ABC1", "G-ABC2"]),
        ('regex:data-old="(\\d+)', ["11"]),
    ],
)
def test_what_selectors_find(selector: Any, wanted: list[str]) -> None:
    (checked,) = selectors({"own": selector}, ())
    assert list(values(checked, page())) == wanted


def test_columns_have_one_dtype_whatever_they_hold(tmp_path: Path) -> None:
    audit = wa.audit(given(HTML, "<p>", ""), extract=WANTED, progress=False)
    assert audit.raw[list(WANTED)].iloc[0].tolist()[:4] == ["9.90 EUR", "A12", "G-ABC1", ["Milk"]]
    assert audit.raw.loc[1, "tags"] == []
    assert audit.raw.loc[1, ["price", "sku", "ga"]].isna().all()
    assert audit.raw.loc[2, list(WANTED)].isna().all()  # an empty page is an error
    assert audit.raw["extract_note"].tolist()[:2] == ["", ""]
    assert audit.raw["nothing"].isna().all()
    assert audit.raw["nothing"].dtype == audit.raw["sku"].dtype == audit.raw["title"].dtype
    assert audit.raw["tags"].dtype == audit.raw["none_of_them"].dtype == object
    alone = wa.audit(given("<p>"), extract=WANTED, progress=False)
    assert alone.raw.dtypes.equals(audit.raw.dtypes)
    assert "extracted" not in audit.raw
    names = list(audit.raw.columns)
    assert names[names.index("description") + 1] == "price"
    assert audit.raw.attrs["webanalytics"]["extract"]["sku"] == "xpath://meta[@itemprop='sku']/@content"


def test_saved_written_and_judged_like_the_rest(tmp_path: Path) -> None:
    audit = wa.audit(given(HTML, "<p>"), extract=WANTED, progress=False)
    equal(wa.load(audit.save(tmp_path / "kept")).raw, audit.raw)
    audit.to_excel(tmp_path / "audit.xlsx")
    sheet = pd.read_excel(tmp_path / "audit.xlsx", sheet_name="Pages")
    assert sheet.loc[0, ["price", "sku", "ga", "tags"]].tolist() == ["9.90 EUR", "A12", "G-ABC1", '["Milk"]']
    wa.load(tmp_path / "kept").to_excel(tmp_path / "again.xlsx")
    pd.testing.assert_frame_equal(pd.read_excel(tmp_path / "again.xlsx", sheet_name="Pages"), sheet)
    with wa.rule(lambda pages: pages["sku"].isna(), name="sku_missing", columns=["sku"]):
        assert audit.issues.loc[audit.issues["rule"] == "sku_missing", "url"].tolist() == [
            "https://tea.example/1"
        ]
    assert audit.raw.head(1)["sku"].tolist() == ["A12"]
    assert audit.select([True, *[False] * (len(audit) - 1)]).pages["sku"].tolist() == ["A12"]


def test_a_checkpoint_belongs_to_its_selectors(tmp_path: Path) -> None:
    pages = {f"/{number}": HTML.encode() for number in range(3)}
    with SiteServer(pages) as site, wa.option_context(allow_private=True, progress=False):
        urls = [site.url + path for path in pages]
        wa.audit(urls[:2], extract={"sku": "h1"}, store=tmp_path)
        before = len(site.requests)
        got = wa.audit(urls, extract={"sku": "h1"}, store=tmp_path)
        asked = {request.target for request in list(site.requests)[before:]} - {"/robots.txt"}
        assert asked == {"/2"}
        assert got.raw["sku"].tolist() == ["Tea"] * 3
        with pytest.raises(wa.ParameterError, match="store"):
            wa.audit(urls, extract={"sku": "h2"}, store=tmp_path)


class NoFacts(LocalBackend):
    """Answers what services answer, and the HTML."""

    family = "elsewhere"

    def serves(self, operation: Operation) -> bool:
        return bool(operation.path)


def test_a_hosted_audit_reads_the_html_that_comes_back() -> None:
    with SiteServer({"/a": HTML.encode(), "/b": Reply(404)}) as site:
        urls = [f"{site.url}/a", f"{site.url}/b"]
        options: dict[str, Any] = {"allow_private": True, "progress": False}
        there = wa.audit(urls, extract=WANTED, backend=NoFacts(), **options)
        here = wa.audit(urls, extract=WANTED, **options)
    equal(pd.DataFrame(there.raw[list(WANTED)]), pd.DataFrame(here.raw[list(WANTED)]))
    assert there.raw["responseBody"].fillna("").eq("").all()


@pytest.mark.parametrize(
    ("extract", "said"),
    [
        ({"x": "p["}, "`x`: it is no CSS selector"),
        ({"x": "css://p"}, "`x`: it is no CSS selector"),
        ({"x": "//p["}, "`x`: it is no XPath"),
        ({"x": "//p[nonsense()]"}, "`x`: it is no XPath"),
        ({"x": "//other:p"}, "`x`: it is no XPath"),
        ({"x": "regex:(a"}, "`x`: it is no regular expression"),
        ({"x": re.compile(b"a")}, "neither a selector nor"),
        ({"x": 3}, "neither a selector nor"),
        ({"x": " "}, "neither a selector nor"),
        ({"x": []}, "a list must hold one selector"),
        ({"x": ["a", "b"]}, "a list must hold one selector"),
        ({"x": "a" * 2_001}, "longer than 2,000"),
        ({"title": "h1"}, "must not name `title`"),
        ({"indexable": "h1"}, "must not name `indexable`"),
        ({"score": "h1"}, "must not name `score`"),
        ({"extract_note": "h1"}, "must not name `extract_note`"),
        ({"price": [".price"]}, "a column of strings"),
        ({"two words": "h1"}, "two words"),
        ({1: "h1"}, "must name columns"),
        ({}, "a mapping of 1 to 50"),
        (["h1"], "a mapping of 1 to 50"),
        ({f"c{number}": "h1" for number in range(51)}, "a mapping of 1 to 50"),
    ],
)
def test_a_wrong_selector_is_refused_before_any_work(extract: Any, said: str) -> None:
    with SiteServer({}) as site, pytest.raises(wa.ParameterError) as error:
        wa.audit([f"{site.url}/a"], extract=extract, allow_private=True, progress=False)
    assert error.value.parameter == "extract"
    assert said in str(error.value)
    assert "`extract`" in str(error.value)
    assert not site.requests


def test_a_regular_expression_that_does_not_end_costs_its_own_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "REGEX_SECONDS", 0.05)
    entries = [item.entry() for item in selectors({"bad": re.compile("(a|aa)+$"), "head": "h1"}, ())]
    found = analyse(page(HTML + "a" * 60 + "b"), entries)
    assert found["extracted"] == {"head": "Tea"}
    assert found["extract_note"].startswith("bad: took longer than")


class Pool:
    """Answers at once, but never where one of the selectors is there."""

    def __init__(self, endless: set[str]) -> None:
        self.endless = endless
        self.asked: list[list[str]] = []

    async def run(self, kind: str, names: Any, arguments: Any, deadline: float) -> bytes:
        entries = arguments[1]["extract"]["entries"]
        self.asked.append([entry[0] for entry in entries])
        if self.endless & {entry[0] for entry in entries}:
            raise TimeoutError
        return PackedOutcomes.pack([analyse(Page(*arguments[2]), entries)])


@pytest.mark.parametrize(("endless", "asked"), [(set(), 1), ({"slow"}, 4), ({"slow", "ga"}, 4)])
def test_what_does_not_end_is_left_out_and_the_others_are_asked_again(endless: set[str], asked: int) -> None:
    chosen = selectors({"head": "h1", "slow": "//a", "ga": re.compile(r"G-\w+")}, ())
    pool = Pool(endless)
    settings = {"entries": [item.entry() for item in chosen]}
    answer: Any = asyncio.run(content.extracted(pool, (HTML.encode(), "", "", ""), settings))  # type: ignore[arg-type]
    assert len(pool.asked) == asked
    assert set(answer["extracted"]) == {"head", "slow", "ga"} - endless
    assert answer["extracted"]["head"] == "Tea"
    assert {note.partition(":")[0] for note in answer["extract_note"].split("; ") if note} == endless


@pytest.mark.slow
def test_an_xpath_that_does_not_end_costs_nothing_but_its_own_column() -> None:
    html = HTML + "<i></i>" * 5_000
    audit = wa.audit(given(html, HTML), extract={"slow": SLOW, "sku": WANTED["sku"]}, progress=False)
    assert audit.raw["title"].tolist() == ["Tea", "Tea"]
    assert audit.raw["sku"].tolist() == ["A12", "A12"]
    assert pd.isna(audit.raw.loc[0, "slow"])
    assert audit.raw.loc[0, "extract_note"] == "slow: took longer than 5 seconds"
    assert audit.raw.loc[1, "extract_note"] == ""


def test_values_are_bounded() -> None:
    html = "<p>" + "x" * 5_000 + "</p>" + "<a>y</a>" * 2_000
    (one,), (many,) = selectors({"one": "p"}, ()), selectors({"many": ["a"]}, ())
    found = analyse(page(html), [one.entry(), many.entry()])["extracted"]
    assert (len(found["one"]), len(found["many"])) == (2_000, 500)


def test_a_selector_is_plain_data() -> None:
    chosen = selectors(WANTED, ())
    assert [Selector(*item.entry()) for item in chosen] == list(chosen)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tea.html").write_text(HTML)
    (tmp_path / "own.py").write_text(
        "import webanalytics as wa\n"
        "@wa.rule(title='Cheap', priority='high', columns=['sku'])\n"
        "def cheap(pages):\n    return pages['sku'].eq('A12')\n"
    )
    page, out = str(tmp_path / "tea.html"), tmp_path / "out.csv"
    wanted = [
        "--extract",
        "sku=//meta[@itemprop='sku']/@content",
        "--extract",
        "tags[]=a",
        "--extract",
        r"ga=regex:G-\w+",
    ]
    assert main(["audit", page, *wanted, "-o", str(out)]) == 0
    row = pd.read_csv(out).iloc[0]
    assert row[["sku", "ga", "tags"]].tolist() == ["A12", "G-ABC1", '["Milk", "Ice"]']
    try:
        assert main(["audit", page, *wanted, "--rules", str(tmp_path / "own.py"), "--fail-on", "high"]) == 3
    finally:
        del RULES["cheap"]
    assert "Cheap" in capsys.readouterr().err  # beside the table, which a pipe gets
    assert main(["audit", page, "--extract", "sku"]) == 2
    assert "NAME=SELECTOR" in capsys.readouterr().err
    assert main(["audit", page, "--rules", str(tmp_path / "none.py")]) == 2
    assert "`rules`" in capsys.readouterr().err
