"""The folder of a history: a file for each run, written last, which names the parts that it is read from.

Parts are named by their SHA-256 and never changed, so what an interrupted call leaves behind harms nobody; it
goes when the history is thinned.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from webanalytics.audits.graph.site_links import count_missing, spelled
from webanalytics.audits.graph.verdicts import GONE
from webanalytics.audits.history.cells import KEY, read, written
from webanalytics.audits.origin import Audited, Origin
from webanalytics.audits.storage.folders import WRONG, described, reading, restored
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError, reason
from webanalytics.files import claim
from webanalytics.runs.frames.arrow import LAYOUT, Unreadable, declared, unpacked
from webanalytics.runs.frames.schema import frame_of
from webanalytics.runs.storage.store import (
    NAMED_DIGITS,
    Store,
    folder_path,
    is_address,
    need_pyarrow,
    refusal,
    shown,
)
from webanalytics.thresholds import PRIORITIES

_RUN = re.compile(r"run-\d{8}T\d{6}Z\.json")
_PART = re.compile(rf"(?:cells|places|table)-[0-9a-f]{{{NAMED_DIGITS}}}\.parquet")
LOCK_SECONDS = 120.0
"""How long a call waits for another one that changes the history."""
_COUNTS: dict[str, Dtype] = dict.fromkeys((*PRIORITIES, "issues"), "integer")
_OF_RUNS: dict[str, Dtype] = {"date": "object", "pages": "integer", "score": "float"}
_SCORES: dict[str, Dtype] = {**_OF_RUNS, **_COUNTS, "good": "boolean"}
_KNOWN = frozenset(("score", "untried", "pages", "issues", "rules", "good", "audit", "tables"))
Run = dict[str, Any]
"""What is known of a run: its date, counts, manifest, and where its tables are."""


@dataclass(frozen=True)
class _Away(Store):
    """A folder at an address of fsspec, where a file is written whole: so do the stores of objects."""

    files: Any = None
    root: str = ""

    def make(self) -> None:
        self.files.makedirs(self.root, exist_ok=True)

    def names(self) -> list[str]:
        found = self.files.ls(self.root, detail=False) if self.files.isdir(self.root) else []
        return [name.rstrip("/").rpartition("/")[2] for name in found]

    def write(self, name: str, content: bytes | memoryview) -> None:
        self.files.pipe_file(f"{self.root}/{name}", bytes(content))

    def remove(self, *names: str) -> None:
        for name in names:
            with suppress(OSError):
                self.files.rm_file(f"{self.root}/{name}")

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        yield io.BytesIO(self.files.cat_file(f"{self.root}/{name}"))


def store_of(folder: Any, parameter: str = "folder") -> Store:
    """Return the store of a history: a folder, or an address of fsspec."""
    if not is_address(folder):
        return Store(folder_path(folder, parameter, "keeping audits").expanduser(), "", _PART)
    need_pyarrow("keeping audits")
    try:
        import fsspec

        files, root = fsspec.core.url_to_fs(folder, use_listings_cache=False)
    except (ImportError, ValueError) as error:  # fsspec itself, or what it needs for such an address
        raise refusal(parameter, f"or an address that fsspec can open: {error}") from None
    return _Away(folder, "", _PART, files, root.rstrip("/"))


def runs_of(store: Store) -> list[Run]:
    """Return the runs, the first one first; none where there is no history yet."""
    there = isinstance(store, _Away) or store.path.is_dir()
    names = sorted(filter(_RUN.fullmatch, store.names())) if there else []
    return [_run(store, name) for name in names]


def _run(store: Store, name: str) -> Run:
    with suppress(Unreadable, IsADirectoryError, *WRONG):
        run: Run = replace(store, manifest=name).read_manifest()
        read_at = datetime.strptime(name, "run-%Y%m%dT%H%M%SZ.json").replace(tzinfo=UTC)
        if run["date"] == read_at.isoformat() and run.keys() >= _KNOWN:
            return run
    raise Unreadable(name)


def dated(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose dates are moments."""
    frame["date"] = pd.to_datetime(frame["date"], utc=True, format="ISO8601")
    return frame


def scores(runs: list[Run]) -> pd.DataFrame:
    """Return a row for each run: date, pages, score, issues as counted then, and if pages were read."""
    rows = []
    for run in runs:
        counts = {name: run["issues"].get(name, 0) for name in PRIORITIES}
        rows.append(run | counts | {"issues": sum(counts.values())})
    return dated(frame_of(_SCORES, rows))


def past(store: Store, run: Run) -> pd.DataFrame:
    """Return the scores of the runs up to one of them."""
    return scores([one for one in runs_of(store) if name_of(one["date"]) <= name_of(run["date"])])


