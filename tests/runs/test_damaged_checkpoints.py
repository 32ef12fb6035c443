"""Checkpoints whose parts are damaged or crafted: a sentence that names the part, never another answer."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.hosted.running import parts, watched
from webanalytics.errors import ParameterError, WriteError
from webanalytics.runs.checkpoints.parts import PART
from webanalytics.runs.checkpoints.robots import RobotsLog
from webanalytics.runs.checkpoints.run_folder import EARLIER, FORMAT

MESSAGES = ["first", "second"]


def call(folder: Path, messages: list[str] = MESSAGES) -> Any:
    return wa.hmac(messages, secret="s", checkpoint=folder, progress=False)


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """The one part of a checkpoint."""
    call(tmp_path)
    (made,) = tmp_path.glob("part-*.parquet")
    return made


def as_an_earlier_version_wrote(part: Path) -> Path:
    """Take the digest out of a checkpoint: the name of its part has none, its manifest is of that format."""
    manifest = part.parent / "run.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": EARLIER}))
    return part.rename(part.parent / "part-000001.parquet")


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


def test_parts_of_an_earlier_version_are_read_and_further_ones_have_digests(
    part: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = part.parent
    old = as_an_earlier_version_wrote(part)
    with watched(monkeypatch) as watch:
        assert (call(folder, [*MESSAGES, "third"])["status"] == "ok").all()
    assert watch.subjects == ["third"]
    assert json.loads((folder / "run.json").read_text())["format"] == FORMAT
    (new,) = (path.name for path in parts(folder) if path != old)
    found = PART.fullmatch(new)
    assert found is not None
    assert found[1] == "000002"
    assert found[2] == hashlib.sha256((folder / new).read_bytes()).hexdigest()[:32]


@pytest.mark.parametrize("parameter", ["checkpoint", "save_to"])
def test_a_full_disk_is_about_the_parameter_that_gave_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameter: str
) -> None:
    def full(_: Any) -> None:
        raise OSError(28, "no")

    monkeypatch.setattr(RobotsLog, "write", full)
    with pytest.raises(WriteError, match=f"`{parameter}` .* written to: No space left") as caught:
        wa.hmac(MESSAGES, secret="s", progress=False, **{parameter: tmp_path})
    assert caught.value.parameter == parameter


RESUMES = """
    import sys
    from contextlib import suppress
    from pathlib import Path
    from webanalytics.frames.arrow import Unreadable
    from webanalytics.frames.store import Store
    from webanalytics.runs.checkpoints.parts import PART, rows_of

    part = Path(sys.argv[1])
    store, content = Store(part.parent, "run.json", PART), part.read_bytes()
    end = len(content) - 8
    refused = 0
    start = end - int.from_bytes(content[end : end + 4], "little")
    for place in range(start, content.index(b"ARROW:schema", start)):
        changed = bytearray(content)
        changed[place] ^= 64  # a bit of the sizes of short lists
        part.write_bytes(changed)
        try:
            list(rows_of(store, part.name))
        except Unreadable:
            refused += 1
    print(refused)
"""


def test_no_size_in_a_footer_ends_the_process(part: Path) -> None:
    """As it did: pyarrow's figures of a row group let an error of C++ through, which nothing can catch."""
    old = as_an_earlier_version_wrote(part)
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RESUMES), str(old)], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr[-500:]
    assert int(made.stdout) > 150
