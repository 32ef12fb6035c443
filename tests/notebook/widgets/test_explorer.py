"""The explorer by its Python state: traits, and the messages that a browser sends."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lxml import html
from PIL import Image

import webanalytics as wa
from tests.fresh import printed
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import sample_site
from webanalytics.notebook import widgets
from webanalytics.notebook.explorer import explorer as explorer_module
from webanalytics.notebook.explorer import table as table_module
from webanalytics.notebook.explorer.explorer import CHUNK_BYTES, Explorer, explore

PAGE = """<!doctype html><html lang=en><title>{title}</title><meta name=description content="About {title}">
<h1>{title}</h1><img src=a.png><p>{text}"""


class Browser:
    """Stands for the browser: sends what the explorer's script would, and keeps what comes back."""

    def __init__(self, explorer: Explorer, monkeypatch: pytest.MonkeyPatch) -> None:
        self._explorer = explorer
        self.answers: list[tuple[dict[str, Any], list[bytes]]] = []
        monkeypatch.setattr(
            explorer, "send", lambda content, buffers=(): self.answers.append((content, list(buffers)))
        )

    def ask(self, **content: Any) -> tuple[dict[str, Any], list[bytes]]:
        self.answers.clear()
        self._explorer._handle_custom_msg({"id": "q", **content}, [])
        json.dumps([answer for answer, _ in self.answers])
        return self.answers[-1]


@pytest.fixture(scope="module")
def frame() -> wa.Audit:
    titles = ["Tea", "Coffee", "Tea"]
    html = [PAGE.format(title=title, text=f"{title} and cake on the lawn. " * 12) for title in titles]
    pages = pd.DataFrame({"url": [f"https://a.example/{i}" for i in range(3)], "html": html})
    return wa.audit(pages, progress=False)


def cells(explorer: Explorer, key: str) -> list[Any]:
    (column,) = [item for item in explorer._content["table"]["columns"] if item["key"] == key]
    return column["cells"]


def test_the_table_holds_what_the_tabs_show(frame: pd.DataFrame) -> None:
    explorer = explore(frame)
    table = explorer._content["table"]
    assert (table["length"], table["total"]) == (3, 3)
    wanted = ["url", "status", "score", "high", "medium", "low", "title", "description", "h1", "indexable"]
    assert table["views"]["pages"][:10] == wanted
    assert cells(explorer, "title") == ["Tea", "Coffee", "Tea"]
    assert cells(explorer, "title_length") == [3, 6, 3]
    assert cells(explorer, "title_repeated") == [True, False, True]
    assert cells(explorer, "h1_count") == [1, 1, 1]
    assert cells(explorer, "h1") == ["Tea", "Coffee", "Tea"]
    assert cells(explorer, "images_without_alt_count") == [1, 1, 1]
    assert "text" not in [column["key"] for column in table["columns"]]
    assert {"key": "text", "label": "text"} in table["others"]
    json.dumps(explorer._content, allow_nan=False)


def test_figures(frame: pd.DataFrame) -> None:
    summary = explore(frame)._content["summary"]
    figures = {name: value for name, value, _ in summary["figures"]}
    assert (figures["Pages"], figures["Read"], figures["Failed"]) == ("3", "3", "0")
    notes = {name: note for name, _, note in summary["figures"]}
    assert notes["Median grade"] == "of 3 pages in English"
    words = {word: (count, pages) for word, count, pages in summary["keywords"]}
    assert words["cake"] == (36, 3)
    assert words["coffee"][1] == 1


def test_figures_leave_out_texts_that_no_scale_fits() -> None:
    long = "The lamp is made of brass. It burns for a night. You can order it here. We send it soon. " * 3
    texts = {"a": long, "b": "Incomprehensibilities notwithstanding", "c": "Internationalisation"}
    pages = {
        f"https://a.example/{name}": f"<html lang=en><title>T</title><p>{text}"
        for name, text in texts.items()
    }
    audit = wa.audit(pd.DataFrame({"url": list(pages), "html": list(pages.values())}), progress=False)
    figures = {name: (value, note) for name, value, note in explore(audit)._content["summary"]["figures"]}
    grade, ease = audit.raw.loc[0, ["averageGradeLevel", "fleschReadingEase"]]
    assert figures["Median grade"] == (f"{grade:.1f}", "of 1 page in English")
    assert figures["Median Flesch ease"] == (f"{ease:.1f}", "of 1 page")


