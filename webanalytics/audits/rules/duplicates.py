"""Rules about pages that share their text, title, description or first heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from webanalytics.audits.content.duplicates import MINIMUM_WORDS, THRESHOLD
from webanalytics.audits.content.shared_blocks import difference
from webanalytics.audits.rules import sources
from webanalytics.audits.rules.base import Finding, Rule
from webanalytics.audits.site import Site
from webanalytics.runs.storage.temporary_texts import SpilledSequence

_LONGEST = 200
_WITHOUT = "without the blocks that most pages of the site, or of its first folder, have"


def _shared(site: Site, values: Sequence[Any]) -> Iterator[Finding]:
    for group in site.alike(values):
        for row in group:
            text = " ".join(values[row].split())
            yield Finding(row, text[:_LONGEST], f"Also on {site.others(group, row)}")


def _exact(site: Site, _: Any) -> Iterator[Finding]:
    words = site.values("content_words")
    for group in site.alike(site.values("content_hash")):
        for alike in _by_language(site, [row for row in group if words[row] >= MINIMUM_WORDS]):
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
    texts = SpilledSequence(item.text if row in in_one else None for row, item in enumerate(site.contents()))
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


def _same(site: Site, _: Any, column: str) -> Iterator[Finding]:
    return _shared(site, site.values(column))


def _heading(site: Site, _: Any) -> Iterator[Finding]:
    first = [
        next((entry["text"] for entry in headings or () if entry["level"] == "h1"), None)
        for headings in site.values("headings")
    ]
    return _shared(site, first)


RULES = (
    Rule(
        name="duplicate_page",
        title="Exact duplicates",
        category="content",
        priority="high",
        explanation="Several indexable pages have the very same text; search engines show one, perhaps the "
        "wrong one.",
        fix="Keep one page and redirect the others to it, or name it as canonical.",
        find=_exact,
        columns=("content_hash",),
        measured=f"The texts of indexable pages of one language are equal, {_WITHOUT}, and have at least "
        f"{MINIMUM_WORDS} words.",
        source=sources.both(sources.CANONICALIZATION, sources.CANONICALS),
    ),
    Rule(
        name="near_duplicate",
        title="Near duplicates",
        category="content",
        type="warning",
        explanation="Several indexable pages have nearly the same text and compete with each other in search "
        "results.",
        fix="Join the pages, name one of them as canonical, or write what makes each of them different.",
        find=_near,
        threshold=90,
        unit="per cent",
        columns=("content_hash",),
        measured=f"Similarity of the texts of indexable pages of one language, {_WITHOUT}: the share of runs "
        "of three words that two of them have in common (Jaccard similarity), in per cent. Texts of fewer "
        f"than {MINIMUM_WORDS} words are not compared.",
        source=sources.CANONICALIZATION,
    ),
    Rule(
        name="title_duplicate",
        title="Title duplicate",
        category="title",
        type="opportunity",
        explanation="Several indexable pages have the same title, so people and search engines cannot tell "
        "them apart.",
        fix="Write a title of its own for each page.",
        find=partial(_same, column="title"),
        columns=("title",),
        measured="Titles of indexable pages are compared, white space folded; of several rows with one "
        "address, one counts.",
        source=sources.TITLE_LINKS,
    ),
    Rule(
        name="description_duplicate",
        title="Meta description duplicate",
        category="description",
        type="opportunity",
        priority="low",
        explanation="Several indexable pages have the same meta description; search engines then often write "
        "their own.",
        fix="Write a description of its own for each page that matters.",
        find=partial(_same, column="description"),
        columns=("description",),
        measured="Meta descriptions of indexable pages are compared, white space folded; of several rows "
        "with one address, one counts.",
        source=sources.SNIPPETS,
    ),
    Rule(
        name="h1_duplicate",
        title="h1 duplicate",
        category="headings",
        type="opportunity",
        priority="low",
        explanation="Several indexable pages have the same first heading, which says what a page is about.",
        fix="Write a first heading of its own for each page.",
        find=_heading,
        columns=("headings",),
        measured="The first h1 of indexable pages is compared, white space folded; of several rows with one "
        "address, one counts.",
        source=sources.STARTER_GUIDE,
    ),
)
