"""The command line, run as a user runs it."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.effort import PROCESS_SECONDS
from webanalytics.cli import main
from webanalytics.cli.tables import parser
from webanalytics.core.run_options import RECORDS
from webanalytics.fetching.testing import SiteServer
from webanalytics.operations import OPERATIONS

RECORD = "_443._tcp.a.example. 3600 IN TLSA 3 1 1 " + "ab" * 32


def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webanalytics", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=PROCESS_SECONDS, stdin=subprocess.DEVNULL, **more
    )


@pytest.fixture
def called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in this process, where that it is one of its own says nothing more."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        try:
            status = main(arguments)
        except SystemExit as end:  # of the parser of arguments
            status = int(end.code or 0)
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    return call


@pytest.fixture
def site():
    with SiteServer(
        {"/": b"<title>Home, sweet</title><p>Some words here", "/b": b"<title>Second</title>"}
    ) as server:
        yield server


def test_an_empty_page_says_which_flag_renders_it(
    called: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    pages = {"/": b"<title>App</title><div id=root></div><script src=/a.js></script>"}
    with SiteServer(pages) as shop:
        done = called("text", f"{shop.url}/", "--allow-private", "-f", "csv")
    assert "before its scripts have run; --render auto lets a browser run them." in done.stdout


def test_a_pipe_gets_csv(site: SiteServer) -> None:
    done = run("metadata", f"{site.url}/", f"{site.url}/b", "--allow-private")
    assert done.returncode == 0
    frame = pd.read_csv(io.StringIO(done.stdout))
    assert frame["title"].tolist() == ["Home, sweet", "Second"]
    assert done.stderr == ""


def test_a_failed_row_shows_in_the_exit_status(
    called: Callable[..., subprocess.CompletedProcess[str]], site: SiteServer, tmp_path: Path
) -> None:
    output = tmp_path / "out.json"
    done = called("text", f"{site.url}/", f"{site.url}/none", "--allow-private", "-o", str(output))
    assert done.returncode == 1
    assert [row["error_type"] for row in json.loads(output.read_text())] == [None, "http"]
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["keywords", "x", "--ngrams", "7"], "The `ngrams` parameter must be an integer from 1 to 3."),
        (
            ["metadata", "x", "--concurrency", "0"],
            "The `concurrency` parameter must be an integer from 1 to 1000.",
        ),
        (["metadata", "x", "-o", "x.doc"], "`output` parameter must be a file"),
        (["metadata", "--input", "none.csv"], "The `input` parameter must be a file that can be read"),
        (["metadata"], "The `input` parameter is required"),
        (
            ["hmac", "x", "--secret-file", "none"],
            "The `secret-file` parameter must be a file that can be read: No such file",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence(
    called: Callable[..., subprocess.CompletedProcess[str]], arguments: list[str], sentence: str
) -> None:
    done = called(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_call_is_an_exit_status() -> None:
    done = run("metadata", "x", "-o", "x.doc")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"webanalytics: The `output` parameter [^\n]+\n", done.stderr)


def test_input_from_a_table_and_from_standard_input(
    called: Callable[..., subprocess.CompletedProcess[str]], site: SiteServer, tmp_path: Path
) -> None:
    table = tmp_path / "urls.csv"
    table.write_text(f"name,from,to\nx,{site.url}/,{site.url}/b\n")
    done = called("metadata", "--input", str(table), "--column", "to", "--allow-private", "-f", "jsonl")
    assert json.loads(done.stdout)["title"] == "Second"
    done = called("metadata", "--input", str(table), "--allow-private")
    assert done.returncode == 2
    assert "candidates are: `from`, `to`." in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "webanalytics", "metadata", "--allow-private", "-f", "jsonl"],
        input=f"{site.url}/\n\n{site.url}/b\n",
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
    )
    assert [json.loads(line)["title"] for line in done.stdout.splitlines()] == ["Home, sweet", "Second"]
    done = subprocess.run(
        [sys.executable, "-m", "webanalytics", "metadata", "--input", "-", "--allow-private", "-f", "jsonl"],
        input=f"url,lastmod\n{site.url}/b,2026-01-01\n",
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
    )
    assert [json.loads(line)["title"] for line in done.stdout.splitlines()] == ["Second"]


def test_the_secret_comes_from_a_file_or_the_environment_never_an_argument(
    called: Callable[..., subprocess.CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "secret"
    file.write_text("Jefe\n")
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"  # RFC 4231, test case 2
    done = called("hmac", "what do ya want for nothing?", "--secret-file", str(file))
    assert pd.read_csv(io.StringIO(done.stdout))["hmac"].tolist() == [expected]
    assert called("hmac", "x", "--secret", "Jefe").returncode == 2
    monkeypatch.setenv("WEBANALYTICS_SECRET", "Jefe")
    done = called("hmac", "what do ya want for nothing?")
    assert pd.read_csv(io.StringIO(done.stdout))["hmac"].tolist() == [expected]


def test_records_and_phones(called: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = called("dane", RECORD, "-f", "jsonl")
    assert json.loads(done.stdout)["security_level"] == "Recommended"
    done = called("phones", "+12085813945", "--no-details", "-f", "jsonl")
    assert json.loads(done.stdout)["firstSeen"] == "2024-01-30"
    done = called("phones", "020 7946 0018", "--region", "GB", "-f", "jsonl")
    assert json.loads(done.stdout)["phone"] == "+442079460018"


def test_phones_update_merges_a_list(
    called: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    newer = tmp_path / "newer.json"
    newer.write_text('{"12125550199": "2026-01-02"}')
    environment = {**os.environ, "WEBANALYTICS_DATA": str(tmp_path / "data")}
    done = run("phones", "update", str(newer), env=environment)
    assert done.returncode == 0
    assert done.stdout.startswith("1 numbers added")
    done = run("phones", "+12125550199", "--no-details", "-f", "jsonl", env=environment)
    assert json.loads(done.stdout)["firstSeen"] == "2026-01-02"
    with SiteServer({"/list.json": b'{"12125550198": "2026-01-03"}'}) as server:
        done = run("phones", "update", f"{server.url}/list.json", "--allow-private", env=environment)
    assert done.stdout.startswith("1 numbers added")
    assert called("phones", "update", "none.json").returncode == 2


def test_images_are_converted_into_a_folder(
    called: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    from PIL import Image

    Image.new("RGB", (40, 30), "navy").save(tmp_path / "blue.png")
    folder = tmp_path / "out"
    done = called("convert", str(tmp_path / "blue.png"), "--output-format", "webp", "--save-to", str(folder))
    assert done.returncode == 0
    with Image.open(folder / "blue.webp") as image:
        assert image.size == (40, 30)
    assert called("convert", str(tmp_path / "none.png"), "--output-format", "webp").returncode == 1


def test_a_terminal_gets_a_table_and_a_bar(site: SiteServer) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    command = [
        sys.executable,
        "-m",
        "webanalytics",
        "metadata",
        f"{site.url}/",
        f"{site.url}/b",
        "--allow-private",
    ]
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=slave, stderr=slave, stdin=slave, env=environment) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(master)
    text = shown.decode()
    assert process.returncode == 0
    assert "Home, sweet" in text
    assert "2 rows, 0 failed" in text
    assert re.search(r"metadata: +\d+%", text), "the progress bar"


def test_every_operation_and_option_has_its_flag(capsys: pytest.CaptureFixture[str]) -> None:
    for operation in OPERATIONS.values():
        with pytest.raises(SystemExit):
            main([operation.function, "--help"])
        shown = capsys.readouterr().out
        flags = {
            "--" + item.keyword.replace("_", "-") for item in operation.settings if item.name != "secret"
        }
        options = {"--" + key.replace("_", "-"): item for key, item in RECORDS.items() if key != "backend"}
        flags |= {flag for flag, item in options.items() if operation.kind in item.serves} | {"--base-url"}
        assert {flag for flag in flags if flag not in shown} == set()
        others = set(options) - flags - {"--save-to"}
        others -= {"--allow-private"} if operation.function == "phones" else set()  # of `phones update`
        assert {flag for flag in others if re.search(rf"{flag}\b", shown)} == set()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert re.fullmatch(r"webanalytics \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_a_closed_pipe_is_no_error(site: SiteServer) -> None:
    urls = " ".join([f"{site.url}/"] * 2000)
    command = f"{sys.executable} -m webanalytics metadata {urls} --allow-private | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PROCESS_SECONDS)
    assert done.stdout.startswith("url,status,")
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_a_closed_pipe_costs_no_report_and_no_saved_audit(site: SiteServer, tmp_path: Path) -> None:
    audit = (
        f"audit {site.url}/ --allow-private --save {tmp_path / 'kept'} --report {tmp_path / 'report.html'}"
    )
    command = f"{sys.executable} -m webanalytics {audit} | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=PROCESS_SECONDS)
    assert {path.name for path in tmp_path.iterdir()} == {"kept", "report.html"}, done.stderr


def test_a_hosted_api_does_the_work_of_a_table_of_urls(
    called: Callable[..., subprocess.CompletedProcess[str]],
    site: SiteServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from tests.service.live import Server

    (tmp_path / "urls.csv").write_text(f"url\n{site.url}/\n{site.url}/b\n")
    with Server(tmp_path) as server:
        arguments = ("metadata", "--base-url", server.base, "urls.csv", "-f", "jsonl")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("WEBANALYTICS_API_KEY", server.key(plan="starter"))
        done = called(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(row["title"], row["http_status"]) for row in rows] == [
            ("Home, sweet", None),
            ("Second", None),
        ]

        (tmp_path / "key.txt").write_text("22bce1bb-4929-4c08-a13f-6061b2c16adc\n")
        wrong = called(*arguments, "--api-key-file", "key.txt")
        assert wrong.returncode == 2
        assert re.match(
            r"webanalytics: The `api_key` parameter .* accepts\. \(HTTP 401, request ", wrong.stderr
        )
        assert "22bce1bb" not in wrong.stdout + wrong.stderr

        monkeypatch.setenv("WEBANALYTICS_API_KEY", server.key(plan="starter"))
        short = run(*arguments, "--budget", "2")
        assert short.returncode == 1
        assert short.stderr == "webanalytics: The budget is spent. The rows that are left need 2 credits.\n"


def test_a_message_that_is_named_like_a_file_is_a_message(
    called: Callable[..., subprocess.CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\n")
    (tmp_path / "secret").write_text("Jefe")
    monkeypatch.chdir(tmp_path)
    done = called("hmac", "notes.txt", "--secret-file", "secret", "-f", "csv")
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[1:]] == ["notes.txt"]


def test_the_help_is_that_of_the_whole_command_line_and_loads_none_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code = "import sys; from webanalytics.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == parser().format_help()
    assert {"pandas", "aiohttp", "pydantic", "numpy"}.isdisjoint(done.stderr.split())
