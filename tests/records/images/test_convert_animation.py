"""Conversion of images: animations and pages."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, TiffImagePlugin

from tests.records.images.pictures import (
    BLUE,
    GREEN,
    RED,
    WHITE,
    animation,
    convert,
    decode,
    encode,
    frames_of,
    near,
    sample,
    squares,
    stored_as,
)
from webanalytics.records.images.convert import analyse

# Animations


@pytest.mark.parametrize("output_format", ["gif", "webp", "png"])
@pytest.mark.parametrize("input_format", ["GIF", "WEBP", "PNG"])
def test_animation_survives(input_format: str, output_format: Any) -> None:
    durations = [100, 50, 200, 70]
    content = animation(input_format, squares(), durations, loop=0)
    result = analyse(content, output_format=output_format)
    assert result["frames"] == 4
    found = frames_of(result["content"])
    assert [duration for _, duration in found] == durations
    for index, (frame, _) in enumerate(found):
        assert frame.size == (48, 32)
        assert near(frame.getpixel((index * 10 + 5, 14)), (*RED, 255), 8)
        for other in set(range(4)) - {index}:
            assert frame.getpixel((other * 10 + 5, 14))[3] == 0, (
                f"frame {index} shows a trace of frame {other}"
            )


@pytest.mark.parametrize("output_format", ["gif", "webp", "png"])
def test_animation_is_resized_frame_by_frame(output_format: Any) -> None:
    result = analyse(
        animation("GIF", squares(), [100] * 4, loop=0), output_format=output_format, max_width=24
    )
    assert (result["width"], result["height"], result["frames"]) == (24, 16, 4)
    for index, (frame, _) in enumerate(frames_of(result["content"])):
        assert frame.size == (24, 16)
        assert near(frame.getpixel((index * 5 + 2, 7)), (*RED, 255), 12)


def loop_of(content: bytes) -> int | None:
    return Image.open(io.BytesIO(content)).info.get("loop")


@pytest.mark.parametrize(
    ("gif", "times"),
    [(None, 1), (0, 0), (3, 4), (65_535, 65_535)],
    ids=["once", "for ever", "three repetitions", "most"],
)
def test_loops(gif: int | None, times: int) -> None:
    # A GIF says how often to repeat, WebP and APNG how often to play.
    options = {} if gif is None else {"loop": gif}
    content = animation("GIF", squares(), [100] * 4, **options)
    assert loop_of(content) == gif
    assert loop_of(analyse(content, output_format="gif")["content"]) == gif
    assert loop_of(analyse(content, output_format="webp")["content"]) == times
    if times < 65_535:
        assert loop_of(analyse(content, output_format="png")["content"]) == times
        for other in ("WEBP", "PNG"):
            back = analyse(animation(other, squares(), [100] * 4, loop=times), output_format="gif")
            assert loop_of(back["content"]) == gif


def test_gif_durations_do_not_drift() -> None:
    content = animation("WEBP", squares(), [33, 33, 33, 34], loop=0)
    durations = [duration for _, duration in frames_of(analyse(content, output_format="gif")["content"])]
    assert durations == [30, 40, 30, 30]  # 33, 66, 99 and 133 ms, each to the nearest hundredth of a second
    fast = animation("WEBP", squares(), [5, 5, 5, 5], loop=0)
    assert [d for _, d in frames_of(analyse(fast, output_format="gif")["content"])] == [
        20
    ] * 4  # less is slowed by viewers


def test_a_frame_without_a_duration_is_shown_as_browsers_do() -> None:
    content = animation("GIF", squares(), [0, 50, 0, 50], loop=0)
    assert [d for _, d in frames_of(analyse(content, output_format="gif")["content"])] == [0, 50, 0, 50]
    for output_format in ("webp", "png"):
        durations = [d for _, d in frames_of(analyse(content, output_format=output_format)["content"])]
        assert durations == [100, 50, 100, 50]


@pytest.mark.parametrize("milliseconds", [65_535, 70_000, 600_000])
def test_long_durations(milliseconds: int) -> None:
    content = animation("WEBP", squares(2), [milliseconds, 40], loop=0)
    for output_format in ("png", "gif", "webp"):
        first = frames_of(analyse(content, output_format=output_format)["content"])[0][1]
        assert first == pytest.approx(milliseconds, abs=10)


def test_equal_frames_stay_frames() -> None:
    frames = [Image.new("RGBA", (8, 8), (*RED, 255))] * 2 + [Image.new("RGBA", (8, 8), (*BLUE, 255))]
    content = animation("GIF", squares(), [100] * 4)
    assert analyse(content, output_format="gif")["frames"] == 4
    from webanalytics.records.images.animation import write_apng, write_gif

    for written, count in (
        write_gif(zip(frames, [10, 20, 30], strict=True), 0, True),
        write_apng(zip(frames, [10, 20, 30], strict=True), 192, 0, b""),
    ):
        assert count == 3
        found = frames_of(written)
        assert [duration for _, duration in found] == [10, 20, 30]
        assert [frame.getpixel((4, 4))[:3] for frame, _ in found] == [RED, RED, BLUE]


COLOURS = st.sampled_from(
    [(0, 0, 0, 0), (255, 0, 0, 255), (0, 128, 255, 255), (9, 9, 9, 255), (0, 0, 0, 255)]
)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(
            st.lists(COLOURS, min_size=width * 4, max_size=width * 4), min_size=2, max_size=6
        )
    )
)
def test_any_frames_come_back_from_gif_and_apng(drawn: list[list[tuple[int, ...]]]) -> None:
    from webanalytics.records.images.animation import write_apng, write_gif

    frames = []
    for pixels in drawn:
        frame = Image.new("RGBA", (len(pixels) // 4, 4))
        for index, pixel in enumerate(pixels):
            frame.putpixel((index % frame.width, index // frame.width), pixel)
        frames.append(frame)
    timed = [(frame, 40) for frame in frames]
    gif, _ = write_gif(iter(timed), 0, True)
    apng, _ = write_apng(iter(timed), 1, 0, b"")
    for written in (gif, apng):
        found = [frame for frame, _ in frames_of(written)]
        assert len(found) == len(frames)
        for frame, expected in zip(found, frames, strict=True):
            assert frame.getchannel("A").tobytes() == expected.getchannel("A").tobytes()
            visible = Image.new("RGBA", expected.size)
            visible.paste(frame, mask=frame.getchannel("A"))
            assert visible.tobytes() == expected.tobytes()


def test_still_formats_take_the_first_frame() -> None:
    content = animation("GIF", squares(), [100] * 4, loop=0)
    result = analyse(content, output_format="jpg")
    assert result["frames"] == 1
    image = decode(result["content"])
    assert near(image.getpixel((5, 14)), RED, 12)
    assert near(image.getpixel((25, 14)), WHITE, 12)


def test_animation_becomes_pages_of_tiff() -> None:
    result = analyse(animation("WEBP", squares(), [100] * 4, loop=0), output_format="tiff")
    pages = frames_of(result["content"])
    assert len(pages) == result["frames"] == 4
    for index, (page, _) in enumerate(pages):
        assert page.getpixel((index * 10 + 5, 14)) == (*RED, 255)
        assert page.getchannel("A").getbbox() == (index * 10, 8, index * 10 + 10, 20)


def test_apng_picture_for_old_viewers_is_no_frame() -> None:
    poster = Image.new("RGBA", (48, 32), (*GREEN, 255))
    options = {"default_image": True, "append_images": squares(), "save_all": True, "duration": 80}
    content = encode(poster, "PNG", **options)
    assert near(convert(content, "jpg").getpixel((9, 9)), GREEN)
    result = analyse(content, output_format="gif")
    assert result["frames"] == 4
    assert frames_of(result["content"])[0][0].getpixel((5, 14)) == (*RED, 255)


def test_first_frame_of_a_gif_that_does_not_cover_the_canvas() -> None:
    small = encode(Image.new("P", (4, 4), 1), "GIF")
    position = small.index(b",")
    content = small[:6] + (10).to_bytes(2, "little") * 2 + small[10:position]
    content += b"," + bytes([3, 0, 3, 0]) + small[position + 5 :]
    image = convert(content, "png").convert("RGBA")
    assert image.size == (10, 10)
    assert image.getchannel("A").getbbox() == (3, 3, 7, 7)


def gif_of(*parts: tuple[tuple[int, int, int, int], tuple[int, int, int], int]) -> bytes:
    """Assemble a GIF of 12 x 8 from boxes, their colours and their disposals, without a transparent colour."""
    content = (
        b"GIF89a" + bytes([12, 0, 8, 0, 0x80, 0, 0]) + bytes([0, 0, 90, 90, 0, 0])
    )  # dark blue background
    for (left, top, right, bottom), rgb, disposal in parts:
        alone = Image.new("P", (right - left, bottom - top), 1)
        alone.putpalette([0, 0, 0, *rgb])
        written = encode(alone, "GIF", optimize=False, interlace=0)
        assert written[10] & 0x87 == 0x81  # four colours, two of them unused
        image = written[written.index(b",") + 9 : -1]
        content += b"!\xf9\x04" + bytes([disposal << 2, 5, 0, 0, 0])
        content += b"," + b"".join(
            value.to_bytes(2, "little") for value in (left, top, right - left, bottom - top)
        )
        content += b"\x81" + written[13:25] + image[1:]
    return content + b";"


@pytest.mark.parametrize("output_format", ["gif", "webp", "png", "tiff"])
def test_gif_is_composed_as_browsers_do(output_format: Any) -> None:
    # What no frame covers is transparent, and so is what is cleared (2); 3 brings back what was there.
    content = gif_of(
        ((0, 0, 6, 8), RED, 1),
        ((6, 0, 12, 8), GREEN, 2),
        ((0, 0, 12, 4), BLUE, 3),
        ((6, 4, 12, 8), WHITE, 1),
    )
    places = [(2, 1), (9, 1), (2, 6), (9, 6)]
    found = [
        [frame.getpixel(place) for place in places]
        for frame, _ in frames_of(analyse(content, output_format=output_format, quality=100)["content"])
    ]
    empty = None
    expected = [
        [RED, empty, RED, empty],
        [RED, GREEN, RED, GREEN],
        [BLUE, BLUE, RED, empty],
        [RED, empty, RED, WHITE],
    ]
    assert len(found) == len(expected)
    for pixels, colours in zip(found, expected, strict=True):
        for pixel, colour in zip(pixels, colours, strict=True):
            # WebP halves the resolution of colours, which the edges of so small a picture show.
            assert (
                pixel[3] == 0
                if colour is None
                else near(pixel, (*colour, 255), 90 if output_format == "webp" else 0)
            )


# Pages


def test_pages_keep_their_sizes_and_modes() -> None:
    original = Image.open(io.BytesIO(sample("report-three-pages.tiff")))
    result = analyse(sample("report-three-pages.tiff"), output_format="tiff")
    assert (result["frames"], result["width"], result["height"]) == (3, 170, 240)
    written = Image.open(io.BytesIO(result["content"]))
    for page in range(3):
        original.seek(page)
        written.seek(page)
        assert (written.size, written.mode, written.tobytes()) == (
            original.size,
            original.mode,
            original.tobytes(),
        )


def test_each_page_is_fitted() -> None:
    result = analyse(sample("report-three-pages.tiff"), output_format="tiff", max_width=100)
    assert [page.size for page, _ in frames_of(result["content"])] == [(100, 141), (100, 67), (100, 71)]


def test_each_page_is_turned() -> None:
    output = io.BytesIO()
    upright = Image.new("RGB", (20, 10), BLUE)
    upright.paste(RED, (0, 0, 10, 10))
    with TiffImagePlugin.AppendingTiffWriter(output) as document:
        for orientation in (6, 1, 3):
            stored_as(upright, orientation).save(document, "TIFF", tiffinfo={274: orientation})
            document.newFrame()
    pages = frames_of(analyse(output.getvalue(), output_format="tiff")["content"])
    assert [(page.size, page.getpixel((2, 2))[:3], page.getpixel((17, 7))[:3]) for page, _ in pages] == [
        ((20, 10), RED, BLUE)
    ] * 3


def test_other_formats_take_the_first_page() -> None:
    for output_format in ("png", "webp", "gif", "jpg"):
        result = analyse(sample("report-three-pages.tiff"), output_format=output_format)
        assert (result["width"], result["height"], result["frames"]) == (170, 240, 1)


def test_jpeg_with_several_pictures_is_its_first() -> None:
    pictures = [Image.new("RGB", (16, 16), colour) for colour in (GREEN, BLUE)]
    content = encode(pictures[0], "MPO", save_all=True, append_images=pictures[1:])
    for output_format in ("png", "tiff", "webp", "gif"):
        result = analyse(content, output_format=output_format)
        assert (result["inputFormat"], result["frames"]) == ("jpg", 1)
        assert near(decode(result["content"]).convert("RGB").getpixel((8, 8)), GREEN)
