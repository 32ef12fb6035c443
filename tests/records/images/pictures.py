"""Sample images and what the tests of conversion do with images."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.effort import effort_since
from webanalytics.errors import RowError
from webanalytics.records.images.convert import analyse

DATA = Path(__file__).parents[3] / "data"
SAMPLES = sorted((DATA / "images").iterdir())
BROKEN = {"really-a-text.png", "truncated.jpg"}
SOUND = [path for path in SAMPLES if path.name not in BROKEN]
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 160, 0), (0, 0, 255), (255, 255, 255)


def sample(name: str) -> bytes:
    return (DATA / "images" / name).read_bytes()


def encode(image: Image.Image, image_format: str, **options: Any) -> bytes:
    output = io.BytesIO()
    image.save(output, image_format, **options)
    return output.getvalue()


def decode(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def convert(content: bytes, output_format: Any, **options: Any) -> Image.Image:
    return decode(analyse(content, output_format=output_format, **options)["content"])


def frames_of(content: bytes) -> list[tuple[Image.Image, int]]:
    image = Image.open(io.BytesIO(content))
    frames = []
    for index in range(getattr(image, "n_frames", 1)):
        image.seek(index)
        image.load()
        frames.append((image.convert("RGBA"), round(image.info.get("duration", 0))))
    return frames


def near(found: Any, expected: tuple[int, ...], tolerance: int = 4) -> bool:
    return all(abs(one - other) <= tolerance for one, other in zip(found, expected, strict=True))


# Orientation: CIPA DC-008 gives for each value the sides of the picture that row 0 and column 0 are.

SIDES = {
    1: ("top", "left"),
    2: ("top", "right"),
    3: ("bottom", "right"),
    4: ("bottom", "left"),
    5: ("left", "top"),
    6: ("right", "top"),
    7: ("right", "bottom"),
    8: ("left", "bottom"),
}


def stored_as(upright: Image.Image, orientation: int) -> Image.Image:
    first_row, first_column = SIDES[orientation]
    across = first_row in ("top", "bottom")
    width, height = upright.size
    stored = Image.new("RGB", (width, height) if across else (height, width))
    for row in range(stored.height):
        for column in range(stored.width):
            offsets = {first_row: row, first_column: column}
            x = offsets["left"] if "left" in offsets else width - 1 - offsets["right"]
            y = offsets["top"] if "top" in offsets else height - 1 - offsets["bottom"]
            stored.putpixel((column, row), upright.getpixel((x, y)))
    return stored


def squares(count: int = 4) -> list[Image.Image]:
    """A red square that moves over transparency, on a canvas of 48 x 32."""
    frames = []
    for index in range(count):
        frame = Image.new("RGBA", (48, 32))
        frame.paste((*RED, 255), (index * 10, 8, index * 10 + 10, 20))
        frames.append(frame)
    return frames


def animation(image_format: str, frames: list[Image.Image], durations: list[int], **options: Any) -> bytes:
    if image_format == "WEBP":
        options["lossless"] = True
    if image_format == "GIF":
        options["disposal"] = 2
    return encode(
        frames[0], image_format, save_all=True, append_images=frames[1:], duration=durations, **options
    )


def refusal(content: bytes, output_format: Any = "png", seconds: float = 2.0, **options: Any) -> str:
    """Return the kind of error that an image gets, in time."""
    start = time.process_time()
    with pytest.raises(RowError) as caught:
        analyse(content, output_format=output_format, **options)
    assert effort_since(start) < seconds
    sentence = caught.value.sentence
    assert sentence.startswith("The `image` parameter must be ")
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0
    return caught.value.error_type
