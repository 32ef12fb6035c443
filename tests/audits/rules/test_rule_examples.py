"""Each rule, alone, speaks of its example that fails and not of the one that passes."""

from __future__ import annotations

from functools import cache

import pytest

import webanalytics as wa
from tests.audits.examples import audits, examples, read
from webanalytics.audits.rules import RULES


@cache
def read_once() -> dict[tuple[str, str], wa.Audit]:
    known = list(examples(read()))
    return {(one.rule, one.kind): audit for one, audit in zip(known, audits(known), strict=True)}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_speaks_of_the_page_that_fails_and_not_of_the_one_that_passes(name: str) -> None:
    rule = RULES[name]
    speaks = {
        kind: [*rule.find(read_once()[name, kind].site, rule.threshold)] for kind in ("fails", "passes")
    }
    assert speaks["fails"]
    assert not speaks["passes"]
