"""Saved audits in folders: tables of typed columns, and a manifest that lists them.

A saved audit is ``audit.json`` and the files that it names, ``pages-<digest>.parquet`` and so on; any reader
of Parquet can read those. The manifest is written last: a folder always holds either the previous audit or
the new one. One that was made in a folder has most of its columns in parts, see
`webanalytics.runs.storage.parts`.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics._version import __version__
from webanalytics.audits.origin import Mute, Origin
from webanalytics.audits.profiles import Profile, resolve_profile, without
from webanalytics.audits.rules import BUILT_IN, RULES
from webanalytics.audits.storage import row_parts as stored_parts
from webanalytics.audits.storage.crawl_parts import PARTS, checked_of, crawl_of, frames_of, values_of
from webanalytics.audits.work.muting import checked as checked_mute
from webanalytics.core.operations.model import Field
from webanalytics.errors import ParameterError, reason
from webanalytics.fetching.robots import RobotsCopy
from webanalytics.runs.frames.arrow import Unreadable, Unstorable, arrow_table, declared, frame_of
from webanalytics.runs.storage.lazy_columns import parts_of
from webanalytics.runs.storage.store import NAMED_DIGITS, DamagedPartError, Store, folder_path, refusal, shown

FORMAT = 6
MANIFEST = "audit.json"

_DECLARED = {"pages": "audit", "sitemap": "sitemap"}
_NAMES = (*_DECLARED, *PARTS)
_PART = re.compile(rf"({'|'.join(_NAMES)})-[0-9a-f]{{{NAMED_DIGITS}}}\.parquet")


def save(frame: pd.DataFrame, origin: Origin, folder: str | os.PathLike[str]) -> Path:
    """Save an audit to a folder; see `webanalytics.Audit.save`."""
    store = _store(folder)
    pages, rows = stored_parts.divided(frame)
    manifest, tables = described(pages, origin, rows)
    json.dumps(manifest, allow_nan=False)  # raises before anything is written
    try:
        store.make()
        is_home = rows is not None and store.is_at(rows.parts.folder)
        if not is_home and store.foreign(parts_alone=True):
            raise refusal("folder", "that is empty or holds a saved audit")
        if rows is not None and not is_home:
            rows.copy_to(store)
        parts = {}
        for name, table in tables.items():
            parts[name] = {"file": store.write_part(name, table)}
        store.write_manifest(manifest | {"parts": parts})
        store.sweep(("audit", *_NAMES), {part["file"] for part in parts.values()})
    except OSError as error:
        raise refusal("folder", f"that can be written to: {reason(error)}") from None
    return store.path


def described(
    pages: pd.DataFrame, origin: Origin, rows: stored_parts.StoredRows | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest of an audit without its files, and its tables by name."""
    crawl = origin.crawl
    frames = {"pages": pages} if origin.sitemap is None else {"pages": pages, "sitemap": origin.sitemap}
    frames |= {} if origin.checked is None else {"checked": origin.checked}
    frames |= {} if crawl is None else frames_of(crawl)
    try:
        tables = {name: arrow_table(part, _fields(name)) for name, part in frames.items()}
    except Unstorable as error:
        raise ParameterError.must_be("audit", f"a frame that can be kept: {error}") from None
    manifest = {
        "format": FORMAT,
        "package": __version__,
        "profile": _profile_parts(origin.profile),
        "robots": dict(origin.robots),
        "robots_files": {name: copy.as_dict() for name, copy in origin.robots_files.items()},
        "date": origin.date,
        "score": origin.score,
        **({"stopped": origin.stopped} if origin.stopped else {}),
        **({"mutes": [vars(mute) for mute in origin.mutes]} if origin.mutes else {}),
        **({} if crawl is None else {"crawl": values_of(crawl)}),
        **({} if rows is None else {"rows": rows.manifest}),
    }
    return manifest, tables


def load(folder: str | os.PathLike[str], parameter: str = "folder") -> tuple[pd.DataFrame, Origin]:
    """Load what was saved in a folder, the value of a parameter; see `webanalytics.load`."""
    store = _store(folder, parameter)
    with reading(store, parameter):
        manifest = _checked(store.read_manifest())
        frames = {name: _read(store, name, part) for name, part in manifest["parts"].items()}
        if "rows" in manifest:
            frames["pages"] = stored_parts.joined(store.path, frames["pages"], manifest["rows"])
        return frames["pages"], origin_of(manifest, frames)


def restored(manifest: Any, tables: Mapping[str, Any]) -> tuple[pd.DataFrame, Origin]:
    """Return the audit that `described` has described; raises what `reading` takes."""
    checked = _checked(manifest | {"parts": tables})
    frames = {name: frame_of(table, _fields(name)) for name, table in tables.items()}
    return frames["pages"], origin_of(checked, frames)


def origin_of(manifest: Mapping[str, Any], frames: Mapping[str, pd.DataFrame]) -> Origin:
    """Return what an audit knows besides its pages, of a checked manifest."""
    profile, (date, score) = _profile(manifest["profile"]), _history(manifest)
    crawl = crawl_of(frames, manifest["crawl"]) if "crawl" in manifest else None
    copies = {name: RobotsCopy.of(values) for name, values in manifest["robots_files"].items()}
    known = (frames.get("sitemap"), manifest["robots"], profile, date, score, crawl, checked_of(frames))
    return Origin(*known, copies, _stopped(manifest), _mutes(manifest))


WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)
"""What reading a file raises whose content is not what was written."""
_OF_FOLDER = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EIO)
"""What says nothing of the content of a file."""


@contextmanager
def reading(store: Store, parameter: str) -> Iterator[None]:
    """Turn what is wrong with saved files into the error about a parameter."""
    try:
        yield
    except DamagedPartError as error:
        raise error.about(parameter) from None
    except (Unreadable, OSError, *WRONG) as error:
        if isinstance(error, OSError) and error.errno in _OF_FOLDER:
            raise refusal(parameter, f"that can be used: {reason(error)}") from None
        named = error.filename if isinstance(error, OSError) else str(error) * isinstance(error, Unreadable)
        name = Path(named).name if isinstance(named, str) else ""
        if isinstance(error, FileNotFoundError) and not store.part.fullmatch(name):
            said = f"that holds a saved audit, unlike `{shown(store.path)}`; a run that has not "
            raise refusal(parameter, f"{said}ended goes on with the same call and `store`") from None
        file = f"`{name}` in " if name else ""
        said = "that holds a saved audit as this version of webanalytics writes it, unchanged, unlike "
        raise refusal(parameter, f"{said}{file}`{shown(store.path)}`") from None


def told(folder: Path) -> dict[str, Any]:
    """Return what the manifest of a saved audit says: its date, its score, and whether it is a crawl."""
    try:
        manifest = _checked(_store(folder).read_manifest())
        date, score = _history(manifest)
    except (Unreadable, OSError, *WRONG):
        return {"note": "This folder holds no saved audit as this version of webanalytics writes it."}
    return {"audited_at": date, "score": score, "crawl": "crawl" in manifest}


def keep_stored(frame: pd.DataFrame, origin: Origin) -> None:
    """Make the folder that the rows of an audit are in a saved audit."""
    parts = parts_of(frame)
    if parts is not None:
        save(frame, origin, parts.folder)


def _store(folder: Any, parameter: str = "folder") -> Store:
    return Store(folder_path(folder, parameter, "keeping audits").expanduser(), MANIFEST, _PART)


def _checked(manifest: Any) -> dict[str, Any]:
    """Return the manifest, with its outer structure checked."""
    robots = manifest["robots"]
    sentences = [text for texts in robots.values() for text in texts]
    of_crawl = PARTS if "crawl" in manifest else ()
    good = (
        manifest["format"] == FORMAT
        and {"pages", *of_crawl} <= manifest["parts"].keys() <= {*_DECLARED, "checked", *of_crawl}
        and all(isinstance(texts, list) for texts in robots.values())
        and all(isinstance(text, str) for text in sentences)
    )
    if not good:
        raise Unreadable
    return dict(manifest)


def _stopped(manifest: Mapping[str, Any]) -> str:
    """Return why the pages are not all that were asked for."""
    said = manifest.get("stopped", "")
    if not isinstance(said, str):
        raise Unreadable
    return said[:1_000]


def _mutes(manifest: Mapping[str, Any]) -> tuple[Mute, ...]:
    """Return what is muted, checked like what a user mutes."""
    found = tuple(checked_mute(Mute(**parts)) for parts in manifest.get("mutes", ()))
    if not all(isinstance(mute.reason, str) and isinstance(mute.rule, (str, type(None))) for mute in found):
        raise Unreadable
    return found


def _history(manifest: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """Return the date and the score that a manifest has, checked."""
    date, score = manifest["date"], manifest["score"]
    if date is not None:
        datetime.fromisoformat(date)  # raises for anything else
        pd.Timestamp(date)  # reads fewer of the ways that the standard has to write one
    if score is not None and not (isinstance(score, (int, float)) and 0 <= score <= 100):
        raise Unreadable
    return date, score


def _profile_parts(profile: Profile | None) -> dict[str, Any] | None:
    if profile is None:
        return None
    named = {*profile.off, *profile.priorities, *profile.thresholds}
    own = {"own": sorted(named - BUILT_IN)} if named - BUILT_IN else {}
    return {**profile.as_dict(), **own}


def _profile(parts: Mapping[str, Any] | None) -> Profile | None:
    """Return the profile of a manifest, checked like one from a user."""
    if parts is None:
        return None
    name = parts["name"]
    own = parts.get("own", [])
    if not isinstance(name, str) or len(parts) != 4 + ("own" in parts) or BUILT_IN.intersection(own):
        raise Unreadable
    profile = Profile(name, frozenset(parts["off"]), parts["priorities"], parts["thresholds"])
    return resolve_profile(without(profile, frozenset(own) - RULES.keys()))


def _read(store: Store, name: str, part: Mapping[str, Any]) -> pd.DataFrame:
    found = _PART.fullmatch(part["file"])
    if found is None or found[1] != name:
        raise Unreadable
    with store.columns(part["file"]) as columns:
        return frame_of(columns, _fields(name))


def _fields(name: str) -> Mapping[str, Field]:
    return declared(_DECLARED[name]) if name in _DECLARED else {}
