"""From the many pixel modes of decoded images to the few that each format holds, before it is written.

Colour profiles say which pixels they describe, and lead to sRGB: header fields are those of ICC.1:2022,
section 7.2, with the colour space of the data at bytes 16 to 19. For GIF, many colours become the 256 of a
palette.
"""

from __future__ import annotations

import io
import math
from functools import lru_cache
from typing import get_args

from PIL import Image, ImageChops, ImageCms, ImageMath

from webanalytics.records.images.formats import ImageFormat

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


TARGET_MODES: dict[str, dict[ImageFormat, str]] = {
    decoded: dict(zip(get_args(ImageFormat), written.split(), strict=True))
    for decoded, written in {
        # webp, png, jpg, gif, tiff, avif, jxl
        "1": "RGB 1 L L 1 RGB L",
        "L": "RGB L L L L RGB L",
        "LA": "RGBA LA L RGBA LA RGBA LA",
        "I;16": "RGB I;16 L L I;16 RGB L",
        "I": "RGB I;16 L L I RGB L",
        "F": "RGB I;16 L L F RGB L",
        "P": "RGB P RGB P P RGB RGB",
        "RGB": "RGB RGB RGB RGB RGB RGB RGB",
        "RGBA": "RGBA RGBA RGB RGBA RGBA RGBA RGBA",
        "CMYK": "RGB RGB RGB RGB CMYK RGB RGB",
    }.items()
}
"""The mode written, by the mode decoded (after `plain`) and the format; RGB(A) for gif gets a palette."""

_TRANSPARENCY_HELD: dict[ImageFormat, tuple[type, ...]] = {"png": (int, bytes), "gif": (int,)}
"""How a palette image may declare transparency: one index, or an alpha value for each index."""

WIDE_MODES = ("I;16", "I", "F")
"""Modes of more than 8 bits a channel."""


def normalise(
    image: Image.Image, output_format: ImageFormat, profile: bytes, size: tuple[int, int], bit_depth: int = 8
) -> tuple[Image.Image, bytes]:
    """Return an image that a format can hold, of a size, and its colour profile, empty for sRGB.

    Its mode is that of `TARGET_MODES`, and nothing but the ``transparency`` of palettes is left in its
    ``info``. The bit depth is that of the file, in whose scale PNG gives its transparent colour.
    """
    resized = size != image.size
    image = plain(
        image, bit_depth, keep_palette=_keeps_palette(image, output_format, profile) and not resized
    )
    if resized:
        image = resize(image, size)
    target = TARGET_MODES[image.mode][output_format]
    if fits(profile, image.mode):
        if output_format == "gif" or not fits(profile, target):
            image, profile = _without_profile(image, profile, output_format)
            target = TARGET_MODES[image.mode][output_format]
    else:
        profile = b""
    return _strip(to_mode(image, target)), profile


def plain(image: Image.Image, bit_depth: int = 8, keep_palette: bool = False) -> Image.Image:
    """Return the image in one of the modes of `TARGET_MODES`, all transparency in an alpha channel."""
    mode = image.mode
    transparency = image.info.get("transparency")
    if mode in ("P", "PA"):
        if keep_palette and mode == "P":
            return image
        return image.convert("RGBA" if mode == "PA" or image.has_transparency_data else "RGB")
    if mode.startswith("I;16"):
        return _plain_16_bit(image, transparency)
    if mode in ("1", "L") and isinstance(transparency, int):
        return _grey_with_alpha(image.convert("L"), transparency * {2: 85, 4: 17}.get(bit_depth, 1))
    if mode == "RGB" and isinstance(transparency, tuple):
        image = image.copy()  # the image read may be shared
        image.info["transparency"] = tuple(
            value >> 8 if bit_depth == 16 else value & 255 for value in transparency
        )
        return image.convert("RGBA")
    if mode == "LAB":
        return lab_to_srgb(image)
    return image.convert({"La": "LA", "RGBa": "RGBA"}.get(mode, "RGB")) if mode not in TARGET_MODES else image


