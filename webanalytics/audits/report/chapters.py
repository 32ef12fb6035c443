"""Chapters of the report beside its issues: languages, readability, keywords, pages that compete.

A chapter whose frame or columns are missing is left out; each figure says how many pages it is of.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import pandas as pd

from webanalytics.audits.directives.languages import primary, same_language
from webanalytics.audits.report.cells import Scalar, column
from webanalytics.audits.report.content import Content
from webanalytics.audits.report.tables import (
    Cell,
    Chapter,
    Table,
    and_more,
    headings,
    number,
    page_cell,
    page_link,
)
from webanalytics.audits.words import number as written
from webanalytics.audits.words import percent, phrase, points, say, several
from webanalytics.page.keywords.keyness import SUBJECT
from webanalytics.thresholds import AUDIENCES, SCALES_BY_NAME

MOST_LANGUAGES = 20
MOST_NAMED = 5
"""Most languages or pages that one cell names."""

MOST_RUNS, MOST_LISTED = 90, 12
"""Audits before that are drawn, and that are listed."""
MOST_TERMS = 15
MOST_PAIRS = 25
UNDETERMINED = "undetermined"


def chapters(
    content: Content, keywords: pd.DataFrame | None = None, cannibalisation: pd.DataFrame | None = None
) -> list[Chapter]:
    """Return the chapters of an audit of which anything is known."""
    made = (
        languages(content),
        readability(content),
        None if keywords is None else terms(content, keywords),
        None if cannibalisation is None else rivals(content, cannibalisation),
    )
    return [chapter for chapter in made if chapter is not None]


def over_time(history: pd.DataFrame | None) -> Iterator[Chapter]:
    """Yield the chapter of the audits before, where there are any."""
    if history is None or len(history) < 2:
        return
    runs = history.tail(MOST_RUNS)
    days = runs["date"].tolist()
    form = "%Y-%m-%d" if len({one.date() for one in days}) == len(days) else "%Y-%m-%d %H:%M"
    names = [f"{moment:{form}}" for moment in days]
    scores = [None if pd.isna(score) else float(score) for score in runs["score"]]
    line = [
        ((moment - days[0]) / (days[-1] - days[0]), score, f"{name}: {points(score)}")
        for moment, name, score, good in zip(days, names, scores, runs["good"], strict=True)
        if score is not None and good
    ]
    counts = (runs[name].tolist() for name in ("pages", "high", "medium", "low"))
    rows = [
        [Cell(name, say("Most pages were not read.") * (not good)), number(score, 1), *map(number, cells)]
        for name, good, score, *cells in zip(names, runs["good"], scores, *counts, strict=True)
    ][::-1]
    heads = headings("Day", "Score", "Pages", "High", "Medium", "Low", numbers=".nnnnn")
    table = Table(say("Audits"), "", heads, rows[:MOST_LISTED], and_more(len(rows), MOST_LISTED))
    note = say("Scores, and issues and warnings by priority, as they were counted on the day of each audit.")
    yield Chapter("over-time", say("Over time"), note, [table], line=line)


def languages(content: Content) -> Chapter | None:
    """Return which languages the pages declare, and which ones their texts are in."""
    if "language" not in content.pages:
        return None
    declared = [primary(value)[:40] for value in content.values("lang")]
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for row, (status, language) in enumerate(
        zip(content.values("status"), content.values("language"), strict=True)
    ):
        if status == "ok":
            groups[str(language or UNDETERMINED)].append(row)
    ordered = sorted(groups, key=lambda name: (name == UNDETERMINED, -len(groups[name]), name))
    total = sum(map(len, groups.values()))
    if not total:
        return None
    heads = headings(
        "Language of the text", "Pages", "Declared so", "Not declared", "Declared otherwise", numbers=".nnn"
    )
    rows = [_language(content, name, groups[name], declared, total) for name in ordered[:MOST_LANGUAGES]]
    note = several(
        "The language of the text of {n} page, and the one that the page declares: screen readers pronounce "
        "and browsers translate by it.",
        "The language of the text of {n} pages, and the one that each page declares: screen readers "
        "pronounce and browsers translate by it.",
        total,
    )
    table = Table(say("Languages"), "", heads, rows, and_more(len(ordered), MOST_LANGUAGES))
    return Chapter("languages", say("Languages"), note, [table], _unread(content))


def _unread(content: Content) -> list[tuple[str, int]]:
    return [(say("not read"), content.count - content.ok)] if content.count > content.ok else []


def _language(
    content: Content, language: str, rows: list[int], declared: list[str], total: int
) -> list[Cell]:
    known = language != UNDETERMINED
    others = [row for row in rows if known and declared[row] and not same_language(declared[row], language)]
    blank = sum(not declared[row] for row in rows)
    counts = Counter(declared[row] for row in others).most_common(MOST_NAMED)
    return [
        Cell(
            language if known else say(language),
            wanted={"language": language},
            language=language if known else "",
        ),
        Cell(written(len(rows)), percent(len(rows) / total), number=True),
        number(len(rows) - blank - len(others) if known else None),
        number(blank),
        Cell(
            ", ".join(f"{name}: {written(count)}" for name, count in counts) or "–",
            and_more(len(others), MOST_NAMED),
            pages=[page_link(content, row) for row in others[:MOST_NAMED]],
        ),
    ]


def readability(content: Content) -> Chapter | None:
    """Return how hard the pages are to read, each language on its own scale."""
    if not {"readability_score", "readability_note"} & content.pages.keys():
        return None
    scores, scales = content.values("readability_score"), content.values("readability_scale")
    audiences, notes = content.values("audience"), content.values("readability_note")
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    missing: Counter[str] = Counter()
    for row, (score, scale, language, status) in enumerate(
        zip(scores, scales, content.values("language"), content.values("status"), strict=True)
    ):
        if isinstance(score, (int, float)) and not isinstance(score, bool) and scale:
            groups[str(language or UNDETERMINED), str(scale)].append(row)
        else:
            missing[
                phrase(str(notes[row]))
                if status == "ok" and notes[row]
                else say("not scored" if status == "ok" else "not read")
            ] += 1
    missing[say("not read")] -= content.missing  # addresses without a page are none of its pages
    judged = sum(map(len, groups.values()))
    ordered = sorted(groups, key=lambda key: (-len(groups[key]), key))
    names = _audiences(audiences)
    rows = [_scale(content, *key, groups[key], names) for key in ordered[:MOST_LANGUAGES]]
    heads = headings(
        "Language and scale", "Pages", "Median", "Middle half", *names, "Hardest page",
        numbers=".nnn" + "n" * len(names),
    )  # fmt: skip
    note = several(
        "{judged} of {n} page can be judged, by the formula of its language.",
        "{judged} of {n} pages can be judged, each by the formula of its language. Scores compare pages of "
        "one scale; pages of different scales compare by the readers that they suit.",
        content.count,
        judged=written(judged),
    )
    table = Table(say("Readability"), "", heads, rows, and_more(len(ordered), MOST_LANGUAGES))
    return Chapter("readability", say("Readability"), note, [table] * bool(rows), (+missing).most_common(10))


def _audiences(found: Sequence[Scalar]) -> list[str]:
    known = {str(name) for name in found if name is not None}
    return [name for name in AUDIENCES if name in known]


def _scale(content: Content, language: str, scale: str, rows: list[int], names: list[str]) -> list[Cell]:
    scores, audiences = content.values("readability_score"), content.values("audience")
    low, middle, high = _quartiles(sorted(_value(scores[row]) for row in rows))
    counts = Counter(audiences[row] for row in rows)
    known = SCALES_BY_NAME.get(scale)
    hardest = max(rows, key=lambda row: _value(scores[row]) * (1 if known and known.rises else -1))
    return [
        Cell(language, phrase(scale), wanted={"language": language}, language=language),
        number(len(rows)),
        number(middle, 1),
        Cell(f"{written(low, 1)} – {written(high, 1)}" if len(rows) > 1 else "–", number=True),
        *(_tinted(counts[name], len(rows)) for name in names),
        Cell(written(_value(scores[hardest]), 1), pages=[page_link(content, hardest)])
        if known
        else Cell("–"),
    ]


def _quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def _tinted(count: int, of: int) -> Cell:
    return (
        Cell(written(count), number=True, tint=min(5, 1 + int(5 * count / of)))
        if count
        else Cell("·", number=True)
    )


def terms(content: Content, keywords: pd.DataFrame) -> Chapter | None:
    """Return the terms of most pages of a site, and the pages that have made terms their own."""
    if not {"keyword", "pages", "frequency"} <= set(keywords.columns) or not len(keywords):
        return None
    cells = {name: column(keywords, name) for name in (*_TERM_COLUMNS, "best_page", "distinctiveness")}
    tables = [_common(cells)]
    best = _best_pages(cells)
    if best:
        tables.append(_distinctive(content, cells, best))
    note = several(
        "The text of {n} page, without what most pages have.",
        "The texts of {n} pages, without what most pages have. The strength says how much more often a term "
        "stands on its best page than on all others (log-likelihood); chance alone exceeds 10.83 in one term "
        "of a thousand.",
        content.ok,
    )
    return Chapter("keywords", say("Keywords"), note, tables)


_TERM_COLUMNS = ("keyword", "pages", "frequency", "in_title", "in_h1")


def _value(value: Scalar) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _common(cells: dict[str, list[Scalar]]) -> Table:
    """Return the terms that stand on most pages, as their subjects: in the titles or headings of some too.

    What many pages say, and nearly none in its title or main heading, is a word that pages share whatever
    they are about.
    """
    ranked = sorted(
        range(len(cells["keyword"])),
        key=lambda row: (-_value(cells["pages"][row]), -_value(cells["frequency"][row])),
    )
    places = [[_value(value) for value in cells[name]] for name in _TERM_COLUMNS[3:]]

    def is_shared(row: int) -> bool:
        pages = _value(cells["pages"][row])
        return pages >= SUBJECT and SUBJECT * max(values[row] for values in places) < pages

    known = any(any(values) for values in places)
    rows = [row for row in ranked if not (known and is_shared(row))]
    shared = [str(cells["keyword"][row]) for row in ranked if known and is_shared(row)][:MOST_NAMED]
    left = say("In many texts, and in few titles: {terms}.", terms=", ".join(shared)) if shared else ""
    heads = headings("Term", "Pages", "Times", "In titles", "In h1", numbers=".nnnn")
    lines = [
        [Cell(str(cells["keyword"][row])), *(number(cells[name][row]) for name in _TERM_COLUMNS[1:])]
        for row in rows[:MOST_TERMS]
    ]
    return Table(say("On many pages"), "", heads, lines, left)


def _best_pages(cells: dict[str, list[Scalar]]) -> dict[Scalar, list[int]]:
    scores = cells["distinctiveness"]
    own = sorted(
        (row for row, score in enumerate(scores) if _value(score) > 0), key=lambda r: -_value(scores[r])
    )
    pages: dict[Scalar, list[int]] = {}
    for row in own:
        page = cells["best_page"][row]
        if page is not None:
            pages.setdefault(page, []).append(row)
    return pages


def _distinctive(content: Content, cells: dict[str, list[Scalar]], best: dict[Scalar, list[int]]) -> Table:
    heads = headings("Best page", "Distinctive terms", "Strength", numbers="..n")
    lines = [
        [
            page_cell(content, page, address=False),
            Cell(", ".join(str(cells["keyword"][row]) for row in rows[:MOST_NAMED])),
            number(cells["distinctiveness"][rows[0]], 1),
        ]
        for page, rows in list(best.items())[:MOST_TERMS]
    ]
    return Table(say("Distinctive of one page"), "", heads, lines, and_more(len(best), MOST_TERMS))


def rivals(content: Content, frame: pd.DataFrame) -> Chapter | None:
    """Return the pages that compete with each other."""
    if not {"keyword", "url", "rival"} <= set(frame.columns):
        return None
    names = ("keyword", "shared", "score", "url", "places", "frequency")
    cells = {name: column(frame, name) for name in (*names, "rival", "rival_places", "rival_frequency")}
    rows = [
        [
            Cell(str(cells["keyword"][row]), _shared(cells["shared"][row], cells["keyword"][row])),
            number(cells["score"][row], 2),
            page_cell(content, cells["url"][row], _standing(cells["places"][row], cells["frequency"][row])),
            page_cell(
                content,
                cells["rival"][row],
                _standing(cells["rival_places"][row], cells["rival_frequency"][row]),
            ),
        ]
        for row in range(min(len(frame), MOST_PAIRS))
    ]
    note = say(
        "Pages of one host and language whose titles, main headings and texts are about the same terms, so "
        "that search engines have to choose; the score is 1 where all terms are the same. Merge them, or let "
        "each answer a question of its own."
    )
    if not rows:
        note = say("No two pages are about the same terms in their titles, main headings and texts.")
    heads = headings("Both are about", "Score", "Page", "Competes with", numbers=".n")
    table = Table(say("Pages that compete"), "", heads, rows, and_more(len(frame), MOST_PAIRS))
    return Chapter("cannibalisation", say("Competing pages"), note, [table] * bool(rows))


def _shared(shared: Scalar, keyword: Scalar) -> str:
    return say("shared: {terms}", terms=str(shared)) if shared and shared != keyword else ""


def _standing(places: Scalar, frequency: Scalar) -> str:
    known = isinstance(frequency, (int, float)) and frequency > 1
    times = several("{n} time", "{n} times", int(_value(frequency))) if known else ""
    return ", ".join(part for part in (*map(say, str(places or "").split(", ")), times) if part)
