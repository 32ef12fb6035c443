"""Draw the pictures of the sample site: ``python data/build_site_images.py [folder]``.

They are what the pictures of shops are: photographs larger than they are shown and saved at the highest
quality, one of them as PNG, and graphics of few colours. The photographs are rendered here, by marching rays
through solids given as distances, with lamps, shadows, textures and the noise of a camera: some minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

Array = NDArray[np.float32]
Point = tuple[float, float, float]
Solid = Callable[[Array], Array]
"""Distances of points from the surface of a solid."""

BRASS, DARK, BLUE, RED, GREEN = (
    (0.78, 0.56, 0.24),
    (0.07, 0.07, 0.08),
    (0.05, 0.16, 0.42),
    (0.52, 0.04, 0.04),
    (0.05, 0.26, 0.17),
)
LINEN, WAX, PAPER = (0.86, 0.78, 0.64), (0.93, 0.88, 0.76), (0.85, 0.83, 0.78)
FLAME = (1.0, 0.46, 0.10)


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


# Solids


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


# Textures


def noise(dice: np.random.Generator, shape: tuple[int, int], scales: Sequence[tuple[int, int]]) -> Array:
    """Return smooth noise from 0 to 1: grids of random values, each enlarged, in falling weights."""
    total = np.zeros(shape, np.float32)
    weight, weights = 1.0, 0.0
    for rows, columns in scales:
        grid = Image.fromarray(dice.random((rows, columns), dtype=np.float32))
        total += weight * np.asarray(grid.resize(shape[::-1], Image.Resampling.BICUBIC))
        weights += weight
        weight *= 0.55
    return total / np.float32(weights)


class Textures:
    """Wood and plaster, looked up by coordinates."""

    def __init__(self, dice: np.random.Generator) -> None:
        self._grain = noise(dice, (1024, 1024), [(6, 3), (40, 4), (160, 6), (512, 12), (1024, 90)])
        self._plaster = noise(dice, (1024, 1024), [(4, 4), (32, 32), (200, 200), (1000, 1000)])

    def wood(self, x: Array, z: Array) -> Array:
        """Return colours of boards along the x axis."""
        board = np.floor(z / 0.62)
        shift = (np.sin(board * 12.9898) * 43758.5453) % 1
        grain = self._at(self._grain, z * 0.55 + shift, x * 0.16 + shift * 7)
        rings = 0.5 + 0.5 * np.sin((grain * 9 + z * 2.1) * 6.3)
        tone = (0.62 + 0.38 * grain) * (0.86 + 0.14 * rings) * (0.88 + 0.24 * shift)
        gap = np.clip(np.abs((z / 0.62) % 1 - 0.5) * -80 + 40, 0, 1)
        gap = np.where(np.abs((z / 0.62) % 1 - 0.5) > 0.49, 0.35, 1.0) * np.maximum(gap, 1)
        return (tone * gap)[:, None] * np.array([0.40, 0.235, 0.125], np.float32)

    def plaster(self, x: Array, y: Array) -> Array:
        """Return the brightness of a wall."""
        return 0.9 + 0.2 * (self._at(self._plaster, y * 0.14, x * 0.14) - 0.5)

    @staticmethod
    def _at(texture: Array, rows: Array, columns: Array) -> Array:
        height, width = texture.shape
        found: Array = texture[
            (rows * height).astype(np.int64) % height, (columns * width).astype(np.int64) % width
        ]
        return found


# The camera


class Camera:
    """Renders scenes."""

    def __init__(self, dice: np.random.Generator) -> None:
        self._dice = dice
        self._textures = Textures(dice)

    def picture(
        self, scene: Scene, size: tuple[int, int], eye: Point, at: Point, zoom: float, grain: float = 0.008
    ) -> Image.Image:
        """Return a photograph of a scene."""
        width, height = size
        origin = np.array(eye, np.float32)
        rays = _rays(size, origin, np.array(at, np.float32), zoom)
        colours = np.zeros((len(rays), 3), np.float32)
        for start in range(0, len(rays), 200_000):
            part = slice(start, start + 200_000)
            colours[part] = self._light(scene, origin, rays[part])
        shot = colours.reshape(height, width, 3)
        bright = Image.fromarray((np.clip(shot - 0.75, 0, 1) * 255).astype(np.uint8))
        halo = np.asarray(bright.filter(ImageFilter.GaussianBlur(height / 28)), np.float32) / 255
        return developed(shot + halo * np.array([2.2, 1.15, 0.45], np.float32), self._dice, grain)

    def _light(self, scene: Scene, origin: Array, rays: Array) -> Array:
        _, far, which = _march(scene, origin, rays)
        points = origin + rays * far[:, None]
        colours, normals, gloss, glow = self._surface(scene, points, which)
        lamp = np.array(scene.lamp, np.float32)
        to_lamp = lamp - points
        away = np.linalg.norm(to_lamp, axis=1, keepdims=True)
        to_lamp /= away
        sun = np.array((-0.45, 0.8, -0.5), np.float32)
        sun /= np.linalg.norm(sun)
        open_to_sun = _shadow(scene, points + normals * 0.02, np.broadcast_to(sun, points.shape), 6.0)
        facing = np.maximum(normals @ sun, 0) * open_to_sun * scene.daylight
        near = np.maximum((normals * to_lamp).sum(1), 0) / (0.35 + away[:, 0] ** 2) * scene.warmth
        corner = 0.55 + 0.45 * _openness(scene, points, normals)
        warm, cool = np.array([1.0, 0.66, 0.32], np.float32), np.array([0.92, 0.97, 1.06], np.float32)
        light = 0.30 * scene.daylight * corner[:, None] * cool + 0.75 * facing[:, None] * np.array(
            [1, 0.97, 0.9]
        )
        light = light + (near * corner)[:, None] * warm
        half = sun - rays
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        shine = np.maximum((normals * half).sum(1), 0) ** 60 * gloss * open_to_sun * scene.daylight * 1.4
        mirror = rays - 2 * (rays * normals).sum(1, keepdims=True) * normals
        window = np.clip(mirror[:, 1] * 2 - 0.2, 0, 1) * np.clip(-mirror[:, 0] * 3, 0, 1) * gloss * 0.5
        shaded = colours * light + (shine + window * scene.daylight)[:, None] + glow
        return self._through_glass(scene, origin, rays, far, shaded).astype(np.float32)

    def _surface(self, scene: Scene, points: Array, which: Array) -> tuple[Array, Array, Array, Array]:
        colours = np.zeros_like(points)
        normals = np.zeros_like(points)
        gloss, glow = np.zeros(len(points), np.float32), np.zeros_like(points)
        table, wall = which == -1, which == -2
        normals[table], normals[wall] = (0, 1, 0), (0, 0, -1)
        colours[table] = self._textures.wood(points[table, 0], points[table, 2])
        gloss[table] = 0.12
        colours[wall] = self._textures.plaster(points[wall, 0], points[wall, 1])[:, None] * np.array(
            scene.wall
        )
        for number, part in enumerate(scene.parts):
            here = which == number
            if not here.any():
                continue
            spots = points[here]
            slope = np.stack([part.solid(spots + step) - part.solid(spots - step) for step in _STEPS], 1)
            normals[here] = slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-9)
            tint = np.ones(len(spots), np.float32)
            if part.weave:
                angle = np.arctan2(spots[:, 2], spots[:, 0] - spots[:, 0].mean())
                tint = 0.9 + 0.06 * np.sin(angle * 140) + 0.06 * np.sin(spots[:, 1] * 150)
            tint = tint * (0.94 + 0.12 * self._textures.plaster(spots[:, 0] * 5, spots[:, 1] * 5) - 0.06)
            colours[here] = tint[:, None] * np.array(part.colour, np.float32)
            gloss[here] = part.gloss
            glow[here] = part.glow * tint[:, None] * np.array(part.colour, np.float32)
        return colours, normals, gloss, glow

    @staticmethod
    def _through_glass(scene: Scene, origin: Array, rays: Array, far: Array, behind: Array) -> Array:
        for centre, radii in scene.glass:
            axes = np.array(radii, np.float32)
            o, d = (origin - np.array(centre, np.float32)) / axes, rays / axes
            a, b, c = (d * d).sum(1), (d * o).sum(1), float((o * o).sum() - 1)
            inside = b * b - a * c
            enters = (-b - np.sqrt(np.maximum(inside, 0))) / a
            seen = (inside > 0) & (enters < far)
            normal = (o + d * enters[:, None]) / axes
            normal /= np.linalg.norm(normal, axis=1, keepdims=True)
            rim = (1 - np.abs((normal * rays).sum(1))) ** 2.2
            streak = np.exp(-(((normal[:, 0] + 0.55) / 0.09) ** 2)) * np.clip(1 - np.abs(normal[:, 1]), 0, 1)
            added = (0.10 + 0.65 * rim)[:, None] * np.array([0.85, 0.75, 0.58]) * (0.25 + 0.5 * scene.warmth)
            added = added + (0.4 * streak * scene.daylight)[:, None]
            behind = np.where(seen[:, None], behind * (0.93 - 0.5 * rim)[:, None] + added, behind)
        return behind


_STEPS = np.eye(3, dtype=np.float32) * 0.002
WALL = 2.6
"""How far behind the middle of the table the wall is."""


def _rays(size: tuple[int, int], eye: Array, at: Array, zoom: float) -> Array:
    width, height = size
    ahead = at - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(np.array((0, 1, 0), np.float32), ahead)
    right /= np.linalg.norm(right)
    up = np.cross(ahead, right)
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    x, y = (x - width / 2) / height, (height / 2 - y) / height
    rays = zoom * ahead + x.reshape(-1, 1) * right + y.reshape(-1, 1) * up
    return (rays / np.linalg.norm(rays, axis=1, keepdims=True)).astype(np.float32)


def _nearest(scene: Scene, points: Array) -> tuple[Array, Array]:
    distances = np.full(len(points), 1e9, np.float32)
    which = np.full(len(points), -1)
    for number, part in enumerate(scene.parts):
        found = part.solid(points)
        closer = found < distances
        distances = np.where(closer, found, distances)
        which[closer] = number
    return distances, which


def _march(scene: Scene, origin: Array, rays: Array) -> tuple[Array, Array, Array]:
    """Return for each ray whether it hits a part, how far it goes, and what it hits: -1 table, -2 wall."""
    table = np.where(rays[:, 1] < -1e-4, -origin[1] / np.minimum(rays[:, 1], -1e-4), 1e9)
    wall = np.where(rays[:, 2] > 1e-4, (WALL - origin[2]) / np.maximum(rays[:, 2], 1e-4), 1e9)
    limit = np.minimum(table, wall)
    far = np.zeros(len(rays), np.float32)
    which = np.where(table < wall, -1, -2)
    active = np.arange(len(rays))
    hit = np.zeros(len(rays), bool)
    for _ in range(90):
        distances, part = _nearest(scene, origin + rays[active] * far[active, None])
        touches = distances < 0.0015
        hit[active[touches]] = True
        which[active[touches]] = part[touches]
        far[active] += np.where(touches, 0, distances * 0.9)
        active = active[~touches & (far[active] < limit[active])]
        if not len(active):
            break
    return hit, np.where(hit, far, limit).astype(np.float32), which


def _shadow(scene: Scene, points: Array, towards: Array, reach: float) -> Array:
    """Return how much light comes through, with soft edges."""
    solid = [part for part in scene.parts if part.glow < 1]
    bare = Scene(solid, scene.lamp, scene.warmth, scene.wall)
    through = np.ones(len(points), np.float32)
    far = np.full(len(points), 0.03, np.float32)
    active = np.arange(len(points))
    for _ in range(28):
        distances, _ = _nearest(bare, points[active] + towards[active] * far[active, None])
        through[active] = np.minimum(through[active], np.clip(7 * distances / far[active], 0, 1))
        far[active] += np.clip(distances, 0.03, 0.4)
        active = active[(far[active] < reach) & (through[active] > 0.01)]
        if not len(active):
            break
    return through


def _openness(scene: Scene, points: Array, normals: Array) -> Array:
    """Return how little stands around each point."""
    closed = np.zeros(len(points), np.float32)
    for step, weight in ((0.06, 1.0), (0.18, 0.6), (0.4, 0.35)):
        distances, _ = _nearest(scene, points + normals * step)
        closed += weight * np.clip(step - distances, 0, step) / step
    return np.clip(1 - closed, 0, 1)


def developed(light: Array, dice: np.random.Generator, grain: float) -> Image.Image:
    """Return light as a camera's picture: tone curve, darker corners, and noise in the dark."""
    height, width = light.shape[:2]
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    light = light * (1 - 0.22 * np.clip(x * x + y * y - 0.35, 0, 2))[..., None]
    tone = np.clip(light * 1.25 / (1 + 0.45 * light), 0, 1) ** (1 / 2.2)
    grey = dice.normal(0, 1, (height, width, 1)) + 0.45 * dice.normal(0, 1, (height, width, 3))
    tone = tone + grain * grey * (1.25 - tone)
    return Image.fromarray((np.clip(tone, 0, 1) * 255).round().astype(np.uint8))


