"""All rules of an audit, in a fixed order.

A rule is one entry in the tuple ``RULES`` of the file of its category; nothing else names it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from webanalytics.audits.rules import (
    accessibility,
    canonical,
    content,
    crawl,
    crawl_links,
    description,
    directives,
    duplicates,
    head,
    headings,
    hreflang,
    hreflang_groups,
    html,
    images,
    indexability,
    link_elements,
    links,
    pagination,
    resources,
    response,
    security,
    sitemap,
    social,
    structured,
    title,
    url,
)
from webanalytics.audits.rules.base import Rule
from webanalytics.frames.schema import make_series
from webanalytics.operations.model import Dtype

_FILES = (
    response,
    security,
    indexability,
    directives,
    canonical,
    sitemap,
    links,
    crawl_links,
    link_elements,
    crawl,
    pagination,
    hreflang,
    hreflang_groups,
    title,
    description,
    headings,
    content,
    duplicates,
    url,
    images,
    resources,
    structured,
    social,
    html,
    head,
    accessibility,
)

RULES: dict[str, Rule] = {rule.name: rule for file in _FILES for rule in file.RULES}
"""Every rule by its name, in the order in which issues of one priority are listed."""

_COLUMNS: dict[str, Dtype] = {
    "name": "string",
    "title": "string",
    "category": "string",
    "type": "string",
    "priority": "string",
    "threshold": "float",
    "unit": "string",
    "explanation": "string",
    "fix": "string",
}


class RuleTable(pd.DataFrame):
    """All rules as a frame; calling it returns a plain copy."""

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __call__(self) -> pd.DataFrame:
        """Return the rules as a frame that may be changed."""
        return pd.DataFrame(self).copy()


def rule_table() -> RuleTable:
    """Return `webanalytics.rules`: all rules as a frame, one per row; see `rules`."""
    return RuleTable(rules())


def rules() -> pd.DataFrame:
    """Return all rules with their default priorities and thresholds, one per row.

    Returns
    -------
    pandas.DataFrame
        Columns ``name``, ``title``, ``category``, ``type``, ``priority``, ``threshold`` (missing if a rule
        has none), ``unit``, ``explanation`` and ``fix``; the index is the name too.

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
