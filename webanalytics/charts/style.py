"""The one style that all charts share: figures, colours, fonts and labels.

Colours are from Okabe and Ito's palette (*Color Universal Design*, 2008), which people with any common
form of colour blindness can tell apart, and ordered scales differ in lightness, so that they survive a
print in grey. The card is opaque white: it reads the same in a light and in a dark notebook.
"""

from __future__ import annotations

import functools
import io
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import matplotlib.style as mpl_style
import pandas as pd
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from webanalytics.errors import ParameterError

BLUE = "#0072b2"
ORANGE = "#d55e00"
INK = "#222222"
MUTED = "#5f6368"
GRID = "#d9dde1"
CARD = "#ffffff"
SEQUENCE = ("#f3f8fc", "#e3eef7", "#d0e2f1", "#bbd5ea", "#a4c6e2")
"""Ordered tints of one hue, from light to dark, for what lies behind marks."""

FEWEST_ROWS = 3
"""A chart of fewer rows leaves room for the others, so that a single bar is not a wall."""

MISSING_GLYPH = "\u25a1"

_BASE_FONT = "DejaVu Sans"  # comes with matplotlib, so it is always there
_FALLBACK_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans JP",
    "Noto Sans SC",
    "Source Han Sans",
    "Hiragino Sans",
    "PingFang SC",
    "Apple SD Gothic Neo",
    "Yu Gothic",
    "Meiryo",
    "Microsoft YaHei",
    "Malgun Gothic",
    "IPAexGothic",
    "IPAGothic",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Thai",
    "Nirmala UI",
    "Kohinoor Devanagari",
    "Leelawadee UI",
    "Thonburi",
)

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
    "font.family": [_BASE_FONT],
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
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
    """Give the charts' settings to what is drawn inside, and the user's back afterwards.

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


class ChartAxes(Axes):
    """Axes of a figure of their own, which a notebook shows when they end a cell."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        figure: Any = self.figure
        figure.savefig(stream, format="png")
        return stream.getvalue()


def new_axes(height: float, width: float = 8.5) -> Axes:
    """Return Axes of a new figure that no pyplot window or state knows of.

    Parameters
    ----------
    height, width : float
        Size of the figure in inches.

    Examples
    --------
    >>> new_axes(3).figure.get_size_inches().tolist()
    [8.5, 3.0]
    """
    figure = Figure(figsize=(width, height), dpi=144, layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    axes: Axes = figure.add_subplot(axes_class=ChartAxes)
    return axes


def headline(ax: Axes, title: str, subtitle: str = "", lift: float = 0.0) -> None:
    """Write the title and a quieter line under it, `lift` points above the top of the axes."""
    (title, subtitle), families = lettering([title, subtitle])
    pad = 8 + lift + (16 if subtitle else 0)
    ax.set_title(title, loc="left", pad=pad, fontfamily=families, parse_math=False)
    if subtitle:
        outer_text(ax, subtitle, (0, 1), (0, 7 + lift), families=families, fontsize=9.5)


def outer_text(
    ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **properties: Any
) -> Text:
    """Write beside the axes: at a place in their coordinates, moved by points."""
    families = properties.pop("families", [_BASE_FONT])
    # The colour of the axis label suits the paper, also where the axes are the user's own
    properties.setdefault("color", ax.xaxis.label.get_color())
    return ax.annotate(
        text,
        at,
        offset,
        xycoords="axes fraction",
        textcoords="offset points",
        fontfamily=families,
        parse_math=False,
        annotation_clip=False,
        **properties,
    )


def row_labels(ax: Axes, labels: Iterable[str], width: int = 40) -> None:
    """Label rows 0, 1, ... of a horizontal chart, shortened in the middle, in fonts that have the letters."""
    texts, families = lettering(shorten(label, width) for label in labels)
    ax.set_yticks(range(len(texts)), labels=texts, fontfamily=families, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(texts), FEWEST_ROWS) - 0.4, -0.6)


def count_axis(axis: Axis) -> None:
    """Give an axis of counts at most six round, whole numbers."""
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def finish_value_axis(ax: Axes, label: str, ticks: Iterable[float] | None = None) -> None:
    """Label the horizontal axis, and fix its ticks so that later settings change nothing."""
    ax.set_xlabel(label, fontfamily=[_BASE_FONT])
    places = list(ax.get_xticks()) if ticks is None else list(ticks)
    low, high = ax.get_xlim()
    places = [place for place in places if low <= place <= high]
    ax.set_xticks(places, labels=[f"{place:,g}" for place in places], fontfamily=[_BASE_FONT])
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="x", length=3)


def message(ax: Axes, text: str) -> None:
    """Say in the middle of the axes why there is nothing to draw."""
    ax.set_axis_off()
    (text,), families = lettering([text])
    ax.text(
        0.5,
        0.5,
        text,
        transform=ax.transAxes,
        ha="center",
        va="center",
        color=ax.xaxis.label.get_color(),
        fontsize=11,
        fontfamily=families,
        parse_math=False,
    )


