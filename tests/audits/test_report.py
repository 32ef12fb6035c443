"""The report as a file: what is in it, what never is, and that it is written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import lxml.html
import pandas as pd
import pytest

from tests.audits.report_data import RULES, made_audit
from webanalytics.audits.report import build, write_report
from webanalytics.audits.report.content import read
from webanalytics.errors import ParameterError

HOSTILE = (
    "</script><script>window.ran = 1</script>",
    "<!--<script>window.ran = 1",
    "<img src=x onerror='window.ran=1'>",
    "javascript:window.ran=1",
    "data:text/html,<script>parent.ran=1</script>",
    '" onfocus="window.ran=1" autofocus="',
    "${title} $style $$",
    "{{ title }} {% raw %} {# x #}",
    "line\u2028separator\u2029paragraph",
    "nul\x00nul",
    "half \ud83d character \udc00",
    "photo\u202egpj.exe",
    "&lt;b&gt; &amp;",
    "\\u003cscript\\u003e",
)


def hostile_audit() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """An audit in which every text that a page or an address can bring is hostile."""
    texts = list(HOSTILE)
    urls = [
        text if ":" in text else f"https://evil.example/{number}?{text}" for number, text in enumerate(texts)
    ]
    pages = pd.DataFrame({"url": urls, "status": "ok"}, dtype=object)
    for name in (
        "title",
        "description",
        "error",
        "section",
        "og:title",
        "og:image",
        "og:site_name",
        "canonical",
    ):
        pages[name] = pd.Series(texts, dtype=object)
    pages["final_url"] = pd.Series(urls, dtype=object)
    pages["structured_types"] = [[text] for text in texts]
    issues = pd.DataFrame(
        {"url": urls, "rule": "title_too_long", "priority": "high", "value": texts}, dtype=object
    )
    issues["evidence"] = issues["fix"] = pd.Series(texts, dtype=object)
    issues["threshold"] = 60
    issues.loc[len(issues)] = {
        "url": HOSTILE[0],
        "rule": "of_the_site",
        "priority": "low",
        "evidence": HOSTILE[2],
    }
    summary = pd.DataFrame(
        {"rule": ["title_too_long"], "rule_title": [HOSTILE[2]], "explanation": [HOSTILE[0]]}
    )
    return pages, issues, summary


def data_of(file: Path) -> dict[str, Any]:
    """The data that the script of a report reads."""
    document = lxml.html.fromstring(
        file.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    )
    return json.loads(document.get_element_by_id("data").text)


def column_of(data: dict[str, Any], name: str) -> list[Any]:
    return [data["cells"][place] for place in data["pages"][name]]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    audit = made_audit(40)
    return write_report(tmp_path / "report.html", audit.pages, audit.issues, audit.summary)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return write_report(tmp_path / "hostile.html", *hostile_audit(), changes={HOSTILE[0]: hostile_audit()[0]})


def test_every_page_and_issue_is_in_the_data(report: Path) -> None:
    audit = made_audit(40)
    data = data_of(report)
    assert column_of(data, "url") == audit.pages["url"].tolist()
    assert column_of(data, "title") == [None if pd.isna(title) else title for title in audit.pages["title"]]
    issues = data["issues"]
    urls = column_of(data, "url")
    found = [
        (urls[page], data["rules"][rule]["name"])
        for page, rule in zip(issues["page"], issues["rule"], strict=True)
    ]
    assert found == list(zip(audit.issues["url"], audit.issues["rule"], strict=True))
    assert [data["cells"][place] for place in issues["evidence"]] == audit.issues["evidence"].tolist()


def test_a_text_is_written_once(tmp_path: Path) -> None:
    pages = pd.DataFrame(
        {"url": ["https://a.example/"], "title": ["Only once, please"], "og:title": ["Only once, please"]}
    )
    issues = pd.DataFrame({"url": pages["url"], "rule": ["r"], "evidence": ["Only once, please"]})
    file = write_report(tmp_path / "r.html", pages, issues, pd.DataFrame())
    assert file.read_text("utf-8").count("Only once, please") == 1


def test_nothing_is_loaded(report: Path, hostile: Path) -> None:
    for file in (report, hostile):
        document = lxml.html.fromstring(file.read_text("utf-8"))
        for element in document.iter(lxml.etree.Element):
            for name, value in element.attrib.items():
                assert not name.startswith("on"), (element.tag, name)
                assert name not in (
                    "src",
                    "srcset",
                    "action",
                    "background",
                    "poster",
                    "data",
                    "style",
                    "xlink:href",
                )
                assert name != "href" or value.startswith("#")  # no address of a documentation is invented
            assert element.tag not in ("link", "base", "iframe", "object", "embed", "img", "use")
        style = "".join(element.text for element in document.iter("style"))
        assert "url(" not in style
        assert "@import" not in style


def test_the_policy_allows_the_own_script_and_style_alone(report: Path) -> None:
    document = lxml.html.fromstring(report.read_text("utf-8"))
    (meta,) = document.xpath("//meta[@http-equiv]")
    assert meta.get("http-equiv") == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in meta.get("content").split(";"))
    (script,) = document.xpath("//script[not(@type)]")
    (style,) = document.iter("style")

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == hashed(script.text)
    assert policy["style-src"] == hashed(style.text)
    assert policy["img-src"] == "data:"
    assert (policy["base-uri"], policy["form-action"]) == ("'none'", "'none'")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script.text
    )


def test_hostile_texts_are_data(hostile: Path) -> None:
    text = hostile.read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    data = data_of(hostile)
    assert column_of(data, "title") == list(HOSTILE)
    for bad in ("<img", "<!--<", "\x00", "\u2028", "\u202e", 'onfocus="'):
        assert bad not in text
    assert "photo⟨U+202E⟩gpj.exe" in text  # the section, where the report itself names it


@pytest.mark.parametrize("size", [0, 1])
def test_small_audits(tmp_path: Path, size: int) -> None:
    pages = pd.DataFrame({"url": ["https://a.example/"][:size]})
    file = write_report(tmp_path / "r.html", pages, pd.DataFrame(columns=["url", "rule"]), pd.DataFrame())
    assert "No issue." in file.read_text("utf-8")
    assert data_of(file)["size"] == size


def test_missing_values_of_every_kind(tmp_path: Path) -> None:
    pages = pd.DataFrame(
        {
            "url": ["https://a.example/1", "https://a.example/2"],
            "status": ["ok", "ok"],
            "http_status": pd.array([200, pd.NA], dtype="Int64"),
            "elapsed": [float("nan"), float("inf")],
            "indexable": pd.array([True, pd.NA], dtype="boolean"),
            "title": pd.Series([None, float("nan")], dtype=object),
            "redirects": [[], ["https://a.example/0"]],
            "section": pd.Categorical(["a", None]),
        }
    )
    data = data_of(
        write_report(tmp_path / "r.html", pages, pd.DataFrame({"url": [], "rule": []}), pd.DataFrame())
    )
    assert column_of(data, "http_status") == [200, None]
    assert column_of(data, "indexable") == [True, None]
    assert column_of(data, "section") == ["a", None]
    assert column_of(data, "redirects") == ["", "https://a.example/0"]
    assert not {"title", "elapsed"} & data["pages"].keys()


def test_figures_are_those_of_the_frames() -> None:
    audit = made_audit(80)
    content = read(audit.pages, audit.issues, audit.summary)
    assert content.ok == (audit.pages["status"] == "ok").sum()
    assert content.indexable == audit.pages["indexable"].sum()
    assert content.issues_of == audit.issues["priority"].value_counts().to_dict()
    counted = audit.issues[audit.issues["type"] != "warning"].groupby("priority")["url"]
    assert content.faults_of == {"high": 0, "medium": 0, "low": 0} | counted.size().to_dict()
    assert content.pages_of == {"high": 0, "medium": 0, "low": 0} | counted.nunique().to_dict()
    shown = {line.name: (line.pages, round(line.share, 6)) for line in content.rules}
    counted = audit.issues.groupby("rule")["url"].nunique()
    assert shown == {name: (count, round(count / 80, 6)) for name, count in counted.items()}
    priorities = [line.priority for line in content.rules]
    assert priorities == sorted(priorities, key=["high", "medium", "low"].index)
    assert {line.name for line in content.passed} >= {"charset_missing", "hreflang_invalid"}


def test_rules_are_told_without_a_summary(tmp_path: Path) -> None:
    audit = made_audit(40)
    file = write_report(tmp_path / "r.html", audit.pages, audit.issues, pd.DataFrame())
    shown = {element.get("id") for element in lxml.html.fromstring(file.read_text("utf-8")).iter("details")}
    assert {f"rule-{rule[0]}" for rule in RULES if rule[0] in set(audit.issues["rule"])} <= shown


def test_the_matrix_counts_pages_of_sections() -> None:
    pages = pd.DataFrame({"url": ["u1", "u2", "u3"], "status": "ok", "section": ["a", "a", "b"]})
    issues = pd.DataFrame(
        {
            "url": ["u1", "u1", "u2", "u3"],
            "rule": ["r", "s", "r", "t"],
            "category": ["title", "title", "title", "url"],
        }
    )
    document = lxml.html.fromstring(build.render(read(pages, issues, pd.DataFrame())))
    (table,) = document.xpath("//table[@class='matrix']")
    rows = [[cell.text_content() for cell in row] for row in table.iter("tr")]
    assert rows == [["Section", "Pages", "Title", "URL"], ["a", "2", "2", "·"], ["b", "1", "·", "1"]]


def test_titles_at_the_limits_are_within_them() -> None:
    pages = pd.DataFrame({"url": list("abcdef"), "title_length": [29, 30, 60, 61, 500, None]})
    content = read(pages, pd.DataFrame({"url": [], "rule": []}), pd.DataFrame())
    (chart,) = lxml.html.fromstring(build.render(content)).find_class("titles")
    assert "30 to 60 characters: 2; shorter: 1; longer: 2." in chart.text_content()
    assert len(chart.xpath(".//rect[@class='good']")) == 2
    assert len(chart.xpath(".//rect[@class='medium']")) == 3


def test_long_texts_are_cut(tmp_path: Path) -> None:
    pages = pd.DataFrame(
        {"url": ["https://a.example/"], "title": ["t" * 50_000], "og:image": ["data:," + "i" * 90_000]}
    )
    issues = pd.DataFrame({"url": pages["url"], "rule": ["r"], "evidence": ["e" * 50_000]})
    file = write_report(tmp_path / "r.html", pages, issues, pd.DataFrame())
    empty = write_report(tmp_path / "e.html", pages[["url"]], issues[["url", "rule"]], pd.DataFrame())
    assert file.stat().st_size - empty.stat().st_size < 10_000


def test_five_thousand_pages_stay_below_twelve_megabytes(tmp_path: Path) -> None:
    audit = made_audit(5000)
    assert len(audit.issues) > 8 * 5000 * 0.95
    file = write_report(tmp_path / "r.html", audit.pages, audit.issues, audit.summary)
    assert file.stat().st_size < 12_000_000


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    file.write_text("before")
    audit = made_audit(3)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(ParameterError, match="No space left"):
            write_report(file, audit.pages, audit.issues, audit.summary)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]
    assert write_report(str(file), audit.pages, audit.issues, audit.summary) == file
    assert list(tmp_path.iterdir()) == [file]
    assert file.read_text("utf-8").startswith("<!doctype html>")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    audit = made_audit(3)
    with pytest.raises(ParameterError, match="`path` parameter must be a file that can be written"):
        write_report(tmp_path / "no" / "report.html", audit.pages, audit.issues, audit.summary)


def test_frames_are_left_as_they_are(tmp_path: Path) -> None:
    audit, same = made_audit(20), made_audit(20)
    write_report(tmp_path / "r.html", audit.pages, audit.issues, audit.summary)
    for name in ("pages", "issues", "summary"):
        pd.testing.assert_frame_equal(getattr(audit, name), getattr(same, name))


def test_title_and_changes(tmp_path: Path) -> None:
    audit = made_audit(5)
    changed = pd.DataFrame(
        {"url": ["https://a.example/"], "field": ["title"], "before": ["Old"], "after": ["New"]}
    )
    changes = {"Changed fields": changed, "Empty": changed.head(0)}
    given = {"title": "R&D <1>", "changes": changes, "notes": ["<b>robots.txt</b> is odd."]}
    file = write_report(tmp_path / "r.html", audit.pages, audit.issues, audit.summary, **given)
    document = lxml.html.fromstring(file.read_text("utf-8"))
    assert document.findtext(".//title") == "R&D <1>"
    assert document.find_class("notes")[0].text_content() == "<b>robots.txt</b> is odd."
    assert document.find(".//h1").text_content() == "R&D <1>"
    assert [element.text_content() for element in document.xpath("//details[@class='change']/summary")] == [
        "Changed fields 1",
        "Empty 0",
    ]
    data = data_of(file)
    columns = {
        name: [data["cells"][place] for place in places]
        for name, places in data["changes"][0]["columns"].items()
    }
    assert columns == changed.to_dict("list")
