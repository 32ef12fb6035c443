"""`save_to=` an address: rows are written where they are made, joined there, and nothing is there twice."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pandas as pd
import pyarrow.parquet as parquet
import pytest

import webanalytics as wa
from tests.audits.test_stored import pages, plainly, same
from tests.backends.origin import Origin
from tests.backends.test_dask_steering import OPTIONS, Threads, backend
from webanalytics.backends.dask.work import Answered, Chunk
from webanalytics.errors import ParameterError, WriteError
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.parts import KEY
from webanalytics.frames.remote_store import RemoteStore
from webanalytics.frames.stored import StoredDtype
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs import remote, saving
from webanalytics.runs.saving import check_save_to

pytestmark = pytest.mark.timeout(
    600
)  # each chunk starts a process for analysis, which a busy machine does slowly


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 8 rows, so that a few pages make several."""
    monkeypatch.setattr(saving, "FRAME_ROWS", 4)
    monkeypatch.setattr(saving, "PART_ROWS", 8)
    monkeypatch.setattr(remote, "JOIN_ROWS", 8)


@pytest.fixture
def address() -> Iterator[str]:
    files = fsspec.filesystem("memory")
    files.makedirs("/bucket")
    yield "memory://bucket/audits/audit"
    files.rm("/bucket", recursive=True)


@pytest.fixture(params=["memory", "file"])
def anywhere(request: pytest.FixtureRequest, address: str, tmp_path: Path) -> str:
    return (tmp_path / "audit").as_uri() if request.param == "file" else address


def listed(address: str) -> list[str]:
    files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
    return sorted(str(path).rpartition("/")[2] for path in files.ls(root, detail=False))


def keys(address: str) -> list[str]:
    """Return the digest of every row in every part."""
    files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
    found: list[str] = []
    for name in listed(address):
        if name.startswith("rows-"):
            with files.open(f"{root}/{name}") as file:
                found += parquet.read_table(file, columns=[KEY]).column(KEY).to_pylist()
    return found


def audited(address: str, threads: Threads | None = None, count: int = 30, **options: Any) -> wa.Audit:
    return wa.audit(
        pages(count),
        backend=backend(threads or Threads(), chunk=5),
        save_to=address,
        progress=False,
        **options,
    )


def test_the_audit_is_that_of_a_folder_on_this_machine(anywhere: str, tmp_path: Path) -> None:
    threads = Threads()
    made, wanted = audited(anywhere, threads), wa.audit(pages(), save_to=tmp_path / "local", progress=False)
    same(made, wanted)
    assert isinstance(made["text"].dtype, StoredDtype)
    pd.testing.assert_frame_equal(plainly(made.issues), plainly(wanted.issues))
    pd.testing.assert_frame_equal(made.summary(), wanted.summary())
    assert made.score == wanted.score
    loaded = wa.load(anywhere)
    same(loaded, wanted)
    pd.testing.assert_frame_equal(plainly(loaded.issues), plainly(wanted.issues))
    same(pickle.loads(pickle.dumps(loaded)), wanted)
    assert wa.compare(tmp_path / "local", anywhere).summary()["remaining"].sum() >= 0


def test_small_parts_are_joined_and_every_row_is_there_once(address: str) -> None:
    audited(address)
    names = listed(address)
    parts = [name for name in names if name.startswith("rows-")]
    assert {"audit.json", "run.json"} <= set(names)
    assert len(keys(address)) == len(set(keys(address))) == 30
    assert len(parts) <= 4
    assert not [name for name in names if name.startswith("part-")]


def test_no_text_comes_back_from_a_worker(address: str) -> None:
    sent: list[bytes] = []

    class Counting(Threads):
        async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
            answered = await super().answer(chunk, topic)
            sent.append(pickle.dumps(answered))
            return answered

    def weight(words: int) -> int:
        frame = pd.DataFrame(
            {
                "url": [f"https://a.example/{number}" for number in range(30)],
                "html": [f"<title>Page</title><p>{'lamps and tea ' * words}</p>"] * 30,
            }
        )
        sent.clear()
        wa.audit(frame, backend=backend(Counting(), chunk=5), save_to=f"{address}-{words}", progress=False)
        assert not any(b"lamps" in answer for answer in sent)
        return sum(map(len, sent))

    assert weight(1_000) == pytest.approx(weight(10), rel=0.02)


