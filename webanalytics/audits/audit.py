"""What `webanalytics.audit` returns: the frame of pages with its issues.

The top of this package: modules that judge, compare, save and show audits take frames and do not import it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from webanalytics.audits.comparison import Comparison
from webanalytics.audits.content import ContentMethods
from webanalytics.audits.export import ExportMethods
from webanalytics.audits.kept import NEEDED, Pages, declared_columns, forgetful, is_part, issues_of, places
from webanalytics.audits.linked import LinkMethods
from webanalytics.audits.origin import Origin, Thresholds
from webanalytics.audits.profiles import DEFAULT_PROFILE, Profile, resolve_profile
from webanalytics.audits.rules import rule_table
from webanalytics.errors import ParameterError
from webanalytics.frames.foreign import as_pandas

if TYPE_CHECKING:
    from webanalytics.audits.compare import Judged
    from webanalytics.audits.display import Overview
    from webanalytics.audits.site import Site

T = TypeVar("T")


class Audit(ExportMethods, ContentMethods, LinkMethods):  # type: ignore[misc]  # as in Pages
    """The pages of an audit, one row per input, with the issues found in them.

    It is the frame of the pages itself, and every method of a DataFrame works on it. Rows of it are an audit
    of those rows: ``audit.head()``, ``audit[mask]``, ``audit.query(...)``, ``audit.loc[labels]``,
    ``audit.sort_values(...)``, ``audit.drop_duplicates(...)``, ``audit.assign(...)`` and ``audit.copy()``.
    Fewer columns, and frames that pandas joins or groups, are DataFrames to look at.

    Parameters
    ----------
    frame : pandas.DataFrame
        The pages, as `webanalytics.audit` makes them; they are judged on their own.
    origin : Origin, optional
        What is known besides the pages; by default what `frame` knows, if it is an audit.

    Notes
    -----
    Issues are found on first access and kept until a cell is set. The issues of some rows are those that the
    whole audit found on them: links, duplicates and sitemaps are still known. ``wa.Audit(rows)`` judges them
    as if they were the whole site, as do rows in which a column of the audit was changed. Some rows keep the
    whole audit in memory; ``wa.Audit(rows)`` does not. Lists and dicts changed in place go unnoticed.

    Three methods differ from a DataFrame's: ``print(audit)`` shows what was found (``print(audit.plain())``
    the table), ``audit.compare(after)`` compares two audits, and ``audit.to_excel("audit.xlsx")`` with only a
    path writes one sheet for each part; with any other argument it is `pandas.DataFrame.to_excel`.

    Examples
    --------
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(pages)
    >>> isinstance(audit.head(), wa.Audit), type(audit[["url", "title"]]).__name__
    (True, 'Pages')
    >>> "h1_missing" in set(audit.issues["rule"])
    True
    """

    # pandas carries the first through pickles, and treats none as a column
    _metadata = ["_origin"]  # noqa: RUF012 - so it is declared in pandas
    _internal_names = [*pd.DataFrame._internal_names, "_known", "_whole", "_state"]  # type: ignore[attr-defined]  # noqa: RUF012
    _internal_names_set = set(_internal_names)  # noqa: RUF012
    _origin: Origin = Origin()
    _known: dict[str, Any] | None = None
    _whole: tuple[Audit, object] | None = None
    """The audit that this is a part of, and the state of it that is meant."""
    _state: object = None
    """Another object after every change."""

    loc, iloc, at, iat = map(forgetful, ("loc", "iloc", "at", "iat"))

    def __init__(self, frame: pd.DataFrame | None = None, origin: Origin | None = None) -> None:
        frame = as_pandas(frame, "frame")
        super().__init__(pd.DataFrame() if frame is None else frame)  # type: ignore[call-arg]
        self.attrs = {} if frame is None else dict(frame.attrs)
        self._origin = origin or (frame._origin if isinstance(frame, Audit) else Origin())
        self._known = {}

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return Pages

    def _keep(self, made: pd.DataFrame, method: str | None) -> pd.DataFrame:
        """Return what a method of pandas made of this audit: an audit too, if it has rows of it."""
        if not is_part(made, self, method):
            return Pages(made) if isinstance(made, Audit) else made
        part = Audit(made, self._origin)
        part._whole = self._whole or (self, self._state)
        return part

    def __copy__(self, deep: bool = True) -> Audit:
        return self.copy(deep=deep)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Audit:
        return self.__copy__()

    def _forget(self) -> None:
        self._known, self._whole, self._state = None, None, object()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str) and key not in declared_columns():
            self._known = None  # of a further column, no rule knows
        else:
            self._forget()
        super().__setitem__(key, value)

    def _update_inplace(self, *args: Any, **kwargs: Any) -> None:
        self._forget()
        super()._update_inplace(*args, **kwargs)  # type: ignore[misc]

    def __delitem__(self, key: Any) -> None:  # type: ignore[misc]
        self._forget()
        super().__delitem__(key)

    def insert(self, loc: int, column: Any, *args: Any, **kwargs: Any) -> None:
        """Insert a column at a place; see `pandas.DataFrame.insert`."""
        if not isinstance(column, str) or column in declared_columns():
            self._forget()
        super().insert(loc, column, *args, **kwargs)

    def isetitem(self, *args: Any, **kwargs: Any) -> None:
        """Set a column by its place; see `pandas.DataFrame.isetitem`."""
        self._forget()
        super().isetitem(*args, **kwargs)

    def _iset_item(self, *args: Any, **kwargs: Any) -> None:
        self._forget()
        super()._iset_item(*args, **kwargs)  # type: ignore[misc]

    def set_index(self, *args: Any, **kwargs: Any) -> Any:
        """Return the frame with a column as its index; see `pandas.DataFrame.set_index`."""
        made = super().set_index(*args, **kwargs)
        return made if made is None or set(NEEDED) <= set(made.columns) else Pages(made)

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """Return the cached value of a name, or make it."""
        layout = (rule_table().changes, len(self), *self.columns)
        known = self._known
        if (
            known is None
            or known.get("layout", layout) != layout
            or not self.index.is_(known.get("index", self.index))
        ):
            known = self._known = {}  # from a pickle, or changed
        known["layout"], known["index"] = layout, self.index
        if name not in known:
            try:
                known[name] = make()
            except AttributeError as error:  # pandas would report a missing column
                raise RuntimeError(f"the audit's {name} could not be made: {error}") from error
        made: T = known[name]
        return made

    def _rows(self) -> tuple[Audit, list[int]] | None:
        """Return the audit that this is a part of, and which of its rows it has; None for a whole one."""
        if self._whole is None or self._whole[0]._state is not self._whole[1] or "url" not in self:
            return None
        whole = self._whole[0]
        rows = self._once("rows", lambda: places(self["url"].tolist(), whole["url"].tolist()))
        return None if rows is None else (whole, rows)

    def _selected(self) -> list[int] | None:
        """Return which rows of the whole audit this has, None for all."""
        part = self._rows()
        return None if part is None or len(part[1]) == len(part[0]) else part[1]

    @property
    def site(self) -> Site:
        """What the rules examine: the pages with derived columns, the sitemap, robots.txt problems."""
        from webanalytics.audits.pages import make_site

        part = self._rows()
        if part is not None:
            return part[0].site
        origin = self._origin
        return self._once("site", lambda: make_site(self.plain(), *origin.besides()))

    @classmethod
    def of(cls, value: Any, parameter: str) -> Audit:
        """Return an audit: unchanged, loaded from a folder, or of a frame of pages.

        Raises
        ------
        ParameterError
            For something else.
        """
        from webanalytics.audits import storage

        if isinstance(value, Audit):
            return value
        value = as_pandas(value, parameter)
        if isinstance(value, pd.DataFrame) and set(NEEDED) <= set(value.columns):
            return cls(value)
        if isinstance(value, (str, os.PathLike)):
            return cls(*storage.load(value, parameter))
        raise ParameterError(
            f"The `{parameter}` parameter must be an audit, or the folder that one was saved in.", parameter
        )

    @property
    def rows_site(self) -> Site:
        """The rows of a part alone: what its terms are counted in."""
        alone = self._rows() is not None
        return self._once("rows_site", lambda: Audit(self.plain(), self._origin).site) if alone else self.site

    def plain(self) -> pd.DataFrame:
        """Return the pages as a plain DataFrame, without copying the data."""
        frame = pd.DataFrame(self)
        frame.attrs = dict(self.attrs)
        return frame

    @property
    def pages(self) -> pd.DataFrame:
        """The pages with what was found: score, issues of each priority, ``indexable`` and more.

        A plain DataFrame. Its columns are ordered by use: ``url``, ``status``, ``score``, ``issues_high``,
        ``issues_medium``, ``issues_low``, ``title``, ``description``, and so on.
        """
        from webanalytics.audits.pages import part_of, with_counts

        part = self._rows()
        if part is None:
            return self._once(
                "pages", lambda: with_counts(self.site, self.issues).set_axis(self.index, axis=0)
            )
        whole, rows = part
        return self._once("pages", lambda: part_of(whole.pages, rows, self.plain()))

    @property
    def issues(self) -> pd.DataFrame:
        """What was found: one row for each page and rule, with priority, value, evidence and fix."""
        from webanalytics.audits.issues import find_issues

        part = self._rows()
        if part is not None:
            return self._once("issues", lambda: issues_of(part[0].issues, self["url"].tolist()))
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

    def failures(self) -> pd.DataFrame:
        """Return why pages could not be read: one row for each reason, with the option that changes it.

        Returns
        -------
        pandas.DataFrame
            ``reason``, ``error_type``, ``pages``, ``option``, ``advice``, ``url`` (of the first page) and
            ``error_key``, the most frequent first; see `webanalytics.audits.failures.failures`.
        """
        from webanalytics.audits.failures import failures

        return self._once("failures", lambda: failures(self.plain()))

    @property
    def score(self) -> float | None:
        """Health from 0 to 100: the mean over pages of 100 less 20 (high), 5 (medium) or 1 (low) a fault.

        Only what rules of the types issue and opportunity found counts; a page that answers with an error
        has 0, and pages that could not be asked are left out. None where no page could be judged.
        """
        from webanalytics.audits.health import score, score_of

        part = self._rows()
        if part is not None:
            return self._once("score", lambda: score_of(part[0].site, part[0].issues, part[1]))
        return self._once("score", lambda: score(self.site, self.issues))

    @property
    def origin(self) -> Origin:
        """What is known besides the pages."""
        return self._origin

    @property
    def audited_at(self) -> pd.Timestamp | None:
        """When the pages were read, in UTC; None for a frame of which that is not known."""
        made = self._origin.date
        return None if made is None else pd.Timestamp(made)

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
        part = self._rows()
        if part is None:
            made._known = {"site": self.site} if "site" in (self._known or {}) else {}
        else:
            whole = part[0].with_profile(profile, thresholds)
            made._whole = (whole, whole._state)
        return made

    def compare(self, after: Audit | str | os.PathLike[str]) -> Comparison:  # type: ignore[override]
        """Return what has changed since this audit; see `webanalytics.compare`.

        Parameters
        ----------
        after : Audit or path
            A later audit, or the folder that it was saved in.
        """
        return Comparison(self, Audit.of(after, "after"))

    def _judged(self) -> Judged:
        from webanalytics.audits.compare import Judged
        from webanalytics.audits.health import costs_by_rule

        part = self._rows()
        costs = costs_by_rule(self.site, self.issues, None if part is None else part[1])
        return Judged(self.plain(), self.pages, self.issues, bool(self._origin.robots), costs)

    def _overview(self) -> Overview:
        from webanalytics.audits.display import MOST_PAGES, audit_overview

        whole = self._whole[0] if self._rows() is not None and self._whole else self
        known = "issues" in (self._known or {}) or "issues" in (whole._known or {})
        found = len(self) and (known or len(whole) <= MOST_PAGES)
        part = self._rows()
        selected = part is not None and part[1] != list(range(len(part[0])))
        return audit_overview(self, self._origin, judged=bool(found), selected=selected)

    def __repr__(self) -> str:
        from webanalytics.audits.display import as_text

        is_judged = set(NEEDED) <= set(self.columns) or not len(self.columns)
        return as_text(self._overview()) if is_judged else repr(self.plain())

    def _repr_html_(self) -> str | None:
        from webanalytics.audits.display import as_html

        is_judged = set(NEEDED) <= set(self.columns) or not len(self.columns)
        return as_html(self._overview()) if is_judged else self.plain()._repr_html_()  # type: ignore[operator]
