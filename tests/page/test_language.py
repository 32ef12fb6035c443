"""Language of a page's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.page.page import Page
from webanalytics.page.text import language as language_module
from webanalytics.page.text.language import (
    candidates,
    detect,
    detect_by_lines,
    page_language,
    primary_subtag,
)
from webanalytics.page.text.main_language import main_language

# Article 1 of the Universal Declaration of Human Rights, as the United Nations publish it.
ARTICLE_1 = {
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "en": "All human beings are born free and equal in dignity and rights.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах.",
    "zh": "人人生而自由,在尊严和权利上一律平等。",
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
}


ENGLISH_LINE = (
    "Please read our terms of use and our privacy policy before you go on to any other page of this site. "
)


@pytest.mark.parametrize("code", ARTICLE_1)
def test_detection(code: str) -> None:
    assert detect(ARTICLE_1[code]) == code


@pytest.mark.parametrize("text", ["", " \n", "12.99", "2024-01-01 — 17:30", "x y z 1 2 3", "OK"])
def test_undecidable(text: str) -> None:
    assert detect(text) == ""


@given(st.text(max_size=60))
def test_answers_are_codes(text: str) -> None:
    code = detect(text)
    assert code == "" or (len(code) == 2 and code.isascii() and code.islower())


def test_more_than_the_beginning_is_read() -> None:
    """The library reads 80 characters unless it is told otherwise."""
    assert detect(f"{ENGLISH_LINE[:85]} {ARTICLE_1['de'] * 6}") == "de"


def test_only_a_sample_is_read() -> None:
    assert detect(ARTICLE_1["de"] * 5_000 + ARTICLE_1["ru"]) == "de"


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de", "de"),
        ("EN-us", "en"),
        ("pt_BR", "pt"),
        ("zh-Hant-TW", "zh"),
        ("de, en", "de"),
        ("gsw-CH", ""),
        ("", ""),
    ],
)
def test_primary_subtag(tag: str, language: str) -> None:
    assert primary_subtag(tag) == language


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        # The text goes before the attribute, and long lines before menus.
        (f"<html lang=en><nav>Home About Contact</nav><p>{ARTICLE_1['de']}", "de"),
        (f"<html lang=it>{'<a>Sign in</a> ' * 3}<p>{ARTICLE_1['fr']} {ARTICLE_1['fr']}", "fr"),
        ("<html lang=de-AT><p>42", "de"),
        ("<html><p>42", ""),
    ],
)
def test_pages(markup: str, language: str) -> None:
    assert page_language(Page(markup)) == language


FRENCH_LINES = [
    "Le marché du samedi ouvre à huit heures, et les premiers clients attendent déjà devant les étals.",
    "On y trouve des légumes de saison, du fromage de chèvre et du pain cuit pendant la nuit.",
    "Les prix ont peu changé depuis l'an dernier, sauf pour les fraises, qui sont arrivées en retard.",
    "À midi, les marchands rangent leurs caisses et la place retrouve son calme jusqu'au soir.",
]


@pytest.mark.parametrize(
    ("markup", "language"),
    [
        # what stands around the main text is in another language than it
        (f"<html lang=en><body><footer><p>{ENGLISH_LINE * 9}</p></footer><p>{ARTICLE_1['de'] * 5}", "de"),
        # one long quotation does not decide, nor does a byline
        (f"<p>{ENGLISH_LINE * 3}<p>" + "<p>".join(FRENCH_LINES), "fr"),
        # what is declared stands in for nothing
        ("<html lang=de><p>42", ""),
        ("<html lang=en><p>Xqz vrkpl wqx zzt kjh qrs.", ""),
        ("<html lang=en><p>", ""),
    ],
)
def test_the_main_text_decides(markup: str, language: str) -> None:
    assert main_language(Page(markup)) == language


def test_what_is_declared_decides_between_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Bokmål eller nynorsk"
    monkeypatch.setattr(language_module, "candidates", lambda sample: {"da": 0.5, "no": 0.35, "de": 0.1})
    assert detect(text) == ""
    assert detect(text, declared="nb-NO") == "no"  # as the model names it
    assert detect(text, declared="da") == "da"
    assert detect(text, declared="de") == ""  # too improbable
    assert detect(text, declared="en") == ""
    monkeypatch.setattr(language_module, "candidates", lambda sample: {"da": 0.61, "no": 0.39})
    assert detect(text, declared="no") == "da"


def test_candidates_come_the_most_probable_first() -> None:
    found = candidates(ARTICLE_1["nl"])
    assert next(iter(found)) == "nl"
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_main_languages_of_the_corpus(corpus_pages: dict[str, bytes]) -> None:
    """Each of the 99 pages was read by eye; those not named here are in German."""
    ends = {"en": 10, "es": 9, "fr": 6, "pl": 3, "pt": 1, "de": 70}
    found = {name: main_language(Page(content)) for name, content in corpus_pages.items()}
    assert {code: list(found.values()).count(code) for code in ends} == ends
    for name, language in found.items():
        if name.startswith(("whiskyverkostung.com", "lexikon.huettenhilfe.de", "feuerwehrtaucher-oldenburg")):
            assert language == "de"  # the last two declare English
        if name.startswith("madame.lefigaro.fr"):
            assert language == "fr"


def test_corpus(corpus_pages: dict[str, bytes]) -> None:
    """Where the address ends in a country's code or the text was read by eye, the language is known."""
    for name, content in corpus_pages.items():
        language = page_language(Page(content))
        assert language
        if name.startswith(
            ("zdf.de", "bmas.de", "umweltbundesamt.de", "proplanta.de", "whiskyverkostung.com")
        ):
            assert language == "de"
        if name.startswith(("madame.lefigaro.fr", "francais.radio.cz", "dw.com-elephants", "arteradio.com")):
            assert language == "fr"
        if name.startswith(("elcomercio.pe", "24horas.cl", "laprensagrafica.com")):
            assert language == "es"


@pytest.mark.parametrize(
    ("found", "language"),
    [
        ({"no": 0.56, "nn": 0.19, "da": 0.13}, "no"),
        ({"no": 0.56, "da": 0.29}, ""),
        ({"no": 0.49, "da": 0.05}, ""),
        ({"no": 0.56}, "no"),
        ({"bar": 0.56, "de": 0.1}, ""),
        ({}, ""),
    ],
)
def test_a_language_that_leads_by_far_is_accepted(
    found: dict[str, float], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_module, "candidates", lambda text: found)
    assert detect("letters enough for a try") == language


@pytest.mark.parametrize("filling", [" " * 500, "\xa0" * 500, "|  " * 200, "\t" * 500])
def test_blanks_and_bars_do_not_make_a_line_long(filling: str) -> None:
    text = "\n".join([filling] * 30 + [ARTICLE_1["de"]])
    assert detect_by_lines(text) == "de"


def test_more_lines_are_read_where_the_longest_leave_it_open() -> None:
    numbers = [f"{number} " * 30 for number in range(1_000, 1_010)]
    assert detect("\n".join(numbers)) == ""
    assert detect_by_lines("\n".join([*numbers, ARTICLE_1["pl"]])) == "pl"
