"""What `webanalytics.audit` returns: an audit, which holds the tables of pages, issues, links and more.

The top of this package: modules that judge, compare, save and show audits take frames and do not import it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from webanalytics.audits.causes import causes, ordered
from webanalytics.audits.compare.comparison import Comparison
from webanalytics.audits.compare.differences import Judged
from webanalytics.audits.content.methods import ContentMethods
from webanalytics.audits.export import ExportMethods
from webanalytics.audits.graph.methods import LinkMethods
from webanalytics.audits.issues import find_issues, summary
from webanalytics.audits.logs.methods import LogMethods
from webanalytics.audits.origin import TABLES, FindColumns, Origin, Thresholds
from webanalytics.audits.overview.display import MOST_PAGES, Overview, as_html, as_text, audit_overview
from webanalytics.audits.overview.failures import failures
from webanalytics.audits.pages import make_site, with_counts
from webanalytics.audits.profiles import DEFAULT_PROFILE, Profile, resolve_profile
from webanalytics.audits.rules import RULES
from webanalytics.audits.score import Health
from webanalytics.audits.selection import (
    as_read,
    is_of_pages,
    issues_of,
    matched,
    rows_of,
    shares_of_hosts,
    summary_by,
)
from webanalytics.audits.storage import folders as storage
from webanalytics.audits.work.methods import WorkMethods
from webanalytics.audits.work.muting import unmuted
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.foreign import as_pandas

if TYPE_CHECKING:
    from webanalytics.audits.site import Site

T = TypeVar("T")

_HOLDS = "An audit holds tables: use audit.pages{} or audit.select(...)."


class Audit(ExportMethods, ContentMethods, LinkMethods, WorkMethods, LogMethods):
    """Pages that were audited, what was found on them, and what is known of their site.

    It holds tables, each an ordinary DataFrame: ``pages``, ``issues``, ``links``, ``broken_links``,
    ``skipped``, ``summary()``, ``failures()``, ``keywords()`` and more. All of pandas works on those, and the
    audit stays what it is. ``select`` returns an audit of some of the pages, and ``with_columns`` one with
    further columns, such as clicks.

    Parameters
    ----------
    pages : pandas.DataFrame or Audit
        Pages with the columns of `webanalytics.audit`, at least ``url`` and ``status``; they are judged on
        their own, as if they were the whole site.
    origin : Origin, optional
        What is known besides the pages; by default what `pages` knows, if it is an audit.

    Attributes
    ----------
    raw : pandas.DataFrame
        The pages as they were read, one row per input, before anything was derived or judged. Of an audit
        that is kept in a folder, reading a column reads that column alone.
    origin : Origin
        What is known besides the pages.
    unmatched : pandas.DataFrame
        The rows last given to `with_columns`, `with_search_data` or `with_logs` that are of no page.
    search_queries, search_unmatched, log_hits, history : pandas.DataFrame
        Queries by page and rows of no page of `with_search_data`; hits of `with_logs`; scores so far.

    Notes
    -----
    Issues are looked for when first asked for, ``pages`` included, which has their numbers, and are kept;
    tables are not to be changed in place. Some pages keep the whole audit in memory;
    ``wa.Audit(audit.pages[mask])`` does not.

    Examples
    --------
    >>> import webanalytics as wa
    >>> site = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(site)
    >>> audit.pages[["url", "title", "issues_high"]].values.tolist()
    [['https://a.example/', 'Hello', 1]]
    >>> "h1_missing" in set(audit.issues["rule"])
    True
    """

    def __init__(self, pages: pd.DataFrame | Audit, origin: Origin | None = None) -> None:
        known = pages if isinstance(pages, Audit) else None
        self.raw: pd.DataFrame = as_read(as_pandas(pages, "pages") if known is None else known.raw)
        self.origin: Origin = origin or (Origin() if known is None else known.origin)
        for name in TABLES:
            setattr(self, name, pd.DataFrame())
        self._whole: tuple[Audit, list[int]] | None = None
        self._known: dict[str, Any] = {}

    @classmethod
    def of(cls, value: Any, parameter: str) -> Audit:
        """Return an audit: unchanged, loaded from a folder, or of a frame of pages."""
        if isinstance(value, Audit):
            return value
        value = as_pandas(value, parameter)
        if is_of_pages(value):
            return cls(value)
        if isinstance(value, (str, os.PathLike)):
            return cls(*storage.load(value, parameter))
        raise ParameterError.must_be(parameter, "an audit, or the folder that one was saved in")

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """Return the cached value of a name, or make it; other rules make all of it anew."""
        rules = tuple(RULES.values())
        if self._known.get("rules") != rules:
            self._known = {"rules": rules}
        if name not in self._known:
            try:
                self._known[name] = make()
            except AttributeError as error:  # Python would report that the audit lacks the name
                raise RuntimeError(f"the audit's {name} could not be made: {error}") from error
        made: T = self._known[name]
        return made

    def _part(self, rows: Sequence[int]) -> Audit:
        """Return the audit of some rows, which the whole one judges."""
        whole, own = self._whole or (self, range(len(self)))
        places = [own[row] for row in rows]
        part = Audit(whole.raw.iloc[places], self.origin)
        part._keep(self)
        part._whole = (whole, places)
        return part

    def _keep(self, known: Audit) -> None:
        """Take over the tables of another audit that are of no page."""
        for name in TABLES:
            setattr(self, name, getattr(known, name))

    def _selected(self) -> list[int] | None:
        """Return which rows of the whole audit this has, None for all."""
        return None if self._whole is None or len(self) == len(self._whole[0]) else self._whole[1]

    def select(self, which: Any) -> Audit:
        """Return an audit of some of the pages, with what the whole audit knows of them.

        Parameters
        ----------
        which : boolean Series or array, str, or iterable of str or labels
            True for each page to keep, as ``audit.pages["score"] < 50``; or URLs; or labels of the index.
            URLs are compared in their normal form (URL Standard).

        Returns
        -------
        Audit
            Its issues are those that the whole audit found on these pages: links, duplicates and sitemaps are
            still known. ``wa.Audit(part)`` judges them as if they were the whole site.

        Raises
        ------
        ParameterError
            For a mask of other rows, and for a URL or label that the audit does not have.

        Examples
        --------
        >>> import webanalytics as wa
        >>> site = {"url": ["https://a.example/", "https://a.example/b"], "html": ["<title>A", "<p>B"]}
        >>> audit = wa.audit(pd.DataFrame(site))
        >>> audit.select(audit.pages["title"] == "").pages["url"].tolist()
        ['https://a.example/b']
        >>> len(audit.select("https://A.example"))
        1
        """
        return self._part(rows_of(self.raw, which))

    def with_columns(self, frame: pd.DataFrame, on: str = "url") -> Audit:
        """Return this audit with further columns in its pages, such as clicks or segments.

        Parameters
        ----------
        frame : pandas.DataFrame
            One row for each page, in any order. Polars and pyarrow tables do, too.
        on : str, default "url"
            Its column of URLs, which are compared with those of the pages in their normal form (URL
            Standard): scheme and host in lower case, no fragment, and more.

        Returns
        -------
        Audit
            Pages without a row have missing values. Rows without a page are in its ``unmatched``. It is
            judged anew, since rules of one's own may read the columns.

        Raises
        ------
        ParameterError
            For columns that the pages have already, and for two rows of one page.

        Examples
        --------
        >>> import webanalytics as wa
        >>> site = {"url": ["https://a.example/", "https://a.example/b"], "html": ["<title>A", "<p>B"]}
        >>> clicks = pd.DataFrame({"page": ["https://A.example", "https://a.example/c"], "clicks": [7, 2]})
        >>> audit = wa.audit(pd.DataFrame(site)).with_columns(clicks, on="page")
        >>> audit.pages["clicks"].tolist(), audit.unmatched["page"].tolist()
        ([7, <NA>], ['https://a.example/c'])
        """
        return self._joined(lambda raw: (*matched(raw, as_pandas(frame, "frame"), on), {}))

    def _joined(self, find: FindColumns) -> Audit:
        """Return this audit with the columns that are found for its pages."""
        if self._whole is not None:
            whole, rows = self._whole
            return whole._joined(find)._part(rows)
        columns, unmatched, tables = find(self.raw)
        others = self.raw.columns.difference(columns.columns, sort=False)
        joined = pd.concat([self.raw[others], columns], axis=1)
        joined.attrs = dict(self.raw.attrs)
        made = Audit(joined, self.origin)
        made._keep(self)
        made.__dict__.update(tables, unmatched=unmatched)
        return made

    @property
    def site(self) -> Site:
        """What the rules examine: the pages with derived columns, the sitemap, robots.txt problems."""
        if self._whole is not None:
            return self._whole[0].site
        return self._once("site", lambda: make_site(self.raw, *self.origin.besides()))

    @property
    def rows_site(self) -> Site:
        """The rows of a part alone: what its terms are counted in."""
        if self._whole is None:
            return self.site
        made = self._once("rows_site", lambda: Audit(self).site)
        made.shared_blocks = self.site.shared_blocks  # a part shows them too seldom
        return made

    @property
    def pages(self) -> pd.DataFrame:
        """The pages with what was found: score, issues of each priority, ``indexable`` and more.

        Its columns are ordered by use: ``url``, ``status``, ``score``, ``issues_high``, ``issues_medium``,
        ``issues_low``, ``title``, ``description``, and so on.
        """
        if self._whole is not None:
            whole, rows = self._whole
            return self._once("pages", lambda: whole.pages.iloc[rows])
        return self._once("pages", lambda: with_counts(self.site, self.health).set_axis(self.raw.index))

    @property
    def issues(self) -> pd.DataFrame:
        """What was found: one row for each page and rule, by priority.

        ``evidence`` is a line of text, ``value`` and ``threshold`` are in one unit, ``indexable`` counts the
        ``pages`` that search engines may index, ``help`` is the rule's page. What is of a host (``scope``) is
        one row for it. ``attrs["webanalytics"]`` says which rules were not tried or failed.
        """
        return self._once("unmuted", lambda: unmuted(self._found, self.origin.mutes))

    @property
    def _found(self) -> pd.DataFrame:
        """All issues, muted or not."""
        if self._whole is not None:
            whole, rows = self._whole
            hosts = shares_of_hosts(whole.site, rows)
            return self._once("issues", lambda: issues_of(whole._found, self.raw["url"], hosts))
        return self._once("issues", lambda: find_issues(self.site, self.origin.profile or DEFAULT_PROFILE))

    def summary(self, by: str | None = None) -> pd.DataFrame:
        """Return one row for each rule that found something.

        Parameters
        ----------
        by : str, optional
            Column of `pages` whose values cut the audit, such as ``page_type`` or ``section``: then there is
            a row for each value (``segment``) and rule, and shares are of the segment's pages. ``clicks``
            (see `with_search_data`) adds the clicks of the pages that each rule touches, the most first.

        Returns
        -------
        pandas.DataFrame
            By priority, then by the number of indexable pages, then by findings; see
            `webanalytics.audits.issues.summary`.

        Raises
        ------
        ParameterError
            When `by` is no column of `pages` with one value a page.
        """
        if by is not None:
            return summary_by(self, by)
        return self._once("summary", lambda: summary(self.issues, self.pages))

    def failures(self) -> pd.DataFrame:
        """Return why pages could not be read: one row for each reason, with the option that changes it.

        Returns
        -------
        pandas.DataFrame
            ``reason``, ``error_type``, ``pages``, ``option`` (that changes it), ``advice`` (what it does),
            ``url`` (of the first page) and ``error_key`` (which never changes), the most frequent first.
        """
        return self._once("failures", lambda: failures(self.raw))

    @property
    def score(self) -> float | None:
        """Score from 0 to 100: what faults take, and what keeps pages out of search.

        The mean over pages of 100 less 20 (high), 5 (medium) or 1 (low) a fault, less the same for faults of
        their hosts; of this the share is lost by which pages cannot be found: little where a few are closed
        on purpose, all where all are. A page that the server failed to give has 0; an address without a page
        (404) and what could not be asked are left out. None where no page could be judged.
        """
        return self.health.score

    @property
    def alarm(self) -> str:
        """One sentence where many pages cannot be found: "None of 20 pages may be indexed: noindex."."""
        return self.health.alarm

    @property
    def health(self) -> Health:
        """What the score is made of."""
        whole, rows = self._whole or (self, None)
        return self._once("health", lambda: Health(whole.site, self.issues, rows))

    def causes(self, by: str = "points") -> pd.DataFrame:
        """Return what to fix first: one row for each cause, however many pages and rules it touches.

        Parameters
        ----------
        by : {"points", "clicks"}
            What comes first: what the score gains most by, or what touches the most clicks.

        Returns
        -------
        pandas.DataFrame
            ``cause`` (a sentence), ``rule``, ``priority``, ``type``, ``pages``, ``links`` (that lead to what
            fails), ``points`` (by how much the score rises where it is fixed; none of warnings),
            ``examples`` (addresses with spaces between them) and, of search data, ``clicks``.
        """
        return ordered(self._once("causes", lambda: causes(self.site, self.issues, self.health)), by)

    @property
    def audited_at(self) -> pd.Timestamp | None:
        """When the pages were read, in UTC; None for a frame of which that is not known."""
        made = self.origin.date
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
        return self._judged_by(replace(self.origin, profile=chosen), "site")

    def _judged_by(self, origin: Origin, *kept: str) -> Audit:
        """Return the same pages with another origin, and what is known already and stays true."""
        if self._whole is not None:
            whole, rows = self._whole
            return whole._judged_by(origin, *kept)._part(rows)
        made = Audit(self, origin)
        made._keep(self)
        made._known = {name: self._known[name] for name in ("rules", *kept) if name in self._known}
        return made

    def compare(
        self, after: Audit | str | os.PathLike[str], *, again: Audit | str | os.PathLike[str] | None = None
    ) -> Comparison:
        """Return what has changed since this audit; see `webanalytics.compare`.

        Parameters
        ----------
        after : Audit or path
            A later audit, or the folder that it was saved in.
        again : Audit or path, optional
            A further one of the same pages, made at once after it: what differs between those two is noise.
        """
        return Comparison(self, Audit.of(after, "after"), None if again is None else Audit.of(again, "again"))

    def judged(self) -> Judged:
        """Return what a comparison reads of an audit."""
        rows = None if self._whole is None else self._whole[1]
        return Judged(self.site, self.issues, self.health.costs_by_rule(), rows, self.muted)

    def _overview(self) -> Overview:
        whole, rows = self._whole or (self, None)
        known = "issues" in self._known or "issues" in whole._known
        found = len(self) and (known or len(whole) <= MOST_PAGES)
        selected = rows is not None and rows != list(range(len(whole)))
        return audit_overview(self, judged=bool(found), selected=selected)

    def __repr__(self) -> str:
        return as_text(self._overview())

    def _repr_html_(self) -> str:
        return as_html(self._overview())

    def __len__(self) -> int:
        return len(self.raw)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            if name in self.__dict__.get("raw", ()):
                raise AttributeError(_HOLDS.format(f'["{name}"]'))
            if hasattr(pd.DataFrame, name):
                raise AttributeError(_HOLDS.format(f".{name}"))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, key: Any) -> Any:
        raise TypeError(_HOLDS.format("[...]"))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("An audit holds tables: use audit.with_columns(...) to add columns to audit.pages.")
