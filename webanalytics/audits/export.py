"""What an audit writes: a report, a workbook, a folder that can be loaded again."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from webanalytics.audits.kept import Pages
from webanalytics.audits.origin import Audited

if TYPE_CHECKING:

    class _Pages(Pages, Audited):  # type: ignore[misc]  # writers of Pages take more than those of pandas
        """The pages of an audit, and what else is known of it."""
else:
    _Pages = Pages


class ExportMethods(_Pages):
    """Methods of `webanalytics.Audit` that write files."""

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            File to write.
        **options
            See `webanalytics.audits.report.write_report`; ``keywords=None`` leaves out that chapter.

        Returns
        -------
        pathlib.Path
            The file written.
        """
        from webanalytics.audits.report import besides, write_report

        return write_report(path, self.pages, self.issues, self.summary(), **besides(self, options))

    def to_excel(self, excel_writer: Any, *args: Any, **kwargs: Any) -> None:  # type: ignore[misc]
        """Write score and figures, summary, failures, issues and pages to a workbook, one sheet for each.

        Parameters
        ----------
        excel_writer : str, path or pandas.ExcelWriter
            File to write. A writer, or a path with any further argument, gets what
            `pandas.DataFrame.to_excel` writes: one sheet of the pages.
        *args, **kwargs
            See `pandas.DataFrame.to_excel`.

        Raises
        ------
        MissingExtraError
            Where openpyxl is not installed.
        """
        # a writer of pandas has a path too
        is_path = isinstance(excel_writer, (str, os.PathLike)) and not isinstance(
            excel_writer, pd.ExcelWriter
        )
        if args or kwargs or not is_path:
            super().to_excel(excel_writer, *args, **kwargs)
            return
        from webanalytics.audits.display import audit_overview
        from webanalytics.audits.excel import sheets_of, write_workbook

        write_workbook(excel_writer, sheets_of(audit_overview(self, self._origin), self.parts()))

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that an audit consists of, by name: summary, failures, issues, pages, sitemap.

        Failures and sitemap are there if there are any.
        """
        failures = self.failures()
        parts = {
            "Summary": self.summary(),
            **({"Failures": failures} if len(failures) else {}),
            "Issues": self.issues,
            "Pages": self.pages,
        }
        return parts if self.site.sitemap is None else {**parts, "Sitemap": self.site.sitemap}

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Save the audit to a folder, whole or not at all; `webanalytics.load` reads it.

        Parameters
        ----------
        folder : str or path
            A folder that is new, empty, or holds an audit, which is replaced.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ParameterError
            For a folder with other files, or a column that cannot be saved.
        MissingExtraError
            Where pyarrow is not installed.
        """
        from webanalytics.audits.storage import save

        score = self.score if self.columns.is_unique else None  # else it is refused, with the reason
        return save(self.plain(), replace(self._origin, score=score), folder)
