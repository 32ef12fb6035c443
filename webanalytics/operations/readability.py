"""Readability: classic indices over the main text of a page."""

from __future__ import annotations

from typing import Literal

from webanalytics.operations.base import Field, Operation
from webanalytics.operations.page_url import PAGE_URL

Audience = Literal["elementary", "middle school", "high school", "college", "post-graduate", "general public"]

READABILITY = Operation(
    name="readability",
    path="websitereadability",
    method="POST",
    summary="Fetch a page and score the readability of its text with several indices.",
    kind="page",
    subject="url",
    input_column="url",
    parameters=(PAGE_URL,),
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
)
