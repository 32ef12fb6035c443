"""The picture and the table of docs/measurements/speed.md, from one run: what each thing costs beside the bare one.

Each figure is a share of the same work with nothing around it, from runs of both that took turns, so that a
busy machine slows down both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from tests.benchmarks import fetching, hosted, pages, service, whole
from tests.service.live import Server
from webanalytics.notebook.drawing import style

FILE = Path(__file__).parents[2] / "docs" / "charts" / "how_fast.png"


class Line(NamedTuple):
    """One comparison.

    Attributes
    ----------
    what, bare : str
        What was measured, and beside what.
    times : float
        How many times as long it takes.
    goal : float
        How many times it should take at most.
    shown : str
        The figures that the share was made from.
    """

    what: str
    bare: str
    times: float
    goal: float
    shown: str


def lines() -> Iterator[Line]:
    """Yield the comparisons, the analyses first."""
    found = pages.run(rounds=3)
    shown = f"{found['c']:.1f} ms and {found['a']:.1f} ms a page of processor time"
    yield Line(
        "Five analyses of a page", "its main text alone, trafilatura's fast mode", found["c/a"], 0.85, shown
    )
    shown = f"{found['c']:.1f} ms and {found['b']:.1f} ms a page of processor time"
    yield Line(
        "Five analyses of a page",
        "a loop of Beautiful Soup, trafilatura, textstat",
        1 / found["b/c"],
        0.2,
        shown,
    )
    found = whole.run()
    shown = f"{found['here'] + found['there']:.2f} s and {found['alone']:.2f} s of processor time"
    yield Line("wa.audit(frame), one worker", "its analyses in one process", found["ratio"], 1.1, shown)
    found = fetching.run()
    shown = f"{found['ours']:.0f} us and {found['bare']:.0f} us a page of the thread's time"
    yield Line("Fetching a small page", "a bare aiohttp loop", 1 / found["ratio"], 2.0, shown)
    found = hosted.run()
    shown = (
        f"{found['ours']:,.0f} and {found['bare']:,.0f} a second on the clock, "
        f"{found['ours busy']:.1f} us and {found['bare busy']:.1f} us each of processor time"
    )
    yield Line(
        "wa.aio.hmac over a service", "a bare script that posts the same", 1 / found["ratio"], 2.0, shown
    )
    with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
        found = service.signed(server, server.key(plan="mega"), rounds=3)
    shown = f"{found['ours busy']:.0f} us and {found['bare busy']:.0f} us of the server's processor time"
    yield Line("A signature, charged on the disk", "a bare aiohttp echo", 1 / found["busy ratio"], 2.0, shown)


def draw(found: list[Line]) -> Axes:
    """Draw the comparisons as bars, each with its goal."""
    with style.context():
        axes: Any = style.start(None, style.row_height(len(found), 1.2, 0.62))
        rows = range(len(found))[::-1]
        axes.axvline(1, color=style.MUTED, linewidth=1, zorder=0)
        axes.barh(rows, [line.times for line in found], height=0.5, color=style.BLUE)
        for row, line in zip(rows, found, strict=True):
            axes.plot([line.goal, line.goal], [row - 0.36, row + 0.36], color=style.ORANGE, linewidth=2.5)
            end = max(line.times, line.goal if line.goal < line.times + 0.3 else 0)
            axes.text(end + 0.05, row, f"{line.times:.2f}", va="center", color=style.INK)
        axes.set_yticks(rows, [f"{line.what}\nbeside {line.bare}" for line in found])
        axes.set_xlim(0, max(max(line.times, line.goal) for line in found) + 0.4)
        axes.set_xlabel("times as long as what it is compared with; the orange stroke is the goal")
        axes.set_title("How long things take beside the bare work")
        return axes


def report() -> str:
    """Draw the picture and return the table."""
    found = list(lines())
    draw(found).figure.savefig(FILE)
    table = [
        f"| {line.what} | {line.bare} | {line.times:.2f} | {line.goal:.2f} | {line.shown} |" for line in found
    ]
    return "\n".join(
        ["| what | beside | times as long | goal, at most | figures |", "|---|---|---|---|---|", *table]
    )
