"""The API key and the secret of signatures are nowhere that anybody looks."""

from __future__ import annotations

import copy
import io
import logging
import pickle
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

import webanalytics as wa
from tests.effort import NOTEBOOK_SECONDS, PROCESS_SECONDS
from tests.runs.hosted.faults import Fault
from tests.runs.hosted.proxy import (
    Proxy,
    away,
    cut_after,
    cut_before,
    html_403,
    not_found,
    out_of_credits,
    rate_limited,
    redirect,
    server_failure,
    status,
    wrong_json,
)
from tests.service.live import Server
from webanalytics.core.operations.secret import Secret
from webanalytics.errors import HostedError, IncompleteRunWarning, ParameterError
from webanalytics.runs.backends.hosted import backend as client

KEY = "0c9d7a4e-5b1f-4e0a-9f43-8e1d2c3b4a59"
SECRET = "correct horse battery staple"


def assert_hidden(*texts: str, key: str = KEY) -> None:
    for text in texts:
        assert key not in text
        assert key[:8] not in text
        assert SECRET not in text


def told(error: BaseException) -> list[str]:
    """Return every text that Python makes of an exception, with the variables of all frames."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    shown = [
        "".join(traceback.TracebackException.from_exception(each, capture_locals=True).format())
        for each in chain
    ]
    return [*shown, *map(repr, chain), *map(str, chain), *(repr(each.__dict__) for each in chain)]


def _sign(backend: Any, secret: Any) -> Any:
    return wa.hmac(["a", "b"], secret=secret, backend=backend, progress=False)


FAULTS: dict[str, Fault] = {
    "unknown": status(401, "unauthorized"),
    "html": html_403(),
    "revoked": status(403, "API key has been revoked."),
    "blocked": status(403, "Access to `hmac` is blocked for this API key"),
    "address": status(403, "IP address not allowed for this API key"),
    "reset": cut_before(),
    "reset after": cut_after(),
    "away": away(60),
    "failing": server_failure(),
    "limited": rate_limited(0),
    "no JSON": wrong_json(),
    "redirect": redirect("http://127.0.0.1:1/"),
    "nothing there": not_found(),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_exceptions_and_logs_hide_both(
    proxy: Proxy, quick: None, caplog: pytest.LogCaptureFixture, fault: Fault
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("asyncio", "aiohttp", "aiohttp.client", "webanalytics"):
        caplog.set_level(logging.DEBUG, name)
    proxy.always(fault)
    backend = wa.Hosted(proxy.base, KEY, patience=0.3)
    with pytest.raises(HostedError) as caught:
        _sign(backend, Secret(SECRET))
    assert_hidden(*told(caught.value), caplog.text, *(repr(vars(record)) for record in caplog.records))
    assert KEY.encode() not in pickle.dumps(caught.value)
    assert proxy.requests[0].headers["x-api-key"] == KEY if proxy.requests else True


def test_a_secret_given_as_text_is_in_no_frame_but_the_callers(proxy: Proxy, quick: None) -> None:
    proxy.always(status(401, "unauthorized"))
    backend = wa.Hosted(proxy.base, KEY)
    with pytest.raises(HostedError) as caught:
        wa.hmac(["a"], secret=SECRET, backend=backend, progress=False)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    inner = [
        frame for frame in shown.stack if "webanalytics" in frame.filename and "tests" not in frame.filename
    ]
    assert inner
    assert_hidden(*(repr(frame.locals) for frame in inner))


@pytest.mark.parametrize(
    "given", [f"{KEY}\n{KEY}", f"{KEY} \u00e9", KEY * 20, KEY.encode() + b"\xff", f"{KEY}\x00"]
)
def test_a_key_that_is_refused_is_not_shown(given: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        wa.Hosted("https://api.example.com", given)
    error = caught.value
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    inner = [frame for frame in shown.stack if frame.filename.endswith("hosted/backend.py")]
    assert inner
    assert_hidden(str(error), repr(error), *(repr(frame.locals) for frame in inner))


@pytest.mark.parametrize("arguments", [{"concurrency": 0}, {"timeout": "x"}, {"prices": {"a": 1}}])
def test_a_wrong_argument_beside_it_does_not_show_it(arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        wa.Hosted("https://api.example.com", KEY, **arguments)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert_hidden(
        *(repr(frame.locals) for frame in shown.stack if frame.filename.endswith("hosted/backend.py"))
    )


def test_the_backend_shows_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    backend = wa.Hosted("https://api.example.com", KEY)
    with wa.option_context(backend=backend):
        print(backend, repr(backend), f"{backend}", vars(backend), [backend], {"b": backend}, wa.options)
    output = capsys.readouterr().out
    assert "**********" in output
    assert_hidden(output)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(backend)
    assert copy.deepcopy(backend)._api.key_header() == copy.copy(backend)._api.key_header() == KEY


def test_frames_hide_both(server: Server, proxy: Proxy, quick: None, tmp_path: Path) -> None:
    key = server.key()
    backend = wa.Hosted(proxy.base, key)
    frame = wa.hmac(["a", None], secret=SECRET, backend=backend, progress=False, store=tmp_path / "kept")
    assert_hidden(frame.to_csv(), repr(frame.attrs), frame.to_json(), key=key)
    files = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert files
    for content in [pickle.dumps(frame), *(path.read_bytes() for path in files)]:
        assert key.encode() not in content
        assert SECRET.encode() not in content


def test_warnings_hide_both(proxy: Proxy, quick: None) -> None:
    proxy.always(out_of_credits())
    with pytest.warns(IncompleteRunWarning) as caught:
        frame = _sign(wa.Hosted(proxy.base, KEY), SECRET)
    assert_hidden(*(str(warning.message) for warning in caught), frame.to_csv(), repr(frame.attrs))


def test_the_progress_bar_hides_both(
    proxy: Proxy, server: Server, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    key = server.key()
    proxy.plan(server_failure())
    wa.hmac(["a", "b"], secret=SECRET, backend=wa.Hosted(proxy.base, key), progress=True)
    output = capsys.readouterr()
    assert "hmac" in output.err
    assert_hidden(output.err, output.out, key=key)


def test_debug_mode_of_asyncio_hides_both(server: Server, tmp_path: Path) -> None:
    """Slow callbacks and forgotten tasks are logged there, with what they were made of."""
    key = server.key()
    script = tmp_path / "script.py"
    script.write_text(
        "import logging, os, webanalytics as wa\n"
        "logging.basicConfig(level=logging.DEBUG)\n"
        f"backend = wa.Hosted({server.base!r}, concurrency=3, batch_size=20)\n"
        "messages = [str(number) for number in range(200)]\n"
        "print(wa.hmac(messages, secret=os.environ['SIGNING'], backend=backend).status.eq('ok').all())\n"
        "wa.hmac(['a'], secret=os.environ['SIGNING'], backend=wa.Hosted(backend.base_url, 'x' * 36))\n"
    )
    environment = {"PATH": "/usr/bin", "WEBANALYTICS_API_KEY": key, "SIGNING": SECRET}
    done = subprocess.run(
        [sys.executable, "-X", "dev", script],
        capture_output=True, text=True, env=environment, timeout=PROCESS_SECONDS, check=False,
    )  # fmt: skip
    assert "True" in done.stdout
    assert "KeyRejectedError" in done.stderr
    assert_hidden(done.stdout, done.stderr, key=key)


# ------------------------------------------------------------------ where the key comes from


def test_the_argument_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBANALYTICS_API_KEY", "of-the-environment")
    assert wa.Hosted("https://api.example.com", " of-the-call ")._api.key_header() == "of-the-call"
    assert wa.Hosted("https://api.example.com", Secret("of-a-secret"))._api.key_header() == "of-a-secret"
    assert wa.Hosted("https://api.example.com")._api.key_header() == "of-the-environment"


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer prompts, and list them."""
    asked: list[str] = []

    def getpass(prompt: str) -> str:
        asked.append(prompt)
        return f" {KEY} "

    monkeypatch.setattr(client.getpass, "getpass", getpass)
    return asked


