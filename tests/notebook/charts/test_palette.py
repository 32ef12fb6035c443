"""The palette in numbers: contrast with the card, colour blindness, prints in grey."""

from __future__ import annotations

import itertools

import pytest

from tests.notebook.charts.contrast import EYES, contrast, distance, lab
from webanalytics.notebook.charts import readability_scale
from webanalytics.notebook.drawing import style


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the grey that WCAG's notes name
    assert lab("#ffffff", "usual") == pytest.approx([100, 0, 0], abs=0.05)
    assert distance("#00ff00", "#ff0000", "deuteranopia") < distance("#00ff00", "#ff0000", "usual") / 2


@pytest.mark.parametrize("colour", [style.BLUE, style.ORANGE, *style.LEVELS])
def test_marks_stand_out_from_the_card(colour: str) -> None:
    assert contrast(colour, style.CARD) >= 3  # WCAG 2.2, 1.4.11


@pytest.mark.parametrize("colour", [style.INK, style.MUTED])
def test_writing_can_be_read_on_the_card(colour: str) -> None:
    assert contrast(colour, style.CARD) >= 4.5  # WCAG 2.2, 1.4.3


@pytest.mark.parametrize("tint", [*style.SEQUENCE, style.BLUE_TINT, style.ORANGE_TINT])
def test_marks_and_writing_stand_out_from_bands(tint: str) -> None:
    assert contrast(style.INK, tint) >= 4.5
    assert contrast(style.ORANGE if tint == style.ORANGE_TINT else style.BLUE, tint) >= 2.8


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize(
    "palette", [(style.BLUE, style.ORANGE), style.LEVELS, style.HEAT], ids=["two", "levels", "heat"]
)
def test_colours_are_told_apart_by_every_eye(palette: tuple[str, ...], eye: str) -> None:
    assert min(distance(one, other, eye) for one, other in itertools.combinations(palette, 2)) > 15


@pytest.mark.parametrize("scale", [style.SEQUENCE, style.HEAT], ids=["sequence", "heat"])
def test_ordered_scales_survive_a_print_in_grey(scale: tuple[str, ...]) -> None:
    light = [lab(colour, "usual")[0] for colour in scale]
    assert all(before - after > 2.5 for before, after in itertools.pairwise(light))


@pytest.mark.parametrize("number", [1, 2, 5, 7])
def test_bands_get_ever_darker(number: int) -> None:
    tints = readability_scale.tints(number)
    assert len(tints) == number
    assert (
        sorted(tints, key=lambda tint: -lab(tint, "usual")[0])
        == tints
        == readability_scale.tints(number, darkest_first=True)[::-1]
    )


@pytest.mark.parametrize("colour", [*style.HEAT, "#4a98cc", "#888888"])
def test_writing_on_a_cell_has_the_better_contrast(colour: str) -> None:
    chosen = style.text_on(colour)
    assert contrast(chosen, colour) == max(contrast(style.INK, colour), contrast(style.CARD, colour))
    assert contrast(chosen, colour) >= 3.9
