"""The explorer: a frame of pages in tabs, with a table that sorts and filters in the browser."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import anywidget
import pandas as pd
import traitlets

from webanalytics.audits.audit import Audit
from webanalytics.audits.overview.failures import reason
from webanalytics.audits.overview.head import Head, head
from webanalytics.core.run_options import options
from webanalytics.errors import ParameterError, WebAnalyticsError, choice
from webanalytics.notebook.explorer.issues import Issues, can_be_judged
from webanalytics.notebook.explorer.site import drawn, links_of, site_keywords, site_tables, work_tables
from webanalytics.notebook.explorer.summary import static_html, summary, words_and_bars
from webanalytics.notebook.explorer.table import MANY_PAGES, clean, column, keys_of, pages_of, table
from webanalytics.notebook.widgets.previews import TYPES, details, file_bytes
from webanalytics.runs.boundary import shown_by
from webanalytics.runs.frames.foreign import as_pandas

_SCRIPTS = ("dom", "filters", "table", "page", "overview", "panels", "site", "issues", "explorer")
CHUNK_BYTES = 4_000_000
"""Bytes of each piece of a file sent to the browser: servers limit the size of a message."""
TELL_SECONDS = 1.0
"""How often the browser is told how far the work is."""


def _asset(name: str) -> str:
    return files("webanalytics.notebook.widgets").joinpath("static", name).read_text("utf-8")


class Explorer(anywidget.AnyWidget):
    """A frame of pages in tabs: overview, issues, what to do, pages, site, metadata, readability, ...

    Parameters
    ----------
    frame : Audit or pandas.DataFrame
        What `webanalytics.audit` or another function about pages returned.

    Attributes
    ----------
    frame : pandas.DataFrame
        The frame as it was given; set it to show another one.
    pages : pandas.DataFrame
        The rows of the table: one per page, even if the frame is a tidy frame of keywords.
    selected : int or None
        Position in `pages` of the row chosen in the browser; ``observe`` it, or set it to choose a row.
    selected_row : pandas.Series or None
        That row.
    """

    _esm = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    _css = _asset("explorer.css")
    _content = traitlets.Dict().tag(sync=True)
    selected = traitlets.Int(None, allow_none=True).tag(sync=True)

    _told = False  # whether what shows it has said why pages failed

    def __init__(self, frame: pd.DataFrame | Audit, *, told: bool = False) -> None:
        self._told = told
        content = self._take(frame)
        super().__init__(_content=content)
        self.on_msg(self._on_message)

    def _take(self, given: pd.DataFrame | Audit) -> dict[str, Any]:
        audit = given if isinstance(given, Audit) else None
        frame = as_pandas(given, "frame") if audit is None else audit.raw
        if not isinstance(frame, pd.DataFrame):
            raise ParameterError.must_be("frame", "an audit or a DataFrame")
        pages = pages_of(frame)
        there = can_be_judged(frame)
        past = None if audit is None or audit._selected() is not None else audit.history
        first = head(audit) if audit is not None else Head("")
        notes = (first.stopped, "" if self._told else first.warning)
        is_long = len(pages) > MANY_PAGES
        content = {
            "head": {"site": clean(first.site), "notes": [clean(line, 1_000) for line in notes if line]},
            "table": table(pages),
            "summary": summary(pages) | ({} if is_long else words_and_bars(pages, past)),
            "issues": {"there": there, "at_once": there and not is_long},
            "whole": audit is not None,
            "crawl": audit is not None and audit.origin.crawl is not None,
            "theme": options.theme,
            "told": self._told,
        }
        self._frame, self._pages, self._past = frame, pages, past
        self._issues = Issues(audit, pages) if there else None
        return content

    @property
    def frame(self) -> pd.DataFrame:
        """The frame as it was given; of an audit, its pages as they were read. An audit can be set, too."""
        return self._frame

    @frame.setter
    def frame(self, frame: pd.DataFrame | Audit) -> None:
        content = self._take(frame)
        with self.hold_sync():
            self.selected = None
            self._content = content

    @property
    def pages(self) -> pd.DataFrame:
        """One row per page."""
        return self._pages

    @property
    def selected_row(self) -> pd.Series[Any] | None:
        """The row chosen in the browser, or None."""
        return None if self.selected is None else self._pages.iloc[self.selected]

    @traitlets.validate("selected")
    def _in_range(self, proposal: Mapping[str, Any]) -> int | None:
        place: int | None = proposal["value"]
        return place if place is None or 0 <= place < len(self._pages) else None

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer a request of the browser; an invalid one gets an error message."""
        answers: dict[str, Callable[[dict[str, Any]], None]] = {
            "details": self._send_details,
            "column": self._send_column,
            "chart": self._send_chart,
            "words": self._send_words,
            "keywords": self._send_tables,
            "issues": self._send_issues,
            "site": self._send_tables,
            "to-do": self._send_tables,
            "download": self._send_file,
        }
        if not isinstance(content, dict) or content.get("kind") not in answers:
            return
        told_at = time.monotonic()

        def tell(done: int, total: int, name: str) -> None:
            nonlocal told_at
            if time.monotonic() - told_at >= TELL_SECONDS:
                told_at = time.monotonic()
                said = f"{name.capitalize()}: {done:,} of {total:,}"
                self.send({"id": content.get("id"), "progress": said})

        token = shown_by.set(tell)
        try:
            answers[content["kind"]](content)
        except WebAnalyticsError as error:
            self.send({"id": content.get("id"), "error": str(error)})
        except Exception as error:  # the browser waits for an answer
            self.send({"id": content.get("id"), "error": f"This could not be done ({type(error).__name__})."})
        finally:
            shown_by.reset(token)

    def _send_details(self, asked: dict[str, Any]) -> None:
        row = int(asked["row"])
        if not 0 <= row < len(self._pages):
            raise ParameterError.must_be("row", "a row of the table")
        found = {str(name): value for name, value in self._pages.iloc[row].items()}
        cause = [found.get(name) for name in ("error_type", "error", "error_key")]
        why = reason(*(value if isinstance(value, str) else None for value in cause))
        issues, limits = self._issues_of(row, found)
        answer = {"id": asked.get("id"), "row": row, "name": str(found.get("url", f"row {row + 1}"))[:300]}
        failed = found.get("status") == "error" or isinstance(cause[1], str)
        advice = why.advice if failed else None
        self.send(
            answer
            | {"error": why.sentence if failed else "", "issues": issues}
            | {"option": advice.option if advice else "", "change": advice.change if advice else ""}
            | {"links": None if issues is None else self._links_of(found.get("url"))}
            | details(found, limits)
        )

    def _issues_of(self, row: int, found: dict[str, Any]) -> tuple[list[dict[str, str]] | None, Any]:
        """Return a page's issues and the limits of their rules; None where nobody has asked for issues yet.

        What the rules derived of the page joins its fields.
        """
        if self._issues is None or not (self._issues.known or len(self._pages) <= MANY_PAGES):
            return None, None
        try:
            found |= {name: value for name, value in self._issues.derived(row).items() if name not in found}
            return self._issues.of_page(row), self._issues.limits
        except Exception:  # odd data: the page itself can be shown all the same
            return None, None

    def _links_of(self, url: object) -> dict[str, Any] | None:
        with suppress(Exception):  # the page itself can be shown all the same
            return links_of(self._judged().audit, url)
        return None

    def _send_tables(self, asked: dict[str, Any]) -> None:
        tables = {"site": site_tables, "keywords": site_keywords, "to-do": work_tables}[asked["kind"]]
        for found in tables(self._judged().audit):
            self.send({"id": asked.get("id"), "last": False, **drawn(*found)})
        self.send({"id": asked.get("id"), "last": True})

    def _send_column(self, asked: dict[str, Any]) -> None:
        key = asked.get("key")
        if key not in keys_of(self._pages):
            raise ParameterError.must_be("key", "a column of the table")
        shown = self._pages.iloc[: self._content["table"]["length"]]
        self.send({"id": asked.get("id"), "column": column(shown, str(key))})

    def _send_words(self, asked: dict[str, Any]) -> None:
        self.send({"id": asked.get("id"), **words_and_bars(self._pages, self._past)})

    def _send_issues(self, asked: dict[str, Any]) -> None:
        issues = self._judged()
        answer = issues.pages(asked["rule"]) if "rule" in asked else issues.overview()
        self.send({"id": asked.get("id"), **answer})

    def _judged(self) -> Issues:
        if self._issues is None:
            raise ParameterError.on("frame", "must have a column `url` to have issues")
        return self._issues

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report of the frame's issues: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            File to write.

        Returns
        -------
        pathlib.Path
            The file written.

        Raises
        ------
        ParameterError
            For a frame without addresses, or a file that cannot be written.
        """
        return self._judged().audit.report(path)

    def _send_chart(self, asked: dict[str, Any]) -> None:
        from webanalytics.notebook import charts

        choice("name", asked.get("name"), ("readability",))
        axes = charts.readability(self._pages)
        figure: Any = axes.figure
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=144)
        width = round(float(figure.get_size_inches()[0]) * 100)
        alt = "Readability of the pages against the audiences that read that well"
        self.send({"id": asked.get("id"), "width": width, "alt": alt}, [stream.getvalue()])

    def _send_file(self, asked: dict[str, Any]) -> None:
        kind, of_issues = str(asked.get("format")), asked.get("part") == "issues"
        if kind == "html":
            content, part = self._judged().report(), "-report"
        elif of_issues:
            content, part = file_bytes(self._judged().frame, kind), "-issues"
        elif kind == "xlsx" and self._issues is not None and self._issues.whole:
            content, part = self._issues.workbook(), ""
        else:
            content, part = file_bytes(self._frame, kind), ""
        attrs = self._frame.attrs.get("webanalytics")
        made_by = attrs.get("operation") if isinstance(attrs, dict) else None
        stem = made_by if isinstance(made_by, str) and made_by.isalnum() else "webanalytics"
        answer = {"id": asked.get("id"), "name": f"{stem}{part}.{kind}", "type": TYPES.get(kind, "text/html")}
        pieces = range(0, max(1, len(content)), CHUNK_BYTES)
        for start in pieces:
            last = start == pieces[-1]
            self.send({**answer, "last": last}, [content[start : start + CHUNK_BYTES]])

    def _repr_html_(self) -> str:
        found = None
        if self._issues is not None and (self._issues.known or self._content["issues"]["at_once"]):
            with suppress(Exception):  # odd data: the table can be shown all the same
                found = self._issues.overview()
        return str(static_html(self._content, found))

    def _repr_mimebundle_(self, **arguments: Any) -> Any:
        bundle: Any = super()._repr_mimebundle_(**arguments)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": self._repr_html_()}, metadata

    def __repr__(self) -> str:
        return f"<Explorer: {len(self._pages)} rows, {len(self._frame.columns)} columns>"


def explore(frame: pd.DataFrame | Audit) -> Explorer:
    """Explore an audit or a frame of pages: what to fix first, a table to sort and filter, each page.

    Parameters
    ----------
    frame : Audit or pandas.DataFrame
        What `webanalytics.audit`, `metadata`, `text`, `readability` or `keywords` returned. A tab whose
        columns are missing says so. Issues are those of an `Audit`; of another frame, what the rules find
        in the columns that it has, without a score.

    Returns
    -------
    Explorer
        A widget. Its ``selected`` is the position of the row chosen in the browser, and its
        ``selected_row`` is that row.

    Raises
    ------
    ParameterError
        If `frame` is neither an audit nor a DataFrame.

    Notes
    -----
    The browser holds the table's columns of at most 100,000 rows, with long texts cut; it requests the
    details of a row, issues and files on demand. Of more than 5,000 pages it has the first 200 at once and
    requests the columns of a tab when that is opened, and issues are looked for only when asked, because
    that takes a while. Text from pages is shown as text, and no picture or other
    resource of a page is loaded until the user presses the button for it.

    Examples
    --------
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Green tea"]})
    >>> explore(wa.metadata(pages)).pages.loc[0, "title"]
    'Tea'
    """
    return Explorer(frame)
