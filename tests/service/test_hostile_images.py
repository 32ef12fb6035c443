"""Images that are none, too large, or more than they seem: each is a clear answer in bounded time."""

from __future__ import annotations

import asyncio
import io
import struct
import time
import zipfile
import zlib
from typing import Any

import pytest
from PIL import Image

from tests.effort import BUSY_SECONDS
from tests.service.evil import Evil, ask, http, open_engine
from webanalytics.service.images import FileContent
from webanalytics.service.results import Result


def encode(kind: str, size: tuple[int, int] = (30, 20), **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "navy").save(file, kind, **options)
    return file.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int, height: int, rows: bytes, *chunks: bytes) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def black_png(side: int) -> bytes:
    """A one-bit PNG of any size in few bytes."""
    packer = zlib.compressobj(9)
    row = bytes(1 + (side + 7) // 8)
    return png(side, side, b"".join(packer.compress(row) for _ in range(side)) + packer.flush())


def jpeg_that_says(width: int, height: int) -> bytes:
    content = bytearray(encode("JPEG"))
    at = content.index(b"\xff\xc0") + 5
    content[at : at + 4] = struct.pack(">HH", height, width)
    return bytes(content)


def gif(side: int, frames: int) -> bytes:
    frame = b"\x2c" + struct.pack("<HHHH", 0, 0, 1, 1) + b"\0" + b"\x02\x02\x44\x01\0"
    head = b"GIF89a" + struct.pack("<HH", side, side) + b"\x80\0\0\xff\0\0\0\0\0"
    return head + frame * frames + b"\x3b"


def webp(side: int, frames: int) -> bytes:
    still = encode("WEBP", (side, side), lossless=True)[12:]
    low = struct.pack("<I", side - 1)[:3]
    body = bytes(6) + low + low + struct.pack("<I", 40)[:3] + b"\0" + still
    frame = b"ANMF" + struct.pack("<I", len(body)) + body
    head = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + low + low
    animation = b"ANIM" + struct.pack("<I", 6) + bytes(6)
    content = b"WEBP" + head + animation + frame * frames
    return b"RIFF" + struct.pack("<I", len(content)) + content


def circular_tiff() -> bytes:
    content = bytearray(encode("TIFF"))
    first = struct.unpack_from("<I", content, 4)[0]
    count = struct.unpack_from("<H", content, first)[0]
    struct.pack_into("<I", content, first + 2 + 12 * count, first)
    return bytes(content)


NO_IMAGES = {
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>",
    "eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file\nshowpage\n",
    "pdf": b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\n",
    "psd": b"8BPS\0\1" + bytes(40),
    "ppm": b"P6 2 2 255\n" + bytes(12),
    "bmp": encode("BMP"),
    "ico": encode("ICO"),
    "tga": encode("TGA"),
    "html": b"<!doctype html><title>Not found</title><h1>Not found</h1>",
    "zeros": bytes(1000),
    "avif": b"\0\0\0\x1cftypavif" + bytes(40),
}
BOMBS = {
    "png of 400 million pixels": lambda: black_png(20_000),
    "png that says 2**31": lambda: png(2**31 - 1, 2**31 - 1, zlib.compress(b"")),
    "jpeg that says 65500": lambda: jpeg_that_says(65_500, 65_500),
    "gif of 10,000 frames": lambda: gif(2_000, 10_000),
    "webp of 500 frames": lambda: webp(1_000, 500),
}
ODD = {
    "text bomb": lambda: png(
        8, 8, zlib.compress(bytes(16)), chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50_000_000), 9))
    ),
    "profile bomb": lambda: png(
        8, 8, zlib.compress(bytes(16)), chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(50_000_000), 9))
    ),
    "row bomb": lambda: png(8, 8, zlib.compress(bytes(100_000_000), 9)),
    "tiff in a circle": circular_tiff,
    "truncated png": lambda: encode("PNG", (300, 300))[:-40],
    "truncated jpeg": lambda: encode("JPEG", (300, 300))[:-40],
}


def convert(*images: Any, output: str = "png", **changes: Any) -> list[Result]:
    """The results of conversions one after another, while a small image is asked for beside them."""

    async def main() -> list[Result]:
        async with open_engine(image_timeout=6.0, **changes) as engine:
            await ask(engine, "convert", encode("PNG"), outputFormat="webp")
            results = []
            for image in images:
                began = time.monotonic()
                hostile = asyncio.create_task(ask(engine, "convert", image, outputFormat=output))
                await asyncio.sleep(0.01)
                beside = await ask(engine, "convert", encode("GIF"), outputFormat="png", account=2)
                assert beside.status == 200
                waited = hostile.done()
                results.append(await hostile)
                assert not (waited and "takes longer than" in (results[-1].error or ""))
                assert time.monotonic() - began < BUSY_SECONDS
            return results

    return asyncio.run(main())


