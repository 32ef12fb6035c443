"""All rules of an audit, in a fixed order.

A rule is a search in the file of its category and a table of the same name in the TOML file beside it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pandas as pd

from webanalytics.audits.rules.base import Rule
from webanalytics.core import plugins
from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.schema import make_series

_FILES = (
    *("response", "security", "indexability", "canonical", "sitemap", "robots", "links", "crawl", "hreflang"),
    *("snippet", "headings", "content", "url", "resources", "rendering", "structured", "social", "html"),
    "accessibility",
)


def _take(name: str, found: Any) -> None:
    """Add the rule that another package has under a name: a `Rule`, or what `webanalytics.rule` makes."""
    rule = getattr(found, "rule", found)
    if not isinstance(rule, Rule):
        raise ValueError(f"it is no rule but a {type(found).__name__}.")
    if rule.name != name:
        raise ValueError(f"its rule is called {rule.name!r}, and both names must be the same.")
    if name in BUILT_IN:
        raise ValueError(f"there is a rule {name} already.")
    RULES[name] = rule


def _is_users(name: str) -> bool:
    return name in RULES.own and name not in BUILT_IN


RULES: plugins.Register[Rule] = plugins.Register(plugins.Plugins(plugins.RULES, _take, _is_users))
"""Every rule by its name, in the order in which issues of one priority are listed; users' own come last."""
RULES.own.update((rule.name, rule) for file in _FILES for rule in import_module(f"{__name__}.{file}").RULES)

BUILT_IN = frozenset(RULES.own)
"""Names of the rules of this package."""

REMOVED: set[str] = set()
"""Names of users' rules that are gone: profiles may still name them."""

_COLUMNS: dict[str, Dtype] = {
    "name": "string",
    "title": "string",
    "category": "string",
    "type": "string",
    "scope": "string",
    "priority": "string",
    "threshold": "float",
    "unit": "string",
    "explanation": "string",
    "fix": "string",
    "measured": "string",
    "source": "string",
    "help": "string",
}


def rules() -> pd.DataFrame:
    """Return all rules with their default priorities and thresholds, one per row.

    Returns
    -------
    pandas.DataFrame
        Columns ``name``, ``title``, ``category``, ``type``, ``scope`` (what its issues are of: ``page`` or
        ``host``), ``priority``, ``threshold`` (missing if a rule has none), ``unit``, ``explanation``,
        ``fix``, ``measured`` (how), ``source`` (what the rule rests on) and ``help`` (the address of its page
        in the documentation); the index is the name too.

    Examples
    --------
    >>> rules().loc["title_multiple", "title"]
    'Several titles'
    """
    index = pd.Index(RULES, name="rule", dtype="str" if pd.__version__ >= "3" else "object")
    return pd.DataFrame(
        {
            name: make_series([getattr(rule, name) for rule in RULES.values()], dtype, index)
            for name, dtype in _COLUMNS.items()
        }
    )
