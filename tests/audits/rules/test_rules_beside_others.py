"""The table of rules beside those of others names rules that exist, and says why one is not here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from webanalytics.audits.rules import BUILT_IN, RULES

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "guides" / "rules-beside-others.md"
OTHER_WORDS = frozenset(("meta_keywords", "lang", "noopener"))
"""A column, an attribute and a value that stand in code too."""


def rows() -> list[tuple[str, str]]:
    lines = [line for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(cell[0], cell[1]) for cell in cells if len(cell) == 2 and cell[1] not in ("here", "---")]


def test_every_rule_that_is_named_exists() -> None:
    named = set(re.findall(r"`([a-z0-9_]+)`", GUIDE.read_text("utf-8")))
    assert named - set(RULES) == OTHER_WORDS


def test_every_rule_is_named() -> None:
    named = set(re.findall(r"`([a-z0-9_]+)`", GUIDE.read_text("utf-8")))
    missing = sorted(BUILT_IN - named)
    assert missing == [], (
        f"docs/guides/rules-beside-others.md must name {', '.join(missing)}: in a row of those who have it too, "
        "or in the list at the end"
    )


def test_the_readme_tells_the_number_of_rules() -> None:
    told = re.findall(r"\b(\d{2,4})\s+rules\b", (ROOT / "README.md").read_text("utf-8"))
    assert told == [str(len(BUILT_IN))], f"README.md must say {len(BUILT_IN)} rules, and says {told}"


@pytest.mark.parametrize("page", ["index.md", "guides/audits.md"])
def test_the_documentation_counts_the_rules_itself(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert "{{ rules }} rules" in text, (
        f"docs/{page} must say {{{{ rules }}}} rules, which the build fills in"
    )
    assert re.findall(r"\b(\d{2,4})\s+rules\b", text) == [], (
        f"docs/{page} must have no number of rules typed in"
    )


def test_every_row_names_a_rule_or_a_reason() -> None:
    assert len(rows()) > 90
    for theirs, ours in rows():
        named = {name for name in re.findall(r"`([a-z0-9_]+)`", ours) if name in RULES}
        reason = re.search(r"not here|wa\.compare|reference", ours)
        assert named or reason, theirs


def test_the_day_and_the_sources_are_named() -> None:
    text = GUIDE.read_text("utf-8")
    assert re.search(r"Read on \d{4}-\d\d-\d\d", text)
    assert "could not be read" in text
