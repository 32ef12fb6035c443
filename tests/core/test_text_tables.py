"""Text and tables as a terminal shows them."""

from __future__ import annotations

import pytest

from webanalytics.core import strings
from webanalytics.core.strings import display_width, one_line, shortened, table_lines


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("tea…", 4), ("お茶", 4), ("e\u0301", 1), ("👩\u200d👩\u200d👧", 2), ("🇩🇪", 2)],
)
def test_width_is_that_of_the_terminal(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    "text", ["Green tea", "日本語の見出し", "👩\u200d👩\u200d👧👩\u200d👩\u200d👧", "क्षिक्षिक्षि"]
)
@pytest.mark.parametrize("width", [1, 3, 5])
def test_a_shortened_text_fits(text: str, width: int) -> None:
    short = shortened(text, width)
    assert display_width(short) <= width
    assert short == text or short.endswith("…")
    assert "\u200d…" not in short


def test_no_more_of_a_text_is_parted_than_may_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, seen = strings._graphemes, []
    monkeypatch.setattr(strings, "_graphemes", lambda text: seen.append(len(text)) or parts(text))
    assert shortened("🇩🇪" * 1_000_000, 10) == "🇩🇪" * 4 + "…"
    assert shortened("👩\u200d🚀" + "\u200d" * 1_000_000, 10) == "…"
    assert shortened("e\u0301" * 1_000_000, 10) == "e\u0301" * 9 + "…"
    assert max(seen) <= 20 * 10


def test_control_characters_never_reach_the_terminal() -> None:
    assert one_line("a\x1b[2J\u202eb\r\n c") == "a [2J b c"


def test_columns_are_aligned_whatever_is_in_them() -> None:
    rows = [["お茶", "1"], ["tea", "1,234"]]
    lines = table_lines(["page", "words"], rows, numbers=["words"], rule=True)
    assert lines == ["page  words", "----  -----", "お茶      1", "tea   1,234"]


def test_the_widest_column_gives_way_until_the_line_fits() -> None:
    lines = table_lines(["url", "title"], [["u" * 30, "t" * 12]], width=24)
    assert lines == ["url          title", f"{'u' * 10}…  {'t' * 10}…"]
    narrow = table_lines(["url", "title"], [["u" * 30, "t" * 12]], width=3)
    assert narrow[1] == "uuuuuuu…  ttttttt…", "no column is narrower than eight cells"
