"""Rectangles that fill an area, each in proportion to its value and as nearly square as may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle: its lower left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    def inside(self, margin: float, top: float = 0.0) -> Box:
        """Return what is left within a margin, and below a strip at the top."""
        return Box(
            self.x + margin,
            self.y + margin,
            max(self.width - 2 * margin, 0.0),
            max(self.height - 2 * margin - top, 0.0),
        )


def squarified(values: Sequence[float], box: Box) -> list[Box]:
    """Return one rectangle for each value; values are positive, the largest first.

    Notes
    -----
    Bruls, Huizing and van Wijk, *Squarified Treemaps*, 2000: rows along the shorter side, each as long as
    that makes its rectangles more square.

    Examples
    --------
    >>> [tuple(round(side, 2) for side in made[2:]) for made in squarified([6, 3, 1], Box(0, 0, 10, 5))]
    [(6.0, 5.0), (4.0, 3.75), (4.0, 1.25)]
    """
    total = sum(values)
    if not values or total <= 0:
        return []
    scale = box.width * box.height / total
    left = [value * scale for value in values]
    made: list[Box] = []
    while left:
        side = min(box.width, box.height)
        count = 1
        while count < len(left) and _worst(left[: count + 1], side) <= _worst(left[:count], side):
            count += 1
        made += _row(left[:count], box)
        thick = sum(left[:count]) / side if side else 0.0
        if box.width >= box.height:
            box = Box(box.x + thick, box.y, box.width - thick, box.height)
        else:
            box = Box(box.x, box.y, box.width, box.height - thick)
        left = left[count:]
    return made


def _worst(areas: Sequence[float], side: float) -> float:
    """Return the highest ratio of sides in a row of rectangles along a side."""
    total = sum(areas)
    if not side or not total:
        return float("inf")
    return max(side * side * max(areas) / total**2, total**2 / (side * side * max(min(areas), 1e-12)))


def _row(areas: Sequence[float], box: Box) -> list[Box]:
    """Return a row along the shorter side: from the top down at the left, or from the left at the top."""
    side = min(box.width, box.height)
    thick = sum(areas) / side if side else 0.0
    made, place = [], 0.0
    for area in areas:
        length = area / thick if thick else 0.0
        if box.width >= box.height:
            made.append(Box(box.x, box.y + box.height - place - length, thick, length))
        else:
            made.append(Box(box.x + place, box.y + box.height - thick, length, thick))
        place += length
    return made
