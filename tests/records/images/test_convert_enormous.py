"""Images that are enormous or say so: each is an error of its row, soon and in little memory."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import time
import zlib

import pytest
from PIL import Image

from tests.effort import effort_since
from tests.records.images.pictures import DATA, encode, refusal, sample
from webanalytics.records.images.convert import FORMATS, ImageLimits, analyse
from webanalytics.records.images.formats import ImageFormat

pytestmark = pytest.mark.usefixtures("large_images_can_be_made")


# Pixels


@pytest.mark.parametrize(
    ("width", "height"), [(13_000, 13_000), (40_000_001, 1), (65_535, 65_535), (2**31 - 1, 2**31 - 1)]
)
def test_png_that_says_it_is_enormous(width: int, height: int) -> None:
    content = png(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), chunk(b"IDAT", b""))
    assert refusal(content, seconds=0.5) == ("too_large" if width < 2**31 - 1 else refusal(content))


def test_the_pixel_limit_is_exact() -> None:
    content = encode(Image.new("L", (100, 100)), "PNG")
    assert refusal(content, limits=ImageLimits(max_pixels=9_999)) == "too_large"
    assert analyse(content, output_format="png", limits=ImageLimits(max_pixels=10_000))["width"] == 100


@pytest.mark.parametrize("image_format", ["JPEG", "GIF", "TIFF", "WEBP", "PNG"])
def test_more_pixels_than_allowed(image_format: str) -> None:
    content = encode(Image.new("L", (400, 400)), image_format)
    for output_format in FORMATS:
        assert refusal(content, output_format, limits=ImageLimits(max_pixels=150_000)) == "too_large"


@pytest.mark.parametrize(("width", "height"), [(0, 0), (0, 9), (9, 0)])
def test_no_pixels(width: int, height: int) -> None:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    content = [
        png(header, chunk(b"IDAT", zlib.compress(b"\0" * 9))),
        gif(width, height, gif_frame(width=0, height=0)),
    ]
    content += [
        tiff([(256, 4, 1, width), (257, 4, 1, height), *GREY[2:], (273, 4, 1, 9), (279, 4, 1, 9)], b"\0" * 99)
    ]
    for image in content:
        assert refusal(image) == "invalid"
        assert refusal(image, "jpg", max_width=1) == "invalid"


def test_webp_canvas() -> None:
    frames = [Image.new("RGBA", (4, 4), colour) for colour in ("red", "blue")]
    content = bytearray(encode(frames[0], "WEBP", save_all=True, append_images=frames[1:], duration=50))
    content[24:30] = struct.pack("<I", 16_382)[:3] * 2
    assert refusal(bytes(content), seconds=0.5) == "too_large"


def test_bytes() -> None:
    assert refusal(sample("spinner.gif"), limits=ImageLimits(max_bytes=1_000)) == "too_large"
    assert refusal(b"\xff\xd8\xff" + b"\0" * 20_000_000, seconds=0.1) == "too_large"


@pytest.mark.parametrize(("output_format", "most"), [("webp", 16_383), ("jpg", 65_500), ("gif", 65_535)])
def test_sides_that_the_output_cannot_hold(output_format: ImageFormat, most: int) -> None:
    content = encode(Image.new("L", (most + 1, 1)), "PNG")
    assert refusal(content, output_format) == "too_large"
    result = analyse(content, output_format=output_format, max_width=most)
    assert Image.open(io.BytesIO(result["content"])).size == (most, 1)


# Frames


def gif(width: int, height: int, frames: bytes) -> bytes:
    return (
        b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + frames + b";"
    )


def gif_frame(left: int = 0, top: int = 0, width: int = 1, height: int = 1) -> bytes:
    control = b"!\xf9\x04\x05\x05\0\0\0"
    return control + b"," + struct.pack("<HHHHB", left, top, width, height, 0) + b"\x02\x02\x4c\x01\0"


def test_gif_of_ten_thousand_frames() -> None:
    content = gif(2_000, 2_000, gif_frame() * 10_000)
    for output_format in ("webp", "gif", "png", "tiff"):
        assert refusal(content, output_format) == "too_large"
    assert analyse(content, output_format="jpg")["frames"] == 1  # only the first is decoded


def test_gif_of_a_million_frames() -> None:
    content = gif(10, 10, gif_frame() * 850_000)
    for output_format in FORMATS:
        assert refusal(content, output_format) == "too_large"


def test_pixels_of_all_frames() -> None:
    content = gif(2_000, 2_000, gif_frame() * 51)
    assert refusal(content, "webp") == "too_large"
    few = ImageLimits(max_total_pixels=10_000)
    frames = gif(50, 50, gif_frame(width=1) * 5)
    assert refusal(frames, "png", limits=few) == "too_large"
    assert analyse(gif(50, 50, gif_frame() * 4), output_format="png", limits=few)["frames"] == 4


@pytest.mark.parametrize("image_format", ["WEBP", "PNG"])
def test_frames_of_other_formats(image_format: str) -> None:
    frames = [Image.new("RGB", (2, 2), (index % 17 * 15, index // 17 * 14, 200)) for index in range(301)]
    content = encode(
        frames[0], image_format, save_all=True, append_images=frames[1:], duration=20, lossless=True
    )
    assert refusal(content, "gif") == "too_large"
    assert analyse(content, output_format="gif", limits=ImageLimits(max_frames=301))["frames"] == 301


@pytest.mark.parametrize("box", [(0, 0, 60_000, 60_000), (9, 9, 6_500, 6_500)])
def test_gif_with_an_enormous_frame(box: tuple[int, int, int, int]) -> None:
    content = gif(10, 10, gif_frame() * 3 + gif_frame(*box))
    for output_format in ("webp", "gif", "png", "tiff"):
        assert refusal(content, output_format) == "too_large"
    grown = analyse(gif(10, 10, gif_frame() * 3 + gif_frame(60, 60)), output_format="gif")
    assert (grown["width"], grown["height"], grown["frames"]) == (10, 10, 4)


def tiff_of_pages(pages: int) -> bytes:
    tags = [(256, 5), (257, 5), (262, 1), (273, 0), (279, 5)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    content = bytearray(b"II*\0" + struct.pack("<I", 8))
    for page in range(pages):
        following = 8 + (page + 1) * 66 if page < pages - 1 else 0
        content += struct.pack("<H", 5) + entries + struct.pack("<I", following)
    return bytes(content)


@pytest.mark.parametrize("pages", [301, 5_000, 300_000])
def test_tiff_of_many_pages(pages: int) -> None:
    content = tiff_of_pages(pages)
    assert refusal(content, "tiff") == "too_large"
    assert analyse(content, output_format="png")["frames"] == 1


def test_tiff_whose_pages_go_round_in_a_circle() -> None:
    content = bytearray(tiff_of_pages(3))
    content[-4:] = struct.pack("<I", 8)
    assert analyse(bytes(content), output_format="tiff")["frames"] == 3


def test_pixels_of_all_pages() -> None:
    pages = [Image.new("1", (size, size)) for size in (10, 90, 90)]
    content = encode(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    assert refusal(content, "tiff", limits=ImageLimits(max_total_pixels=10_000)) == "too_large"
    assert analyse(content, output_format="png", limits=ImageLimits(max_total_pixels=10_000))["width"] == 10


# Blocks, tags and text


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(*chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + chunk(b"IEND", b"")


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 10, 10, 8, 0, 0, 0, 0))
PIXELS = chunk(b"IDAT", zlib.compress(b"\0" * 110))


@pytest.mark.parametrize("name", [b"zTXt", b"iCCP", b"iTXt"])
def test_compressed_bombs(name: bytes) -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(b"\0" * 1_000_000) for _ in range(200)) + packer.flush()
    start = {b"zTXt": b"a\0\0", b"iCCP": b"a\0\0", b"iTXt": b"a\0\1\0\0\0"}[name]
    assert refusal(png(HEADER, chunk(name, start + bomb), PIXELS), "jpg", seconds=0.5) == "invalid"


def test_many_text_chunks() -> None:
    text = chunk(b"tEXt", b"key\0value")
    result = analyse(png(HEADER, text * 50_000, PIXELS), output_format="png")
    assert result["outputSize"] < 200
    assert refusal(png(HEADER, text * 800_000, PIXELS)) == "too_large"


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xd8\xff\xe0\0\x02" + b"\xff\xe1\0\x02" * 4_900_000,
        b"\xff\xd8" + b"\xff" * 19_000_000,
        b"\xff\xd8\xff\xe0\0\x02" + b"\x01" * 19_000_000,
        b"GIF89a" + struct.pack("<HHBBB", 9, 9, 0, 0, 0) + b"!\xfe" + b"\x01a" * 9_000_000 + b"\0;",
        b"GIF89a" + struct.pack("<HHBBB", 9, 9, 0, 0, 0) + b"!\xfe\x01a\0" * 3_000_000 + b";",
        b"GIF89a" + struct.pack("<HHBBB", 9, 9, 0, 0, 0) + b"\0" * 19_000_000,
    ],
    ids=["segments", "fill bytes", "junk", "sub-blocks of a comment", "comments", "junk in GIF"],
)
def test_many_blocks(content: bytes) -> None:
    assert refusal(content) == "too_large"


def tiff(entries: list[tuple[int, int, int, int]], data: bytes, order: str = "<") -> bytes:
    table = b"".join(struct.pack(order + "HHII", *entry) for entry in sorted(entries))
    start = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    return start + struct.pack(order + "H", len(entries)) + table + b"\0\0\0\0" + data


GREY = [(256, 4, 1, 50), (257, 4, 1, 50), (262, 3, 1, 1), (277, 3, 1, 1)]


def test_tiff_tags_that_share_their_data() -> None:
    tags = [(1_000 + index, 3, 900_000, 50_000) for index in range(3_000)]
    assert refusal(tiff(GREY + tags, b"\0" * 2_000_000)) == "invalid"
    inner = struct.pack("<H", 3_000) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + b"\0\0\0\0"
    where = len(tiff([*GREY, (0x8769, 4, 1, 0)], b""))
    assert refusal(tiff([*GREY, (0x8769, 4, 1, where)], inner + b"\0" * 2_000_000)) == "invalid"


def test_tiff_of_all_tags() -> None:
    tags = [(index, 4, 1, 5) for index in range(65_535)]
    assert refusal(tiff(tags, b"")) == "invalid"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    "layout",
    [
        [(322, 4, 1, 65_520), (323, 4, 1, 65_520), (324, 4, 1, 200), (325, 4, 1, 25), (259, 4, 1, 5)],
        [(273, 4, 1, 200), (278, 4, 1, 2**32 - 1), (279, 4, 1, 25), (259, 4, 1, 5)],
        [(273, 4, 1, 2**32 - 1), (279, 4, 1, 2**32 - 1)],
        [(273, 4, 1, 200), (279, 4, 1, 25), (259, 4, 1, 34_712)],
        [(273, 4, 1, 200), (279, 4, 1, 25), (259, 4, 1, 9_999)],
        [(273, 4, 1, 200), (279, 4, 1, 25), (258, 4, 1, 64)],
        [(273, 12, 1, 200), (279, 5, 1, 25)],
        [],
    ],
    ids=["tile", "strip", "offset", "JPEG 2000", "unknown compression", "bits", "types", "nothing"],
)
def test_odd_tiff(layout: list[tuple[int, int, int, int]], order: str) -> None:
    assert refusal(tiff(GREY + layout, b"\1" * 3_000, order)) == "invalid"


def test_tiff_compressed_bomb() -> None:
    image = Image.new("L", (6_000, 6_000))
    content = encode(image, "TIFF", compression="tiff_adobe_deflate")
    assert len(content) < 100_000
    assert analyse(content, output_format="tiff", max_width=10)["width"] == 10  # within the limit of pixels
    larger = encode(Image.new("L", (6_000, 7_000)), "TIFF", compression="tiff_adobe_deflate")
    assert refusal(larger) == "too_large"


def test_large_profile_is_dropped() -> None:
    profile = b"\0" * 16 + b"RGB " + b"\0" * 5_000_000
    content = encode(Image.new("RGB", (9, 9)), "TIFF", icc_profile=profile)
    assert analyse(content, output_format="jpg")["outputSize"] < 2_000


def test_large_exif_is_not_read() -> None:
    tags = b"".join(struct.pack("<HHII", 1_000 + index, 3, 900_000, 50_000) for index in range(3_000))
    exif = b"II*\0\x08\0\0\0" + struct.pack("<H", 3_000) + tags + b"\0" * 2_000_000
    start = time.process_time()
    result = analyse(png(HEADER, chunk(b"eXIf", exif), PIXELS), output_format="png")
    assert effort_since(start) < 1
    assert result["width"] == 10


def test_orientation_of_nonsense() -> None:
    for value in (0, 9, 65_535):
        exif = Image.Exif()
        exif[0x0112] = value
        for image_format in ("PNG", "JPEG", "WEBP", "TIFF"):
            content = encode(Image.new("RGB", (8, 4)), image_format, exif=exif)
            assert analyse(content, output_format="png")["width"] == 8


# Memory


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is enforced by Linux")
def test_out_of_memory_is_an_error_of_the_row() -> None:
    code = """
import io, resource, sys
from PIL import Image
from webanalytics.records.images.convert import analyse
from webanalytics.records.images import pipeline
from webanalytics.errors import RowError
output = io.BytesIO()
Image.new("L", (6000, 6000)).save(output, "PNG")
analyse(output.getvalue(), output_format="png", max_width=10)
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * resource.getpagesize() + 60_000_000
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for output_format in ("webp", "jpg", "gif"):
    try:
        analyse(output.getvalue(), output_format=output_format)
    except RowError as error:
        print(error.error_type)
"""
    environment = {**os.environ, "PYTHONPATH": str(DATA.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["too_large"] * 3, done.stderr
