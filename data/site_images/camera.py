"""The camera: marches rays through a scene, lights what they hit, and develops the picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageFilter

from site_images.solids import WALL, Array, Point, Scene


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
