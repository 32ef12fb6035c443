"""Endless families of addresses, recognised by what grows without bringing anything new.

A page is barren if nearly all its text was seen in its family before and if it shows no new picture and leads
to no new address outside of it. Families whose barren pages keep finding further addresses of the same family
are closed: addresses found on their barren pages are refused, those found elsewhere are not. A sequence whose
numbers march on, one after the other, has thousands of pages to end in. Nothing depends on the time of an
answer: pages are judged in the crawl's order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webanalytics.crawls.page_answers import Read
from webanalytics.crawls.patterns import (
    Pattern,
    folder_of,
    is_below,
    is_session,
    kind_of,
    nest_of,
    pattern_of,
    places_of,
    repeats,
    sequence_of,
    without_each,
)
from webanalytics.crawls.scope import MAX_SEQUENCE, Handling
from webanalytics.page.declarations.unserved import SKETCH_SIZE

NEW_SHARE = 0.1
"""Share of a page's pairs of words from which its text is new to its family."""
BARREN = 24
"""Barren pages found on barren pages of their family from which it is closed."""
BARREN_SOON = 16
"""The same where filters or dates grow, as they do without end."""
BARREN_AGAIN = 8
"""Barren pages from which a family is closed where another of its parameters, or of its root, was."""
CHAIN = 4
"""Barren pages in a row, each found on the one before, that are needed where no filters or dates grow."""
BEGUN = 100
"""Sequences of a family that were found on barren pages of others, from which it is closed."""
DENSE = 100
"""Most numbers for each page of a sequence: pages of random numbers are none."""
SAME = 40
"""Pages of one path in a row with the same text, whatever their query, from which it is closed."""
RECENT = 20
"""Pages of a family that were fetched last, nearly all of which must be barren."""
DULL = 0.9
"""How little the pages of a pattern may bring, from 0 to 1, that is fetched though its family is closed."""
MOST_PATTERNS = 100
"""Sets of parameters of a closed family from which on no further one is tried."""
SUSPECT = 0b1111
"""The last four pages of a family were barren: from then on it is hardly fetched ahead."""
ALLOWED = 8
"""Addresses of a family that are fetched before it is known what it brings."""
SESSION_PROOF = 3
"""Pages that were equal under two numbers of a session from which it is taken for one."""
PLAIN_PROOF = 16
"""Pages that were equal without another parameter from which it is taken for one that changes nothing."""
PLAIN_VALUES = 3
"""Values of such a parameter among them."""
PLAIN_PAGES = 8
"""Addresses without it among them where its values name no page: the days of one calendar are of one."""

_BITS = 26


class Trace(NamedTuple):
    """An address as traps see it."""

    pattern: Pattern  # what it has in common with others
    run: int  # barren pages of its family in a row through which it was found
    repeated: str | None  # the part of its path that repeats


@dataclass
class _Family:
    """What was seen of the addresses that are counted together."""

    fetched: int = 0
    novel: int = 0
    barren: int = 0
    chain: int = 0
    history: int = 0
    same: int = 0
    last_text: str = ""
    equal: int = 0
    needless: bool = False  # whether a parameter of its addresses changes nothing
    names: set[str] = field(default_factory=set)
    names_equal: set[str] = field(default_factory=set)
    dull: dict[str, float] = field(default_factory=dict)  # of each pattern, how little its last pages brought
    sequences: set[str] = field(default_factory=set)
    begun: int = 0
    astray: int = 0
    longest: int = 0
    trap: Trap | None = None

    def bores(self, pattern: Pattern) -> bool:
        """Return whether an address is not likely to bring anything new, as others with its parameters.

        One with a parameter of its own is tried, as long as those are few.
        """
        if pattern.text in self.dull or len(self.dull) >= MOST_PATTERNS:
            return self.dull.get(pattern.text, 1.0) > DULL
        return pattern.names <= self.names | self.names_equal


@dataclass
class _Parameter:
    """What pages have shown of a parameter that were compared under two values of it, or without it."""

    session: bool
    equal: int = 0
    different: int = 0
    first: int = 0
    values: set[str] = field(default_factory=set)  # those of equal pages
    pages: set[str] = field(default_factory=set)  # addresses without it that had an equal one with it
    places: bool = True  # whether each value of equal pages is an address, as of a page to go back to

    def changes_nothing(self, bare: str) -> bool:
        """Return whether an address, given here without it, need not be fetched with it.

        One that is no number of a session is tried on each page, for it may mean something there.
        """
        if self.session:
            return self.equal >= max(SESSION_PROOF, 4 * self.different)
        several = len(self.values) >= PLAIN_VALUES and (self.places or len(self.pages) >= PLAIN_PAGES)
        return several and self.equal >= max(PLAIN_PROOF, 20 * self.different) and bare in self.pages


