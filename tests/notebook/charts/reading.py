"""What a chart shows, read back from its Axes."""

from __future__ import annotations

from matplotlib.axes import Axes


def title(ax: Axes) -> str:
    return ax.get_title(loc="left")


def labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def widths(ax: Axes) -> list[float]:
    return [float(bar.get_width()) for bar in ax.patches]


def heights(ax: Axes) -> list[float]:
    return [float(bar.get_height()) for bar in ax.patches]


def note(ax: Axes) -> str:
    """Return the quiet line under the title: always the text that was written last."""
    return texts(ax)[-1]
