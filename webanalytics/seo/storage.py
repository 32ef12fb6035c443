"""Audits in folders: Parquet files of plain columns, and a manifest that says how to read them.

A saved audit is ``audit.json`` and the files that it names, ``pages-<digest>.parquet`` and so on. Lists and
dicts are JSON text in the files; nothing of a folder is run, and a file is read only where its SHA-256 is
that of the manifest. The manifest is written last, under another name first: a folder has the audit before or
the audit after, whatever happens in between.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics._version import __version__
from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.seo.audit import Audit, Origin
from webanalytics.seo.storage_columns import Unreadable, Unstorable, pack, unpack

FORMAT = 1
MANIFEST = "audit.json"
LARGEST_MANIFEST = 20_000_000
"""Bytes of a manifest that is read."""
LARGEST_GROWTH = 1_000
"""How many times larger than its file a table may be; hostile files grow more."""
GROWTH_ALLOWED = 256_000_000
"""Bytes that a table may always take."""
ROWS_AT_ONCE = 1_000

_PART = re.compile(r"(pages|sitemap)-[0-9a-f]{32}\.parquet")


def save(audit: Audit, folder: str | os.PathLike[str]) -> Path:
    """Keep an audit in a folder; see `webanalytics.Audit.save`."""
    path = _folder(folder)
    origin = audit._origin
    frames = {"pages": audit.plain()}
    if origin.sitemap is not None:
        frames["sitemap"] = origin.sitemap
    try:
        tables = {name: pack(frame) for name, frame in frames.items()}
        manifest = {
            "format": FORMAT,
            "package": __version__,
            "profile": _profile_parts(origin),
            "robots": dict(origin.robots),
        }
        json.dumps(manifest, allow_nan=False)
    except Unstorable as error:
        raise ParameterError(
            f"The `audit` parameter must be a frame that can be kept: {error}.", "audit"
        ) from None
    try:
        path.mkdir(parents=True, exist_ok=True)
        _refuse_foreign(path)
        parts = {name: _write_part(path, name, *table) for name, table in tables.items()}
        text = json.dumps(manifest | {"parts": parts}, indent=1)
        with _written_whole(path / MANIFEST) as temporary:
            temporary.write_text(text, "utf-8")
        _drop_others(path, {part["file"] for part in parts.values()})
    except OSError as error:
        raise _wrong(f"that can be written to: {error.strerror}") from None
    return path


def load(folder: str | os.PathLike[str]) -> Audit:
    """Bring back an audit that `webanalytics.Audit.save` kept.

    Parameters
    ----------
    folder : str or path
        The folder.

    Returns
    -------
    Audit
        Equal to the one that was saved: dtypes, index, ``attrs``, lists and dicts. Its issues are found anew,
        by the rules of this version.

    Raises
    ------
    ParameterError
        For a folder that holds no audit, or one that was changed.
    MissingExtraError
        Where pyarrow is not installed.

    Notes
    -----
    A folder may come from a stranger: what is read is checked, and nothing of it is run.

    Examples
    --------
    >>> import tempfile
    >>> import webanalytics as wa
    >>> pages = pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Hello</title>"]})
    >>> audit = wa.audit(pages)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wa.load(audit.save(folder)).equals(audit)
    True
    """
    path = _folder(folder)
    try:
        manifest = _manifest(path)
        frames = {name: _read_part(path, name, part) for name, part in manifest["parts"].items()}
        origin = Origin(frames.get("sitemap"), manifest["robots"], _profile(manifest["profile"]))
    except FileNotFoundError:
        raise _wrong("that holds a saved audit") from None
    except (Unreadable, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise _wrong(
            "that holds a saved audit as this version of webanalytics writes it, unchanged"
        ) from None
    return Audit(frames["pages"], origin)


def _folder(folder: str | os.PathLike[str]) -> Path:
    if not isinstance(folder, (str, os.PathLike)) or not os.fspath(folder):
        raise _wrong("with a valid path")
    text = os.fsdecode(os.fspath(folder))
    if "\0" in text:
        raise _wrong("with a valid path")
    _check_pyarrow()
    return Path(text).expanduser()


def _check_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow", "keeping audits") from None


def _wrong(what: str) -> ParameterError:
    return ParameterError(f"The `folder` parameter must be a folder {what}.", "folder")


def _refuse_foreign(path: Path) -> None:
    """Refuse a folder with files that no audit has, before anything is written to it."""
    names = [item.name for item in path.iterdir() if not item.name.startswith(".")]
    if any(name != MANIFEST and not _PART.fullmatch(name) for name in names):
        raise _wrong("that is empty or holds a saved audit")


def _write_part(path: Path, name: str, table: Any, layout: dict[str, Any]) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer, compression="zstd")
    content = memoryview(buffer.getvalue())
    digest = hashlib.sha256(content).hexdigest()
    file = f"{name}-{digest[:32]}.parquet"
    with _written_whole(path / file) as temporary:
        temporary.write_bytes(content)
    return {"file": file, "sha256": digest, **layout}


@contextmanager
def _written_whole(path: Path) -> Iterator[Path]:
    """Give a file to write that takes its place, flushed to the disk, only when it is written."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".audit-", suffix=".tmp")
    temporary = Path(name)
    try:
        yield temporary
        os.fsync(handle)
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def _drop_others(path: Path, kept: set[str]) -> None:
    """Remove the files of an audit that was in the folder before, and what a broken-off save left."""
    for item in path.iterdir():
        old = _PART.fullmatch(item.name) and item.name not in kept
        if old or (item.name.startswith(".audit-") and item.name.endswith(".tmp")):
            with suppress(OSError):
                item.unlink()


