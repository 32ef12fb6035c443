"""Checkpoints whose parts are damaged or crafted: a sentence that names the part, never another answer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.errors import ParameterError, WriteError
from webanalytics.runs.storage.journal import RobotsLog

MESSAGES = ["first", "second"]


def call(folder: Path, messages: list[str] = MESSAGES) -> Any:
    return wa.hmac(messages, secret="s", store=folder, progress=False)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The one part of a checkpoint."""
    call(tmp_path)
    (made,) = tmp_path.glob("part-*.parquet")
    return made


def test_a_changed_part_is_refused_by_name_wherever_the_change_is(part: Path) -> None:
    content = part.read_bytes()
    chance = random.Random(7)
    for _ in range(30):
        changed = bytearray(content)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        part.write_bytes(changed)
        with pytest.raises(ParameterError, match=f"{part.name} cannot; without it its rows are done again"):
            call(part.parent)
    part.write_bytes(content)
    assert (call(part.parent)["status"] == "ok").all()


def test_a_part_under_the_digest_of_another_is_refused(part: Path) -> None:
    other = part.parent / "other"
    call(other, ["third"])
    (foreign,) = other.glob("part-*.parquet")
    part.write_bytes(foreign.read_bytes())
    with pytest.raises(ParameterError, match=part.name):
        call(part.parent)


def test_a_full_disk_is_about_the_parameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any) -> None:
        raise OSError(28, "no")

    monkeypatch.setattr(RobotsLog, "write", full)
    with pytest.raises(WriteError, match=r"`store` .* written to: No space left") as caught:
        wa.hmac(MESSAGES, secret="s", progress=False, store=tmp_path)
    assert caught.value.parameter == "store"