def test_a_terminal_is_asked_once_for_each_address(
    monkeypatch: pytest.MonkeyPatch, prompts: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    for _ in range(3):
        assert wa.Hosted("https://api.example.com/")._api.key_header() == KEY
    assert prompts == ["API key of https://api.example.com: "]
    wa.Hosted("https://other.example.com")
    assert len(prompts) == 2
    assert_hidden(repr(client._prompted))


def test_an_empty_answer_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    answers = ["", KEY]
    monkeypatch.setattr(client.getpass, "getpass", lambda prompt: answers.pop(0))
    with pytest.raises(ParameterError, match="`api_key`"):
        wa.Hosted("https://api.example.com")
    assert wa.Hosted("https://api.example.com")._api.key_header() == KEY


@pytest.mark.parametrize("stdin", [None, io.StringIO("a line")])
def test_where_nobody_can_answer_the_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, prompts: list[str], stdin: object
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(ParameterError, match="WEBANALYTICS_API_KEY"):
        wa.Hosted("https://api.example.com")
    assert prompts == []


@pytest.mark.parametrize("allowed", [True, False])
def test_a_notebook_is_asked_where_its_frontend_can_answer(
    monkeypatch: pytest.MonkeyPatch, prompts: list[str], allowed: bool
) -> None:
    shell = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=allowed))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    if allowed:
        assert wa.Hosted("https://api.example.com")._api.key_header() == KEY
    else:
        with pytest.raises(ParameterError, match="WEBANALYTICS_API_KEY"):
            wa.Hosted("https://api.example.com")
    assert len(prompts) == allowed


