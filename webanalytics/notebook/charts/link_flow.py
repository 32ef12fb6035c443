"""A picture of who links to whom between the sections of a site."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from webanalytics.core.strings import counted
from webanalytics.notebook.charts.heatmap import paint_cells
from webanalytics.notebook.charts.issues import left_out, section_of
from webanalytics.notebook.drawing import captions, data, style
from webanalytics.thresholds import TOP_LEVEL

SLANTED = 15
"""Most names of columns that are written aslant; more stand upright."""


@style.chart
def link_flow(
    frame: pd.DataFrame, *, ax: Axes | None = None, max_sections: int = 20, title: str | None = None
) -> Axes:
    """Draw how many links lead from each section of a site to each other one.

    Rows are the sections with links, columns the sections that they lead to, in the same order; what stays
    within a section is on the diagonal. A section is the first folder of a URL's path. Several links from one
    page to another count once. Cells show their number, unless there are so many that it does not fit.

    Parameters
    ----------
    frame : DataFrame
        What `webanalytics.crawl` returned, or its ``links``: ``source`` and ``target``; of rows with ``kind``
        and ``internal``, only anchors to the own site count.
    max_sections : int
        The most sections: those with the most links.

    Raises
    ------
    ParameterError
        When `max_sections` is not from 1 to 40, or when the frame lacks the columns.

    Examples
    --------
    >>> links = pd.DataFrame({"source": ["https://a.example/docs/a", "https://a.example/docs/b"],
    ...                       "target": ["https://a.example/blog/x", "https://a.example/docs/a"]})
    >>> link_flow(links).images[0].get_array().tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    max_sections = data.row_count("max_sections", max_sections, 1, 40)
    given = frame.links if data.is_audit(frame) else frame
    links = data.pick(given, ["source", "target"], ("crawl(url).links",), optional=["kind", "internal"])
    usable = ~data.has_failed(links) & _counted(links)
    names, flow = _flow(links[usable])
    order = np.argsort(-(flow.sum(axis=0) + flow.sum(axis=1)), kind="stable")[:max_sections]
    shown = [names[place] for place in order]
    upright = len(shown) > SLANTED
    ax = style.start(ax, style.row_height(len(shown), 3.4 if upright else 2.6))
    notes = ["rows link, columns are linked to", left_out(len(shown), len(names), "section")]
    if not len(names):
        one, several = "This row is no link.", "None of these rows is a link."
        captions.message(ax, data.why_empty(links, "No links.", one, several))
        notes = []
    else:
        cells = flow[np.ix_(order, order)].astype(float)
        captions.cell_labels(ax, shown, shown)
        if upright:
            for label in ax.get_xticklabels():
                label.set(rotation=90, va="center")
        if not paint_cells(ax, cells):
            notes.append(f"stronger is more links, up to {int(cells.max()):,}")
    notes.append(data.failures(links) if len(links) > 1 else "")
    heading = f"Links between {counted(len(names), 'section')}" if len(names) else "Links between sections"
    captions.headline(ax, title or heading, data.joined(*notes))
    return ax


def _counted(links: pd.DataFrame) -> NDArray[np.bool_]:
    kept = np.ones(len(links), dtype=bool)
    if "kind" in links.columns:
        kinds = links["kind"]
        is_coded = isinstance(kinds.dtype, pd.CategoricalDtype)
        kept &= ((kinds if is_coded else kinds.astype(object)) == "link").to_numpy(dtype=bool)
    if "internal" in links.columns:
        internal = links["internal"]
        flags = internal if internal.dtype == bool else [value is True for value in internal.tolist()]
        kept &= np.array(flags, dtype=bool)
    return kept


def _flow(links: pd.DataFrame) -> tuple[list[str], NDArray[np.int64]]:
    ends = []
    for name in ("source", "target"):
        codes, urls = _coded(links[name])
        ends.append((codes, _sections(urls)))
    used = (np.unique(codes[codes >= 0]) for codes, _ in ends)
    kept = [[sections[code] for code in codes] for codes, (_, sections) in zip(used, ends, strict=True)]
    names = list(dict.fromkeys(section for sections in kept for section in sections))
    places = {name: place for place, name in enumerate(names)}
    (sources, from_names), (targets, to_names) = ends
    pairs = pd.DataFrame({"source": sources, "target": targets}).drop_duplicates()
    pairs = pairs[(pairs["source"] >= 0) & (pairs["target"] >= 0)]
    if not len(pairs):
        return [], np.zeros((0, 0), np.int64)
    rows = np.array([places.get(name, -1) for name in from_names])[pairs["source"]]
    columns = np.array([places.get(name, -1) for name in to_names])[pairs["target"]]
    flow = np.bincount(rows * len(names) + columns, minlength=len(names) ** 2)
    return names, flow.reshape(len(names), len(names))


def _coded(column: pd.Series[Any]) -> tuple[Any, Any]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(np.int64), column.cat.categories
    return pd.factorize(column.astype(object).map(_text))


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _sections(urls: Iterable[Any]) -> list[str]:
    cells = pd.Series(list(urls), dtype=object)
    return [section_of(url) or TOP_LEVEL for url in data.strings(cells)]
