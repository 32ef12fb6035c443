"""The catalogues of the report's languages: complete where they say so, as the sources are, and well formed."""

from __future__ import annotations

import json
import re
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import get_args

import lxml.html
import pandas as pd
import pytest
from babel import Locale
from babel.messages import Catalog, mofile

import webanalytics
from tests.audits import catalogues
from tests.audits.report_data import NOTHING, made_audit
from tests.audits.test_report_large import numbers
from webanalytics.audits.report import Brand, build
from webanalytics.audits.report.content import read
from webanalytics.audits.report.gaps import plain
from webanalytics.audits.words import LANGUAGES, day, number, percent, phrase, points, say, several, speaking
from webanalytics.core.messages import FETCHING, row_sentence, sentence
from webanalytics.thresholds import Unjudged

PAGES = pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"], "status": "ok"})
MISSING = {
    "report": {"de": 0, "fr": 0, "es": 0},
    "rules": {"de": 0, "fr": 0, "es": 0},
    "phrases": {"de": 0, "fr": 0, "es": 0},
}
"""Texts of each catalogue that are not translated: the English stands."""

EACH = [(domain, language) for domain in catalogues.DOMAINS for language in LANGUAGES[1:]]


def forms(entry: str | tuple[str, ...]) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


def texts(catalog: Catalog) -> dict[tuple[str, ...], tuple[str, ...]]:
    return {forms(message.id): forms(message.string) for message in catalog if message.id}


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
    source = catalogues.known(domain, language)
    with catalogues.po(domain, language).with_suffix(".mo").open("rb") as file:
        made = mofile.read_mo(file)
    assert made.plural_expr == source.plural_expr  # the other heads name the version of Babel that wrote them
    assert texts(made) == {key: said for key, said in texts(source).items() if all(said)}


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


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["0 points", "0.3 points", "1 point", "1.1 points", "2 points"]),
        ("de", ["0 Punkte", "0,3 Punkte", "1 Punkt", "1,1 Punkte", "2 Punkte"]),
        ("fr", ["0 point", "0,3 point", "1 point", "1,1 point", "2 points"]),
        ("es", ["0 puntos", "0,3 puntos", "1 punto", "1,1 puntos", "2 puntos"]),
    ],
)
def test_parts_of_a_point_are_counted_as_the_language_does(language: str, expected: list[str]) -> None:
    """The plural rules of Unicode's CLDR: French has "one" below two, the others for 1 alone."""
    rule = Locale(language).plural_form
    causes = pd.DataFrame(
        {"cause": "x", "rule": "y", "priority": "low", "points": [0.0, 0.3, 1.02, 1.1, 2.0]}
    )
    with speaking(language):
        text = build.render(read(PAGES, NOTHING, pd.DataFrame()), build.Besides(causes=causes))
        found = lxml.html.fromstring(text).xpath("//div[@class='reach']/span/text()")
    assert sorted(found) == sorted(expected[1:])
    for said in expected:
        shown = said.split()[0].replace(",", ".")
        one = rule(Decimal(shown)) == "one"
        assert (said.split()[1] in ("point", "Punkt", "punto")) == one, said


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_a_failure_of_a_page_is_told_in_the_language(language: str) -> None:
    others = {"not_image", "no_starttls", "no_mail", "tls_host"}
    asked = [key for key in FETCHING if "sitemap" not in key and key not in others]
    values = {
        **{"limit": 10, "seconds": 10, "status": 503, "count": 5, "page": "page", "who": "Example", "what": "log in"},
        **{"reason": "it has expired", "content_type": "image/png", "ports": "80, 443", "answer": "a challenge"},
    }  # fmt: skip
    for key in asked:
        told = plain(row_sentence(key, sentence(key, parameter="url", **values), "page"))
        with speaking(language):
            assert phrase(told) != told, key


def test_what_the_report_says_itself_is_in_one_language() -> None:
    pages = PAGES.assign(
        segment=["shop", "other"],
        audience="college",
        readability_scale="Flesch reading ease (Amstad 1978, German)",
        title="One",
    )
    changes = {
        "Changed pages": pd.DataFrame({"url": PAGES["url"], "change": ["added", "removed"], "fields": 0}),
    }
    with speaking("de"):
        text = build.render(read(pages, NOTHING, pd.DataFrame()), build.Besides(changes=changes))
    document = lxml.html.fromstring(text)
    data = json.loads(document.get_element_by_id("data").text)
    said = {name: {data["cells"][place] for place in numbers(data["pages"][name])} for name in data["pages"]}
    assert said["section"] == {"shop", "sonstige"}
    assert said["readability_scale"] == {"Flesch-Lesbarkeit (Amstad 1978, Deutsch)"}
    assert said["audience"] == {say_in("de", "college")}
    (title,) = document.xpath("//details[@data-change]/summary/text()")
    assert [change["name"] for change in data["changes"]] == [title.strip()] != ["Changed pages"]


def say_in(language: str, text: str) -> str:
    with speaking(language):
        return say(text)


