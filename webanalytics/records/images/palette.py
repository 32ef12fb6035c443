"""From many colours to the 256 of a palette, before a GIF is written."""

from __future__ import annotations

import math

from PIL import Image, ImageChops

_SAMPLE_PIXELS = 262_144
"""Larger images choose their palette on a sample of that many pixels: median cut is the slow step."""


def quantise(
    image: Image.Image, visible: Image.Image | None = None, dither: bool = True, reserve: bool = False
) -> tuple[Image.Image, int | None]:
    """Return an RGB or RGBA image with its own palette.

    Colours that fit are kept exactly; of more, a palette is chosen by median cut.

    Parameters
    ----------
    image : PIL.Image.Image
        In mode RGB or RGBA; the alpha of the latter is ignored.
    visible : PIL.Image.Image, optional
        In mode L: 255 where the image is visible, 0 where it is transparent. Default: visible everywhere.
    dither : bool
        Spread the error of colours that are not in the palette (Floyd-Steinberg); flickers in animations.
    reserve : bool
        Give the image a transparent colour even if nothing in it is transparent.

    Returns
    -------
    tuple
        The image in mode P, and the index of its transparent colour or None.
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
