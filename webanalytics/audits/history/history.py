"""`webanalytics.history`: saved audits of one site by date."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.compare.comparison import Comparison
from webanalytics.audits.compare.fields import is_same
from webanalytics.audits.history import folder as folders
from webanalytics.audits.rules import RULES
from webanalytics.audits.storage.folders import reading
from webanalytics.core.strings import counted, did_you_mean
from webanalytics.errors import ParameterError
from webanalytics.runs.frames.schema import frame_of, is_missing

FIELDS = (
    *("status", "http_status", "error", "final_url", "title", "description", "canonical", "robots"),
    *("x_robots_tag", "lang", "wordCount"),
)
"""What is shown of a page where nobody says."""
PERIODS = {"daily": "D", "weekly": "W", "monthly": "M", "yearly": "Y"}
_KEEP = re.compile(rf"({'|'.join(PERIODS)}) after (\d{{1,5}}) days?")
_DAY = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


class History:
    """Saved audits of one site by date, the first one first: what `webanalytics.history` returns."""

    def __init__(self, folder: str | os.PathLike[str], since: str = "") -> None:
        self._store, self._since = folders.store_of(folder), since
        self.folder: Any = self._store.path

    @property
    def _runs(self) -> list[folders.Run]:
        with reading(self._store, "folder"):
            return [run for run in folders.runs_of(self._store) if run["date"] >= self._since]

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        rows = self.scores().drop(columns="good").tail(10)
        return f"History of {counted(len(self), 'audit')} in {self.folder}\n{rows.to_string(index=False)}"

    def append(self, audit: Audit) -> None:
        """Add an audit; one of the same moment is replaced, and an interrupted call changes nothing."""
        kept = Audit.of(audit, "audit")
        kept.history = folders.past(self._store, folders.append(kept, self.folder, "folder"))

    @property
    def dates(self) -> pd.DatetimeIndex:
        """When the pages were read, in UTC."""
        return _dates(self._runs)

    def scores(self) -> pd.DataFrame:
        """Return a row for each audit: date, pages, score, issues as counted then, and if pages were read."""
        return folders.scores(self._runs)

    def rule(self, name: str) -> pd.DataFrame:
        """Return a row for each audit: date, issues of a rule (missing where it was not tried), pages.

        ``change`` is that since the last audit in which most pages could be read, missing in the others.
        """
        runs = self._runs
        if name not in RULES and not any(name in run["rules"] for run in runs):
            hint = did_you_mean(str(name), RULES) or "."
            raise ParameterError(f"The `name` parameter must name a rule; there is no {name!r}{hint}", "name")
        rows = [
            {**run, "issues": run["rules"].get(name, None if name in run["untried"] else 0)} for run in runs
        ]
        made = frame_of({"date": "object", "issues": "integer", "pages": "integer"}, rows)
        made.insert(2, "change", made["issues"][[run["good"] for run in runs]].diff())
        return folders.dated(made)

    def page(self, url: str, fields: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a row for each audit: date, ``changed`` and fields of a page, by default the usual ones.

        ``changed`` names the fields that differ from the last time that the page was there, and is an empty
        list where none does; it is missing for the first time, and where the page was not there.
        """
        wanted = list(FIELDS if fields is None else fields)
        runs, rows = self._runs, list[dict[str, Any]]()
        last, known, there = dict[str, Any](), dict[str, Any](), set[str]()
        with reading(self._store, "folder"):
            for run in runs:
                found = folders.cells_of(self._store, run, url, wanted, known)
                row = {name: found.get(name) for name in wanted}
                there.update(found)
                changed = (
                    [name for name in wanted if not _same(name, last[name], row[name])] if last else None
                )
                rows.append({"date": run["date"], "changed": changed if found else None, **row})
                last = row if found else last
        if not last:
            raise ParameterError.must_be("url", "a page that an audit of the history has")
        if fields is not None and not there.issuperset(wanted):
            raise ParameterError.must_be("fields", "a list of columns that the pages of the history have")
        return folders.dated(pd.DataFrame(rows))

    def since(self, date: str) -> History:
        """Return the audits from a day, month or year on: ``"2026-10"``."""
        if not _DAY.fullmatch(str(date)):
            raise ParameterError.must_be("date", 'a day, month or year such as "2026-10"')
        return History(self.folder, max(str(date), self._since))

    def load(self, date: str = "") -> Audit:
        """Return the last audit, the last of a day, month or year, or that of a moment."""
        return self._audit(self._run(date, "date"))

    def _run(self, date: str, parameter: str) -> folders.Run:
        runs, begins = self._runs, str(date)
        with suppress(ParameterError):  # what is neither day nor moment is none of an audit
            begins = begins if not begins or _DAY.fullmatch(begins) else folders.moment(begins)
            if found := [run for run in runs if run["date"].startswith(begins)]:
                return found[-1]
        raise ParameterError.must_be(parameter, "the day of an audit that the history has")

    def _audit(self, run: folders.Run) -> Audit:
        with reading(self._store, "folder"):
            audit = Audit(*folders.audit_of(self._store, run))
        audit.history = folders.past(self._store, run)
        return audit

    def compare(self, before: str = "", after: str = "") -> Comparison:
        """Return what changed from one day to another, by default between the last two good audits."""
        good = [run for run in self._runs if run["good"]]
        later = self._run(after, "after") if after else next(reversed(good), None)
        known = [run for run in good if later and run["date"] < later["date"]]
        earlier = self._run(before, "before") if before else next(reversed(known), None)
        if later is None or earlier is None or earlier["date"] == later["date"]:
            said = "a day of its own: there are not two audits in which pages were read, or both are one"
            raise ParameterError.must_be("before", said)
        return Comparison(self._audit(earlier), self._audit(later))

    def timeline(self, **options: Any) -> Any:
        """Draw score and issues of each audit in which most pages were read; takes ``ax`` and ``title``."""
        from webanalytics.notebook.charts.timeline import timeline

        return timeline(self.scores().query("good"), **options)

    def thin(self, keep: str = "monthly after 90 days") -> pd.DatetimeIndex:
        """Keep of older audits the last good one of each period, and return the dates of the others.

        Several periods have commas: ``"weekly after 30 days, monthly after 365 days"``.
        """
        limits = periods(keep)
        if not len(self):
            return self.dates
        with reading(self._store, "folder"), folders.alone(self._store):
            runs, chosen = folders.runs_of(self._store), dict[object, int]()
            moments = [pd.Timestamp(run["date"]).tz_localize(None) for run in runs]
            for place, (run, moment) in enumerate(zip(runs, moments, strict=True)):
                age = (moments[-1] - moment).days
                period = next((name for days, name in reversed(limits) if age > days), None)
                key: object = place if period is None else moment.to_period(period)
                if run["good"] or key not in chosen or not runs[chosen[key]]["good"]:
                    chosen[key] = place
            kept = {*chosen.values(), len(runs) - 1}
            folders.keep_only(self._store, [run for place, run in enumerate(runs) if place in kept])
        return _dates([run for place, run in enumerate(runs) if place not in kept])