def _content(path: Path, most: int | None = None) -> bytes:
    """Return the bytes of a regular file that is no link."""
    if path.is_symlink():
        raise Unreadable
    if not path.exists():
        raise FileNotFoundError
    if not path.is_file() or (most is not None and path.stat().st_size > most):
        raise Unreadable
    return path.read_bytes()


def _manifest(path: Path) -> dict[str, Any]:
    """Return the manifest, its outermost form checked."""
    manifest = json.loads(_content(path / MANIFEST, LARGEST_MANIFEST))
    robots = manifest["robots"]
    sentences = [text for texts in robots.values() for text in texts]
    good = (
        manifest["format"] == FORMAT
        and {"pages"} <= manifest["parts"].keys() <= {"pages", "sitemap"}
        and all(isinstance(texts, list) for texts in robots.values())
        and all(isinstance(text, str) for text in sentences)
    )
    if not good:
        raise Unreadable
    return dict(manifest)


def _profile_parts(origin: Origin) -> dict[str, Any] | None:
    profile = origin.profile
    if profile is None:
        return None
    changed = {"priorities": dict(profile.priorities), "thresholds": dict(profile.thresholds)}
    return {"name": profile.name, "off": sorted(profile.off), **changed}


def _profile(parts: Mapping[str, Any] | None) -> Any:
    """Return the profile of a manifest, checked as one that a user gives."""
    if parts is None:
        return None
    from webanalytics.seo.profiles import Profile, resolve_profile

    name = parts["name"]
    if not isinstance(name, str) or len(parts) != 4:
        raise Unreadable
    off = frozenset(parts["off"])
    return resolve_profile(Profile(name, off, parts["priorities"], parts["thresholds"]))


def _read_part(path: Path, name: str, layout: Mapping[str, Any]) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    file = layout["file"]
    found = _PART.fullmatch(file)
    if found is None or found[1] != name:
        raise Unreadable
    content = _content(path / file)
    if hashlib.sha256(content).hexdigest() != layout["sha256"]:
        raise Unreadable
    room = LARGEST_GROWTH * len(content) + GROWTH_ALLOWED
    batches = []
    try:
        with parquet.ParquetFile(pa.BufferReader(content)) as table:
            schema = table.schema_arrow.remove_metadata()
            for batch in table.iter_batches(ROWS_AT_ONCE):
                room -= batch.nbytes
                if room < 0:
                    raise Unreadable
                batches.append(batch)
    except pa.ArrowException:
        raise Unreadable from None
    return unpack(
        pa.Table.from_batches([batch.replace_schema_metadata() for batch in batches], schema), layout
    )
