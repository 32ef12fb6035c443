"""The one style that all charts share: figures, colours, headlines and axes.

Colours are from Okabe and Ito's palette (*Color Universal Design*, 2008) or darkened from it until each
contrasts with white by 3:1 (WCAG 2.2, 1.4.11); they are distinct under every common form of colour blindness,
and ordered scales differ in lightness, so that they survive printing in grey.

A chart is drawn on an opaque white card, so it reads the same on any ground and on paper; a notebook with a
dark theme turns light into dark as it shows it, and ``options.theme = "dark"`` does so as it is drawn. In the
user's own figure the card is the inside of the axes, white in any theme; text around it takes a colour that
is legible on that figure, whether it is light, dark or transparent.
"""

from __future__ import annotations

import base64
import functools
import html
import inspect
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

import matplotlib.style as mpl_style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import ListedColormap, to_rgb, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from webanalytics.core.run_options import options
from webanalytics.errors import ParameterError
from webanalytics.notebook.drawing.labels import BASE_FONT
from webanalytics.runs.frames.kinds import in_kind

P = ParamSpec("P")

BLUE = "#0072b2"
ORANGE = "#d55e00"
INK = "#222222"
MUTED = "#5f6368"
GRID = "#d9dde1"
CARD = "#ffffff"
SEQUENCE = ("#f3f8fc", "#e3eef7", "#d0e2f1", "#bbd5ea", "#a4c6e2")
"""Ordered tints of one hue, from light to dark, for what lies behind marks."""

BLUE_TINT = "#d6e8f4"
ORANGE_TINT = "#fbe3d3"
LEVELS = ("#00406b", "#2f8fd0", "#7d8287", "#d67d00", "#8f2a00")
"""Five levels from good over neutral to bad."""

HEAT = ("#f3f8fc", "#b5d3ea", "#5fa3d3", "#0072b2", "#00406b")
"""From low to high, for the cells of a heat map."""

FEWEST_ROWS = 3
"""A chart of fewer rows leaves the others empty, so that a single bar does not fill the height."""

WIDTH = 8.5
_NOTEBOOK_DPI = 96

_RC = {
    "figure.facecolor": CARD,
    "savefig.facecolor": "auto",
    "axes.facecolor": CARD,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.5,
    "axes.titlecolor": INK,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.unicode_minus": True,
    "font.family": [BASE_FONT],
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.8,
    "text.color": INK,
    "text.parse_math": False,  # a keyword or a path may hold two dollar signs
    "text.usetex": False,
    "xtick.color": MUTED,
    "xtick.labelsize": 9,
    "ytick.color": INK,
    "ytick.labelsize": 9.5,
    "ytick.major.size": 0,
}


@contextmanager
def context() -> Iterator[None]:
    """Apply the charts' settings inside the block, and restore the user's afterwards.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> before = mpl.rcParams["axes.titlesize"]
    >>> with context():
    ...     mpl.rcParams["axes.titlesize"]
    13.0
    >>> mpl.rcParams["axes.titlesize"] == before
    True
    """
    with mpl_style.context(["default", _RC]):
        yield


def chart(function: Callable[P, Axes]) -> Callable[P, Axes]:
    """Return a chart that takes tables of any library, and draws with the charts' settings.

    Its documentation says what holds for every chart.
    """
    draw = in_kind(function)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Axes:
        with context():
            drawn = draw(*args, **kwargs)
        if isinstance(drawn, ChartAxes) and drawn.theme == "dark":
            turn_dark(drawn)
        return drawn

    head, *sections = re.split(r"\n\n(?=[A-Z][a-z]+\n---)", inspect.getdoc(function) or "")
    parts = {text.partition("\n")[0]: text for text in sections}
    parts = {
        "Parameters": parts.pop("Parameters", "") + _PARAMETERS,
        "Returns": _RETURNS,
        "Raises": _RAISES,
    } | parts
    wrapper.__doc__ = "\n\n".join([head, *parts.values()])
    return wrapper


_PARAMETERS = """
ax : Axes, optional
    Where to draw; a new figure otherwise.
title : str, optional
    Title of the chart."""
_RETURNS = """\
Returns
-------
Axes
    ``ax.figure.savefig(path)`` writes the chart to a file."""
_RAISES = """\
Raises
------
ParameterError
    When the frame lacks a column that is needed."""


_DARK = (
    ':is([data-jp-theme-light="false"], .vscode-dark, .dark, [data-theme="dark"]) .wa-picture '
    "{ filter: invert(0.93) hue-rotate(180deg); }"
)
"""Light for dark and dark for light, hues as they were: in JupyterLab, VS Code, marimo and documentation."""
_INVERTED = 0.93
_HUE = np.array([[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]])
"""What that filter does to a colour (Filter Effects Module Level 1, hue-rotate and invert)."""


