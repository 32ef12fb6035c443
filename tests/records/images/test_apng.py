"""Animated PNGs are composed as their specification says."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records.images import apng_files
from tests.records.images.apng_files import BACKGROUND, NONE, OVER, PREVIOUS, SOURCE, Frame, chunk, written
from tests.records.images.pictures import frames_of
from webanalytics.errors import RowError
from webanalytics.records.images.convert import analyse
from webanalytics.records.images.frames import apng_parts

RED, BLUE = (255, 0, 0, 255), (0, 0, 255, 255)
CLEAR, HALF = (0, 0, 0, 0), (0, 255, 0, 128)


def block(colour: apng_files.Pixel, width: int = 2, height: int = 2) -> apng_files.Picture:
    return [[colour] * width for _ in range(height)]


def read_again(content: bytes) -> list[list[list[tuple[int, ...]]]]:
    """Return the frames of an APNG written by us, which uses no disposal and no blending: Pillow reads it right."""
    made = analyse(content, output_format="png")["content"]
    pictures = (picture for picture, _ in frames_of(made))
    return [
        [[picture.getpixel((x, y)) for x in range(picture.width)] for y in range(picture.height)]
        for picture in pictures
    ]


def assert_as_specified(size: tuple[int, int], frames: list[Frame]) -> None:
    wanted = apng_files.shown(size, frames)
    found = read_again(written(size, frames))
    assert len(found) == len(wanted)
    for number, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
        for (y, row), x in itertools.product(enumerate(theirs), range(size[0])):
            got, expected = mine[y][x], row[x]
            assert abs(got[3] - expected[3]) <= 2, (number, x, y, got, expected)
            if expected[3] > 8:  # nearly transparent colours are lost in rounding
                most = 2 + 255 / expected[3]
                assert all(abs(a - b) <= most for a, b in zip(got, expected, strict=True)), (number, x, y)


def test_a_half_transparent_pixel_over_an_opaque_one_leaves_it_opaque() -> None:
    frames = [Frame(0, 0, block(RED, 4, 4)), Frame(1, 1, block(HALF), NONE, OVER)]
    second = read_again(written((4, 4), frames))[1]
    assert second[0][0] == RED
    assert second[1][1] == (127, 128, 0, 255)
    assert_as_specified((4, 4), frames)


def test_previous_brings_back_what_was_there_before() -> None:
    frames = [
        Frame(0, 0, block(RED, 4, 4)),
        Frame(0, 0, block(BLUE), PREVIOUS),
        Frame(2, 2, block(HALF), PREVIOUS, OVER),
        Frame(0, 3, [[CLEAR]], NONE, OVER),
    ]
    found = read_again(written((4, 4), frames))
    assert found[1][0][0] == BLUE
    assert found[2][0][0] == RED, "the blue block is taken back"
    assert found[2][2][2] == (127, 128, 0, 255)
    assert found[3] == [[RED] * 4] * 4, "all is as it was, and nothing was laid over it"
    assert_as_specified((4, 4), frames)


def test_a_first_frame_that_restores_the_previous_one_clears() -> None:
    frames = [Frame(0, 0, block(RED, 3, 3), PREVIOUS), Frame(0, 0, [[BLUE]])]
    found = read_again(written((3, 3), frames))
    assert found[1][0][0] == BLUE
    assert found[1][2][2][3] == 0
    assert_as_specified((3, 3), frames)


def test_background_clears_the_box_alone() -> None:
    frames = [
        Frame(0, 0, block(RED, 4, 4)),
        Frame(1, 1, block(BLUE), BACKGROUND),
        Frame(0, 0, [[BLUE]], NONE, OVER),
    ]
    third = read_again(written((4, 4), frames))[2]
    assert third[1][1][3] == third[2][2][3] == 0
    assert third[3][3] == RED
    assert_as_specified((4, 4), frames)


COLOUR = st.tuples(
    st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.sampled_from([0, 64, 128, 255])
)


@st.composite
def animations(draw: st.DrawFn) -> list[Frame]:
    frames = [
        Frame(0, 0, [[draw(COLOUR) for _ in range(4)] for _ in range(3)], draw(st.sampled_from((0, 1, 2))))
    ]
    for _ in range(draw(st.integers(1, 4))):
        left, top = draw(st.integers(0, 3)), draw(st.integers(0, 2))
        width, height = draw(st.integers(1, 4 - left)), draw(st.integers(1, 3 - top))
        pixels = [[draw(COLOUR) for _ in range(width)] for _ in range(height)]
        frames.append(
            Frame(left, top, pixels, draw(st.sampled_from((0, 1, 2))), draw(st.sampled_from((0, 1))))
        )
    return frames


@settings(max_examples=60, deadline=None)
@given(animations())
def test_any_animation(frames: list[Frame]) -> None:
    assert_as_specified((4, 3), frames)


def test_a_picture_for_viewers_without_animation_is_no_frame() -> None:
    frames = [Frame(0, 0, block(RED, 3, 3)), Frame(1, 1, [[BLUE]])]
    content = written((3, 3), frames, default=block((9, 9, 9, 255), 3, 3))
    found = read_again(content)
    assert len(found) == 2
    assert found[0] == [[RED] * 3] * 3
    assert analyse(content, output_format="webp")["frames"] == 2


def test_delays_in_any_unit() -> None:
    delays = [(1, 10), (3, 0), (40, 1000), (2, 1)]
    frames = [
        Frame(0, 0, [[(number, 9, 9, 255)]], NONE, SOURCE, delay) for number, delay in enumerate(delays)
    ]
    made = analyse(written((1, 1), frames), output_format="png")["content"]
    assert [duration for _, duration in frames_of(made)] == [100, 30, 40, 2000]


def swapped(content: bytes) -> bytes:
    """Number the second control chunk wrongly."""
    at = content.rindex(b"fcTL")
    data = struct.pack(">I", 9) + content[at + 8 : at + 30]
    return content[: at - 4] + chunk(b"fcTL", data) + content[at + 34 :]


def outside(content: bytes) -> bytes:
    """Put the second frame outside the canvas."""
    at = content.rindex(b"fcTL")
    data = content[at + 4 : at + 16] + struct.pack(">I", 50) + content[at + 20 : at + 30]
    return content[: at - 4] + chunk(b"fcTL", data) + content[at + 34 :]


def damaged(content: bytes) -> bytes:
    at = content.rindex(b"fdAT") + 9
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


@pytest.mark.parametrize("spoil", [swapped, outside, damaged])
def test_broken_animations_are_refused(spoil) -> None:
    content = written((4, 4), [Frame(0, 0, block(RED, 4, 4)), Frame(0, 0, block(BLUE))])
    assert analyse(content, output_format="png")["frames"] == 2
    with pytest.raises(RowError) as caught:
        analyse(spoil(content), output_format="png")
    assert caught.value.error_type == "invalid"


def test_a_repeated_palette_is_not_copied_into_each_frame() -> None:
    content = written((4, 4), [Frame(0, 0, block(RED, 4, 4)), Frame(0, 0, block(BLUE))])
    repeated = content[:33] + 1_000 * chunk(b"PLTE", b"rgb" * 256) + content[33:]
    assert [len(part.content) < 2_000 for part in apng_parts(repeated)] == [True, True]
