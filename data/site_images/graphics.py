"""Graphics of few colours: emblem, chart and drawing."""

from __future__ import annotations

from PIL import Image, ImageDraw


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
