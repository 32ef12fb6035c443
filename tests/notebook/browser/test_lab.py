"""The browser fixtures themselves."""

from __future__ import annotations

import pytest

from tests.notebook.browser.lab import Lab


def test_a_notebook_runs_in_the_browser(lab: Lab) -> None:
    notebook = lab("x = 6 * 7", "import ipywidgets as w\nw.Label(value=f'the answer is {x}')")
    assert notebook.output().get_by_text("the answer is 42").is_visible()
    assert notebook.execute("print(x)") == "42\n"
    assert "the answer is 42" in notebook.save()
    notebook.shot("fixture")


def test_a_failing_cell_is_reported(lab: Lab) -> None:
    notebook = lab("1 / 0", run=False)
    with pytest.raises(AssertionError, match="cell 1: ZeroDivisionError"):
        notebook.run_all()
