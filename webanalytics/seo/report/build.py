"""The report of an audit, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd

from webanalytics._version import __version__
from webanalytics.errors import ParameterError
from webanalytics.seo.report import parts
from webanalytics.seo.report.cells import Cells, table
from webanalytics.seo.report.charts import number
from webanalytics.seo.report.content import FACTS, Content, read
from webanalytics.seo.report.markup import Markup, element, escaped, script_data

SCRIPTS = ("data.js", "filter.js", "lists.js", "card.js", "pages.js", "report.js")
"""Parts of the one script, in order."""

MOST_CHANGES = 20_000
"""Rows of a table of changes that are written into the report."""

_STATIC = resources.files("webanalytics.seo.report").joinpath("static")


def write_report(
    path: str | os.PathLike[str],
    pages: pd.DataFrame,
    issues: pd.DataFrame,
    summary: pd.DataFrame,
    *,
    title: str | None = None,
    changes: Mapping[str, pd.DataFrame] | None = None,
    notes: Sequence[str] = (),
) -> Path:
    """Write one HTML file that shows an audit, by itself and without a network.

    What pages have brought is written as data and shown as text: a content-security policy lets nothing
    run but the report's own script, and nothing load at all.

    Parameters
    ----------
    path : str or path
        File to write; one that is there is replaced, once the new one is complete.
    pages : pandas.DataFrame
        One row per page with ``url``, and what else of the columns of an audit there is.
    issues : pandas.DataFrame
        Columns ``url``, ``rule``, ``category``, ``type``, ``priority``, ``value``, ``threshold``,
        ``evidence`` and ``fix``.
    summary : pandas.DataFrame
        Columns ``rule``, ``pages``, ``share`` (0 to 1) and ``priority``; with ``title``, ``explanation``,
        ``fix`` and ``unit`` where they are known. Rules without a page are named as passed.
    title : str, optional
        Headline; the site's host by default.
    changes : mapping of str to pandas.DataFrame, optional
        Tables of what changed since another audit, by their names; of each at most 20,000 rows.
    notes : sequence of str, optional
        Sentences on the whole site, such as faults of its robots.txt.

    Returns
    -------
    pathlib.Path
        The written file.

    Raises
    ------
    ParameterError
        When the file cannot be written.

    Notes
    -----
    Texts of over 1,000 characters and evidence of over 500 are cut. The policy is that of Content Security
    Policy Level 3 (https://www.w3.org/TR/CSP3/), given in a meta element.

    Examples
    --------
    >>> import tempfile
    >>> pages = pd.DataFrame({"url": ["https://example.org/"], "status": ["ok"], "title": ["<b>Lamps</b>"]})
    >>> issues = pd.DataFrame({"url": pages["url"], "rule": ["title_too_short"], "priority": ["medium"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_report(Path(folder, "report.html"), pages, issues, pd.DataFrame())
    ...     "<b>Lamps</b>" in file.read_text("utf-8")
    False
    """
    file = Path(path)
    document = render(read(pages, issues, summary), title=title, changes=changes, notes=notes)
    try:
        _write(file, document.encode("utf-8"))
    except OSError as error:
        raise ParameterError(
            f"The `path` parameter must be a file that can be written: {error.strerror}.", "path"
        ) from None
    return file


def render(
    content: Content,
    *,
    title: str | None = None,
    changes: Mapping[str, pd.DataFrame] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the report as HTML."""
    given = {str(name): frame for name, frame in (changes or {}).items()}
    cells = Cells()
    data = payload(content, cells) | {"changes": [_change(cells, *item) for item in given.items()]}
    data["cells"] = cells.values
    script, style = _script(), _text("report.css")
    headline = title or (f"Audit of {content.host}" if content.host else "Audit")
    values: dict[str, object] = {
        "policy": policy(script, style),
        "title": headline,
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "version": __version__,
        "size": number(content.size),
        "figures": parts.figures(content),
        "notes": parts.notes(notes),
        "charts": parts.charts(content),
        "issues": parts.issues(content),
        "changes": parts.changes([(_words(name), _rows(frame)) for name, frame in given.items()]),
        "changes_link": element("a", "Changes", href="#changes") if given else Markup(""),
        "sections": parts.options_of_sections(content),
        "rules": parts.options_of_rules(content),
        "statuses": parts.options_of_status(content),
        "data": script_data(data),
        "script": Markup(script),
        "style": Markup(style),
    }
    filled = {name: escaped(value) for name, value in values.items()}
    return Template(_text("report.html")).substitute(filled)


def payload(content: Content, cells: Cells) -> dict[str, Any]:
    """Return what the script reads, but for the cells: columns are places among them."""
    keep = [fact for fact in FACTS if fact.name in content.pages]
    shared = ("value", "threshold", "evidence")
    return {
        "size": content.size,
        "pages": {name: cells.places(values) for name, values in content.pages.items()},
        "issues": {name: content.issues[name] for name in ("page", "rule")}
        | {name: cells.places(content.issues[name]) for name in shared}
        | {"url": cells.places(_strangers(content))},
        "rules": [
            {"name": r.name, "title": r.title, "category": r.category, "priority": r.priority}
            | {"type": r.type, "fix": r.fix, "unit": r.unit}
            for r in content.rules
        ],
        "facts": [{"name": fact.name, "label": fact.label, "unit": fact.unit} for fact in keep],
    }


def _strangers(content: Content) -> list[Any]:
    """Return the addresses of issues that belong to none of the pages."""
    both = zip(content.issues["page"], content.issues["url"], strict=True)
    return [url if page < 0 else None for page, url in both]


def _change(cells: Cells, name: str, frame: pd.DataFrame) -> dict[str, Any]:
    shown = frame.head(MOST_CHANGES)
    names = [str(column) for column in shown.columns]
    shown = shown.set_axis(names, axis=1)
    return {"name": name, "rows": len(shown), "columns": table(cells, shown, names)}


def _rows(frame: pd.DataFrame) -> str:
    cut = len(frame) > MOST_CHANGES
    return f"{number(MOST_CHANGES)} of {number(len(frame))}" if cut else number(len(frame))


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def policy(script: str, style: str) -> str:
    """Return the content-security policy of a report with this script and this style sheet."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _text(name: str) -> str:
    return _STATIC.joinpath(name).read_text("utf-8").replace("\r\n", "\n")


def _script() -> str:
    body = "\n".join(map(_text, SCRIPTS))
    return f'"use strict";\n(() => {{\n{body}}})();\n'


def _write(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".webanalytics-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
