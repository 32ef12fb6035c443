"""Rules for the text of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from webanalytics.audits.languages import same_language
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.rules.shared import empty
from webanalytics.audits.site import Site

VERY_DIFFICULT = 30
"""Flesch reading ease below which a text is very difficult (Flesch, How to Write Plain English, 1979)."""

ENOUGH_LETTERS = 200
"""From this many letters of text, the detected language is considered certain."""

_LOREM = re.compile(r"\blorem\s+ipsum\b", re.IGNORECASE)
_IPSUM = ("ipsum", "Ipsum", "IPSUM")
_LANGUAGE = re.compile(r"\s*([a-z]{2})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)

# Their words are not separated by spaces, so that counts of words are far too low.
_WITHOUT_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))


def _low(site: Site, threshold: float) -> Iterator[Finding]:
    for row, words, text, language in site.read("wordCount", "text", "language"):
        if words is not None and 0 < words < threshold and language not in _WITHOUT_SPACES:
            yield Finding(row, words, (text or "")[:500])


def _difficult(site: Site, threshold: float) -> Iterator[Finding]:
    for row, ease, name in site.read("fleschReadingEase", "fleschReadingEaseText"):
        if ease is not None and VERY_DIFFICULT <= ease < threshold:
            yield Finding(row, ease, name or "")


def _very_difficult(site: Site, threshold: float) -> Iterator[Finding]:
    for row, ease, name in site.read("fleschReadingEase", "fleschReadingEaseText"):
        if ease is not None and ease < threshold:
            yield Finding(row, ease, name or "")


def _lorem_ipsum(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read("text", "title", "description"):
        for text in texts:
            # the expression alone would take most of the time of all rules
            if text and any(word in text for word in _IPSUM) and (found := _LOREM.search(text)):
                yield Finding(row, evidence=text[max(0, found.start() - 40) : found.end() + 100])
                break


def _language_differs(site: Site, _: Any) -> Iterator[Finding]:
    for row, declared, detected, text in site.read("lang", "language", "text"):
        named = _LANGUAGE.fullmatch(declared or "")
        if not named or not detected:
            continue
        if not same_language(named[1].lower(), detected) and _is_enough(text or ""):
            yield Finding(row, evidence=f"declared {declared.strip()}, written in {detected}: {text[:150]}")


def _is_enough(text: str) -> bool:
    return sum(map(str.isalpha, text[: 10 * ENOUGH_LETTERS])) >= ENOUGH_LETTERS


RULES = (
    Rule(
        name="content_empty",
        title="No content",
        category="content",
        type="issue",
        priority="high",
        explanation="No readable text was found in the page as the server sends it. Search engines may see "
        "none either where scripts have to fetch it.",
        fix="Let the server send the content of the page, or leave the page out of the index.",
        find=empty("text"),
        columns=("text",),
    ),
    Rule(
        name="content_low",
        title="Low content",
        category="content",
        type="opportunity",
        priority="medium",
        explanation="Pages with few words seldom answer what people search for. Languages that are written "
        "without spaces are not looked at.",
        fix="Extend the page by what its readers need, or merge it with another one on the same subject.",
        find=_low,
        threshold=200,
        unit="words",
        columns=("wordCount",),
    ),
    Rule(
        name="readability_difficult",
        title="Readability difficult",
        category="content",
        type="opportunity",
        priority="low",
        explanation="With a Flesch reading ease of 30 to 50, the text takes readers with higher education.",
        fix="Shorten sentences and use common words where the subject allows it.",
        find=_difficult,
        threshold=50,
        unit="Flesch reading ease",
        columns=("fleschReadingEase",),
    ),
    Rule(
        name="readability_very_difficult",
        title="Readability very difficult",
        category="content",
        type="opportunity",
        priority="low",
        explanation="With a Flesch reading ease below 30, the text reads like a scientific paper.",
        fix="Break up long sentences, one thought each, and explain or replace long words.",
        find=_very_difficult,
        threshold=VERY_DIFFICULT,
        unit="Flesch reading ease",
        columns=("fleschReadingEase",),
    ),
    Rule(
        name="lorem_ipsum",
        title="Lorem ipsum",
        category="content",
        type="warning",
        priority="low",
        explanation="Placeholder text shows that the page was published unfinished.",
        fix="Replace the placeholder by real content, or take the page offline.",
        find=_lorem_ipsum,
        columns=("text",),
    ),
    Rule(
        name="language_differs",
        title="Declared language differs from the text's",
        category="content",
        type="warning",
        priority="low",
        explanation="Screen readers pronounce and browsers translate a page by the language it declares, "
        "and the text seems to be written in another one.",
        fix="Set the lang attribute of the html element to the language of the text.",
        find=_language_differs,
        columns=("lang", "language"),
    ),
)
