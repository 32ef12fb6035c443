"""What changed from one audit to another: what `webanalytics.compare` returns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from webanalytics.audits.compare import differences as found
from webanalytics.audits.compare.differences import Judged, summary
from webanalytics.audits.compare.fields import difference
from webanalytics.audits.compare.links import changed_depths, changed_links, changed_orphans
from webanalytics.audits.graph.site_links import count_missing, spelled
from webanalytics.audits.overview.display import Overview, as_html, as_text, comparison_overview
from webanalytics.audits.score import ScoreChange
from webanalytics.audits.selection import has_segments, segments_of
from webanalytics.runs.frames.schema import make_series
from webanalytics.urls import behind_host

if TYPE_CHECKING:
    from webanalytics.audits.origin import Audited

MOST_OF_A_SITE = 0.5
"""Share of the pages of the smaller audit from which on it is said that they have another address."""


def _spelled_as(audit: Audited, other: Audited) -> Audited:
    """Return an audit with its addresses as another one spells them."""

    def respelled(raw: pd.DataFrame) -> pd.DataFrame:
        columns: dict[str, pd.Series[Any]] = {}
        for name in ("url", "final_url"):
            if name not in raw or name not in other.raw:
                continue
            urls = raw[name].tolist()
            cells = spelled(urls, other.raw[name].dropna().tolist())
            if any(new is not url and new != url for new, url in zip(cells, urls, strict=True)):
                columns[name] = make_series(cells, "string", raw.index)
        return pd.DataFrame(columns)

    differs = len(respelled(audit.raw).columns)
    return audit._joined(lambda raw: (respelled(raw), audit.unmatched, {})) if differs else audit


class Comparison:
    """What changed from one audit to another, where both of them looked.

    Attributes
    ----------
    before, after : Audit
        The two, judged by the profile and thresholds of the second, and with its spelling of addresses.
    pages : pandas.DataFrame
        ``url``, ``change`` and ``fields`` (how many changed). ``changed`` pages come first: those that left
        the index, then those with the most changes, and among them those that are ``gone``: they answer
        HTTP 404 or 410 now. ``added`` and ``removed`` ones are in one audit alone; ``missing`` are addresses
        without a page, in one of the two or in both; one of them did not look at ``unchecked`` ones: it was
        stopped, or left them or a page that led to them out or got no answer. The others are the ``same``.
    changes : pandas.DataFrame
        ``url``, ``field``, ``before``, ``after``: one row for each field of a page that changed, in the order
        of the pages; in the end changed robots.txt files. The guide on audits lists the fields.
    issues : pandas.DataFrame
        ``change`` and the columns of `Audit.issues`. ``worse``: the page has it now; ``added`` with its new
        page; ``fixed``; ``removed`` with its page; ``remaining``. ``unchecked`` ones are in one of the audits
        and could not be checked in the other, which did not read the page or had no input for the rule.
    links : pandas.DataFrame
        Of two crawls: ``change`` (broken, mended, removed or added), ``source``, ``target``, ``anchor``, and
        the verdict on the target ``before`` and ``after``; see `Audit.broken_links`.
    depths : pandas.DataFrame
        Of two crawls: ``url``, and its clicks from the start ``before`` and ``after``, with their ``change``.
    orphans : pandas.DataFrame
        Of two crawls: ``change`` (new or fixed), ``url`` and ``found_on``.
    score : ScoreChange
        ``before``, ``after`` and ``change`` of the score, both by the rules of today; ``points`` of
        `summary` says which rules it comes from. Where an audit was stopped, it is of the pages of both.

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

    def __init__(self, before: Audited, after: Audited, again: Audited | None = None) -> None:
        if before.origin.profile != after.origin.profile:
            before = before.with_profile(after.origin.profile)
        before = _spelled_as(before, after)
        self.before, self.after, self._again = before, after, again
        sides, scored = (before.judged(), after.judged()), (before, after)
        judged = found.beside(*sides), found.beside(*sides[::-1])
        if judged[0].site.stopped or judged[1].site.stopped:  # the score of some pages is not that of others
            shared = [url for url in judged[1].rows if url in judged[0].rows]
            scored = before.select(shared), after.select(shared)
            old, new = (part.judged().costs for part in scored)
            judged = replace(judged[0], costs=old), replace(judged[1], costs=new)
        self._judged, self._scored = judged, scored
        self.score = ScoreChange(scored[0].score, scored[1].score)
        self.changes = found.changed_fields(*judged, None if again is None else again.judged())
        self.pages = found.changed_pages(*judged, self.changes)
        self.issues = found.changed_issues(*judged)

    @cached_property
    def links(self) -> pd.DataFrame:
        """Links that came, went, broke or answer again, of two crawls."""
        moved = set(self.changes.loc[self.changes["field"] == "final_url", "url"])

        def looked(url: str) -> bool:
            return url not in moved and {side.look(url) for side in self._judged} <= {"read", "absent"}

        return changed_links(self.before, self.after, self._again, looked)

    @cached_property
    def depths(self) -> pd.DataFrame:
        """Pages whose clicks from the start changed, of two crawls."""
        return changed_depths(self.before, self.after)

    @cached_property
    def orphans(self) -> pd.DataFrame:
        """Pages that became orphans, or are none any more, of two crawls."""
        return changed_orphans(self.before, self.after)

    def summary(self, by: str | None = None) -> pd.DataFrame:
        """Return one row for each rule: its issues before and after, and what became of them.

        Parameters
        ----------
        by : str, optional
            Column of the pages whose values cut both audits, such as ``section`` or that of `Audit.segments`:
            then there is a row for each value (``segment``) and rule.

        Returns
        -------
        pandas.DataFrame
            ``title``, ``rule``, ``priority``, ``before``, ``after``, ``worse``, ``added``, ``fixed``,
            ``removed``, ``remaining``, ``unchecked`` (numbers of issues) and ``points``: by how many points
            the rule raised the score, negative where it lowered it. What got worse comes first, above all
            pages that left the index.

        Raises
        ------
        ParameterError
            When `by` is no column of the second audit with one value a page.
        """
        if by is None:
            return summary(*self._judged, self.issues)
        parts = [(segment, summary(*sides, issues)) for segment, _, sides, issues in self._segments(by)]
        made = pd.concat([part for _, part in parts], ignore_index=True)
        names = [segment for segment, part in parts for _ in part.index]
        made.insert(0, "segment", pd.Series(names, dtype=self.after.pages[by].dtype))
        return made

    def scores(self, by: str = "segment") -> pd.DataFrame:
        """Return how the score of each part of the site changed.

        Parameters
        ----------
        by : str, default "segment"
            Column of the pages whose values cut both audits. An address belongs to the part that it has in
            the second audit, else in the first: so only the second needs the column.

        Returns
        -------
        pandas.DataFrame
            ``segment``; ``pages`` and ``score`` of the second audit with ``pages_before`` and
            ``score_before``; ``change`` of the score; and how many issues are ``worse``, ``added``,
            ``fixed`` and ``removed``.

        Examples
        --------
        >>> import pandas as pd
        >>> import webanalytics as wa
        >>> urls = ["https://a.example/shop/a", "https://a.example/blog/b"]
        >>> first = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>A", "<title>B"]}))
        >>> second = wa.audit(pd.DataFrame({"url": urls, "html": ["<title>A", "<p>B"]}))
        >>> scores = wa.compare(first, second.segments({"shop": "/shop/*"})).scores()
        >>> scores[["segment", "worse"]].values.tolist()
        [['other', 2], ['shop', 0]]
        """
        rows = []
        for segment, scored, _, issues in self._segments(by):
            old, new = scored
            sizes = [len(side.raw) - count_missing(side.raw) for side in scored]
            counts = issues["change"].value_counts()
            rows.append(
                {"segment": segment}
                | {"pages_before": sizes[0], "pages": sizes[1]}
                | {"score_before": old.score, "score": new.score}
                | {"change": ScoreChange(old.score, new.score).change}
                | {name: int(counts.get(name, 0)) for name in ("worse", "added", "fixed", "removed")}
            )
        return pd.DataFrame(rows)

    def _segments(self, by: str) -> Iterator[tuple[Any, list[Audited], tuple[Judged, Judged], pd.DataFrame]]:
        """Yield each value of a column, its pages as scored, as judged, and their issues."""
        segments_of(self.after.pages, by)  # which refuses what is no column with one value a page
        frames = [side.pages for side in (self.after, self.before)]
        named = [frame[["url", *[by] * (by in frame)]] for frame in frames]
        known = pd.concat(named, ignore_index=True).drop_duplicates("url", ignore_index=True)
        of_host = self.issues["scope"].eq("host") if "scope" in self.issues else False
        for mask in segments_of(known, by):
            urls = known["url"][mask]
            whole, scored = (
                [side.select(side.raw["url"].isin(urls)) for side in sides]
                for sides in ((self.before, self.after), self._scored)
            )
            if self._scored == (self.before, self.after):
                scored = whole  # which keeps what it has counted
            old, new = (
                replace(part.judged(), costs=costly.judged().costs)
                for part, costly in zip(whole, scored, strict=True)
            )
            hosts = {*old.hosts, *new.hosts}
            own = self.issues["url"].isin(urls) & ~of_host | self.issues["url"].isin(hosts) & of_host
            yield known[by][mask].iloc[0], scored, (old, new), self.issues[own]

    def parts(self) -> dict[str, pd.DataFrame]:
        """Return the frames that a comparison consists of, by name; of lists and long texts what differs."""
        cells = zip(self.changes["before"], self.changes["after"], strict=True)
        shown = pd.DataFrame([difference(*pair) for pair in cells], columns=["before", "after"], dtype=object)
        in_both = self.pages["url"].isin(self._judged[0].rows.keys() & self._judged[1].rows.keys())
        unchanged = self.pages["change"].eq("same") | (self.pages["change"].eq("missing") & in_both)
        parts = {
            "Summary": self.summary(),
            "Issues": self.issues,
            "Changed fields": self.changes[["url", "field"]].join(shown),
            "Changed pages": self.pages[~unchanged].reset_index(drop=True),
        }
        if has_segments(self.after.pages):
            parts["Segments"] = self.scores()
        of_crawls = {
            "Changed links": self.links,
            "Changed depth": self.depths,
            "Changed orphans": self.orphans,
        }
        return parts | {name: frame for name, frame in of_crawls.items() if len(frame)}

    def report(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write the report of the second audit with the changes since the first; see `Audit.report`."""
        whole = self.score.after == self.after.score  # else the report shows another score of the second
        known: dict[str, Any] = {
            "score_before": self.score.before if whole else None,
            "changes": self.parts(),
        }
        known |= {"audited_before": self.before.audited_at, "notes": self._notes()}
        if "Segments" in known["changes"]:
            from webanalytics.audits.report.facts import work_parts

            known["work"] = work_parts(self.after) | {"Segments": known["changes"].pop("Segments")}
        return self.after.report(path, **(known | options))

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write a workbook with one sheet for each part, and return its path."""
        from webanalytics.audits.excel import sheets_of, write_workbook

        return write_workbook(path, sheets_of(self.overview(hint=False), self.parts()))

    def overview(self, *, hint: bool = True) -> Overview:
        """Return the overview of a comparison; ``hint`` adds a line on its frames."""
        dates = self.before.audited_at, self.after.audited_at
        frames = self.pages, self.changes, self.issues, self.summary()
        return comparison_overview(frames, self.score, dates, self._notes(), hint=hint)

    def _notes(self) -> list[str]:
        """Return sentences on audits that have not all pages of their site, and on one that has moved."""
        sides = (("first", self.before.site.stopped), ("second", self.after.site.stopped))
        parts = [f"Part of the site, the {name} time: {said}" for name, said in sides if said]
        old, new = (side.rows.keys() for side in self._judged)
        gone, came = [behind_host(url) for url in old - new], {behind_host(url) for url in new - old}
        moved = sum(path in came for path in gone)
        if moved > max(1, MOST_OF_A_SITE * min(len(old), len(new))):
            parts.append(
                f"{moved:,} of {len(gone):,} addresses that are gone differ only in scheme, host or the "
                "slash at the end from one that is new. Pages are compared by their whole address; "
                "`webanalytics.redirect_map` pairs those that moved."
            )
        return parts

    def __repr__(self) -> str:
        return as_text(self.overview())

    def _repr_html_(self) -> str:
        return as_html(self.overview())
