"""Readability: classic indices over the main text of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from webanalytics.operations.model import (
    PAGE_COLUMNS,
    PAGE_PATTERN,
    PAGE_TEXT,
    PAGE_URL,
    Docs,
    Field,
    Operation,
)

Audience = Literal["elementary", "middle school", "high school", "college", "post-graduate", "general public"]

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
        Field("targetAudience", Audience, "Audience named by averageGradeLevel.", premium=True),
        Field("url", str, "The analysed URL from the request."),
    ),
    credits=10,
    analysis="webanalytics.analysis.readability.readability:analyse",
    column_names=PAGE_COLUMNS,
    column_pattern=PAGE_PATTERN,
    table=(
        ("url", "page"),
        ("fleschReadingEase", "Flesch"),
        ("fleschReadingEaseText", "in words"),
        ("averageGradeLevel", "grade"),
        ("targetAudience", "audience"),
        ("wordCount", "words"),
        ("readingTimeMinutes", "minutes"),
    ),
    chart="readability",
    audited=True,
    example={
        "parameters": {
            "url": "https://lanterns.example/blog/winter-light",
        },
        "data": {
            "fleschReadingEase": 85.78,
            "fleschReadingEaseText": "Easy",
            "fleschKincaidGrade": 5.12,
            "gunningFog": 6.71,
            "colemanLiauIndex": 5.23,
            "smogIndex": 7.65,
            "automatedReadabilityIndex": 5.47,
            "daleChallReadabilityScore": 5.89,
            "daleChallReadabilityScoreText": "average 5th or 6th-grade student",
            "wordCount": 370,
            "sentenceCount": 24,
            "readingTimeMinutes": 1.55,
            "averageGradeLevel": 6.04,
            "targetAudience": "middle school",
            "url": "https://lanterns.example/blog/winter-light",
        },
    },
    docs=Docs(
        summary="Score how easily the main text of pages reads.",
        returns=(
            "One row per input: the indices (float64, two decimals, NaN where a formula is not defined "
            "for the page's language), ``wordCount`` and ``sentenceCount`` (Int64), "
            "``readingTimeMinutes`` at 238 words a minute, ``averageGradeLevel`` and "
            "``targetAudience``."
        ),
        notes=(
            "Flesch (1948), Kincaid et al. (1975), Gunning (1952), Coleman and Liau (1975), McLaughlin "
            "(1969, SMOG), Smith and Senter (1967, ARI), Dale and Chall (1948), each as the textstat "
            "package computes it. Reading speed: Brysbaert (2019)."
        ),
        examples="""
>>> import pandas as pd
>>> import webanalytics as wa
>>> html = "<p>" + "The cat sat on the mat. The dog ran to the door. " * 8 + "</p>"
>>> frame = wa.readability(pd.DataFrame({"url": ["https://cat.example/"], "html": [html]}))
>>> frame.loc[0, ["fleschReadingEaseText", "targetAudience"]].tolist()
['Very Easy', 'elementary']
""",
    ),
)
