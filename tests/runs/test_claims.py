"""Two runs at one address: one of them has it, and the other says so; no row is lost or there twice."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

import webanalytics as wa
from tests.audits.test_stored import pages, same
from tests.backends.test_dask_folders import audited, keys, listed
from tests.backends.test_dask_steering import Threads
from tests.effort import BUSY_SECONDS
from webanalytics.backends.dask.work import Answered, Chunk
from webanalytics.errors import ParameterError, WriteError
from webanalytics.frames.remote_store import store_at
from webanalytics.frames.store import Folder, Store
from webanalytics.runs import claims, remote
from webanalytics.runs.claims import FILE, Claim

ADDRESS = "memory://claims/audit"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.05)
    monkeypatch.setattr(claims, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(claims, "DEAD_SECONDS", 0.3)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place: Folder = tmp_path if request.param == "file" else ADDRESS
    made = store_at(place, "", re.compile("x"))
    made.make()
    yield made
    if request.param == "memory":
        fsspec.filesystem("memory").rm("/claims", recursive=True)


@pytest.fixture
def address() -> Iterator[str]:
    yield ADDRESS
    fsspec.filesystem("memory").rm("/claims", recursive=True)


def lines(store: Store) -> list[bytes]:
    return list(store.lines(FILE, 1_000, 1_000))


def test_a_claim_that_is_renewed_is_refused_to_others(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Claim(store)
    first.take()
    monkeypatch.setattr(claims, "DEAD_SECONDS", BUSY_SECONDS)
    with pytest.raises(ParameterError, match="must be a folder that no other run is using"):
        Claim(store).take()
    first.check(anew=True)
    first.release()
    assert lines(store) == []
    Claim(store).take()


def test_a_claim_of_a_run_that_was_killed_is_taken_over(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    store.write(FILE, b"of a run that was killed 7\n")
    later = Claim(store)
    later.take()
    later.check(anew=True)
    assert "another run has claimed" in caplog.text
    later.release()


def test_a_run_that_ends_while_it_is_waited_for_gives_way(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "DEAD_SECONDS", BUSY_SECONDS)
    store.write(FILE, b"of a run that ends 7\n")
    monkeypatch.setattr(claims.time, "sleep", lambda _: store.remove(FILE))
    made = Claim(store)
    made.take()
    made.release()


def test_who_is_taken_over_says_so_and_leaves_the_other_its_claim(store: Store) -> None:
    first = Claim(store)
    first.take()
    first.release()  # it renews nothing any more, as if it was suspended
    store.write(FILE, b"of another run 1\n")
    first.check(anew=False)
    for _ in range(2):
        with pytest.raises(WriteError, match="another one has taken over"):
            first.check(anew=True)
    first.renew()
    first.release()
    assert lines(store) == [b"of another run 1\n"]
    with pytest.raises(WriteError):
        first.check(anew=False)


def test_of_two_that_begin_at_once_one_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Claim):
        def _write(self) -> None:
            super()._write()
            store.write(FILE, b"of another run 1\n")  # which had found no claim either

    with pytest.raises(ParameterError, match="that no other run is using"):
        Slow(store).take()
    assert lines(store) == [b"of another run 1\n"]


def test_a_claim_that_is_forgotten_is_not_renewed_for_ever(store: Store) -> None:
    first = Claim(store)
    first.take()
    renewing = first._renewing
    del first
    gc.collect()
    renewing.join(BUSY_SECONDS)
    assert not renewing.is_alive()


# -------------------------------------------------------------------- runs


def test_a_run_beside_another_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Claim(store_at(address, "", re.compile("x")))
    first.take()
    monkeypatch.setattr(claims, "DEAD_SECONDS", BUSY_SECONDS)
    threads = Threads()
    with pytest.raises(ParameterError, match="that no other run is using") as caught:
        audited(address, threads)
    assert caught.value.parameter == "save_to"
    assert threads.chunks == []
    first.check(anew=True)
    first.release()
    audited(address)
    assert FILE not in listed(address)


def test_a_run_that_is_taken_over_ends_and_removes_nothing(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "JOIN_ROWS", 8)
    there: list[set[str]] = []

    class Overtaken(Threads):
        async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
            answered = await super().answer(chunk, topic)
            if len(self.chunks) == 3:
                fsspec.filesystem("memory").pipe_file(f"/claims/audit/{FILE}", b"of another run 1\n")
                there.append({name for name in listed(address) if name.startswith("rows-")})
            return answered

    with pytest.raises(WriteError, match="another one has taken over"):
        audited(address, Overtaken(2))
    assert there[0] <= set(listed(address))
    assert FILE in listed(address)
    same(audited(address), wa.audit(pages(), progress=False))
    assert set(Counter(keys(address)).values()) == {1}
