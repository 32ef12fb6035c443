"""What `webanalytics.audit` returns: the pages' frame, and what is found in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pandas as pd

if TYPE_CHECKING:
    from webanalytics.seo.compare import Comparison
    from webanalytics.seo.context import Site
    from webanalytics.seo.profiles import Profile

T = TypeVar("T")

Thresholds: TypeAlias = Mapping[str, float] | str | os.PathLike[str]
"""Limits by the name of their rule, or a TOML file of them."""


@dataclass(frozen=True)
class Origin:
    """What an audit knows beside its pages.

    Attributes
    ----------
    sitemap : pandas.DataFrame or None
        Rows of `webanalytics.sitemap`, where the audit was made from sitemaps.
    robots : Mapping
        For each origin (``https://example.org``) what is wrong with its robots.txt.
    profile : Profile or None
        Which rules count, how much, and from which limit on; None for the default.
    """

    sitemap: pd.DataFrame | None = None
    robots: Mapping[str, list[str]] = field(default_factory=dict)
    profile: Profile | None = None


class Audit(pd.DataFrame):
    """The pages of an audit, one row per input, with the issues found in them.

    It is the frame of the pages itself: every method of a DataFrame works on it, and what they return (a
    slice, a sorted or filtered frame, ``audit.copy()``) is a plain DataFrame. Issues are found when they are
    first asked for, and kept: change a copy, not the audit.

    Parameters
    ----------
    frame : pandas.DataFrame
        The pages, as `webanalytics.audit` makes them.
    origin : Origin, optional
        What is known beside the pages.

    Notes
    -----
    Three methods do more than a DataFrame's: ``print(audit)`` shows what was found (``print(audit.copy())``
    the table), ``audit.compare(after)`` compares two audits, and ``audit.to_excel("audit.xlsx")`` with a path
    alone writes one sheet for each part; with any other argument it is `pandas.DataFrame.to_excel`.

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

    # pandas carries the first through pickles, and takes neither for a column
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
        """Return what was made under a name before, or make it."""
        layout = (len(self), *self.columns)
        if self._known is None or self._known.get("layout", layout) != layout:  # from a pickle, or changed
            self._known = {}
        self._known["layout"] = layout
        if name not in self._known:
            try:
                self._known[name] = make()
            except AttributeError as error:  # pandas would take it for a column that is not there
                raise RuntimeError(f"the audit's {name} could not be made: {error}") from error
        made: T = self._known[name]
        return made

    @property
    def site(self) -> Site:
        """What the rules look at: the pages with derived columns, the sitemap, robots.txt problems."""
        return self._once("site", self._make_site)

    def _make_site(self) -> Site:
        from webanalytics.seo.context import Site
        from webanalytics.seo.pages import derived

        origin = self._origin
        return Site(derived(self.plain(), sitemap=origin.sitemap), origin.sitemap, origin.robots)

    def plain(self) -> pd.DataFrame:
        """Return the pages as a plain DataFrame, without a copy of what is in it."""
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
        return self._once("issues", self._make_issues)

    def _make_issues(self) -> pd.DataFrame:
        from webanalytics.seo.issues import find_issues

        profile = self._origin.profile
        return find_issues(self.site) if profile is None else find_issues(self.site, profile)

    def summary(self) -> pd.DataFrame:
        """Return one row for each rule that found something: rule, pages, share, priority.

        Returns
        -------
        pandas.DataFrame
            The most urgent first.
        """
        from webanalytics.seo.issues import summary

        return self._once("summary", lambda: summary(self.issues, self.pages))

    def with_profile(
        self, profile: str | os.PathLike[str] | Profile | None = None, thresholds: Thresholds | None = None
    ) -> Audit:
        """Return the same pages, judged by another profile or other thresholds; nothing is fetched again.

        Parameters
        ----------
        profile : str, path or Profile, optional
            Which rules count and how much: ``desktop_crawler`` by default, ``strict``, ``news``, or a TOML
            file of one's own.
        thresholds : mapping or path, optional
            Limits by the name of their rule, or a TOML file of them.

        Returns
        -------
        Audit
            A new one; this one stays as it is.

        Raises
        ------
        ParameterError
            For a profile or threshold that does not exist.
        """
        made = Audit(self, replace(self._origin, profile=judged_by(profile, thresholds)))
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
        from webanalytics.seo.compare import compare

        return compare(self, after)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            File to write.
        **options
            See `webanalytics.seo.report.write_report`.

        Returns
        -------
        pathlib.Path
            The file written.
        """
        from webanalytics.seo.report import write_report

        return Path(write_report(path, self.pages, self.issues, self.summary(), **options) or path)

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
        from webanalytics.seo.excel import write_workbook

        write_workbook(excel_writer, self.parts())

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that an audit consists of, by name: summary, issues, pages and sitemap."""
        parts = {"Summary": self.summary(), "Issues": self.issues, "Pages": self.pages}
        return parts if self.site.sitemap is None else {**parts, "Sitemap": self.site.sitemap}

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Keep the audit in a folder, whole or not at all; `webanalytics.load` brings it back.

        Parameters
        ----------
        folder : str or path
            A folder that is new, empty, or holds an audit: that one is replaced.

        Returns
        -------
        pathlib.Path
            The folder.

        Raises
        ------
        ParameterError
            For a folder with other files, or a column that cannot be kept.
        MissingExtraError
            Where pyarrow is not installed.
        """
        from webanalytics.seo.storage import save

        return save(self, folder)

    def __repr__(self) -> str:
        from webanalytics.seo.showing import as_text, audit_overview

        return as_text(audit_overview(self))

    def _repr_html_(self) -> str:
        from webanalytics.seo.showing import as_html, audit_overview

        return as_html(audit_overview(self))


def judged_by(
    profile: str | os.PathLike[str] | Profile | None, thresholds: Thresholds | None
) -> Profile | None:
    """Return the profile that is asked for, None for the default one, or raise `ParameterError`.

    Parameters
    ----------
    profile, thresholds
        As for `webanalytics.seo.profiles.resolve_profile`; None for those of the default profile.
    """
    if profile is None and thresholds is None:
        return None
    from webanalytics.seo.profiles import DEFAULT_PROFILE, resolve_profile

    return resolve_profile(DEFAULT_PROFILE if profile is None else profile, thresholds)


def as_audit(value: Any, parameter: str) -> Audit:
    """Return an audit: one as it is, one of a folder, or a frame that `webanalytics.audit` made.

    Raises
    ------
    ParameterError
        For something else.
    """
    from webanalytics.errors import ParameterError

    if isinstance(value, Audit):
        return value
    if isinstance(value, pd.DataFrame) and {"url", "status"} <= set(value.columns):
        return Audit(value)
    if isinstance(value, (str, os.PathLike)):
        from webanalytics.seo.storage import load

        return load(value)
    raise ParameterError(
        f"The `{parameter}` parameter must be an audit, or the folder that one was saved in.", parameter
    )
