"""Structural similarity against an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from webanalytics.records.images import encoder
from webanalytics.records.images.encoder import ssim

# scikit-image 0.26.0, structural_similarity(..., gaussian_weights=True, sigma=1.5, data_range=255,
# use_sample_covariance=False), of the pictures below.
REFERENCE = {
    "noise": 0.445649,
    "darker": 0.698660,
    "contrast": 0.814915,
    "steps": 0.728079,
    "negative": -0.326895,
    "shift": 0.891873,
}


def pair(name: str) -> tuple[Image.Image, Image.Image]:
    y, x = np.mgrid[0:90, 0:130]
    waves = 128 + 60 * np.sin(x / 7.0) + 50 * np.cos(y / 11.0 + x / 23.0)
    base = np.clip(np.round(waves), 0, 255).astype(int)
    changed = {
        "noise": base + ((x * 7919 + y * 104729 + x * y * 31) % 61) - 30,
        "darker": base // 2,
        "contrast": (base - 128) * 3 // 2 + 128,
        "steps": base // 32 * 32,
        "negative": 255 - base,
        "shift": np.roll(base, 3, 1),
    }[name]
    one, other = (Image.fromarray(np.clip(values, 0, 255).astype(np.uint8)) for values in (base, changed))
    return one, other


@pytest.mark.parametrize("name", REFERENCE)
def test_as_scikit_image(name: str) -> None:
    assert ssim(*pair(name)) == pytest.approx(REFERENCE[name], abs=5e-6)
    assert ssim(*reversed(pair(name))) == pytest.approx(REFERENCE[name], abs=5e-6)


def test_strips_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ssim(*pair("noise"))
    monkeypatch.setattr(encoder, "_STRIP_PIXELS", 130 * 7)
    assert ssim(*pair("noise")) == pytest.approx(whole, abs=1e-7)


@pytest.mark.parametrize("size", [(1, 1), (3, 40), (10, 10), (11, 11), (200, 2)])
def test_small_pictures(size: tuple[int, int]) -> None:
    grey = Image.linear_gradient("L").resize(size)
    assert ssim(grey, grey) == 1.0
    assert ssim(grey, grey.point(lambda value: value // 3)) < 1


def test_transparent_pixels_are_seen_on_white() -> None:
    hidden = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    assert ssim(hidden, Image.new("RGB", (20, 20), "white")) == 1.0
    with pytest.raises(ValueError, match="two sizes"):
        ssim(hidden, hidden.resize((10, 10)))