def name_of(date: str) -> str:
    """Return the name of the file of a run."""
    return f"run-{re.sub('[-:]', '', moment(date)[:19])}Z.json"


def moment(date: str | None) -> str:
    """Return a date as runs have it: in UTC, to the second; now where there is none."""
    try:
        found = datetime.fromisoformat(date) if date else datetime.now(UTC)
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (OverflowError, TypeError, ValueError):
        raise ParameterError.must_be("audit", "an audit whose date is one in ISO 8601") from None
    return found.isoformat(timespec="seconds")


@contextmanager
def alone(store: Store, parameter: str = "folder") -> Iterator[None]:
    """Keep other processes of this machine from changing a history as long as this lasts."""
    if isinstance(store, _Away):
        yield
        return
    with store.appended(".lock") as lock:
        if not claim(lock, LOCK_SECONDS):
            raise refusal(parameter, "that no other call is changing")
        yield


def append(audit: Audited, folder: Any, parameter: str = "history") -> Run:
    """Add an audit to a history, and return the run; one of the same moment is replaced."""
    store = store_of(folder, parameter)
    if not len(audit.raw):
        raise ParameterError.must_be("audit", "an audit that has pages")
    date = moment(audit.origin.date)
    manifest, tables = described(audit.raw, replace(audit.origin, date=date, score=audit.score))
    issues, judged = audit.issues, audit.judged()
    status = audit.raw["http_status"] if "http_status" in audit.raw else pd.Series([pd.NA] * len(audit.raw))
    unread = audit.raw["status"].eq("error").to_numpy() & ~status.isin(GONE).to_numpy()
    run: Run = {
        **{"date": date, "score": audit.score, "untried": sorted(judged.untried)},
        "pages": len(audit.raw) - count_missing(audit.raw),
        "issues": {str(name): int(count) for name, count in issues["priority"].value_counts().items()},
        "rules": {str(name): int(count) for name, count in issues["rule"].value_counts().items() if count},
        **{"good": int(unread.sum()) * 2 <= len(unread) > 0, "audit": manifest, "tables": {}},
    }
    json.dumps(run, allow_nan=False)  # raises before anything is written
    try:
        store.make()
        ours = (_PART.fullmatch, _RUN.fullmatch, re.compile(r"\..*", re.S).fullmatch)
        for name in store.names():
            if not any(fits(name) for fits in ours):
                raise refusal(parameter, f"that is empty or holds a history, and no `{shown(name)}`")
        with alone(store, parameter):
            with reading(store, parameter):
                others = [other["tables"]["pages"] for other in runs_of(store) if other["date"] != date]
                before = (others[-1], read(store, others[-1], None, {})) if others else None
            for name, table in tables.items():
                run["tables"][name] = (
                    written(store, table, before)
                    if name == "pages"
                    else {"parts": [store.write_part("table", table)]}
                )
            replace(store, manifest=name_of(date)).write_manifest(run)
    except OSError as error:
        raise refusal(parameter, f"that can be written to: {reason(error)}") from None
    return run


def audit_of(store: Store, run: Run) -> tuple[pd.DataFrame, Origin]:
    """Return pages and origin of a run."""
    tables = {
        name: read(store, entry, None, {}) if "places" in entry else store.table(entry["parts"][0])
        for name, entry in run["tables"].items()
    }
    return restored(run["audit"], tables)


def cells_of(
    store: Store, run: Run, url: str, columns: Collection[str], known: dict[str, Any]
) -> Mapping[str, Any]:
    """Return columns of one page in a run, by its address in any form; nothing where it was not there."""
    table = read(store, run["tables"]["pages"], {*columns, KEY}, known)
    kinds, known_fields = dict(json.loads(table.schema.metadata[LAYOUT])["columns"]), declared("audit")
    urls = table[KEY].to_pylist()
    [same] = spelled([url], urls)
    row = urls.index(same) if same in urls else None

    def cell(name: str) -> Any:
        index = pd.RangeIndex(1)
        return unpacked(table[name].slice(row, 1), kinds[name], known_fields.get(name), index).iloc[0]

    return {} if row is None else {name: cell(name) for name in table.column_names}


def keep_only(store: Store, kept: list[Run]) -> None:
    """Remove the other runs, and the parts that only they need."""
    names = {name_of(run["date"]) for run in kept}
    store.remove(*(name for name in store.names() if _RUN.fullmatch(name) and name not in names))
    entries = [entry for run in kept for entry in run["tables"].values()]
    needed = {name for entry in entries for name in (*entry["parts"], entry.get("places", ""))}
    store.sweep(("run", "cells", "places", "table"), needed)
