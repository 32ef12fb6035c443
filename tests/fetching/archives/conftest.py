"""What the tests of archives share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["a.warc.gz", "a.warc"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file that is not there yet, compressed and not."""
    return tmp_path / str(request.param)
