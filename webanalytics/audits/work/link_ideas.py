"""Links that a site lacks: words on one page that name another one, and lead nowhere yet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from webanalytics.audits.content.nearest import Beside, Vocabulary
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import ParameterError, whole_number
from webanalytics.page.keywords.stopwords import stop_words_of
from webanalytics.runs.frames.link_table import POSITIONS
from webanalytics.runs.frames.schema import frame_of

COLUMNS: Mapping[str, Dtype] = {
    **{"target": "string", "source": "string", "anchor": "string", "sentence": "string"},
    **{"similarity": "float", "words": "object"},
    **{"target_inlinks": "integer", "target_depth": "integer", "target_clicks": "float"},
}
LONGEST_NAME = 8
"""Words of a name of a page; longer titles are sentences that nobody repeats."""
MOST_NAMED = 3
"""Pages that may share a name: what names more of them names none."""
COMMON = 0.1
"""Share of the pages that have a single word, from which on it names no page."""
LEAST, LEAST_OF_WORD = 0.05, 0.1
"""Similarity below which two pages have nothing to do with each other; the same for a name of one word."""
FEWEST_CALLS = 2
"""Pages that call another one so in a link, from which on it is a name."""
FEWEST_STOPS = 12
"""A sentence has more than one stop word for so many words; a list of names has none."""
FEWEST = 4
"""Words of a sentence besides the name: a line that has fewer is a heading, or an entry of a list."""
SHOWN = 240
"""Characters of a sentence that are shown."""
READ = 500
"""Characters behind a name in which its sentence ends; a longer one is judged by them."""

Name = tuple[str, ...]
Known = Mapping[str, Sequence[tuple[int, set[Name]]]]
"""Names by their first word, and then by how many they have, the longest first."""
_WORD = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"\s+[|–—·:-]\s+|:\s+")
"""Between the parts of a title, such as the site's name at its end."""
_APART = re.compile(r"[^\w\s.'’/–-]|[.]\s")
"""What stands between two sentences, or in program code, but inside no name."""
_CODE = re.compile(r"[][(){}=;<>*\\|]|\w[._]\w")
_IMPORT = re.compile(r"\bfrom \S+ import\b")
_JOINED, _JOINED_BEFORE = re.compile(r"_|[(=]|[./-]\w"), re.compile(r"_$|\w[./-]$")
_ENDS = (". ", "! ", "? ", "\n")
_MENUS = frozenset(POSITIONS.index(name) for name in ("head", "header", "nav", "footer", "http"))


class _Found(NamedTuple):
    """A place where a page names another one."""

    source: int
    start: int
    end: int


def link_ideas(site: Site, to: Any, per_page: int) -> pd.DataFrame:
    """Return the frame of `Audit.link_ideas`."""
    whole_number("per_page", per_page, 1)
    pages = list(site.distinct)
    targets = _chosen(site, to, pages)
    contents = {row: content.text or "" for row, content in enumerate(site.contents())}
    vocabulary = Vocabulary()
    described = vocabulary.of_site(site, pages)
    weighed = [page.words for page in described]
    beside = Beside(weighed, weighed, len(vocabulary.words))
    linked, anchors = _links(site)
    place_of = {row: place for place, row in enumerate(pages)}
    rows: list[tuple[float, dict[str, Any]]] = []
    words = list(vocabulary.words)
    for target, found in _named(site, pages, targets, contents, anchors).items():
        ideas = []
        for one in found:
            here, there = place_of[one.source], place_of[target]
            spoken = {described[here].language, described[there].language} - {""}
            score = beside.cosine(there, here)
            least = LEAST if _words(contents, one) else LEAST_OF_WORD
            if (one.source, target) not in linked and len(spoken) < 2 and score >= least:
                ideas.append((score, one))
        ideas.sort(key=lambda idea: (-idea[0] * (1 + _words(contents, idea[1])), idea[1].source))
        for score, one in ideas[:per_page]:
            shared = beside.shared(place_of[target], place_of[one.source])
            told = _told(site, target, one, contents[one.source])
            rows.append((score, told | {"similarity": score, "words": [words[number] for number in shared]}))
    rows.sort(key=lambda row: -row[0])
    return frame_of(COLUMNS, (row for _, row in rows))


