"""The shared style: labels that any page may bring, and no trace in matplotlib's settings."""

from __future__ import annotations

import base64
import html
import io
import subprocess
import sys

import matplotlib as mpl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from PIL import Image
from wcwidth import wcswidth

from webanalytics.notebook.charts import keywords
from webanalytics.notebook.drawing import data, labels


@given(st.text(max_size=200), st.integers(5, 60))
def test_shortened_text_fits_on_one_line(text: str, width: int) -> None:
    short = labels.shorten(text, width)
    assert wcswidth(short) <= width
    assert "\n" not in short
    short.encode()  # no lone surrogate is left


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=31, max_size=90))
def test_shortened_text_keeps_both_ends(text: str) -> None:
    short = labels.shorten(text, 30)
    head, tail = short.split("…")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert abs(len(head) - len(tail)) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        (" two\r\n lines\t", "two lines"),
        ("a\u202eb\u200fc", "abc"),
        ("", ""),
    ],
)
def test_short_text_is_only_cleaned(text: str, expected: str) -> None:
    assert labels.shorten(text) == expected


@pytest.mark.parametrize(
    ("urls", "expected"),
    [
        (["https://a.example", "https://a.example/b/?q=1"], ["/", "/b/?q=1"]),
        (["https://u:p@a.example/x", "http://b.example:8080/x"], ["a.example/x", "b.example:8080/x"]),
        (["/already/a%20path", "/"], ["…/a path", "/"]),
        (["http://[::1/", "no url at all"], ["http://[::1/", "no url at all"]),
        ([None, float("nan"), 3], ["row 0", "row 1", "3"]),
    ],
)
def test_urls_are_labelled_by_their_paths(urls: list[object], expected: list[str]) -> None:
    assert labels.path_labels(pd.Series(urls, dtype=object)) == expected


def test_letters_without_any_font_become_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "_FALLBACK_FONTS", ())
    assert labels.lettering(["灯り lamp", "مصباح"]) == (["□□ lamp", "مصباح"], ["DejaVu Sans"])


def test_an_installed_fallback_font_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {
        "DejaVu Sans": frozenset(map(ord, "lamp ")),
        "First": frozenset(),
        "Second": frozenset(map(ord, "灯り")),
    }
    monkeypatch.setattr(labels, "_FALLBACK_FONTS", ("First", "Second"))
    monkeypatch.setattr(labels, "_letters", held.get)
    assert labels.lettering(["灯り lamp"]) == (["灯り lamp"], ["DejaVu Sans", "Second"])


def test_failures_without_kinds_are_counted() -> None:
    assert data.failures(pd.DataFrame({"status": ["error", "ok", pd.NA]})) == "1 failed"
    assert data.failures(pd.DataFrame({"status": ["ok"]})) == ""
    assert data.failures(pd.DataFrame({"url": ["x"]})) == ""


def test_settings_are_the_users_own_again() -> None:
    frame = pd.DataFrame({"url": "https://a.example/", "keyword": ["lamp"], "frequency": [1]})
    with mpl.rc_context({"axes.titlesize": 31, "axes.grid": True, "figure.facecolor": "black"}):
        before = dict(mpl.rcParams)
        ax = keywords(frame)
        assert dict(mpl.rcParams) == before
    assert ax.figure.get_facecolor() == (1, 1, 1, 1)  # and theirs have not leaked into the chart
    assert ax.title.get_fontsize() != 31


def test_a_notebook_shows_the_axes() -> None:
    frame = pd.DataFrame({"url": "https://a.example/", "keyword": ["lamp"], "frequency": [1]})
    chart = keywords(frame)
    shown, details = DisplayFormatter().format(chart)
    picture = Image.open(io.BytesIO(base64.b64decode(shown["image/png"])))
    assert picture.width == pytest.approx(8.5 * 144, abs=1)
    width, height = chart.figure.get_size_inches() * 96  # an inch is 96 pixels of CSS
    assert details["image/png"] == {"width": round(width), "height": round(height)}
    assert f'alt="{html.escape(chart.get_title("left"))}"' in shown["text/html"], "a name for screen readers"
    assert shown["image/png"] in shown["text/html"], "the same picture, which a dark theme turns around"


def test_charts_never_import_pyplot() -> None:
    code = "import sys, webanalytics.notebook.charts; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
