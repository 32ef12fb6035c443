"""Progress: a bar where somebody sees it, silence elsewhere."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.effort import NOTEBOOK_SECONDS

CALL = "import webanalytics as wa\nframe = wa.hmac([str(n) for n in range(3000)], secret='k'{more})\nprint(len(frame))\n"


@pytest.mark.parametrize(
    ("more", "bar"), [("", False), (", progress=False", False), (", progress=True", True)]
)
def test_a_pipe_is_silent_unless_asked(more: str, bar: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(more=more)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3000\n"
    assert ("hmac" in done.stderr) is bar


def test_the_environment_can_switch_it_on() -> None:
    import os

    environment = {**os.environ, "WEBANALYTICS_PROGRESS": "1"}
    command = [sys.executable, "-c", CALL.format(more="")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "hmac: " in done.stderr


class Front(NotebookClient):
    """A client that remembers what was displayed at first, whatever took its place."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.displayed: list[set[str]] = []

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] == "display_data":
            self.displayed.append(set(msg["content"]["data"]))
        return super().process_message(msg, cell, cell_index)


def run_cell(source: str) -> tuple[list[nbformat.NotebookNode], list[set[str]]]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(source))])
    front = Front(notebook, kernel_name="python3", **NOTEBOOK_SECONDS)
    front.execute()
    return notebook.cells[0].outputs, front.displayed


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_notebook_shows_a_widget_and_no_noise() -> None:
    outputs, displayed = run_cell(CALL.format(more=""))
    kinds = {output.get("name", output.output_type) for output in outputs}
    assert "stderr" not in kinds
    assert any("application/vnd.jupyter.widget-view+json" in kinds for kinds in displayed)
    assert [output["data"] for output in outputs if "data" in output] == [{"text/plain": ""}], (
        "done, and gone"
    )
    assert any(output.get("text") == "3000\n" for output in outputs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_await_works_in_a_cell_and_progress_can_be_off() -> None:
    outputs, _ = run_cell(
        """
        import webanalytics as wa
        frame = await wa.aio.hmac(["a", "b"], secret="k", progress=False)
        print(len(frame), len(wa.hmac(["a"], secret="k")))
        """
    )
    assert [output.get("text") for output in outputs] == ["2 1\n"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_widget_of_a_call_that_grows_is_as_full_as_it_says() -> None:
    outputs, _ = run_cell(
        """
        from webanalytics.runs.boundary import Run
        from webanalytics.runs.partial import Partial
        run = Run()
        run.emit = lambda event: event()
        run.start(1, Partial(list, lambda: 0), "crawl", True, grows=True)
        run.step(1)
        run.grow(40)
        drawn = run._bar.container.children[1]
        print(drawn.value / drawn.max)
        """
    )
    assert [output.text for output in outputs if output.output_type == "stream"] == ["0.025\n"]
