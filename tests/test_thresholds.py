"""The limits, priorities and audiences that rooms share agree with what is declared elsewhere."""

from __future__ import annotations

from typing import get_args

import pytest

from webanalytics.audits.rules import RULES, content, crawl, snippet
from webanalytics.audits.rules.base import Category, Type
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.core.operations.types import shape_of
from webanalytics.notebook.charts import lengths
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


def test_what_one_rule_leaves_to_the_next_is_where_that_begins() -> None:
    assert RULES["readability_very_difficult"].threshold == content.VERY_DIFFICULT
    assert (RULES["page_very_deep"].threshold, RULES["no_path_from_start"].threshold) == (
        crawl.VERY_DEEP,
        crawl.OUT_OF_REACH,
    )


def test_charts_have_the_shared_limits() -> None:
    assert lengths._LIMITS == {
        "pixels": {"title": TITLE_PIXELS, "description": DESCRIPTION_PIXELS},
        "characters": {"title": TITLE_CHARACTERS, "description": DESCRIPTION_CHARACTERS},
    }


def test_the_audiences_are_those_that_readability_declares() -> None:
    (field,) = [field for field in READABILITY.columns if field.name == "targetAudience"]
    names = [audience for _, audience in GRADE_BANDS]
    assert set(shape_of(field.type).choices) == {*names, "general public"}


def test_every_rule_has_one_of_the_priorities_types_and_categories() -> None:
    assert {rule.priority for rule in RULES.values()} == set(PRIORITIES)
    assert {rule.type for rule in RULES.values()} == set(get_args(Type))
    assert {rule.category for rule in RULES.values()} < set(get_args(Category))


def test_a_rule_without_its_other_half_is_named() -> None:
    with pytest.raises(ValueError, match=r"rules/snippet\.py and a table in rules/snippet\.toml: title_new"):
        rules_of("rules.snippet", {rule.name: rule.find for rule in snippet.RULES} | {"title_new": print})
