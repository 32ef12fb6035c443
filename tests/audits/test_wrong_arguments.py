"""Arguments of a wrong type: each method of an audit, of a comparison and of a plan names the parameter."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa

WRONG = (5, -1.5, None, b"x", "", [5], {"a": 5}, object())
MORE_IS_NEEDED = {
    *("log_issues", "paths", "search_issues", "with_logs", "with_search_data", "with_field_data"),
}
"""Methods of audits that have hits, links, clicks or answers."""


def audit_of(letter: str) -> wa.Audit:
    html = [f"<title>Tea {n}</title><h1>Tea {n}</h1><p>{'Tea is made of leaves. ' * 30}" for n in range(3)]
    urls = [f"https://a.example/{letter}{n}" for n in range(3)]
    return wa.audit(pd.DataFrame({"url": urls, "html": html}), workers=1, progress=False)


def good(other: wa.Audit) -> dict[tuple[str, str], Any]:
    """Return arguments with which the methods work."""
    page = "https://a.example/a0"
    return {
        ("compare", "after"): other,
        ("fix", "targets"): {},
        ("link_ideas", "to"): page,
        ("mute", "reason"): "It is so.",
        ("mute", "rule"): "title_too_short",
        ("paths", "url"): page,
        ("report", "path"): "made.html",
        ("save", "folder"): "made",
        ("scores", "by"): "page_type",
        ("segments", "patterns"): {"tea": "/a*"},
        ("select", "which"): [page],
        ("to_excel", "path"): "made.xlsx",
        ("with_columns", "frame"): pd.DataFrame({"url": [page], "visits": [3]}),
        ("with_logs", "logs"): pd.DataFrame(),
        ("with_profile", "profile"): "strict",
        ("with_search_data", "source"): pd.DataFrame(),
        ("write", "path"): "made.csv",
        ("write_sitemap", "folder"): "made",
    }


def calls(
    name: str, method: Any, known: dict[tuple[str, str], Any]
) -> Iterator[tuple[str, Any, list[Any], dict[str, Any]]]:
    """Yield a call as it should be, and then those with one wrong argument each."""
    own = list(inspect.signature(method).parameters.values())[1:]
    named = [one for one in own if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    base = {one.name: known[name, one.name] for one in named if (name, one.name) in known}
    wrong = [
        (one.name, value)
        for one in named
        for value in WRONG
        if (name, one.name) != ("with_field_data", "key")
    ]
    for parameter, value in (("", None), *wrong):
        given = {**base, parameter: value} if parameter else dict(base)
        positional = [one.name for one in named if one.kind is one.POSITIONAL_ONLY]
        yield parameter, value, [given.pop(part) for part in positional], given


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_type_is_a_sentence_about_the_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    audit, other = audit_of("a"), audit_of("b")
    known, faults = good(other), []
    for made in (audit, wa.compare(audit, other), wa.redirect_map(audit, other)):
        for name, method in inspect.getmembers(type(made), inspect.isfunction):
            for parameter, value, first, given in calls(name, method, known) if name[0] != "_" else ():
                try:
                    method(made, *first, **given)
                except wa.ParameterError as error:
                    if not parameter and name not in MORE_IS_NEEDED:
                        faults.append((name, "should work", value, repr(error)))
                except Exception as error:
                    faults.append((name, parameter, value, repr(error)))
    assert faults == []