def periods(keep: str, parameter: str = "keep") -> list[tuple[int, str]]:
    """Return from which age in days on there is one audit a period."""
    steps = [_KEEP.fullmatch(step.strip()) for step in str(keep).split(",")]
    if not all(steps):
        raise ParameterError.must_be(parameter, 'such as "monthly after 90 days"')
    return sorted((int(step[2]), PERIODS[step[1]]) for step in steps if step)


def _dates(runs: Sequence[folders.Run]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(folders.dated(pd.DataFrame({"date": [run["date"] for run in runs]}))["date"])


def _same(name: str, old: Any, new: Any) -> bool:
    missing = [is_missing(value) for value in (old, new)]
    return all(missing) if any(missing) else is_same(name, old, new)


def history(folder: str | os.PathLike[str]) -> History:
    """Return the saved audits of a site by date.

    Parameters
    ----------
    folder : str or path
        A folder that ``audit.save(history=folder)`` adds audits to, or an address that fsspec can open, such
        as ``"s3://audits/shop"``; it need not be there yet.

    Returns
    -------
    History
        ``dates``, ``scores()``, ``rule(name)``, ``page(url)``, ``since(date)``, ``load(date)``,
        ``compare()``, ``timeline()``, ``thin(keep)`` and ``append(audit)``.

    Raises
    ------
    ParameterError
        For anything but a path or an address, and what was changed in the folder.

    Notes
    -----
    What did not change since the audit before is not stored again. Open only folders that you trust.

    Examples
    --------
    >>> import dataclasses, tempfile
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> history = wa.history(tempfile.mkdtemp())
    >>> for day, title in enumerate(("Tea", "Tea", "Green tea"), 1):
    ...     audit = wa.audit(pd.DataFrame({"url": ["https://a.example/"], "html": [f"<title>{title}"]}))
    ...     audit.origin = dataclasses.replace(audit.origin, date=f"2026-11-0{day}T02:00:00+00:00")
    ...     history.append(audit)
    >>> history.page("https://a.example/", ["title"])[["title", "changed"]].values.tolist()
    [['Tea', None], ['Tea', []], ['Green tea', ['title']]]
    """
    return History(folder)
