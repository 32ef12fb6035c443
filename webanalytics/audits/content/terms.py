"""The words and phrases of an audit's pages: counted from what the audit holds, and compared by pages.

`Audit.keywords` shows them; `audits.cannibalisation` and `audits.content_gap` build on the same counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from webanalytics.audits.content.shared_blocks import COLUMNS as CONTENT_COLUMNS
from webanalytics.audits.content.vocabulary import LONGEST, Numbers, PageTerms, Vocabulary
from webanalytics.audits.content.words import PORTION, SHARED_FROM
from webanalytics.audits.graph.metrics import once
from webanalytics.audits.site import Site
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError, choice
from webanalytics.operations import KEYWORDS
from webanalytics.page.keywords.keyness import PLACES, keyness
from webanalytics.runs.boundary import watched
from webanalytics.runs.frames.schema import make_columns, make_series

if TYPE_CHECKING:
    from webanalytics.audits.content.counting import Portion, Texts

    Page: TypeAlias = tuple[Hashable, str, tuple[int, str], Texts]
    """A page that is counted: its group, its language, its row and name, and its texts."""

Scores = npt.NDArray[np.float64]

TOP_OF_PAGE, TOP_OF_SITE = 20, 200
"""Most terms shown of a page and of a site."""

KEPT_LENGTHS = (3, 4)
"""Fewest letters of terms that are counted once, for all that asks for so many letters."""

PORTION_CHARACTERS = 2_000_000
"""About the most characters that are counted together."""


@dataclass(eq=False)
class Terms:
    """The terms of several pages, each of them once: they hold numbers of a common vocabulary."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    pages: list[PageTerms] = field(default_factory=list)

    def add(self, language: str, rows: Iterable[tuple[int, str]], portion: Portion) -> None:
        """Add pages that were counted together, of so many rows and names."""
        numbers = self.vocabulary.numbers(portion.names.splitlines(), portion.hashes)
        found = portion.found._replace(terms=numbers[portion.found.terms])
        for (row, name), page in zip(rows, found.pages(), strict=True):
            self.pages.append(page._replace(row=row, name=name, language=language))

    def settle(self) -> Terms:
        """Forget the phrases that pages have once and no page twice, when all pages are known."""
        known = once(self.vocabulary.hashes)
        last = np.uint64(2**22 - 1)
        may_be = np.zeros(2**22, bool)  # by the last bits of hashes, which rule out most
        may_be[known & last] = True
        for number, page in enumerate(self.pages if len(known) else ()):
            phrases = page.once[may_be[page.once & last]]
            places = np.minimum(np.searchsorted(known, phrases), len(known) - 1)
            self.pages[number] = page._replace(once=phrases[known[places] == phrases])
        return self

    def of_length(self, min_length: int) -> Terms:
        """Return the terms that have so many letters."""
        from webanalytics.page.keywords.segmentation import letters

        keep = np.array(
            [
                (len(term) >= min_length and "'" not in term)
                or sum(map(letters, term.split(" "))) >= min_length
                for term in self.vocabulary.names
            ],
            bool,
        )
        return Terms(self.vocabulary, [page.only(keep[page.terms]) for page in self.pages])

    def part(self, pages: list[PageTerms]) -> Terms:
        """Return the terms of some of the pages, with a vocabulary of their own."""
        used = np.flatnonzero(np.bincount(Terms(self.vocabulary, pages).column("terms", np.int32)))
        numbers, vocabulary = np.zeros(len(self.vocabulary), np.int32), Vocabulary()
        names = [self.vocabulary.names[number] for number in used.tolist()]
        numbers[used] = vocabulary.numbers(names, self.vocabulary.hashes[used])
        return Terms(vocabulary, [page._replace(terms=numbers[page.terms]) for page in pages])

    def column(self, name: str, kind: Any) -> Numbers:
        """Return what all pages have of a kind of numbers, page after page."""
        return np.concatenate([np.empty(0, kind), *(getattr(page, name) for page in self.pages)])

    @property
    def totals(self) -> Numbers:
        """The sums of the pages' totals."""
        sums: Numbers = np.sum([totals_of({}), *(page.totals for page in self.pages)], axis=0)
        return sums

    def frequencies(self, terms: Sequence[str] | None = None) -> tuple[Numbers, Numbers]:
        """Return the frequencies of terms over all pages, and their numbers of pages.

        Those of the whole vocabulary by default. Phrases that a page has once are counted too.
        """
        counts, pages = np.zeros((2, size := len(self.vocabulary) + 1), np.int64)
        for start in range(0, len(self.pages), PORTION):  # numbers of all pages take much memory
            some = Terms(self.vocabulary, self.pages[start : start + PORTION])
            known = some.column("terms", np.int32)
            counts += np.bincount(known, some.column("counts", np.int32), size).astype(np.int64)
            pages += np.bincount(known, minlength=size)
        hashes = (self.vocabulary if terms is None else Vocabulary(terms)).hashes
        if terms is not None:
            chosen = [self.vocabulary.get(known, len(self.vocabulary)) for known in hashes.tolist()]
            counts, pages = counts[chosen], pages[chosen]
        once = np.sort(self.column("once", np.uint64))
        single = np.searchsorted(once, hashes, "right") - np.searchsorted(once, hashes, "left")
        return counts[: len(hashes)] + single, pages[: len(hashes)] + single

    def keyness(self) -> Iterator[Scores]:
        """Yield how distinctive its terms are of each page against all others; NaN for a single page."""
        (counts, _), totals = self.frequencies(), self.totals
        for page in self.pages:
            elsewhere = counts[page.terms] - page.counts
            scores = keyness(page.counts, page.sizes, elsewhere, totals[page.words] - page.sizes)
            yield scores if len(self.pages) > 1 else np.full(len(scores), np.nan)