def _chosen(site: Site, to: Any, pages: Sequence[int]) -> set[int]:
    """Return the rows of the pages that shall be linked to."""
    if to is None:
        return set(pages)
    given = [to] if isinstance(to, str) else list(to) if isinstance(to, Iterable) else []
    targets = [site.find(url) for url in given]
    found = {site.addresses.page(target) for target in targets if target is not None}
    if not given or None in targets or not found <= set(pages):
        raise ParameterError.must_be("to", "addresses of pages of the audit that may be indexed")
    return found


def _links(site: Site) -> tuple[set[tuple[int, int]], dict[int, list[tuple[int, str]]]]:
    """Return which pages link to which outside of menus, and for each page the anchors of its links."""
    graph = site.graph
    table = graph.table
    chosen = np.flatnonzero(graph.of_kind("link") & ~np.isin(table.position, list(_MENUS)))
    sources, ends = graph.row[table.source[chosen]], graph.page[table.target[chosen]]
    linked: set[tuple[int, int]] = set()
    anchors: dict[int, list[tuple[int, str]]] = {}
    texts = table.anchor[chosen].tolist()
    for source, target, text in zip(sources.tolist(), ends.tolist(), texts, strict=True):
        if source >= 0:
            linked.add((source, target))
            anchors.setdefault(source, []).append((target, table.anchors[text]))
    return linked, anchors


def _named(
    site: Site,
    pages: Sequence[int],
    targets: set[int],
    contents: Mapping[int, str],
    anchors: Mapping[int, list[tuple[int, str]]],
) -> dict[int, list[_Found]]:
    """Return where the contents of pages name each target, once a page: by its longest name."""
    codes = {str(code or "en") for code in site.values("language")}
    stops = frozenset(word for code in codes for word in stop_words_of(code))
    names = _names(site, pages, anchors, stops)
    spread = Counter(word for row in pages for word in set(_name(contents[row])))
    most = max(2.0, COMMON * len(pages))
    known = _by_first_word(
        name
        for name, rows in names.items()
        if (len(name) > 1 or (len(name[0]) > 3 and spread[name[0]] <= most))
        and len(rows) <= MOST_NAMED
        and rows & targets
    )
    found: dict[int, dict[int, tuple[int, _Found]]] = {}
    for row in pages:
        text = _lower(contents[row])
        # which of several places of the same words is the link, nobody knows
        done = {name for _, anchor in anchors.get(row, ()) for _, name in _occurrences(_name(anchor), known)}
        told = f" {' | '.join(' '.join(_name(text)) for text in _headed(site, row))} "
        words = list(_WORD.finditer(text))
        for place, name in _occurrences([word[0] for word in words], known):
            if name in done:
                continue
            if f" {' '.join(name)} " in told:
                done.add(name)  # the page has a chapter on it
                continue
            one = _Found(row, words[place].start(), words[place + len(name) - 1].end())
            if not (_is_whole(text, one) and _is_said(_sentence(text, one), len(name), stops)):
                continue
            done.add(name)
            for target in names[name] & targets - {row}:
                best = found.setdefault(target, {})
                if row not in best or best[row][0] < len(name):
                    best[row] = (len(name), one)
    return {target: [one for _, one in best.values()] for target, best in found.items()}


def _by_first_word(names: Iterable[Name]) -> Known:
    found: dict[str, dict[int, set[Name]]] = {}
    for name in names:
        found.setdefault(name[0], {}).setdefault(len(name), set()).add(name)
    return {word: sorted(sizes.items(), reverse=True) for word, sizes in found.items()}


