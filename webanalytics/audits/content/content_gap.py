"""What other sites write about and ours does not: the terms that tell their texts from ours."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from heapq import nlargest
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from webanalytics.audits.audit import Audit
from webanalytics.audits.content.terms import Terms, checked_sizes, count_pages, grouped_terms, totals_of
from webanalytics.audits.content.vocabulary import LONGEST, PageTerms, Vocabulary
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError, whole_number
from webanalytics.operations import KEYWORDS
from webanalytics.page.keywords.keyness import UNLIKELY, keyness
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.kinds import in_kind
from webanalytics.runs.frames.schema import frame_of
from webanalytics.urls import parts_of

Contents: TypeAlias = "Audit | pd.DataFrame | Iterable[Audit | pd.DataFrame]"

EXAMPLES = 3
"""Most pages named for each term."""

MOST = 10**9
"""How often a keyword may stand on a page: a greater number is none."""

BARELY = 4
"""How many times as frequent as in ours a term of theirs must be, where ours has it."""

_COLUMNS: dict[str, Dtype] = {
    **{"keyword": "string", "gap": "string", "distinctiveness": "float", "their_pages": "integer"},
    **{"our_pages": "integer", "their_frequency": "integer", "our_frequency": "integer"},
    **{"their_density": "float", "our_density": "float", "examples": "object", "our_page": "string"},
    **{"language": "string"},
}


@in_kind
def content_gap(
    ours: Audit | pd.DataFrame,
    theirs: Contents,
    *,
    ngrams: int | tuple[int, int] = (1, LONGEST),
    top: int = 100,
    min_length: int = 4,
    min_pages: int = 1,
) -> pd.DataFrame:
    """Find the words and phrases that are distinctive of other sites' texts and that ours lacks, or nearly.

    Parameters
    ----------
    ours : Audit or DataFrame
        Pages of our site: an audit, a frame with ``url`` and ``text``, or a frame of `webanalytics.keywords`,
        which knows only the ``top`` keywords of each page.
    theirs : Audit, DataFrame or iterable of them
        Pages of other sites, likewise.
    ngrams : int or tuple of int, default (1, 3)
        Words of a term, or the fewest and the most.
    top : int, default 100
        Most terms of a language.
    min_length : int, default 4
        Fewest letters of a term.
    min_pages : int, default 1
        On how many of their pages a term must stand.

    Returns
    -------
    pandas.DataFrame
        The most distinctive first: ``keyword``, ``gap`` ("missing", or "thin" where ours has it a quarter as
        often or less), ``distinctiveness``, ``their_pages``, ``our_pages``, ``their_frequency``,
        ``our_frequency``, ``their_density`` and ``our_density`` (share of all words), ``examples`` (up to
        three of their pages, those that use it most first), ``our_page`` (the page of ours that uses it
        most) and ``language``.

    Raises
    ------
    ParameterError
        For a wrong argument.

    Notes
    -----
    The distinctiveness is the log-likelihood ratio G2 of a term in all of their texts against all of ours (T.
    Dunning 1993; P. Rayson and R. Garside 2000; see `webanalytics.keywords`); terms are shown from 3.84,
    which chance exceeds in 5% of them. Texts are compared with those of their language: languages that we
    do not have at all are left out. So are the names of their hosts.

    Examples
    --------
    >>> import pandas as pd
    >>> import webanalytics as wa
    >>> ours = pd.DataFrame({"url": ["https://a.example/"], "text": ["Lamps made of brass. " * 9]})
    >>> theirs = pd.DataFrame({"url": ["https://b.example/"], "text": ["Lamps, repair kits. " * 9]})
    >>> wa.content_gap(ours, theirs)[["keyword", "gap", "their_pages"]].values.tolist()
    [['repair kits', 'missing', 1]]
    """
    sizes = checked_sizes(ngrams)
    for name, value in (("top", top), ("min_length", min_length)):
        KEYWORDS.parameter(name).check(value)
    whole_number("min_pages", min_pages, 1)
    theirs = as_pandas(theirs, "theirs")
    several = not isinstance(theirs, pd.DataFrame) and isinstance(theirs, Iterable)
    how = {"sizes": sizes, "min_length": min_length}
    rivals = _by_language(list(theirs) if several else [theirs], "theirs", **how)
    own = _by_language([ours], "ours", **how)
    if "" in rivals or "" in own:  # a language that is not known may be any
        rivals, own = ({"": _joined(side.values())} for side in (rivals, own))
    rows: list[dict[str, Any]] = []
    for language, side in rivals.items():
        if language in own and side.totals.any() and own[language].totals.any():
            rows += _gaps(side, own[language], language, top, min_pages)
    rows.sort(key=lambda row: -row["distinctiveness"])
    return frame_of(_COLUMNS, rows)


def _by_language(sources: Iterable[Any], parameter: str, **how: Any) -> dict[str, Terms]:
    """Return the terms of audits, frames of texts and frames of keywords, by language."""
    found: dict[str, Terms] = {}
    for source in (as_pandas(source, parameter) for source in sources):
        if isinstance(source, Audit):
            parts = grouped_terms(source.rows_site, lambda row, language: language, **how)  # noqa: ARG005
        elif isinstance(source, pd.DataFrame) and {"url", "text"} <= set(source.columns):
            parts = _of_texts(source, **how)
        elif isinstance(source, pd.DataFrame) and {"url", "keyword", "frequency"} <= set(source.columns):
            parts = _of_keywords(source, how["sizes"])
        else:
            raise ParameterError.must_be(
                parameter, "an audit, or a frame with the columns url and text or url, keyword and frequency"
            )
        for language, terms in parts.items():
            known = found.get(str(language))
            found[str(language)] = terms if known is None else _joined([known, terms])
    return found


def _joined(sides: Iterable[Terms]) -> Terms:
    """Return the terms of several sources; a page that two of them have counts once."""
    made = Terms()
    for side in sides:
        known = {page.name for page in made.pages} - {""}
        numbers = made.vocabulary.numbers(side.vocabulary.names, side.vocabulary.hashes)
        further = (page for page in side.pages if page.name not in known)
        made.pages += [page._replace(terms=numbers[page.terms]) for page in further]
    return made


def _of_texts(frame: pd.DataFrame, **how: Any) -> dict[Hashable, Terms]:
    from webanalytics.page.text.language import detect

    pages: list[Any] = []
    said = frame["language"].tolist() if "language" in frame else [None] * len(frame)
    seen = set()
    for row, (url, text, language) in enumerate(zip(frame["url"], frame["text"], said, strict=True)):
        if isinstance(text, str) and text and (url, text) not in seen:
            seen.add((url, text))
            known = language if isinstance(language, str) and language else detect(text) or "en"
            pages.append((known, known, (row, url if isinstance(url, str) else ""), (text, {})))
    return count_pages(pages, **how)


def _of_keywords(frame: pd.DataFrame, sizes: Collection[int]) -> dict[Hashable, Terms]:
    """Return the terms of a frame of keywords; how many words a page has follows from the densities."""
    found: dict[Hashable, Terms] = {}
    figures = [name for name in ("frequency", "density") if name in frame]  # which a file may have as text
    frame = frame.assign(**{name: pd.to_numeric(frame[name], errors="coerce") for name in figures})
    shown = frame[frame["frequency"].between(1, MOST)].drop_duplicates(["url", "keyword"])
    shown = shown.assign(words=shown["keyword"].str.count(" ").add(1).clip(upper=LONGEST))
    shown = shown[shown["words"].isin(list(sizes))]
    for row, (url, rows) in enumerate(shown.groupby("url", sort=False)):
        said = rows["language"].iloc[0] if "language" in rows else ""
        language = said if isinstance(said, str) else ""
        counts, words = (rows[name].to_numpy(np.int64) for name in ("frequency", "words"))
        known = rows["density"].where(rows["density"] > 0) if "density" in rows else np.nan * counts
        density = np.asarray(known, float)
        alone = {size: int(counts[words == size].sum()) for size in set(words.tolist())}
        whole = {
            size: round(float(np.nanmax((counts / density)[words == size], initial=0))) for size in alone
        }
        terms = found.setdefault(language, Terms())
        numbers = np.array([*map(terms.vocabulary.of, rows["keyword"])], np.int32)
        totals = totals_of({size: whole[size] or alone[size] for size in alone})
        is_whole, once = np.ones(len(rows), bool), np.empty(0, np.uint64)
        page = PageTerms(numbers, counts, words, is_whole, totals, once, {}, row, str(url), language)
        terms.pages.append(page)
    return found


def _gaps(theirs: Terms, ours: Terms, language: str, top: int, min_pages: int) -> list[dict[str, Any]]:
    names = theirs.vocabulary.names
    length, whole = np.zeros(len(names), np.int64), np.zeros(len(names), bool)
    for page in theirs.pages:
        length[page.terms] = page.words
        whole[page.terms] |= page.whole
    there, pages = theirs.frequencies()
    here, own_pages = ours.frequencies(names)
    words, own = np.maximum(1, theirs.totals[length]), np.maximum(1, ours.totals[length])
    scores = keyness(there, words, here, own)
    gap = whole & (pages >= min_pages) & (scores >= UNLIKELY) & (there / words >= BARELY * here / own)
    hosts = set().union(*(_host_names(page.name) for page in theirs.pages))
    order = [n for n in np.argsort(-scores, kind="stable").tolist() if gap[n]]
    chosen = [n for n in order if names[n].replace(" ", "") not in hosts][:top]
    examples = _users(theirs, [names[n] for n in chosen])
    own_users = _users(ours, [names[n] for n in chosen])
    return [
        {
            "keyword": names[n],
            "gap": "thin" if here[n] else "missing",
            "distinctiveness": float(scores[n]),
            "their_pages": int(pages[n]),
            "our_pages": int(own_pages[n]),
            "their_frequency": int(there[n]),
            "our_frequency": int(here[n]),
            "their_density": float(there[n] / words[n]),
            "our_density": float(here[n] / own[n]),
            "examples": examples[names[n]],
            "our_page": next(iter(own_users[names[n]]), None),
            "language": language or None,
        }
        for n in chosen
    ]


def _users(side: Terms, terms: Sequence[str]) -> dict[str, list[str]]:
    """Return the pages that use each term most, the first one the most."""
    best: dict[str, list[tuple[int, str]]] = {term: [] for term in terms}
    hashes = dict(zip(Vocabulary(terms).hashes.tolist(), terms, strict=True))
    numbers = {side.vocabulary[of]: term for of, term in hashes.items() if of in side.vocabulary}
    wanted = np.array(list(hashes), np.uint64)
    for page in side.pages:
        known = np.flatnonzero(np.isin(page.terms, list(numbers)))
        uses = [(numbers[int(page.terms[n])], int(page.counts[n])) for n in known.tolist()]
        uses += [(hashes[n], 1) for n in page.once[np.isin(page.once, wanted)].tolist()]
        for term, times in uses:
            best[term].append((times, page.name))
            if len(best[term]) > EXAMPLES:
                best[term] = nlargest(EXAMPLES, best[term], key=lambda use: use[0])
    return {term: [name for _, name in sorted(uses, key=lambda use: -use[0])] for term, uses in best.items()}


def _host_names(url: str) -> set[str]:
    """Return the parts of a host that may be a name, without hyphens.

    Examples
    --------
    >>> sorted(_host_names("https://www.green-tea.example/"))
    ['greentea']
    """
    labels = (parts_of(url).hostname or "").split(".")[:-1]
    return {label.replace("-", "") for label in labels} - {"www", ""}