class ChartAxes(Axes):
    """Axes of a new figure, which a notebook shows when they end a cell, and the theme they were made in."""

    theme = "auto"

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the picture and its display size, and HTML that follows the theme of the notebook."""
        stream = io.BytesIO()
        figure: Any = self.figure
        figure.savefig(stream, format="png")
        width, height = (round(side * _NOTEBOOK_DPI) for side in figure.get_size_inches())
        picture = base64.b64encode(stream.getvalue()).decode()
        named = html.escape(self.get_title("left") or self.get_title())
        follows, kind = (f"<style>{_DARK}</style>", "wa-picture") if self.theme == "auto" else ("", "")
        shown = (
            f'{follows}<img class="{kind}" alt="{named}" width="{width}" height="{height}" '
            f'style="max-width:100%;height:auto" src="data:image/png;base64,{picture}">'
        )
        return {"image/png": picture, "text/html": shown}, {"image/png": {"width": width, "height": height}}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self._repr_mimebundle_()[0]["text/html"]


def in_dark(colours: Any) -> Any:
    """Return colours, one or many, as the dark theme has them: RGBA from 0 to 1."""
    found = np.array(colours if np.ndim(colours) == 3 else to_rgba_array(colours), dtype=float)
    inverted = _INVERTED + (1 - 2 * _INVERTED) * found[..., :3]
    found[..., :3] = np.clip(inverted @ _HUE.T, 0, 1)
    return found


def turn_dark(axes: Axes) -> None:
    """Give all that a chart's figure shows the colours of the dark theme."""
    figure: Any = axes.figure
    figure.draw_without_rendering()  # what is made only then
    boxes = (text.get_bbox_patch() for text in figure.findobj(Text))
    for artist in (*figure.findobj(), *(box for box in boxes if box is not None)):
        for kind, names in _COLOURED.items():
            for name in names if isinstance(artist, kind) else ():
                turned = in_dark(getattr(artist, f"get_{name}")())
                getattr(artist, f"set_{name}")(turned.squeeze() if turned[..., 3].any() else "none")
        if isinstance(artist, AxesImage):
            cells: Any = artist.get_array()
            if cells.ndim == 3:  # colours, and no values
                artist.set_data(in_dark(cells))
            artist.set_cmap(ListedColormap(in_dark(artist.cmap(np.arange(artist.cmap.N)))))


_COLOURED = {
    Line2D: ("markerfacecolor", "markeredgecolor", "color"),
    Patch: ("facecolor", "edgecolor"),
    Collection: ("facecolor", "edgecolor"),
    Text: ("color",),
}


def new_axes(height: float) -> ChartAxes:
    """Return Axes of a new figure, so many inches high, outside pyplot's state.

    Examples
    --------
    >>> new_axes(3).figure.get_size_inches().tolist()
    [8.5, 3.0]
    """
    figure = Figure(figsize=(WIDTH, height), dpi=144, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot(axes_class=ChartAxes)
    axes.theme = options.theme
    return axes  # type: ignore[no-any-return]


def start(ax: Axes | None, height: float) -> Axes:
    """Return the axes to draw in, with the style applied: the given ones, or new ones of this height.

    Raises `ParameterError` when `ax` is something else.
    """
    ax = new_axes(height) if ax is None else ax
    if not isinstance(ax, Axes):
        raise ParameterError.must_be("ax", f"one matplotlib Axes or None, not {type(ax).__name__}")
    figure: Any = ax.figure
    while figure is not (figure.figure or figure):
        figure = figure.figure
    if ax.get_subplotspec() is not None and figure.get_layout_engine() is None:
        # without one, the labels of a chart are drawn over its neighbour
        figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    ax.set_facecolor(CARD)
    ax.set_axisbelow(True)
    ax.grid(False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(GRID)
    ax.tick_params(axis="x", color=GRID, labelcolor=muted(ax), length=3, labelsize=9)
    ax.tick_params(axis="y", color=GRID, labelcolor=ink(ax), length=0, labelsize=9.5)
    return ax


def ink(ax: Axes) -> str:
    """Return the colour for names written around the axes."""
    return _on_figure(ax, INK, "#f1f3f4")


def muted(ax: Axes) -> str:
    """Return the colour for secondary text."""
    return _on_figure(ax, MUTED, "#c4c8cc")


def _on_figure(ax: Axes, on_light: str, on_dark: str) -> str:
    """Return the colour that suits the figure; grey on a transparent one, whose background is unknown."""
    figure: Any = ax.figure
    while to_rgba(figure.get_facecolor())[3] < 0.5 and figure is not (figure.figure or figure):
        figure = figure.figure  # a transparent part of a figure shows the figure
    face = figure.get_facecolor()
    if to_rgba(face)[3] < 0.5:
        return "#767676"  # 4.5:1 on white and on black
    return on_light if luminance(face) > 0.18 else on_dark


def row_height(rows: int, around: float, each: float = 0.28) -> float:
    """Return the height in inches of a chart with so many rows and the given margin."""
    return around + each * max(rows, FEWEST_ROWS)


def text_on(colour: Any) -> str:
    """Return the colour, ink or white, that is more legible on another.

    >>> text_on("#ffffff") == INK, text_on(BLUE) == CARD
    (True, True)
    """
    light = luminance(colour)
    on_white, on_ink = 1.05 / (light + 0.05), (light + 0.05) / (luminance(INK) + 0.05)
    return CARD if on_white >= on_ink else INK


def luminance(colour: Any) -> float:
    """Return the relative luminance of a colour, from 0 to 1 (WCAG 2.2).

    >>> luminance("white"), luminance("black")
    (1.0, 0.0)
    """
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return round(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2], 6)
