"""Rules of this package: what is said of each stands in the TOML file beside that of its search."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from webanalytics.audits.rules.base import Find, Rule

_RFC = re.compile(r"RFC (\d+), section .+")
_WCAG = "WCAG 2.2, "


def rules_of(module: str, searches: Mapping[str, Find]) -> tuple[Rule, ...]:
    """Return the rules of a module, by the name of each search its table in the TOML file of that module."""
    name = module.rpartition(".")[2]
    tables = _tables(name)
    if unlike := searches.keys() ^ tables.keys():
        raise ValueError(
            f"A rule needs a search in rules/{name}.py and a table in rules/{name}.toml: {', '.join(unlike)}."
        )
    return tuple(_rule(rule, search, tables[rule]) for rule, search in searches.items())


def _rule(name: str, search: Find, table: Mapping[str, Any]) -> Rule:
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    source = "; ".join(_cited(cited) for cited in fields.pop("sources"))
    return Rule(name=name, find=search, source=source, **fields)


def _cited(source: str) -> str:
    """Return a source with its address: one of `sources.toml`, a section of an RFC, or criteria of WCAG."""
    if number := _RFC.fullmatch(source):
        return f"{source}: https://www.rfc-editor.org/rfc/rfc{number[1]}"
    if source.startswith(_WCAG):
        return f"{source}: https://www.w3.org/TR/WCAG22/"
    return str(_tables("sources")[source])


@cache
def _tables(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))
