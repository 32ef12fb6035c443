"""What a progress bar leaves in a notebook, where no widgets are shown."""

from __future__ import annotations

from typing import Any

import IPython.display
import pytest

from webanalytics.runs import boundary


class Output:
    """The output of a cell: what stands in it as text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, shown: Any, *, display_id: bool) -> Output:
        assert display_id  # an output without one cannot be changed
        self.texts.append(repr(shown))
        return self

    def update(self, shown: Any, *, raw: bool = False) -> None:
        self.texts.append(shown["text/plain"] if raw else repr(shown))


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    output = Output()
    monkeypatch.setattr(boundary, "kernel", object)
    monkeypatch.setattr(IPython.display, "display", output.display)
    return output


def test_a_bar_that_is_done_leaves_no_text(output: Output) -> None:
    bar = boundary.progress_bar(1, "crawl")
    bar.total = 60
    bar.update(60)
    bar.close()
    assert output.texts[0].startswith("crawl:   0%")
    assert output.texts[-1] == ""
    assert len(output.texts) == 2


def test_a_bar_that_was_stopped_says_how_far_it_came(output: Output) -> None:
    bar = boundary.progress_bar(1, "crawl")
    bar.total = 500
    bar.update(128)
    bar.set_postfix_str("keeping 128 finished rows")
    bar.close()
    assert "128/500" in output.texts[-1]
    assert "keeping 128 finished rows" in output.texts[-1]
