"""Parts that vouch for themselves: what was changed is refused where it is read, by the name of the part."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.audits.test_stored import pages, same
from webanalytics.errors import ParameterError
from webanalytics.frames import remote_store
from webanalytics.frames.parts import RowParts
from webanalytics.frames.seals import BLOCK, MARK
from webanalytics.frames.store import DamagedPartError, Folder

MESSAGES = [f"message {number}" for number in range(400)]
NAME = "rows-000001.parquet"


def signed(folder: Folder, messages: list[str] = MESSAGES) -> pd.DataFrame:
    return wa.hmac(messages, secret="s", save_to=folder, progress=False)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The one part of a folder."""
    signed(tmp_path)
    return tmp_path / NAME


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A part with many blocks of messages in front of the other columns."""
    signed(tmp_path, [f"{number} {random.Random(number).randbytes(400).hex()}" for number in range(2_000)])
    return tmp_path / NAME


def seal_at(content: bytes) -> int:
    """Return where the seal of a small part begins."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert content[footer - len(MARK) : footer] == MARK
    count = int.from_bytes(content[footer - len(MARK) - 20 :][:4], "little")
    return footer - len(MARK) - 20 - 16 * count


def read(folder: Folder) -> list[list[Any]]:
    """Return every column of the parts of a folder."""
    parts = RowParts(folder, "hmac")
    places = np.arange(len(parts), dtype=np.int32)
    return [[value for block in parts.blocks(name, places) for value in block] for name in parts.columns]


def with_a_bit_flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_digests_of_all_bytes_stand_in_front_of_the_footer(part: Path) -> None:
    content = part.read_bytes()
    start = seal_at(content)
    blocks = [content[at : min(at + BLOCK, start)] for at in range(0, start, BLOCK)]
    assert len(blocks) > 1
    wanted = b"".join(hashlib.sha256(block).digest()[:16] for block in blocks)
    assert content[start : start + len(wanted)] == wanted
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    end = hashlib.sha256(wanted + content[footer:]).digest()[:16]
    assert content[footer - len(MARK) - 16 : footer - len(MARK)] == end


def test_any_reader_of_parquet_reads_a_sealed_part(part: Path) -> None:
    assert pd.read_parquet(part, columns=["hmac"])["hmac"].tolist() == (
        pl.read_parquet(part)["hmac"].to_list()
    )
    assert len(pd.read_parquet(part)) == len(MESSAGES)


def test_every_bit_of_the_seal_and_the_footer_counts(part: Path) -> None:
    content = part.read_bytes()
    chance = random.Random(11)
    for at in range(seal_at(content), len(content)):
        part.write_bytes(with_a_bit_flipped(content, 8 * at + chance.randrange(8)))
        with pytest.raises(DamagedPartError, match=NAME):
            RowParts(part.parent, "hmac")


def test_bits_of_values_count_where_they_are_read(part: Path) -> None:
    content = part.read_bytes()
    chance = random.Random(7)
    for _ in range(200):
        part.write_bytes(with_a_bit_flipped(content, chance.randrange(8 * seal_at(content))))
        with pytest.raises(DamagedPartError, match=f"unchanged, unlike {NAME} in `{part.parent}`"):
            read(part.parent)


def test_what_is_not_read_is_not_compared(large: Path) -> None:
    content = large.read_bytes()
    large.write_bytes(with_a_bit_flipped(content, 8 * 5 * BLOCK))  # of the messages
    parts = RowParts(large.parent, "hmac")
    assert len(parts.value("hmac", 5)) == 64
    with pytest.raises(DamagedPartError):
        read(large.parent)


def test_a_part_that_is_replaced_after_it_was_opened_is_refused(part: Path) -> None:
    parts = RowParts(part.parent, "hmac")
    signed(part.parent / "other", [f"another {number}" for number in range(400)])
    part.write_bytes((part.parent / "other" / NAME).read_bytes())
    with pytest.raises(DamagedPartError, match=NAME):
        parts.value("hmac", 5)


def test_parts_of_an_earlier_version_are_read(part: Path) -> None:
    wanted = read(part.parent)
    without = parquet.read_table(part)
    kept = {key: value for key, value in without.schema.metadata.items() if key != MARK}
    parquet.write_table(without.replace_schema_metadata(kept), part, compression="zstd")
    assert MARK not in part.read_bytes()
    assert read(part.parent) == wanted
    assert (signed(part.parent, [*MESSAGES, "one more"])["status"] == "ok").all()
    assert MARK in (part.parent / "rows-000002.parquet").read_bytes()


