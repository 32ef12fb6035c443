"""Counting terms by numbers against counting them one text and one length at a time, with strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.audits.content import counting
from webanalytics.audits.content.counting import Lexicon
from webanalytics.audits.content.vocabulary import LEAST, Vocabulary
from webanalytics.page.keywords.keywords import count_keywords, places_of
from webanalytics.page.keywords.segmentation import Segmented, segment

SIZES = (1, 2, 3)
WORDS = "green tea keeps tea's l'homme wi-fi c++ r&d the of state charge x Bürger:innen straße ΟΔΥΣΣΕΥΣ 검색 hdr10 ½"
WORDS += ' .net c# at&t ISPARTA İLİ e\u0301tude\u0301s 3d 2024a _ (tea) 茶 (.NET "tea" «green» tea… (keeps tea): .tea'
JOINTS = [
    " ",
    "  ",
    "-",
    ". ",
    ", ",
    "\n",
    " 2024 ",
    "’s ",
    "\t",
    "\u00a0",
    " \u00a0 ",
    "\r\n",
    "\u2003",
    "/",
    "+",
]
texts = st.lists(st.tuples(st.sampled_from(WORDS.split()), st.sampled_from(JOINTS)), max_size=60).map(
    lambda pieces: "".join(word + joint for word, joint in pieces)
)


def plainly(text: str, language: str, **how: object) -> dict[int, dict[str, int]]:
    """Return the frequencies of all terms, by their number of words."""
    found = {}
    for size in SIZES:
        table = count_keywords(text, language, ngrams=size, top=10**6, **how)  # type: ignore[arg-type]
        found[size] = dict(zip(table["keywords"], table["frequency"], strict=True))
    return found


def parts(found: dict[int, dict[str, int]]) -> set[tuple[int, str]]:
    """Return the terms that occur only within one longer phrase."""
    inside = set()
    for longer in (2, 3):
        for phrase, times in found[longer].items():
            words = phrase.split(" ")
            for size in range(1, longer):
                for start in range(longer - size + 1):
                    part = " ".join(words[start : start + size])
                    if times >= LEAST and found[size].get(part) == times:
                        inside.add((size, part))
    return inside


@pytest.mark.parametrize("language", ["en", "fr", "de", "ko", "tr"])
@pytest.mark.parametrize("least", [2, 4, 6])
@given(text=texts)
def test_terms_are_those_that_plain_counting_finds(language: str, least: int, text: str) -> None:
    lexicon = Lexicon(language, min_length=least)
    _, found = lexicon.count([("Another page of another site. Another page.", {}), (text, {})]).pages()
    names, plain = lexicon.vocabulary.names, plainly(text, language, min_length=least)
    expected = [
        (term, times, size)
        for size in SIZES
        for term, times in plain[size].items()
        if size == 1 or times >= LEAST
    ]
    expected.sort(key=lambda term: -term[1])
    terms = [names[number] for number in found.terms.tolist()]
    assert list(zip(terms, found.counts.tolist(), found.words.tolist(), strict=True)) == expected
    inside = parts(plain)
    assert found.whole.tolist() == [(size, term) not in inside for term, _, size in expected]
    once = {term for size in (2, 3) for term, times in plain[size].items() if times < LEAST}
    assert sorted(found.once.tolist()) == sorted(Vocabulary(once).hashes.tolist())
    assert found.totals[1] == count_keywords(text, language)["total_words"]


@given(text=texts, title=texts)
def test_terms_stand_where_plain_looking_finds_them(text: str, title: str) -> None:
    places = {"title": title, "h1": "", "description": None}
    lexicon = Lexicon("en", min_length=3)
    found, _ = lexicon.count([(text, places), (title, {"title": text})]).pages()
    names = lexicon.vocabulary.names
    terms = [names[number] for number in found.terms.tolist()]
    standing = {
        place: [term for term, stands in zip(terms, flags.tolist(), strict=True) if stands]
        for place, flags in found.places.items()
    }
    assert standing == places_of(terms, places, "en", SIZES)


@pytest.mark.parametrize(
    "text", ["网站优化的技术。网站优化的历史。", "東京の灯台、東京の灯台です。Sea lamps, 灯台 sea lamps."]
)
def test_terms_of_scripts_without_spaces(text: str) -> None:
    pytest.importorskip("rjieba", reason='rjieba is not installed: in the clone, pip install ".[cjk]"')
    language = "zh" if "网站" in text else "ja"
    lexicon = Lexicon(language)
    _, found, _ = lexicon.count(
        [("Sea lamps", {}), (text, {"title": text[:6]}), ("Oil lamps", {"h1": text})]
    ).pages()
    names, plain = lexicon.vocabulary.names, plainly(text, language)
    expected = {term: times for size in (3, 2) for term, times in plain[size].items() if times >= LEAST}
    expected |= plain[1]
    terms = [names[number] for number in found.terms.tolist()]
    assert dict(zip(terms, found.counts.tolist(), strict=True)) == expected
    assert len(set(terms)) == len(terms)
    at = {term for term, stands in zip(terms, found.places["title"].tolist(), strict=True) if stands}
    assert at == set(places_of(terms, {"title": text[:6]}, language, SIZES)["title"])


@given(pages=st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_pages_that_are_counted_together_are_those_that_are_counted_alone(
    pages: list[tuple[str, str]],
) -> None:
    given_pages = [(text, {"h1": heading}) for text, heading in pages]
    together = Lexicon("en", min_length=3)
    found = [*together.count(given_pages).pages()]
    for page, each in zip(given_pages, found, strict=True):
        alone = Lexicon("en", min_length=3)
        [other] = alone.count([page]).pages()
        names = [
            [lexicon.vocabulary.names[term] for term in terms.terms]
            for lexicon, terms in ((together, each), (alone, other))
        ]
        assert names[0] == names[1]
        for one, same in zip(each[1:5], other[1:5], strict=True):
            assert one.tolist() == same.tolist()
        assert sorted(each.once.tolist()) == sorted(other.once.tolist())
        assert each.places["h1"].tolist() == other.places["h1"].tolist()


def test_what_was_read_is_not_looked_at_again_where_a_word_is_of_another_script(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    def look(text: str, language: str) -> Segmented:
        looked.append(text)
        return segment(text, language)

    monkeypatch.setattr(counting, "segment", look)
    lexicon = Lexicon("en")
    page: counting.Texts = ("A storm lantern's wi-fi, in 日本語 or English.", {})
    lexicon.count([page, page])
    assert looked
    looked.clear()
    lexicon.count([page, page])
    assert not looked


def test_a_text_without_words_has_no_terms() -> None:
    [found] = Lexicon("en").count([("2024 -- 12.5 %", {"title": "Tea", "h1": None})]).pages()
    assert [len(found.terms), len(found.once), found.totals.tolist()] == [0, 0, [0, 0, 0, 0]]
    assert [len(flags) for flags in found.places.values()] == [0]