def totals_of(totals: Mapping[int, int]) -> Numbers:
    """Return all words of a text, all runs of two words, and so on, by the number of words."""
    found = np.zeros(LONGEST + 1, np.int64)
    for size, total in totals.items():
        found[size] = total
    return found


def language_of(detected: object, declared: object) -> str:
    """Return the language to read the text of a page in: detected, else declared, else English."""
    from webanalytics.page.readability.syllables import primary

    known = (primary(said) for said in (detected, declared) if isinstance(said, str))
    return next(filter(None, known), "en")


def count_pages(
    pages: Iterable[Page],
    *,
    sizes: Iterable[int],
    min_length: int,
    stop_words: tuple[str, ...] | str | None = None,
    share: bool = False,
) -> dict[Hashable, Terms]:
    """Return the terms of pages by group, in the order of their rows; processes may ``share`` the work."""
    from webanalytics.audits.content import counting  # takes time to load
    from webanalytics.runs.workers.shared import shared_out

    how = (tuple(sizes), min_length, stop_words)
    messages = ((of, (how, of[1], texts)) for of, texts in _portions(pages))
    found: dict[Hashable, Terms] = {}
    for (group, language, rows), portion in shared_out(counting.count_portion, messages, share):
        found.setdefault(group, Terms()).add(language, rows, portion)
    counting.forget_lexicons()
    for terms in found.values():
        terms.pages.sort(key=lambda page: page.row)
    return found


def _portions(
    pages: Iterable[Page],
) -> Iterator[tuple[tuple[Hashable, str, list[tuple[int, str]]], list[Texts]]]:
    """Yield pages of one group and language by their rows, and their texts."""
    waiting: defaultdict[tuple[Hashable, str], list[tuple[tuple[int, str], Texts]]] = defaultdict(list)

    def portion(key: tuple[Hashable, str]) -> Any:
        rows, texts = zip(*waiting.pop(key), strict=True)
        return (*key, list(rows)), list(texts)

    for group, language, row, texts in pages:
        key = group, language
        waiting[key].append((row, texts))
        size = sum(len(text) for _, (text, _) in waiting[key])
        if len(waiting[key]) >= PORTION or size >= PORTION_CHARACTERS:
            yield portion(key)
    yield from map(portion, list(waiting))


def grouped_terms(
    site: Site,
    group_of: Callable[[int, str], Hashable],
    *,
    sizes: Iterable[int] = (1, 2, 3),
    min_length: int = 4,
    stop_words: tuple[str, ...] | str | None = None,
) -> dict[Hashable, Terms]:
    """Return the terms of the contents of an audit's pages that were read, each page once, by group.

    ``group_of`` takes the row and the language of a page, and returns None for one to leave out.
    """
    from webanalytics.page.keywords.keywords import first_paragraph

    def pages() -> Iterator[Page]:
        columns = ("title", "headings", "description", "language", "lang", "final_url", *CONTENT_COLUMNS)
        rows = watched(site.read(*columns), len(site.good), "keywords", "page")
        for row, title, headings, description, detected, declared, url, *said in rows:
            text = site.shared_blocks.content(url, *said).text
            if text is None or not site.addresses.first(row):
                continue
            language = language_of(detected, declared)
            group = group_of(row, language)
            if group is not None:
                beside = (title, _first_heading(headings), description, first_paragraph(text))
                texts = text, dict(zip(PLACES, beside, strict=True))
                yield group, language, (row, _address(site, row)), texts

    how: dict[str, Any] = {"sizes": sizes, "min_length": min_length, "stop_words": stop_words}
    return count_pages(pages(), **how, share=len(site.good) >= SHARED_FROM)


