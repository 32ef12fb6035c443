"""Checkpoints: the same call again does only what is missing, on every backend."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.proxy import Proxy, json_of, status
from tests.runs.hosted.running import CALLS, HMAC, PAGES, Call, Watch, equal, parts, picture, same, watched
from tests.served import served
from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome
from webanalytics.fetching.testing import SiteServer
from webanalytics.operations import TEXT
from webanalytics.runs.backends import local
from webanalytics.runs.backends.base import RunSpec
from webanalytics.runs.storage import checkpoint as checkpoints

Options = dict[str, Any]


@pytest.fixture(scope="module")
def pages() -> Iterator[SiteServer]:
    with SiteServer(PAGES) as server:
        yield server


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    with watched(monkeypatch) as seen:
        yield seen


@pytest.fixture(params=["local", "hosted"])
def options(request: pytest.FixtureRequest) -> Options:
    """The options of a backend, small requests one after the other."""
    if request.param == "local":
        return {"workers": 1}  # a second one might still be starting when a test ends the run
    return {"backend": request.getfixturevalue("hosted")(concurrency=1, batch_size=2)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_second_call_does_nothing(
    call: Call, options: Options, folder: Path, pages: SiteServer, proxy: Proxy, watch: Watch
) -> None:
    inputs = call.inputs(pages.url, 4)
    first = call(inputs, store=folder, **options)
    assert set(first["status"]) == {"ok", "error"}
    same(first, call(inputs, **options))
    watch.begin()
    asked = len(pages.requests), len(proxy.requests)
    second = call(inputs, store=folder, **options)
    equal(second, first)  # the volatile columns too: they are kept
    assert watch.jobs == []
    assert (len(pages.requests), len(proxy.requests)) == asked
    assert second.attrs["webanalytics"] == first.attrs["webanalytics"]
    if "backend" in options:
        assert first.attrs["credits"]["used"] > 0
        assert second.attrs["credits"] == {"used": 0, "left": None, "needed": 0}


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_only_what_is_new_is_done_in_whatever_order(
    call: Call, options: Options, folder: Path, pages: SiteServer, watch: Watch
) -> None:
    inputs = call.inputs(pages.url, 5)
    call(inputs[:3], store=folder, **options)
    watch.begin()
    mixed = pd.Series(
        [inputs[4], inputs[2], inputs[2], inputs[1], inputs[3], inputs[0], inputs[4]],
        index=list("gfedcba"),
        dtype=object,
    )
    got = call(mixed, store=folder, **options)
    assert len(watch.jobs) == 2
    same(got, call(mixed, **options))


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_an_interrupted_run_goes_on(
    call: Call,
    options: Options,
    folder: Path,
    pages: SiteServer,
    watch: Watch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = call.inputs(pages.url, 8)
    if "backend" not in options and call.name in ("hmac", "dane", "phones"):
        monkeypatch.setattr(local, "YIELD_SECONDS", math.inf)  # the first look-up loads its tables
        same(call(inputs, store=folder), call(inputs))
        once = 1 if call.name == "phones" else 2  # phones are no jobs where nothing is kept
        assert watch.groups == once, "they have all their answers at once, before one could interrupt them"
        return
    watch.after = lambda groups: os.kill(os.getpid(), signal.SIGINT) if groups == 2 else None
    with pytest.raises(wa.AuditInterrupted) as caught:
        call(inputs, store=folder, **options)
    assert len(caught.value.partial)
    watch.begin()
    got = call(inputs, store=folder, **options)
    assert watch.work < len(inputs) * watch.per_job
    same(got, call(inputs, **options))


class BoomError(Exception):
    pass


def _boom(groups: int) -> None:
    raise BoomError


# A local worker at work when the run fails may be given back late, when garbage is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_run_that_failed_goes_on(
    call: Call, options: Options, folder: Path, pages: SiteServer, watch: Watch
) -> None:
    inputs = call.inputs(pages.url, 6)
    watch.after = lambda groups: _boom(groups) if groups == 2 or "backend" not in options else None
    with pytest.raises(BoomError):
        call(inputs, store=folder, **options)
    assert [*parts(folder), *folder.glob("rows-*")]
    watch.begin()
    got = call(inputs, store=folder, **options)
    assert watch.work < len(inputs) * watch.per_job
    same(got, call(inputs, **options))
    gc.collect()


def test_an_interrupt_on_the_callers_own_loop_keeps_rows(
    hosted: Callable[..., wa.Hosted], folder: Path, watch: Watch
) -> None:
    backend = hosted(concurrency=1, batch_size=5)
    messages = [str(number) for number in range(40)]

    async def main() -> int:
        task = asyncio.create_task(wa.aio.hmac(messages, secret="k", backend=backend, store=folder))
        reached = asyncio.Event()
        watch.after = lambda groups: reached.set() if groups == 3 else None
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(watch.jobs)

    asyncio.run(main())
    watch.begin()
    again = asyncio.run(wa.aio.hmac(messages, secret="k", backend=backend, store=folder))
    assert len(watch.jobs) <= 25
    same(again, wa.hmac(messages, secret="k"))


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_failed_rows_are_repeated_when_asked(
    call: Call, options: Options, folder: Path, pages: SiteServer, watch: Watch
) -> None:
    inputs = call.inputs(pages.url, 4)
    first = call(inputs, store=folder, **options)
    watch.begin()
    second = call(inputs, store=folder, redo="failed", **options)
    refused_here = call.name == "phones" and "backend" in options  # a number that is none is never sent
    assert len(watch.jobs) == (not refused_here)
    same(second, first)


def test_what_failed_before_is_good_now(options: Options, folder: Path, watch: Watch) -> None:
    content = {**PAGES, "/late": [PAGES["/gone"], PAGES["/p1"]]}
    with SiteServer(content) as site:  # type: ignore[arg-type]
        urls = [f"{site.url}/p0", f"{site.url}/late"]
        more: Options = {"allow_private": True, "store": folder, **options}
        assert wa.text(urls, **more)["status"].tolist() == ["ok", "error"]
        assert wa.text(urls, **more)["status"].tolist() == ["ok", "error"]
        assert wa.text(urls, redo="failed", **more)["status"].tolist() == ["ok", "ok"]
        watch.begin()
        assert wa.text(urls, redo="failed", **more)["title"].tolist() == ["Page 0", "Page 1"]
        assert watch.jobs == []


def test_an_audit_repeats_what_is_missing_of_a_row(
    hosted: Callable[..., wa.Hosted], folder: Path, pages: SiteServer, proxy: Proxy
) -> None:
    urls = [f"{pages.url}/p{number}" for number in range(3)]
    failure = status(400, "The `url` parameter names a page that is too odd.")
    proxy.rule(lambda record: failure if "readability" in record.path else None)
    options: Options = {"backend": hosted(), "store": folder, "allow_private": True}
    first = wa.audit(urls, **options)
    assert first.raw["status"].tolist() == ["error"] * 3
    assert first.raw["title"].tolist() == ["Page 0", "Page 1", "Page 2"]
    proxy.clear()
    before = len(proxy.requests)
    second = wa.audit(urls, redo="failed", **options)
    assert {record.path for record in proxy.requests[before:]} == {"/v1/websitereadability/batch"}
    assert second.raw.attrs["credits"]["used"] == 30
    same(second, wa.audit(urls, backend=hosted(), allow_private=True))


@pytest.mark.parametrize("kind", ["credits", "service"])
def test_rows_that_were_not_answered_are_missing(
    kind: str, hosted: Callable[..., wa.Hosted], folder: Path, proxy: Proxy, watch: Watch
) -> None:
    options: Options = {"backend": hosted(batch_size=5, concurrency=1), "store": folder}
    messages = [str(number) for number in range(20)]
    if kind == "credits":
        with pytest.warns(wa.errors.IncompleteRunWarning, match="20 credits"):
            first = HMAC(messages, budget=20, **options)
    else:
        item = {"status": "error", "error": "The server failed.", "data": None, "statusCode": 500}
        failed = json_of(
            {"status": "ok", "error": None, "data": {"results": [item] * 5, "succeeded": 0, "failed": 5}}
        )
        proxy.rule(lambda record: failed if record.json["inputs"][0]["message"] in ("10", "15") else None)
        first = HMAC(messages, retries=0, **options)
        proxy.clear()
    assert first["error_type"].value_counts().to_dict() == {kind: 10}
    watch.begin()
    second = HMAC(messages, **options)
    assert watch.subjects == messages[10:]
    assert (second["status"] == "ok").all()


def test_values_of_every_kind_survive(options: Options, folder: Path, tmp_path: Path) -> None:
    long = "x" * 10_000_000
    odd = b'<title>&#xD800; a</title><script type="application/ld+json">{"name": "\\ud800", "n": 1.5, "no": null, "z": [1, {"b": true}]}</script><p>words'
    with SiteServer({"/odd": odd}) as site:
        got = wa.metadata([f"{site.url}/odd"], body=True, allow_private=True, store=folder, **options)
        again = wa.metadata([f"{site.url}/odd"], body=True, allow_private=True, store=folder, **options)
    equal(again, got)
    messages = ["\ud800", "\0\x01", "\U0001f389", long if "backend" not in options else long[:3_000_000]]
    first = HMAC(messages, store=tmp_path / "other", **options)
    assert first["status"].tolist() == ["error", "ok", "ok", "ok"]
    equal(HMAC(messages, store=tmp_path / "other", **options), first)


def test_texts_that_no_file_can_hold_survive(folder: Path) -> None:
    spec = RunSpec(("text",), {"text": TEXT.check_settings({})})
    job = Job(0, "http://a.example/\ud800")
    data = {"title": "a \ud800 b", "text": "\0 \U0001f389", "date": {"published": "\udfff", "modified": None}}
    fetched = Fetched("http://a.example/\udc80", ("x",), 200, 0.25, 7)
    with closing(checkpoints.Checkpoint(folder, spec, "local", {})) as store:
        store.take([JobResult(0, (Outcome(data),), fetched)], [job])
    with closing(checkpoints.Checkpoint(folder, spec, "local", {})) as store:
        (answer,), left = store.restore([job], failed_again=False)
    assert (answer.outcomes[0], answer.fetched, left) == (Outcome(data), fetched, [])


def test_a_value_of_ten_megabytes_survives(folder: Path) -> None:
    page = pd.DataFrame({"url": ["http://a.example/"], "html": ["<title>x</title><p>" + "y" * 9_900_000]})
    first = wa.metadata(page, body=True, store=folder)
    assert first.loc[0, "status"] == "ok"
    equal(wa.metadata(page, body=True, store=folder), first)


def test_files_that_are_gone_are_made_again(
    options: Options, folder: Path, tmp_path: Path, watch: Watch
) -> None:
    for number, name in enumerate("abc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same.png").write_bytes(picture(number))
    files = [tmp_path / name / "same.png" for name in "abc"]
    more: Options = {"save_to": tmp_path / "out", "store": folder, **options}
    first = wa.convert(files, "webp", **more)
    contents = {Path(path): Path(path).read_bytes() for path in first["path"]}
    assert len(contents) == 3
    watch.begin()
    same(wa.convert(files, "webp", **more), first)
    assert watch.jobs == []
    gone = Path(first.loc[1, "path"])
    gone.unlink()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "same.png").write_bytes(picture(7))
    second = wa.convert([tmp_path / "d" / "same.png", *files], "webp", **more)
    assert len(watch.jobs) == 2
    assert second["path"].nunique() == 4
    for source, path in zip([7, 0, 1, 2], second["path"], strict=True):
        assert Path(path).read_bytes() == wa.convert(picture(source), "webp").loc[0, "content"]


def test_the_plain_and_the_async_function_share_a_checkpoint(
    options: Options, folder: Path, watch: Watch
) -> None:
    options = served(wa.hmac, options)
    first = asyncio.run(wa.aio.hmac(["a", "b"], secret="k", store=folder, **options))
    watch.begin()
    equal(wa.hmac(["b", "a"], secret="k", store=folder, **options).iloc[::-1].reset_index(drop=True), first)
    assert watch.jobs == []


def test_options_that_change_no_answer_may_differ(folder: Path, pages: SiteServer, watch: Watch) -> None:
    wa.text([f"{pages.url}/p1"], store=folder, allow_private=True)
    watch.begin()
    wa.text([f"{pages.url}/p1"], store=folder, concurrency=1, timeout=3.0, user_agent="x")
    assert watch.jobs == []


def test_the_session_and_a_block_may_name_the_folder(folder: Path, watch: Watch) -> None:
    with wa.option_context(store=folder):
        wa.hmac(["a"], secret="k")
        watch.begin()
        wa.hmac(["a"], secret="k")
    assert watch.jobs == []


def test_leftovers_of_a_crash_are_ignored(folder: Path, watch: Watch) -> None:
    first = HMAC(["a", "b"], store=folder)
    (folder / ".part-000002-77.tmp").write_bytes(b"PAR1 half")
    (folder / ".run-77.tmp").write_bytes(b"{")
    watch.begin()
    same(HMAC(["a", "b"], store=folder), first)
    assert watch.jobs == []
    assert not (folder / ".part-000002-77.tmp").exists()


def test_a_part_is_whole_or_absent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(handle: int) -> None:
        raise OSError(28, "No space left on device")

    HMAC(["a"], store=folder)
    before = {path.name: path.read_bytes() for path in parts(folder)}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", torn)
        with pytest.raises(wa.ParameterError, match="No space"):
            HMAC(["a", "b"], store=folder)
    assert {path.name: path.read_bytes() for path in parts(folder)} == before
    assert (HMAC(["a", "b"], store=folder)["status"] == "ok").all()