def test_a_chunk_that_is_lost_after_it_was_written_leaves_no_row_twice(address: str) -> None:
    done: list[str] = []

    class Losing(Threads):
        async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
            answered = await super().answer(chunk, topic)
            if chunk.jobs:
                done.append(chunk.name)
            return None if chunk.jobs and len(done) in (2, 5) else answered

    with Origin() as origin:
        urls = origin.urls(3, 10)
        made = wa.audit(urls, backend=backend(Losing(), chunk=5), save_to=address, **OPTIONS)
        wanted = wa.audit(urls, **OPTIONS)
    assert len(done) > 8
    same(made.drop(columns=["elapsed"]), wanted.drop(columns=["elapsed"]))
    assert set(Counter(keys(address)).values()) == {1}
    assert len(keys(address)) == 30


def test_a_join_that_is_lost_costs_nothing(address: str) -> None:
    threads = Threads(lose=lambda chunk: not chunk.jobs)
    made = audited(address, threads)
    same(made, wa.audit(pages(), progress=False))
    assert any(not chunk.jobs for chunk in threads.chunks)
    assert set(Counter(keys(address)).values()) == {1}


def test_a_page_that_ends_three_workers_is_a_row_too(address: str) -> None:
    bad = "https://a.example/7"
    threads = Threads(lose=lambda chunk: any(job.subject.url == bad for job in chunk.jobs))
    made = wa.audit(pages().dropna(), backend=backend(threads, chunk=5), save_to=address, progress=False)
    assert made.loc[made["url"] == bad, "error_type"].tolist() == ["parse"]
    assert made["status"].eq("ok").sum() == len(made) - 1
    same(wa.load(address), made)


def stopped(address: str, after: int) -> None:
    """Stop a run when workers have done so many chunks."""

    async def main() -> None:
        done = asyncio.Event()

        class Watched(Threads):
            async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
                answered = await super().answer(chunk, topic)
                if len(self.chunks) > after:
                    done.set()
                return answered

        call = asyncio.create_task(
            wa.aio.audit(pages(), backend=backend(Watched(2), chunk=2), save_to=address, progress=False)
        )
        await done.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())


def test_a_stopped_run_goes_on_with_what_is_missing(anywhere: str) -> None:
    stopped(anywhere, 5)
    there = len(set(keys(anywhere)))
    assert 0 < there < 30
    threads = Threads()
    made = audited(anywhere, threads)
    assert sum(len(chunk.jobs) for chunk in threads.chunks) == 30 - there
    same(made, wa.audit(pages(), progress=False))
    assert set(Counter(keys(anywhere)).values()) == {1}
    again = Threads()
    same(audited(anywhere, again), made)
    assert again.chunks == []


def test_what_a_killed_client_left_of_a_join_counts_once(address: str) -> None:
    """The joined part is written, and its sources are still there."""
    made = audited(address)
    files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
    name = next(name for name in listed(address) if name.startswith("rows-"))
    files.cp_file(f"{root}/{name}", f"{root}/rows-000001-00000000.parquet")
    assert 2 in Counter(keys(address)).values()
    threads = Threads()
    same(audited(address, threads), made)
    assert threads.chunks == []
    assert set(Counter(keys(address)).values()) == {1}


def test_a_small_part_that_is_damaged_is_named_and_its_rows_are_done_again(address: str) -> None:
    stopped(address, 5)
    files, root = fsspec.core.url_to_fs(address, use_listings_cache=False)
    name = next(name for name in listed(address) if name.startswith("rows-"))
    content = bytearray(files.cat_file(f"{root}/{name}"))
    content[20] ^= 1
    files.pipe_file(f"{root}/{name}", bytes(content))
    with pytest.raises(ParameterError, match=f"`save_to` .* unchanged, unlike {name} in `{address}`"):
        audited(address)
    files.rm(f"{root}/{name}")
    same(audited(address), wa.audit(pages(), progress=False))
    assert set(Counter(keys(address)).values()) == {1}