# What is for sale


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


def coil(dice: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Return a coil of flat woven wick on linen, seen from above in light that falls from the left."""
    width, height = size
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = (x - width * 0.49) / height, (y - height * 0.5) / height
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    turn = radius / 0.036 - angle / (2 * math.pi)
    across = turn % 1 - 0.5
    inside = (radius > 0.05) & (radius < 0.40 + angle / (2 * math.pi) * 0.036)
    bulge = np.sqrt(np.clip(1 - (2.05 * across) ** 2, 0, 1))
    length = angle * radius / 0.0062 + across * 3.2
    strands = 0.5 + 0.5 * np.sin(length * math.pi) * np.sin(across * 9 * math.pi)
    surface = 0.016 * bulge + 0.0022 * strands + 0.0012 * noise(dice, (height, width), [(90, 90), (500, 500)])
    cloth = 0.0011 * (np.sin(x * 900) * np.sin(y * 12) + np.sin(y * 900) * np.sin(x * 14))
    cloth = cloth + 0.004 * noise(dice, (height, width), [(8, 8), (60, 60), (400, 400)])
    shape = np.where(inside, surface + 0.01, cloth).astype(np.float32)
    down, right = np.gradient(shape, 1 / height)
    light = np.clip((1 + 0.8 * right + 0.55 * down) / np.sqrt(1 + right**2 + down**2), 0.05, 1.6)
    depth = np.where(inside, 0.45 + 0.55 * bulge, 1.0)
    shade = Image.fromarray((inside * 255).astype(np.uint8)).filter(ImageFilter.GaussianBlur(height / 50))
    shadow = np.roll(np.asarray(shade, np.float32) / 255, (height // 70, height // 55), (0, 1))
    depth = np.where(inside, depth, 1 - 0.55 * shadow)
    colour = np.where(inside[..., None], (0.83, 0.79, 0.69), (0.47, 0.40, 0.32)).astype(np.float32)
    return developed((colour * (light * depth)[..., None]).astype(np.float32), dice, 0.007)


# The harbour


def harbour(dice: np.random.Generator, size: tuple[int, int]) -> Image.Image:
    """Return a fjord at dusk: hills in haze, lit houses, a jetty with a lantern, and their reflections."""
    width, height = size
    shore = int(height * 0.62)
    y, _ = np.mgrid[0:height, 0:width].astype(np.float32)
    rise = np.clip(y / shore, 0, 1)[..., None]
    sky = (1 - rise) * np.array([0.03, 0.06, 0.17]) + rise**2.2 * np.array([0.62, 0.30, 0.16]) + 0.04
    clouds = noise(dice, (height, width), [(5, 3), (14, 7), (40, 18), (120, 60)])
    veil = np.clip((clouds - 0.48) * 5, 0, 1)[..., None] * (0.25 + 0.75 * rise)
    scene = sky * (1 - 0.45 * veil) + veil * np.array([0.30, 0.16, 0.15]) * (0.2 + rise)
    for layer, (base, tall, tone) in enumerate(
        [
            (0.60, 0.26, (0.20, 0.15, 0.20)),
            (0.62, 0.17, (0.10, 0.09, 0.13)),
            (0.63, 0.09, (0.035, 0.04, 0.055)),
        ]
    ):
        crest = noise(dice, (1, width), [(1, 4 + 2 * layer), (1, 14), (1, 45), (1, 160), (1, 500)])[0]
        top = (base - tall * (1.5 * crest - 0.25)) * height
        rock = 0.75 + 0.5 * noise(dice, (height, width), [(20, 40), (90, 160), (300, 500)])
        scene = np.where((y > top)[..., None], np.array(tone) * rock[..., None], scene)
    scene = _houses(scene.astype(np.float32), dice, shore)
    scene = _mirrored(scene, dice, shore)
    scene = _jetty(scene, shore)
    return developed(scene, dice, 0.010)


def _houses(scene: Array, dice: np.random.Generator, shore: int) -> Array:
    height, width = scene.shape[:2]
    unit = height / 30
    at = width * 0.05
    while at < width * 0.55:
        wide, tall = unit * dice.uniform(1.5, 2.6), unit * dice.uniform(1.4, 2.2)
        left, right, top = int(at), int(at + wide), int(shore - tall)
        wall = np.array(
            [(0.16, 0.035, 0.03), (0.15, 0.13, 0.10), (0.14, 0.10, 0.04), (0.05, 0.06, 0.08)][
                dice.integers(4)
            ]
        )
        scene[top:shore, left:right] = wall * (0.85 + 0.3 * dice.random((shore - top, right - left, 1)))
        for step in range(int(unit * 0.9)):
            inset = int(step * wide / 2 / (unit * 0.9))
            scene[top - step, left + inset - 1 : right - inset + 1] = (0.028, 0.027, 0.032)
        for window in range(2):
            if dice.random() < 0.75:
                x = left + int(wide * (0.18 + 0.42 * window))
                y = top + int(tall * 0.28)
                scene[y : y + int(unit * 0.42), x : x + int(unit * 0.38)] = (1.15, 0.72, 0.28)
        at += wide + unit * dice.uniform(0.2, 1.6)
    return scene


def _mirrored(scene: Array, dice: np.random.Generator, shore: int) -> Array:
    height, width = scene.shape[:2]
    depth = np.arange(1, height - shore + 1, dtype=np.float32)
    waves = noise(dice, (height - shore, width), [(24, 5), (90, 14), (height - shore, 40)]) - 0.5
    fine = noise(dice, (height - shore, width), [(height - shore, 90), (height - shore, 300)]) - 0.5
    rows = shore - depth[:, None] * 1.12 - waves * depth[:, None] * 0.9 - 4 * fine
    columns = np.arange(width)[None, :] + waves * depth[:, None] * 0.10
    mirror = scene[
        np.clip(rows, 0, shore - 1).astype(np.int64), np.clip(columns, 0, width - 1).astype(np.int64)
    ]
    dim = (0.78 - 0.35 * depth / (height - shore))[:, None, None] * (
        1 + 0.55 * fine[..., None] + 0.3 * waves[..., None]
    )
    scene[shore:] = mirror * dim + np.array([0.004, 0.006, 0.012])
    return scene


def _jetty(scene: Array, shore: int) -> Array:
    height, width = scene.shape[:2]
    mask = Image.new("L", (width * 2, height * 2))
    pen = ImageDraw.Draw(mask)
    left, deck, thick = width * 0.66, shore + height * 0.16, height * 0.022
    pen.rectangle((2 * left, 2 * deck, 2 * width, 2 * (deck + thick)), 255)
    for post in range(6):
        x = left + width * (0.01 + 0.066 * post)
        pen.rectangle((2 * x, 2 * (deck - height * 0.03), 2 * (x + width * 0.007), 2 * height), 255)
    x, foot, unit = width * 0.765, deck, height * 0.034
    pen.rectangle((2 * (x - unit), 2 * (foot - unit), 2 * (x + unit), 2 * foot), 255)
    for side in (-0.95, 0.85):
        pen.rectangle(
            (2 * (x + side * unit), 2 * (foot - 3.4 * unit), 2 * (x + (side + 0.12) * unit), 2 * foot), 255
        )
    pen.polygon(
        [
            2 * (x - 0.9 * unit),
            2 * (foot - 3.2 * unit),
            2 * (x + 0.9 * unit),
            2 * (foot - 3.2 * unit),
            2 * (x + 0.3 * unit),
            2 * (foot - 3.9 * unit),
            2 * (x - 0.3 * unit),
            2 * (foot - 3.9 * unit),
        ],
        255,
    )
    dark = np.asarray(mask.resize((width, height), Image.Resampling.LANCZOS), np.float32)[..., None] / 255
    row, column = np.mgrid[0:height, 0:width].astype(np.float32)
    away = ((column - x) / unit) ** 2 + ((row - foot + 2.1 * unit) / unit) ** 2
    flame = np.exp(-(((column - x) / (0.24 * unit)) ** 2) - ((row - foot + 2 * unit) / (0.7 * unit)) ** 2)
    glow = (0.9 / (1 + away * 0.16))[..., None] * np.array([0.75, 0.36, 0.10])
    lit = np.array([0.03, 0.022, 0.018]) + 0.18 * glow
    scene = scene * (1 - dark) + dark * lit + 0.5 * glow
    streak = np.exp(-(((column - x) / (1.3 * unit)) ** 2)) * np.clip((row - deck) / height * 4, 0, 1)
    ripple = np.clip(np.sin(row * 0.9 + np.sin(column * 0.11) * 2) * 1.6, 0, 1)
    scene = scene + (streak * ripple)[..., None] * np.array([0.42, 0.22, 0.07]) * (1 - dark)
    return (scene + flame[..., None] * np.array([2.2, 1.5, 0.7])).astype(np.float32)


# Graphics


def icon(size: int = 180) -> Image.Image:
    """Return the emblem: a lantern on a round square."""
    side = size * 4
    image = Image.new("RGB", (side, side), "#16324f")
    pen = ImageDraw.Draw(image)
    unit = side / 180
    ink = "#f2a900"
    pen.arc([60 * unit, 12 * unit, 120 * unit, 84 * unit], 180, 360, ink, round(6 * unit))
    pen.polygon(
        [(74 * unit, 54 * unit), (106 * unit, 54 * unit), (98 * unit, 40 * unit), (82 * unit, 40 * unit)], ink
    )
    pen.rectangle([58 * unit, 54 * unit, 122 * unit, 61 * unit], ink)
    for x in (58, 115):
        pen.rectangle([x * unit, 54 * unit, (x + 7) * unit, 140 * unit], ink)
    pen.ellipse([70 * unit, 64 * unit, 110 * unit, 130 * unit], "#fff3cf")
    pen.polygon(
        [(90 * unit, 76 * unit), (101 * unit, 108 * unit), (90 * unit, 122 * unit), (79 * unit, 108 * unit)],
        "#e8590c",
    )
    pen.rounded_rectangle([50 * unit, 130 * unit, 130 * unit, 162 * unit], 12 * unit, ink)
    return image.resize((size, size), Image.Resampling.LANCZOS)


def chart(size: tuple[int, int] = (960, 540)) -> Image.Image:
    """Return how bright each lamp is, as bars without words; the page says the rest."""
    width, height = size[0] * 2, size[1] * 2
    image = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(image)
    for line in range(6):
        y = height * (0.10 + 0.15 * line)
        pen.line((width * 0.06, y, width * 0.97, y), "#d8dde3", 3)
    for number, value in enumerate((0.20, 0.12, 0.72, 0.88, 0.31, 0.55, 0.64)):
        left = width * (0.085 + 0.127 * number)
        colour = "#16324f" if value < 0.6 else "#f2a900"
        pen.rounded_rectangle(
            [left, height * (0.85 - 0.75 * value), left + width * 0.085, height * 0.85], 14, colour
        )
    pen.line((width * 0.06, height * 0.85, width * 0.97, height * 0.85), "#16324f", 6)
    return image.resize(size, Image.Resampling.LANCZOS)


def burner(size: tuple[int, int] = (800, 600)) -> Image.Image:
    """Return a drawing of a burner in section: base, collar, wick, and where soot gathers."""
    width, height = size[0] * 2, size[1] * 2
    image = Image.new("RGB", (width, height), "#fbfaf6")
    pen = ImageDraw.Draw(image)
    ink, line = "#222222", 6
    pen.rounded_rectangle(
        [width * 0.22, height * 0.68, width * 0.78, height * 0.93], 60, "#c9d6e2", ink, line
    )
    pen.rectangle([width * 0.25, height * 0.78, width * 0.75, height * 0.91], "#e9c46a")
    pen.polygon(
        [
            (width * 0.36, height * 0.68),
            (width * 0.64, height * 0.68),
            (width * 0.58, height * 0.50),
            (width * 0.42, height * 0.50),
        ],
        "#b08d3c",
        ink,
        line,
    )
    pen.rectangle([width * 0.475, height * 0.40, width * 0.525, height * 0.88], "#f4efe2", ink, line)
    for step in range(18):
        y = height * (0.42 + 0.026 * step)
        pen.line((width * 0.475, y, width * 0.525, y + 14), "#9a9385", 3)
    pen.polygon(
        [
            (width * 0.5, height * 0.08),
            (width * 0.555, height * 0.30),
            (width * 0.525, height * 0.40),
            (width * 0.475, height * 0.40),
            (width * 0.445, height * 0.30),
        ],
        "#f4a261",
        ink,
        line,
    )
    pen.polygon(
        [
            (width * 0.5, height * 0.22),
            (width * 0.525, height * 0.33),
            (width * 0.5, height * 0.39),
            (width * 0.475, height * 0.33),
        ],
        "#ffe8a3",
    )
    pen.line((width * 0.56, height * 0.42, width * 0.80, height * 0.34), "#c1121f", line)
    pen.ellipse([width * 0.80, height * 0.29, width * 0.88, height * 0.39], "white", "#c1121f", line)
    pen.line((width * 0.64, height * 0.60, width * 0.84, height * 0.56), "#c1121f", line)
    pen.ellipse([width * 0.84, height * 0.51, width * 0.92, height * 0.61], "white", "#c1121f", line)
    return image.resize(size, Image.Resampling.LANCZOS)


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    camera = Camera(np.random.default_rng(11))
    eye, at = (0.0, 1.75, -5.4), (0.0, 1.32, 0.0)
    shop = (800, 800)
    products: dict[str, tuple[Scene, Point, Point, float]] = {
        "storm-lantern.jpg": (lantern_scene(BLUE), eye, at, 1.5),
        "storm-lantern-red.jpg": (lantern_scene(RED), eye, at, 1.5),
        "candle-holder.jpg": (candle_scene(), (0.5, 1.9, -4.8), (0.05, 1.0, 0), 1.75),
        "reading-lamp.jpg": (reading_scene(), (-0.3, 1.9, -5.4), (0.15, 1.1, 0), 1.7),
        "workbench-lamp.jpg": (workbench_scene(), (0.2, 1.7, -5.6), (-0.1, 1.15, 0), 1.75),
    }
    for name, (scene, from_, to, zoom) in products.items():
        camera.picture(scene, shop, from_, to, zoom).save(folder / name, quality=92)
        print(name, flush=True)
    wide = camera.picture(workshop_scene(), (1440, 630), (0, 2.3, -8.2), (0, 1.55, 0), 1.75)
    wide.save(folder / "workshop.jpg", quality=90)
    spare = camera.picture(glasses_scene(), (640, 360), (0, 1.5, -4.6), (0, 0.52, 0), 1.55, grain=0.004)
    spare.save(folder / "spare-glasses.png")
    dice = np.random.default_rng(23)
    coil(dice, shop).save(folder / "wick.jpg", quality=88)
    view = harbour(dice, (1600, 700))
    view.resize((1440, 630), Image.Resampling.LANCZOS).save(folder / "harbour.jpg", quality=92)
    harbour(np.random.default_rng(5), (1200, 630)).save(folder / "og.jpg", quality=88)
    icon().save(folder / "apple-touch-icon.png")
    chart().save(folder / "brightness.png")
    burner().save(folder / "burner-section.png")
    made = sorted(folder.glob("*.[jp][pn]g"))
    print(f"{len(made)} pictures, {sum(path.stat().st_size for path in made):,} bytes in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "site" / "images")
