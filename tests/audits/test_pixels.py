"""Widths of titles and descriptions, against Helvetica's published metrics, sums by hand and FreeType."""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path

import matplotlib
import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageFont

from webanalytics.audits.content import pixels
from webanalytics.audits.content.pixels import DESCRIPTION_SIZE, TITLE_SIZE, text_width, text_widths

AFM = Path(matplotlib.get_data_path()) / "fonts" / "pdfcorefonts"
EMOJI = ("🙂", "❤️", "1️⃣", "🇩🇪", "👍🏽", "👨‍👩‍👧", "🏳️‍🌈", "©️")
FOLDERS = (
    Path("/usr/share/fonts"),
    Path("/usr/local/share/fonts"),
    Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share")) / "fonts",
)
SAMPLES = (
    "Lumenvik | Storm lanterns, oil lamps and candle holders",
    "Größe: Straßenlaternen für Häfen – jetzt günstig!",
    "Φανάρια για το σκάφος και το σπίτι",
    "Фонари и лампы для дома и сада",
    "Đèn bão và đèn dầu thủ công",
    "“Curly” ‘quotes’ … — – • ™ © € £",
    "פנסים ומנורות לבית",
)


def font(size: int) -> ImageFont.FreeTypeFont:
    """Return Liberation Sans, drawing no kerning."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("LiberationSans-Regular.ttf")):
            if "Version 2." in TTFont(path)["name"].getDebugName(5):
                return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)
    pytest.skip("Liberation Sans 2 is not installed (Debian: fonts-liberation2, later fonts-liberation)")


def test_letters_are_as_wide_as_helvetica() -> None:
    published = (AFM / "Helvetica.afm").read_text("latin-1")
    found = re.findall(r"^C (\d+) ; WX (\d+) ;", published, re.MULTILINE)
    # Adobe's encoding has the curly quotes at the codes of ASCII's two straight ones.
    widths = {chr(int(code)): int(width) for code, width in found if int(code) < 127}
    del widths["'"], widths["`"]
    assert len(widths) == 93
    wrong = {sign: width for sign, width in widths.items() if abs(text_width(sign, 1000) - width) > 0.6}
    assert wrong == {}


def test_every_character_is_as_wide_as_in_the_font() -> None:
    liberation = font(2048)
    pixels._widths.cache_clear()  # only what is in the table, not what other tests have asked for
    widths = pixels._widths()
    covered = [sign for sign, width in widths.items() if width and not sign.isspace()]
    assert len(covered) > 2000
    wrong = {sign: widths[sign] for sign in covered if widths[sign] != liberation.getlength(sign)}
    assert wrong == {}


@pytest.mark.parametrize("text", SAMPLES)
def test_whole_titles_are_as_wide_as_freetype_lays_them_out(text: str) -> None:
    liberation = font(2048)
    assert text_width(text, 2048) == sum(liberation.getlength(sign) for sign in text)


@pytest.mark.parametrize(
    ("text", "size", "width"),
    [
        ("Lamps", TITLE_SIZE, (0.556 + 0.556 + 0.833 + 0.556 + 0.5) * 20),  # Arial, thousandths of an em
        ("Oil lamps", DESCRIPTION_SIZE, (0.778 + 0.222 * 3 + 0.278 + 0.556 * 2 + 0.833 + 0.5) * 14),
        ("灯台", TITLE_SIZE, 2 * 20),
        ("등대", TITLE_SIZE, 2 * 20),
        ("Ｗ", TITLE_SIZE, 20),  # full width
        ("ｶﾝ", TITLE_SIZE, 2 * 10),  # half width
        ("a\u0301", TITLE_SIZE, 0.556 * 20),
        ("\u1103\u1173\u11bc", TITLE_SIZE, 20),  # one syllable, decomposed
        ("so\u00adft\u200b\u200d\ufe0f\u0007", TITLE_SIZE, (0.5 + 0.556 + 0.278 + 0.278) * 20),
        ("a\tb", TITLE_SIZE, (0.556 + 0.278 + 0.556) * 20),
        ("©", TITLE_SIZE, 0.737 * 20),
        ("", TITLE_SIZE, 0),
    ],
)
def test_widths_by_hand(text: str, size: float, width: float) -> None:
    assert text_width(text, size) == pytest.approx(width, abs=0.02)


@pytest.mark.parametrize("emoji", EMOJI)
def test_an_emoji_is_one_em_however_many_code_points_it_has(emoji: str) -> None:
    assert text_width(f"a{emoji}b", 20) == pytest.approx(20 + 2 * 0.556 * 20, abs=0.02)


def test_an_unknown_script_takes_the_mean_of_the_small_letters() -> None:
    mean = sum(text_width(chr(code), 2048) for code in range(ord("a"), ord("z") + 1)) / 26
    assert text_width("ن", 2048) == round(mean) == pixels.OTHER


def test_lists_are_rounded_and_keep_what_is_missing() -> None:
    assert text_widths(["Lamps", None, "", "W" * 30]) == [60, None, 0, round(30 * 0.9438 * 20)]
    assert text_widths([]) == []


def test_the_customary_limits_belong_to_these_sizes() -> None:
    sentence = "Storm lanterns and oil lamps that are made by hand on our island, for ships and houses. "
    assert 55 < 561 / (text_width(sentence, TITLE_SIZE) / len(sentence)) < 65
    assert 145 < 985 / (text_width(sentence, DESCRIPTION_SIZE) / len(sentence)) < 165


@given(st.text())
def test_any_text_has_a_width(text: str) -> None:
    assert 0 <= text_width(text, 10) <= 25 * len(text)
    assert text_widths([text], 10) == [int(text_width(text, 10) + 0.5)]


@given(st.text(st.characters(max_codepoint=0x2FF)), st.text(st.characters(max_codepoint=0x2FF)))
def test_the_width_of_a_whole_is_that_of_its_parts(first: str, second: str) -> None:
    assert text_width(first + second) == pytest.approx(text_width(first) + text_width(second))


def test_a_hostile_run_of_emoji_signs_takes_no_time() -> None:
    for sign in ("\u200d", "\ufe0f", "\U0001f3fb", "\U0001f1e6", "☎\u200d", "☎\ufe0f"):
        assert text_width(sign * 100_000) >= 0


def test_the_table_is_small_and_its_licence_beside_it() -> None:
    data = resources.files("webanalytics.audits").joinpath("data")
    assert len(data.joinpath("character-widths.txt").read_bytes()) < 40_000
    licence = data.joinpath("character-widths-LICENSE.txt").read_text("utf-8")
    assert "2.1.5" in licence
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
