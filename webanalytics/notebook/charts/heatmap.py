"""`charts.keyword_heatmap`: which terms tell pages apart."""

from __future__ import annotations

from collections import Counter

import ahocorasick
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize, PowerNorm
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.charts.keywords import tidy, why_none
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.notebook.drawing.labels import path_labels
from webanalytics.page.keywords.keyness import CRITICAL, SUBJECT, UNLIKELY, keyness

Cells = NDArray[np.float64]

FAINTEST = UNLIKELY
"""Distinctiveness of the faintest colour: what chance alone exceeds in one of 20 terms is not coloured."""


@style.chart
def keyword_heatmap(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    top: int = 15,
    max_pages: int = 15,
    title: str | None = None,
) -> Axes:
    """Draw the terms that tell pages apart: how distinctive each is of each page.

    The colour is the distinctiveness, on a logarithmic scale, so that one page with hundreds of repetitions
    does not wash out all others; the number is how often the term occurs on the page, where it fits. A term
    that is no more frequent on a page than chance explains has a number without colour.

    Words that ten pages or more have and less than a tenth of them name in the title are those that the pages
    share whatever they are about; they are left out where titles are known.

    Rows are the `top` terms that tell most about pages: their distinctiveness is added up over the pages, by
    its logarithm, so that a term of several pages has a better chance than the peculiarity of one, and no
    page has many more than its share of them. They stand in the order of the pages that they are most
    distinctive of. Columns are pages in the frame's order; of more than `max_pages`, those that these terms
    tell most about. A page that is in the frame twice counts once, and pages that failed are left out and
    counted.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.keywords` or `Audit.keywords` returned (``url``, ``keyword``, ``frequency``), or an
        audit frame with its map of frequencies in ``keywords``. Without a column ``distinctiveness``, it is
        computed from the keywords of the frame.
    top : int
        The most terms to draw.
    max_pages : int
        The most pages to draw.

    Raises
    ------
    ParameterError
        When `top` is not from 1 to 100 or `max_pages` not from 1 to 40, or when the frame lacks the columns.

    Notes
    -----
    The distinctiveness is the log-likelihood ratio G2 (see `webanalytics.keywords`), which chance alone
    drives above 3.84 in 5% of terms and above 10.83 in 0.1%. In a frame of one page, the colour is the
    frequency.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["/a", "/a", "/b", "/b"], "keyword": ["lamp", "oil", "lamp", "wick"],
    ...                       "frequency": [2, 9, 4, 8]})
    >>> ax = keyword_heatmap(frame)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['oil', 'wick', 'lamp']
    """
    top = data.row_count("top", top, 1, 100)
    max_pages = data.row_count("max_pages", max_pages, 1, 40)
    pages, counts = tidy(frame)
    counts = _scored(counts[~counts["keyword"].isin(_shared(frame, counts))])
    counts = counts[counts["keyword"].isin(_best(counts, top))]
    shown = _shown(counts, max_pages)
    counts = counts[counts["url"].isin(shown)]
    chosen = _ordered(counts, shown)
    notes = [_note(pages, shown)]
    ax = style.start(ax, style.row_height(len(chosen), 2.4))
    if not chosen:
        captions.message(ax, why_none(pages))
    else:
        times, scores = (
            counts.pivot(index="keyword", columns="url", values=name)
            .reindex(index=chosen, columns=shown)
            .fillna(0)
            .to_numpy(dtype=float)
            for name in ("frequency", "score")
        )
        captions.cell_labels(ax, chosen, path_labels(pd.Series(shown, dtype=object)))
        numbered = paint_cells(ax, times, scores)
        notes.append(_legend(numbered, single=len(shown) < 2))
    captions.headline(ax, title or _title(chosen, shown), data.joined(*notes))
    return ax


def _shared(frame: pd.DataFrame, counts: pd.DataFrame) -> list[str]:
    """Return the words that many pages say and few name in their titles, whatever the pages are about."""
    frame = data.pages(frame, ["url", "keywords", "title"])
    said = counts["keyword"].value_counts()
    said = said[said >= SUBJECT]
    if "in_title" in frame:
        named = frame.loc[frame["in_title"].fillna(False).astype(bool), "keyword"].value_counts()
    else:
        titles = data.strings(frame.get("title", pd.Series(dtype=object)))
        written = "\n".join(title or "" for title in titles).lower()
        named = pd.Series([found for _, found in _automaton(said.index).iter(written)]).value_counts()
    few = SUBJECT * named.reindex(said.index, fill_value=0) < said
    return said.index[few].tolist() if named.any() else []


def _automaton(terms: pd.Index) -> ahocorasick.Automaton:
    made = ahocorasick.Automaton()
    for term in ("\0", *terms):  # an automaton of no words cannot search
        made.add_word(term, term)
    made.make_automaton()
    return made


