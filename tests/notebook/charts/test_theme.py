"""A theme that is chosen: charts are drawn in it, and audits and the explorer have a ground of their own."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import webanalytics as wa
from tests.audits.saved import audit as saved_audit
from tests.notebook.charts.test_every_chart import draw, each_chart, frame_of
from webanalytics.notebook.explorer.explorer import Explorer
from webanalytics.notebook.issue_table import as_html

# https://www.w3.org/TR/filter-effects-1/: hue-rotate(180deg), where the cosine is -1 and the sine 0
GREY = np.array([0.213, 0.715, 0.072])
HUE = np.tile(GREY, (3, 1)) - (np.eye(3) - np.tile(GREY, (3, 1)))


def pixels(ax: Axes) -> Any:
    stream = io.BytesIO()
    ax.figure.savefig(stream, format="png")
    return np.asarray(Image.open(stream).convert("RGB")).astype(float) / 255


def filtered(picture: Any) -> Any:
    """What ``filter: invert(0.93) hue-rotate(180deg)`` makes of a picture."""
    return np.clip((0.93 * (1 - picture) + 0.07 * picture) @ HUE.T, 0, 1)


@each_chart
def test_a_dark_chart_is_what_a_dark_notebook_makes_of_it(name: str) -> None:
    frame = frame_of(name, 6)
    light = pixels(draw(name, frame))
    with wa.option_context(theme="dark"):
        dark = pixels(draw(name, frame))
    assert np.abs(filtered(light) - dark).max() < 0.05
    assert dark[0, 0].max() < 0.1


def test_a_chosen_theme_is_not_turned_around_again() -> None:
    frame = frame_of("words", 6)
    turned = {}
    for theme in ("auto", "light", "dark"):
        with wa.option_context(theme=theme):
            ax = draw("words", frame)
        turned[theme] = "filter:" in ax._repr_mimebundle_()[0]["text/html"]  # shown when the block is over
        # the class whose pictures the style of another chart turns
        classed = "wa-picture" in ax._repr_mimebundle_()[0]["text/html"]
        assert classed is (theme == "auto")
    assert turned == {"auto": True, "light": False, "dark": False}


def test_a_chart_in_a_figure_of_ones_own_keeps_its_card() -> None:
    with wa.option_context(theme="dark"):
        ax = draw("words", frame_of("words", 6), ax=Figure().add_subplot())
    assert ax.get_facecolor() == (1, 1, 1, 1)


def test_audits_and_issues_have_a_ground_where_a_theme_is_chosen() -> None:
    audit = saved_audit()
    shown = (audit._repr_html_, lambda: as_html(audit.issues), lambda: Explorer(audit)._repr_html_())
    for show in shown:
        assert "color-scheme" not in show()
        with wa.option_context(theme="dark"):
            assert "color-scheme:dark;background:#111111" in show()
        with wa.option_context(theme="light"):
            assert "color-scheme:light;background:#ffffff" in show()


def test_the_explorer_is_told_the_theme() -> None:
    frame = pd.DataFrame({"url": ["https://a.example/"], "title": ["Tea"], "status": ["ok"]})
    assert Explorer(frame)._content["theme"] == "auto"
    with wa.option_context(theme="dark"):
        assert Explorer(frame)._content["theme"] == "dark"


def test_another_theme_is_refused() -> None:
    with pytest.raises(wa.ParameterError, match="`theme` parameter must be one of: auto, light, dark"):
        wa.options.theme = "solarized"
