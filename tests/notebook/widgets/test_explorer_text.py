"""What pages say stays text: in previews, in static views, in downloads, and in the scripts."""

from __future__ import annotations

import io
import re
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

import nbformat
import openpyxl
import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.content.pixels import text_width
from webanalytics.core.messages import sentence
from webanalytics.errors import ParameterError
from webanalytics.notebook.explorer.explorer import explore
from webanalytics.notebook.explorer.summary import failure_groups
from webanalytics.notebook.widgets.previews import details, file_bytes, search_result, social_card

HOSTILE = "<img src=x onerror=alert(1)>"
FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "tea",
    "-5",
    "+12085813945",
]
SCRIPTS = [
    path
    for path in files("webanalytics.notebook.widgets").joinpath("static").iterdir()
    if path.name.endswith(".js")
]


@pytest.fixture
def hostile() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "url": ["https://a.example/?<script>"],
            "status": ["error"],
            "title": [HOSTILE],
            "description": [HOSTILE],
            "error": [HOSTILE],
            "error_type": ["http"],
            HOSTILE: ["x"],
        }
    )


def test_the_static_view_is_escaped(hostile: pd.DataFrame) -> None:
    for frame in (hostile, hostile.drop(columns=["url", "title", "description"])):
        html = explore(frame)._repr_html_()
        assert "<img" not in html
        assert "<script" not in html
        assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_a_saved_notebook_without_widget_state_shows_the_table(
    hostile: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    data, metadata = explore(hostile)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("explore(frame)", outputs=[output])])
    # where Python runs in an environment over another, its own folder has no templates
    template = next(path for path in distribution("nbconvert").files or () if path.match("basic/conf.json"))
    monkeypatch.setenv("JUPYTER_PATH", str(Path(str(template.locate())).resolve().parents[3]))
    page, _ = nbconvert.HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert ">&lt;img src=x onerror=alert(1)&gt;</td>" in page


def test_the_scripts_make_text_nodes_only() -> None:
    assert len(SCRIPTS) >= 6
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?://|import\s*\("
    )
    for path in SCRIPTS:
        text = path.read_text("utf-8")
        assert re.findall(forbidden, text) == [], path.name
        assert len(text.splitlines()) <= 400, path.name


def test_search_result() -> None:
    row = {
        "url": "https://user:pass@tea.example/a%20b/c?d=e",
        "canonical": "javascript:alert(1)",
        "title": "  Green\n tea ",
        "description": "word " * 60,
    }
    preview = search_result(row)
    assert (preview["host"], preview["trail"]) == ("tea.example", ["a b", "c"])
    title, description = preview["title"], preview["description"]
    assert (title["text"], title["characters"], title["state"]) == ("Green tea", 13, "short")
    assert description["state"] == "long"
    widths = 1479 + 1139 + 682 + 1139 + 569  # of w, o, r, d and a space, in 2048ths of the font's size
    assert description["pixels"] == round(60 * widths * 14 / 2048)
    assert description["limits"] == [400, 985]
    assert description["text"].endswith("word …")
    # as wide as a result shows, in Liberation Sans at 14 pixels: the words that fit with the ellipsis
    assert text_width(description["text"], 14) <= 985 < text_width(f"word {description['text']}", 14)
    assert search_result({**row, "title": float("nan")})["title"]["state"] == "missing"


@pytest.mark.parametrize(
    "title", ["x", "Tea for two", "Tea " * 18, "Tea " * 20, "W" * 29, "W" * 30, "\u8336" * 29]
)
def test_a_preview_judges_as_the_rules_do(title: str) -> None:
    audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": [f"<title>{title}</title>"]}))
    rules = set(audit.issues["rule"])
    state = search_result(audit.raw.iloc[0].to_dict())["title"]["state"]
    assert (state == "long", state == "short") == ("title_too_long" in rules, "title_too_short" in rules)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("https://a.example/p.png", "https://a.example/p.png"),
        ("HTTP://a.example/p.png", "HTTP://a.example/p.png"),
        ("javascript:alert(1)", ""),
        ("data:image/svg+xml,<svg onload=alert(1)>", ""),
        ("//a.example/p.png", ""),
        ("file:///etc/passwd", ""),
        (None, ""),
        (float("nan"), ""),
    ],
)
def test_a_card_names_web_images_only(given: object, shown: str) -> None:
    assert social_card({"url": "https://a.example/", "og:image": given})["image"] == shown


