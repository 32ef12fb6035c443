"""The pages of rules in the documentation: one for each, at the address that issues name."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import webanalytics as wa
from webanalytics.audits.rules import RULES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rule_pages", DOCS / "rule_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_page_says_why_how_what_to_do_and_shows_both_examples(maker: ModuleType) -> None:
    examples = maker.examples()
    for rule in RULES.values():
        page = maker.page(rule, examples[rule.name])
        assert page.startswith(f"# {rule.title}\n")
        heads = [line[3:] for line in page.splitlines() if line.startswith("## ")]
        assert heads == ["Why it matters", "How it is measured", "How to fix it", "Fails", "Passes", "Source"]
        assert "https://" in page.rpartition("## Source")[2]


def test_what_an_example_lacks_of_the_other_is_marked(maker: ModuleType) -> None:
    page = maker.page(RULES["lang_missing"], maker.examples()["lang_missing"])
    fails, _, passes = page.partition("## Passes")
    assert ":emphasize-lines: 2\n" in fails  # <html>
    assert ":emphasize-lines: 2\n" in passes  # <html lang="en">


def test_tags_in_sentences_are_code(maker: ModuleType) -> None:
    assert maker.prose("Add <meta x> to <head>, 1 < 2.") == "Add `<meta x>` to `<head>`, 1 < 2."


def test_no_example_can_end_its_block(maker: ModuleType) -> None:
    page = maker.page(RULES["lang_missing"], {"fails": "<p>````</p>", "passes": "<p>"})
    assert "`````{code-block} html" in page


def test_issues_and_rules_name_the_page() -> None:
    assert {rule.help for rule in RULES.values()} == {f"rules/{name}.html" for name in RULES}
    assert {rule.link for rule in RULES.values()} == {""}
    with wa.option_context(docs_url="https://docs.example.org/web/"):
        assert RULES["title_missing"].link == "https://docs.example.org/web/rules/title_missing.html"
    table = wa.rules()
    assert table.loc["title_missing", "help"] == RULES["title_missing"].help
    assert table[["measured", "source", "help"]].ne("").all().all()