def require_columns(frame: pd.DataFrame, columns: Collection[str]) -> None:
    """Raise unless the frame has the columns.

    Raises
    ------
    ParameterError
        Naming the columns that are missing.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        names = ", ".join(missing)
        raise ParameterError(f"The `frame` parameter must have the columns: {names}.", parameter="frame")


def counted(number: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "page"), counted(10_000, "page")
    ('1 page', '10,000 pages')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def failures(frame: pd.DataFrame) -> str:
    """Return what became of the rows that failed, by kind, or an empty string.

    >>> failures(pd.DataFrame({"status": ["ok", "error", "error"], "error_type": [None, "dns", "dns"]}))
    '2 failed (2 dns)'
    """
    if "status" not in frame.columns:
        return ""
    failed = frame[frame["status"].eq("error").fillna(False).astype(bool)]
    if failed.empty:
        return ""
    kinds = failed["error_type"].dropna().value_counts() if "error_type" in failed.columns else pd.Series()
    names = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    return f"{len(failed):,} failed ({names})" if names else f"{len(failed):,} failed"


def path_labels(urls: pd.Series[Any]) -> list[str]:
    """Return the URLs as paths; with their hosts, when there is more than one.

    Examples
    --------
    >>> path_labels(pd.Series(["https://a.example/", "https://a.example/caf%C3%A9?page=2"]))
    ['/', '/café?page=2']
    >>> path_labels(pd.Series(["https://a.example/x", "https://b.example/x"]))
    ['a.example/x', 'b.example/x']
    """
    texts = ["" if url is None or url is pd.NA or url != url else str(url) for url in urls.tolist()]
    parts = [_split(text) for text in texts]
    several = len({host for host, _ in parts}) > 1
    return [
        (host + path if several else path) or text for (host, path), text in zip(parts, texts, strict=True)
    ]


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # an unclosed bracket of an IPv6 address, for example
        return "", url
    if not parts.netloc and not url.startswith("/"):
        return "", url
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.netloc.rpartition("@")[2], unquote(path)


def shorten(text: str, width: int = 40) -> str:
    """Return the text on one line, no wider than so many Latin letters, without its middle if need be.

    East Asian wide characters count as two (Unicode Standard Annex 11).

    Examples
    --------
    >>> shorten("/docs/a-very-long-path/that-goes-on/page.html", 20)
    '/docs/a-ve…page.html'
    >>> shorten("日本語の長い見出しです", 11)
    '日本…しです'
    """
    text = clean(text)
    widths = [_width(character) for character in text]
    if sum(widths) <= width:
        return text
    room = width - 1
    head = _fitting(widths, (room + 1) // 2)
    tail = _fitting(widths[::-1], room - sum(widths[:head]))
    end = text[len(text) - tail :].lstrip("\u200d") if tail else ""
    while end and unicodedata.combining(end[0]):  # a mark without its letter
        end = end[1:]
    return f"{text[:head].rstrip()}…{end.lstrip()}"


def _fitting(widths: list[int], room: int) -> int:
    """Return how many leading characters fit."""
    total = 0
    for count, width in enumerate(widths):
        total += width
        if total > room:
            return count
    return len(widths)


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clean(text: str) -> str:
    """Return the text without line breaks, controls and lone surrogates, which no font can draw.

    >>> clean(" two" + chr(10) + "lines" + chr(0xD800) + chr(0x202E))
    'two lines�'
    """
    kept = []
    for character in " ".join(text.split()):
        category = unicodedata.category(character)
        if category == "Cs":
            kept.append("\ufffd")
        elif category != "Cc" and (category != "Cf" or character in "\u200c\u200d"):
            kept.append(character)
    return "".join(kept)


def lettering(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the texts as they can be drawn here, and the font families to draw them with.

    matplotlib's own font has no Chinese, Japanese, Korean or Indic letters. An installed font that has them
    is added as a fallback; a letter that no such font has becomes a hollow square, because matplotlib would
    warn of it each time the chart is drawn.

    Examples
    --------
    >>> lettering(["plain", "čeština, русский, العربية"])
    (['plain', 'čeština, русский, العربية'], ['DejaVu Sans'])
    """
    drawn = list(texts)
    families = [_BASE_FONT]
    missing = {ord(letter) for text in drawn for letter in text} - _letters(_BASE_FONT) - {0x0A}
    for family in _FALLBACK_FONTS if missing else ():
        found = missing & _letters(family)
        if found:
            families.append(family)
            missing -= found
    if missing:
        squares = dict.fromkeys(missing, MISSING_GLYPH)
        drawn = [text.translate(squares) for text in drawn]
    return drawn, families


@functools.cache
def _letters(family: str) -> frozenset[int]:
    """Return the code points a font has; none when it is not installed."""
    # findfont would log a warning for each absent family
    installed = {entry.name for entry in font_manager.fontManager.ttflist}
    if family not in installed:
        return frozenset()
    font = font_manager.get_font(font_manager.findfont(family))
    return frozenset(font.get_charmap())
