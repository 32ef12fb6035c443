"""Milliseconds a page on one core: trafilatura alone, a hand-written loop, and all four analyses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

from tests.benchmarks.corpus import corpus_pages, offline_textstat
from webanalytics.operations import AUDIT
from webanalytics.workers.worker import answer_page, prepare

ANALYSES = {operation.name: operation.analysis for operation in AUDIT}
SETTINGS: dict[str, dict[str, Any]] = {name: {} for name in ANALYSES}
PARSER = "html.parser"
"""What Beautiful Soup's own documentation begins with, and what needs nothing installed."""

_DICTIONARY: list[bool] = []
STOP_WORDS = frozenset(
    ("that", "this", "with", "from", "have", "they", "will", "your", "what", "when", "which")
)


WARM_UP = "<html><title>x</title><body><p>" + "The quick brown fox jumps over the lazy dog. " * 20


def trafilatura_alone(html: str) -> object:
    """(a): the fast mode of the extractor, and nothing else."""
    import trafilatura

    return trafilatura.extract(html, fast=True)


def notebook_loop(html: str) -> object:
    """(b): what an analyst writes by hand in a notebook."""
    import textstat
    import trafilatura
    from bs4 import BeautifulSoup

    if not _DICTIONARY:
        offline_textstat()
        _DICTIONARY.append(True)
    soup = BeautifulSoup(html, PARSER)
    metadata = {tag.get("name") or tag.get("property"): tag.get("content") for tag in soup.find_all("meta")}
    metadata["title"] = soup.title.get_text(strip=True) if soup.title else ""
    metadata["headings"] = [
        (tag.name, tag.get_text(" ", strip=True)) for tag in soup.find_all(["h1", "h2", "h3"])
    ]
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


CASES: dict[str, Callable[[Any], object]] = {"a": trafilatura_alone, "b": notebook_loop, "c": all_four}


def one_pass(name: str) -> float:
    """Return milliseconds a page of one pass in this process, in which every page is new.

    Imports come first and are not counted; caches are cold for all, as they are for pages that
    nobody has read before.
    """
    pages = corpus_pages()
    inputs: list[Any]
    if name == "c":
        inputs = [
            (content, f"https://corpus.example/{number}") for number, content in enumerate(pages.values())
        ]
        warm: Any = (WARM_UP.encode(), "https://corpus.example/")
    else:
        inputs, warm = [content.decode("utf-8", "replace") for content in pages.values()], WARM_UP
    function = CASES[name]
    if name == "c":
        prepare(tuple(ANALYSES.values()))  # as every worker process does before its first page
    function(warm)
    start = time.process_time()
    for item in inputs:
        function(item)
    return (time.process_time() - start) / len(inputs) * 1000


def _pass_in_new_process(name: str, core: int) -> float:
    code = f"from tests.benchmarks.pages import one_pass; print(one_pass({name!r}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout)


def run(rounds: int = 5) -> dict[str, float]:
    """Return the median of each figure over rounds in which the three take turns, each in a new process."""
    core = min(os.sched_getaffinity(0))
    figures = [{name: _pass_in_new_process(name, core) for name in CASES} for _ in range(rounds)]
    middle = {name: median(figure[name] for figure in figures) for name in CASES}
    return {
        **middle,
        "c/a": median(figure["c"] / figure["a"] for figure in figures),
        "b/c": median(figure["b"] / figure["c"] for figure in figures),
    }


def report() -> str:
    """Return the table."""
    figures = run()
    cores = len(os.sched_getaffinity(0))
    return "\n".join(
        [
            f"Milliseconds of processor time a page, one core of {cores}, 99 saved pages, median of 5 passes, each in a new process",
            f"  (a) trafilatura.extract(fast=True) alone          {figures['a']:7.2f}",
            f"  (b) hand-written notebook loop                    {figures['b']:7.2f}",
            f"  (c) webanalytics, all four analyses               {figures['c']:7.2f}",
            f"  (c)/(a) {figures['c/a']:.2f} (goal: at most 1.4)      (b)/(c) {figures['b/c']:.2f} (goal: at least 3.5)",
        ]
    )