@dataclass
class Trap:
    """An endless family: ``pattern`` names it, and says in `skipped` why an address was refused.

    ``certain`` says that nothing else is behind it: it has no numbers that march on, or one text for all.
    """

    pattern: str
    kind: str
    evidence: str
    example: str
    family: _Family | None = None
    whatever: bool = False
    certain: bool = True
    seen: int = 0

    @property
    def fetched(self) -> int:
        """How many of its addresses were fetched."""
        return self.family.fetched if self.family else self.seen

    @property
    def spares(self) -> bool:
        """Whether some of its addresses are fetched all the same, for they bring something new."""
        return self.whatever and self.family is not None and min(self.family.dull.values()) <= DULL


class Known:
    """Which pairs of words were seen in which family: a bit each, of a table of eight megabytes."""

    def __init__(self) -> None:
        self._table = np.frombuffer(mmap(-1, 1 << (_BITS - 3)), np.uint8)  # what `malloc` gives it would keep

    def share_new(self, family: str, sketch: NDArray[np.uint32]) -> float:
        """Return the share of hashes that were not seen in a family."""
        if not len(sketch):
            return 0.0
        places = self._places(family, sketch)
        return float(np.mean(self._table[places >> 3] >> (places & 7) & 1 == 0))

    def add(self, family: str, sketch: NDArray[np.uint32]) -> None:
        """Remember hashes as seen in a family."""
        places = self._places(family, sketch)
        np.bitwise_or.at(self._table, places >> 3, (1 << (places & 7)).astype(np.uint8))

    @staticmethod
    def _places(family: str, sketch: NDArray[np.uint32]) -> NDArray[np.uint32]:
        mixed = (sketch ^ np.uint32(crc32(family.encode("utf-8", "replace")))) * np.uint32(2654435761)
        return mixed >> np.uint32(32 - _BITS)


