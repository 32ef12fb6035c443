"""What the package says of itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

from webanalytics._version import DOCUMENTATION

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_package_names_its_authors_and_its_page() -> None:
    assert PROJECT["authors"] == [{"name": "The webanalytics developers"}]
    assert PROJECT["urls"] == {
        "Homepage": DOCUMENTATION,  # the package index has a stranger's package under this name
        "Documentation": DOCUMENTATION,  # the pages of rules are there
    }
