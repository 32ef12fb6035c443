"""What a crawl knows as tables and plain values, and back: the parts of a saved crawl.

`audits.storage` writes and reads them. A folder may be untrusted, so everything is checked on the way back.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from webanalytics.core.operations.model import Dtype
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.frames.link_table import (
    CHECKED,
    HOSTS,
    KINDS,
    POSITIONS,
    RELS,
    SKIPPED,
    TRAPS,
    CrawlFacts,
    LinkTable,
)
from webanalytics.runs.frames.schema import frame_of, make_series

TABLES: Mapping[str, Mapping[str, Dtype]] = {
    "skipped": SKIPPED,
    "checked": CHECKED,
    "traps": TRAPS,
    "hosts": HOSTS,
}
PARTS = ("links", "addresses", "anchors", "fragments", *TABLES)
"""Names of the tables of a crawl."""

_ENDS = ("source", "target", "anchor")
_CODES = ("rel", "kind", "position")
_REST = ("fragment", "times", "missing")
_NAMES = {"kinds": list(KINDS), "positions": list(POSITIONS), "rels": list(RELS)}


def frames_of(crawl: CrawlFacts) -> dict[str, pd.DataFrame]:
    """Return the tables of a crawl by their names."""
    links = crawl.links
    return {
        "links": pd.DataFrame({name: getattr(links, name) for name in (*_ENDS, *_CODES, *_REST)}),
        "addresses": _texts(links.urls),
        "anchors": _texts(links.anchors),
        "fragments": _texts(links.fragments),
        **{name: getattr(crawl, name) for name in TABLES},
    }


def _texts(texts: Any) -> pd.DataFrame:
    return pd.DataFrame({"text": make_series(list(texts), "string", pd.RangeIndex(len(texts)))})


def values_of(crawl: CrawlFacts) -> dict[str, Any]:
    """Return what a crawl knows besides tables, as JSON can hold it."""
    return {
        "starts": list(crawl.starts),
        "soft_404": sorted(crawl.soft_404),
        "log_ins": sorted(crawl.log_ins),
        "options": {str(name): _plain(value) for name, value in crawl.options.items()},
        "stopped": crawl.stopped,
        "only_endless": crawl.only_endless,
        "left_out": dict(crawl.left_out),
        **_NAMES,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def crawl_of(frames: Mapping[str, pd.DataFrame], values: Mapping[str, Any]) -> CrawlFacts:
    """Return a crawl from its parts.

    Raises
    ------
    Unreadable, KeyError, TypeError
        For parts that `frames_of` and `values_of` do not make.
    """
    _check(values)
    tables = {name: frames[name] for name in TABLES}
    for name, frame in tables.items():
        _check_columns(name, frame)
    return CrawlFacts(
        _links(frames),
        **tables,
        starts=tuple(values["starts"]),
        soft_404=frozenset(values["soft_404"]),
        options=values["options"],
        stopped=values["stopped"],
        only_endless=values["only_endless"],
        left_out=values["left_out"],
        log_ins=frozenset(values["log_ins"]),
    )


def checked_of(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame | None:
    """Return what was asked for its status alone, None if nothing was.

    Raises
    ------
    Unreadable
        For a table with other columns.
    """
    if "checked" in frames:
        _check_columns("checked", frames["checked"])
    return frames.get("checked")


def _check_columns(name: str, frame: pd.DataFrame) -> None:
    wanted = frame_of(TABLES[name]).dtypes
    found = frame.dtypes
    if list(found.items()) != list(wanted.items()):
        raise Unreadable


def _check(values: Mapping[str, Any]) -> None:
    left_out = values["left_out"]
    lists = [values[name] for name in ("starts", "soft_404", "log_ins")]
    texts = [*chain(*lists), *values["options"], values["stopped"], *left_out]
    good = (
        all(isinstance(text, str) for text in texts)
        and all(isinstance(found, list) for found in lists)
        and isinstance(values["options"], dict)
        and all(type(count) is int for count in left_out.values())
        and isinstance(values["only_endless"], bool)
        and all(map(_is_option, values["options"].values()))
        and all(values[name] == names for name, names in _NAMES.items())
    )
    if not good:
        raise Unreadable


def _is_option(value: object) -> bool:
    if isinstance(value, list):
        return all(part is None or isinstance(part, (str, int, float)) for part in value)
    return value is None or isinstance(value, (str, int, float))


def _links(frames: Mapping[str, pd.DataFrame]) -> LinkTable:
    frame = frames["links"]
    urls, anchors, fragments = (_read_texts(frames[name]) for name in ("addresses", "anchors", "fragments"))
    if len(set(urls)) < len(urls):
        raise Unreadable
    limits = {
        **dict.fromkeys(("source", "target"), len(urls)),
        "anchor": len(anchors),
        "rel": 1 << len(RELS),
        "kind": len(KINDS),
        "position": len(POSITIONS),
        "fragment": len(fragments),
        "times": 1 << 31,
        "missing": 2,
    }
    if list(frame.columns) != list(limits):
        raise Unreadable
    columns: dict[str, Any] = {}
    for name, limit in limits.items():
        dtype = np.uint8 if name in _CODES else np.bool_ if name == "missing" else np.int32
        if frame[name].dtype != dtype:
            raise Unreadable
        values = np.ascontiguousarray(frame[name].to_numpy())
        if len(values) and not 0 <= int(values.min()) <= int(values.max()) < limit:
            raise Unreadable
        columns[name] = values
    return LinkTable(urls=urls, anchors=anchors, fragments=fragments, **columns)


def _read_texts(frame: pd.DataFrame) -> list[str]:
    if list(frame.columns) != ["text"]:
        raise Unreadable
    found: list[Any] = frame["text"].tolist()
    if not all(isinstance(text, str) for text in found):
        raise Unreadable
    return found
