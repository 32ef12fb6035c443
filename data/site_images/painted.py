"""Photographs that are painted, not rendered: a coil of wick and the harbour."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from site_images.camera import developed, noise
from site_images.solids import Array


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
