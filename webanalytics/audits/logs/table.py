"""`webanalytics.logs`: files of access logs as tables of who asked for what, and how it was answered."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from webanalytics.audits.logs.agents import PEOPLE, verifier
from webanalytics.audits.logs.reading import Counts, format_of, paths_of, read_file
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import counted, one_line, table_lines
from webanalytics.runs.frames.schema import make_columns

__all__ = ["logs"]

HITS: Mapping[str, Dtype] = {
    **{"url": "string", "crawler": "string", "purpose": "string", "verified": "boolean", "status": "integer"},
    **{"hits": "integer", "bytes": "integer", "seconds": "float", "first": "string", "last": "string"},
}
DAYS: Mapping[str, Dtype] = {"day": "string", "purpose": "string", "status": "integer", "hits": "integer"}
UNREAD: Mapping[str, Dtype] = {"file": "string", "line": "integer", "reason": "string"}
_COUNTS = ["hits", "redirects", "errors", "parameters", "pretended", "bytes"]
_ORDER = ["hits", "share", "urls", *_COUNTS[1:4], "wasted", "pretended", "bytes", "seconds", "first", "last"]


class Logs:
    """Who asked for what, by the files that servers wrote.

    Attributes
    ----------
    hits : pandas.DataFrame
        One row for each address, crawler and status: ``url`` (a path alone where the log names no host, empty
        where none was asked for), ``crawler``, ``purpose``, ``verified``, ``status``, ``hits``, ``bytes``,
        ``seconds`` (mean) and ``first`` and ``last`` (days in UTC); ``address`` where addresses were kept.
    days : pandas.DataFrame
        ``day``, ``purpose``, ``status`` and ``hits``.
    unread : pandas.DataFrame
        The first thousand lines that are no rows: ``file``, ``line`` and ``reason``.
    lines, unread_lines, summed_hits : int
        Lines without comments; those that are no rows; hits whose address is not kept: from a million rows
        on, new addresses are summed up as ``/…``.
    """

    def __init__(self, counts: Counts, keep: bool) -> None:
        rows = (
            (_url(*key[:2]), *key[2], *key[3:5], hits, size, took / timed if timed else None, *days)
            + (key[5].decode("latin-1"),) * keep
            for key, (hits, size, took, timed, *days) in counts.hits.items()
        )
        self.hits = _frame({**HITS, "address": "string"} if keep else HITS, rows)
        self._timed = pd.Series([found[3] for found in counts.hits.values()], self.hits.index, "float")
        self.days = _frame(DAYS, ((*key, hits) for key, hits in sorted(counts.days.items())))
        self.unread = _frame(UNREAD, counts.unread)
        self.lines, self.unread_lines, self.summed_hits = counts.lines, counts.left, counts.summed

    def crawlers(self) -> pd.DataFrame:
        """Return what each crawler asked for, the busiest first; people are one row without a name.

        Returns
        -------
        pandas.DataFrame
            ``crawler``, ``purpose``, ``hits``, ``share`` of all hits, ``urls``, ``redirects``, ``errors``
            (statuses of 400 and more), ``parameters`` (hits of addresses with a query), ``wasted`` (share of
            its hits with one of the three), ``pretended`` (hits from addresses that are not its own, missing
            where nobody knows), ``bytes``, ``seconds`` (mean), ``first`` and ``last``.
        """
        return self._by(["crawler", "purpose"])

    def summary(self) -> pd.DataFrame:
        """Return the same by purpose."""
        return self._by(["purpose"])

    def _by(self, names: list[str]) -> pd.DataFrame:
        rows, hits, status = self.hits.copy(), self.hits["hits"], self.hits["status"]
        rows["redirects"] = hits.where(status.between(300, 399) & (status != 304), 0)
        rows["errors"] = hits.where(status >= 400, 0)
        rows["parameters"] = hits.where(rows["url"].str.contains("?", regex=False), 0)
        rows["wasted"] = rows[["redirects", "errors", "parameters"]].max(axis=1)
        rows["pretended"] = hits.where(~rows["verified"].fillna(True), 0)
        rows["timed"], rows["seconds"] = self._timed, rows["seconds"] * self._timed
        rows["urls"], rows["known"] = rows["url"], rows["verified"].notna()
        sums = dict.fromkeys([*_COUNTS, "seconds", "timed", "wasted"], "sum")
        how = {"urls": "nunique", "first": "min", "last": "max", "known": "any"}
        made = rows.groupby(names, sort=False).agg(sums | how)
        made["share"], made["wasted"] = made["hits"] / hits.sum(), made["wasted"] / made["hits"]
        made["seconds"] /= made["timed"].where(made["timed"] > 0)
        made["pretended"] = made["pretended"].where(made["known"])
        return made.sort_values("hits", ascending=False, kind="stable")[_ORDER].reset_index()

    def __len__(self) -> int:
        return self.lines

    def __repr__(self) -> str:
        names = ["crawler", "purpose", "hits", "urls", "wasted"]
        cells = self.crawlers()[names].head(12).itertuples(index=False)
        rows = [
            (one_line(one[0])[:40] or PEOPLE, one[1], *map("{:,}".format, one[2:4]), f"{one[4]:.0%}")
            for one in cells
        ]
        head = (
            f"Logs: {counted(self.lines, 'line')}, {self.unread_lines:,} unread; see .hits, .days and .unread"
        )
        return "\n".join([head, *table_lines(names, rows, numbers=names[2:])])


def _frame(dtypes: Mapping[str, Dtype], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in dtypes]
    return pd.DataFrame(make_columns(dict(zip(dtypes, columns, strict=True)), dtypes))


def _url(host: bytes, target: bytes) -> str:
    name, text = host.decode("utf-8", "replace"), target.decode("utf-8", "replace")
    if not text.startswith("/") or name in ("", "-", "_"):
        return text
    scheme = "http" if name.endswith(":80") else "https"
    return f"{scheme}://{name.removesuffix(':80').removesuffix(':443')}{text}"


def logs(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002 - as it is called
    verify: str | os.PathLike[str] | None = None,
    keep_addresses: bool = False,
) -> Logs:
    """Read access logs of servers: which crawlers and people asked for what, and how it was answered.

    Parameters
    ----------
    source : path, or list of paths
        Files, or patterns of files such as ``"logs/access.log*"``; also ``.gz`` and ``.zst``.
    format : str, optional
        ``combined``, ``common``, ``vhost_combined``, ``w3c`` (IIS, CloudFront), ``alb`` or ``json`` (nginx,
        Caddy, Traefik), or a ``LogFormat`` of Apache or ``log_format`` of nginx. By default the first lines
        of each file tell.
    verify : str or path, optional
        ``"dns"`` looks up the name of each crawler's address, and the addresses of that name; a folder has
        the ranges that operators publish, as JSON in files named by the crawler, such as ``GPTBot.json``.
    keep_addresses : bool, default False
        Whether `hits` are by IP address too, which is personal data in many places.

    Returns
    -------
    Logs
        Tables `hits`, `days` and `unread`, and `crawlers()` and `summary()`, which count what each asked for.

    Raises
    ------
    ParameterError
        For files that do not exist or cannot be read, and lines of no format that is known.

    Notes
    -----
    Crawlers are those of `webanalytics.ai_crawlers`, and other search engines and tools. A ``purpose`` is
    search, ai search, ai user (asked by somebody in a chat), ai training, seo, other bot or people: whoever
    says nothing else of himself. Days are in UTC, for which a time without a zone is taken.

    Examples
    --------
    >>> import tempfile
    >>> import webanalytics as wa
    >>> line = '192.0.2.7 - - [24/Nov/2026:00:10:00 +0100] "GET /tea HTTP/1.1" 200 512 "-" "GPTBot/1.2"'
    >>> with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
    ...     print(line, file=file, flush=True)
    ...     read = wa.logs(file.name)
    >>> read.hits[["url", "crawler", "purpose", "status", "last"]].values.tolist()
    [['/tea', 'GPTBot', 'ai training', 200, '2026-11-23']]
    """
    checked, paths = verifier(verify), paths_of(source)
    forms = [format_of(path, format) for path in paths]
    counts = Counts(checked, keep_addresses)
    for path, form in zip(paths, forms, strict=True):
        read_file(path, form, counts)
    return Logs(counts, keep_addresses)