class Traps:
    """Judges pages in the crawl's order, and refuses addresses of families that were closed."""

    def __init__(self, handling: Handling = "stop", max_sequence: int = MAX_SEQUENCE) -> None:
        self._handling, self._max_sequence = handling, max_sequence
        self._patterns: dict[Pattern, Pattern] = {}
        self._sequences: dict[str, list[int]] = {}
        self._families: dict[str, _Family] = {}
        self._known = Known()
        self.fruitful: Counter[str] = Counter()  # pages of each folder that have brought something new
        self._found: dict[str, Trap] = {}
        self._closed_names: set[str] = set()
        self._closed_roots: set[str] = set()
        self._parameters: dict[tuple[str, bool], _Parameter] = {}  # by name, numbers of sessions apart
        self._texts: dict[str, int] = {}  # hashes, by address with and without each of its parameters
        # by address and text: further pages of a list or thread, and what may turn out to be one of them
        self._paged, self._alone = set[int](), defaultdict[int, list[_Parameter]](list)
        self._seen: set[str] = set()  # texts of all pages

    def trace(self, url: str) -> Trace:
        """Return an address as traps see it, found on a page that is not barren."""
        pattern = pattern_of(url)
        if pattern.numbered:  # thousands of addresses have one
            pattern = self._patterns.setdefault(pattern, pattern)
        return Trace(pattern, 0, repeats(url))

    def judge(self, url: str, trace: Trace, page: Read, *, news: bool, pictures: bool) -> bool:
        """Take a fetched page, and return whether it is barren.

        News are new pictures, and new addresses outside of its family.
        """
        if self._handling == "off":
            return False
        pattern, hashes = trace.pattern, np.array(page.sketch, np.uint32)
        lines = np.array(page.lines, np.uint32)
        if pattern.numbered:
            barren = not news and self._known.share_new(pattern.family, hashes) < NEW_SHARE
            self._known.add(pattern.family, hashes)
        else:
            barren = not pictures and bool(page.text) and page.text in self._seen
        self._seen.add(page.text)
        same = barren and bool(pattern.names)
        same = same and self._known.share_new(f"{pattern.family}=", lines) < NEW_SHARE
        # What queries of this path will be compared with.
        self._known.add(f"{pattern.family}=" if pattern.names else f"{pattern.key}?=", lines)
        if not pattern.names:
            self._known.add(f"{pattern.key}?", hashes)
        if not barren:
            self.fruitful[folder_of(url)] += 1
        whole = len(lines) < SKETCH_SIZE  # then an order of the same lines says nothing else
        self._compare(url, pattern, crc32(lines.tobytes() if whole else page.text.encode()), news=news)
        if self._handling == "report" and (trap := self._refuses(url, trace)):
            trap.seen += trace.repeated is not None
        if pattern.numbered:
            self._count(url, trace, page.text, barren=barren, same=same)
        elif barren and trace.run:
            self._count_nested(url)
        return barren

    @staticmethod
    def leads_on(url: str, trace: Trace, source: str, own: Trace) -> bool:
        """Return whether an address is more of what the barren page is that it was found on."""
        if trace.pattern.numbered:
            return trace.pattern.grows_with(own.pattern)
        return not own.pattern.numbered and is_below(url, source)

    def _count_nested(self, url: str) -> None:
        """Count a page with another's text, found on one with another's text above it."""
        name = nest_of(url)
        family = self._families.setdefault(name, _Family())
        family.fetched += 1
        if family.fetched == BARREN:
            said = f"{BARREN} of its pages have the text of others, and were found on such pages above them"
            family.trap = self._found[name] = Trap(name, "repeating path", said, url, family)

    def _count(self, url: str, trace: Trace, text: str, *, barren: bool, same: bool) -> None:
        pattern = trace.pattern
        family = self._families.setdefault(pattern.key, _Family())
        family.fetched += 1
        family.novel += not barren
        dull = family.dull.get(pattern.text, 1.0)
        # One that brings something outweighs ten that do not: the second page of a list links back to the
        # first, known from an address without a number, and the list goes on all the same.
        family.dull[pattern.text] = 0.9 * dull + 0.1 if barren else 0.7 * dull
        family.history = (family.history << 1 | barren) & ((1 << RECENT) - 1)
        elsewhere = bool(pattern.names) and not pattern.is_list and pattern.names <= self._closed_names
        again = elsewhere or pattern.family in self._closed_roots
        family.equal += same
        family.names_equal |= pattern.names if same else frozenset()
        if barren and (trace.run or elsewhere):
            family.barren += 1
            family.chain = max(family.chain, trace.run)
            family.names |= pattern.names
        self._march(url, trace, family, barren=barren and (trace.run > 0 or elsewhere))
        if pattern.names or barren:
            family.same = family.same + 1 if text == family.last_text else 0
            family.last_text = text
        if family.trap is None or not family.trap.whatever:
            self._close(url, trace, family, again=again, elsewhere=elsewhere)

    def _march(self, url: str, trace: Trace, family: _Family, *, barren: bool) -> None:
        """Count a page in its sequence, or, where it is barren and of none, as one astray."""
        name, number = sequence_of(url, trace.pattern) or ("", 0)
        if not name:
            family.astray += barren
            return
        low, high, count = self._sequences.get(name, (number, number, 0))
        low, high, count = self._sequences[name] = [min(low, number), max(high, number), count + 1]
        if barren:
            if len(family.sequences) < 2:  # whether they are several is all that is asked
                family.sequences.add(name)
            family.begun += count == 1 and trace.run > CHAIN
            if high - low > DENSE * count:
                family.astray += 1
            else:
                family.longest = max(family.longest, count)

    def _close(self, url: str, trace: Trace, family: _Family, *, again: bool, elsewhere: bool) -> None:
        """Close a family if what was seen of it is enough."""
        pattern = trace.pattern
        # Lists under filters are made of lines that the whole list has, numbers and all, wherever a link to
        # them stands.
        filters = family.equal >= BARREN_SOON and len(family.names_equal) > 1
        whatever = (family.same >= SAME and bool(pattern.names)) or filters
        soon = (len(family.names) > 1 and len(family.sequences) != 1) or kind_of(pattern) == "calendar"
        limit = BARREN_AGAIN if again else BARREN_SOON if soon else BARREN
        enough = 1 if soon or again else CHAIN
        certain = soon or again or whatever or family.same >= SAME
        unending = family.astray >= BARREN or family.begun >= BEGUN or family.longest > self._max_sequence
        recent = min(family.fetched, RECENT)
        if family.history.bit_count() < recent - recent // 10 and family.same < SAME:
            return
        barren = family.barren >= limit and (elsewhere or family.chain >= enough) and (certain or unending)
        if not whatever and (not barren or family.trap is not None):
            return
        fetched = f"of the {family.fetched:,} pages fetched of it"
        if barren and not whatever:
            said = (
                f"{family.barren:,} {fetched} have no text or picture that the others lack, lead to no new "
                "address outside of it, and were found on others of them"
            )
            if (numbers := self._sequences.get((sequence_of(url, pattern) or ("",))[0])) and not soon:
                said += f"; it went from {numbers[0]:,} to {numbers[1]:,}"
        elif filters:
            said = f"{family.equal:,} {fetched} have no line that others lack"
        else:
            said = f"{family.same + 1} pages of it in a row have the same text"
        whatever = whatever or elsewhere
        names = family.names | family.names_equal or pattern.names
        if pattern.names:
            self._closed_names |= names if len(names) > 1 else set()
        else:
            self._closed_roots.add(pattern.family)
        if family.trap is not None:  # it was closed for some of its addresses alone
            family.trap.whatever, family.trap.evidence = whatever, said
            return
        shown = f"{pattern.family}{'&'.join(sorted(names))}"[:500] if pattern.names else pattern.key
        trap = Trap(shown, kind_of(pattern), said, url, family, whatever, certain)
        family.trap = self._found[shown] = trap

    def _compare(self, url: str, pattern: Pattern, text: int, *, news: bool) -> None:
        """Compare a page with those that lack one of its parameters, or have another value of it."""
        for bare, name, value in without_each(url):
            key = name, is_session(name, value)
            known = self._parameters.setdefault(key, _Parameter(key[1]))
            shown = hash((bare, text))
            same = self._texts.get(bare) == text or (shown in self._paged and not pattern.is_list)
            if bare not in self._texts:
                known.first += 1
            elif same and (known.session or not news):
                known.equal += 1
                known.pages.add(bare)
                known.places &= name in dict(places_of(url))
                if len(known.values) < PLAIN_VALUES:
                    known.values.add(value)
                if known.changes_nothing(bare):
                    self._families.setdefault(pattern.key, _Family()).needless = True
            else:
                known.different += 1
                self._alone[shown].append(known)
                if pattern.is_list:
                    self._paged.add(shown)
                    for other in self._alone.pop(shown)[:-1]:
                        other.different -= 1
            self._texts.setdefault(bare, text)
        self._texts[url] = text

    def refuses(self, url: str, trace: Trace) -> Trap | None:
        """Return the trap that an address belongs to, None if it may be fetched."""
        return self._refuses(url, trace) if self._handling == "stop" else None

    def _refuses(self, url: str, trace: Trace) -> Trap | None:
        family = self._families.get(trace.pattern.key if trace.pattern.numbered else nest_of(url))
        if trace.repeated is not None and not (family and family.trap):
            shown = trace.repeated
            evidence = "the path repeats parts of itself, as links do that lead below themselves"
            return self._found.setdefault(shown, Trap(shown, "repeating path", evidence, url))
        if trap := self._changing_nothing(url):
            return trap
        if family is None or family.trap is None:
            return None
        whatever = family.trap.whatever and family.bores(trace.pattern)
        return family.trap if trace.run or trace.repeated is not None or whatever else None

    def _changing_nothing(self, url: str) -> Trap | None:
        """Return the trap of a parameter without which a page was fetched that is the same."""
        for bare, name, value in without_each(url):
            known = self._parameters.get((name, is_session(name, value)))
            if known is None or bare not in self._texts or not known.changes_nothing(bare):
                continue
            shown, compared = f"{name}=…", known.equal + known.different
            if known.session:
                kind, how = "session", f"under another value of {name}, as with the number of a session"
            else:
                kind, how = "parameter", f"without {name}, or under another value of it"
            evidence = f"{known.equal} of {compared} pages have the same lines {how}"
            trap = self._found.setdefault(shown, Trap(shown, kind, evidence, url))
            trap.seen = compared + known.first
            return trap
        return None

    def suspects(self, key: str) -> bool:
        """Return whether addresses that are counted together may turn out to be a trap."""
        family = self._families.get(key)
        return family is not None and (family.needless or family.history & SUSPECT == SUSPECT)

    def allowance(self, key: str) -> int:
        """Return how many addresses may be fetched ahead of those that are counted together with them."""
        family = self._families.get(key)
        if family is None:
            return ALLOWED
        return ALLOWED // 2 if self.suspects(key) else ALLOWED + 2 * family.novel

    def told(self, skipped: Mapping[str, int], *, certain: bool) -> list[str]:
        """Return what to say of each family that was left, given how many addresses each refused."""
        if self._handling != "stop":
            return []
        said = {"parameter": "a parameter that changes nothing"}
        return [
            f"{trap.pattern} was left as {said.get(trap.kind, 'endless')}"
            f"{', but for what brings something new,' * trap.spares}"
            f"{f' after {trap.fetched:,} of its pages' * (trap.fetched > 0)}, with "
            f"{skipped.get(trap.pattern, 0):,} known addresses not fetched."
            for trap in self._found.values()
            if trap.certain == certain
        ]

    def rows(self, skipped: Mapping[str, int]) -> list[dict[str, Any]]:
        """Return the rows of `TRAPS`, given how many addresses each refused."""
        return [
            {
                "pattern": trap.pattern,
                "kind": trap.kind,
                "fetched": trap.fetched,
                "skipped": skipped.get(trap.pattern, 0),
                "example": trap.example,
                "evidence": f"{trap.evidence[0].upper()}{trap.evidence[1:]}.",
            }
            for trap in self._found.values()
        ]