def test_a_seal_that_is_gone_is_missed(part: Path) -> None:
    content = part.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    part.write_bytes(content[: seal_at(content)] + content[footer:])
    assert len(pd.read_parquet(part)) == len(MESSAGES)
    with pytest.raises(DamagedPartError, match=NAME):
        RowParts(part.parent, "hmac")


def test_the_same_call_says_so_and_without_the_part_does_its_rows_again(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    whole = wa.audit(pages(), progress=False, save_to=folder)
    part = folder / NAME
    part.write_bytes(with_a_bit_flipped(part.read_bytes(), 8 * part.stat().st_size - 5_000))
    for call, parameter in (
        (lambda: wa.load(folder), "folder"),
        (lambda: wa.audit(pages(), progress=False, save_to=folder), "save_to"),
        (lambda: wa.compare(whole, folder), "after"),
    ):
        with pytest.raises(ParameterError, match=f"`{parameter}`.* unlike {NAME} .*: take that part away"):
            call()
    part.unlink()
    with pytest.raises(ParameterError, match="goes on with the same call and `save_to`"):
        wa.load(folder)
    wanted = wa.audit(pages(), progress=False)
    same(wa.audit(pages(), progress=False, save_to=folder), wanted)
    same(wa.load(folder), wanted)


def test_values_that_were_changed_are_no_cells_of_an_audit(tmp_path: Path) -> None:
    audit = wa.audit(pages(), progress=False, save_to=tmp_path)
    part = tmp_path / NAME
    group = parquet.read_metadata(part).row_group(0)
    (text,) = (group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == "text")
    part.write_bytes(with_a_bit_flipped(part.read_bytes(), 8 * (text.data_page_offset + 40)))
    for read_it in (
        lambda: audit.raw["text"].tolist(),
        lambda: audit.issues,
        lambda: audit.save(tmp_path / "x"),
    ):
        with pytest.raises(DamagedPartError, match=NAME):
            read_it()


def test_a_disk_that_fails_is_not_damage(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = RowParts(part.parent, "hmac")
    part.unlink()
    with pytest.raises(ParameterError, match="whose parts can be read: No such file") as caught:
        parts.value("hmac", 5)
    assert not isinstance(caught.value, DamagedPartError)


def test_the_error_pickles() -> None:
    error = DamagedPartError(Path("audit"), NAME).about("save_to")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.parameter, again.name) == (str(error), "save_to", NAME)


# -------------------------------------------------------------------- elsewhere


@pytest.fixture
def address() -> Iterator[str]:
    yield "memory://sealed/rows"
    fsspec.filesystem("memory").rm("/sealed", recursive=True)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Bytes of each request for the content of a file elsewhere."""
    made: list[int] = []
    whole = remote_store._Ranges.span

    def span(self: Any, start: int, end: int) -> bytes:
        made.append(end - start)
        return whole(self, start, end)

    monkeypatch.setattr(remote_store._Ranges, "span", span)
    return made


def put(address: str, content: bytes) -> None:
    fsspec.filesystem("memory").pipe_file(f"/sealed/rows/{NAME}", content)


def test_parts_elsewhere_are_vouched_for_too(part: Path, address: str) -> None:
    content = part.read_bytes()
    put(address, content)
    wanted = read(part.parent)
    assert read(address) == wanted
    chance = random.Random(5)
    for _ in range(50):
        put(address, with_a_bit_flipped(content, chance.randrange(8 * len(content))))
        with pytest.raises(DamagedPartError, match=f"{NAME} in `{address}`"):
            read(address)


def test_a_part_elsewhere_is_opened_and_read_with_few_requests(
    large: Path, address: str, requests: list[int]
) -> None:
    """Of the end of the file one more than is needed: pyarrow asks for more of it than there is to know."""
    content = large.read_bytes()
    put(address, content)
    parts = RowParts(address, "hmac")
    assert len(requests) <= 3
    requests.clear()
    assert parts.value("hmac", 7)
    assert len(requests) <= 2
    assert sum(requests) < len(content) / 3


def test_a_store_that_does_not_answer_is_not_damage(
    part: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(address, part.read_bytes())
    parts = RowParts(address, "hmac")

    def broken(*_: Any, **__: Any) -> bytes:
        raise ConnectionError("key=5e4Zx9")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "cat_file", broken)
    with pytest.raises(ParameterError, match="whose parts can be read: ConnectionError") as caught:
        parts.value("hmac", 5)
    assert not isinstance(caught.value, DamagedPartError)
    assert "5e4Zx9" not in str(caught.value)
