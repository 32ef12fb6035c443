"""The folder of parts under saved audits and checkpoints, and what hostile folders do."""

from __future__ import annotations

import io
import os
import re
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webanalytics.errors import MissingExtraError, ParameterError
from webanalytics.runs.frames.arrow import Unreadable
from webanalytics.runs.storage import store as module
from webanalytics.runs.storage.store import Store, folder_path, opened_parquet

TABLE = pa.table({"key": ["a", "b"], "size": [1, 2]})


def named(number: int, content: bytes) -> str:
    return f"part-{number}-{sha256(content).hexdigest()[:32]}.parquet"


def _name() -> str:
    content = pa.BufferOutputStream()
    parquet.write_table(TABLE, content, compression="zstd", write_page_checksum=True)
    return named(1, content.getvalue())


PART = _name()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path, "manifest.json", re.compile(r"part-\d-[0-9a-f]{32}\.parquet"))
    made.write_manifest({"format": 1})
    assert made.write_part("part-1", TABLE) == PART
    return made


def rows(store: Store, name: str = "") -> list[dict[str, Any]]:
    return [row for batch in store.batches(name or PART, 10, TABLE.schema) for row in batch.to_pylist()]


def test_what_is_written_is_read(store: Store) -> None:
    assert store.read_manifest() == {"format": 1}
    assert store.parts() == [PART]
    assert rows(store) == TABLE.to_pylist()
    assert store.table(PART).equals(TABLE)


def test_only_parts_are_read_and_removed(store: Store) -> None:
    (store.path / "mine.parquet").write_bytes((store.path / PART).read_bytes())
    for name in ("mine.parquet", f"../{PART}", "manifest.json", 5):
        with pytest.raises(Unreadable):
            rows(store, name)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        rows(store, PART.replace("part-1", "part-2"))
    (store.path / ".part-9-x.tmp").write_bytes(b"half")
    (store.path / ".mine-x.tmp").write_bytes(b"mine")
    store.sweep(("part",), set())
    assert sorted(item.name for item in store.path.iterdir()) == [
        ".mine-x.tmp",
        "manifest.json",
        "mine.parquet",
    ]


def test_files_of_others_are_seen(store: Store) -> None:
    assert not store.foreign(parts_alone=False)
    (store.path / "manifest.json").unlink()
    assert store.foreign(parts_alone=False)
    assert not store.foreign(parts_alone=True), "a first save was broken off"
    (store.path / "thesis.txt").write_text("years of work")
    assert store.foreign(parts_alone=True)


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")
@pytest.mark.parametrize("name", ["manifest.json", PART])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_regular_files_are_read(store: Store, tmp_path: Path, name: str, kind: str) -> None:
    path, copy = store.path / name, tmp_path / "copy"
    path.rename(copy)
    if kind == "link":
        path.symlink_to(copy)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises((Unreadable, IsADirectoryError)):
        store.read_manifest() if name == "manifest.json" else rows(store)


def test_nothing_is_written_through_a_link(store: Store, tmp_path: Path) -> None:
    for name in ("manifest.json", PART):
        outside = tmp_path / f"outside-{name}"
        outside.write_text("mine")
        (store.path / name).unlink()
        (store.path / name).symlink_to(outside)
    store.write_manifest({"format": 2})
    store.write_part("part-1", TABLE)
    assert store.read_manifest() == {"format": 2}
    assert rows(store) == TABLE.to_pylist()
    assert (tmp_path / f"outside-{PART}").read_text() == "mine"


def test_sizes_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_MANIFEST", 5)
    monkeypatch.setattr(module, "MOST_ROWS", 1)
    with pytest.raises(Unreadable):
        store.read_manifest()
    with pytest.raises(Unreadable):
        rows(store)


def test_another_schema_or_digest_is_refused(store: Store) -> None:
    with pytest.raises(Unreadable):
        list(store.batches(PART, 10, pa.schema([("key", pa.int64())])))
    with pytest.raises(Unreadable):
        store.table((store.path / PART).rename(store.path / f"part-2-{'0' * 32}.parquet").name)


@given(junk=st.binary(max_size=300))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_for_a_part_is_refused(store: Store, junk: bytes) -> None:
    for name in (PART, named(5, junk)):  # also where its name vouches for it
        (store.path / name).write_bytes(junk)
        with pytest.raises(Unreadable):
            rows(store, name)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_part_is_refused(store: Store, data: st.DataObject) -> None:
    content = (store.path / PART).read_bytes()
    damaged = bytearray(content)
    if data.draw(st.booleans()):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del damaged[data.draw(st.integers(0, len(damaged) - 1)) :]
    try:
        (store.path / PART).write_bytes(damaged)
        with pytest.raises(Unreadable):
            rows(store)
    finally:
        (store.path / PART).write_bytes(content)


def test_a_page_that_is_damaged_while_the_part_is_open_is_noticed(store: Store) -> None:
    table = pa.table({"key": [f"a text of its own {number}" for number in range(500)]})
    content = bytearray((store.path / store.write_part("part-3", table)).read_bytes())
    content[200] ^= 1
    with pytest.raises(OSError, match="CRC"), opened_parquet(io.BytesIO(content)) as opened:  # type: ignore[arg-type]
        opened.read()


def test_a_write_that_is_broken_off_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = {item.name: item.read_bytes() for item in store.path.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", torn)
        for write in (lambda: store.write_manifest({}), lambda: store.write_part("part-2", TABLE)):
            with pytest.raises(OSError, match="No space"):
                write()
    assert {item.name: item.read_bytes() for item in store.path.iterdir()} == before


@pytest.mark.parametrize("name", ["", "a\0b", 5, None])
def test_what_is_no_path_is_refused(name: Any) -> None:
    with pytest.raises(ParameterError, match="with a valid path") as caught:
        folder_path(name, "folder", "keeping audits")
    assert caught.value.parameter == "folder"


def test_pyarrow_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[parquet\]"'):
        folder_path("x", "folder", "keeping audits")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such modes there")
def test_files_have_the_mode_that_the_user_wants(store: Store) -> None:
    before = os.umask(0o077)
    try:
        name = store.write_part("part-3", TABLE)
    finally:
        os.umask(before)
    assert (store.path / name).stat().st_mode & 0o777 == 0o600
