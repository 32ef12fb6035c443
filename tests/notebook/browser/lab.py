"""A JupyterLab server of its own, and one notebook in it as a reader sees it in Chromium."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from PIL import Image
from PIL.PngImagePlugin import PngInfo

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

CHROMIUM_FLAGS = (
    "--no-sandbox",  # as root in a container there is none
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--no-proxy-server",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)
SECONDS = 60
"""How long anything may take on a busy machine before it counts as a failure."""

SCREENSHOTS = "WEBANALYTICS_SCREENSHOTS"
"""Environment variable that names the folder for screenshots; without it none are taken."""

# No news over the picture; every output in the page at once; widgets' state saved with the notebook.
LAB_SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
}

RENEW = "WEBANALYTICS_RENEW_PICTURES"
"""Environment variable with which the pictures of the documentation are taken anew."""
DOCUMENTED = Path(__file__).parents[3] / "docs" / "widgets"
SHOWS = "Shows"
"""Name of the text in a picture that says what it shows."""
CHANGING = re.compile(r"127\.0\.0\.1:\d+|(?:< )?\b[\d.]+ m?s\b")
"""Ports and times, which differ from run to run."""
DIFFERENT = 0.1
"""Share of the words that another machine may say otherwise, such as a score where its pages are slow."""

_READY = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    return Boolean(panel?.sessionContext?.isReady && panel.content?.model?.cells.length);
}"""
_RUN_ALL = """async () => {
    const app = window.jupyterapp;
    await app.shell.currentWidget.sessionContext.ready;
    await app.commands.execute('notebook:run-all-cells');
}"""
_OUTPUTS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
    cell => cell.model.outputs ? cell.model.outputs.toJSON() : [])"""
_EXECUTE = """async code => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({code, store_history: false});
    let text = '';
    future.onIOPub = message => {
        const content = message.content;
        if (message.header.msg_type === 'stream') text += content.text;
        if (message.header.msg_type === 'execute_result') text += content.data['text/plain'];
        if (message.header.msg_type === 'error') text += content.ename + ': ' + content.evalue;
    };
    await future.done;
    return text;
}"""
_SHUT_DOWN = "async () => { await window.jupyterapp.serviceManager.sessions.shutdownAll(); }"
_PICTURES_THERE = """() => [...document.querySelectorAll('.jp-OutputArea-output img')]
    .every(image => image.complete && (image.naturalWidth > 0 || !image.getAttribute('src')))"""


def settled(area: Locator) -> Counter[str]:
    """Return the words of an area when it no longer changes."""
    before = None
    for _ in range(50):
        said = Counter(CHANGING.sub("", area.inner_text()).split())
        if said == before:
            break
        before = said
        area.page.wait_for_timeout(300)
    return said


def documented(picture: Path, area: Locator) -> None:
    """Compare a picture of the documentation with what stands there now, or take it anew."""
    said = settled(area)
    if os.environ.get(RENEW):
        area.screenshot(path=picture, animations="disabled")
        about = PngInfo()
        about.add_itxt(SHOWS, " ".join(sorted(said.elements())))
        with Image.open(picture) as image:
            image.convert("RGB").quantize(256).save(picture, pnginfo=about, optimize=True)
    with Image.open(picture) as image:
        shown = Counter(str(image.info.get(SHOWS, "")).split())
    other = ((said - shown) + (shown - said)).total() / max(1, (said + shown).total())
    assert other <= DIFFERENT, f"{picture.name} is old: {RENEW}=1 takes it anew; {said - shown}"


@dataclass(frozen=True)
class LabServer:
    """Where a running JupyterLab is reached, and the folder whose notebooks it opens."""

    url: str
    token: str
    folder: Path


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _environment(home: Path) -> dict[str, str]:
    """Return the environment of a server that reads and writes nothing of the user's."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
    }
    for name, values in LAB_SETTINGS.items():
        path = home / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return os.environ | {key: str(home / name) for key, name in folders.items()}


def _answers(server: LabServer) -> bool:
    with suppress(OSError, urllib.error.URLError):
        urllib.request.urlopen(f"{server.url}/api/status?token={server.token}", timeout=2).read()
        return True
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server, which ends its kernels; then whatever is left of its process group."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)


@contextmanager
def jupyterlab(home: Path) -> Iterator[LabServer]:
    """Run a JupyterLab server on loopback with all its files in ``home``."""
    folder, log = home / "notebooks", home / "server.log"
    folder.mkdir(parents=True)
    environment = _environment(home)
    for _ in range(3):  # somebody may take the free port before the server does
        port, token = _free_port(), secrets.token_hex(16)
        server = LabServer(f"http://127.0.0.1:{port}", token, folder)
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}"]
        command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--allow-root"]
        command += [f"--IdentityProvider.token={token}", "--expose-app-in-browser"]
        command += ["--LabApp.extension_manager=readonly"]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        try:
            deadline = time.monotonic() + SECONDS
            while process.poll() is None and time.monotonic() < deadline and not _answers(server):
                time.sleep(0.1)
            if process.poll() is None and _answers(server):
                yield server
                return
        finally:
            _stop(process)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-4000:]}")


