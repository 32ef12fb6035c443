"""Milliseconds a page on one core: trafilatura alone, a hand-written loop, and all four analyses."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import textstat
import trafilatura
from bs4 import BeautifulSoup

from tests.benchmarks.corpus import corpus_pages, offline_textstat
from webanalytics.backends.worker import answer_page

ANALYSES = ("metadata", "text", "readability", "keywords")
SETTINGS: dict[str, dict[str, Any]] = {name: {} for name in ANALYSES}
STOP_WORDS = frozenset("that this with from have they will your what when which their there about would".split())


def trafilatura_alone(html: str) -> object:
    """(a): the fast mode of the extractor, and nothing else."""
    return trafilatura.extract(html, fast=True)


def notebook_loop(html: str) -> object:
    """(b): what an analyst writes by hand in a notebook."""
    soup = BeautifulSoup(html, "lxml")
    metadata = {tag.get("name") or tag.get("property"): tag.get("content") for tag in soup.find_all("meta")}
    metadata["title"] = soup.title.get_text(strip=True) if soup.title else ""
    metadata["headings"] = [(tag.name, tag.get_text(" ", strip=True)) for tag in soup.find_all(["h1", "h2", "h3"])]
    metadata["images"] = [(tag.get("src"), tag.get("alt")) for tag in soup.find_all("img")]
    document = trafilatura.bare_extraction(html, with_metadata=True)
    text = (document.text if document is not None else "") or ""
    scores = [
        textstat.flesch_reading_ease(text),
        textstat.flesch_kincaid_grade(text),
        textstat.gunning_fog(text),
        textstat.coleman_liau_index(text),
        textstat.smog_index(text),
        textstat.automated_readability_index(text),
        textstat.dale_chall_readability_score(text),
        textstat.lexicon_count(text),
    ]
    words = (word.lower() for word in soup.get_text(" ").split() if word.isalpha() and len(word) > 3)
    keywords = Counter(word for word in words if word not in STOP_WORDS).most_common(50)
    return metadata, document, scores, keywords


def all_four(page: tuple[bytes, str]) -> object:
    """(c): metadata, text, readability and keywords as a worker process answers them, from the bytes."""
    content, url = page
    return answer_page(ANALYSES, SETTINGS, (content, url, url, "text/html"))


def _milliseconds(function: Callable[[Any], object], inputs: list[Any]) -> float:
    start = time.process_time()
    for item in inputs:
        function(item)
    return (time.process_time() - start) / len(inputs) * 1000


def run(rounds: int = 5) -> dict[str, float]:
    """Return the median of each figure over rounds in which the three take turns."""
    offline_textstat()
    pages = corpus_pages()
    texts = [content.decode("utf-8", "replace") for content in pages.values()]
    contents = [(content, f"https://corpus.example/{number}") for number, content in enumerate(pages.values())]
    cases: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
        "a": (trafilatura_alone, texts),
        "b": (notebook_loop, texts),
        "c": (all_four, contents),
    }
    for function, inputs in cases.values():  # imports and caches of all three
        _milliseconds(function, inputs[:10])
    figures: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, (function, inputs) in cases.items():
            figures[name].append(_milliseconds(function, inputs))
    middle = {name: sorted(values)[len(values) // 2] for name, values in figures.items()}
    ratios = [(c / a, b / c) for a, b, c in zip(figures["a"], figures["b"], figures["c"], strict=True)]
    return {
        **middle,
        "c/a": sorted(ratio for ratio, _ in ratios)[rounds // 2],
        "b/c": sorted(ratio for _, ratio in ratios)[rounds // 2],
    }


def report() -> str:
    """Return the table."""
    figures = run()
    cores = len(os.sched_getaffinity(0))
    return "\n".join(
        [
            f"Milliseconds of processor time a page, one core of {cores}, 99 saved pages, median of 5 rounds",
            f"  (a) trafilatura.extract(fast=True) alone          {figures['a']:7.2f}",
            f"  (b) hand-written notebook loop                    {figures['b']:7.2f}",
            f"  (c) webanalytics, all four analyses               {figures['c']:7.2f}",
            f"  (c)/(a) {figures['c/a']:.2f} (goal: at most 1.4)      (b)/(c) {figures['b/c']:.2f} (goal: at least 3.5)",
        ]
    )