def test_a_card_falls_back() -> None:
    page = {
        "url": "https://a.example/",
        "title": "Page",
        "og:title": "Graph",
        "card:title": "",
        "description": "d",
    }
    card = social_card(page)
    assert (card["title"], card["description"], card["large"]) == ("Graph", "d", True)
    assert card["missing"] == ["og:description", "og:image", "card:card"]
    assert social_card({**page, "card:card": "summary"})["large"] is False


def test_details_leave_empty_fields_out() -> None:
    row = {
        "url": "https://a.example/",
        "title": "",
        "bytes": pd.NA,
        "redirects": [],
        "date": {"published": "2026-01-02"},
    }
    found = details(
        {**row, "text": "x" * 5000, "headings": ["no heading", {"level": "h9"}], "keywords": "a, b"}
    )
    fields = dict(found["fields"])
    assert set(fields) == {"URL", "date", "Most frequent words"}
    assert fields["date"] == '{"published": "2026-01-02"}'
    assert (len(found["text"]), found["cut"]) == (5000, False)
    long = details({**row, "text": "x" * 9000})
    assert (len(long["text"]), long["cut"], len(dict(long["fields"])["text"])) == (6000, True, 2000)
    assert (found["headings"], found["keywords"]) == ([], [])


def test_failures_are_told_by_reason_with_the_option() -> None:
    reasons = [
        ("robots", sentence("robots", parameter="url"), "robots=False"),
        ("blocked", sentence("private", parameter="url"), "allow_private=True"),
        ("http", sentence("status", parameter="url", status=404), ""),
        ("blocked", sentence("port", parameter="url", ports="80, 443"), ""),
        ("timeout", sentence("timeout", parameter="url", seconds=30), "timeout="),
    ]
    frame = pd.DataFrame(
        [
            {"url": f"https://a.example/{number}", "status": "error", "error_type": kind, "error": said}
            for number, (kind, said, _) in enumerate(reasons)
        ]
        + [{"url": "https://a.example/x", "status": "error", "error_type": "dns", "error": None}] * 2
    )
    groups = failure_groups(frame)
    assert (groups[0]["reason"], groups[0]["count"]) == (
        "The host does not exist or could not be looked up.",
        2,
    )
    assert [(group["reason"], group["option"]) for group in groups[1:]] == [
        (said, option) for _, said, option in reasons
    ]
    assert groups[1]["rows"] == [[0, "https://a.example/0"]]


def test_a_failure_is_told_once_also_where_its_sentence_names_the_option() -> None:
    said = "The site forbids it; `robots=False` fetches it all the same."
    frame = pd.DataFrame({"url": ["u"], "status": ["error"], "error": [said], "error_key": ["robots"]})
    (group,) = failure_groups(frame)
    told = (group["reason"], group["option"], group["change"])
    assert told == ("The site forbids it.", "robots=False", "fetches it all the same")


def test_csv_starts_no_formula() -> None:
    content = file_bytes(pd.DataFrame({"title": FORMULAS, "=head": 1.5}), "csv")
    assert content.startswith(b"\xef\xbb\xbf")
    back = pd.read_csv(io.BytesIO(content), dtype=str, encoding="utf-8-sig")
    assert back.columns.tolist() == ["title", "'=head"]
    assert back["title"].tolist() == [
        *("'=1+1", "'+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", "'\t=1", "'\n=1", "' =1"),
        *("tea", "-5", "+12085813945"),
    ]
    assert back["'=head"].tolist() == ["1.5"] * len(FORMULAS)


def test_excel_and_parquet_keep_the_text() -> None:
    frame = pd.DataFrame({"title": FORMULAS[:5], "n": range(5)})
    sheet = openpyxl.load_workbook(io.BytesIO(file_bytes(frame, "xlsx"))).active
    assert [(cell.value, cell.data_type) for cell in sheet["A"][1:]] == [(text, "s") for text in FORMULAS[:5]]
    assert pd.read_parquet(io.BytesIO(file_bytes(frame, "parquet")))["title"].tolist() == FORMULAS[:5]


def test_another_format_is_refused() -> None:
    with pytest.raises(ParameterError, match="one of: csv, parquet, xlsx"):
        file_bytes(pd.DataFrame(), "html")
