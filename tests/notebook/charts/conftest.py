"""Frames to draw, and what every chart must hold to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image


@pytest.fixture
def picture() -> Callable[[Axes], Any]:
    """Return a function that draws the chart, without any warning, and reads its pixels."""

    def draw(ax: Axes) -> Any:
        canvas = FigureCanvasAgg(ax.figure)
        canvas.draw()  # once; `savefig` draws another time, for the layout
        pixels = np.asarray(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("L"))
        assert (pixels < 128).sum() > 200, "the picture is blank"
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert edge.min() > 200, "something is cut off at the edge of the picture"
        return pixels

    return draw
