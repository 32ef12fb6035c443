"""Files are written whole or not at all, with the permissions that were asked for."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from webanalytics.files import written_whole


@pytest.mark.parametrize("durable", [True, False])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("old")

    def broken_off() -> None:
        with written_whole(path, durable=durable) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken_off()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize(("mode", "expected"), [(0o644, 0o644), (0o600, 0o600), (None, 0o640)])
def test_permissions_are_those_asked_for(tmp_path: Path, mode: int | None, expected: int) -> None:
    before = os.umask(0o027)
    try:
        with written_whole(tmp_path / "file", mode=mode) as temporary:
            temporary.write_bytes(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == expected


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), written_whole(tmp_path / "none" / "file"):
        pass