def _occurrences(words: Sequence[str], known: Known) -> Iterator[tuple[int, Name]]:
    """Yield where names stand among the words of a text, the longest at each place."""
    place = 0
    while place < len(words):
        for size, names in known.get(words[place], ()):
            if (name := tuple(words[place : place + size])) in names:
                yield place, name
                place += size - 1
                break
        place += 1


def _lower(text: str) -> str:
    """Return a text in lower case, as long as it was: one letter alone would become two."""
    return text.replace("İ", "i").lower()


def _name(text: str) -> Name:
    return tuple(_WORD.findall(_lower(text)))


def _names(
    site: Site, pages: Sequence[int], anchors: Mapping[int, list[tuple[int, str]]], stops: frozenset[str]
) -> dict[Name, set[int]]:
    """Return the names of pages: parts of titles, main headings, and what links to them already say."""
    found: dict[Name, set[int]] = {}
    for row in pages:
        headings = site.values("headings")[row]
        tops = [entry.get("text") for entry in headings or () if entry.get("level") == "h1"][:3]
        for text in (site.values("title")[row], *tops):
            if isinstance(text, str):
                for part in (text, *_BREAK.split(text)):
                    found.setdefault(_name(part), set()).add(row)
    own = set(pages)
    called = Counter(
        (name, target)
        for links in anchors.values()
        for target, name in {
            (target, _name(text)) for target, text in links if target in own and not _CODE.search(text)
        }
        if name and not stops & {name[0], name[-1]}
    )
    for (name, target), times in called.items():
        if times >= FEWEST_CALLS:
            found.setdefault(name, set()).add(target)
    return {
        name: rows
        for name, rows in found.items()
        if 0 < len(name) <= LONGEST_NAME and not stops.issuperset(name) and not "".join(name).isdecimal()
    }


def _headed(site: Site, row: int) -> Iterator[str]:
    texts = (site.values("title")[row], *(entry.get("text") for entry in site.values("headings")[row] or ()))
    return (text for text in texts if isinstance(text, str))


def _sentence(text: str, one: _Found) -> str:
    first, last = max(0, one.start - SHOWN // 2), one.end + READ
    start = max(text.rfind(end, first, one.start) for end in _ENDS) + 1
    ends = [place for end in _ENDS if (place := text.find(end, one.end, last)) >= 0]
    return text[max(start, first) : min([*ends, last]) + 1]


def _is_whole(text: str, one: _Found) -> bool:
    """Return whether a name stands by itself: in one sentence, and in no longer name of a program."""
    joined = _JOINED.match(text, one.end) or _JOINED_BEFORE.search(text, max(0, one.start - 2), one.start)
    return not (joined or _APART.search(text, one.start, one.end))


def _is_said(sentence: str, size: int, stops: frozenset[str]) -> bool:
    """Return whether a text around a name of some words is a sentence: no heading, list or program code."""
    words, signs = sentence.lower().split(), len(_CODE.findall(sentence))
    said = not stops or sum(word in stops for word in words) > len(words) // FEWEST_STOPS
    return said and len(words) >= size + FEWEST and 2 * signs < len(words) and not _IMPORT.search(sentence)


def _words(contents: Mapping[int, str], one: _Found) -> int:
    return contents[one.source].count(" ", one.start, one.end)


def _told(site: Site, target: int, one: _Found, text: str) -> dict[str, Any]:
    clicks = site.values("clicks")[target]
    depth = site.values("crawl_depth")[target]
    return {
        "target": site.name(target),
        "source": site.name(one.source),
        "anchor": one_line(text[one.start : one.end]),
        "sentence": shortened(one_line(_sentence(text, one)), SHOWN),
        "target_inlinks": site.values("inlinks")[target],
        "target_depth": depth,
        "target_clicks": clicks if isinstance(clicks, (int, float)) else None,
    }
