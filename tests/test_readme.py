"""The README against the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import webanalytics as wa
from webanalytics.errors import ERROR_TYPES
from webanalytics.settings import RECORDS

ROOT = Path(__file__).parent.parent
README = ROOT.joinpath("README.md").read_text("utf-8")


def option_rows() -> list[str]:
    return [f"| `{key}` | `{record.default!r}` | {record.meaning} |" for key, record in RECORDS.items()]


@pytest.mark.parametrize("row", option_rows())
def test_every_option_is_in_the_table(row: str) -> None:
    assert row in README.splitlines()


@pytest.mark.parametrize("name", [*wa.aio.__all__, "tlsa_record"])
def test_every_function_is_in_the_table_with_its_defaults(name: str) -> None:
    (shown,) = re.findall(rf"^\| `wa\.{name}\((.*?)\)` \|", README, re.M)
    parameters = inspect.signature(getattr(wa, name)).parameters
    for part in re.findall(r"(\w+)=([^,]+)", shown):
        assert part[0] in parameters
        if part[1] != "...":
            assert repr(parameters[part[0]].default).replace("'", '"') == part[1]
    own = [key for key, item in parameters.items() if item.kind is not item.VAR_KEYWORD]
    missing = {key for key in own if key not in shown} - {
        "column",
        "inputs",
        "output_format",
        "protocol",
        "ttl",
    }
    assert missing == set()


def test_every_error_type_is_explained() -> None:
    table = README[README.index("## When things fail") : README.index("A wrong call raises")]
    assert {kind for kind in ERROR_TYPES if f"`{kind}`" not in table} == set()


def test_every_picture_is_there() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert ROOT.joinpath(path).stat().st_size > 1000
