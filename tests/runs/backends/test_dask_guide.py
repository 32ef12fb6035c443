"""The recipe of the guide: processes of a cluster on this machine audit an archive each, as a plain call does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from webanalytics.fetching.testing import SiteServer

pytest.importorskip("distributed")
pytest.importorskip("warcio")

GUIDE = Path(__file__).parents[3] / "docs/guides/dask.md"
SITES = {
    "bakery": {
        "/": b'<title>Bread</title><h1>Bread</h1><p>Fresh in the morning.<a href="/rye">Rye</a>',
        "/rye": b"<title>Rye</title><p>Dark, and baked for long.",
    },
    "lighthouse": {
        "/": b'<title>Light</title><p>The keeper walks up the stairs.<img src="tower.png">',
        "/night": b'<title>Light</title><meta name="robots" content="noindex"><p>The keeper sleeps.',
        "/robots.txt": b"User-agent: *\nDisallow: /private\n",
    },
}


@pytest.mark.slow
@pytest.mark.timeout(2 * PROCESS_SECONDS)
def test_processes_on_archives_give_the_audits_of_plain_calls(tmp_path: Path) -> None:
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    for name, pages in SITES.items():
        with SiteServer(pages) as site:
            paths = ("/", "/rye", "/night", "/private", "/none")
            urls = [f"{site.url.rstrip('/')}{path}" for path in paths]
            archive = crawls / f"{name}.warc.gz"
            wa.audit(urls, archive=archive, allow_private=True, progress=False)
    (recipe,) = (
        block
        for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
        if "client.map" in block
    )
    script = tmp_path / "script.py"
    few = recipe.replace("workers=6", "workers=1").replace("n_workers=4", "n_workers=2")
    script.write_text(few, "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=PROCESS_SECONDS
    )
    assert done.stdout == "10 pages\n", done.stderr
    for name in SITES:
        stored = wa.load(tmp_path / "audits" / name)
        plain = wa.audit(crawls / f"{name}.warc.gz", progress=False)
        assert {"http", "robots"} & set(plain.raw["error_type"])
        for got, wanted in ((stored.raw, plain.raw), (stored.issues, plain.issues)):
            assert got.columns.tolist() == wanted.columns.tolist()
            for column in wanted:
                assert repr(got[column].tolist()) == repr(wanted[column].tolist()), column
        assert stored.score == plain.score
