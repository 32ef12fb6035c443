"""The words of a report in the language of its reader: catalogues of gettext, numbers and dates."""

from __future__ import annotations

import gettext
import operator
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path

from webanalytics.core import strings
from webanalytics.errors import ParameterError

LANGUAGES = ("en", "de", "fr", "es")
LOCALES = Path(__file__).with_name("locales")
_SEPARATORS = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "es": (".", ",")}
"""Signs between thousands, and before decimals."""
_MONTHS = "January February March April May June July August September October November December"
_HOLDS = {
    "n": r"[\d.,]*\d%?", "u": r"https?://\S.*?(?<!\.)", "h": r"[^\s/]+", "r": "[^:]+?", "s": ".+?", "t": ".*?"
}  # fmt: skip
"""What a sentence holds: a number, addresses, a host, the title of a rule, a sentence, or any text."""
_MORE = re.compile(r" and ([\d,]+) more$")
_BETWEEN = re.compile(r"( \| |, (?=https?://)| (?=and [\d,]+ more\.?$))")
_SENTENCES = re.compile(r"(?<=\.) (?=[A-Z\d]|robots\.txt)")
_spoken: ContextVar[str] = ContextVar("spoken", default="en")


def checked_language(language: object) -> str:
    """Return a language that reports speak; raises `ParameterError` for another."""
    if language not in LANGUAGES:
        raise ParameterError.must_be("language", f"one of {', '.join(LANGUAGES)}")
    return str(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say in a language whatever is said within."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def spoken() -> str:
    """Return the code of the language."""
    return _spoken.get()


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the texts of a language: the report's own, then those of the rules; of English, none."""
    if language == "en":
        return gettext.NullTranslations()
    found = gettext.translation("report", LOCALES, [language])
    found.add_fallback(gettext.translation("rules", LOCALES, [language]))
    return found


def say(text: str, **values: str) -> str:
    """Return a text in the language spoken, or as it is where it has none there; with values filled in."""
    said = catalogue(spoken()).gettext(text) if text else ""
    return said.format(**values) if values else said


def several(one: str, many: str, count: float, **values: str) -> str:
    """Return the text for a number of things, with the number as ``{n}``; French has 1.9 in the singular."""
    whole = int(count) if count == int(count) or spoken() == "fr" else 2
    return catalogue(spoken()).ngettext(one, many, whole).format(**{"n": number(count), **values})


@cache
def _texts(domain: str, language: str) -> dict[str, str]:
    return getattr(gettext.translation(domain, LOCALES, [language]), "_catalog", {})


@cache
def _phrases(language: str) -> list[tuple[str, re.Pattern[str], str]]:
    """Return what sentences with values have in English, how they look, and how they are said.

    The longest come first.
    """
    known = _texts("phrases", language)
    parts = {text: re.split(r"\{\w+\}", text) for text in filter(None, known)}
    return [
        (
            max(parts[text], key=len),
            re.compile(re.sub(r"\\{((\w)\d?)\\}", _place, re.escape(text)), re.DOTALL),
            known[text],
        )
        for text in sorted(parts, key=lambda text: -sum(map(len, parts[text])))
    ]


def _place(found: re.Match[str]) -> str:
    return f"(?P<{found[1]}>{_HOLDS[found[2]]})"


def phrase(sentence: str) -> str:
    """Return a sentence made for English readers, such as evidence, in the language spoken; else as it is."""
    return sentence if spoken() == "en" or not sentence else _phrase(sentence, spoken())


@lru_cache(10_000)  # pages of a site have much in common
def _phrase(sentence: str, language: str) -> str:
    parts = _BETWEEN.split(sentence)  # several findings of a page, or addresses with what is said of each
    if len(parts) > 1 and (" | " in sentence or sentence.startswith("http")):
        parts[::2] = [_phrase(part, language) if part else "" for part in parts[::2]]
        return "".join(parts)
    short = sentence.removesuffix(".")
    for text in (sentence, sentence[0].lower() + sentence[1:], short, short[:1].lower() + short[1:]):
        for part, pattern, said in _phrases(language):
            if part in text and (found := pattern.fullmatch(text)):
                held = {name: _held(name[0], value) for name, value in found.groupdict().items()}
                if None not in held.values() and (made := said.format(**held)) != text:
                    made = made if text[0] == sentence[0] else made[0].upper() + made[1:]
                    return made + sentence[len(text) :]
    parts = _SENTENCES.split(sentence)
    told = [_phrase(part, language) for part in parts] if len(parts) > 1 else parts
    return sentence if any(map(operator.eq, told, parts)) else " ".join(told)


def _held(kind: str, value: str) -> str | None:
    """Return what stands in a place of a sentence; None where it is no title of a rule, as it had to be."""
    if kind == "n":
        return value.translate(str.maketrans(",.", "".join(_SEPARATORS[spoken()]))).replace("%", "\u202f%")
    if kind == "u":
        more = _MORE.search(value)
        left = int(more[1].replace(",", "")) if more else 0
        return f"{value[: more.start()]} {several('and {n} more', 'and {n} more', left)}" if more else value
    if kind == "r":
        known = any(value in _texts(domain, spoken()) for domain in ("report", "rules"))
        return say(value) if known else None
    if kind != "s":
        return value
    made = phrase(value)
    return made if made != value else phrase(f"{value}.").removesuffix(".")  # it had lost its full stop


def number(value: float, digits: int = 0) -> str:
    """Return a number as the language writes it; Spanish has no sign in one of four digits."""
    whole, _, rest = f"{value:,.{digits}f}".partition(".")
    thousands, decimals = _SEPARATORS[spoken()]
    whole = whole.replace(",", "" if spoken() == "es" and len(whole.lstrip("-")) < 6 else thousands)
    return f"{whole}{decimals}{rest}" if rest else whole


def percent(share: float) -> str:
    """Return a share in per cent: never 0% for some, never 100% for less than all."""
    return strings.percent(share).replace("%", "%" if spoken() == "en" else "\u202f%")


def points(value: float) -> str:
    """Return a number with at most one decimal."""
    return number(value, 0 if f"{value:.1f}".endswith(".0") else 1)


def day(moment: datetime, time: bool = True) -> str:
    """Return a day in words, and the time of day.

    >>> day(datetime(2026, 11, 4, 9, 5))
    '4 November 2026, 09:05 UTC'
    """
    month = say(_MONTHS).split()[moment.month - 1]
    text = say("{day} {month} {year}", day=str(moment.day), month=month, year=str(moment.year))
    return f"{text}, {moment:%H:%M} UTC" if time else text
