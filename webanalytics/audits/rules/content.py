"""Rules for the text of a page: how much of its own, how well it reads, and which pages have the same.

How much there is of it is told by what the page has of its own (`audits.content.shared_blocks`). What judges
sentences looks at the main text, and leaves out one without any: the column ``readability_note`` says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from webanalytics.audits.content.duplicates import MINIMUM_WORDS, THRESHOLD
from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.content.shared_blocks import difference
from webanalytics.audits.content.words import PORTION, SHARED_FROM, score_texts, words_in
from webanalytics.audits.directives.languages import same_language
from webanalytics.audits.rules.base import Finding, PageByPage
from webanalytics.audits.rules.crawl import later_in_series, later_pages
from webanalytics.audits.rules.declarations import rules_of
from webanalytics.audits.site import Site
from webanalytics.runs.storage.temporary_texts import SpilledSequence
from webanalytics.runs.workers.shared import shared_out
from webanalytics.thresholds import SCALES_BY_NAME, not_prose

VERY_DIFFICULT = 30
"""Flesch reading ease below which a text is very difficult (Flesch, How to Write Plain English, 1979)."""

ENOUGH_LETTERS = 200
"""From this many letters of text, the detected language is considered certain."""

SURELY = 0.9
"""Share of the least words below which a main text is surely short: on a page alone, template is guessed."""

MOST = 0.9
"""Share of a text in sentences from which on its lists do not matter to how well it reads."""

# Alone the two words may be a subject: a menu has "Lorem ipsum generator".
# Behind an opening bracket it is what a piece of code prints.
_LOREM = re.compile(
    r"""(?<![({\[=])(?<![({\[=] )(?<![({\[=]["'])\blorem\s+ipsum\s+dolor\b|^\W*lorem\s+ipsum\W*$""",
    re.IGNORECASE | re.MULTILINE,
)
_ENDS, _CLOSING = tuple(".!?…。！？؟।"), "\"'”’“»«)]"
_LANGUAGE = re.compile(r"\s*([a-z]{2})(?:[-_].*)?", re.IGNORECASE | re.DOTALL)

_SCRIPTS = 'Scripts may bring its content: `render="auto"` lets a browser run them.'
# Their words are a matter of definition: a limit in words does not hold for them.
WITHOUT_SPACES = frozenset(("zh", "ja", "th", "lo", "km", "my", "bo"))


def _empty(site: Site, _: Any) -> Iterator[Finding]:
    for row, visible, main, scripts, rendered in site.read("visible_text", "text", "scripts", "rendered"):
        if not (visible or main or "").strip() and (visible, main) != (None, None):
            yield Finding(row, evidence=_SCRIPTS if scripts and rendered is not True else "")
    for row, key in enumerate(site.values("error_key")):
        if key == "page_empty" and site.addresses.first(row):
            yield Finding(row, evidence="The body of the answer is empty.")


@PageByPage
def _low(site: Site, threshold: float) -> Iterator[Finding]:
    columns = ("content_words", "language", "final_url", "rendered", *CONTENT_COLUMNS)
    for row, words, language, url, rendered, *said in site.read(*columns):
        if words is None or language in WITHOUT_SPACES or words >= threshold:
            continue
        if words:
            content, lead = site.shared_blocks.content(url, *said), ""
            text, note = content.text or "", said[-1]
            if note == "by_scripts" and rendered is not True:
                if content.origin != "own":
                    continue  # and nobody knows what scripts bring
                lead = "Next to nothing is shown before scripts run, perhaps not all there is: "
            elif content.origin == "main":
                shown = words_in(said[0] or "")
                if shown >= threshold and (note or words >= SURELY * threshold):
                    continue  # and nobody knows how much of it is the page's own
                if note:
                    lead, text = f"The page shows {shown:,} words in all: ", said[0] or text
            yield Finding(row, words, f"{lead}{text}"[:500])
        elif any(said[:2]):
            yield Finding(row, words, "All that the page shows stands on most pages of the site.")


def _hard(site: Site, limit: float, least: float) -> Iterator[Finding]:
    columns = ("language", "final_url", *CONTENT_COLUMNS, *_SCORED)
    found: dict[int, tuple[Any, ...]] = {}
    known: dict[int, tuple[Any, ...]] = site.once("judged texts", dict)  # two rules ask for the same ones

    def mixed() -> Iterator[tuple[list[int], tuple[list[tuple[str, str]]]]]:
        """Yield texts to be scored: the columns take the items of a list for one sentence."""
        portion: dict[int, tuple[str, str]] = {}
        for row, language, url, visible, main, note, *given in site.read(*columns):
            ease, _ = _ease(*given[2:])
            if ease is None or ease >= limit or not_prose(*given[:2]):
                continue
            if (judged := known.get(row)) is None:
                text = site.shared_blocks.content(url, visible, main, note).text or ""
                is_list = 2 * len(_sentences(text)) < len(text)  # of names, which has no sentences
                judged = () if is_list else tuple(given)
                if judged and len(said := _sentences(main or "")) < MOST * len(main or ""):
                    portion[row] = said, language or "en"
                else:
                    known[row] = judged
            if judged:
                found[row] = judged
            if len(portion) == PORTION:
                yield list(portion), (list(portion.values()),)
                portion = {}
        if portion:
            yield list(portion), (list(portion.values()),)

    # workers score some while more are looked for
    for rows, scores in shared_out(score_texts, mixed(), len(site.pages) >= SHARED_FROM):
        for row, score in zip(rows, scores, strict=True):
            known[row] = found[row] = tuple(map(score.__getitem__, _SCORED))
    for row, (words, sentences, *given) in found.items():
        ease, evidence = _ease(*given)
        if ease is not None and least <= ease < limit and not not_prose(words, sentences):
            yield Finding(row, ease, evidence)


_SCORED = (
    *("wordCount", "sentenceCount"),
    *("fleschReadingEase", "fleschReadingEaseText", "readability_score", "readability_scale"),
)


def _ease(ease: Any, name: str | None, score: float | None, scale: str | None) -> tuple[float | None, str]:
    """Return the Flesch reading ease, or what stands for it on another scale, and what it is called."""
    if ease is None and score is not None and scale in SCALES_BY_NAME:
        return round(SCALES_BY_NAME[scale].ease(score), 2), f"{scale} {score:.1f}"
    return ease, f"{name or ''}, {scale}" if scale else name or ""


def _sentences(text: str) -> str:
    """Return the lines of a text that end as sentences do."""
    # most lines end with a letter or a digit, so they are asked no more
    lines = [line for line in text.split("\n") if not line[-1:].isalnum()]
    return "\n".join([line for line in lines if line.rstrip().rstrip(_CLOSING).endswith(_ENDS)])


@PageByPage
def _lorem_ipsum(site: Site, _: Any) -> Iterator[Finding]:
    for row, *texts in site.read("visible_text", "text", "title", "description"):
        for text in texts:
            # the expression alone would take most of the time of all rules
            if text and ("psum" in text or "PSUM" in text) and (found := _LOREM.search(text)):
                yield Finding(row, evidence=text[max(0, found.start() - 40) : found.end() + 100])
                break


@PageByPage
def _language_differs(site: Site, _: Any) -> Iterator[Finding]:
    from webanalytics.page.text.language import detect  # it takes the model along

    columns = ("lang", "language", "text", "wordCount", "sentenceCount")
    for row, declared, detected, text, words, sentences in site.read(*columns):
        named = _LANGUAGE.fullmatch(declared or "")
        if not named or not detected or not_prose(words, sentences):
            continue
        known = sum(map(str.isalpha, (text or "")[: 10 * ENOUGH_LETTERS])) >= ENOUGH_LETTERS
        if known and not same_language(named[1].lower(), detected):
            # bylines, headings and lists of names are in any language
            lines = (text if detected in WITHOUT_SPACES else _sentences(text)).split("\n")
            shown = max(lines, key=len)[:150]
            if shown and not same_language(named[1].lower(), detect(shown) or detected):
                yield Finding(row, evidence=f"declared {declared.strip()}, written in {detected}: {shown}")


def _shared(site: Site, _: Any, texts_of: Callable[[Site], Sequence[Any]]) -> Iterator[Finding]:
    later, firsts, urls = later_in_series(site), later_pages(site), site.addresses.final
    for group in site.alike(values := texts_of(site)):
        alike = set(group)
        own = [row for row in reversed(group) if later.get(row) not in alike]
        group = sorted({firsts.get(row) or urls[row] or str(row): row for row in own}.values())
        for row in group if len(group) > 1 else ():
            yield Finding(row, values[row], f"Also on {site.others(group, row)}")


def _exact(site: Site, _: Any) -> Iterator[Finding]:
    words, notes = site.values("content_words"), site.values("content_note")
    for group in site.alike(site.values("content_hash")):
        judged = [row for row in group if words[row] >= MINIMUM_WORDS and notes[row] != "by_scripts"]
        for alike in _by_language(site, judged):
            for row in alike:
                yield Finding(row, len(alike), f"Same text as {site.others(alike, row)}")


def _near(site: Site, threshold: Any) -> Iterator[Finding]:
    groups: dict[int, list[int]] = {}
    for row, cluster in enumerate(_clusters(site, float(threshold))):
        if cluster is not None:
            groups.setdefault(int(cluster), []).append(row)
    if not groups:
        return
    in_one = {row for group in groups.values() for row in group}
    texts = SpilledSequence(content.text for content in site.contents(in_one))
    hashes = site.values("content_hash")
    for cluster in (own for group in groups.values() for own in site.by_domain(group)):
        for alike in _by_language(site, cluster):
            first = alike[0]
            second = next((row for row in alike if hashes[row] != hashes[first]), None)
            if second is None:
                continue  # pages with exactly the same text are left to another rule
            for row in alike:
                other = first if hashes[row] != hashes[first] else second
                more = f" and {len(alike) - 2:,} more" if len(alike) > 2 else ""
                parts = difference(texts[row], texts[other]) or "The same main text, and more beside it"
                yield Finding(row, len(alike), f"{parts}, on {site.name(other)}{more}")


def _by_language(site: Site, group: Sequence[int]) -> Iterator[list[int]]:
    """Yield the pages of a group that declare one language, or none; what declares none is with the first."""
    found: dict[str, list[int]] = {}
    langs = site.values("lang")
    declared = {row: (langs[row] or "").strip().lower() for row in group}
    first = next(filter(None, declared.values()), "")
    for row, lang in declared.items():
        found.setdefault(lang or first, []).append(row)
    return (rows for rows in found.values() if len(rows) > 1)


def _clusters(site: Site, threshold: float) -> Sequence[Any]:
    if threshold == 100 * THRESHOLD:
        return site.values("near_duplicate_cluster")
    from webanalytics.audits.pages import near_clusters

    return near_clusters(site, site.indexable, threshold)


def first_headings(site: Site) -> list[str | None]:
    """Return the first main heading of each page."""
    return [
        next((entry["text"] for entry in headings or () if entry["level"] == "h1"), None)
        for headings in site.values("headings")
    ]


ALIKE: Mapping[str, Callable[[Site], Sequence[Any]]] = {
    "title_duplicate": lambda site: site.values("title"),
    "description_duplicate": lambda site: site.values("description"),
    "h1_duplicate": first_headings,
}
"""Rules on texts that pages have in common, and these texts."""

RULES = rules_of(
    __name__,
    {
        "content_empty": _empty,
        "content_low": _low,
        "readability_difficult": PageByPage(partial(_hard, least=VERY_DIFFICULT)),
        "readability_very_difficult": PageByPage(partial(_hard, least=-math.inf)),
        "lorem_ipsum": _lorem_ipsum,
        "language_differs": _language_differs,
        "duplicate_page": _exact,
        "near_duplicate": _near,
        **{name: partial(_shared, texts_of=texts_of) for name, texts_of in ALIKE.items()},
    },
)
