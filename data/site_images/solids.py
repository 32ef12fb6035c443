"""Solids by their distances from a point, materials, and scenes made of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Point = tuple[float, float, float]
Solid = Callable[[Array], Array]
"""Distances of points from the surface of a solid."""


@dataclass(frozen=True)
class Part:
    """A solid of one material: colour, gloss, its own light, and whether a fine texture covers it."""

    solid: Solid
    colour: Point
    gloss: float = 0.3
    glow: float = 0.0
    weave: bool = False


@dataclass(frozen=True)
class Scene:
    """What stands on the table, the lamp in it, and the wall behind."""

    parts: Sequence[Part]
    lamp: Point
    warmth: float
    wall: Point
    glass: Sequence[tuple[Point, Point]] = ()
    daylight: float = 1.0


def ball(centre: Point, radii: Point) -> Solid:
    """Return an ellipsoid; the distance is that of a sphere, scaled."""
    middle, axes = np.array(centre, np.float32), np.array(radii, np.float32)

    def distance(p: Array) -> Array:
        scaled = (p - middle) / axes
        length = np.linalg.norm(scaled, axis=1)
        return (length - 1) * axes.min()

    return distance


def rod(start: Point, end: Point, radius: float) -> Solid:
    """Return a round rod between two points."""
    a, b = np.array(start, np.float32), np.array(end, np.float32)
    along = b - a

    def distance(p: Array) -> Array:
        share = np.clip((p - a) @ along / (along @ along), 0, 1)
        return np.linalg.norm(p - a - share[:, None] * along, axis=1) - radius

    return distance


def turned(
    centre: Point, low: float, high: float, half: float, edge: float = 0.03, hollow: float = 0
) -> Solid:
    """Return an upright body turned on a lathe: radius `low` at its foot and `high` at its head."""
    middle = np.array(centre, np.float32)
    slope = (high - low) / (2 * half)
    flat = 1 / math.sqrt(1 + slope * slope)

    def distance(p: Array) -> Array:
        q = p - middle
        radius = np.hypot(q[:, 0], q[:, 2])
        side = (radius - (low + (q[:, 1] + half) * slope)) * flat
        if hollow:
            side = np.abs(side) - hollow
        top = np.abs(q[:, 1]) - half
        outside = np.hypot(np.maximum(side + edge, 0), np.maximum(top + edge, 0))
        return outside + np.minimum(np.maximum(side, top) + edge, 0) - edge

    return distance


def ring(centre: Point, radius: float, thick: float, upright: bool = False) -> Solid:
    """Return a ring, lying or standing."""
    middle = np.array(centre, np.float32)

    def distance(p: Array) -> Array:
        q = p - middle
        x, y, z = (q[:, 0], q[:, 2], q[:, 1]) if upright else (q[:, 0], q[:, 1], q[:, 2])
        return np.hypot(np.hypot(x, z) - radius, y) - thick

    return distance


def block(centre: Point, halves: Point, edge: float = 0.02, turn: float = 0.0) -> Solid:
    """Return a box, turned about the upright axis."""
    middle, size = np.array(centre, np.float32), np.array(halves, np.float32)
    cosine, sine = math.cos(turn), math.sin(turn)

    def distance(p: Array) -> Array:
        q = p - middle
        q = np.stack([q[:, 0] * cosine - q[:, 2] * sine, q[:, 1], q[:, 0] * sine + q[:, 2] * cosine], 1)
        over = np.abs(q) - size + edge
        return np.linalg.norm(np.maximum(over, 0), axis=1) + np.minimum(over.max(1), 0) - edge

    return distance


def tilted(solid: Solid, about: Point, angle: float) -> Solid:
    """Return a solid turned in the plane of the picture about a point."""
    middle = np.array(about, np.float32)
    cosine, sine = math.cos(angle), math.sin(angle)

    def distance(p: Array) -> Array:
        q = p - middle
        back = np.stack([q[:, 0] * cosine + q[:, 1] * sine, -q[:, 0] * sine + q[:, 1] * cosine, q[:, 2]], 1)
        return solid(back + middle)

    return distance


WALL = 2.6
"""How far behind the middle of the table the wall is."""
