"""What the browsers of visitors measured: answers of the CrUX API and of PageSpeed Insights.

Their forms: https://developer.chrome.com/docs/crux/api, https://developers.google.com/speed/docs/insights/v5.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd

from webanalytics import loops
from webanalytics.core.operations.secret import Secret
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError, WebAnalyticsError, choice, warn_incomplete
from webanalytics.fetching.post import NotSentError, ask_json
from webanalytics.runs.frames.schema import frame_of

API = "https://chromeuxreport.googleapis.com/v1/records:queryRecord"
PRIVATE = False
"""Whether that may be an address of this network: a double of it in tests is."""
PAUSE = 0.4
"""Seconds between two questions, of which 150 a minute are free."""
MOST_BYTES = 100_000_000
FORM_FACTORS = ("PHONE", "TABLET", "DESKTOP")
METRICS = {
    "lcp": ("largest_contentful_paint", "LARGEST_CONTENTFUL_PAINT_MS"),
    "inp": ("interaction_to_next_paint", "INTERACTION_TO_NEXT_PAINT"),
    "cls": ("cumulative_layout_shift", "CUMULATIVE_LAYOUT_SHIFT_SCORE"),
    "fcp": ("first_contentful_paint", "FIRST_CONTENTFUL_PAINT_MS"),
    "ttfb": ("experimental_time_to_first_byte", "EXPERIMENTAL_TIME_TO_FIRST_BYTE"),
}
"""What CrUX and PageSpeed call each column."""


def asked(urls: Sequence[str], key: Any, form_factor: str | None) -> list[Any]:
    """Return the answers of the CrUX API on some pages, those that it knows."""
    if form_factor is not None:
        choice("form_factor", form_factor, FORM_FACTORS)
    if not isinstance(key, str) or not key:
        raise ParameterError.must_be("key", "a text that is not empty")
    with ThreadPoolExecutor(1) as thread:  # a notebook's loop runs in this one
        return thread.submit(loops.run, _asked(urls, Secret(key), form_factor)).result()


async def _asked(urls: Sequence[str], key: Secret, form_factor: str | None) -> list[Any]:
    found: list[Any] = []
    more = {} if form_factor is None else {"formFactor": form_factor}
    for url in urls:
        failure = ""
        try:
            headers = {"X-Goog-Api-Key": key.reveal().decode()}
            status, answer = await ask_json(API, {"url": url, **more}, headers, private=PRIVATE)
        except NotSentError as error:
            status, answer, failure = 0, b"", f"The CrUX API was not asked: {error}."
        if status in (400, 401, 403):
            raise ParameterError.must_be("key", f"one that the CrUX API takes; it answered HTTP {status}")
        if status not in (200, 404):  # 404: too few visitors to tell
            failure = failure or f"The CrUX API answered HTTP {status}."
            if not found:
                raise WebAnalyticsError(failure)
            warn_incomplete(f"{failure} It told of {counted(len(found))} until then.")
            return found
        found += [_parsed(answer)] if status == 200 else []
        await asyncio.sleep(PAUSE)
    return found


def given(source: Any) -> Iterator[Any]:
    """Yield the answers of files and of objects."""
    for one in source if isinstance(source, (list, tuple)) else [source]:
        if isinstance(one, (str, os.PathLike)):
            try:
                if Path(one).stat().st_size > MOST_BYTES:
                    raise ParameterError.must_be("source", f"a file of at most {MOST_BYTES:,} bytes")
                content = Path(one).read_bytes()
            except OSError as error:
                raise ParameterError.must_be("source", f"a file that can be read: {error.strerror}") from None
            lines = content.splitlines() if str(one).endswith(".jsonl") else [content]
            answers = [_parsed(line) for line in lines]
            yield from answers[0] if len(answers) == 1 and isinstance(answers[0], list) else answers
        else:
            yield one


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ParameterError.must_be("source", "JSON of the CrUX API or of PageSpeed Insights") from None


def field_data(answers: Sequence[Any]) -> pd.DataFrame:
    """Return a row for each answer that is of a page, and not of its whole site.

    >>> answer = {"record": {"key": {"url": "https://a.example/"}, "metrics": {
    ...     "cumulative_layout_shift": {"percentiles": {"p75": "0.05"}}}}}
    >>> field_data([answer])[["url", "cls"]].values.tolist()
    [['https://a.example/', 0.05]]
    """
    columns = {"url": "string", **dict.fromkeys((*METRICS, "performance"), "float")}
    return frame_of(columns, filter(None, map(_row, answers)))  # type: ignore[arg-type]


def _row(answer: Any) -> dict[str, Any] | None:
    of_crux = _at(answer, "record") is not None
    url = _at(answer, "record", "key", "url") if of_crux else _at(answer, "id")
    of_site = _at(answer, "loadingExperience", "origin_fallback")
    row: dict[str, Any] = {"url": url}
    for name, (crux, pagespeed) in METRICS.items():
        value = _at(answer, "record", "metrics", crux, "percentiles", "p75")
        if not of_crux and not of_site:
            value = _at(answer, "loadingExperience", "metrics", pagespeed, "percentile")
        row[name] = _number(value, 100 if name == "cls" and not of_crux else 1)  # whole hundredths
    score = _number(_at(answer, "lighthouseResult", "categories", "performance", "score"), 0.01)
    return {**row, "performance": score} if isinstance(url, str) else None


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _number(value: Any, divisor: float) -> float | None:
    try:
        return round(float(value) / divisor, 4)
    except (TypeError, ValueError, OverflowError):
        return None
