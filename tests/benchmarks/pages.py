"""Milliseconds a page on one core: trafilatura alone, a hand-written loop, and all five analyses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any

from tests.benchmarks.corpus import corpus_pages, folder_pages, offline_textstat
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.workers.worker import answer_page, prepare

ANALYSES = {operation.name: operation.analysis for operation in AUDIT_PAGES}
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


def all_five(page: tuple[bytes, str]) -> object:
    """(c): metadata, text, readability, keywords and facts as a worker answers them, from the bytes."""
    content, url = page
    return answer_page(ANALYSES, SETTINGS, (content, url, url, "text/html"))


CASES: dict[str, Callable[[Any], object]] = {"a": trafilatura_alone, "b": notebook_loop, "c": all_five}
CHUNK = 5
"""Pages that a case reads before it is the next one's turn."""


def serve(name: str, folder: str) -> None:
    """Read pages as they are asked for by their numbers, and print the processor time of each chunk.

    Imports come first and are not counted; every page is new to the process.
    """
    pages = list((folder_pages(folder) if folder else corpus_pages()).values())
    function = CASES[name]
    if name == "c":
        prepare(tuple(ANALYSES.values()))  # as every worker process does before its first page
        function((WARM_UP.encode(), "https://corpus.example/"))
    else:
        function(WARM_UP)
    print(len(pages), flush=True)
    for line in sys.stdin:
        chunk = range(int(line), min(int(line) + CHUNK, len(pages)))
        inputs: list[Any] = [
            (pages[number], f"https://corpus.example/{number}")
            if name == "c"
            else pages[number].decode("utf-8", "replace")
            for number in chunk
        ]
        start = time.process_time()
        for item in inputs:
            function(item)
        print((time.process_time() - start) * 1000, flush=True)


def one_round(folder: str, core: int) -> dict[str, float]:
    """Return milliseconds a page of each case, in new processes that take turns of a few pages."""
    processes: dict[str, subprocess.Popen[str]] = {}
    for name in CASES:
        code = f"from tests.benchmarks.pages import serve; serve({name!r}, {folder!r})"
        processes[name] = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    counts = {_answer(process) for process in processes.values()}
    pages = int(counts.pop())
    spent = dict.fromkeys(CASES, 0.0)
    for start in range(0, pages, CHUNK):
        for name, process in processes.items():
            assert process.stdin is not None
            process.stdin.write(f"{start}\n")
            process.stdin.flush()
            spent[name] += _answer(process)
    for process in processes.values():
        process.communicate()
    return {**{name: total / pages for name, total in spent.items()}, "pages": pages}


def _answer(process: subprocess.Popen[str]) -> float:
    assert process.stdout is not None
    return float(process.stdout.readline())


def run(rounds: int = 5, folder: str = "") -> dict[str, float]:
    """Return the median of each figure over rounds."""
    core = min(os.sched_getaffinity(0))
    figures = [one_round(folder, core) for _ in range(rounds)]
    return {
        **{name: median(figure[name] for figure in figures) for name in figures[0]},
        "c/a": median(figure["c"] / figure["a"] for figure in figures),
        "b/c": median(figure["b"] / figure["c"] for figure in figures),
    }


def report() -> str:
    """Return the table."""
    figures = run(folder=os.environ.get("WEBANALYTICS_PAGES", ""))
    cores = len(os.sched_getaffinity(0))
    return "\n".join(
        [
            f"Milliseconds of processor time a page, one core of {cores}, {figures['pages']:.0f} pages in turns "
            f"of {CHUNK}, median of 5 rounds, each in new processes",
            f"  (a) trafilatura.extract(fast=True) alone          {figures['a']:7.2f}",
            f"  (b) hand-written notebook loop                    {figures['b']:7.2f}",
            f"  (c) webanalytics, all five analyses               {figures['c']:7.2f}",
            f"  (c)/(a) {figures['c/a']:.2f} (goal: at most 0.85)      (b)/(c) {figures['b/c']:.2f} (goal: at least 5)",
        ]
    )
