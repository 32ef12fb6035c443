"""Every rule says how it measures and what it rests on, and its examples are right."""

from __future__ import annotations

import re

import pytest

from tests.audits.examples import examples, found, read
from webanalytics.audits.rules import RULES

TABLES = read()
ADDRESS = re.compile(r"https://[a-z0-9.-]+/\S*")


@pytest.fixture(scope="module")
def spoke() -> dict[tuple[str, str], set[str]]:
    """The rules that speak of each example."""
    known = list(examples(TABLES))
    return {(example.rule, example.kind): names for example, names in zip(known, found(known), strict=True)}


def test_every_rule_has_examples_and_every_example_a_rule() -> None:
    assert set(TABLES) == set(RULES)
    assert all({"fails", "passes"} <= set(table) <= {"fails", "passes", "also"} for table in TABLES.values())
    assert {name for table in TABLES.values() for name in table.get("also", ())} <= set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_speaks_of_the_page_that_fails_and_not_of_the_one_that_passes(
    rule: str, spoke: dict[tuple[str, str], set[str]]
) -> None:
    fails, passes = spoke[rule, "fails"], spoke[rule, "passes"]
    assert rule in fails
    assert rule not in passes


@pytest.mark.parametrize("rule", RULES)
def test_no_other_rule_tells_the_two_pages_apart(rule: str, spoke: dict[tuple[str, str], set[str]]) -> None:
    """Else a reader could not tell which of the differences between them is meant."""
    fails, passes = spoke[rule, "fails"], spoke[rule, "passes"]
    assert fails - passes == {rule, *TABLES[rule].get("also", ())}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_how_it_measures_and_what_it_rests_on(rule: str) -> None:
    declared = RULES[rule]
    assert declared.measured.endswith(".")
    assert len(declared.measured) > 20
    assert declared.measured not in (declared.explanation, declared.fix)
    for source in declared.source.split("; "):
        name, _, address = source.rpartition(": ")
        assert name, source
        assert ADDRESS.fullmatch(address), source
