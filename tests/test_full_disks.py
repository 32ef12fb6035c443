"""Disks that are full, and signals: nothing half-written, no finished row lost, one sentence each."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from tests.effort import PROCESS_SECONDS
from webanalytics import files
from webanalytics.cli import main
from webanalytics.errors import WriteError
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.frames.output_files import write_frame
from webanalytics.runs.storage.checkpoint import WRITE_SECONDS

FULL = "No space left on device"
MESSAGES = [f"message {number}" for number in range(300)]


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """Make folders on a disk that is full once a file has got a few bytes."""
    places: list[Path] = []
    real = files.written_whole

    @contextmanager
    def written_whole(path: Path, **settings: object) -> Iterator[Path]:
        with real(path, **settings) as temporary:  # type: ignore[arg-type]
            yield temporary
            if any(path.is_relative_to(place) for place in places):
                raise OSError(errno.ENOSPC, FULL)

    for module in (
        "runs.frames.output_files",
        "runs.storage.store",
        "records.images.function",
        "audits.report.build",
    ):
        monkeypatch.setattr(f"webanalytics.{module}.written_whole", written_whole)

    def make(name: str) -> Path:
        places.append(tmp_path / name)
        places[-1].mkdir(exist_ok=True)
        return places[-1]

    return make


def kept_in(said: str) -> Path:
    """The file that a line names in the place of the one that was asked for."""
    found = re.search(r"The ([\d,]+) rows are in (\S+) instead\.", said)
    assert found is not None, said
    return Path(found[2])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
def test_the_command_line_keeps_the_rows_somewhere_else(
    full: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    suffix: str,
) -> None:
    place = full("out")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr("webanalytics.cli.row_safety.tempfile.gettempdir", lambda: str(other))
    output = place / f"rows.{suffix}"
    output.write_text("of another day")
    monkeypatch.setenv("WEBANALYTICS_SECRET", "k")
    assert main(["hmac", "a", "b", "-o", str(output)]) == 4
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.startswith(
        f"webanalytics: The `output` parameter must be a file that can be written: {FULL}."
    )
    kept = kept_in(said)
    assert kept.is_relative_to(other)
    assert kept.suffix == output.suffix
    assert [output.read_text(), [item.name for item in place.iterdir()]] == ["of another day", [output.name]]


def test_where_no_place_is_left_the_rows_are_printed(tmp_path: Path) -> None:
    """A limit on the size of every file, as a quota has: the pipe is the only place."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000));"
        "from webanalytics.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    table = tmp_path / "in.csv"
    pd.DataFrame({"message": MESSAGES}).to_csv(table, index=False)
    output = tmp_path / "rows.csv"
    done = subprocess.run(
        [sys.executable, "-c", code, "hmac", "-i", str(table), "-o", str(output)],
        capture_output=True, text=True, env={**os.environ, "WEBANALYTICS_SECRET": "k"}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert len(pd.read_csv(io.StringIO(done.stdout))) == 300
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert [item.name for item in tmp_path.iterdir()] == ["in.csv"]


def test_a_workbook_on_a_full_disk_leaves_one_sentence(tmp_path: Path) -> None:
    """What writes workbooks has files of its own, which complain when they are collected."""
    code = (
        "import resource, pandas, webanalytics.runs.frames.output_files as w;"
        "frame = pandas.DataFrame({'a': [str(n) for n in range(9000)]});"
        "import xlsxwriter; resource.setrlimit(resource.RLIMIT_FSIZE, (limit := 40_000, limit));"
        "import sys; sys.tracebacklimit = 0; w.write_frame(frame, sys.argv[1])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.xlsx")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.endswith("The `output` parameter must be a file that can be written: File too large.")
    assert list(tmp_path.iterdir()) == []


def test_standard_output_may_be_full_too(tmp_path: Path) -> None:
    environment = {**os.environ, "WEBANALYTICS_SECRET": "k", "TMPDIR": str(tmp_path)}
    with Path("/dev/full").open("w") as file:
        command = [sys.executable, "-m", "webanalytics", "hmac", "a", "b"]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert len(pd.read_csv(kept_in(done.stderr))) == 2


@pytest.mark.parametrize(
    ("arguments", "streams", "status"),
    [
        (["ai-crawlers"], ["stdout"], 4),
        (["audit", "-i", "none.json", "--format", "summary", "--column", "url"], ["stdout"], 4),
        (["audit", "-i", "none.json", "--format", "summary", "--column", "url"], ["stdout", "stderr"], 4),
        (["hmac", "a", "-o", "rows.csv"], ["stderr"], 4),
        (["hmac", "a", "-o", "none/rows.csv"], ["stderr"], 2),
    ],
)
def test_streams_on_a_full_disk_are_no_failed_rows(
    arguments: list[str], streams: list[str], status: int, tmp_path: Path
) -> None:
    (tmp_path / "none.json").write_text('[{"url": null}]')
    environment = {**os.environ, "WEBANALYTICS_SECRET": "k", "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("w") as file:
        full = dict.fromkeys(streams, file)
        done = subprocess.run(
            [sys.executable, "-m", "webanalytics", *arguments],
            stdout=full.get("stdout", subprocess.PIPE), stderr=full.get("stderr", subprocess.PIPE),
            text=True, env=environment, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == status
    if "stderr" not in streams:
        assert done.stderr.splitlines()[-1].startswith("webanalytics: Standard output could not be written: ")
    if "rows.csv" in arguments:
        assert len(pd.read_csv(tmp_path / "rows.csv")) == 1


@pytest.mark.parametrize("closed", [[1], [2], [0, 1, 2]])
def test_closed_streams_end_nothing(closed: list[int], tmp_path: Path) -> None:
    """Files of the process get the lowest free numbers: one of a loop of events may not be that of a stream."""
    shell = " ".join(f"{number}>&-" for number in closed)
    command = f'exec "$0" -m webanalytics hmac a -o rows.csv --format csv {shell}'
    environment = {**os.environ, "WEBANALYTICS_SECRET": "k"}
    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable], capture_output=True, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 1
    assert bool(done.stdout) == (1 not in closed)


@pytest.mark.parametrize("command", ["prune", "logs", "check-redirects"])
def test_a_file_that_cannot_be_written_is_refused_before_work(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "none", "-o", "rows.doc"]) == 2
    assert "`output` parameter must be a file with one of the suffixes" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_leaves_the_rest(
    full: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = full("out")
    with SiteServer({"/": b"<title>Home</title><p>Words"}) as site:
        arguments = ["audit", f"{site.url}/", "--allow-private", "--report", str(place / "report.html")]
        more = ["--save", str(place / "kept"), "-o", str(tmp_path / "rows.csv")]
        assert main([*arguments, *more]) == 4
    told = capsys.readouterr()
    assert told.err.count(FULL) == 2
    assert "1 page, 1 ok" in told.out
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 1
    assert not (place / "report.html").exists()


@pytest.mark.parametrize("path", ["audit.xlsx", "pages.csv", "pages.parquet"])
def test_what_an_audit_writes_says_so_in_one_sentence(full: Callable[[str], Path], path: str) -> None:
    place = full("out")
    audit = wa.audit(pd.DataFrame({"url": ["a"], "html": ["<p>a"]}), progress=False, workers=1)
    write = audit.to_excel if path.endswith("xlsx") else lambda to: write_frame(audit.pages, to)
    with pytest.raises(WriteError, match=f"parameter must be a file that can be written: {FULL}.$"):
        write(place / path)
    assert list(place.iterdir()) == []


def test_a_full_checkpoint_ends_the_run_and_goes_on(
    full: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "kept"
    wa.hmac(MESSAGES[:100], secret="k", store=place)
    full("kept")
    with pytest.raises(
        WriteError, match=f"`store` parameter must be a folder that can be written to: {FULL}"
    ) as caught:
        wa.hmac(MESSAGES, secret="k", store=place)
    assert caught.value.rows == len(caught.value.partial) == len(wa.last_partial()) == 300
    assert len(list(place.glob("*.parquet"))) == 1
    assert not list(place.glob(".*.tmp"))
    monkeypatch.undo()
    frame = wa.hmac(MESSAGES, secret="k", store=place)
    pd.testing.assert_series_equal(frame["hmac"], wa.hmac(MESSAGES, secret="k")["hmac"])


def test_images_on_a_full_disk(
    full: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The images before the one that did not fit are finished rows; with a checkpoint the call goes on there."""
    sources = tmp_path / "in"
    sources.mkdir()
    for number in range(6):
        Image.linear_gradient("L").resize((20 + number, 12)).save(sources / f"{number}.png")
    place, checkpoint = full("out"), tmp_path / "kept"

    def convert() -> pd.DataFrame:
        return wa.convert(sources, "webp", save_to=place, store=checkpoint, progress=False)

    with pytest.raises(
        WriteError, match=f"`save_to` parameter must be a folder that can be written to: {FULL}"
    ) as caught:
        convert()
    assert caught.value.rows < 6
    assert list(place.iterdir()) == []
    monkeypatch.undo()
    frame = convert()
    assert (frame["status"] == "ok").all()
    assert all(Path(path).is_file() for path in frame["path"])


@pytest.fixture
def half_slow() -> Iterator[list[str]]:
    """Pages that are answered at once, one that is when the next part is due, and others that never are."""
    pages: dict[str, Any] = {f"/{number}": b"<title>page</title>" for number in range(6)}
    pages["/6"] = Reply(body=b"<title>page</title>", delay=4 * WRITE_SECONDS)
    pages.update({f"/slow{number}": Reply(body=b"<p>late", delay=600.0) for number in range(2)})
    with SiteServer(pages) as server:
        yield [server.url + path for path in pages]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("times", [1, 2])
def test_signals_leave_the_rows_in_the_file(
    half_slow: list[str], tmp_path: Path, number: signal.Signals, times: int
) -> None:
    output, kept = tmp_path / "rows.csv", tmp_path / "kept"
    options = ["--allow-private", "--no-robots", "--timeout", "600", "-o", str(output), "--store", str(kept)]
    command = [sys.executable, "-m", "webanalytics", "metadata", *half_slow, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + PROCESS_SECONDS
    while rows_in(kept) < 7 and time.monotonic() < end:
        time.sleep(0.02)
    for _ in range(times):
        os.killpg(process.pid, number)
        time.sleep(0.1)
    said = process.communicate(timeout=PROCESS_SECONDS)[1]
    assert process.returncode == 128 + number, said
    assert "interrupted after 7 of 9 rows" in said
    assert "Traceback" not in said
    assert pd.read_csv(output)["title"].tolist() == ["page"] * 7


SLOW_IMPORTS = """
import sys, time
if any("fork_for_ever" in argument for argument in sys.orig_argv):
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_all_processes_ends_a_command_that_waits_for_a_worker(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_IMPORTS)
    command = [sys.executable, "-m", "webanalytics", "metadata", "--allow-private", "--no-robots"]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    with SiteServer({"/": b"<title>page</title>"}) as site:
        process = subprocess.Popen(
            [*command, site.url], stderr=subprocess.PIPE, text=True, start_new_session=True, env=found
        )
        end = time.monotonic() + PROCESS_SECONDS
        while not site.requests and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.5)  # the page has come, and the worker is asked for
        os.killpg(process.pid, number)
        said = process.communicate(timeout=PROCESS_SECONDS)[1]
    assert process.returncode == 128 + number, said
    assert "interrupted after 0 of 1 rows" in said


def test_a_closed_terminal_leaves_the_rows_in_the_file(half_slow: list[str], tmp_path: Path) -> None:
    output, kept = tmp_path / "rows.csv", tmp_path / "kept"
    options = [
        "--allow-private",
        "--no-robots",
        "--timeout",
        "600",
        "-o",
        str(output),
        "--store",
        str(kept),
        "--no-progress",
    ]
    command = [sys.executable, "-m", "webanalytics", "metadata", *half_slow, *options]
    child, terminal = pty.fork()  # of which nobody reads
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it
        os.execv(sys.executable, command)
    end = time.monotonic() + PROCESS_SECONDS
    while rows_in(kept) < 7 and time.monotonic() < end:
        time.sleep(0.02)
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert pd.read_csv(output)["title"].dropna().tolist() == ["page"] * 7
    assert status == 143


def test_a_run_that_outlives_its_terminal_is_not_ended(half_slow: list[str], tmp_path: Path) -> None:
    output, kept = tmp_path / "rows.csv", tmp_path / "kept"
    options = ["--allow-private", "--no-robots", "--timeout", "600", "-o", str(output), "--store", str(kept)]
    command = ["nohup", sys.executable, "-m", "webanalytics", "metadata", *half_slow, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + PROCESS_SECONDS
    while rows_in(kept) < 7 and time.monotonic() < end:
        if rows_in(kept) > 0:  # the run has begun
            os.killpg(process.pid, signal.SIGHUP)
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGTERM)
    said = process.communicate(timeout=PROCESS_SECONDS)[1]
    assert process.returncode == 143, said
    assert pd.read_csv(output)["title"].tolist() == ["page"] * 7


def rows_in(folder: Path) -> int:
    import pyarrow.parquet as parquet

    return sum(parquet.ParquetFile(path).metadata.num_rows for path in folder.glob("*.parquet"))


def test_the_first_signal_while_rows_are_written_only_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from webanalytics.cli import tables

    real = tables.audits.write_pages

    def write(*arguments: object) -> Path:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(tables.audits, "write_pages", write)
    monkeypatch.setenv("WEBANALYTICS_SECRET", "k")
    assert main(["hmac", "a", "b", "-o", str(tmp_path / "rows.csv")]) == 0
    assert "still keeping 2 finished rows; once more ends this without them" in capsys.readouterr().err
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 2


@pytest.mark.parametrize("output", ["folder.csv", "none/rows.csv"])
def test_what_can_be_known_before_is_said_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert main(["phones", "+12015550123", "-o", str(tmp_path / output)]) == 2
    assert capsys.readouterr().err.startswith("webanalytics: The `output` parameter must be ")
