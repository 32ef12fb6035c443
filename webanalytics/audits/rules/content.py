"""Rules for the text of a page.

How much there is of it is told by what the page has of its own (`audits.content.shared_blocks`). What judges
sentences looks at the main text, and leaves out one without any: the column ``readability_note`` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.directives.languages import same_language
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule, page_by_page
from webanalytics.audits.site import Site
from webanalytics.thresholds import SCALES_BY_NAME, not_prose

VERY_DIFFICULT = 30
"""Flesch reading ease below which a text is very difficult (Flesch, How to Write Plain English, 1979)."""

ENOUGH_LETTERS = 200
"""From this many letters of text, the detected language is considered certain."""

_LOREM = re.compile(r"\blorem\s+ipsum\b", re.IGNORECASE)
_IPSUM = ("ipsum", "Ipsum", "IPSUM")
_LANGUAGE = re.compile(r"\s*([a-z]{2})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)

# Their words are a matter of definition: a limit in words does not hold for them.
_WITHOUT_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))


def _empty(site: Site, _: Any) -> Iterator[Finding]:
    for row, visible, main in site.read("visible_text", "text"):
        if not (visible or main or "").strip() and (visible, main) != (None, None):
            yield Finding(row)
    for row, key in enumerate(site.values("error_key")):
        if key == "page_empty" and site.addresses.first(row):
            yield Finding(row, evidence="The body of the answer is empty.")


@page_by_page
def _low(site: Site, threshold: float) -> Iterator[Finding]:
    columns = ("content_words", "language", "final_url", *CONTENT_COLUMNS)
    for row, words, language, url, *said in site.read(*columns):
        if words is None or language in _WITHOUT_SPACES or words >= threshold:
            continue
        if words:
            yield Finding(row, words, (site.shared_blocks.content(url, *said).text or "")[:500])
        elif any(said[:2]):
            yield Finding(row, words, "All that the page shows stands on most pages of the site.")


@page_by_page
def _difficult(site: Site, threshold: float) -> Iterator[Finding]:
    for row, ease, evidence in _eases(site):
        if VERY_DIFFICULT <= ease < threshold:
            yield Finding(row, ease, evidence)


@page_by_page
def _very_difficult(site: Site, threshold: float) -> Iterator[Finding]:
    for row, ease, evidence in _eases(site):
        if ease < threshold:
            yield Finding(row, ease, evidence)


def _eases(site: Site) -> Iterator[tuple[int, float, str]]:
    """Yield each judged page with its Flesch reading ease, or what stands for it on another scale."""
    columns = ("wordCount", "sentenceCount", "fleschReadingEase", "fleschReadingEaseText")
    for row, words, sentences, ease, name, score, scale in site.read(
        *columns, "readability_score", "readability_scale"
    ):
        if not_prose(words, sentences):
            continue
        if ease is not None:
            yield row, ease, f"{name or ''} ({scale})" if scale else name or ""
        elif score is not None and scale in SCALES_BY_NAME:
            yield row, round(SCALES_BY_NAME[scale].ease(score), 2), f"{scale} {score:.1f}"


@page_by_page
def _lorem_ipsum(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read("visible_text", "text", "title", "description"):
        for text in texts:
            # the expression alone would take most of the time of all rules
            if text and any(word in text for word in _IPSUM) and (found := _LOREM.search(text)):
                yield Finding(row, evidence=text[max(0, found.start() - 40) : found.end() + 100])
                break


@page_by_page
def _language_differs(site: Site, _: Any) -> Iterator[Finding]:
    columns = ("lang", "language", "text", "wordCount", "sentenceCount")
    for row, declared, detected, text, words, sentences in site.read(*columns):
        named = _LANGUAGE.fullmatch(declared or "")
        if not named or not detected or not_prose(words, sentences):
            continue
        if not same_language(named[1].lower(), detected) and _is_enough(text or ""):
            yield Finding(
                row, evidence=f"declared {declared.strip()}, written in {detected}: {_longest(text)}"
            )


def _longest(text: str) -> str:
    """Return the beginning of the longest line: a byline or a heading is in any language."""
    return max(text.split("\n"), key=len)[:150]


def _is_enough(text: str) -> bool:
    return sum(map(str.isalpha, text[: 10 * ENOUGH_LETTERS])) >= ENOUGH_LETTERS


_rule = partial(Rule, category="content")

RULES = (
    _rule(
        name="content_empty",
        title="No content",
        priority="high",
        explanation="No readable text was found in the page as the server sends it. Search engines may see "
        "none either where scripts have to fetch it.",
        fix="Let the server send the content of the page, or leave the page out of the index.",
        find=_empty,
        columns=("text",),
        measured="The visible text of the page as the server sends it; scripts are not run. An answer "
        "without a body is such a page too.",
        source=sources.HELPFUL,
    ),
    _rule(
        name="content_low",
        title="Low content",
        type="opportunity",
        explanation="Pages with few words of their own seldom answer what people search for. Languages that "
        "are written without spaces are not looked at.",
        fix="Extend the page by what its readers need, or merge it with another one on the same subject.",
        find=_low,
        threshold=200,
        unit="words",
        columns=("text", "content_words"),
        measured="Words of the visible text without the blocks that most pages of the site, or of its first "
        "folder, have; of a site of one or two pages those of the main text. No search engine publishes a "
        "least number: the default is the usual one of SEO tools.",
        source=sources.HELPFUL,
    ),
    _rule(
        name="readability_difficult",
        title="Readability difficult",
        type="opportunity",
        priority="low",
        explanation="With a Flesch reading ease of 30 to 50, or what stands for it on the scale of the "
        "language, the text takes readers with higher education.",
        fix="Shorten sentences and use common words where the subject allows it.",
        find=_difficult,
        threshold=50,
        unit="Flesch reading ease",
        columns=("fleschReadingEase",),
        measured="Flesch reading ease of the main text from the rule for very difficult texts up to the "
        "threshold, or the value of the scale of the language at the same place.",
        source=sources.FLESCH,
    ),
    _rule(
        name="readability_very_difficult",
        title="Readability very difficult",
        type="opportunity",
        priority="low",
        explanation="With a Flesch reading ease below 30, or what stands for it on the scale of the page's "
        "language, the text reads like a scientific paper.",
        fix="Break up long sentences, one thought each, and explain or replace long words.",
        find=_very_difficult,
        threshold=VERY_DIFFICULT,
        unit="Flesch reading ease",
        columns=("fleschReadingEase",),
        measured="Flesch reading ease of the main text below the threshold, or the value of the scale of "
        "the language at the same place.",
        source=sources.FLESCH,
    ),
    _rule(
        name="lorem_ipsum",
        title="Lorem ipsum",
        type="warning",
        priority="low",
        explanation="Placeholder text shows that the page was published unfinished.",
        fix="Replace the placeholder by real content, or take the page offline.",
        find=_lorem_ipsum,
        columns=("text",),
        measured="The words lorem ipsum side by side in the visible text, the title or the description.",
        source=sources.HELPFUL,
    ),
    _rule(
        name="language_differs",
        title="Declared language differs from the text's",
        type="warning",
        priority="low",
        explanation="Screen readers pronounce and browsers translate a page by the language it declares, "
        "and the text seems to be written in another one.",
        fix="Set the lang attribute of the html element to the language of the text.",
        find=_language_differs,
        columns=("lang", "language"),
        measured="The lang attribute against the language detected from the main text, where that has at "
        "least 200 letters and sentences.",
        source=sources.both(sources.wcag("3.1.1"), sources.LANG),
    ),
)