def terms_of(
    site: Site,
    *,
    sizes: tuple[int, ...] = (1, 2, 3),
    min_length: int = 4,
    stop_words: Sequence[str] | str | None = None,
) -> Terms:
    """Return the terms of all pages of an audit that were read, each page once; they are counted once."""
    least = KEPT_LENGTHS[0] if min_length in KEPT_LENGTHS else min_length
    stop = stop_words if stop_words is None or isinstance(stop_words, str) else tuple(stop_words)

    def counted() -> Terms:
        how: dict[str, Any] = {"sizes": sizes, "min_length": least, "stop_words": stop}
        return grouped_terms(site, lambda row, language: True, **how).get(True, Terms()).settle()  # noqa: ARG005

    def wanted() -> Terms:
        whole: Terms = site.once(("terms counted", sizes, least, stop), counted)
        return whole.of_length(min_length)

    made: Terms = site.once(("terms", sizes, min_length, stop), wanted)
    return made


def _address(site: Site, row: int) -> str:
    url = site.values("url")[row]
    return url if isinstance(url, str) else site.name(row)


def _first_heading(headings: object) -> str | None:
    if not isinstance(headings, list):
        return None
    mains = (entry.get("text") or "" for entry in headings if entry.get("level") == "h1")
    return next(filter(str.strip, mains), "")


def checked_sizes(ngrams: object) -> tuple[int, ...]:
    """Return the lengths that a number of words, or the shortest and the longest, stand for."""
    ends = (ngrams, ngrams) if isinstance(ngrams, int) else ngrams
    whole = isinstance(ends, (tuple, list)) and len(ends) == 2 and all(type(end) is int for end in ends)
    if not whole or not 1 <= ends[0] <= ends[1] <= LONGEST:  # type: ignore[index]
        raise ParameterError.must_be(
            "ngrams",
            f"an integer from 1 to {LONGEST}, or the shortest and the longest as a tuple such as (1, 3)",
        )
    return tuple(range(ends[0], ends[1] + 1))  # type: ignore[index]


def site_keywords(
    site: Site,
    by: Literal["page", "site"] = "page",
    *,
    ngrams: int | tuple[int, int] = (1, LONGEST),
    top: int | None = None,
    min_length: int = 4,
    stop_words: Sequence[str] | str | None = None,
) -> pd.DataFrame:
    """Return the frame of `Audit.keywords`, which is made once."""
    choice("by", by, ("page", "site"))
    sizes = checked_sizes(ngrams)
    most = TOP_OF_PAGE if by == "page" else TOP_OF_SITE
    words = list(stop_words) if isinstance(stop_words, (tuple, set, frozenset)) else stop_words
    how = {
        name: KEYWORDS.parameter(name).check(value)
        for name, value in (("min_length", min_length), ("stop_words", words))
    }
    top = KEYWORDS.parameter("top").check(most if top is None else top)
    make = _by_page if by == "page" else _by_site
    asked = ("keywords", by, sizes, top, min_length, repr(words))
    made: pd.DataFrame = site.once(asked, lambda: make(terms_of(site, sizes=sizes, **how), top))
    return made.copy()


def _by_page(found: Terms, top: int) -> pd.DataFrame:
    """Return one row for each page and term, the most distinctive first."""
    names = found.vocabulary.names
    columns: dict[str, list[Any]] = {name: [] for name in _PAGE_COLUMNS}
    for page, scores in zip(found.pages, found.keyness(), strict=True):
        ranked = np.argsort(-np.nan_to_num(scores), kind="stable")
        order = ranked[page.whole[ranked]][:top]
        count = len(order)
        columns["url"] += [page.name] * count
        columns["keyword"] += [names[number] for number in page.terms[order].tolist()]
        columns["words"] += page.words[order].tolist()
        columns["frequency"] += page.counts[order].tolist()
        columns["density"] += (page.counts[order] / np.maximum(1, page.sizes[order])).tolist()
        columns["distinctiveness"] += scores[order].tolist()
        columns["rank"] += range(1, count + 1)
        for place in PLACES:
            known = page.places.get(place)
            columns[f"in_{place}"] += [None] * count if known is None else known[order].tolist()
        columns["language"] += [page.language] * count
    return pd.DataFrame(make_columns(columns, _PAGE_COLUMNS))


