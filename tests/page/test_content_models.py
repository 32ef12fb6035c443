"""What is measured of pages and their blocks, and the models that are asked with it."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from webanalytics.page.content.content import known_texts
from webanalytics.page.content.features import block_features
from webanalytics.page.content.model import AT_A_TIME, models
from webanalytics.page.content.page_features import PHRASES, page_features
from webanalytics.page.page import Page
from webanalytics.page.visible_text import blocks_of

MODEL = files("webanalytics.page") / "data" / "content-model.npz"


def test_models_ask_for_the_measures_that_are_taken() -> None:
    """The data file names them in their order; besides sums, which are taken of all groups alike, each is read."""
    page = Page("<p>Tea is made of leaves, and of water that has boiled.")
    blocks = blocks_of(page.document)
    table, names = block_features(blocks, known_texts(page), page.title)
    _, of_page = page_features(page, blocks, table, names)
    with MODEL.open("rb") as file, np.load(file) as stored:
        assert stored["block_names"].tolist() == names
        assert stored["page_names"].tolist() == of_page
        read = set(stored["page_columns"].ravel().tolist())
        assert stored["block_columns"].max() < len(names) + 7  # the types of pages are the last
    unread = {name for number, name in enumerate(of_page) if number not in read}
    assert {name for name in unread if not name.startswith(("n_", "share_"))} == set()


@pytest.mark.parametrize("name", ["page", "block", "confidence"])
@pytest.mark.parametrize("size", [1, 3, AT_A_TIME + 2])
def test_trees_answer_as_each_alone_does(name: str, size: int) -> None:
    with MODEL.open("rb") as file, np.load(file) as stored:
        columns, borders, leaves, bias = (
            stored[f"{name}_{part}"] for part in ("columns", "borders", "leaves", "bias")
        )
    table = np.random.default_rng(1).choice(
        np.unique(borders[np.isfinite(borders)]), (columns.max() + 1, size)
    )
    table[:, 0] *= 1.5
    answers = getattr(models(), name).raw(table.astype(np.float32))
    assert answers.shape == (size, len(bias))
    for at in {0, size // 2, size - 1}:
        expected = bias.astype(float)
        for asked, least, given in zip(columns, borders, leaves, strict=True):
            leaf = sum(
                (table[column, at] > border) << level
                for level, (column, border) in enumerate(zip(asked, least, strict=True))
            )
            expected = expected + given[leaf].astype(float)
        assert answers[at] == pytest.approx(expected, abs=1e-3)


def test_each_phrase_counts_wherever_it_stands() -> None:
    """One pass over the text counts as one for each phrase does, in each other and in longer words too."""
    phrases = ";".join(PHRASES.values()).split(";")
    lines = [f"{phrase.title()} un{phrase}ed" for phrase in phrases]
    page = Page("".join(f"<p>{line}" for line in lines))
    blocks = blocks_of(page.document)
    numbers, names = page_features(page, blocks, *block_features(blocks, known_texts(page), page.title))
    measured = dict(zip(names, numbers.tolist(), strict=True))
    said = "\n".join(lines).lower()
    for name, listed in PHRASES.items():
        assert measured[f"said_{name}"] == sum(said.count(phrase) for phrase in listed.split(";")) > 0


@pytest.mark.parametrize("text", ["Lamps of brass", "真鍮のランプの油", "铜灯的油 2026", "ตะเกียงทองเหลือง"])
def test_a_text_that_is_a_link_is_all_link_in_any_script(text: str) -> None:
    page = Page(f"<ul><li><a href=/1>{text}</a><li>{text}<li>{text}<a href=/2>{text}</a></ul>")
    table, names = block_features(blocks_of(page.document), "", "")
    assert table[names.index("link_share")].tolist() == pytest.approx([1, 0, 0.5])
    chars = table[names.index("chars")]
    assert table[names.index("node_links1")].tolist() == pytest.approx(
        [chars[[0, 2]] @ [1, 0.5] / chars.sum()] * 3
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (
            "ja",
            "新しい製品の発売に合わせて東京で発表会が開かれ、多くの報道関係者が開発の経緯について担当者に詳しく尋ねた",
        ),
        ("zh", "新产品的发布会昨天在东京举行，许多记者参加了会议，开发人员详细说明了设计的过程"),
        ("th", "บริษัทเปิดตัวผลิตภัณฑ์ใหม่ที่กรุงเทพ เมื่อวานนี้มีผู้สื่อข่าวเข้าร่วมจำนวนมากและตอบคำถามจากผู้เข้าร่วมงาน"),
    ],
)
def test_words_without_spaces_are_about_as_many_as_a_dictionary_finds(language: str, text: str) -> None:
    """In titles and texts alike: the model learned from languages with spaces how long each of them is."""
    breakers = pytest.importorskip("icu4py.breakers")
    found = sum(piece[0].isalpha() for piece in breakers.WordBreaker(text, language))
    page = Page(f"<title>{text}</title><p>{text}")
    blocks = blocks_of(page.document)
    table, names = block_features(blocks, "", page.title)
    numbers, of_page = page_features(page, blocks, table, names)
    assert table[names.index("words")].tolist() == pytest.approx([found], rel=0.35)
    assert numbers[of_page.index("title_words")] == pytest.approx(found, rel=0.35)
