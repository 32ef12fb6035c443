"""What a call has made goes when its result does: none of it waits for Python's collector of cycles."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from mmap import mmap
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.crawls import run as crawls
from webanalytics.crawls.traps import Known
from webanalytics.fetching.testing import SampleSite, sample_site
from webanalytics.runs import run as runs
from webanalytics.runs.boundary import Run
from webanalytics.runs.partial import Partial


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with sample_site() as running:
        yield running


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[weakref.ref[Any]]]:
    """Weak references to what calls make, while nobody collects cycles."""
    found: list[weakref.ref[Any]] = []
    for kind in (runs._Call, crawls._Crawl, Known):

        def kept(self: Any, *args: Any, begin: Callable[..., None] = kind.__init__, **kwargs: Any) -> None:
            found.append(weakref.ref(self))
            begin(self, *args, **kwargs)

        monkeypatch.setattr(kind, "__init__", kept)
    gc.collect()
    gc.disable()
    yield found
    gc.enable()


def crawl(site: SampleSite) -> pd.DataFrame:
    return wa.crawl(site.url + "/", max_pages=5, allow_private=True, progress=False).raw


def audit(site: SampleSite) -> pd.DataFrame:
    return wa.audit([site.url + "/"], allow_private=True, progress=False).raw


def plain(_: SampleSite) -> pd.DataFrame:
    return wa.hmac(["one", "two"], secret="key")


def awaited(_: SampleSite) -> pd.DataFrame:
    return asyncio.run(wa.aio.hmac(["one", "two"], secret="key"))


@pytest.mark.filterwarnings("ignore::webanalytics.errors.IncompleteRunWarning")
@pytest.mark.parametrize("call", [plain, awaited, audit, crawl])
def test_what_a_call_has_made_goes_with_its_frame(
    call: Callable[[SampleSite], pd.DataFrame], made: list[weakref.ref[Any]], site: SampleSite
) -> None:
    frame = call(site)
    assert len(frame)
    made.append(weakref.ref(frame))
    del frame
    assert len(made) > 1
    assert [found() for found in made if found() is not None] == []


def test_what_a_refused_call_has_finished_can_be_asked_for_by_who_began_it() -> None:
    partial = Partial(lambda: "rows", lambda: 4)
    with pytest.raises(wa.ParameterError), Run().ending(partial, lambda: 9):
        raise wa.ParameterError("No.", "sitemap")
    assert (partial.rows, partial()) == (4, "rows")


def test_the_table_of_a_crawls_words_goes_back_to_the_system() -> None:
    base: Any = Known()._table.base
    assert isinstance(base.obj, mmap), "what `malloc` has it may keep"
