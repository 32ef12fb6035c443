"""Folders of saved pages, and the tables that desktop crawlers export beside them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.archives.files import page, title, write

HEAD = [
    "Address", "Content Type", "Status Code", "Status", "Indexability", "Title 1", "X-Robots-Tag 1", "X-Robots-Tag 2",
    "Response Time", "Redirect URL", "Redirect Type", "Crawl Timestamp",
]  # fmt: skip
HTML = "text/html; charset=UTF-8"


def row(path: str, status: str = "200", kind: str = HTML, **more: str) -> dict[str, str]:
    return {"Address": f"https://www.a.example/{path}", "Status Code": status, "Content Type": kind} | {
        name.replace("_", " ").replace("X Robots Tag", "X-Robots-Tag"): value for name, value in more.items()
    }


ROWS = [
    row("", Response_Time="0,25"),
    row("tea/green-leaf", X_Robots_Tag_1="noindex", X_Robots_Tag_2="nofollow", Response_Time="0.5"),
    row("search?q=tea&p=2"),
    row("old", "301", Redirect_URL="https://www.a.example/tea/green-leaf", Redirect_Type="HTTP Redirect"),
    row("gone", "404", Status="Not Found"),
    row("lost", "404", Status="Not Found"),
    row("unsaved"),
    row("private", "0", "", Status="Blocked by Robots.txt"),
    row("silent", "0", "", Status="Connection Timeout"),
    row("picture.png", "200", "image/png"),
    row("a_b"),
    row("a-b"),
    {"Address": "mailto:tea@a.example"},
]
FILES = {
    "original_https_www.a.example_.html": "Home",
    "rendered_https_www.a.example_.html": "Home, rendered",
    "original_https_www.a.example_tea_green-leaf.html": "Green",
    "original_https_www.a.example_search_q=tea_p=2.html": "Search",
    "original_https_www.a.example_gone.html": "Gone",
    "original_https_www.a.example_a_b.html": "One",
    "notes.html": "No page of the table",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "saved"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_bytes(title(text))
    return place


def table(path: Path, rows: list[dict[str, str]] = ROWS, encoding: str = "utf-8-sig", **form: Any) -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, HEAD, **{"quoting": csv.QUOTE_ALL, **form})
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    "form", [{}, {"delimiter": ";"}, {"delimiter": "\t", "encoding": "utf-16"}, {"encoding": "utf-8"}]
)
def test_a_table_and_its_files(folder: Path, tmp_path: Path, form: dict[str, Any]) -> None:
    found = wa.pages(folder, export=table(tmp_path / "internal_all.csv", **form))
    audit = wa.audit(found)
    audit.raw.index = audit.raw["url"].str.removeprefix("https://www.a.example/")
    assert audit.raw["title"].dropna().to_dict() == {
        "": "Home",
        "tea/green-leaf": "Green",
        "search?q=tea&p=2": "Search",
        "old": "Green",
        "gone": "Gone",
        "a_b": "One",
    }
    assert audit.raw["error"].dropna().to_dict() == {
        "gone": "The page answered HTTP 404.",
        "lost": "The page answered HTTP 404.",
        "unsaved": "No file was saved of the page.",
        "private": "The site's robots.txt forbids to fetch the page; `robots=False` fetches it all the same.",
        "silent": "The page gave the crawler no answer (Connection Timeout).",
        "a-b": "No file was saved of the page.",
    }
    assert audit.raw.loc["old", "redirect_kinds"] == ["301"]
    assert audit.raw.loc["old", "final_url"] == "https://www.a.example/tea/green-leaf"
    assert audit.raw["elapsed"].dropna().to_dict() == {"": 0.25, "tea/green-leaf": 0.5}
    assert audit.raw.loc["tea/green-leaf", "x_robots_tag"] == "noindex\nnofollow"
    assert found.counts == {
        "rows": 12,
        "duplicates": 0,
        "not_pages": 1,
        "pages": 11,
        "files": 7,
        "files_without_row": 2,
    }
    assert not set(audit.issues["rule"]) & {
        "no_hsts",
        "no_nosniff",
        "not_compressed",
    }  # headers are not known


def test_a_mirror_of_folders(tmp_path: Path) -> None:
    for name in ("a.example/index.html", "a.example/tea/index.html", "a.example/tea/green.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(title(name))
    rows = [
        {"Address": f"https://a.example/{path}", "Status Code": "200", "Content Type": "text/html"}
        for path in ("", "tea/", "tea/green.html")
    ]
    frame = wa.metadata(wa.pages(tmp_path, export=table(tmp_path / "t.csv", rows)))
    assert frame["title"].tolist() == [
        "a.example/index.html",
        "a.example/tea/index.html",
        "a.example/tea/green.html",
    ]


def test_a_folder_alone(folder: Path) -> None:
    found = wa.pages(str(folder))
    assert sorted(str(entry.html)[7:].partition("<")[0] for entry in found) == sorted(FILES.values())
    frame = wa.metadata(found)
    assert frame["url"].tolist() == [str(folder / name) for name in sorted(FILES)]
    again = wa.metadata([folder / name for name in sorted(FILES)])
    pd.testing.assert_frame_equal(frame, again)


def test_wrong_tables_are_refused(folder: Path, tmp_path: Path) -> None:
    for content, what in (
        (b"Adresse,Titel\nx,y\n", "a table with the columns Address and Status Code"),
        (b"", "a table with the columns Address and Status Code"),
    ):
        (tmp_path / "t.csv").write_bytes(content)
        with pytest.raises(wa.ParameterError, match=f"`export` parameter must be {what}"):
            wa.pages(folder, export=tmp_path / "t.csv")
    with pytest.raises(
        wa.ParameterError, match="`export` parameter must be a table that can be read: No such"
    ):
        wa.pages(folder, export=tmp_path / "none.csv")
    with pytest.raises(wa.ParameterError, match="`export` parameter must be left out unless"):
        wa.pages(write(tmp_path / "a.warc", page("a")), export=tmp_path / "t.csv")


def test_cells_are_data(folder: Path, tmp_path: Path) -> None:
    rows = [
        row("../../../etc/passwd"),
        row("x", "99999999999999999999999"),
        row("y", "200", "text/html\r\nX: y"),
        row("=cmd()", "-1"),
    ]
    found = list(wa.pages(folder, export=table(tmp_path / "t.csv", rows)))
    assert [entry.error_type for entry in found] == ["parse", "refused", "parse", "refused"]