# ------------------------------------------------------------------ on the way, and in notebooks


@pytest.mark.parametrize("host", ["api.example.com", "192.168.1.5", "8.8.8.8", "localhost.example.com"])
def test_http_to_another_machine_warns(host: str) -> None:
    with pytest.warns(UserWarning, match="not encrypted") as caught:
        wa.Hosted(f"http://{host}:8080/below", KEY)
    (warning,) = caught
    assert warning.filename == __file__
    assert_hidden(str(warning.message))


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://a.b"]
)
def test_http_to_this_machine_does_not(base_url: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wa.Hosted(base_url, KEY)


def _notebook(*cells: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def test_a_saved_notebook_holds_no_key(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, revoked = server.key(), KEY
    monkeypatch.setenv("GOOD", good)
    monkeypatch.setenv("WEBANALYTICS_API_KEY", revoked)
    monkeypatch.setenv("SIGNING", SECRET)
    notebook = _notebook(
        "%xmode Verbose\nimport os, logging, webanalytics as wa\nlogging.basicConfig(level='DEBUG')",
        f"backend = wa.Hosted({server.base!r}, os.environ['GOOD'])\nwa.use(backend)\nbackend",
        "frame = wa.hmac(['a', 'b', None], secret=os.environ['SIGNING'], progress=True)\nprint(frame.attrs)\nframe",
        "vars(backend), wa.options",
        f"wa.hmac(['a'], secret=os.environ['SIGNING'], backend=wa.Hosted({server.base!r}))",
    )
    with pytest.raises(CellExecutionError) as caught:
        NotebookClient(notebook, kernel_name="python3", **NOTEBOOK_SECONDS).execute()
    path = tmp_path / "saved.ipynb"
    nbformat.write(notebook, path)
    saved = path.read_text("utf-8")
    assert "KeyRejectedError" in saved
    assert "api_key='**********'" in saved
    assert notebook.cells[2].outputs
    assert_hidden(saved, str(caught.value), key=good)
    assert_hidden(saved, str(caught.value), key=revoked)


def test_a_notebook_that_is_only_executed_is_not_asked(server: Server) -> None:
    notebook = _notebook(f"import webanalytics as wa\nwa.Hosted({server.base!r})")
    with pytest.raises(CellExecutionError, match="WEBANALYTICS_API_KEY"):
        NotebookClient(notebook, kernel_name="python3", **NOTEBOOK_SECONDS).execute()
