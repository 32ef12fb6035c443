"""The README against the code."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import webanalytics as wa
from webanalytics.errors import ERROR_TYPES
from webanalytics.service.configuration import settings_table
from webanalytics.service.plans import PLANS, Plan
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


def test_every_setting_of_the_service_is_in_its_table() -> None:
    assert settings_table() in README


@pytest.mark.parametrize("plan", PLANS.values(), ids=lambda plan: plan.name)
def test_every_plan_is_in_the_table(plan: Plan) -> None:
    (row,) = (line for line in README.splitlines() if line.startswith(f"| `{plan.name}` |"))
    bonus = f", and {plan.bonus_credits} once" if plan.bonus_credits else ""
    rate = plan.requests_a_minute or "not throttled"
    cells = f"{plan.monthly_credits:,}{bonus} | {'yes' if plan.premium else 'no'} | {rate}"
    assert row == f"| `{plan.name}` | {cells} | {plan.upload_bytes // 1_000_000} MB |"


def test_every_error_type_is_explained() -> None:
    table = README[README.index("## When things fail") : README.index("A wrong call raises")]
    assert {kind for kind in ERROR_TYPES if f"`{kind}`" not in table} == set()


def test_every_picture_is_there() -> None:
    for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert ROOT.joinpath(path).stat().st_size > 1000
