"""Endless families of addresses, recognised by what grows without bringing anything new.

A page is barren if nearly all its text was seen in its family before and if it shows no new picture and leads
to no new address outside of it. Families whose barren pages keep finding further addresses of the same family
are closed: addresses found on their barren pages are refused, those found elsewhere are not. Nothing depends
on the time of an answer: pages are judged in the crawl's order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webanalytics.crawls.patterns import Pattern, folder_of, kind_of, pattern_of, repeats, without_session

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
SAME = 40
"""Pages of one path in a row with the same text, whatever their query, from which it is closed."""
RECENT = 20
"""Pages of a family that were fetched last, nearly all of which must be barren."""
SUSPECT = 4
"""Barren pages from which a family is not fetched ahead."""
SESSION_PROOF = 3
"""Pages that were equal under two numbers of a session from which it is taken for one."""

_BITS = 26


class Trace(NamedTuple):
    """An address as traps see it.

    Attributes
    ----------
    pattern : Pattern
        What it has in common with others.
    run : int
        Barren pages of its family in a row through which it was found.
    repeated : str or None
        The part of its path that repeats.
    session : tuple of str or None
        The address without its session, and the parameter's name.
    """

    pattern: Pattern
    run: int
    repeated: str | None
    session: tuple[str, str] | None


@dataclass
class _Family:
    """What was seen of the addresses that are counted together."""

    fetched: int = 0
    barren: int = 0
    chain: int = 0
    history: int = 0
    same: int = 0
    last_text: str = ""
    names: set[str] = field(default_factory=set)
    trap: Trap | None = None


@dataclass
class Trap:
    """An endless family: ``pattern`` names it, and says in `skipped` why an address was refused."""

    pattern: str
    kind: str
    evidence: str
    example: str
    family: _Family | None = None
    whatever: bool = False

    @property
    def fetched(self) -> int:
        """How many of its addresses were fetched."""
        return self.family.fetched if self.family else 0


class Known:
    """Which pairs of words were seen in which family: a bit each, of a table of eight megabytes."""

    def __init__(self) -> None:
        self._table = np.zeros(1 << (_BITS - 3), np.uint8)

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
    """Judges pages in the crawl's order, and refuses addresses of families that were closed.

    Attributes
    ----------
    fruitful : Counter
        How many pages of each folder have brought something new.
    """

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}
        self._known = Known()
        self.fruitful: Counter[str] = Counter()
        self._found: dict[str, Trap] = {}
        self._closed_names: set[str] = set()
        self._closed_roots: set[str] = set()
        self._sessions: dict[str, list[int]] = {}
        self._texts: dict[str, str] = {}

    def trace(self, url: str, parent: Trace | None = None, *, barren: bool = False) -> Trace:
        """Return an address as traps see it, found on a page that is barren or not."""
        pattern = pattern_of(url)
        run = 0
        if parent is not None and barren and pattern.numbered and pattern.grows_with(parent.pattern):
            run = parent.run + 1
        return Trace(pattern, run, repeats(url), without_session(url))

    def judge(self, url: str, trace: Trace, sketch: Sequence[int], text: str, *, news: bool) -> bool:
        """Take a fetched page, and return whether it is barren.

        Parameters
        ----------
        url : str
            Its address.
        trace : Trace
            The address as traps see it.
        sketch : sequence of int
            Hashes of its pairs of words.
        text : str
            Hash of its visible text.
        news : bool
            Whether it leads to new addresses outside of its family.
        """
        pattern, hashes = trace.pattern, np.array(sketch, np.uint32)
        barren = pattern.numbered and not news
        barren = barren and self._known.share_new(pattern.family, hashes) < NEW_SHARE
        if pattern.numbered:
            self._known.add(pattern.family, hashes)
        if not pattern.names:
            self._known.add(f"{pattern.key}?", hashes)  # what queries of this path will be compared with
        if not barren:
            self.fruitful[folder_of(url)] += 1
        self._compare_session(url, trace, text)
        if pattern.numbered:
            self._count(url, trace, text, barren=barren)
        return barren

    def _count(self, url: str, trace: Trace, text: str, *, barren: bool) -> None:
        pattern = trace.pattern
        family = self._families.setdefault(pattern.key, _Family())
        family.fetched += 1
        family.history = (family.history << 1 | barren) & ((1 << RECENT) - 1)
        elsewhere = bool(pattern.names) and pattern.names <= self._closed_names
        again = elsewhere or pattern.family in self._closed_roots
        if barren and (trace.run or elsewhere):
            family.barren += 1
            family.chain = max(family.chain, trace.run)
            family.names |= pattern.names
        if pattern.names:
            family.same = family.same + 1 if text == family.last_text else 0
            family.last_text = text
        if family.trap is None:
            self._close(url, trace, family, again=again, elsewhere=elsewhere)

    def _close(self, url: str, trace: Trace, family: _Family, *, again: bool, elsewhere: bool) -> None:
        """Close a family if what was seen of it is enough."""
        pattern = trace.pattern
        whatever = family.same >= SAME
        several = len(family.names) > 1
        soon = several or kind_of(pattern) == "calendar"
        limit = BARREN_AGAIN if again else BARREN_SOON if soon else BARREN
        enough = 1 if soon or again else CHAIN
        recent = min(family.fetched, RECENT)
        barren = (
            family.barren >= limit
            and (elsewhere or family.chain >= enough)
            and family.history.bit_count() >= recent - recent // 10
        )
        if not barren and not whatever:
            return
        if barren:
            said = (
                f"{family.barren} of the {family.fetched} pages fetched of it have no text or picture that "
                "the others lack, lead to no new address outside of it, and were found on others of them"
            )
        else:
            said = f"{family.same + 1} pages of it in a row have the same text"
        shown = (
            f"{pattern.key}{'&'.join(sorted(family.names or pattern.names))}"
            if pattern.names
            else pattern.key
        )
        shown = shown[:500]
        whatever = whatever or elsewhere
        family.trap = self._found[shown] = Trap(shown, kind_of(pattern), said, url, family, whatever)
        if several and pattern.names:
            self._closed_names |= family.names
        elif not pattern.names:
            self._closed_roots.add(pattern.family)

    def _compare_session(self, url: str, trace: Trace, text: str) -> None:
        bare, name = trace.session or (url, "")
        first = self._texts.get(bare)
        if first is None:
            self._texts[bare] = text
        elif name:
            self._sessions.setdefault(name, [0, 0])[first == text] += 1

    def refuses(self, url: str, trace: Trace) -> Trap | None:
        """Return the trap that an address belongs to, None if it may be fetched."""
        if trace.repeated is not None:
            shown = trace.repeated
            evidence = "the path repeats parts of itself, as links do that lead below themselves"
            return self._found.setdefault(shown, Trap(shown, "repeating path", evidence, url))
        if trace.session is not None and (trap := self._session(url, trace.session)):
            return trap
        family = self._families.get(trace.pattern.key)
        if family is None or family.trap is None:
            return None
        return family.trap if trace.run or family.trap.whatever else None

    def _session(self, url: str, session: tuple[str, str]) -> Trap | None:
        bare, name = session
        different, equal = self._sessions.get(name, (0, 0))
        if bare not in self._texts or equal < SESSION_PROOF or equal < 4 * different:
            return None
        shown = f"{name}=…"
        evidence = (
            f"{equal} of {equal + different} pages have the same text under another value of {name}, "
            "as with the number of a session"
        )
        return self._found.setdefault(shown, Trap(shown, "session", evidence, url))

    def suspects(self, trace: Trace) -> bool:
        """Return whether an address is better not fetched before its turn."""
        if trace.session is not None and trace.session[0] in self._texts:
            return True
        family = self._families.get(trace.pattern.key)
        return family is not None and family.barren >= SUSPECT

    def rows(self, skipped: dict[str, int]) -> list[dict[str, Any]]:
        """Return the rows of `webanalytics.frames.crawl.TRAPS`, given how many addresses each refused."""
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
