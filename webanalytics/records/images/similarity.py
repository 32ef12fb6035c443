"""Structural similarity: how much of a picture a lossy format has kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from webanalytics.records.images.modes import flatten

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
