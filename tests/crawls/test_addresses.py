"""Crawls whose rows are at an address: as those in a folder, without a log of answers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_stored import cells
from tests.backends.test_dask_folders import listed
from tests.backends.test_dask_steering import Threads, backend
from tests.crawls.test_crawl import SITE, crawled
from tests.crawls.test_stored import KILLED, PAGES, asked, make_small, same
from tests.effort import BUSY_SECONDS
from webanalytics.errors import IncompleteRunWarning, ParameterError, WriteError
from webanalytics.frames.stored import StoredDtype
from webanalytics.runs import claims
from webanalytics.testing import SiteServer

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small parts, and no patience with claims of runs that were killed."""
    make_small(monkeypatch)
    monkeypatch.setattr(claims, "DEAD_SECONDS", 0.3)


@pytest.fixture(params=["memory", "file"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    yield "memory://crawls/crawl" if request.param == "memory" else (tmp_path / "crawl").as_uri()
    if request.param == "memory":
        fsspec.filesystem("memory").rm("/crawls", recursive=True)


def test_everything_is_that_of_a_crawl_in_memory(address: str, tmp_path: Path) -> None:
    with SiteServer(SITE) as site:
        whole = crawled(site)
        kept = crawled(site, save_to=address)
    same(whole, kept)
    assert isinstance(kept.raw["text"].dtype, StoredDtype)
    same(whole, wa.load(address))
    names = listed(address)
    assert sum(name.startswith("rows-") for name in names) == 2
    assert not [name for name in names if name.startswith(("part-", claims.FILE))]
    same(whole, wa.load(kept.save(tmp_path / "here")))


def test_the_same_address_goes_on_and_for_more_pages(address: str) -> None:
    with SiteServer(PAGES) as site:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IncompleteRunWarning)
            crawled(site, max_pages=20, save_to=address)
        before = len(site.requests)
        more = crawled(site, save_to=address)
        missing = len(more) - 20
        assert len(set(asked(site, before))) <= missing + 1, "what a redirect leads to is asked with it"
        before = len(site.requests)
        again = crawled(site, save_to=address)
        assert not asked(site, before)
        whole = crawled(site)
    same(whole, more)
    same(whole, again)


def test_killed_the_same_call_goes_on_with_what_is_in_parts(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SiteServer(PAGES, delay=0.05) as site:
        whole = crawled(site)
        command = [sys.executable, "-W", "ignore", "-c", KILLED, site.url, folder.as_uri()]
        process = subprocess.Popen(command)
        until = time.monotonic() + 4 * BUSY_SECONDS
        while time.monotonic() < until and len(list(folder.glob("rows-*"))) < 3:
            time.sleep(0.02)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        finished = set(pd.concat([pd.read_parquet(path) for path in folder.glob("rows-*")])["input_digest"])
        known = set(pd.concat([pd.read_parquet(path) for path in folder.glob("found-*")])["key"])
        before = len(site.requests)
        audit = crawled(site, save_to=folder.as_uri())
        again = asked(site, before)
    same(whole, audit)
    assert len(finished) >= 16
    assert len(set(again)) <= len(whole) - len(finished & known) + 1


def test_a_cluster_steered_from_here_does_the_pages(address: str) -> None:
    with SiteServer(SITE) as site:
        whole = crawled(site)
        threads = Threads()
        kept = crawled(site, save_to=address, backend=backend(threads, chunk=3))
    assert threads.chunks
    assert kept.raw["url"].tolist() == whole.raw["url"].tolist()
    assert cells(kept.raw["text"]) == cells(whole.raw["text"])
    pd.testing.assert_frame_equal(kept.links, whole.links)


def test_a_crawl_that_is_taken_over_ends(address: str) -> None:
    files, root = fsspec.core.url_to_fs(address)
    with SiteServer(PAGES, delay=0.05) as site:

        def take_over(self: claims.Claim) -> None:
            files.pipe_file(f"{root}/{claims.FILE}", b"of another run 1\n")
            renew(self)

        with pytest.MonkeyPatch.context() as patch:
            renew = claims.Claim.renew
            patch.setattr(claims, "RENEW_SECONDS", 0.2)
            patch.setattr(claims.Claim, "renew", take_over)
            with pytest.raises(WriteError, match="another one has taken over"):
                crawled(site, save_to=address)
        same(crawled(site), crawled(site, save_to=address))


def test_a_damaged_part_of_links_is_a_sentence(address: str) -> None:
    files, root = fsspec.core.url_to_fs(address)
    with SiteServer(SITE) as site:
        crawled(site, save_to=address)
        name = min(name for name in listed(address) if name.startswith("found-"))
        content = bytearray(files.cat_file(f"{root}/{name}"))
        content[200] ^= 1
        files.pipe_file(f"{root}/{name}", bytes(content))
        with pytest.raises(ParameterError, match=r"`save_to`.*unchanged, unlike found-"):
            crawled(site, save_to=address)