def test_what_a_notebook_without_a_kernel_shows_is_said_as_in_the_explorer() -> None:
    pages = {
        f"https://a.example/{n}": f"<html lang=en><title>Tea {n}</title><p>Tea is good." for n in range(3)
    }
    shown = html.fromstring(
        explore(wa.audit(pd.DataFrame({"url": list(pages), "html": list(pages.values())})))._repr_html_()
    ).text_content()
    assert not re.search(r"\b1 (points|languages|types)", shown)
    assert re.search(r"Score [\d.]+ of 100 · Pages 3 · Read 3 ", shown)
    assert " 1 point" in shown


def test_figures_are_those_of_the_audit_itself() -> None:
    """A redirect loop is an address without a page, as an answer of 404 is: RFC 9110, sections 15.4 and 15.5.5."""
    said = {
        "page that answered HTTP 404": (404, "http"),
        "page that answered HTTP 500": (500, "http"),
        "page that redirects in a circle": (None, "http"),
        "host that does not exist": (None, "dns"),
        "page that does not accept the password, token or cookies that were sent (HTTP 401)": (
            401,
            "refused",
        ),
    }
    rows = [
        {
            "status": "error",
            "error": f"The `url` parameter names a {text}.",
            "http_status": code,
            "error_type": kind,
        }
        for text, (code, kind) in said.items()
    ]
    pages = pd.DataFrame([*rows, *[{"status": "ok", "http_status": 200}] * 400])
    pages.insert(0, "url", [f"https://a.example/{number}" for number in range(len(pages))])
    audit = wa.Audit(pages.assign(title="Tea"))
    figures = {
        name.lower(): (value, note) for name, value, note in explore(audit)._content["summary"]["figures"]
    }
    shown = {"ok": "read"}
    told = re.findall(r"([\d,]+) (pages|ok|failed|refused|missing)", repr(audit).split("faults")[0])
    assert {name: value for value, name in told} == {
        "pages": "403", "ok": "400", "failed": "2", "refused": "1", "missing": "2"
    }  # fmt: skip
    assert {name: figures[shown.get(name, name)][0] for _, name in told} == {
        name: value for value, name in told
    }
    assert figures["failed"][1] == "<1% of all", "two of 403 are some"
    read = audit.raw.assign(
        audience=["college" if code == 200 else None for code in audit.raw["http_status"]]
    )
    assert explore(read)._content["summary"]["bars"][0]["title"] == "Pages by audience (400 of 403)"


def test_selected_is_the_row(frame: pd.DataFrame) -> None:
    explorer = explore(frame)
    assert (explorer.selected, explorer.selected_row) == (None, None)
    seen: list[Any] = []
    explorer.observe(lambda change: seen.append(change["new"]), "selected")
    explorer.set_state({"selected": 1})
    assert seen == [1]
    row = explorer.selected_row
    assert row is not None
    assert row["title"] == "Coffee"
    explorer.set_state({"selected": 99})
    assert explorer.selected is None


def test_another_frame_takes_the_place(frame: wa.Audit) -> None:
    explorer = explore(frame)
    explorer.selected = 2
    explorer.frame = frame.raw.head(1)
    assert explorer.selected is None
    assert explorer._content["table"]["length"] == 1
    assert explorer.frame.equals(frame.raw.head(1))
    explorer.frame = frame
    assert explorer.frame is frame.raw