@pytest.mark.parametrize(
    ("language", "one", "many"),
    [("fr", "1 ajoutée, 2 supprimées", "2 ajoutées"), ("es", "1 añadida, 2 eliminadas", "2 añadidas")],
)
def test_one_page_that_differs_is_one(language: str, one: str, many: str) -> None:
    for first, expected in ((["added"], one), (["added"] * 2, many)):
        changed = pd.DataFrame({"url": "u", "change": [*first, "removed", "removed"]})
        with speaking(language):
            text = build.render(
                read(PAGES, NOTHING, pd.DataFrame()), build.Besides(changes={"Changed pages": changed})
            )
        assert expected in text


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


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Title too long on 1,038 pages.", "Titel zu lang: 1.038 Seiten."),
        (
            "Viewport missing on all 4,000 pages below https://a.example/en/, which share a template.",
            "Viewport fehlt: alle 4.000 Seiten unter https://a.example/en/ (gemeinsame Vorlage).",
        ),
        (
            "Compression missing on a.example: 3 of 40 pages (8%), such as https://a.example/x: 23.0 kB without "
            "Content-Encoding.",
            "Komprimierung fehlt: a.example – 3 von 40 Seiten (8\u202f%), zum Beispiel https://a.example/x: 23,0 kB ohne "
            "Content-Encoding.",
        ),
        (
            "Links in the nav of 12 pages lead to 3 addresses such as https://a.example/x, which answers HTTP 404.",
            "Links im Element nav auf 12 Seiten führen zu 3 Adressen, zum Beispiel https://a.example/x: "
            "antwortet mit HTTP 404.",
        ),
        ("Also on https://a.example/ and 2 more", "Auch auf https://a.example/ und 2 weitere"),
        ("12 characters: Also on https://a.example/", "12 Zeichen: Also on https://a.example/"),
        ("Also on television on Mondays.", "Also on television on Mondays."),
        ("All 12 pages.", "Alle 12 Seiten."),
        (
            "Hreflang without return link on 8 pages: No return link from https://a.example/fr/.",
            "Hreflang ohne Rückverweis: 8 Seiten – Kein Rückverweis von https://a.example/fr/.",
        ),
        (
            "Part of the site, the second time: The crawl stopped at 12 of at least 1,041 pages.",
            "Ein Teil der Website beim zweiten Mal: Der Crawl endete nach 12 von mindestens 1.041 Seiten.",
        ),
        (
            'LocalBusiness: name is missing (local business) | Blog: datePublished "4 May" is not an ISO 8601 date | '
            "Offer: price is missing (recommended for product snippet) | and 2 more",
            'LocalBusiness: name fehlt (local business) | Blog: datePublished "4 May" ist kein Datum nach ISO 8601 | '
            "Offer: price fehlt (empfohlen für product snippet) | und 2 weitere",
        ),
        (
            "JSON-LD: block 1 is not valid JSON: extra data, line 1,203 column 3",
            "JSON-LD: Block 1 ist kein gültiges JSON: extra data, Zeile 1.203, Spalte 3",
        ),
        (
            'https://a.example/ answers HTTP 404, https://b.example/ does not answer ("Tea") and 3 more',
            'https://a.example/ antwortet mit HTTP 404, https://b.example/ antwortet nicht ("Tea") und 3 weitere',
        ),
        (
            'https://a.example/robots.txt: It closes the whole site to all robots. Line 3 cannot be read: "x".',
            "https://a.example/robots.txt: Sie sperrt die ganze Website für alle Robots. Zeile 3 ist nicht lesbar: „x“.",
        ),
        (
            "/day/{number}: 30 fetched, 1,900 left out. 16 pages of it in a row have the same text. robots.txt may "
            "close it.",
            "/day/{number}: 30 abgerufen, 1.900 ausgelassen. 16 Seiten in Folge haben denselben Text. robots.txt kann "
            "das sperren.",
        ),
        (
            "https://a.example/b (301) → https://a.example/c answers HTTP 404. Linked from https://a.example/.",
            "https://a.example/b (301) → https://a.example/c antwortet mit HTTP 404. Verlinkt von https://a.example/.",
        ),
        ("We teach. German. French.", "We teach. German. French."),  # of a page: not all of it is ours
        ("Guide: the best of teas | Shop", "Guide: the best of teas | Shop"),
        ("{n} links", "{n} links"),
        ("", ""),
    ],
)
def test_sentences_with_values_are_said_in_the_language(said: str, expected: str) -> None:
    assert phrase(said) == said
    with speaking("de"):
        assert phrase(said) == expected


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "en"])
def test_each_reason_for_no_score_is_said_in_the_language(language: str) -> None:
    with speaking(language):
        assert [why for why in get_args(Unjudged) if phrase(why) == why] == []


COMPOSED = {
    *("(recommended", "below", "addresses", "links", "link", "None", "reads"),
    *("(HTTP", "consent", "refusal", "proxy", "site", "refused"),
    *("at", "instead", "fetched", "lines", "noindex:", "nofollow:", "h1", "h2", "Entries", "robots."),
}
"""Words of sentences that the package puts together of parts: examples of them stand above."""


def test_each_sentence_is_one_that_the_package_makes() -> None:
    """Where the English changes, its translation has to follow: its longest words stand in a source."""
    folder = Path(webanalytics.__file__).parent
    files = [file for kind in ("py", "toml") for file in folder.rglob(f"*.{kind}")]
    text = " ".join(re.sub(r'"\s*\n\s*f?"', "", file.read_text("utf-8")) for file in files)
    text = text.replace("{page}", "page").replace("`{parameter}`", "url").replace("`url`", "url").casefold()
    for message in catalogues.known("phrases", "de"):
        words = max(re.split(r"\{\w+\}|[,:.] ", str(message.id)), key=len).strip(" :,.()").casefold()
        said = re.sub(
            r"^(?:the |a )?(?:page|host|port|server) (?:redirects to an? \w+ that )?(?:is )?", "", words
        )
        assert said in text or COMPOSED & {*str(message.id).split()}, message.id