def test_small_parts_that_cannot_be_joined_stay(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = RemoteStore.opened_part

    def changed(self: RemoteStore, name: str, sha256: str | None = None) -> Any:
        if sha256 is not None:  # as those have that are joined
            raise Unreadable
        return whole(self, name)

    monkeypatch.setattr(RemoteStore, "opened_part", changed)
    made = wa.metadata(pages(), backend=backend(Threads(), chunk=5), save_to=address, progress=False)
    same(made, wa.metadata(pages(), progress=False))
    assert "stay small: The `save_to` parameter must be a folder whose parts are unchanged" in caplog.text
    assert set(Counter(keys(address)).values()) == {1}


def test_rows_of_other_inputs_stay(address: str) -> None:
    audited(address)
    wa.audit(pages(4), backend=backend(Threads(), chunk=5), save_to=address, progress=False)
    wa.audit(pages(33), backend=backend(Threads(), chunk=5), save_to=address, progress=False)
    assert len(set(keys(address))) == len(keys(address)) == 33


def test_failed_rows_are_done_again_when_asked_for(address: str) -> None:
    made = audited(address)
    threads = Threads()
    same(audited(address, threads, redo="failed"), made)
    assert [job.number for chunk in threads.chunks for job in chunk.jobs] == [3]
    same(wa.load(address), made)


def test_this_machine_writes_there_too(address: str) -> None:
    made = wa.audit(pages(), save_to=address, progress=False)
    same(made, wa.audit(pages(), progress=False))
    same(wa.load(address), made)
    same(audited(address), made)  # a cluster goes on with it


def test_an_audit_is_saved_at_an_address_and_elsewhere_again(anywhere: str, tmp_path: Path) -> None:
    whole = wa.audit(pages(), progress=False)
    saved = whole.save(f"{anywhere}-saved")
    same(wa.load(saved), whole)
    made = audited(anywhere)
    same(wa.load(made.save(tmp_path / "here")), whole)
    same(wa.load(wa.load(tmp_path / "here").save(f"{anywhere}-back")), whole)


def test_columns_of_ones_own_are_made_by_the_workers(address: str) -> None:
    chosen = {"heading": "h1"}
    made, wanted = audited(address, extract=chosen), wa.audit(pages(), extract=chosen, progress=False)
    same(made, wanted)


@pytest.mark.parametrize("function", ["metadata", "text", "readability"])
def test_other_functions_keep_their_rows_there(function: str, address: str) -> None:
    call: Callable[..., pd.DataFrame] = getattr(wa, function)
    made = call(pages(), backend=backend(Threads(), chunk=5), save_to=address, progress=False)
    same(made, call(pages(), progress=False))


def test_the_call_must_be_the_same(address: str) -> None:
    audited(address)
    with pytest.raises(ParameterError, match=r"The `save_to` parameter must be a folder of this same call"):
        wa.metadata(pages(), backend=backend(Threads()), save_to=address, progress=False)


def test_a_folder_with_other_files_is_refused(anywhere: str) -> None:
    files, root = fsspec.core.url_to_fs(anywhere)
    files.makedirs(root)
    files.pipe_file(f"{root}/notes.txt", b"mine")
    with pytest.raises(ParameterError, match="that is empty"):
        audited(anywhere)
    assert listed(anywhere) == ["notes.txt"]


def test_workers_that_write_somewhere_else_are_noticed(address: str) -> None:
    class Apart(Threads):
        async def answer(self, chunk: Chunk, topic: str) -> Answered | None:
            elsewhere = f"memory://{chunk.name}"
            return await super().answer(replace(chunk, keep=replace(chunk.keep, place=elsewhere)), topic)

    with pytest.raises(WriteError, match="one place for this machine and all workers"):
        audited(address, Apart())


def test_what_cannot_be_written_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(13, "token=5e4Zx9 is refused")

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "pipe_file", refused)
    with pytest.raises(ParameterError, match="that can be written to: Permission denied") as caught:
        audited("memory://refused/audit")
    assert caught.value.parameter == "save_to"
    assert "5e4Zx9" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ftp://me:secret@host.example/audit", "without a password"),
        ("zz://bucket/audit", "zz is unknown"),
        ("simplecache::s3://bucket/audit", "an address such as s3://bucket/folder"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_sentence_without_it(address: str, sentence: str) -> None:
    for call in (lambda: audited(address), lambda: wa.load(address)):
        with pytest.raises(ParameterError, match=sentence) as caught:
            call()
        assert "secret" not in str(caught.value)


def test_a_checkpoint_at_an_address_is_refused() -> None:
    with pytest.raises(ParameterError, match="`checkpoint` parameter must be a folder on this machine"):
        wa.audit(pages(2), checkpoint="s3://bucket/folder", progress=False)


def test_a_hosted_backend_is_refused() -> None:
    options = {"save_to": "s3://bucket/folder", "checkpoint": None, "backend": SimpleNamespace(priced=True)}
    with pytest.raises(ParameterError, match="on this machine with a hosted backend"):
        check_save_to(options, AUDIT_PAGES)


def test_a_column_is_read_by_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "memory://ranges/audit"
    made = audited(address)
    read: list[int] = []
    whole = type(fsspec.filesystem("memory")).cat_file

    def counted(self: Any, path: str, start: int | None = None, end: int | None = None, **more: Any) -> bytes:
        content = whole(self, path, start=start, end=end, **more)
        read.append(len(content))
        return content

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "cat_file", counted)
    assert made["title"].tolist()[0] == "Page 0 of lamps"
    sizes = sum(item["size"] for item in fsspec.filesystem("memory").ls("/ranges/audit", detail=True))
    assert 0 < sum(read) < sizes
    fsspec.filesystem("memory").rm("/ranges", recursive=True)
    with pytest.raises((ParameterError, WriteError)):
        made["text"].tolist()
