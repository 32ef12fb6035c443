"""The saved notebooks: whole, readable without running, and free of what belongs to one machine or moment."""

from __future__ import annotations

import ast
import base64
import importlib.util
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))
MOST_BYTES = 1_500_000
CHECKED = "# NBVAL_CHECK_OUTPUT"
WIDGET = "application/vnd.jupyter.widget-view+json"

SILENT = {"clear", "cleanup", "click", "close", "join", "kill", "mkdir", "start", "stop", "terminate"}
SILENT |= {"to_csv", "to_excel", "unlink", "update", "use", "wait"}
"""Methods and functions that return nothing, or nothing that a notebook shows."""

FORBIDDEN = {
    "port of this machine": r"(?:127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1\]):\d+",
    "absolute path": r"(?<![\w./:~>-])/(?:tmp|home|root|Users|usr|opt|var|private|mnt|work)/",
    "path of Windows": r"\b[A-Z]:\\",
    "API key": r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "address in memory": r"\bat 0x[0-9a-f]{6,}",
    "progress bar": r"\d+%\|",
    "warning": r"\w+Warning:",
}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def notebook(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


@pytest.fixture(scope="module")
def saving() -> Any:
    spec = importlib.util.spec_from_file_location("save_notebooks", FOLDER / "save.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(output: Any) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of what an output shows; pictures are looked at elsewhere."""
    if output.output_type == "stream":
        yield output.name, output.text
    for kind, content in output.get("data", {}).items():
        if not kind.startswith("image/png"):
            yield kind, str(content)


def yields_output(source: str) -> bool:
    """Tell whether a cell shows something when it runs: it ends with an expression, or prints."""
    body = ast.parse(source).body
    calls = [node.func for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Call)]
    if any(isinstance(called, ast.Name) and called.id in ("print", "display") for called in calls):
        return True
    last = body[-1]
    if not isinstance(last, ast.Expr) or source.rstrip().endswith(";"):
        return False
    called = last.value.func if isinstance(last.value, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    return name not in SILENT


def draws_chart(source: str) -> bool:
    """Tell whether a cell ends with a call of a chart, or shows a figure."""
    last = ast.parse(source).body[-1]
    text = ast.unparse(last) if isinstance(last, ast.Expr) else ""
    return bool(re.match(r".*\.plot\.\w+\(|(?:wa\.)?charts\.\w+\(|(?:fig|figure)$", text, re.DOTALL))


def test_all_twelve_are_there() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{number:02}" for number in range(1, 13)]


def test_format_and_size(path: Path, notebook: Any) -> None:
    nbformat.validate(notebook)
    assert path.stat().st_size < MOST_BYTES


def test_opens_with_a_title_and_a_question(notebook: Any) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    question = first.source.partition("**The question:**")[2]
    assert "?" in question


def test_ends_with_a_conclusion_that_has_numbers(notebook: Any) -> None:
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    *_, (heading, text) = re.findall(r"(?ms)^##? ([^\n]+)\n(.*?)(?=^##? |\Z)", prose)
    assert heading == "Conclusion"
    assert len(text.split()) >= 40
    assert re.search(r"\d", text)


def test_every_cell_that_shows_something_has_its_output(notebook: Any) -> None:
    missing = [
        cell.source for cell in code_cells(notebook) if yields_output(cell.source) and not cell.outputs
    ]
    assert not missing


def test_cells_ran_once_and_in_order(notebook: Any) -> None:
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_no_error_and_nothing_on_standard_error(notebook: Any) -> None:
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]


def test_saved_outputs_belong_to_no_machine_or_moment(notebook: Any) -> None:
    found = [
        (what, match.group())
        for cell in code_cells(notebook)
        for output in cell.outputs
        for _, text in shown(output)
        for what, pattern in FORBIDDEN.items()
        if (match := re.search(pattern, text))
    ]
    assert not found


def test_sources_name_no_key_and_no_machine(notebook: Any) -> None:
    source = "\n".join(cell.source for cell in notebook.cells)
    for what in ("port of this machine", "absolute path", "API key", "private key"):
        assert not re.search(FORBIDDEN[what], source), what


def test_metadata_are_the_same_everywhere(notebook: Any, saving: Any) -> None:
    assert notebook.metadata == saving.METADATA  # no state of widgets either
    assert not [cell for cell in notebook.cells if "execution" in cell.metadata]


def test_widgets_show_something_without_a_kernel(notebook: Any) -> None:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert WIDGET not in output.get("data", {}), cell.source


def test_charts_are_pictures(notebook: Any) -> None:
    charts = [cell for cell in code_cells(notebook) if draws_chart(cell.source)]
    for cell in charts:
        pictures = [
            output.data["image/png"] for output in cell.outputs if "image/png" in output.get("data", {})
        ]
        assert pictures, cell.source
        for picture in pictures:
            width, height = size_of_png(base64.b64decode(picture))
            assert width >= 600, cell.source
            assert height >= 200, cell.source


def size_of_png(content: bytes) -> tuple[int, int]:
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])  # the header chunk comes first (PNG, 11.2.2)
    return width, height


