"""Charts of the frames that webanalytics returns, as matplotlib Axes.

Each function takes a frame and returns an `~matplotlib.axes.Axes`: of a figure of its own, or of the one
given as ``ax=``. Nothing here uses pyplot or changes matplotlib's settings, so charts can be drawn in a
thread, in a widget's callback or on a server. ``ax.figure.savefig("chart.png")`` writes one to a file, and a
notebook shows the chart that ends a cell.
"""

from __future__ import annotations

from webanalytics.errors import MissingExtraError

try:
    import matplotlib as _matplotlib  # noqa: F401
except ImportError as error:
    raise MissingExtraError("charts", "matplotlib", "drawing charts") from error

from webanalytics.charts.keywords import keywords
from webanalytics.charts.readability import readability

__all__ = ["keywords", "readability"]
