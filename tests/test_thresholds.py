"""The limits, priorities and audiences that rooms share agree with what is declared elsewhere."""

from __future__ import annotations

import inspect

from webanalytics.audits.rules import RULES
from webanalytics.core.operations.types import shape_of
from webanalytics.notebook import charts
from webanalytics.operations import READABILITY
from webanalytics.thresholds import (
    DESCRIPTION_CHARACTERS,
    DESCRIPTION_PIXELS,
    GRADE_BANDS,
    PRIORITIES,
    TITLE_CHARACTERS,
    TITLE_PIXELS,
)


def test_the_rules_on_lengths_have_the_shared_limits() -> None:
    shared = {
        ("title", "short", "long"): TITLE_PIXELS,
        ("description", "short", "long"): DESCRIPTION_PIXELS,
    }
    for (text, low, high), limits in shared.items():
        assert tuple(RULES[f"{text}_too_{end}"].threshold for end in (low, high)) == limits


def test_charts_have_the_shared_limits() -> None:
    defaults = inspect.signature(charts.text_lengths).parameters
    assert defaults["title_limits"].default == TITLE_CHARACTERS
    assert defaults["description_limits"].default == DESCRIPTION_CHARACTERS


def test_the_audiences_are_those_that_readability_declares() -> None:
    (field,) = [field for field in READABILITY.columns if field.name == "targetAudience"]
    names = [audience for _, audience in GRADE_BANDS]
    assert set(shape_of(field.type).choices) == {*names, "general public"}


def test_every_rule_has_one_of_the_priorities() -> None:
    assert {rule.priority for rule in RULES.values()} == set(PRIORITIES)
