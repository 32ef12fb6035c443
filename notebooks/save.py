"""Run notebooks and save their outputs the way this folder keeps them.

Usage: ``python notebooks/save.py [NOTEBOOK ...]``, all of them where none is named.

Saved outputs are what a reader sees who does not run anything, so they hold nothing that only a running
kernel, one machine or one moment has: of a widget its static picture stays and the reference to its live
model goes, progress bars go, and so do time stamps and the kernel's version.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent
PORT = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+")
"""Where a server of this run listened: another port each time, and written as nbval.cfg compares it."""
WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def tidy(notebook: NotebookNode) -> None:
    """Take out of a notebook that was run what belongs to the run alone."""
    notebook.metadata = NotebookNode(METADATA)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, 1):
        cell.metadata.pop("execution", None)
        cell.execution_count = count
        cell.outputs = [output for output in cell.outputs if kept(output)]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
            if "image/png" in output.get("data", {}):
                output.data.pop("text/html", None)  # the same picture once more, for dark themes
            without_port(output)


def without_port(output: NotebookNode) -> None:
    """Take the port of a server of this run out of what an output says."""
    if "text" in output:
        output.text = PORT.sub(r"\1:PORT", output.text)
    for kind, content in output.get("data", {}).items():
        if kind.startswith("text/"):
            output.data[kind] = PORT.sub(r"\1:PORT", content)


def kept(output: NotebookNode) -> bool:
    """Tell whether to keep an output; one with a widget keeps its HTML in the place of the live view."""
    if output.output_type not in ("display_data", "execute_result") or WIDGET not in output.data:
        return True
    del output.data[WIDGET]
    return "text/html" in output.data


def save(path: Path) -> None:
    """Run a notebook in its folder and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
    )
    client.execute()
    tidy(notebook)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def main() -> None:
    """Save the notebooks named on the command line, or all of them."""
    os.environ["WEBANALYTICS_PROGRESS"] = "0"
    for path in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("[0-9]*.ipynb")):
        save(path)
        print(f"{path.name}  {path.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
