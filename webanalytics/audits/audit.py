"""What `webanalytics.audit` returns: the frame of pages with its issues; and the comparison of two audits.

The top of this package: modules that judge, compare, save and show audits take frames and do not import it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from webanalytics.audits.origin import Origin, Thresholds
from webanalytics.audits.profiles import DEFAULT_PROFILE, Profile, resolve_profile
from webanalytics.errors import ParameterError

if TYPE_CHECKING:
    from webanalytics.audits.compare import Judged
    from webanalytics.audits.display import Overview
    from webanalytics.audits.site import Site

T = TypeVar("T")


class Audit(pd.DataFrame):
    """The pages of an audit, one row per input, with the issues found in them.

    It is the frame of the pages itself: every method of a DataFrame works on it, and what they return (a
    slice, a sorted or filtered frame, ``audit.copy()``) is a plain DataFrame. Issues are found on first
    access and cached: change a copy, not the audit.

    Parameters
    ----------
    frame : pandas.DataFrame
        The pages, as `webanalytics.audit` makes them.
    origin : Origin, optional
        What is known besides the pages.

    Notes
    -----
    Three methods differ from a DataFrame's: ``print(audit)`` shows what was found (``print(audit.copy())``
    the table), ``audit.compare(after)`` compares two audits, and ``audit.to_excel("audit.xlsx")`` with only a
    path writes one sheet for each part; with any other argument it is `pandas.DataFrame.to_excel`.

    Examples
    --------
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(pages)
    >>> isinstance(audit, wa.Audit), type(audit[["url", "title"]]).__name__
    (True, 'DataFrame')
    >>> "h1_missing" in set(audit.issues["rule"])
    True
    """

    # pandas carries the first through pickles, and treats neither as a column
    _metadata = ["_origin"]  # noqa: RUF012 - so it is declared in pandas
    _internal_names = [*pd.DataFrame._internal_names, "_known"]  # type: ignore[attr-defined]  # noqa: RUF012
    _internal_names_set = set(_internal_names)  # noqa: RUF012
    _origin: Origin = Origin()
    _known: dict[str, Any] | None = None

    def __init__(self, frame: pd.DataFrame | None = None, origin: Origin | None = None) -> None:
        super().__init__(pd.DataFrame() if frame is None else frame)  # type: ignore[call-arg]
        self.attrs = {} if frame is None else dict(frame.attrs)
        self._origin = origin or Origin()
        self._known = {}

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def __copy__(self, deep: bool = True) -> Audit:
        return Audit(self.copy(deep=deep), self._origin)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Audit:
        return self.__copy__()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._known = None
        super().__setitem__(key, value)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """Return the cached value of a name, or make it."""
        layout = (len(self), *self.columns)
        if self._known is None or self._known.get("layout", layout) != layout:  # from a pickle, or changed
            self._known = {}
        self._known["layout"] = layout
        if name not in self._known:
            try:
                self._known[name] = make()
            except AttributeError as error:  # pandas would report a missing column
                raise RuntimeError(f"the audit's {name} could not be made: {error}") from error
        made: T = self._known[name]
        return made

    @property
    def site(self) -> Site:
        """What the rules examine: the pages with derived columns, the sitemap, robots.txt problems."""
        from webanalytics.audits.pages import make_site

        origin = self._origin
        return self._once("site", lambda: make_site(self.plain(), origin.sitemap, origin.robots))

    def plain(self) -> pd.DataFrame:
        """Return the pages as a plain DataFrame, without copying the data."""
        frame = pd.DataFrame(self)
        frame.attrs = dict(self.attrs)
        return frame

    @property
    def pages(self) -> pd.DataFrame:
        """The pages with derived columns such as ``titlePixels`` and ``indexable``: a plain DataFrame."""
        return self._once("pages", lambda: self.site.pages.set_axis(self.index, axis=0))

    @property
    def issues(self) -> pd.DataFrame:
        """What was found: one row for each page and rule, with priority, value, evidence and fix."""
        from webanalytics.audits.issues import find_issues

        return self._once("issues", lambda: find_issues(self.site, self._origin.profile or DEFAULT_PROFILE))

    def summary(self) -> pd.DataFrame:
        """Return what to fix first: one row for each rule that found something.

        Returns
        -------
        pandas.DataFrame
            By priority, then by the number of indexable pages, then by findings; see
            `webanalytics.audits.issues.summary`.
        """
        from webanalytics.audits.issues import summary

        return self._once("summary", lambda: summary(self.issues, self.pages))

    @property
    def score(self) -> float | None:
        """Health from 0 to 100: the mean over pages of 100 less 20 (high), 5 (medium) or 1 (low) a fault.

        Only what rules of the types issue and opportunity found counts; a page that answers with an error
        has 0, and pages that could not be asked are left out. None where no page could be judged.
        """
        from webanalytics.audits.health import score

        return self._once("score", lambda: score(self.site, self.issues))

    def with_profile(
        self, profile: str | os.PathLike[str] | Profile | None = None, thresholds: Thresholds | None = None
    ) -> Audit:
        """Return the same pages, judged by another profile or other thresholds; nothing is fetched again.

        Parameters
        ----------
        profile : str, path or Profile, optional
            Which rules count and how much: ``desktop_crawler`` by default, ``strict``, ``news``, or the path
            of a TOML file.
        thresholds : mapping or path, optional
            Limits by the name of their rule, or a TOML file of them.

        Returns
        -------
        Audit
            A new one; this one is unchanged.

        Raises
        ------
        ParameterError
            For a profile or threshold that does not exist.
        """
        asked = profile is not None or thresholds is not None
        chosen = resolve_profile(profile, thresholds) if asked else None
        made = Audit(self, replace(self._origin, profile=chosen))
        made._known = {
            name: value for name, value in (self._known or {}).items() if name in ("site", "pages")
        }
        return made

    def compare(self, after: Audit | str | os.PathLike[str]) -> Comparison:  # type: ignore[override]
        """Return what has changed since this audit; see `webanalytics.compare`.

        Parameters
        ----------
        after : Audit or path
            A later audit, or the folder that it was saved in.
        """
        return compare(self, after)

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
        """Write summary, issues and pages to a workbook, one sheet for each.

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
        from webanalytics.audits.excel import write_workbook

        write_workbook(excel_writer, self.parts())

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that an audit consists of, by name: summary, issues, pages and sitemap."""
        parts = {"Summary": self.summary(), "Issues": self.issues, "Pages": self.pages}
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

        return save(self.plain(), self._origin, folder)

    def _judged(self) -> Judged:
        from webanalytics.audits.compare import Judged

        return Judged(self.plain(), self.pages, self.issues, bool(self._origin.robots))

    def _overview(self) -> Overview:
        from webanalytics.audits.display import MOST_PAGES, audit_overview

        shown = "status" in self and (len(self) <= MOST_PAGES or "issues" in (self._known or {}))
        found = (self.issues, self.summary()) if shown and len(self) else None
        return audit_overview(self.plain(), self._origin, found)

    def __repr__(self) -> str:
        from webanalytics.audits.display import as_text

        return as_text(self._overview())

    def _repr_html_(self) -> str:
        from webanalytics.audits.display import as_html

        return as_html(self._overview())


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
        ones in the first only, ``remaining`` ones in both. ``unchecked`` ones are in one of the two, and
        could not be checked in the other: the page was not read the second time, or the rule lacked its
        input. Issues of removed pages are ``fixed``.

    Examples
    --------
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

    def __init__(self, before: Audit, after: Audit) -> None:
        from webanalytics.audits.compare import changed_fields, changed_issues, changed_pages

        if before._origin.profile != after._origin.profile:
            before = before.with_profile(after._origin.profile)
        self.before, self.after = before, after
        judged = before._judged(), after._judged()
        self.changes = changed_fields(*judged)
        self.pages = changed_pages(*judged, self.changes)
        self.issues = changed_issues(*judged)

    def summary(self) -> pd.DataFrame:
        """Return one row for each rule: its issues before and after, new, fixed, remaining, unchecked.

        Returns
        -------
        pandas.DataFrame
            The rules with the most new, urgent issues first.
        """
        from webanalytics.audits.compare import summary

        return summary(self.before.issues, self.after.issues, self.issues)

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that a comparison consists of, by name."""
        return {
            "Summary": self.summary(),
            "Issues": self.issues,
            "Changed fields": self.changes,
            "Changed pages": self.pages[self.pages["change"] != "same"].reset_index(drop=True),
        }

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the report of the second audit with the changes since the first; see `Audit.report`."""
        return self.after.report(path, changes=self.parts(), **options)

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write a workbook with one sheet for each part, and return its path."""
        from webanalytics.audits.excel import write_workbook

        return write_workbook(path, self.parts())

    def overview(self, *, hint: bool = True) -> Overview:
        """Return the overview of a comparison; ``hint`` adds a line on its frames."""
        from webanalytics.audits.display import comparison_overview

        return comparison_overview(self.pages, self.issues, self.summary(), hint=hint)

    def __repr__(self) -> str:
        from webanalytics.audits.display import as_text

        return as_text(self.overview())

    def _repr_html_(self) -> str:
        from webanalytics.audits.display import as_html

        return as_html(self.overview())


