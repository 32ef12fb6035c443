"""ICC colour profiles: which pixels a profile describes, and the way to sRGB.

Notes
-----
Header fields are those of ICC.1:2022, section 7.2: the colour space of the data is the signature at bytes
16 to 19.
"""

from __future__ import annotations

import io
from functools import lru_cache

from PIL import Image, ImageCms

_SPACE_OF_MODE = {
    "1": b"GRAY",
    "L": b"GRAY",
    "LA": b"GRAY",
    "I;16": b"GRAY",
    "P": b"RGB ",
    "RGB": b"RGB ",
    "RGBA": b"RGB ",
    "CMYK": b"CMYK",
}


def profile_of(image: Image.Image, max_bytes: int) -> bytes:
    """Return the colour profile of an opened image, empty when it is missing or too large."""
    profile = image.info.get("icc_profile")
    return profile if isinstance(profile, bytes) and 128 <= len(profile) <= max_bytes else b""


def fits(profile: bytes, mode: str) -> bool:
    """Return whether a profile describes pixels of a mode."""
    return profile[16:20] == _SPACE_OF_MODE.get(mode)


def to_srgb(image: Image.Image, profile: bytes) -> Image.Image | None:
    """Convert an image through its colour profile to sRGB, or return None if the profile cannot be used.

    The resulting mode is RGB, or RGBA if there was alpha.

    Notes
    -----
    Relative colorimetric with black point compensation, as browsers and image editors do by default.
    """
    alpha = image.getchannel("A") if image.mode in ("LA", "RGBA") else None
    colours = image.convert(image.mode[:-1]) if alpha else image
    try:
        transform = _transform_to_srgb(profile, colours.mode)
        converted = ImageCms.applyTransform(colours, transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None
    if converted is not None and alpha:
        converted.putalpha(alpha)
    return converted


def lab_to_srgb(image: Image.Image) -> Image.Image:
    """Convert CIE L*a*b* pixels, which need no profile, to sRGB."""
    transform = ImageCms.buildTransform(
        ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), "LAB", "RGB"
    )
    return ImageCms.applyTransform(image, transform) or image.convert("RGB")


@lru_cache(maxsize=4)
def _transform_to_srgb(profile: bytes, mode: str) -> ImageCms.ImageCmsTransform:
    """Build the transform once for all frames of an animation."""
    return ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(io.BytesIO(profile)),
        ImageCms.createProfile("sRGB"),
        mode,
        "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
