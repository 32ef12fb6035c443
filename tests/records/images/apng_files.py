"""Animated PNGs, put together by hand, and their frames, computed by the specification's own words."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

NONE, BACKGROUND, PREVIOUS = 0, 1, 2
SOURCE, OVER = 0, 1
Pixel = tuple[int, int, int, int]
Picture = list[list[Pixel]]


class Frame(NamedTuple):
    """A frame: where it goes, its pixels, and its operations."""

    left: int
    top: int
    pixels: Picture
    dispose: int = NONE
    blend: int = SOURCE
    delay: tuple[int, int] = (1, 10)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(pixels: Picture) -> bytes:
    """Return unfiltered rows of RGBA, compressed."""
    return zlib.compress(b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in pixels))


def written(size: tuple[int, int], frames: Sequence[Frame], default: Picture | None = None) -> bytes:
    """Return the file; with `default`, a picture that is no frame comes first."""
    out = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *size, 8, 6, 0, 0, 0))
    out += chunk(b"acTL", struct.pack(">II", len(frames), 0))
    number = 0
    if default is not None:
        out += chunk(b"IDAT", packed(default))
    for place, frame in enumerate(frames):
        height, width = len(frame.pixels), len(frame.pixels[0])
        control = (width, height, frame.left, frame.top, *frame.delay, frame.dispose, frame.blend)
        out += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, *control))
        number += 1
        if place == 0 and default is None:
            out += chunk(b"IDAT", packed(frame.pixels))
        else:
            out += chunk(b"fdAT", struct.pack(">I", number) + packed(frame.pixels))
            number += 1
    return out + chunk(b"IEND", b"")


def over(source: Pixel, below: Pixel) -> tuple[float, ...]:
    """Lay one pixel over another: alpha compositing of unpremultiplied colours (PNG, section 13.16)."""
    alpha = source[3] / 255
    rest = below[3] / 255 * (1 - alpha)
    total = alpha + rest
    if not total:
        return (0, 0, 0, 0)
    colours = ((alpha * one + rest * other) / total for one, other in zip(source[:3], below[:3], strict=True))
    return (*colours, total * 255)


def shown(size: tuple[int, int], frames: Sequence[Frame]) -> list[list[list[tuple[float, ...]]]]:
    """Return what is on the canvas with each frame."""
    width, height = size
    canvas: list[list[tuple[float, ...]]] = [[(0, 0, 0, 0)] * width for _ in range(height)]
    outputs = []
    for number, frame in enumerate(frames):
        before = [list(row) for row in canvas]
        for y, row in enumerate(frame.pixels):
            for x, pixel in enumerate(row):
                spot = frame.top + y, frame.left + x
                below = canvas[spot[0]][spot[1]]
                canvas[spot[0]][spot[1]] = over(pixel, below) if frame.blend == OVER else pixel  # type: ignore[arg-type]
        outputs.append([list(row) for row in canvas])
        if frame.dispose == BACKGROUND or (frame.dispose == PREVIOUS and number == 0):
            for y in range(len(frame.pixels)):
                for x in range(len(frame.pixels[0])):
                    canvas[frame.top + y][frame.left + x] = (0, 0, 0, 0)
        elif frame.dispose == PREVIOUS:
            canvas = before
    return outputs