@dataclass
class Notebook:
    """One notebook, open in a page of its own.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The browser's page.
    path : pathlib.Path
        The notebook's file; other files beside it are in the kernel's working folder.
    console_errors : list of str
        What the page complained of; the fixture fails a test that leaves any.
    """

    page: Page
    path: Path
    server: LabServer
    console_errors: list[str] = field(default_factory=list)

    def open(self) -> None:
        """Open the notebook and wait for its kernel."""
        self.page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        self.page.on("console", self._on_console)
        address = f"{self.server.url}/lab/tree/{self.path.name}?reset&token={self.server.token}"
        self.page.goto(address, wait_until="domcontentloaded")
        self.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for()
        self.page.wait_for_function(_READY)
        self.page.evaluate("() => window.jupyterapp.shell.collapseLeft()")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console_errors.append(f"console: {message.text}")

    def run_all(self) -> None:
        """Run all cells to their end; fail on cells that raise or write to standard error."""
        self.page.evaluate(_RUN_ALL)
        failures = self.failures()
        if failures:
            raise AssertionError("\n".join(failures))

    def outputs(self) -> list[list[dict[str, Any]]]:
        """Return the outputs of each cell, as the notebook format has them."""
        result: list[list[dict[str, Any]]] = self.page.evaluate(_OUTPUTS)
        return result

    def failures(self) -> list[str]:
        """Return what cells raised or wrote to standard error."""
        found = []
        for number, outputs in enumerate(self.outputs(), 1):
            for output in outputs:
                if output["output_type"] == "error":
                    found.append(f"cell {number}: {output['ename']}: {output['evalue']}")
                elif output.get("name") == "stderr":
                    found.append(f"cell {number}: {''.join(output['text'])}")
        return found

    def output(self, cell: int = -1) -> Locator:
        """Return the output area of one cell, by default of the last."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-outputArea")

    def execute(self, code: str) -> str:
        """Run code in the notebook's kernel, outside its cells; return what it printed."""
        return str(self.page.evaluate(_EXECUTE, code))

    def save(self) -> str:
        """Save the notebook as a reader would, and return the file's text."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return self.path.read_text("utf-8")

    def theme(self, name: str) -> None:
        """Change the theme, until the notebook is closed, to ``"JupyterLab Dark"`` or ``"JupyterLab Light"``."""
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name
        )
        light = "false" if "Dark" in name else "true"
        self.page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")

    def shot(self, name: str, area: Locator | None = None) -> None:
        """Keep a picture of an area, by default the last cell's output, where a folder is named for them.

        One that the documentation has must say what is said today; `RENEW` takes it anew.
        """
        self.page.wait_for_function(_PICTURES_THERE)
        area, folder = area or self.output(), os.environ.get(SCREENSHOTS)
        self.page.mouse.move(0, 0)
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            area.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")
        if (DOCUMENTED / f"{name}.png").exists():
            documented(DOCUMENTED / f"{name}.png", area)

    def close(self) -> None:
        """Stop the notebook's kernel and close the page."""
        with suppress(Exception):  # a page that never opened has neither kernel nor theme
            self.theme("JupyterLab Light")
            self.page.evaluate(_SHUT_DOWN)
        self.page.context.close()


@dataclass
class Lab:
    """Opens notebooks: call it with the source of each cell."""

    server: LabServer
    browser: Browser
    name: str
    opened: list[Notebook] = field(default_factory=list)

    def __call__(self, *cells: str, width: int = 1280, height: int = 1400, run: bool = True) -> Notebook:
        """Write a notebook of these cells, open it in a fresh page and run it."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        document = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata={"kernelspec": kernel}
        )
        path = self.server.folder / f"{self.name}-{len(self.opened)}.ipynb"
        nbformat.write(document, path)
        return self._open(path, width, height, run)

    def open(self, path: Path, *, width: int = 1280, height: int = 1400, run: bool = True) -> Notebook:
        """Open a copy of a notebook that is there already."""
        copy = self.server.folder / f"{self.name}-{len(self.opened)}.ipynb"
        shutil.copyfile(path, copy)
        return self._open(copy, width, height, run)

    def _open(self, path: Path, width: int, height: int, run: bool) -> Notebook:
        context = self.browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(SECONDS * 1000)
        notebook = Notebook(context.new_page(), path, self.server)
        self.opened.append(notebook)
        notebook.open()
        if run:
            notebook.run_all()
        return notebook
