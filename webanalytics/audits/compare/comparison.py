"""What changed from one audit to another: what `webanalytics.compare` returns."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from webanalytics.audits.score import ScoreChange

if TYPE_CHECKING:
    from webanalytics.audits.origin import Audited
    from webanalytics.audits.overview.display import Overview


class Comparison:
    """What changed from one audit to another.

    Attributes
    ----------
    before, after : Audit
        The two, judged by the profile and thresholds of the second.
    pages : pandas.DataFrame
        ``url``, ``change`` (added, removed, changed or same) and ``fields`` (how many changed).
    changes : pandas.DataFrame
        ``url``, ``field``, ``before``, ``after``: one row for each field of a page that changed.
    issues : pandas.DataFrame
        ``change`` and the columns of `Audit.issues`. ``new`` issues are in the second audit only, ``fixed``
        ones in the first only, ``remaining`` ones in both; ``removed`` ones went with their page.
        ``unchecked`` ones are in one of the two, and could not be checked in the other: the page was not read
        the second time, or the rule lacked its input.
    links : pandas.DataFrame
        Of two crawls: ``change`` (broken, mended, removed or added), ``source``, ``target``, ``anchor``, and
        the verdict on the target ``before`` and ``after``; see `Audit.broken_links`.
    depths : pandas.DataFrame
        Of two crawls: ``url``, and its clicks from the start ``before`` and ``after``, with their ``change``.
    orphans : pandas.DataFrame
        Of two crawls: ``change`` (new or fixed), ``url`` and ``found_on``.
    score : ScoreChange
        ``before``, ``after`` and ``change`` of the health score, both by the rules of today; ``points`` of
        `summary` says which rules it comes from.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> urls = ["https://a.example/", "https://a.example/b"]
    >>> before = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>One", "<title>Two"]}))
    >>> after = wa.audit(pd.DataFrame({"url": urls[:1], "html": ["<title>Uno"]}))
    >>> comparison = wa.compare(before, after)
    >>> comparison.pages["change"].tolist()
    ['changed', 'removed']
    >>> comparison.changes.set_index("field").loc["title"].tolist()
    ['https://a.example/', 'One', 'Uno']
    """

    def __init__(self, before: Audited, after: Audited) -> None:
        from webanalytics.audits.compare.differences import changed_fields, changed_issues, changed_pages

        if before.origin.profile != after.origin.profile:
            before = before.with_profile(after.origin.profile)
        self.before, self.after = before, after
        self._judged = judged = before.judged(), after.judged()
        self.score = ScoreChange(before.score, after.score)
        self.changes = changed_fields(*judged)
        self.pages = changed_pages(*judged, self.changes)
        self.issues = changed_issues(*judged)

    @cached_property
    def links(self) -> pd.DataFrame:
        """Links that came, went, broke or answer again, of two crawls."""
        from webanalytics.audits.compare.links import changed_links

        return changed_links(self.before, self.after)

    @cached_property
    def depths(self) -> pd.DataFrame:
        """Pages whose clicks from the start changed, of two crawls."""
        from webanalytics.audits.compare.links import changed_depths

        return changed_depths(self.before, self.after)

    @cached_property
    def orphans(self) -> pd.DataFrame:
        """Pages that became orphans, or are none any more, of two crawls."""
        from webanalytics.audits.compare.links import changed_orphans

        return changed_orphans(self.before, self.after)

    def summary(self) -> pd.DataFrame:
        """Return one row for each rule: its issues before and after, and what became of them.

        Returns
        -------
        pandas.DataFrame
            ``title``, ``rule``, ``priority``, ``before``, ``after``, ``new``, ``fixed``, ``remaining``,
            ``removed``, ``unchecked`` (numbers of issues) and ``points``: by how many points the rule raised
            the score, negative where it lowered it. The rules with the most new, urgent issues first.
        """
        from webanalytics.audits.compare.differences import summary

        return summary(*self._judged, self.issues)

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that a comparison consists of, by name."""
        parts = {
            "Summary": self.summary(),
            "Issues": self.issues,
            "Changed fields": self.changes,
            "Changed pages": self.pages[self.pages["change"] != "same"].reset_index(drop=True),
        }
        of_crawls = {
            "Changed links": self.links,
            "Changed depth": self.depths,
            "Changed orphans": self.orphans,
        }
        return parts | {name: frame for name, frame in of_crawls.items() if len(frame)}

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the report of the second audit with the changes since the first; see `Audit.report`."""
        earlier = {"score_before": self.score.before, "audited_before": self.before.audited_at}
        return self.after.report(path, **({"changes": self.parts()} | earlier | options))

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write a workbook with one sheet for each part, and return its path."""
        from webanalytics.audits.excel import sheets_of, write_workbook

        return write_workbook(path, sheets_of(self.overview(hint=False), self.parts()))

    def overview(self, *, hint: bool = True) -> Overview:
        """Return the overview of a comparison; ``hint`` adds a line on its frames."""
        from webanalytics.audits.overview.display import comparison_overview

        dates = self.before.audited_at, self.after.audited_at
        return comparison_overview(self.pages, self.issues, self.summary(), self.score, dates, hint=hint)

    def __repr__(self) -> str:
        from webanalytics.audits.overview.display import as_text

        return as_text(self.overview())

    def _repr_html_(self) -> str:
        from webanalytics.audits.overview.display import as_html

        return as_html(self.overview())