def compare(before: Audit | str | os.PathLike[str], after: Audit | str | os.PathLike[str]) -> Comparison:
    """Compare two audits: pages added, removed and changed, issues new, fixed and remaining.

    Parameters
    ----------
    before, after : Audit or path
        Two audits, or the folders that they were saved in.

    Returns
    -------
    Comparison
        It can be printed and displayed; its frames are ``pages``, ``changes``, ``issues`` and ``summary()``.

    Raises
    ------
    ParameterError
        For anything but an audit.

    Notes
    -----
    Pages are matched by their ``url``. Both audits are judged by the profile and thresholds of the second, so
    that differences come from the pages alone.
    """
    return Comparison(as_audit(before, "before"), as_audit(after, "after"))


def load(folder: str | os.PathLike[str]) -> Audit:
    """Load an audit that `webanalytics.Audit.save` has saved.

    Parameters
    ----------
    folder : str or path
        The folder.

    Returns
    -------
    Audit
        Equal to the saved one: dtypes, index, ``attrs``, lists and dicts. Its issues are found again, by the
        rules of this version.

    Raises
    ------
    ParameterError
        For a folder without an audit, or with one that was changed.
    MissingExtraError
        Where pyarrow is not installed.

    Notes
    -----
    A folder may be untrusted: everything read is checked, and nothing is executed.

    Examples
    --------
    >>> import tempfile
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(pages)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wa.load(audit.save(folder)).equals(audit)
    True
    """
    from webanalytics.audits import storage

    return Audit(*storage.load(folder))


def as_audit(value: Any, parameter: str) -> Audit:
    """Return an audit: unchanged, loaded from a folder, or from a frame that `webanalytics.audit` made.

    Raises
    ------
    ParameterError
        For something else.
    """
    if isinstance(value, Audit):
        return value
    if isinstance(value, pd.DataFrame) and {"url", "status"} <= set(value.columns):
        return Audit(value)
    if isinstance(value, (str, os.PathLike)):
        return load(value)
    raise ParameterError(
        f"The `{parameter}` parameter must be an audit, or the folder that one was saved in.", parameter
    )
