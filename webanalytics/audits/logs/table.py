"""`webanalytics.logs`: files of access logs as tables of who asked for what, and how it was answered."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from webanalytics.audits.logs.agents import PEOPLE, verifier
from webanalytics.audits.logs.formats import Format
from webanalytics.audits.logs.reading import Counts, format_of, paths_of, read_file
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import counted, table_lines
from webanalytics.runs.frames.schema import make_columns

__all__ = ["logs"]

HITS: dict[str, Dtype] = {
    **{"url": "string", "crawler": "string", "purpose": "string", "verified": "boolean", "status": "integer"},
    **{"hits": "integer", "bytes": "integer", "seconds": "float", "first": "string", "last": "string"},
}
DAYS: Mapping[str, Dtype] = {
    **{"day": "string", "purpose": "string", "status": "integer", "hits": "integer"},
}
UNREAD: Mapping[str, Dtype] = {"file": "string", "line": "integer", "reason": "string"}
CRAWLERS: Mapping[str, Dtype] = {
    **{"crawler": "string", "purpose": "string", "hits": "integer", "share": "float", "urls": "integer"},
    **{"redirects": "integer", "errors": "integer", "parameters": "integer", "wasted": "float"},
    **{"pretended": "integer", "bytes": "integer", "seconds": "float", "first": "string", "last": "string"},
}


class Logs:
    """Who asked for what, by the files that servers wrote.

    Attributes
    ----------
    hits : pandas.DataFrame
        One row for each address, crawler and status: ``url`` (a path alone where the log names no host, empty
        where none was asked for), ``crawler``, ``purpose``, ``verified``, ``status``, ``hits``, ``bytes``,
        ``seconds`` (mean) and ``first`` and ``last`` (days in UTC); ``address`` where addresses were kept.
    days : pandas.DataFrame
        ``day``, ``crawler``, ``purpose``, ``status`` and ``hits``.
    unread : pandas.DataFrame
        The first thousand lines that are no rows: ``file``, ``line``, ``reason`` and ``text``.
    lines, unread_lines : int
        How many lines there are, without comments; how many of them are no rows.
    summed_hits : int
        Hits whose address is kept no more: over a million rows, the rarest are summed as ``/…``.
    """

    def __init__(self, counts: Counts, keep: bool) -> None:
        rows = (
            (
                _url(host, target),
                *who,
                verified,
                status,
                hits,
                size,
                took / timed if timed else None,
                *days,
                *where,
            )
            for (host, target, who, verified, status, address), (
                hits,
                size,
                took,
                timed,
                *days,
            ) in counts.hits.items()
            for where in [[address.decode("latin-1")] * keep]
        )
        self.hits = _frame(HITS | ({"address": "string"} if keep else {}), rows)
        self.days = _frame(DAYS, ((*key, hits) for key, hits in sorted(counts.days.items())))
        self.unread = _frame(UNREAD, counts.unread)
        self.lines, self.unread_lines, self.summed_hits = counts.lines, counts.left, counts.summed

    def crawlers(self) -> pd.DataFrame:
        """Return what each crawler asked for, the busiest first.

        Returns
        -------
        pandas.DataFrame
            ``crawler``, ``purpose``, ``hits``, ``share`` of all hits, ``urls``, ``redirects``, ``errors``
            (statuses of 400 and more), ``parameters`` (hits of addresses with a query), ``wasted`` (share of
            its hits with one of the three), ``pretended`` (hits from addresses that are not its own, missing
            where nobody knows), ``bytes``, ``seconds`` (mean), ``first`` and ``last``. People, who have no
            name, are one row.
        """
        return self._by(["crawler", "purpose"])

    def summary(self) -> pd.DataFrame:
        """Return the same by purpose."""
        return self._by(["purpose"])

    def _by(self, names: list[str]) -> pd.DataFrame:
        rows, status, hits = self.hits, self.hits["status"], self.hits["hits"]
        kinds = {
            "redirects": status.between(300, 399) & (status != 304),
            "errors": status >= 400,
            "parameters": rows["url"].str.contains("?", regex=False),
        }
        kinds["wasted"] = kinds["redirects"] | kinds["errors"] | kinds["parameters"]
        kinds["pretended"] = ~rows["verified"].fillna(True)
        whole = rows.assign(**{name: hits.where(mask, 0) for name, mask in kinds.items()})
        whole["known"] = rows["verified"].notna()
        whole["seconds"] = rows["seconds"] * hits
        whole["timed"] = hits.where(rows["seconds"].notna(), 0)
        groups = whole.groupby(names, sort=False)
        sums = ["hits", "bytes", "seconds", "timed", *kinds]
        made = (
            groups[sums]
            .sum()
            .assign(
                known=groups["known"].any(),
                urls=groups["url"].nunique(),
                first=groups["first"].min(),
                last=groups["last"].max(),
            )
        )
        made["share"], made["wasted"] = made["hits"] / hits.sum(), made["wasted"] / made["hits"]
        made["seconds"] = made["seconds"] / made["timed"].where(made["timed"] > 0)
        made["pretended"] = made["pretended"].where(made["known"])
        made = made.sort_values("hits", ascending=False, kind="stable").reset_index()
        return made[[name for name in CRAWLERS if name in made]]

    def __len__(self) -> int:
        return self.lines

    def __repr__(self) -> str:
        days = self.days["day"]
        period = f", {days.min()} to {days.max()}" if len(days) else ""
        unread = f", {self.unread_lines:,} of them unread" if self.unread_lines else ""
        found = self.crawlers().head(12)
        names = found["crawler"].where(found["crawler"] != "", PEOPLE)
        cells = zip(names, found["purpose"], found["hits"], found["urls"], found["wasted"], strict=True)
        rows = [
            (name, purpose, f"{hits:,}", f"{urls:,}", f"{wasted:.0%}")
            for name, purpose, hits, urls, wasted in cells
        ]
        headings = ("crawler", "purpose", "hits", "urls", "wasted")
        table = table_lines(headings, rows, numbers=headings[2:]) if rows else []
        return "\n".join(
            [f"Logs of {counted(self.lines, 'line')}{unread}{period}", *[""] * bool(rows), *table]
        )


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
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002
    verify: str | os.PathLike[str] | None = None,
    keep_addresses: bool = False,
) -> Logs:
    """Read access logs of servers: which crawlers and people asked for what, and how it was answered.

    Parameters
    ----------
    source : path, or sequence of paths
        Files, or patterns of files such as ``"logs/access.log*"``; also ``.gz``, ``.bz2``, ``.xz``, ``.zst``.
    format : str, optional
        ``combined``, ``common``, ``vhost_combined``, ``w3c`` (IIS, CloudFront), ``alb`` or ``json`` (nginx,
        Caddy, Traefik), or a ``LogFormat`` of Apache or ``log_format`` of nginx. By default the first lines
        of each file tell.
    verify : str or path, optional
        ``"dns"`` looks up the name of each crawler's address and the address of that name; a folder has the
        ranges that operators publish, as files of JSON named by the crawler, such as ``GPTBot.json``.
    keep_addresses : bool, default False
        Whether `hits` are by IP address too, which is personal data in many places.

    Returns
    -------
    Logs
        Tables `hits` (by address, crawler and status), `days` and `unread`, and `crawlers()` and `summary()`.

    Raises
    ------
    ParameterError
        For files that do not exist or cannot be read, and lines of no format that is known.

    Notes
    -----
    Crawlers are those of `webanalytics.ai_crawlers`, other search engines and tools; ``purpose`` is search,
    ai search, ai user (asked by somebody in a chat), ai training, seo, other bot or people. Who says nothing
    of himself counts as people. Days are in UTC; a time without a zone is taken for it.

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
    forms: list[Format | None] = [format_of(path, format) for path in paths]
    counts = Counts(checked, keep_addresses)
    for path, form in zip(paths, forms, strict=True):
        if form is not None:
            read_file(path, form, counts)
    return Logs(counts, keep_addresses)
