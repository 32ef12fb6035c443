"""The examples of rules about crawls: the one that fails does, and the other differs in nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.crawl_examples import crawl_of
from webanalytics.audits.origin import Origin
from webanalytics.audits.rules import RULES, crawl, crawl_links, hreflang_groups, pagination

FOLDER = Path(__file__).parents[2] / "docs" / "rules" / "examples"
FILES = {
    "crawl": crawl,
    "crawl_links": crawl_links,
    "hreflang_groups": hreflang_groups,
    "pagination": pagination,
}
TABLES: dict[str, dict[str, Any]] = {
    rule: table
    for name in FILES
    for rule, table in tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8")).items()
}
COLUMNS = ("final_url", "redirects", "http_status", "headers")
ADDRESS = re.compile(r"https://[a-z0-9.-]+/\S*")


def spoken(site: Any) -> set[str]:
    """The rules that speak of a site."""
    site = site if isinstance(site, dict) else {"pages": site}
    records = [{"http_status": 200, **record} for record in site["pages"]]
    frame = pd.DataFrame(
        {
            name: pd.Series([record.get(name) for record in records], dtype=object)
            for name in ("url", "html", *COLUMNS)
        }
    )
    made = wa.audit(frame, progress=False)
    pages = made.plain()
    pages.attrs["webanalytics"] = {**made.attrs["webanalytics"], "lacking": []}
    issues = wa.Audit(pages, Origin(crawl=crawl_of(site))).issues
    assert not issues.attrs["webanalytics"]["rules_failed"]
    return set(issues["rule"])


def test_every_rule_of_these_files_has_examples() -> None:
    assert set(TABLES) == {rule.name for file in FILES.values() for rule in file.RULES}


@pytest.mark.parametrize("rule", TABLES)
def test_the_rule_alone_tells_its_two_examples_apart(rule: str) -> None:
    fails, passes = spoken(TABLES[rule]["fails"]), spoken(TABLES[rule]["passes"])
    assert rule in fails
    assert fails - passes == {rule, *TABLES[rule].get("also", ())}


@pytest.mark.parametrize("rule", TABLES)
def test_sources_name_an_address(rule: str) -> None:
    for source in RULES[rule].source.split("; "):
        name, _, address = source.rpartition(": ")
        assert name, source
        assert ADDRESS.fullmatch(address), source
