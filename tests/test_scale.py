"""The guide on what many pages take: its tables are those of the script, whose figures are in the measurements."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.scale import FIGURES, tables

ROOT = Path(__file__).parent.parent
GUIDE = ROOT.joinpath("docs/guides/past-one-machine.md").read_text("utf-8")


@pytest.mark.parametrize("title", tables())
def test_tables_of_the_guide_are_those_of_the_script(title: str) -> None:
    """Stale ones are made anew by `python -m tests.benchmarks scale`."""
    assert tables()[title] in GUIDE


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_where_it_is_said_to_be(name: str) -> None:
    figure = FIGURES[name]
    assert figure.said in ROOT.joinpath(figure.where).read_text("utf-8")
    assert f"{figure.value:g}" in figure.said.replace(",", "")