def test_details_of_a_row(frame: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    content, _ = Browser(explore(frame), monkeypatch).ask(kind="details", row=1)
    assert (content["row"], content["name"], content["error"]) == (1, "https://a.example/1", "")
    title = content["search"]["title"]
    assert (title["text"], title["characters"], title["limits"]) == ("Coffee", 6, [200, 561])
    assert title["pixels"] == frame.pages.loc[1, "title_pixels"]
    assert title["state"] == "short"
    assert {"Title too short", "Viewport missing"} <= {issue["title"] for issue in content["issues"]}
    assert content["card"]["host"] == "a.example"
    assert content["headings"] == [[1, "Coffee"]]
    assert ["cake", 12] in content["keywords"]
    fields = dict(content["fields"])
    assert fields["Audience"] == frame.raw.loc[1, "audience"]
    assert "text" not in fields
    assert "Coffee and cake on the lawn." in content["text"]
    assert "HTTP 200" not in content["facts"]
    assert content["facts"][0] == "indexable"


def test_a_quick_page_took_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"url": ["https://a.example/"], "http_status": [200], "wordCount": [12_345], "elapsed": [0.0031]}
    content, _ = Browser(explore(pd.DataFrame(pages)), monkeypatch).ask(kind="details", row=0)
    assert content["facts"] == ["HTTP 200", "indexable", "12,345 words", "< 0.01 s"]


def test_a_column_on_request(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser(explore(frame), monkeypatch)
    column = browser.ask(kind="column", key="lang")[0]["column"]
    assert (column["cells"], column["kind"]) == (["en"] * 3, "text")
    text = browser.ask(kind="column", key="text")[0]["column"]["cells"]
    assert max(len(cell) for cell in text) <= 300


@pytest.mark.parametrize(
    "question",
    [
        {"kind": "details", "row": 3},
        {"kind": "details", "row": -1},
        {"kind": "details", "row": "x"},
        {"kind": "details"},
        {"kind": "column", "key": "no such"},
        {"kind": "chart", "name": "../style"},
        {"kind": "download", "format": "pickle"},
    ],
)
def test_a_senseless_question_gets_a_sentence(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any]
) -> None:
    content, buffers = Browser(explore(frame), monkeypatch).ask(**question)
    assert set(content) == {"id", "error"}
    assert content["error"].endswith(".")
    assert buffers == []