def test_the_notebooks_have_charts() -> None:
    without = [
        path.name
        for path in NOTEBOOKS
        if not any(
            "image/png" in output.get("data", {})
            for cell in code_cells(nbformat.read(path, as_version=4))
            for output in cell.outputs
        )
    ]
    assert not without


def test_compared_outputs_are_plain_text(notebook: Any) -> None:
    compared = [cell for cell in code_cells(notebook) if cell.source.startswith(CHECKED)]
    assert compared
    for cell in compared:
        assert cell.outputs, cell.source
        assert {kind for output in cell.outputs for kind, _ in shown(output)} <= {"stdout", "text/plain"}


def test_links_lead_somewhere(path: Path, notebook: Any) -> None:
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    targets = re.findall(r"\]\(([^)#\s]+)", prose)
    assert not [target for target in targets if "://" not in target and not (path.parent / target).exists()]


def test_readme_lists_each_notebook_in_one_line() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    listed = re.findall(r"(?m)^\| \[[^\]]+\]\(([^)]+\.ipynb)\) \| .+\? \|$", readme)
    assert listed == [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("http://127.0.0.1:40123/shop", "port of this machine"),
        ("see /home/somebody/audit.csv", "absolute path"),
        ("'/tmp/tmpab12/audit'", "absolute path"),
        ("<Axes at 0x7f0a12345678>", "address in memory"),
        (" 45%|####5     |", "progress bar"),
        ("c0ffee00-1234-4abc-8def-001122334455", "API key"),
    ],
)
def test_patterns_find_what_they_are_for(text: str, what: str) -> None:
    assert re.search(FORBIDDEN[what], text)


@pytest.mark.parametrize(
    "text", ["/docs/battery-pack", "/shop/tmp/x", "12:30", "</tmp>", "https://a.example/home/"]
)
def test_patterns_leave_paths_of_a_site_alone(text: str) -> None:
    assert not [what for what, pattern in FORBIDDEN.items() if re.search(pattern, text)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("frame.head()", True),
        ("x = 1", False),
        ("site.stop()", False),
        ("x = 1\nprint(x)", True),
        ("for x in y:\n    display(x)", True),
        ("frame.head();", False),
    ],
)
def test_which_cells_yield_output(source: str, expected: bool) -> None:
    assert yields_output(source) is expected


def test_sanitising_takes_out_what_differs() -> None:
    from configparser import ConfigParser  # what nbval reads it with

    rules = ConfigParser(interpolation=None)
    rules.read(FOLDER / "nbval.cfg", encoding="utf-8")
    text = "http://127.0.0.1:40123/x at 0x7f0a12345678 in /tmp/tmpab12/audit.csv after 1.25 s"
    for name in rules.sections():
        text = re.sub(rules.get(name, "regex"), rules.get(name, "replace"), text)
    assert text == "http://127.0.0.1:PORT/x at ADDRESS in FOLDER after TIME"


def test_saving_keeps_what_shows_and_drops_what_is_alive(saving: Any) -> None:
    live = {WIDGET: {"model_id": "1"}, "text/plain": "<Explorer>"}
    cell = nbformat.v4.new_code_cell("explore", metadata={"execution": {"started": "now"}})
    cell.outputs = [
        nbformat.v4.new_output("display_data", live | {"text/plain": " 45%|####5     |"}),
        nbformat.v4.new_output("execute_result", live | {"text/html": "<p>37 pages</p>"}, execution_count=7),
        nbformat.v4.new_output("stream", text="done\n"),
    ]
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": {"state": {}}})
    saving.tidy(notebook)
    result, stream = notebook.cells[0].outputs
    assert dict(result.data) == {"text/plain": "<Explorer>", "text/html": "<p>37 pages</p>"}
    assert (result.execution_count, stream.text) == (1, "done\n")
    assert notebook.metadata == saving.METADATA
    assert not notebook.cells[0].metadata
