"""Draw the sample images of ``data/images``: ``python data/build_images.py [folder]`` (needs Pillow).

Each shows one thing that makes image conversion go wrong. All of them, colour profiles too, are made here.
"""

from __future__ import annotations

import io
import math
import random
import struct
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, PngImagePlugin

Lab = tuple[float, float, float]

INKS: dict[str, Lab] = {
    "white": (95.0, 0.0, -2.0),
    "C": (55.0, -37.0, -50.0),
    "M": (48.0, 74.0, -3.0),
    "Y": (89.0, -5.0, 93.0),
    "MY": (47.0, 68.0, 48.0),
    "CY": (50.0, -68.0, 33.0),
    "CM": (24.0, 22.0, -46.0),
    "CMY": (23.0, 0.0, 0.0),
    "K": (16.0, 0.0, 0.0),
}
"""Colours of solid inks on coated paper, about those of ISO 12647-2 (CIE L*a*b*, D50)."""


def main(folder: Path) -> None:
    """Write all sample images into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    photograph = landscape(480, 320)
    images = {
        "photograph-lying-on-its-side.jpg": camera_jpeg(photograph),
        "print-advert-cmyk.jpg": cmyk_jpeg(),
        "badge-palette.png": palette_badge("PNG"),
        "logo-soft-edges.png": soft_logo(),
        "heights-16-bit.png": heights(),
        "spinner.gif": spinner_gif(),
        "wave-animated.webp": animated_webp(),
        "balloon-animated.png": animated_png(),
        "report-three-pages.tiff": report_pages(),
        "shadow-grey-alpha.png": grey_shadow(),
        "fax-bilevel.tiff": fax(),
        "icon-static.gif": palette_badge("GIF"),
        "diagram-lossless.webp": lossless_diagram(),
        "truncated.jpg": camera_jpeg(photograph)[:9_000],
        "really-a-text.png": b"This is a text file whose name ends in .png.\n",
    }
    for name, content in images.items():
        (folder / name).write_bytes(content)
    print(f"{len(images)} images, {sum(map(len, images.values())):,} bytes in {folder}")


def encode(image: Image.Image, image_format: str, **options: object) -> bytes:
    """Return an image as the bytes of a file."""
    output = io.BytesIO()
    image.save(output, image_format, **options)
    return output.getvalue()


def landscape(width: int, height: int) -> Image.Image:
    """Draw hills under an evening sky, with a little noise as a camera has it."""
    dice = random.Random(7)
    image = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(image)
    for y in range(height):
        share = y / height
        pen.line(
            (0, y, width, y), (round(70 + 170 * share), round(110 + 70 * share), round(200 - 90 * share))
        )
    pen.ellipse((width * 0.62, height * 0.18, width * 0.75, height * 0.18 + width * 0.13), (255, 236, 170))
    for layer, colour in enumerate([(96, 88, 122), (64, 92, 84), (38, 66, 44)]):
        base = height * (0.55 + 0.14 * layer)
        crest = [
            (x, base + 26 * math.sin(x / (60 + 25 * layer) + layer * 2) + 9 * math.sin(x / 13 + layer))
            for x in range(0, width + 8, 8)
        ]
        pen.polygon([*crest, (width, height), (0, height)], colour)
    for _ in range(60):
        x, foot = dice.uniform(0, width), dice.uniform(height * 0.86, height)
        pen.polygon([(x, foot - 22), (x - 6, foot), (x + 6, foot)], (24, dice.randint(40, 70), 30))
    noise = Image.frombytes("L", (width, height), dice.randbytes(width * height)).filter(
        ImageFilter.GaussianBlur(1)
    )
    grain = Image.merge("RGB", (noise, noise, noise))
    return Image.blend(image, grain, 0.06)


def camera_jpeg(picture: Image.Image) -> bytes:
    """Store an upright picture as a turned camera does: lying, with orientation 6, a place and a comment."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Sample Camera Works"
    exif[0x8825] = {1: "N", 2: (48.0, 51.0, 29.6), 3: "E", 4: (2.0, 17.0, 40.2)}
    return encode(
        picture.transpose(Image.Transpose.ROTATE_90),
        "JPEG",
        quality=85,
        exif=exif,
        comment=b"shot from the balcony",
        icc_profile=wide_rgb_profile(),
    )


