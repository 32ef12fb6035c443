"""What rules find, collected in columns until `audits.issues` makes a frame of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.redaction import without_secrets
from webanalytics.audits.rules.base import Finding, PageByPage, Rule, missing_pages
from webanalytics.audits.site import Site
from webanalytics.core.strings import percent
from webanalytics.runs.frames.schema import PANDAS_3, make_series
from webanalytics.runs.storage.lazy_columns import parts_of
from webanalytics.runs.storage.temporary_texts import SpilledTexts
from webanalytics.thresholds import PRIORITIES

Rows: TypeAlias = npt.NDArray[np.int32]
Order: TypeAlias = npt.NDArray[np.intp]

MAX_EVIDENCE = 300
"""Longest evidence, in characters."""

_OF_ANY_ANSWER = ("response", "security", "sitemap", "url", "own")
"""Categories whose rules judge plain texts too, missing pages with status 200, and pages that lead to another
at once; so do those on what these link to."""

# Controls that are no white space, half characters, and signs that turn the direction of text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_WINDOW = 4_000


class Evidence(Protocol):
    """Where texts of evidence are until the frame of issues is made."""

    def add(self, texts: list[str]) -> Any:
        """Keep texts, and return the piece that they are."""

    def joined(self, pieces: Sequence[Any], order: Order) -> Any:
        """Return the texts of some pieces in another order."""

    def column(self, arrays: Iterable[Any], index: pd.Index) -> pd.Series:
        """Return a column of what `joined` has returned, one below the other."""


class _Held:
    """Texts of evidence in memory."""

    def add(self, texts: list[str]) -> pd.Series:
        return make_series(texts, "string", pd.RangeIndex(len(texts)))

    def joined(self, pieces: Sequence[pd.Series], order: Order) -> pd.Series:
        return pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True).take(order)

    def column(self, arrays: Iterable[pd.Series], index: pd.Index) -> pd.Series:
        none = make_series([], "string", pd.RangeIndex(0))
        return pd.concat([none, *arrays], ignore_index=True).set_axis(index)


def evidence_of(site: Site) -> Evidence:
    """Return where the evidence of a site is kept: that of pages in a folder is in a file too."""
    return SpilledTexts() if PANDAS_3 and parts_of(site.pages) is not None else _Held()


class Found:
    """What one rule found, in columns: an audit of many pages has millions of issues."""

    def __init__(self, rule: Rule, place: int, evidence: Evidence) -> None:
        self.rule, self.order = rule, (PRIORITIES.index(rule.priority), place)
        self._evidence = evidence
        self._pieces: list[tuple[Rows, npt.NDArray[np.float64], Any]] = []
        self._of_host: dict[int, tuple[int, int]] = {}

    @property
    def any(self) -> bool:
        """Whether it found anything."""
        return bool(self._pieces)

    def search(self, site: Site) -> None:
        """Add what the rule finds on the pages that the site shows, at most one issue per page or host."""
        findings = self.rule.find(site, self.rule.threshold)
        if self.rule.scope == "host":
            findings = list(self._of_hosts(site, findings))
        first: dict[int, tuple[float | None, str]] = {}
        for finding in findings:
            if finding.row not in first:
                first[finding.row] = _measured(finding)
        if first and not isinstance(self.rule.find, PageByPage):  # which sees pages that were read alone
            first = {row: found for row, found in first.items() if row not in site.refused}
        if first and not (self.rule.category in _OF_ANY_ANSWER or self.rule.name.startswith("links_to_")):
            left = site.forwarding | site.texts | missing_pages(site).keys()
            first = {row: found for row, found in first.items() if row not in left}
        if first:
            rows = sorted(first)
            values = np.array([first[row][0] for row in rows], dtype=np.float64)  # None becomes NaN
            texts = self._evidence.add([first[row][1] for row in rows])
            self._pieces.append((np.array(rows, dtype=np.int32), values, texts))

    def _of_hosts(self, site: Site, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield one finding for each host, and keep how many of its pages have it, and may be indexed."""
        hosts: dict[str, dict[str | int, Finding]] = {}
        for finding in findings:
            page = site.addresses.final[finding.row] or finding.row
            hosts.setdefault(site.host(finding.row), {}).setdefault(page, finding)
        for host, found in hosts.items():
            first, read = min(found.values(), key=lambda one: one.row), site.rows_of_hosts.get(host, [])
            rows = [one.row for one in found.values()]
            if first.whole:  # http and https have a robots.txt each
                places = {site.place_of_host(row) for row in rows}
                rows = [row for row in read if site.place_of_host(row) in places] or [first.row]
            count, of = len(rows), max(len(read), len(rows))
            self._of_host[first.row] = count, sum(site.could_be_indexed(row) for row in rows)
            said = plain(first.evidence)
            if of > 1 and not first.whole:
                share = f"{count:,} of {of:,} pages ({percent(count / of)})"
                lead = share if count < of else f"All {of:,} pages"
                lead += f", such as {site.name(first.row)}" if said or count < of else ""
                said = f"{lead}: {said}" if said else f"{lead}."
            yield replace(first, evidence=said)

    def counts(self, site: Site) -> tuple[Order, Order]:
        """Return of how many pages each issue is, and how many of them may be indexed."""
        rows = self.rows.tolist()
        known = [self._of_host.get(row) or (1, int(site.could_be_indexed(row))) for row in rows]
        pages, indexable = zip(*known, strict=True) if known else ((), ())
        return np.array(pages, np.intp), np.array(indexable, np.intp)

    @property
    def rows(self) -> Rows:
        """The rows of its issues, in order."""
        return self._all_rows()[self._by_row]

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The value of each."""
        return np.concatenate([values for _, values, _ in self._pieces])[self._by_row]

    @property
    def evidence(self) -> Any:
        """The text of each, for `Evidence.column`."""
        return self._evidence.joined([texts for *_, texts in self._pieces], self._by_row)

    def _all_rows(self) -> Rows:
        return np.concatenate([rows for rows, _, _ in self._pieces])

    @cached_property
    def _by_row(self) -> Order:
        return np.argsort(self._all_rows(), kind="stable")


def _measured(finding: Finding) -> tuple[float | None, str]:
    """Return the number and the text of a finding; a textual value becomes part of the text."""
    value, evidence = finding.value, plain(finding.evidence)
    if value is None:
        return None, evidence
    if type(value) is int or (isinstance(value, Real) and not isinstance(value, bool)):
        number = float(value)
        return (number if math.isfinite(number) else None), evidence
    text = plain(value)
    if not evidence or text in evidence:
        return None, evidence or text
    return None, plain(f"{text if len(text) <= 120 else text[:119] + '…'}: {evidence}")


def plain(value: object) -> str:
    r"""Return a value as one line of plain text, bounded and without invisible characters.

    Examples
    --------
    >>> plain("Green\n\t tea\x00 ")
    'Green tea'
    >>> len(plain("tea " * 1000)), plain("tea " * 1000)[-5:]
    (300, ' tea…')
    """
    if value is None:
        return ""
    text = value if isinstance(value, str) else str(value)
    if len(text) <= MAX_EVIDENCE and text.isascii() and text.isprintable():  # most are
        return without_secrets(" ".join(text.split()))
    short = without_secrets(" ".join(_UNSEEN.sub("", text[:_WINDOW]).split()))
    if len(short) <= MAX_EVIDENCE and len(text) <= _WINDOW:
        return short
    return short[: MAX_EVIDENCE - 1] + "…"
