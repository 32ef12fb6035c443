"""Frames to draw, and what every chart must hold to."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from PIL import Image


@pytest.fixture
def picture() -> Callable[[Axes], Any]:
    """Return a function that draws the chart, without any warning, and reads its pixels."""

    def draw(ax: Axes) -> Any:
        stream = io.BytesIO()
        ax.figure.savefig(stream, format="rgba")  # what a PNG holds, not compressed
        size = ax.figure.canvas.get_width_height()
        pixels = np.asarray(Image.frombytes("RGBA", size, stream.getvalue()).convert("L"))
        assert (pixels < 128).sum() > 200, "the picture is blank"
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert edge.min() > 200, "something is cut off at the edge of the picture"
        return pixels

    return draw
