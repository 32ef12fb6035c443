"""The recipe of the guide: files of a desktop crawler and its table are a frame of saved pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.fetching.archives.files import title

GUIDE = Path(__file__).parents[3] / "docs/guides/archives.md"
TABLE = """\
"Address","Content Type","Status Code","Status","Response Time","X-Robots-Tag 1","Redirect URL"
"https://www.a.example/","text/html","200","OK","0.25","",""
"https://www.a.example/tea/green-leaf","text/html","200","OK","0.5","noindex",""
"https://www.a.example/search?q=tea&p=2","text/html","200","OK","0.5","",""
"https://www.a.example/old","text/html","301","Moved","0.1","","https://www.a.example/"
"https://www.a.example/gone","text/html","404","Not Found","0.1","",""
"https://www.a.example/unsaved","text/html","200","OK","0.1","",""
"""
FILES = {
    "original_https_www.a.example_.html": "Home",
    "rendered_https_www.a.example_.html": "Home, rendered",
    "original_https_www.a.example_tea_green-leaf.html": "Green",
    "original_https_www.a.example_search_q=tea&p=2.html": "Search",
    "original_https_www.a.example_gone.html": "Gone",
}


def test_the_recipe_for_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "saved").mkdir()
    for file, text in FILES.items():
        (tmp_path / "saved" / file).write_bytes(title(text))
    (tmp_path / "internal_all.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    recipe = next(
        block for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S) if "def name" in block
    )
    made: dict[str, Any] = {}
    exec(recipe, made)
    audit = made["audit"].raw.set_index("url")
    audit.index = audit.index.str.removeprefix("https://www.a.example/")
    assert audit["title"].dropna().to_dict() == {
        "": "Home",
        "tea/green-leaf": "Green",
        "search?q=tea&p=2": "Search",
        "gone": "Gone",
    }
    assert audit["http_status"].tolist() == [200, 200, 200, 404]
    assert audit.loc["tea/green-leaf", "x_robots_tag"] == "noindex"
    assert audit["elapsed"].tolist() == [0.25, 0.5, 0.5, 0.1]
