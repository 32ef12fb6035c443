"""Tables that search engines and Google Analytics export -> one form: their headers, numbers and totals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.core.strings import normalized, one_line
from webanalytics.errors import ParameterError

METRICS: Mapping[str, str] = {
    "clicks": "clicks, klicks, clics, clic, cliques, klikken, клики, クリック数, url clicks, clics sur l url",
    "impressions": "impressions, impressionen, impresiones, impressioni, impressões, vertoningen, показы, "
    "表示回数, url impressions",
    "position": "position, posicion, posizione, posição, positie, позиция, 掲載順位, average position, "
    "avg position, avg impression position, durchschnittliche position, position moyenne, posicion media, "
    "posizione media, posição média, gemiddelde positie, средняя позиция, 平均掲載順位",
    "sessions": "sessions, sitzungen, sesiones, sessioni, sessões, sessies, сеансы",
    "views": "views, aufrufe, vues, vistas, visualizaciones, visualizzazioni, visualizações, weergaven, "
    "просмотры, screenpageviews",
}
"""Headers of Search Console, Analytics and Bing Webmaster Tools by their meaning, as of 2026-11-27.

In English, German, French, Spanish, Italian, Portuguese, Dutch, Russian and Japanese; in Japanese of Search
Console alone, whose impressions are the views of Analytics there. CTR is clicks by impressions, and not read.
"""
_PAGES = "page pages url urls address landingpage seite seiten seitenpfad zielseite zielseiten adresse pagina"
_QUERIES = "query queries keyword keywords suchanfrage suchanfragen requete requetes consulta consultas"

COUNTS = ("clicks", "impressions", "sessions", "views")
LONGEST_HEADER = 200
_LOOKED_AT = 100
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_PLAIN = re.compile(r"\d+(?:\.\d*)?|\.\d+", re.ASCII)


def folded(header: object) -> str:
    """Return a header in lower case, without accents and signs.

    >>> folded("Häufigste Seiten"), folded("Avg. impression position")
    ('haufigste seiten', 'avg impression position')
    """
    text = normalized(str(header)[:LONGEST_HEADER], "NFD").casefold()
    letters = "".join(letter for letter in text if not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", letters))


_NAMED = {folded(name): metric for metric, names in METRICS.items() for name in names.split(", ")}
PAGE = frozenset(map(folded, f"{_PAGES} paginas pagine страница страницы 上位のページ".split()))
QUERY = frozenset(map(folded, f"{_QUERIES} zoekopdrachten запрос запросы 上位のクエリ".split()))
"""Words of which the header of a column of addresses, or of queries, has one; of the same languages."""


def is_header(cells: Sequence[object]) -> bool:
    """Return whether these cells are the headers of a table of pages."""
    names = [folded(cell) for cell in cells]
    return any(name in _NAMED for name in names) and any(PAGE & set(name.split()) for name in names)


def number(cell: object, *, whole: bool) -> float | None:
    """Return what a cell says, None for no number; in whole numbers marks stand between thousands.

    >>> [number(text, whole=True) for text in ("1,234", "1.234", "1\u202f234", "7", "-", "12.0")]
    [1234.0, 1234.0, 1234.0, 7.0, None, 12.0]
    >>> [number(text, whole=False) for text in ("8,5", "8.5", "1.234,5", "1,234.5", "")]
    [8.5, 8.5, 1234.5, 1234.5, None]
    """
    if isinstance(cell, (int, float, np.number)):
        return float(cell) if np.isfinite(cell) and cell >= 0 else None
    text = re.sub(r"[\s'’]", "", str(cell)[:40])
    if whole and _GROUPED.fullmatch(text):
        text = re.sub("[.,]", "", text)
    elif "," in text and "." in text:
        text = text.replace(min(",.", key=text.rfind), "")  # the last one is the decimal mark
    text = text.replace(",", ".")
    return float(text) if _PLAIN.fullmatch(text) else None


def standard(table: pd.DataFrame) -> pd.DataFrame | None:
    """Return the columns ``url``, ``query`` and those of `METRICS`; None without pages, or with one twice.

    >>> standard(pd.DataFrame({"Seite": ["https://a.example/"], "Klicks": ["1.234"]})).to_dict("list")
    {'url': ['https://a.example/'], 'clicks': [1234.0]}
    """
    names = [folded(name) for name in table.columns]
    words = [set(name.split()) for name in names]
    pages = [place for place, found in enumerate(words) if found & PAGE and _addresses(table.iloc[:, place])]
    metrics = {_NAMED[name]: names.index(name) for name in reversed(names) if name in _NAMED}
    twice = any(names.count(name) > 1 for name in names if _NAMED.get(name) in COUNTS)
    if twice or not pages or not set(metrics) - {"position"}:
        return None
    queries = [place for place, found in enumerate(words) if found & QUERY and place != pages[0]]
    texts = zip(("url", "query"), (pages[0], *queries), strict=False)
    made = {name: table.iloc[:, place].to_numpy(object) for name, place in texts}
    for metric, place in metrics.items():
        made[metric] = _numbers(table.iloc[:, place], whole=metric in COUNTS)
    frame = pd.DataFrame(made)[[name for name in ("url", "query", *METRICS) if name in made]]
    if "position" in frame:
        frame["position"] = frame["position"].where(frame["position"] > 0)
    return frame


def _addresses(column: pd.Series[Any]) -> bool:
    cells = [str(cell) for cell in column.head(_LOOKED_AT).tolist() if isinstance(cell, str) and cell]
    return 2 * sum("/" in cell for cell in cells) >= max(1, len(cells))


def _numbers(column: pd.Series[Any], *, whole: bool) -> npt.NDArray[Any]:
    codes, cells = pd.factorize(column.astype(object))
    found = [number(cell, whole=whole) for cell in cells]
    for cell, said in zip(cells, found, strict=True):
        if said is None and isinstance(cell, str) and re.search(r"\d", cell[:40]):
            wanted = f"a table with numbers in its column `{column.name}`, and not '{one_line(cell[:40])}'"
            raise ParameterError.must_be("source", wanted)
    return np.array([*found, None], dtype=float)[codes]


def counted_up(table: pd.DataFrame, groups: npt.NDArray[Any], size: int) -> pd.DataFrame:
    """Return one row for each group from 0 to ``size``: sums, and means of positions by impressions."""
    chosen = groups >= 0
    found, keys = table[chosen], groups[chosen]
    counts = [name for name in COUNTS if name in found]
    made = found[counts].groupby(keys).sum(min_count=1)
    if "position" in found:
        weights = found["impressions"] if "impressions" in found else pd.Series(1.0, index=found.index)
        weights = weights.where(found["position"].notna())
        made["position"] = (found["position"] * weights).groupby(keys).sum() / weights.groupby(keys).sum()
    return typed(made.reindex(pd.RangeIndex(size)))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with whole counts, and ``ctr`` between impressions and position."""
    frame = frame.reset_index(drop=True)
    if {"clicks", "impressions"} <= set(frame.columns):
        shares = frame["clicks"] / frame["impressions"].where(frame["impressions"] > 0)
        frame.insert(list(frame.columns).index("impressions") + 1, "ctr", shares)
    for name in COUNTS:
        if name in frame:
            frame[name] = frame[name].round().astype("Int64")
    return frame
