"""Which quality of JPEG, WebP and AVIF looks the same, by SSIMULACRA2, on photographs that scikit-image ships.

It needs the packages ``ssimulacra2`` and ``scikit-image``, which nothing else of the project does.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Literal

from PIL import Image

from webanalytics.records.images.encoder import Wishes, encode

PHOTOGRAPHS = ("astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg")
LONGEST_SIDE = 448
"""Pixels to which larger ones are reduced, which takes away what an earlier JPEG left in them."""
FORMATS: tuple[Literal["jpg", "webp", "avif"], ...] = ("jpg", "webp", "avif")
QUALITIES = range(50, 96, 5)
WANTED = (60, 65, 70, 75, 80, 85)
"""Scores of SSIMULACRA2: its author calls 70 high quality and 90 visually lossless."""


def photographs() -> list[Image.Image]:
    """Return the pictures, in RGB."""
    spec = find_spec("skimage")
    folder = Path(next(iter(spec.submodule_search_locations or ()))) / "data" if spec else Path()
    found = []
    for path in (folder / name for name in PHOTOGRAPHS):
        with Image.open(path) as picture:
            made = picture.convert("RGB")
        made.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
        found.append(made)
    return found


def report() -> str:
    """Return sizes and scores by format and quality, and the lowest quality that reaches a score."""
    if not find_spec("skimage") or not find_spec("ssimulacra2"):
        return "qualities: ssimulacra2 and scikit-image are not installed"
    from ssimulacra2 import compute_ssimulacra2  # type: ignore[import-not-found, unused-ignore]

    lines = [f"{'':8} {'kB':>7} {'mean':>6} {'least':>6}"]
    reached: dict[tuple[str, int], tuple[int, float]] = {}
    pictures = photographs()
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first.png"), Path(folder, "second.png")
        for name in FORMATS:
            for quality in QUALITIES:
                scores, size = [], 0
                for picture in pictures:
                    written = encode(picture, name, b"", Wishes(quality)).content
                    size += len(written)
                    other = Path(folder, f"other.{name}")
                    other.write_bytes(written)
                    picture.save(first)
                    with Image.open(other) as read:
                        read.convert("RGB").save(second)
                    scores.append(float(compute_ssimulacra2(str(first), str(second))))
                lines.append(
                    f"{name:4} {quality:3} {size / 1000:7.0f} {mean(scores):6.1f} {min(scores):6.1f}"
                )
                for wanted in WANTED:
                    if mean(scores) >= wanted:
                        reached.setdefault((name, wanted), (quality, size / 1000))
    lines += ["", "lowest quality of these with a mean of at least (kB):"]
    for wanted in WANTED:
        parts = (reached.get((name, wanted)) for name in FORMATS)
        said = (
            f"{name} {part[0]} ({part[1]:.0f})" for name, part in zip(FORMATS, parts, strict=True) if part
        )
        lines.append(f"  {wanted}: {', '.join(said)}")
    return "\n".join(lines)
