"""What an audit writes and draws: a report, a workbook, a folder that can be loaded again, charts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics.audits.origin import Audited
from webanalytics.core.strings import did_you_mean
from webanalytics.errors import ParameterError


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

        Failures, muted issues, what rendering found and a sitemap are there if there are any.
        """
        from webanalytics.audits.content.rendering import rendering_frame

        failures = self.failures()
        parts = {
            "Fix first": self.causes(),
            "Summary": self.summary(),
            **({"Failures": failures} if len(failures) else {}),
            "Issues": self.issues,
            **({"Muted": self.muted} if len(self.muted) else {}),
            "Pages": self.pages,
        }
        rendering = rendering_frame(self.raw)
        if len(rendering):
            parts["Rendering"] = rendering
        return parts if self.site.sitemap is None else {**parts, "Sitemap": self.site.sitemap}

    def report(self: Audited, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a report: one HTML file that needs no network, and return its path.

        Parameters
        ----------
        path : str or path
            File to write.
        **options
            See `webanalytics.audits.report.write_report`; ``keywords=None`` leaves out that chapter.
        """
        from webanalytics.audits.report import besides, write_report

        return write_report(path, self.pages, self.issues, self.summary(), **besides(self, options))

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
            Rules whose causes, summary and issues are written; all by default.

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
    ) -> Path:
        """Save the audit to a folder, whole or not at all; `webanalytics.load` reads it.

        Parameters
        ----------
        folder : str or path, optional
            A folder that is new, empty, or holds an audit, which is replaced.
        history : str or path, optional
            A folder of audits by date, which this one is added to; see `webanalytics.history`.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ParameterError
            For a folder with other files, a column that cannot be saved, and neither of both folders.
        MissingExtraError
            Where pyarrow is not installed.
        """
        from webanalytics.audits.history.folder import append
        from webanalytics.audits.storage.folders import save

        if folder is None and history is None:
            raise ParameterError.must_be("folder", "a folder, unless `history` is one")
        if history is not None:
            append(self, history)
        if folder is None:
            return Path(history or "")
        return save(self.raw, replace(self.origin, score=self.score), folder)