def cmyk_jpeg() -> bytes:
    """Draw patches of solid inks and a grey ramp in CMYK, with a profile of coated paper."""
    image = Image.new("CMYK", (320, 160))
    pen = ImageDraw.Draw(image)
    patches = [(255, 0, 0, 0), (0, 255, 0, 0), (0, 0, 255, 0), (0, 255, 255, 0)]
    patches += [(255, 0, 255, 0), (255, 255, 0, 0), (0, 0, 0, 255), (0, 0, 0, 0)]
    for index, inks in enumerate(patches):
        pen.rectangle((index * 40, 0, index * 40 + 39, 111), inks)
    for x in range(320):
        pen.line((x, 112, x, 159), (0, 0, 0, x * 255 // 319))
    return encode(image, "JPEG", quality=90, icc_profile=cmyk_profile())


def palette_badge(image_format: str) -> bytes:
    """Draw a round badge with four colours, the first of them transparent."""
    image = Image.new("P", (96, 96), 0)
    image.putpalette([255, 0, 255, 200, 30, 40, 255, 255, 255, 20, 20, 90])
    pen = ImageDraw.Draw(image)
    pen.ellipse((4, 4, 91, 91), 1)
    pen.ellipse((16, 16, 79, 79), 2)
    pen.polygon([(48, 24), (70, 66), (26, 66)], 3)
    return encode(image, image_format, transparency=0)


def soft_logo() -> bytes:
    """Draw a logo whose edges fade out; its transparent pixels hide a bright green."""
    size = 200
    shape = Image.new("L", (size, size), 0)
    pen = ImageDraw.Draw(shape)
    pen.rounded_rectangle((30, 30, 170, 170), 40, 255)
    pen.ellipse((70, 70, 130, 130), 90)
    alpha = shape.filter(ImageFilter.GaussianBlur(3))
    colours = Image.new("RGB", (size, size), (0, 255, 0))
    colours.paste((225, 80, 20), mask=alpha.point([0] + [255] * 255))
    colours.putalpha(alpha)
    metadata = PngImagePlugin.PngInfo()
    metadata.add_text("Comment", "drawn for the sample images")
    return encode(colours, "PNG", pnginfo=metadata)


def heights() -> bytes:
    """Draw a map of heights with 16-bit greys, whose left half lies below 256 of 65,535."""
    values = [x * 255 // 79 if x < 80 else (x - 79) * 65_535 // 80 for x in range(160)]
    row = struct.pack("<160H", *values)
    return encode(Image.frombytes("I;16", (160, 60), row * 60), "PNG")


def spinner_gif() -> bytes:
    """Draw a spinner: transparent, eight frames of differing durations, to be repeated three times."""
    frames = []
    for step in range(8):
        image = Image.new("P", (80, 80), 0)
        image.putpalette([0, 0, 0, 30, 90, 200, 130, 170, 235, 210, 225, 250])
        pen = ImageDraw.Draw(image)
        for dot in range(8):
            angle = math.tau * dot / 8
            x, y = 40 + 28 * math.cos(angle), 40 + 28 * math.sin(angle)
            pen.ellipse((x - 7, y - 7, x + 7, y + 7), (1, 2, 3, 0, 0, 0, 0, 0)[(step - dot) % 8])
        frames.append(image)
    durations = [100, 50, 50, 80, 120, 50, 70, 300]
    return encode(
        frames[0],
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=3,
        transparency=0,
        disposal=2,
        comment=b"made for the sample images",
    )


def animated_webp() -> bytes:
    """Draw a wave that runs along, in six half-transparent frames, for ever."""
    frames = []
    for step in range(6):
        image = Image.new("RGBA", (160, 90))
        crest = [(x, 45 + 24 * math.sin(x / 18 + math.tau * step / 6)) for x in range(0, 164, 4)]
        ImageDraw.Draw(image).polygon([*crest, (160, 90), (0, 90)], (20, 120, 190, 170))
        frames.append(image)
    options = {
        "save_all": True,
        "append_images": frames[1:],
        "duration": [90, 90, 90, 90, 90, 250],
        "loop": 0,
    }
    return encode(frames[0], "WEBP", quality=80, **options)


def animated_png() -> bytes:
    """Draw a rising balloon in five frames, played twice."""
    frames = []
    for step in range(5):
        image = Image.new("RGBA", (60, 120))
        pen = ImageDraw.Draw(image)
        top = 60 - 14 * step
        pen.line((30, top + 40, 30, top + 60), (90, 90, 90, 255))
        pen.ellipse((14, top, 46, top + 40), (230, 60, 90, 255))
        frames.append(image)
    options = {
        "save_all": True,
        "append_images": frames[1:],
        "duration": [200, 100, 100, 100, 500],
        "loop": 2,
    }
    return encode(frames[0], "PNG", **options)


def report_pages() -> bytes:
    """Draw three pages of differing sizes and modes: bilevel text, a grey picture, a chart in colours."""
    text = Image.new("1", (170, 240), 1)
    draw_lines_of_text(ImageDraw.Draw(text), 170, 240)
    picture = landscape(180, 120).convert("L")
    chart = Image.new("RGB", (240, 170), "white")
    pen = ImageDraw.Draw(chart)
    for index, share in enumerate([0.35, 0.6, 0.5, 0.85]):
        colour = [(200, 60, 60), (60, 140, 80), (60, 90, 190), (220, 160, 40)][index]
        pen.rectangle((20 + 55 * index, 160 - 140 * share, 60 + 55 * index, 160), colour)
    return encode(text, "TIFF", save_all=True, append_images=[picture, chart], compression="tiff_lzw")


def draw_lines_of_text(pen: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw black bars as words of a text."""
    dice = random.Random(3)
    for y in range(20, height - 20, 10):
        x = 15
        while x < width - 40:
            length = dice.randint(6, 26)
            pen.rectangle((x, y, x + length, y + 4), 0)
            x += length + 4


def grey_shadow() -> bytes:
    """Draw a blurred shadow: greys with alpha."""
    alpha = Image.new("L", (120, 80), 0)
    ImageDraw.Draw(alpha).ellipse((20, 20, 100, 60), 200)
    grey = Image.new("L", (120, 80), 60)
    return encode(Image.merge("LA", (grey, alpha.filter(ImageFilter.GaussianBlur(6)))), "PNG")


def fax() -> bytes:
    """Draw a page of text in black and white."""
    page = Image.new("1", (340, 480), 1)
    draw_lines_of_text(ImageDraw.Draw(page), 340, 480)
    return encode(page, "TIFF", compression="group4")


def lossless_diagram() -> bytes:
    """Draw sharp boxes and lines in few colours."""
    image = Image.new("RGB", (220, 120), (250, 250, 245))
    pen = ImageDraw.Draw(image)
    for index, colour in enumerate([(70, 130, 180), (205, 92, 92), (60, 140, 90)]):
        left = 15 + index * 70
        pen.rectangle((left, 40, left + 48, 80), colour, (20, 20, 20))
        if index:
            pen.line((left - 22, 60, left, 60), (20, 20, 20), 2)
    return encode(image, "WEBP", lossless=True)


# Colour profiles, ICC.1:2001-04 (version 2): a header of 128 bytes, a table of tags, the tags.


def icc_profile(space: bytes, connection: bytes, device: bytes, tags: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Assemble a profile from its data space, connection space, device class and tags."""
    tags = list(tags)
    offset = 128 + 4 + 12 * len(tags)
    table, data = struct.pack(">I", len(tags)), b""
    for name, content in tags:
        table += struct.pack(">4sII", name, offset + len(data), len(content))
        data += content + b"\0" * (-len(content) % 4)
    header = struct.pack(">I4sI4s4s4s", offset + len(data), b"\0" * 4, 0x02400000, device, space, connection)
    header += struct.pack(
        ">6H4s4sI4s4s8sI", 2026, 1, 1, 0, 0, 0, b"acsp", b"\0" * 4, 0, b"\0" * 4, b"\0" * 4, b"\0" * 8, 1
    )
    header += struct.pack(">3i", *map(fixed, (0.9642, 1.0, 0.8249)))
    return header.ljust(128, b"\0") + table + data


def fixed(value: float) -> int:
    """Return a number as s15Fixed16."""
    return round(value * 65_536)


def description(text: bytes) -> bytes:
    """Return a textDescriptionType tag."""
    return b"desc\0\0\0\0" + struct.pack(">I", len(text) + 1) + text + b"\0" + b"\0" * 78


def xyz(values: Sequence[float]) -> bytes:
    """Return an XYZType tag."""
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *map(fixed, values))


def wide_rgb_profile() -> bytes:
    """Return a profile with the primaries of Display P3 and a gamma of 2.2.

    Colorants adapted to D50 as published for Display P3 (SMPTE RP 431-2 primaries, D65 white).
    """
    gamma = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(2.2 * 256))
    colorants = {
        b"rXYZ": (0.51512, 0.24120, -0.00105),
        b"gXYZ": (0.29198, 0.69225, 0.04189),
        b"bXYZ": (0.15710, 0.06657, 0.78407),
    }
    tags = [(b"desc", description(b"Wide RGB sample")), (b"cprt", b"text\0\0\0\0Public domain\0")]
    tags += [(b"wtpt", xyz((0.9642, 1.0, 0.8249)))]
    tags += [(name, xyz(values)) for name, values in colorants.items()]
    tags += [(name, gamma) for name in (b"rTRC", b"gTRC", b"bTRC")]
    return icc_profile(b"RGB ", b"XYZ ", b"mntr", tags)


def cmyk_profile() -> bytes:
    """Return a small CMYK profile: the colours of `INKS`, and linear mixtures of them in between."""
    table = b"".join(encoded_lab(mixed_inks(*inks)) for inks in corners(4))
    ramp = struct.pack(">2H", 0, 65_535)
    forward = b"mft2\0\0\0\0" + struct.pack(">BBBx", 4, 3, 2)
    forward += struct.pack(">9i", *[fixed(value) for value in (1, 0, 0, 0, 1, 0, 0, 0, 1)])
    forward += struct.pack(">2H", 2, 2) + ramp * 4 + table + ramp * 3
    tags = [(b"desc", description(b"Coated paper sample")), (b"cprt", b"text\0\0\0\0Public domain\0")]
    tags += [(b"wtpt", xyz((0.9642, 1.0, 0.8249))), (b"A2B0", forward), (b"A2B1", forward)]
    return icc_profile(b"CMYK", b"Lab ", b"prtr", tags)


def corners(inks: int) -> list[tuple[int, ...]]:
    """Return all combinations of no and full ink, the last one varying fastest."""
    return [tuple(index >> bit & 1 for bit in reversed(range(inks))) for index in range(1 << inks)]


def mixed_inks(cyan: int, magenta: int, yellow: int, black: int) -> Lab:
    """Return the colour of solid inks printed over each other; black leaves a tenth of what is below."""
    name = "C" * cyan + "M" * magenta + "Y" * yellow or "white"
    if not black:
        return INKS[name]
    if name == "white":
        return INKS["K"]
    light, a, b = INKS[name]
    return light / 10, a / 10, b / 10


def encoded_lab(colour: Lab) -> bytes:
    """Return L*a*b* in the 16-bit encoding of version 2 (0xFF00 is 100, 0x8000 is 0)."""
    light, a, b = colour
    return struct.pack(">3H", round(light * 652.8), round((a + 128) * 256), round((b + 128) * 256))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