def resize(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Resize with a Lanczos filter.

    Palettes and bilevel images are expanded first. Pillow multiplies colours by alpha itself for LA and RGBA,
    so that the hidden colour of transparent pixels does not bleed into the edges.
    """
    if image.mode == "P":
        image = plain(image)
    elif image.mode == "1":
        image = image.convert("L")
    return image.resize(size, Image.Resampling.LANCZOS)


def to_mode(image: Image.Image, mode: str) -> Image.Image:
    """Convert between the modes of `TARGET_MODES`: alpha flattened on white, wide greys scaled."""
    if image.mode == mode:
        return image
    if image.mode in WIDE_MODES:
        image = _scale_grey(image, 65_535 if mode == "I;16" else 255)
    elif image.mode in ("LA", "RGBA") and mode in ("L", "RGB"):
        image = flatten(image)
    return image if image.mode == mode else image.convert(mode)


def flatten(image: Image.Image) -> Image.Image:
    """Lay an LA or RGBA image on white: ``(alpha * colour + (255 - alpha) * 255) / 255``."""
    colours = image.convert(image.mode[:-1])
    white = Image.new(colours.mode, image.size, "white")
    white.paste(colours, mask=image.getchannel("A"))
    return white


def _keeps_palette(image: Image.Image, output_format: ImageFormat, profile: bytes) -> bool:
    if TARGET_MODES.get(image.mode, {}).get(output_format) != "P" or (output_format == "gif" and profile):
        return False
    if not image.has_transparency_data:
        return True
    return isinstance(image.info.get("transparency"), _TRANSPARENCY_HELD.get(output_format, ()))


def _without_profile(
    image: Image.Image, profile: bytes, output_format: ImageFormat
) -> tuple[Image.Image, bytes]:
    """Convert to sRGB; colours that the profile cannot convert are kept."""
    if image.mode in WIDE_MODES or image.mode == "1":
        image = to_mode(image, "L")
    elif image.mode == "P":
        image = plain(image)
    if not fits(profile, TARGET_MODES[image.mode][output_format]) or output_format == "gif":
        return to_srgb(image, profile) or image, b""
    return image, profile


def _plain_16_bit(image: Image.Image, transparency: object) -> Image.Image:
    # Pillow converts the other byte orders to I;16 by way of 8 bits; by way of I nothing is lost.
    wide = image if image.mode == "I;16" else image.convert("I").convert("I;16")
    if not isinstance(transparency, int):
        return wide
    # Pillow has no mode for 16-bit grey with alpha: 8 bits, but the comparison uses all 16.
    visible = ImageMath.lambda_eval(
        lambda images: images["convert"]((images["grey"] != transparency) * 255, "L"), grey=wide.convert("I")
    )
    return Image.merge("LA", (_scale_grey(wide, 255), visible))


def _grey_with_alpha(grey: Image.Image, transparent: int) -> Image.Image:
    alpha = grey.point([0 if value == transparent else 255 for value in range(256)])
    return Image.merge("LA", (grey, alpha))


def _scale_grey(image: Image.Image, top: int) -> Image.Image:
    """Scale a grey of 16 or 32 bits to 0..255 (L) or 0..65535 (I;16), rounding half up."""
    low, high = (0.0, 65_535.0) if image.mode == "I;16" else _grey_range(image)
    scale = top / (high - low)
    offset = 0.5 + -low * top / (high - low)
    wide = image.convert("I") if image.mode == "I;16" else image
    return (
        wide.point(lambda value: value * scale + offset).convert("I").convert("L" if top == 255 else "I;16")
    )


def _grey_range(image: Image.Image) -> tuple[float, float]:
    """Return the values of black and white in an image of 32-bit integers or floats.

    No format says it, so the values do: 0 to 1 (floats), 0 to 255 and 0 to 65,535 are taken as such
    ranges; any other values are stretched from the least to the greatest.
    """
    low, high = map(float, image.getextrema())  # type: ignore[arg-type]
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if low >= 0:
        for white in (1.0, 255.0, 65_535.0) if image.mode == "F" else (255.0, 65_535.0):
            if high <= white:
                return 0.0, white
    return low, high if high > low else low + max(1.0, abs(low))


def _strip(image: Image.Image) -> Image.Image:
    """Return a copy of the image without its file's ``info``, some of which encoders would write."""
    transparency = image.info.get("transparency") if image.mode == "P" else None
    bare = image.copy()
    bare.info = {} if transparency is None else {"transparency": transparency}
    return bare


_SAMPLE_PIXELS = 262_144
"""Larger images choose their palette on a sample of that many pixels: median cut is the slow step."""


def quantise(
    image: Image.Image, visible: Image.Image | None = None, dither: bool = True, reserve: bool = False
) -> tuple[Image.Image, int | None]:
    """Return an RGB or RGBA image with its own palette, and the index of its transparent colour or None.

    Colours that fit are kept exactly; of more, a palette is chosen by median cut. Alpha is ignored: `visible`
    is 255 where the image is seen and 0 elsewhere. Dithering (Floyd-Steinberg) flickers in animations;
    `reserve` gives a transparent colour even if nothing is transparent.
    """
    colours = image.convert("RGB")
    if visible is None or (visible.getextrema() == (255, 255) and not reserve):
        return _to_palette(colours, 256, dither), None
    # Hidden pixels take a visible colour, so that they use no entry of the palette.
    seen = visible.tobytes().find(b"\xff")
    hidden = ImageChops.invert(visible)
    some_colour = colours.getpixel((seen % image.width, seen // image.width)) if seen >= 0 else (0, 0, 0)
    colours.paste(some_colour, mask=hidden)  # type: ignore[arg-type]
    indexed = _to_palette(colours, 255, dither)
    transparent = _used_entries(indexed)
    palette = (indexed.getpalette() or [])[: 3 * transparent]
    indexed.putpalette([*palette, 0, 0, 0])
    indexed.paste(transparent, mask=hidden)
    return indexed, transparent


def visible_mask(picture: Image.Image, canvas: Image.Image) -> Image.Image:
    """Return where an RGBA picture is opaque and differs from the one shown: 255 there, 0 elsewhere."""
    red, green, blue, alpha = ImageChops.difference(picture, canvas).split()
    changed = ImageChops.lighter(ImageChops.lighter(red, green), ImageChops.lighter(blue, alpha))
    return ImageChops.multiply(changed.point([0] + [255] * 255), picture.getchannel("A"))


def alpha_mask(image: Image.Image) -> Image.Image | None:
    """Return where an image is at least half opaque: 255 there, 0 elsewhere; None without alpha."""
    return image.getchannel("A").point([0] * 128 + [255] * 128) if "A" in image.getbands() else None


def _to_palette(image: Image.Image, colours: int, dither: bool) -> Image.Image:
    found = image.getcolors(colours)
    if found is not None:
        return image.quantize(len(found), Image.Quantize.MEDIANCUT)
    palette = _sample(image).quantize(colours, Image.Quantize.MEDIANCUT)
    method = Image.Dither.FLOYDSTEINBERG if dither else Image.Dither.NONE
    return image.quantize(palette=palette, dither=method)


def _sample(image: Image.Image) -> Image.Image:
    pixels = image.width * image.height
    if pixels <= _SAMPLE_PIXELS:
        return image
    factor = math.sqrt(_SAMPLE_PIXELS / pixels)
    size = max(1, round(image.width * factor)), max(1, round(image.height * factor))
    return image.resize(size, Image.Resampling.NEAREST)


def _used_entries(indexed: Image.Image) -> int:
    highest = indexed.getextrema()[1]
    return int(highest) + 1  # type: ignore[arg-type]