def test_other_messages_are_left_alone(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore(frame)
    browser = Browser(explorer, monkeypatch)
    for content in ("text", None, {}, {"kind": "eval"}):
        explorer._handle_custom_msg(content, [])
    assert browser.answers == []


def test_the_chart_is_a_picture(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    content, (png,) = Browser(explore(frame), monkeypatch).ask(kind="chart", name="readability")
    picture = Image.open(io.BytesIO(png))
    assert picture.format == "PNG"
    assert content["width"] < picture.width


def test_a_download_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = (
        np.random.default_rng(7)
        .integers(33, 126, CHUNK_BYTES)
        .astype(np.uint8)
        .tobytes()
        .decode()
        .replace('"', "x")
    )
    frame = pd.DataFrame({"url": ["https://a.example/", "https://b.example/"], "title": ["", "x" + noise]})
    browser = Browser(explore(frame), monkeypatch)
    browser.ask(kind="download", format="csv")
    pieces = [piece for _, buffers in browser.answers for piece in buffers]
    assert [content["last"] for content, _ in browser.answers] == [False, True]
    assert all(len(piece) <= CHUNK_BYTES for piece in pieces)
    back = pd.read_csv(io.BytesIO(b"".join(pieces)))
    assert back["title"].tolist()[1] == "x" + noise
    assert browser.answers[0][0]["name"] == "webanalytics.csv"


@pytest.mark.parametrize("name", ["metadata", "text", "readability", "keywords", "audit"])
def test_every_page_function_can_be_explored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with sample_site() as site:
        frame = getattr(wa, name)(site.pages, allow_private=True, progress=False)
    explorer = explore(frame)
    assert len(explorer.pages) == len(site.pages)
    has = explorer._content["summary"]["has"]
    expected = {
        "metadata": {"metadata"},
        "text": {"metadata"},
        "readability": {"readability"},
        "keywords": {"keywords"},
        "audit": {"metadata", "readability", "keywords"},
    }
    assert {tab for tab in ("metadata", "readability", "keywords") if has[tab]} == expected[name]
    assert sum(group["count"] for group in explorer._content["summary"]["failures"]) == 2
    browser = Browser(explorer, monkeypatch)
    for row in range(len(explorer.pages)):
        assert "error" in browser.ask(kind="details", row=row)[0]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({"url": []}),
        pd.DataFrame({"a": [1, 2], "b": [None, "x"]}),
        pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]),
        pd.DataFrame({0: [1.5, np.inf, np.nan], 1: [pd.NaT, pd.Timestamp("2026-01-02"), None]}),
        pd.DataFrame(
            {"url": ["\ud800", None, 7], "keywords": [{"tea": 1}, None, {}], "x": [b"abc", [1], {"a": b"c"}]}
        ),
        pd.DataFrame(
            {"url": ["https://[::1", "https://b.example/"], "title": ["t", None], "description": [None, "d"]}
        ),
        pd.DataFrame({"status": ["error", "ok"], "error": [None, None]}, index=["a", "a"]),
    ],
    ids=["nothing", "no rows", "other", "twice", "numbers", "mixed", "broken", "index"],
)
def test_any_frame_can_be_explored(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore(frame)
    json.dumps(explorer._content, allow_nan=False).encode()
    assert explorer._repr_html_().startswith("<div>")
    browser = Browser(explorer, monkeypatch)
    for row in range(len(frame)):
        browser.ask(kind="details", row=row)
    for kind in ("csv", "parquet", "xlsx"):
        browser.ask(kind="download", format=kind)


def test_no_dataframe_no_explorer() -> None:
    with pytest.raises(ParameterError, match="must be an audit or a DataFrame"):
        explore(["https://a.example/"])  # type: ignore[arg-type]


def test_a_tidy_frame_of_keywords_has_a_row_per_page() -> None:
    tidy = pd.DataFrame(
        {
            "url": ["https://a.example/", "https://a.example/", "https://b.example/"],
            "keyword": ["tea", "leaf", ""],
            "frequency": pd.array([3, 1, None], dtype="Int64"),
            "density": [0.2, 0.1, np.nan],
            "rank": pd.array([1, 2, None], dtype="Int64"),
            "status": ["ok", "ok", "error"],
        },
        index=[5, 5, 6],
    )
    pages = explore(tidy).pages
    assert pages.index.tolist() == [5, 6]
    assert pages["keywords"].tolist() == [{"tea": 3, "leaf": 1}, {}]
    assert "keyword" not in pages.columns


def test_large_frames_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 110_000
    frame = pd.DataFrame(
        {"url": [f"https://a.example/{row}" for row in range(rows)], "title": "long title " * 40}
    )
    explorer = explore(frame)
    content = explorer._content
    assert (content["table"]["length"], content["table"]["total"]) == (100_000, rows)
    assert len(json.dumps(content)) < 500_000
    answer, _ = Browser(explorer, monkeypatch).ask(kind="column", key="url")
    assert answer["column"]["cells"] == frame["url"].tolist()[:100_000]


def test_a_long_table_comes_column_by_column(frame: wa.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explore(frame)._content
    for module in (explorer_module, table_module):
        monkeypatch.setattr(module, "MANY_PAGES", 2)
    monkeypatch.setattr(table_module, "FIRST_ROWS", 1)
    explorer = explore(frame)
    browser, content = Browser(explorer, monkeypatch), explorer._content
    assert {len(column["cells"]) for column in content["table"]["columns"]} == {1}
    assert content["table"]["length"] == 3
    assert "title_repeated" in [other["key"] for other in content["table"]["others"]]
    for column in whole["table"]["columns"]:
        assert browser.ask(kind="column", key=column["key"])[0]["column"] == column
    words, _ = browser.ask(kind="words")
    assert (words["bars"], words["keywords"]) == (whole["summary"]["bars"], whole["summary"]["keywords"])
    figures = {name: value for name, value, _ in content["summary"]["figures"]}
    assert figures["Pages"] == "3"


def test_nothing_is_imported_before_a_widget_is_made() -> None:
    code = (
        "import sys, webanalytics, webanalytics.notebook.widgets as widgets\n"
        "print(sorted({'ipywidgets', 'anywidget', 'pandas', 'matplotlib'} & set(sys.modules)), dir(widgets))\n"
        "widgets.explore\n"
        "print(sorted({'ipywidgets', 'anywidget', 'matplotlib'} & set(sys.modules)))"
    )
    before, after = printed(code).splitlines()
    assert before.startswith("[] [")
    assert "'app', 'explore'" in before
    assert after == "['anywidget', 'ipywidgets']"
    with pytest.raises(AttributeError, match="nonsense"):
        _ = widgets.nonsense
