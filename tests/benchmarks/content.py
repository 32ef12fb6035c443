"""Word F1 of the content by type of page, beside other extractors, on the pages of WCXB; and the worst pages.

``WEBANALYTICS_WCXB`` names the folder (``html/``, ``ground-truth/``, ``types.json``). The package's models were trained
on these pages: what they score here is no measure of them. That is what ``data/content/train.py --report`` prints,
where each page is read by models that have seen no page of its site. The peers were trained on nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

from tests.benchmarks.corpus import corpus_pages
from webanalytics.page.content.content import Content, content
from webanalytics.page.page import Page
from webanalytics.page.text.text import analyse

WORD = re.compile(r"\w+")
Read = Callable[[bytes], str]
Scores = dict[str, dict[str, list[float]]]


def folder() -> Path | None:
    """Return where the pages are, None if they are not here."""
    named = os.environ.get("WEBANALYTICS_WCXB", "")
    corpus = os.environ.get("WEBANALYTICS_CORPUS", "")
    places = [Path(named)] if named else [Path(corpus).parent / "wcxb"] if corpus else []
    return next((place for place in places if (place / "types.json").exists()), None)


def word_f1(text: str, truth: str) -> float:
    """Return the F1 of precision and recall over lower-cased words, counted: the rule of the benchmark.

    Examples
    --------
    >>> word_f1("Green tea, tea", "green tea")
    0.8
    """
    ours, theirs = Counter(WORD.findall(text.lower())), Counter(WORD.findall(truth.lower()))
    common = (ours & theirs).total()
    return 2 * common / (ours.total() + theirs.total()) if common else 0.0


PEERS = ("trafilatura", "resiliparse", "readability", "newspaper", "rs_trafilatura")
"""Modules of the other extractors; only the first is a dependency of the package."""


def peers() -> Iterator[tuple[str, Read]]:
    """Yield the other extractors that are installed."""
    try:
        import trafilatura

        yield (
            "trafilatura fast",
            lambda page: trafilatura.extract(page, fast=True, include_comments=False) or "",
        )
        yield "trafilatura", lambda page: trafilatura.extract(page, include_comments=False) or ""
        yield "trafilatura recall", lambda page: trafilatura.extract(page, favor_recall=True) or ""
    except ImportError:
        pass
    try:
        from resiliparse.extract.html2text import extract_plain_text

        yield (
            "resiliparse",
            lambda page: extract_plain_text(
                page.decode("utf-8", "replace"), main_content=True, alt_texts=False
            ),
        )
    except ImportError:
        pass
    try:
        from lxml.html import fromstring
        from readability import Document

        yield (
            "readability-lxml",
            lambda page: fromstring(Document(page.decode("utf-8", "replace")).summary()).text_content(),
        )
    except ImportError:
        pass
    try:
        import tldextract
        from newspaper import Article

        # Neither the list of public suffixes nor pictures are fetched.
        tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())

        def newspaper(page: bytes) -> str:
            article: Any = Article("https://site.example/", fetch_images=False, follow_meta_refresh=False)
            article.download(input_html=page.decode("utf-8", "replace"))
            article.parse()
            return str(article.text)

        yield "newspaper4k", newspaper
    except ImportError:
        pass
    try:
        import rs_trafilatura

        # It looks at addresses as well, where it is given them; here nobody is.
        yield (
            "rs-trafilatura",
            lambda page: rs_trafilatura.extract(page.decode("utf-8", "replace")).main_content or "",
        )
    except ImportError:
        pass


def pages(place: Path) -> Iterator[tuple[str, str, str, bytes, str]]:
    """Yield name, type, address, page and truth."""
    for name, kind in json.loads((place / "types.json").read_text("utf-8")).items():
        stored = json.loads((place / f"ground-truth/{name}.json").read_text("utf-8"))
        with gzip.open(place / f"html/{name}.html.gz") as file:
            yield name, kind, stored["url"], file.read(), stored["ground_truth"]["main_content"]


def cause(found: Content, ours: str, truth: str) -> str:
    """Return in a word what is wrong with a text."""
    if not ours:
        return found.note or "empty"
    words, wanted = Counter(WORD.findall(ours.lower())), Counter(WORD.findall(truth.lower()))
    common = (words & wanted).total()
    precision, recall = common / max(words.total(), 1), common / max(wanted.total(), 1)
    if recall < 0.3 and precision < 0.3:
        return "another part of the page"
    if recall < precision:
        return f"misses {1 - recall:.0%}"
    return f"takes {words.total() / max(wanted.total(), 1):.1f} times as much"


def strings_f1(readers: dict[str, Read]) -> list[str]:
    """Return the F1 of strings that belong and do not belong to the saved articles, and of those not in English."""
    corpus = os.environ.get("WEBANALYTICS_CORPUS", "")
    if not corpus:
        return []
    known = json.loads((Path(corpus) / "text_segments.json").read_text("utf-8"))
    found: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for name, html in corpus_pages().items():
        page = Page(html, known[name]["url"])
        texts = {"webanalytics": content(page).text}
        for other, read in readers.items():
            texts[other] = _read(read, html)
        groups = ["all"] if analyse(page)["language"] == "en" else ["all", "not English"]
        for reader, text in texts.items():
            for group in groups:
                counts = found[reader][group]
                counts["pages"] += 1
                counts["right"] += sum(string in text for string in known[name]["with"])
                counts["missing"] += sum(string not in text for string in known[name]["with"])
                counts["wrong"] += sum(string in text for string in known[name]["without"])
    lines = ["F1 of the strings of the saved articles:"]
    for reader, groups_of in found.items():
        said = (
            f"{group} ({counts['pages']}) "
            f"{2 * counts['right'] / (2 * counts['right'] + counts['missing'] + counts['wrong']):.3f}"
            for group, counts in groups_of.items()
        )
        lines.append(f"  {reader:20} {', '.join(said)}")
    return lines


def _read(read: Read, page: bytes) -> str:
    """Return the text of a page, empty where a reader fails on it."""
    try:
        return read(page)
    except Exception:
        return ""


def ahead(scores: Scores, least: float = 0.01) -> list[str]:
    """Return where another extractor is ahead of ours, by how much."""
    own = scores["webanalytics"]
    return [
        f"  {kind}: {reader} by {mean(by[kind]) - mean(own[kind]):.3f}"
        for reader, by in scores.items()
        for kind in sorted(own)
        if mean(by[kind]) - mean(own[kind]) >= least
    ]


def report() -> str:
    """Return the tables."""
    place = folder()
    if place is None:
        return "content: WEBANALYTICS_WCXB names no folder"
    readers = dict(peers())
    scores: Scores = defaultdict(lambda: defaultdict(list))
    sure: list[tuple[float, float]] = []
    worst: list[tuple[float, str]] = []
    for name, kind, url, page, truth in pages(place):
        found = content(Page(page, url))
        score = word_f1(found.text, truth)
        scores["webanalytics"][kind].append(score)
        sure.append((found.confidence, score))
        said = f"{name} {kind} (read as {found.page_type}, {found.confidence:.2f}) {url[:60]}"
        worst.append((score, f"{score:.2f} {said}: {cause(found, found.text, truth)}"))
        for other, read in readers.items():
            scores[other][kind].append(word_f1(_read(read, page), truth))
    kinds = sorted(scores["webanalytics"])
    lines = [f"{'word F1':20} {'all':>7} " + " ".join(f"{kind[:8]:>8}" for kind in kinds)]
    for reader, by in scores.items():
        everything = mean(score for found in by.values() for score in found)
        lines.append(f"{reader:20} {everything:7.3f} " + " ".join(f"{mean(by[kind]):8.3f}" for kind in kinds))
    absent = [name for name in PEERS if not find_spec(name)]
    lines += [f"not installed: {', '.join(absent)}"] * bool(absent)
    lines += ["another one is ahead by a hundredth or more:", *ahead(scores), *strings_f1(readers)]
    lines.append("confidence, pages, share with F1 above 0.8:")
    for step in range(10):
        inside = [
            score > 0.8
            for value, score in sure
            if step / 10 <= value < (step + 1) / 10 or value == 1 == step / 9
        ]
        if inside:
            lines.append(f"  {step / 10:.1f} {len(inside):5} {mean(inside):6.2f}")
    return "\n".join([*lines, "the 30 worst:", *(line for _, line in sorted(worst)[:30])])
