"""What the shop sells, as scenes."""

from __future__ import annotations

import numpy as np

from site_images.solids import WALL, Part, Point, Scene, ball, block, ring, rod, tilted, turned

BRASS, DARK, BLUE, RED, GREEN = (
    (0.78, 0.56, 0.24),
    (0.07, 0.07, 0.08),
    (0.05, 0.16, 0.42),
    (0.52, 0.04, 0.04),
    (0.05, 0.26, 0.17),
)
LINEN, WAX, PAPER = (0.86, 0.78, 0.64), (0.93, 0.88, 0.76), (0.85, 0.83, 0.78)
FLAME = (1.0, 0.46, 0.10)


def lantern(colour: Point, x: float = 0.0, z: float = 0.0, lit: bool = True) -> list[Part]:
    """Return a storm lantern of a colour."""
    parts = [
        Part(turned((x, 0.30, z), 0.62, 0.56, 0.24, 0.10), colour, 0.7),
        Part(turned((x, 0.05, z), 0.66, 0.64, 0.05, 0.02), colour, 0.5),
        Part(turned((x, 0.60, z), 0.24, 0.17, 0.09), BRASS, 0.8),
        Part(ring((x, 0.72, z), 0.34, 0.028), BRASS, 0.7),
        Part(turned((x, 1.86, z), 0.42, 0.22, 0.15, 0.05), colour, 0.7),
        Part(ball((x, 2.06, z), (0.2, 0.13, 0.2)), colour, 0.7),
        Part(ring((x, 2.05, z), 0.66, 0.022, upright=True), DARK, 0.5),
        Part(ring((x, 1.28, z), 0.50, 0.018), DARK, 0.4),
        Part(turned((x + 0.42, 0.50, z - 0.30), 0.09, 0.09, 0.06), BRASS, 0.8),
    ]
    for side in (-0.68, 0.68):
        parts.append(Part(rod((x + side, 0.28, z), (x + side, 1.78, z), 0.055), colour, 0.6))
        parts.append(Part(rod((x + side, 1.78, z), (x + side * 0.45, 1.92, z), 0.055), colour, 0.6))
    if lit:
        parts.append(Part(ball((x, 0.92, z), (0.085, 0.22, 0.085)), FLAME, 0, 3.4))
        parts.append(Part(ball((x, 0.84, z), (0.05, 0.10, 0.05)), (1.0, 0.9, 0.6), 0, 4.0))
    return parts


def globe(x: float = 0.0, z: float = 0.0) -> tuple[Point, Point]:
    """Return the glass of a lantern."""
    return (x, 1.22, z), (0.46, 0.54, 0.46)


def lantern_scene(colour: Point) -> Scene:
    """Return one lit lantern in a dim room."""
    return Scene(lantern(colour), (0, 1.0, -0.35), 3.2, (0.42, 0.43, 0.45), [globe()], 0.42)


def candle_scene() -> Scene:
    """Return a candle in its brass holder."""
    parts = [
        Part(turned((0, 0.06, 0), 0.50, 0.95, 0.06, 0.02), BRASS, 0.9),
        Part(ring((0, 0.12, 0), 0.94, 0.035), BRASS, 0.9),
        Part(turned((0, 0.32, 0), 0.26, 0.22, 0.22), BRASS, 0.9),
        Part(ring((0, 0.54, 0), 0.24, 0.03), BRASS, 0.9),
        Part(ring((1.14, 0.32, 0), 0.22, 0.045, upright=True), BRASS, 0.9),
        Part(turned((0, 1.05, 0), 0.165, 0.155, 0.60, 0.03), WAX, 0.25, 0.10),
        Part(rod((0, 1.62, 0), (0.01, 1.73, 0), 0.014), DARK, 0),
        Part(ball((0.01, 1.92, 0), (0.07, 0.21, 0.07)), FLAME, 0, 3.6),
    ]
    return Scene(parts, (0, 1.95, -0.3), 3.4, (0.34, 0.27, 0.23), (), 0.34)


def reading_scene() -> Scene:
    """Return a reading lamp with a shade of linen, and two books."""
    parts = [
        Part(turned((0, 0.06, 0), 0.55, 0.50, 0.06, 0.03), BRASS, 0.8),
        Part(rod((0, 0.1, 0), (0, 1.4, 0), 0.045), BRASS, 0.8),
        Part(turned((0, 1.78, 0), 0.92, 0.58, 0.48, 0.02, 0.02), LINEN, 0.02, 0.55, weave=True),
        Part(ring((0, 1.31, 0), 0.92, 0.02), BRASS, 0.5),
        Part(block((1.2, 0.09, -0.35), (0.42, 0.09, 0.30), 0.02, 0.3), (0.45, 0.08, 0.07), 0.25),
        Part(block((1.22, 0.24, -0.33), (0.38, 0.06, 0.27), 0.02, 0.05), (0.1, 0.17, 0.2), 0.25),
    ]
    return Scene(parts, (0, 1.2, -0.4), 1.6, (0.62, 0.55, 0.47), (), 0.6)


