"""Audits and comparisons -> workbooks with one sheet for each part, behind `Audit.to_excel`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from webanalytics.audits.overview.display import Overview
from webanalytics.audits.rules import RULES
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.excel import write_sheets
from webanalytics.runs.frames.output_files import flat, new_file

LEFT_OUT = frozenset(("responseBody", "visible_text"))
"""Columns omitted from sheets: the page itself."""


FIRST = ("title", "rule", "change", "priority", "url")
"""Columns with which the sheets of rules and issues begin."""


def sheets_of(overview: Overview, parts: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the sheets of an audit or a comparison: its score and figures, then its parts."""
    rows: list[tuple[str, object]] = []
    if overview.earlier is not None:
        rows.append(("score before, of 100", overview.earlier))
    if overview.score is not None:
        rows.append(("score, of 100", overview.score))
    rows += [("note", overview.alarm)] * bool(overview.alarm)
    rows += [(label, int(value.replace(",", ""))) for label, value in overview.figures]
    rows += [("warning", overview.warning.replace("`", ""))] * bool(overview.warning)
    rows += [("note", text.replace("`", "")) for text in overview.notes]
    figures = pd.DataFrame(rows, columns=["what", "value"], dtype=object)
    return {"Overview": figures, **{name: _titled(frame) for name, frame in parts.items()}}


def _titled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of rules with their titles first and what they say; any other unchanged."""
    if not {"title", "rule"} <= set(frame.columns):
        return frame
    frame = frame.assign(**_explained(frame))
    first = [name for name in FIRST if name in frame.columns]
    return frame[[*first, *(name for name in frame.columns if name not in first)]]


def _explained(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return why each rule of a list of rules matters, and where its page is if somebody said so."""
    rules = [RULES.get(name) for name in frame["rule"]]
    more = {}
    if "url" not in frame.columns:  # issues of one rule would all repeat it
        more["explanation"] = ["" if rule is None else rule.explanation for rule in rules]
    if "help" in frame.columns:
        pairs = zip(rules, frame["help"], strict=True)
        more["help"] = [rule.link or told if rule is not None else told for rule, told in pairs]
    return more


def write_workbook(path: str | os.PathLike[str], parts: Mapping[str, pd.DataFrame]) -> Path:
    """Write frames to a workbook, one sheet for each, whole or not at all.

    Raises
    ------
    ParameterError
        For another suffix, or a folder that cannot be written to.
    MissingExtraError
        If xlsxwriter is not installed.

    Notes
    -----
    Text is text: what starts with "=" is never a formula. Lists and dicts are JSON text. Control characters
    that a workbook cannot hold are left out, and a text of over 32,767 characters is cut.
    """
    path = Path(path)
    if path.suffix.lower() != ".xlsx":
        raise ParameterError("The `path` parameter must be a file with the suffix .xlsx.", "path")
    sheets = {
        name: flat(frame[[column for column in frame.columns if column not in LEFT_OUT]])
        for name, frame in parts.items()
    }
    with new_file(path, "path") as temporary:
        write_sheets(temporary, sheets)
    return path
