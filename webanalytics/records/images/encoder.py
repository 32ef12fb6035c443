"""Writing a still picture: one format, one quality, lossy or lossless; and the search for the quality.

How much of a picture a lossy format has kept is its structural similarity.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, TiffImagePlugin

from webanalytics.records.images.formats import (
    LOSSLESS_TOO,
    LOSSY,
    PILLOW_NAMES,
    ImageFormat,
    png_effort,
    webp_effort,
)
from webanalytics.records.images.modes import alpha_mask, flatten, quantise

_SIDE = 11
_SIGMA = 1.5
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_STRIP_PIXELS = 500_000
"""Pixels that one step works on: their maps of 32-bit numbers take some tens of megabytes."""

_distances = np.arange(_SIDE) - _SIDE // 2
_WEIGHTS = np.exp(-(_distances**2) / (2 * _SIGMA**2))
_WEIGHTS = (_WEIGHTS / _WEIGHTS.sum()).astype(np.float32)

Map = NDArray[np.float32]


def ssim(original: Image.Image, other: Image.Image) -> float:
    """Return the mean structural similarity of two pictures of one size, 1 for equal ones.

    Notes
    -----
    Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error visibility to structural
    similarity", IEEE Transactions on Image Processing 13 (2004), equation 13 with their constants
    (K1 0.01, K2 0.03, L 255) and window (11 by 11 pixels, Gaussian, sigma 1.5); the mean is over the windows
    that lie inside the picture. As in the paper it is computed on luminance (here Rec. 601's), so
    faults of colour alone do not show. Transparent pixels are seen on white. Pictures of fewer than 11 pixels
    a side are continued by their mirror images.

    Examples
    --------
    >>> grey = Image.linear_gradient("L")
    >>> ssim(grey, grey), 0.5 < ssim(grey, grey.point(lambda value: value // 2)) < 1
    (1.0, True)
    """
    if original.size != other.size:
        raise ValueError("pictures of two sizes have no structural similarity")
    one, two = _luminance(original), _luminance(other)
    if one.tobytes() == two.tobytes():
        return 1.0
    width, height = one.size
    most = max(1, _STRIP_PIXELS // width)
    total, windows = 0.0, 0
    for top in range(0, max(1, height - _SIDE + 1), most):
        box = (0, top, width, min(height, top + most + _SIDE - 1))
        similar = _map(_pixels(one, box), _pixels(two, box))
        total += float(similar.sum(dtype=np.float64))
        windows += similar.size
    return min(1.0, total / windows)


def _luminance(image: Image.Image) -> Image.Image:
    if image.mode == "P":
        image = image.convert("RGBA")
    return (flatten(image) if image.mode in ("LA", "RGBA") else image).convert("L")


def _pixels(image: Image.Image, box: tuple[int, int, int, int]) -> Map:
    pixels: Any = np.asarray(image.crop(box), dtype=np.float32)
    lacking = [max(0, _SIDE - side) for side in pixels.shape]
    return np.pad(pixels, [(0, pad) for pad in lacking], mode="symmetric") if any(lacking) else pixels


def _map(one: Map, two: Map) -> Map:
    """Return the similarity around each pixel that has a whole window."""
    mean_one, mean_two = _averages(one), _averages(two)
    square_one, square_two, product = mean_one * mean_one, mean_two * mean_two, mean_one * mean_two
    variances = _averages(one * one + two * two) - square_one - square_two
    covariance = _averages(one * two) - product
    found: Map = ((2 * product + _C1) * (2 * covariance + _C2)) / (
        (square_one + square_two + _C1) * (variances + _C2)
    )
    return found


def _averages(values: Map) -> Map:
    """Return the weighted mean of each window: first along the rows, then along the columns."""
    columns, rows = values.shape[1] - _SIDE + 1, values.shape[0] - _SIDE + 1
    across = sum(weight * values[:, at : at + columns] for at, weight in enumerate(_WEIGHTS))
    down: Any = sum(weight * across[at : at + rows] for at, weight in enumerate(_WEIGHTS))
    averages: Map = down
    return averages


FEW_COLOURS = 1024
"""Most colours of a picture that may be written lossless of itself."""

MOST_ENCODINGS = 7
"""Encodings of a search: seven halvings tell 127 qualities apart."""

_SEARCH_PIXELS = 60_000_000
"""Pixels that a search encodes at most in all, but for three encodings: its steps of quality grow."""

_FULL_COLOUR_QUALITY = 90
"""From this quality up, a JPEG keeps colour at full resolution (4:4:4, below it 4:2:0), as in ImageMagick."""

_HORIZONTAL_DIFFERENCING = {TiffImagePlugin.PREDICTOR: 2}
_LARGE_PIXELS = 20_000_000


@dataclass(frozen=True)
class Wishes:
    """How a picture is to be written; the settings of `webanalytics.records.images.convert.analyse`."""

    quality: int = 90
    lossless: bool | Literal["auto"] = False
    max_bytes: int | None = None
    min_ssim: float | None = None
    measure: bool = False

    @property
    def searched(self) -> bool:
        """Whether the quality is to be searched for."""
        return self.max_bytes is not None or self.min_ssim is not None


class Encoded(NamedTuple):
    """A picture as written: its bytes, the quality, whether it is lossless, how similar, and what to say."""

    content: bytes
    quality: int | None
    lossless: bool
    ssim: float | None = None
    note: str = ""


def encode(image: Image.Image, output_format: ImageFormat, profile: bytes, wishes: Wishes) -> Encoded:
    """Write a picture that the format can hold as it is wished."""
    if output_format not in LOSSY:
        content = _write(image, output_format, wishes.quality, profile)
        return Encoded(content, None, True, 1.0 if _is_exact(image, output_format) else None)
    exact = _exact(image, output_format, profile, wishes)
    if exact is not None and wishes.lossless is True:
        return exact
    if exact is not None and wishes.max_bytes is not None and len(exact.content) <= wishes.max_bytes:
        return exact
    writer = _Writer(image, output_format, profile)
    lossy = _searched(writer, wishes) if wishes.searched else writer.at(wishes.quality)
    if exact is not None and len(exact.content) <= len(lossy.content):
        return exact
    if wishes.measure and lossy.ssim is None:
        lossy = writer.measured(lossy)
    return lossy


def _is_exact(image: Image.Image, output_format: ImageFormat) -> bool:
    """Return whether a format without quality holds the picture as it is; GIF may have to reduce colours."""
    return output_format != "gif" or image.mode not in ("RGB", "RGBA")


def _exact(image: Image.Image, output_format: ImageFormat, profile: bytes, wishes: Wishes) -> Encoded | None:
    """Return the picture without any loss, if that is wished or may pay."""
    if output_format not in LOSSLESS_TOO or wishes.lossless is False:
        return None
    if wishes.lossless == "auto" and image.getcolors(FEW_COLOURS) is None:
        return None
    return Encoded(_write(image, output_format, wishes.quality, profile, lossless=True), None, True, 1.0)


class _Writer:
    """Writes one picture at several qualities."""

    def __init__(self, image: Image.Image, output_format: ImageFormat, profile: bytes) -> None:
        self._image, self._format, self._profile = image, output_format, profile

    @property
    def pixels(self) -> int:
        """Width times height."""
        return self._image.width * self._image.height

    def at(self, quality: int) -> Encoded:
        """Return the picture at a quality."""
        return Encoded(_write(self._image, self._format, quality, self._profile), quality, False)

    def measured(self, encoded: Encoded) -> Encoded:
        """Return it with its structural similarity."""
        with Image.open(io.BytesIO(encoded.content), formats=[PILLOW_NAMES[self._format]]) as written:
            written.load()
            return encoded._replace(ssim=ssim(self._image, written))


def _searched(writer: _Writer, wishes: Wishes) -> Encoded:
    """Return the picture at the quality that the wishes ask for, or the nearest with a note."""
    if wishes.max_bytes is not None:
        limit = wishes.max_bytes
        best, found = _last(
            _qualities(writer.pixels, wishes.quality), writer.at, lambda made: len(made.content) <= limit
        )
        if best is not None:
            return writer.measured(best)
        smallest = found[1] if 1 in found else writer.at(1)
        note = f"No quality makes it {limit:,} bytes: at quality 1 it has {len(smallest.content):,}."
        return writer.measured(smallest)._replace(note="" if len(smallest.content) <= limit else note)
    least = wishes.min_ssim or 0.0
    # the lowest quality that is good enough is the last good one from the top down
    best, found = _last(
        _qualities(writer.pixels, 100)[::-1],
        lambda quality: writer.measured(writer.at(quality)),
        lambda made: (made.ssim or 0.0) >= least,
    )
    if best is not None:
        return best
    top = found[100] if 100 in found else writer.measured(writer.at(100))
    note = f"No quality reaches a structural similarity of {least:g}: at quality 100 it is {top.ssim:.4f}."
    return top if (top.ssim or 0.0) >= least else top._replace(note=note)


def _qualities(pixels: int, highest: int) -> list[int]:
    """Return the qualities of a search, fewer for a large picture, whose every encoding takes seconds.

    >>> _qualities(1_000_000, 80) == list(range(1, 81)), _qualities(40_000_000, 100)
    (True, [14, 29, 43, 57, 71, 86, 100])
    """
    encodings = max(3, min(MOST_ENCODINGS, _SEARCH_PIXELS // pixels))
    steps = min(highest, 2**encodings - 1)
    return [round(highest * step / steps) for step in range(1, steps + 1)]


def _last(
    qualities: list[int], write: Callable[[int], Encoded], fits: Callable[[Encoded], bool]
) -> tuple[Encoded | None, dict[int, Encoded]]:
    """Return the last that fits of what is written at rising demands, by bisection, and all that was written.

    Sizes and similarities rise with the quality but for small steps back: the result fits, and its
    neighbour that was tried does not.
    """
    low, high = 0, len(qualities)
    best: Encoded | None = None
    found: dict[int, Encoded] = {}
    while low < high:
        middle = (low + high) // 2
        made = found[qualities[middle]] = write(qualities[middle])
        if fits(made):
            best, low = made, middle + 1
        else:
            high = middle
    return best, found


def _write(
    image: Image.Image, output_format: ImageFormat, quality: int, profile: bytes, lossless: bool = False
) -> bytes:
    output = io.BytesIO()
    colour: dict[str, Any] = {"icc_profile": profile} if profile else {}
    if output_format == "gif":
        _save_gif(image, output)
    elif output_format == "tiff":
        image.save(output, "TIFF", **tiff_options(image, profile))
    else:
        options = _options(image.width * image.height, output_format, quality, lossless)
        image.save(output, PILLOW_NAMES[output_format], **options, **colour)
    return output.getvalue()


def _options(pixels: int, output_format: ImageFormat, quality: int, lossless: bool) -> dict[str, Any]:
    if output_format == "png":
        return {"compress_level": png_effort(pixels)}
    if output_format == "jpg":
        subsampling = 0 if quality >= _FULL_COLOUR_QUALITY else 2
        return {"quality": quality, "subsampling": subsampling, "optimize": True, "progressive": True}
    if output_format == "webp":
        # lossless, the quality is an effort
        effort = 80 if pixels <= _LARGE_PIXELS else 20
        return {
            "quality": effort if lossless else quality,
            "method": webp_effort(pixels),
            "lossless": lossless,
        }
    if output_format == "avif":
        colour = "4:4:4" if quality >= _FULL_COLOUR_QUALITY else "4:2:0"
        speed = 6 if pixels <= _LARGE_PIXELS else 9
        return {"quality": quality, "subsampling": colour, "speed": speed, "max_threads": 1}
    return {"lossless": True} if lossless else {"quality": quality, "lossless": False}


def _save_gif(image: Image.Image, output: io.BytesIO) -> None:
    options: dict[str, int] = {}
    if image.mode in ("RGB", "RGBA"):
        image, transparent = quantise(image, alpha_mask(image))
        options = {} if transparent is None else {"transparency": transparent}
    image.save(output, "GIF", **options)


def tiff_options(image: Image.Image, profile: bytes) -> dict[str, Any]:
    """Return lossless compression that every reader supports: Group 4 for bilevel, LZW for the rest."""
    options: dict[str, Any] = {"icc_profile": profile} if profile else {}
    if image.mode == "1":
        return options | {"compression": "group4"}
    if image.mode in ("P", "F"):
        return options | {"compression": "tiff_lzw"}
    return options | {"compression": "tiff_lzw", "tiffinfo": _HORIZONTAL_DIFFERENCING}
