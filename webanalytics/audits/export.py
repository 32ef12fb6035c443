"""What an audit writes and draws: a report, a workbook, a folder that can be loaded again, charts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.origin import Audited
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError

BRANDED = ("logo", "intro", "prepared_for", "accent", "language", "appendix")


class Plots:
    """The charts of `webanalytics.charts`, drawn of one audit: ``audit.plot.issues_by_priority()``."""

    def __init__(self, audit: Audited) -> None:
        self._audit = audit

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from webanalytics.notebook import charts

        if name not in charts.__all__:
            hint = "" if name.startswith("_") else did_you_mean(name, charts.__all__)
            raise AttributeError(f"There is no chart {name!r}{hint}")
        draw = getattr(charts, name)
        drawn = partial(draw, self._audit)
        drawn.__doc__ = draw.__doc__
        return drawn

    def __dir__(self) -> list[str]:
        from webanalytics.notebook import charts

        return list(charts.__all__)


class ExportMethods:
    """Methods of `webanalytics.Audit` that write files and draw."""

    @property
    def plot(self: Audited) -> Plots:
        """The charts of `webanalytics.charts`, such as ``audit.plot.issues_by_priority()``."""
        return Plots(self)

    def parts(self: Audited) -> dict[str, pd.DataFrame]:
        """Return the frames that an audit consists of, by name: causes, summary, failures, issues, pages.

        A sitemap comes last.

        Failures, muted issues, segments, what search results and logs tell, what rendering found and a
        sitemap are there if there are any.
        """
        from webanalytics.audits.content.rendering import rendering_frame
        from webanalytics.audits.report.facts import work_parts

        failures = self.failures()
        parts = {
            "Fix first": self.causes(),
            "Summary": self.summary(),
            **({"Failures": failures} if len(failures) else {}),
            "Issues": self.issues,
            **({"Muted": self.muted} if len(self.muted) else {}),
            **work_parts(self),
            "Pages": self.pages,
        }
        rendering = rendering_frame(self.raw)
        if len(rendering):
            parts["Rendering"] = rendering
        return parts if self.site.sitemap is None else {**parts, "Sitemap": self.site.sitemap}

    def report(
        self: Audited,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        logo: str | os.PathLike[str] | bytes | None = None,
        intro: str = "",
        prepared_for: str = "",
        accent: str | None = None,
        language: str = "en",
        appendix: bool = False,
        **options: Any,
    ) -> Path:
        """Write a report for whoever the site belongs to: one file that needs no network; return its path.

        Parameters
        ----------
        path : str or path
            File to write: .html, or .pdf where Chromium or Chrome is installed.
        title : str, optional
            Headline; by default the host, and the days of a comparison.
        logo : str, path or bytes, optional
            PNG, JPEG or SVG picture for the head, of at most 1 MB.
        intro, prepared_for : str, optional
            Paragraphs below the headline, with empty lines between them, and the reader's name.
        accent : str, optional
            Colour of links and lines, such as ``"#0b5d6b"``; made darker or lighter as far as it must be to
            be read in each theme.
        language : {"en", "de", "fr", "es"}
            Language of the report; what pages say stays as it is.
        appendix : bool
            Whether all pages, and all pages of each rule, are printed; by default some of each rule.
        **options
            Parts that are given instead of made: ``keywords=None`` leaves out that chapter, and so do
            ``cannibalisation=None`` and ``crawl=None``.

        Raises
        ------
        ParameterError
            For a path, logo, colour or language that cannot be, before any work.
        """
        from webanalytics.audits.report import Brand, besides, write_report
        from webanalytics.audits.report.build import Besides

        parts = [field.name for field in fields(Besides)]
        for name in options.keys() - {*parts}:
            hint = did_you_mean(name, ["title", *BRANDED, *parts]) or "."
            raise ParameterError(f"The `{name}` parameter does not exist{hint}", name)
        brand = Brand.of(path, logo, intro, prepared_for, accent, language, appendix)
        more = besides(self, options)
        return write_report(path, self.pages, self.issues, self.summary(), title=title, brand=brand, **more)

    def to_excel(
        self: Audited,
        path: str | os.PathLike[str],
        *,
        columns: Iterable[str] | str | None = None,
        rules: Iterable[str] | str | None = None,
    ) -> Path:
        """Write score, causes, summary, failures, issues and pages to a workbook, one sheet for each.

        Parameters
        ----------
        path : str or path
            File to write, with the suffix .xlsx.
        columns : list of str or "all", optional
            Columns of the pages; by default the 30 of most use, and those that you added.
        rules : list of str, optional
            Rules whose causes, summary and issues are written, by name or as ``title_*``; all by default.

        Raises
        ------
        ParameterError
            For a path without the suffix .xlsx, and a column or rule that does not exist.
        MissingExtraError
            Where xlsxwriter is not installed.
        """
        from webanalytics.audits.excel import sheets_of_audit, write_workbook

        return write_workbook(path, sheets_of_audit(self, columns, rules))

    def save(
        self: Audited,
        folder: str | os.PathLike[str] | None = None,
        *,
        history: str | os.PathLike[str] | None = None,
    ) -> Path | str:
        """Save the audit to a folder, whole or not at all; `webanalytics.load` reads it.

        A part of an audit (`select`) is judged as a whole site when it is loaded.

        Parameters
        ----------
        folder : str or path, optional
            A folder that is new, empty, or holds an audit, which is replaced.
        history : str or path, optional
            A folder of audits by date, or its address, which this one is added to; see
            `webanalytics.history`.

        Returns
        -------
        pathlib.Path or str
            The folder, or the address of the history.

        Raises
        ------
        ParameterError
            For a folder with other files, a column that cannot be saved, and neither of both folders.
        MissingExtraError
            Where pyarrow is not installed.
        """
        from webanalytics.audits.history.folder import append, past, store_of
        from webanalytics.audits.storage.folders import save

        if folder is None and history is None:
            raise ParameterError.must_be("folder", "a folder, unless `history` is one")
        if history is not None:
            run, store = append(self, history), store_of(history)
            self.history = past(store, run)
            if folder is None:
                return store.path
        return save(self.raw, replace(self.origin, score=self.score), folder or "")
