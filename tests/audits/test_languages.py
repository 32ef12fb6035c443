"""The catalogues of the report's languages: complete where they say so, as the sources are, and well formed."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from tests.audits import catalogues
from tests.audits.report_data import made_audit
from webanalytics.audits.report import Brand, build
from webanalytics.audits.report.content import read
from webanalytics.audits.words import LANGUAGES, day, number, percent, points, say, several, speaking

MISSING = {"report": {"de": 0, "fr": 0, "es": 0}, "rules": {"de": 0, "fr": 0, "es": 0}}
"""Texts of each catalogue that are not translated: the English stands."""

EACH = [(domain, language) for domain in catalogues.DOMAINS for language in LANGUAGES[1:]]


def forms(entry: str | tuple[str, ...]) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_a_catalogue_has_the_texts_of_today(domain: str, language: str) -> None:
    known = catalogues.known(domain, language)
    wanted = [forms(message) for message in catalogues.DOMAINS[domain]()]
    assert [
        forms(message.id) for message in known if message.id
    ] == wanted  # python -m tests.audits.catalogues


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_what_is_not_translated_is_counted(domain: str, language: str) -> None:
    known = catalogues.known(domain, language)
    blank = [message.id for message in known if message.id and not all(forms(message.string))]
    assert len(blank) == MISSING[domain][language]


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_every_rule_has_a_title(language: str) -> None:
    known = catalogues.known("rules", language)
    others = {message.id for message in catalogues.known("report", language)}
    titles = {rule.title for rule in catalogues.RULES.values()} - others
    assert [title for title in titles if not known.get(title).string] == []


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_the_compiled_catalogue_is_that_of_the_source(domain: str, language: str) -> None:
    file = catalogues.po(domain, language).with_suffix(".mo")
    assert file.read_bytes() == catalogues.compiled(catalogues.known(domain, language))


@pytest.mark.parametrize(("domain", "language"), EACH)
def test_a_translation_has_the_values_of_its_source(domain: str, language: str) -> None:
    for message in catalogues.known(domain, language):
        if not message.id:
            continue
        fields = [sorted(re.findall(r"\{(\w+)\}", form)) for form in forms(message.id)]
        for place, form in enumerate(filter(None, forms(message.string))):
            found = sorted(re.findall(r"\{(\w+)\}", form))
            assert found in fields, (message.id, place, form)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ("1,234.5", "12%", "0 pages", "1 page", "4 November 2026", "high")),
        ("de", ("1.234,5", "12\u202f%", "0 Seiten", "1 Seite", "4. November 2026", "hoch")),
        ("fr", ("1\u202f234,5", "12\u202f%", "0 page", "1 page", "4 novembre 2026", "haute")),
        ("es", ("1234,5", "12\u202f%", "0 páginas", "1 página", "4 de noviembre de 2026", "alta")),
    ],
)
def test_numbers_and_days_are_those_of_the_language(language: str, expected: tuple[str, ...]) -> None:
    with speaking(language):
        found = (
            number(1234.5, 1), percent(0.12), several("{n} page", "{n} pages", 0), several("{n} page", "{n} pages", 1),
            day(datetime(2026, 11, 4), time=False), say("high"),
        )  # fmt: skip
        assert found == expected
        assert points(65.0) == "65"
    assert say("high") == "high"


def test_spanish_parts_thousands_from_ten_thousand_on() -> None:
    with speaking("es"):
        assert [number(value) for value in (9999, 10000, -1234)] == ["9999", "10.000", "-1234"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_report_speaks_one_language(language: str) -> None:
    audit = made_audit(12)
    with speaking(language):
        text = build.render(read(audit.pages, audit.issues, audit.summary), brand=Brand(language=language))
    assert f'<html lang="{language}">' in text
    assert ("What to fix first</h3>" in text) == (language == "en")
    assert f'"language":"{language}"' in text