def _scored(counts: pd.DataFrame) -> pd.DataFrame:
    if "distinctiveness" in counts:
        given = data.numbers(counts["distinctiveness"])
        if not np.isnan(given).all():
            return counts.assign(score=np.nan_to_num(given))
    here = counts["frequency"].to_numpy(dtype=float)
    if counts["url"].nunique() < 2:
        return counts.assign(score=here)
    size, every = (
        counts.groupby(name)["frequency"].transform("sum").to_numpy(dtype=float)
        for name in ("url", "keyword")
    )
    return counts.assign(score=keyness(here, size, every - here, here.sum() - size))


def _telling(counts: pd.DataFrame) -> pd.Series[float]:
    """Return how much each cell tells: 1 for what is hardly chance, more by the logarithm, less down to 0."""
    telling: pd.Series[float] = 1 + np.log(counts["score"].clip(lower=CRITICAL / np.e) / CRITICAL)
    return telling


def _best(counts: pd.DataFrame, top: int) -> list[str]:
    if counts.empty:
        return []
    sums = _telling(counts).groupby(counts["keyword"], sort=False).sum()
    ranked = sums.sort_values(ascending=False, kind="stable").index.tolist()
    owners = counts.sort_values("score", ascending=False, kind="stable").drop_duplicates("keyword")
    owner = dict(zip(owners["keyword"], owners["url"], strict=True))
    share = max(2, -(-top // counts["url"].nunique()))
    taken: Counter[str] = Counter()
    first: list[str] = []
    others: list[str] = []
    for term in ranked:
        taken[owner[term]] += 1
        (first if taken[owner[term]] <= share else others).append(term)
    return [*first, *others][:top]


def _shown(counts: pd.DataFrame, most: int) -> list[str]:
    sums = _telling(counts).groupby(counts["url"], sort=False).sum()
    chosen = set(sums.sort_values(ascending=False, kind="stable").head(most).index)
    return [url for url in sums.index if url in chosen]


def _ordered(counts: pd.DataFrame, shown: list[str]) -> list[str]:
    best = counts.sort_values("score", ascending=False, kind="stable").drop_duplicates("keyword")
    pages = best["url"].map({url: place for place, url in enumerate(shown)})
    return best.assign(page=pages).sort_values("page", kind="stable")["keyword"].tolist()


def _title(chosen: list[str], shown: list[str]) -> str:
    if not chosen:
        return "Keywords by page"
    return f"{counted(len(chosen), 'keyword')} by page, on {counted(len(shown), 'page')}"


def _note(pages: pd.DataFrame, shown: list[str]) -> str:
    good = len(pages) - int(data.has_failed(pages).sum())
    hidden = f"{len(shown):,} of {good:,} pages" if 0 < len(shown) < good else ""
    return data.joined(hidden, data.failures(pages) if len(pages) > 1 else "")


def _legend(numbered: bool, single: bool) -> str:
    if single:
        return "stronger is more often"
    return "stronger is more distinctive" + (", numbers are frequencies" if numbered else "")


def paint_cells(ax: Axes, times: Cells, scores: Cells | None = None) -> bool:
    """Draw the cells, write the number into each non-empty one if it fits, and return whether it does.

    The colours are those of the scores; without scores, of the numbers themselves.
    """
    colours = LinearSegmentedColormap.from_list("webanalytics", style.HEAT)
    scale: Normalize
    # a logarithm or a square root keeps one high value from washing out all others
    if scores is None:
        shades, scale = times, PowerNorm(0.5, 0, max(float(np.max(times)), 1.0))
    else:
        shades = np.maximum(scores, FAINTEST)
        scale = LogNorm(FAINTEST, max(float(np.max(scores)), CRITICAL))
    painted = ax.imshow(shades, cmap=colours, norm=scale, aspect="auto", interpolation="nearest")
    painted.set_zorder(0)
    rows, columns = times.shape
    ax.set(ylim=(rows - 0.5, -0.5), xlim=(-0.5, max(columns, 4) - 0.5))
    ax.hlines(np.arange(rows + 1) - 0.5, -0.5, columns - 0.5, color=style.CARD, linewidth=1.4)
    ax.vlines(np.arange(columns + 1) - 0.5, -0.5, rows - 0.5, color=style.CARD, linewidth=1.4)
    longest = max(len(_short(value)) for value in np.unique(times).tolist())
    if columns > captions.most_ticks(ax, 3 + 6 * longest):
        return False
    for row, column in zip(*np.nonzero(times), strict=True):
        captions.inner_text(
            ax,
            _short(times[row, column]),
            (column, row),
            (0, 0),
            ha="center",
            fontsize=8.5,
            in_layout=False,  # a number is within its cell
            color=style.text_on(colours(scale(shades[row, column]))),
        )
    return True


def _short(value: float) -> str:
    """Return a count short enough for a cell.

    >>> _short(7.0), _short(12_345.0)
    ('7', '12k')
    """
    return f"{value:g}" if value < 1000 else f"{value / 1000:.0f}k"
