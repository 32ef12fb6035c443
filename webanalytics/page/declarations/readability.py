"""Readability: classic indices over the main text of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from webanalytics.core.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_TEXT,
    PAGE_URL,
    Docs,
    Field,
    Operation,
)
from webanalytics.thresholds import ANY_FLESCH, ENGLISH_SCALE, Unjudged, not_prose

Audience = Literal["elementary", "middle school", "high school", "college", "post-graduate"]
Grades = Literal["elementary", "middle school", "high school", "college", "post-graduate", "general public"]


def score_of(data: Mapping[str, Any]) -> float | None:
    """Return the score on the language's scale of an answer that does not say which scale that is.

    A grade is that of an English text, and a reading ease without one that of another language.

    Examples
    --------
    >>> counts = {"wordCount": 90, "sentenceCount": 6}
    >>> score_of({**counts, "averageGradeLevel": 7.5, "fleschReadingEase": 70.0, "fleschKincaidGrade": 7.0})
    7.5
    >>> score_of({**counts, "averageGradeLevel": None, "fleschReadingEase": 41.5})
    41.5
    """
    if not_prose(data.get("wordCount"), data.get("sentenceCount")) is not None:
        return None
    grade: float | None = data.get("averageGradeLevel")
    if grade is not None or data.get("fleschKincaidGrade") is not None:
        return grade
    return data.get("fleschReadingEase")


def audience_of(data: Mapping[str, Any]) -> str | None:
    """Return the audience of an answer that does not name the scale of its language.

    Examples
    --------
    >>> audience_of({"averageGradeLevel": 7.5}), audience_of({"fleschReadingEase": 41.5}), audience_of({})
    ('middle school', 'college', None)
    """
    value = score_of(data)
    if value is None:
        return None
    return (ANY_FLESCH if data.get("averageGradeLevel") is None else ENGLISH_SCALE).audience(value)


READABILITY = Operation(
    name="readability",
    path="websitereadability",
    method="POST",
    summary="Fetch a page and score the readability of its text with several indices.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(PAGE_URL, replace(PAGE_TEXT, local=True)),
    fields=(
        Field("fleschReadingEase", float | None, "Flesch reading ease, 0 to 100, higher is easier."),
        Field("fleschReadingEaseText", str | None, "The same in words."),
        Field("fleschKincaidGrade", float | None, "US school grade."),
        Field("gunningFog", float | None, "Years of education needed.", premium=True),
        Field("colemanLiauIndex", float | None, "US grade from character counts.", premium=True),
        Field("smogIndex", float | None, "Years of education needed.", premium=True),
        Field("automatedReadabilityIndex", float | None, "US grade estimate.", premium=True),
        Field("daleChallReadabilityScore", float | None, "Dale-Chall score.", premium=True),
        Field("daleChallReadabilityScoreText", str | None, "The same in words.", premium=True),
        Field("wordCount", int, "Words of the readable text."),
        Field("sentenceCount", int, "Sentences of the readable text."),
        Field("readingTimeMinutes", float, "Estimated at 238 words a minute."),
        Field("averageGradeLevel", float | None, "Mean of the five grade indices.", premium=True),
        Field(
            "targetAudience",
            Grades,
            "Audience named by averageGradeLevel; general public without a grade.",
            premium=True,
            audited=False,
        ),
        Field("language", str, "Language of the main text, ISO 639-1, empty if undetermined.", extra=True),
        Field(
            "audience",
            Audience | None,
            "Who can read the text, by the scale of its language.",
            extra=True,
            derived=audience_of,
        ),
        Field(
            "readability_score",
            float | None,
            "Value on the scale of the text's language.",
            extra=True,
            derived=score_of,
        ),
        Field("readability_scale", str | None, "That scale: formula, source and language.", extra=True),
        Field("readability_note", Unjudged | None, "Why the text is not judged.", extra=True),
        Field(
            "wiener_sachtextformel", float | None, "German school grade of German texts, 4 to 15.", extra=True
        ),
        Field("url", str, "The analysed URL from the request."),
    ),
    credits=10,
    analysis="webanalytics.page.readability.readability:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    table=(
        ("url", "page"),
        ("fleschReadingEase", "Flesch"),
        ("fleschReadingEaseText", "in words"),
        ("averageGradeLevel", "grade"),
        ("audience", "audience"),
        ("wordCount", "words"),
        ("readingTimeMinutes", "minutes"),
    ),
    chart="readability",
    audited=True,
    example="webanalytics.page.declarations:examples/readability.json",
    docs=Docs(
        summary="Score how easily the main text of pages reads.",
        returns=(
            "One row per input: the indices (float64, two decimals, NaN where a formula is not defined "
            "for the page's language), ``wordCount`` and ``sentenceCount`` (Int64), "
            "``readingTimeMinutes``, ``averageGradeLevel`` and ``targetAudience`` as the API answers them; "
            "``language`` of the main text, ``readability_score`` on that language's ``readability_scale``, "
            "the ``audience`` that follows, or in ``readability_note`` why there is none; "
            "``wiener_sachtextformel`` of German texts."
        ),
        notes=(
            "Flesch (1948), Kincaid et al. (1975), Gunning (1952), Coleman and Liau (1975), McLaughlin "
            "(1969, SMOG), Smith and Senter (1967, ARI), Dale and Chall (1948), each as the textstat "
            'package computes it; scales of other languages: the guide "Readability". Reading speed: 238 '
            "words a minute (Brysbaert 2019), Chinese 255 and Japanese 357 characters "
            "(Trauzettel-Klosinski and Dietz 2012). "
            "No formula scores a text of undetermined language. ``targetAudience`` follows the API: "
            "general public for every text without a grade, which only English texts have; ``audience`` "
            "is missing instead. A hosted API answers without the columns after ``targetAudience``: "
            "``readability_score`` and ``audience`` are derived from its grade or its reading ease."
        ),
        examples="""
>>> import pandas as pd
>>> import webanalytics as wa
>>> html = "<p>" + "The cat sat on the mat. The dog ran to the door. " * 8 + "</p>"
>>> frame = wa.readability(pd.DataFrame({"url": ["https://cat.example/"], "html": [html]}))
>>> frame.loc[0, ["fleschReadingEaseText", "audience", "readability_scale"]].tolist()
['Very Easy', 'elementary', 'average of five grade indices (English)']
""",
    ),
)