def workbench_scene() -> Scene:
    """Return a jointed lamp, clamped to a bench, with what lies below it."""
    shade = tilted(turned((0.55, 1.62, 0), 0.50, 0.15, 0.30, 0.02, 0.02), (0.55, 1.62, 0), 0.30)
    parts = [
        Part(block((-1.05, 0.16, 0), (0.22, 0.16, 0.2)), DARK, 0.4),
        Part(rod((-1.05, 0.3, 0), (-1.15, 1.25, 0), 0.05), GREEN, 0.6),
        Part(rod((-1.15, 1.25, 0), (-0.25, 2.15, 0), 0.05), GREEN, 0.6),
        Part(rod((-0.25, 2.15, 0), (0.47, 1.92, 0), 0.05), GREEN, 0.6),
        *(Part(ball(at, (0.11, 0.11, 0.11)), BRASS, 0.9) for at in ((-1.15, 1.25, 0), (-0.25, 2.15, 0))),
        Part(shade, GREEN, 0.6),
        Part(ball((0.60, 1.47, 0), (0.15, 0.17, 0.15)), (1.0, 0.93, 0.76), 0, 2.2),
        Part(block((0.85, 0.03, -0.5), (0.5, 0.015, 0.35), 0.01, -0.25), PAPER, 0.05),
        Part(rod((0.5, 0.07, -0.75), (1.1, 0.07, -0.4), 0.025), (0.75, 0.55, 0.1), 0.3),
        Part(turned((-0.25, 0.12, -0.6), 0.16, 0.16, 0.12, 0.02), BRASS, 0.9),
    ]
    return Scene(parts, (0.64, 1.2, -0.3), 2.2, (0.56, 0.60, 0.62), (), 0.75)


def workshop_scene() -> Scene:
    """Return a bench full of lanterns, two of them lit."""
    parts: list[Part] = []
    places = [
        (-3.9, 0.3, GREEN),
        (-2.3, -0.2, BLUE),
        (-0.7, 0.35, RED),
        (0.95, -0.15, BLUE),
        (2.6, 0.3, GREEN),
        (4.2, 0, RED),
    ]
    for number, (x, z, colour) in enumerate(places):
        parts += lantern(colour, x, z, lit=number in (1, 3))
    parts += [
        Part(block((0, 2.95, WALL - 0.35), (7, 0.06, 0.35)), (0.28, 0.17, 0.09), 0.1),
        *(
            Part(turned((x, 3.25, WALL - 0.4), 0.2, 0.2 - 0.06 * (number % 2), 0.24, 0.04), colour, 0.7)
            for number, (x, colour) in enumerate(
                zip(
                    np.arange(-4.4, 4.6, 0.8).tolist(),
                    [BRASS, DARK, BRASS, BLUE, PAPER, RED] * 2,
                    strict=True,
                )
            )
        ),
        Part(rod((-1.6, 0.05, -1.1), (-0.9, 0.05, -0.85), 0.04), DARK, 0.5),
        Part(turned((1.8, 0.1, -0.9), 0.3, 0.34, 0.1, 0.03, 0.02), BRASS, 0.8),
    ]
    glass = [globe(x, z) for x, z, _ in places]
    return Scene(parts, (-0.7, 1.3, -0.8), 2.6, (0.44, 0.36, 0.29), glass, 0.7)


def glasses_scene() -> Scene:
    """Return spare glasses in daylight, with their brass collars."""
    parts = []
    glass = []
    for number, x in enumerate((-1.9, -0.65, 0.65, 1.9)):
        z = 0.25 if number % 2 else -0.1
        parts += [
            Part(turned((x, 0.06, z), 0.36, 0.33, 0.06, 0.02), BRASS, 0.9),
            Part(ring((x, 0.98, z), 0.2, 0.02), BRASS, 0.8),
        ]
        glass.append(((x, 0.56, z), (0.44, 0.5, 0.44)))
    return Scene(parts, (0, 3.0, -2.0), 0.8, (0.60, 0.62, 0.63), glass, 0.9)
