"""What pages say stays text: in previews, in static views, in downloads, and in the scripts."""

from __future__ import annotations

import io
import re
from importlib.resources import files

import nbformat
import openpyxl
import pandas as pd
import pytest

from webanalytics.errors import ERROR_TYPES, ParameterError
from webanalytics.widgets.downloads import file_bytes
from webanalytics.widgets.explorer.explorer import explore
from webanalytics.widgets.explorer.summary import MEANINGS
from webanalytics.widgets.previews import details, search_result, social_card

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
    path for path in files("webanalytics.widgets").joinpath("static").iterdir() if path.name.endswith(".js")
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


def test_a_saved_notebook_without_widget_state_shows_the_table(hostile: pd.DataFrame) -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    data, metadata = explore(hostile)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("explore(frame)", outputs=[output])])
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
    assert preview["title"] == {"text": "Green tea", "length": 9, "limit": 60, "state": "good"}
    assert preview["description"]["state"] == "long"
    assert preview["description"]["length"] == 299
    assert len(preview["description"]["text"]) <= 160
    assert preview["description"]["text"].endswith("word …")
    assert search_result({**row, "title": float("nan")})["title"]["state"] == "missing"


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
    assert set(fields) == {"URL", "date", "text"}
    assert fields["date"] == '{"published": "2026-01-02"}'
    assert len(fields["text"]) == 2000
    assert (found["headings"], found["keywords"]) == ([], [])


def test_every_kind_of_failure_is_explained() -> None:
    assert set(MEANINGS) == set(ERROR_TYPES)


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
