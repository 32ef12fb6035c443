"""What the pages of a site say of their own: visible text without the blocks that most pages have.

Rules about content, duplicates and keywords rest on it; `audits.pages` measures it. Which blocks are shared
is told from a sample of pages, so that memory does not grow with the site.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

from webanalytics.audits.content.words import without_lines
from webanalytics.urls import address, registrable_domain

FEWEST_PAGES = 3
"""Different texts from which on a site is known well enough to say what its pages share,"""
FEWEST_OF_SECTION = 10
"""and so is the first folder of an address."""
SAMPLE = 200
"""Most pages of a site and of a section that are looked at."""
MOST_GROUPS = 200
"""Most sites and sections, those with the most pages first."""
PARAGRAPH = 80
"""Characters from which on a block that most pages have may be content: where such make a main text."""

Origin: TypeAlias = Literal["own", "main", "visible"]
Lines: TypeAlias = npt.NDArray[np.int64]


COLUMNS = ("visible_text", "text", "content_note")
"""The columns that contents are made of: visible text, main text, and why that one is not to be trusted."""


class Content(NamedTuple):
    """The content of a page: one of its texts, None where nothing is known of it, without some lines."""

    whole: str | None
    origin: Origin
    shared: AbstractSet[str] = frozenset()

    @property
    def text(self) -> str | None:
        """What is left of it."""
        return self.whole if self.whole is None else without_lines(self.whole, self.shared)

    def is_doubtful(self, note: str | None) -> bool:
        """Return whether the page may say more than this, by its ``content_note``."""
        return bool(note) and (note == "by_scripts" or self.origin == "main")


class SharedBlocks:
    r"""The blocks that most pages of a site, or of a section of it, have.

    Examples
    --------
    >>> texts = [f"Menu\nAbout us\nLantern {name}" for name in "abc"]
    >>> shared = SharedBlocks([f"https://a.example/{name}" for name in "abc"], texts)
    >>> shared.content("https://a.example/a", texts[0], "About us\nLantern a", "").text
    'Lantern a'
    """

    def __init__(self, urls: Sequence[str | None], texts: Sequence[Any]) -> None:
        self._domains: dict[str, str] = {}
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for row, url in enumerate(urls):
            for group in () if url is None else self._groups(url):
                groups[group].append(row)
        known = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS]
        members: defaultdict[int, list[str]] = defaultdict(list)
        chance = [crc32(str(url).encode(errors="replace")) for url in urls]  # whatever the order of the pages
        for group, rows in known:
            for row in sorted(rows, key=chance.__getitem__)[:SAMPLE]:
                members[row].append(group)
        found: dict[str, dict[int, tuple[int, Lines]]] = {group: {} for group, _ in known}
        for row in sorted(members):
            if isinstance(text := texts[row], str) and text:
                lines = np.fromiter({hash(line) for line in text.split("\n")}, np.int64)
                for group in members[row]:
                    found[group][hash(text)] = row, lines  # equal texts are one page
        self._shared = {
            group: _most_have(texts, list(those.values()), "/" in group) for group, those in found.items()
        }
        sections = (lines or () for group, lines in self._shared.items() if "/" in group)
        counts = Counter(chain.from_iterable(sections))
        self._of_several = {line for line, times in counts.items() if times > 1}

    def _groups(self, url: str) -> tuple[str, ...]:
        """Return the site of an address, and its section where it is in a folder."""
        host, _, path = url.partition("://")[2].partition("/")
        if (site := self._domains.get(host)) is None:
            site = self._domains[host] = registrable_domain(host) if address(url) else host
        folder, is_in_one, _ = path.partition("?")[0].partition("/")
        return (site, f"{site}/{folder}") if is_in_one else (site,)

    def content(
        self,
        url: str | None,
        visible: str | None,
        main: str | None,
        note: str | None,
        others: Sequence[SharedBlocks] = (),
    ) -> Content:
        """Return the content of a page, and what it is; without what the same site shared at ``others`` too.

        It is what the page has of its own; of a site of one or two pages the main text, or all that is
        visible where it has none: what is template there nobody knows, and all of it would hide thin pages.
        """
        if visible is None or (main and 2 * len(visible) < len(main)):  # the text is in data or in noscript
            return Content(main, "main")
        groups = () if url is None else self._groups(url)
        known_at = [self._shared, *(other._shared for other in others)]
        shared = [known for at in known_at for group in groups if (known := at.get(group)) is not None]
        if not groups or all(at.get(groups[0]) is None for at in known_at):
            return Content(main, "main") if main else Content(visible, "visible")
        blocks = visible.split("\n")
        template = set[str]().union(*(known.intersection(blocks) for known in shared))
        if main and not note:
            prose = {line for line in template - self._of_several if len(line) >= PARAGRAPH and line in main}
            if 2 * sum(map(len, prose)) > len(main):  # the pages of a section are written from one draft
                template -= prose
        return Content(visible, "own", template)


def _most_have(
    texts: Sequence[Any], pages: list[tuple[int, Lines]], is_section: bool
) -> frozenset[str] | None:
    """Return the lines of more than half of the pages, None of too few pages to tell.

    ``pages`` are the rows of texts and the hashes of their lines; texts are read again until all are found.
    """
    if len(pages) < (FEWEST_OF_SECTION if is_section else FEWEST_PAGES):
        return None
    lines, counts = np.unique(np.concatenate([hashes for _, hashes in pages]), return_counts=True)
    wanted = set(lines[(2 * counts > len(pages)) & (counts >= FEWEST_PAGES)].tolist())
    found: set[str] = set()
    for row, _ in pages:
        if len(found) >= len(wanted):
            break
        found.update(line for line in texts[row].split("\n") if hash(line) in wanted)
    return frozenset(found)


def difference(one: str, other: str) -> str:
    r"""Return where two texts first differ, as evidence shows it; '' where they have the same lines.

    Examples
    --------
    >>> difference("Lanterns\nMade of tin.", "Lanterns\nMade of brass.")
    'Here "Made of tin.", there "Made of brass."'
    """
    ours, theirs = (_first_without(text, than) for text, than in ((one, other), (other, one)))
    ends = (place for place, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    same = next(ends, min(len(ours), len(theirs)))
    start = max(0, ours.rfind(" ", 0, max(0, same - LEAD)) + 1)
    if not ours and not theirs:
        return ""
    here, there = (f'"{line[start : start + QUOTED]}"' if line else "nothing" for line in (ours, theirs))
    return f"Here {here}, there {there}"


LEAD, QUOTED = 20, 60
"""Characters of a quotation before what differs, and of all of it."""


def _first_without(text: str, than: str) -> str:
    known = set(than.split("\n"))
    return next((line for line in text.split("\n") if line not in known), "")
