"""The image converter by its Python state."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import ipywidgets as w
import pandas as pd
import pytest
from PIL import Image, features

from webanalytics.records.images import widget as module
from webanalytics.records.images.widget import ImageConverter, file_stem, image_converter

WHEN = datetime(2026, 11, 21, tzinfo=UTC)
IMAGES = Path(__file__).parents[3] / "data" / "images"


def png(width: int = 64, height: int = 48) -> bytes:
    stream = io.BytesIO()
    Image.radial_gradient("L").resize((width, height)).convert("RGB").save(stream, "png")
    return stream.getvalue()


def with_files(**files: bytes) -> ImageConverter:
    converter = image_converter()
    put(converter, {name.replace("__", "."): content for name, content in files.items()})
    return converter


def put(converter: ImageConverter, files: dict[str, bytes]) -> None:
    """Do what the browser does when files are chosen."""
    converter.upload.value = tuple(
        {
            "name": name,
            "type": "image/png",
            "size": len(content),
            "content": memoryview(content),
            "last_modified": WHEN,
        }
        for name, content in files.items()
    )


def inside(widget: w.Widget) -> Iterator[w.Widget]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def pictures(converter: ImageConverter) -> list[w.Image]:
    return [widget for widget in inside(converter.results) if isinstance(widget, w.Image)]


def texts(converter: ImageConverter) -> str:
    return "\n".join(widget.value for widget in inside(converter) if isinstance(widget, w.HTML))


def links(converter: ImageConverter) -> dict[str, bytes]:
    found = re.findall(r'download="([^"]*)" href="data:[\w/]+;base64,([^"]*)"', texts(converter))
    return {name: base64.b64decode(data) for name, data in found}


@pytest.mark.parametrize("output_format", ["webp", "png", "jpg", "gif", "tiff"])
def test_one_image(output_format: str) -> None:
    converter = with_files(garden__png=png())
    converter.output_format.value = output_format
    converter.max_width.value = 32
    converter.button.click()
    (content,) = links(converter).values()
    with Image.open(io.BytesIO(content)) as image:
        assert image.size == (32, 24)
        assert image.format == {"jpg": "JPEG"}.get(output_format, output_format.upper())
    assert list(links(converter)) == [f"garden.{output_format}"]
    before, after = pictures(converter)
    assert bytes(before.value) == png()
    if output_format != "tiff":  # which browsers do not show
        assert bytes(after.value) == content
    assert converter.message == "1 image converted."


def test_quality_counts_and_is_offered_where_there_is_one() -> None:
    converter = with_files(photo__jpg=(IMAGES / "photograph-lying-on-its-side.jpg").read_bytes())
    sizes = []
    for quality in (95, 20):
        converter.quality.value = quality
        converter.button.click()
        (content,) = links(converter).values()
        sizes.append(len(content))
    assert sizes[1] < sizes[0] / 2
    converter.output_format.value = "png"
    assert converter.quality.disabled
    converter.output_format.value = "jpg"
    assert not converter.quality.disabled


def test_several_images_one_of_them_broken() -> None:
    converter = with_files(a__png=png(), b__png=png(20, 10), broken__png=b"really a text")
    converter.button.click()
    assert converter.message.startswith("2 images converted: ")
    assert converter.message.endswith("1 could not be converted.")
    assert "The content is not an image in WebP, PNG, JPG, GIF or TIFF format." in texts(converter)
    archive = zipfile.ZipFile(io.BytesIO(links(converter)["converted-images.zip"]))
    assert archive.namelist() == ["a.webp", "b.webp"]
    assert converter.frame is not None
    assert converter.frame["status"].tolist() == ["ok", "ok", "error"]


def test_files_of_one_name_stay_apart() -> None:
    converter = image_converter()
    put(converter, {"x/photo.png": png(), "photo.jpg": png(), "PHOTO.gif": png()})
    converter.button.click()
    assert [image.name for image in converter.converted] == ["photo.webp", "photo-2.webp", "PHOTO-3.webp"]


def test_more_images_than_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SHOWN", 1)
    converter = with_files(a__png=png(), b__png=png())
    converter.button.click()
    assert len(pictures(converter)) == 2
    assert "The first 1 are shown." in converter.message
    assert len(zipfile.ZipFile(io.BytesIO(links(converter)["converted-images.zip"])).namelist()) == 2


def test_a_large_image_is_shown_as_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_SHOWN", 100)
    monkeypatch.setattr(module, "PREVIEW_PIXELS", 16)
    converter = with_files(a__png=png())
    converter.button.click()
    with Image.open(io.BytesIO(bytes(pictures(converter)[0].value))) as shown:
        assert shown.size == (16, 12)
    assert "shown as a copy" in texts(converter)


def test_a_wrong_image_alone_gives_the_sentence() -> None:
    converter = with_files(broken__png=b"<svg onload=alert(1)>")
    converter.button.click()
    assert converter.message == "The content is not an image in WebP, PNG, JPG, GIF or TIFF format."
    assert links(converter) == {}


def test_uploads_are_no_state_of_the_notebook() -> None:
    converter = with_files(a__png=png(), b__png=png())
    assert converter.upload.value == ()
    assert converter.message == f"2 images chosen, {2 * len(png()) / 1000:.1f} kB."
    for _ in range(2):  # the images stay for another try
        converter.button.click()
        assert len(converter.converted) == 2
    put(converter, {"c.png": png()})
    converter.button.click()
    assert [image.name for image in converter.converted] == ["c.webp"]


def test_an_answer_without_the_extras_of_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    class Spare:
        """Answers as a service does whose free plan tells no sizes, and loses the second image."""

        async def convert(self, images: list[bytes], *settings: object, **options: object) -> pd.DataFrame:
            row = {"status": "ok", "inputFormat": "png", "outputFormat": "webp", "mimeType": "image/webp"}
            rows = [row | {"content": b"x" * 10}, row | {"content": None}]
            return pd.DataFrame(rows).assign(inputSize=pd.NA, outputSize=pd.NA, width=pd.NA, error=None)

    monkeypatch.setattr(module, "aio", Spare())
    converter = with_files(a__png=b"y" * 40, b__png=b"z")
    converter.button.click()
    assert converter.message == "1 image converted. 1 could not be converted."
    assert "10 bytes instead of 40 bytes: 75% smaller, 30 bytes saved" in texts(converter)
    assert "The converted image did not arrive." in texts(converter)


def test_no_image_chosen() -> None:
    converter = image_converter()
    converter.button.click()
    assert converter.message == "No image has come: choose one or several, together no more than about 10 MB."


def test_markup_in_a_file_name_is_text() -> None:
    converter = image_converter()
    put(converter, {'"><img src=x onerror=alert(1)>.png': png()})
    converter.button.click()
    assert "<img" not in texts(converter)
    assert list(links(converter)) == ["img srcx onerroralert(1).webp"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "a/b/..", "\\\\host\\x", "con\x00trol\n.png", "\u202egpj.exe"]
)
def test_file_names_are_harmless(name: str) -> None:
    stem = file_stem(name)
    assert stem
    assert not re.search(r"[/\\\x00-\x1f\u202e]|^\.", stem)


def test_images_of_the_last_run_are_closed() -> None:
    converter = with_files(a__png=png())
    converter.button.click()
    old = pictures(converter)
    converter.button.click()
    assert [picture.comm for picture in old] == [None, None]
    assert len(pictures(converter)) == 2


def test_the_loop_stays_free() -> None:
    async def press() -> int:
        converter = with_files(a__png=png(1600, 1200), b__png=png(1600, 1200))
        converter.button.click()
        turns = 0
        assert converter.task is not None
        while not converter.task.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert converter.message.startswith("2 images converted")
        return turns

    assert asyncio.run(press()) > 5


def test_pressing_again_gives_up_the_first_run() -> None:
    async def press() -> ImageConverter:
        converter = with_files(a__png=png())
        converter.convert()
        first = converter.task
        await asyncio.sleep(0)
        converter.convert()
        assert first is not None
        assert converter.task is not None
        await asyncio.wait([first, converter.task])
        assert first.cancelled()
        return converter

    converter = asyncio.run(press())
    assert converter.message == "1 image converted."
    assert len(pictures(converter)) == 2
    assert not converter.button.disabled


def test_a_file_that_would_grow_is_kept_and_said() -> None:
    stream = io.BytesIO()
    Image.effect_noise((60, 40), 90).convert("RGB").save(stream, "jpeg", quality=30)
    converter = with_files(photo__jpg=stream.getvalue())
    assert converter.quality.value == 80
    converter.output_format.value = "png"
    converter.button.click()
    assert links(converter) == {"photo.jpg": stream.getvalue()}
    assert "no change. Kept: as png it would have" in texts(converter)
    converter.keep_smaller.value = False
    converter.button.click()
    assert list(links(converter)) == ["photo.png"]
    assert "larger. Larger than the given" in texts(converter)


def test_what_is_written_lossy_says_how_similar_it_is() -> None:
    stream = io.BytesIO()
    Image.effect_noise((90, 80), 60).save(stream, "png")
    converter = with_files(photo__png=stream.getvalue())
    converter.output_format.value = "jpg"
    converter.button.click()
    assert re.search(r"Structural similarity 0\.\d{3} at quality 80", texts(converter))


def test_formats_of_this_machine_are_offered_where_pillow_has_them() -> None:
    offered = {name for _, name in image_converter().output_format.options}
    assert ("avif" in offered) is features.check("avif")
    assert {"png", "jpg", "webp", "gif", "tiff"} <= offered