def test_what_is_no_image_of_the_five_formats_is_refused() -> None:
    for name, result in zip(NO_IMAGES, convert(*NO_IMAGES.values()), strict=True):
        assert (result.status, result.error) == (
            400,
            "The `image` parameter must be an image in WebP, PNG, JPG, GIF or TIFF format.",
        ), name


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("output", ["webp", "gif"])
def test_bombs_are_refused(name: str, output: str) -> None:
    bomb = BOMBS[name]()
    assert len(bomb) < 1_000_000
    (result,) = convert(bomb, output=output)
    assert result.status == 400, result
    assert result.error is not None
    assert result.error.startswith("The `image` parameter must ")


@pytest.mark.parametrize("name", ODD)
def test_odd_images_have_an_answer(name: str) -> None:
    (result,) = convert(ODD[name]())
    assert result.status in (200, 400), result
    if name.startswith("truncated"):
        assert result.status == 400


def test_the_content_decides_what_an_image_is() -> None:
    async def main() -> None:
        pages = {
            "/photo.jpg": http(encode("PNG"), Content_Type="image/jpeg"),
            "/photo.png": http(encode("JPEG"), Content_Type="text/plain"),
            "/page.gif": http(b"<script>alert(1)</script>", Content_Type="image/gif"),
            "/really": http(encode("GIF"), Content_Type="text/html"),
            "/nothing": http(encode("WEBP"), Content_Type=""),
        }
        async with Evil(pages) as site, open_engine() as engine:
            for path, status, kind in (
                ("/photo.jpg", 200, "png"),
                ("/photo.png", 200, "jpg"),
                ("/page.gif", 400, None),
                ("/really", 400, None),
                ("/nothing", 200, "webp"),
            ):
                result = await ask(engine, "convert", site.url + path, outputFormat="tiff")
                assert result.status == status, (path, result)
                assert (result.data or {}).get("inputFormat") == kind

    asyncio.run(main())


SCRIPT = b"<script>alert(document.domain)</script><?php system($_GET['c']); ?>"


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as opened:
        opened.writestr("run.txt", SCRIPT)
    return file.getvalue()


POLYGLOTS = {
    "gif and script behind it": encode("GIF") + SCRIPT,
    "gif comment": encode("GIF", comment=SCRIPT),
    "jpeg comment": encode("JPEG", comment=SCRIPT),
    "png text": png(8, 8, zlib.compress(bytes(16)), chunk(b"tEXt", b"Comment\0" + SCRIPT)),
    "png and archive behind it": encode("PNG") + archive(),
    "exif": encode(
        "JPEG",
        exif=b"Exif\0\0II*\0\x08\0\0\0\x01\0\x0e\x01\x02\0"
        + struct.pack("<II", len(SCRIPT), 26)
        + bytes(4)
        + SCRIPT,
    ),
}


@pytest.mark.parametrize("output", ["png", "jpg", "webp", "gif", "tiff"])
def test_what_rides_along_in_an_image_is_left_behind(output: str) -> None:
    async def main() -> None:
        async with open_engine() as engine:
            for name, content in POLYGLOTS.items():
                assert SCRIPT in content or b"PK\x03\x04" in content, name
                result = await ask(engine, "convert", content, outputFormat=output)
                assert result.data is not None, (name, result.error)
                stored = await engine._images.open(result.data["downloadURL"].rpartition("/")[2])
                assert stored is not None
                assert not isinstance(stored.content, FileContent)
                assert b"script" not in stored.content, name
                assert b"PK\x03\x04" not in stored.content, name
                with Image.open(io.BytesIO(stored.content)) as image:
                    assert Image.MIME[image.format or ""] == stored.mime_type
                    assert "comment" not in {str(key).lower() for key in image.info}

    asyncio.run(main())


def test_escaped_data_urls_cannot_take_many_times_their_size() -> None:
    long = "data:image/png," + "%41" * 3_000_000
    began = time.monotonic()
    (result,) = convert(long)
    assert result.status == 400
    assert result.error is not None
    assert result.error.startswith("The `image` parameter must be base64, a data: URL or")  # not looked into
    assert time.monotonic() - began < BUSY_SECONDS


def test_an_image_bomb_behind_a_url_stops_at_the_plans_limit() -> None:
    async def main() -> Result:
        packed = zlib.compress(bytes(100_000_000), 9)
        pages = {"/": http(packed, Content_Encoding="deflate", Content_Type="image/png")}
        async with Evil(pages) as site, open_engine() as engine:
            return await ask(engine, "convert", site.url + "/", outputFormat="png")

    result = asyncio.run(main())
    assert result.status == 400
    assert result.error is not None
    assert "`image`" in result.error
    assert "10,000,000 bytes" in result.error