def _by_site(found: Terms, top: int) -> pd.DataFrame:
    """Return one row for each term of the site, the most frequent first."""
    names, (counts, pages) = found.vocabulary.names, found.frequencies()
    size, terms = len(names), found.column("terms", np.int32)
    words, whole = np.zeros(size, np.int8), np.zeros(size, bool)
    words[terms] = found.column("words", np.int8)
    whole[terms[found.column("whole", bool)]] = True
    enough = whole & (counts >= np.sort(counts[whole])[-top:][:1])  # others are not shown
    chosen = np.flatnonzero(enough[terms])
    best, best_page = _best_pages(found, counts, terms, chosen)
    order = np.lexsort((-best, -pages, -counts))
    order = order[whole[order]][:top]
    cells = {
        "keyword": [names[number] for number in order.tolist()],
        "words": words[order].tolist(),
        "pages": pages[order].tolist(),
        "frequency": counts[order].tolist(),
        "best_page": [found.pages[number].name for number in best_page[order].tolist()],
        "distinctiveness": [None] * len(order) if len(found.pages) < 2 else best[order].tolist(),
    }
    for place in PLACES:
        stands = [page.places.get(place, np.zeros(len(page.terms), bool)) for page in found.pages]
        flags = np.concatenate([np.empty(0, bool), *stands])[chosen]
        cells[f"in_{place}"] = np.bincount(terms[chosen[flags]], minlength=size)[order].tolist()
    return pd.DataFrame(make_columns(cells, _SITE_COLUMNS))


def _best_pages(found: Terms, counts: Numbers, terms: Numbers, chosen: Numbers) -> tuple[Scores, Numbers]:
    """Return how distinctive each term is of the page that makes most of it, and that page; of some terms.

    ``terms`` are those of all pages, page after page, and ``chosen`` the places of some among them. Of a
    single page, which can be compared with no other, the frequency counts.
    """
    numbers = np.arange(len(found.pages), dtype=np.int32)
    owners = np.repeat(numbers, [len(page.terms) for page in found.pages])[chosen]
    terms, here = terms[chosen], found.column("counts", np.int32)[chosen]
    lengths = found.column("words", np.int8)[chosen]
    sizes = np.array([page.totals for page in found.pages]).reshape(-1, LONGEST + 1)[owners, lengths]
    scores = keyness(here, sizes, counts[terms] - here, found.totals[lengths] - sizes)
    known = here.astype(float) if len(found.pages) < 2 else scores
    best, best_page = np.full(len(counts), -np.inf), np.full(len(counts), -1, np.int64)
    np.maximum.at(best, terms, known)
    first = np.flatnonzero(known == best[terms])[::-1]  # of equal pages the first is written last
    best_page[terms[first]] = owners[first]
    return best, best_page


_PAGE_COLUMNS: dict[str, Dtype] = {
    "url": "string",
    "keyword": "string",
    "words": "integer",
    "frequency": "integer",
    "density": "float",
    "distinctiveness": "float",
    "rank": "integer",
    **{f"in_{place}": "boolean" for place in PLACES},
    "language": "string",
}
_SITE_COLUMNS: dict[str, Dtype] = {
    "keyword": "string",
    "words": "integer",
    "pages": "integer",
    "frequency": "integer",
    "best_page": "string",
    "distinctiveness": "float",
    **{f"in_{place}": "integer" for place in PLACES},
}


def of_main_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return an audit's frame with the keywords of its main texts, where a service counted whole pages."""
    from webanalytics.page.keywords.keywords import count_keywords

    settings = {name: KEYWORDS.parameter(name).default for name in ("ngrams", "top", "min_length")}
    cells: list[dict[str, int] | None] = []
    for known, text, detected, declared in zip(
        frame["keywords"], frame["text"], frame["language"], frame["lang"], strict=True
    ):
        if not isinstance(known, dict) or not isinstance(text, str):
            cells.append(None)
            continue
        found = count_keywords(text, language_of(detected, declared), **settings)
        cells.append(dict(zip(found["keywords"], found["frequency"], strict=True)))
    made = frame.copy(deep=False)
    made["keywords"] = make_series(cells, "object", frame.index)
    made.attrs = dict(frame.attrs)
    return made
