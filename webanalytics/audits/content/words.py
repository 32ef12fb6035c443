"""Words of texts as numbers, so that what pages say can be kept and compared.

Worker processes read texts by `read_texts`, so nothing here needs pandas.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from hashlib import blake2b, sha256
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import regex

from webanalytics.audits.content.pieces import Pieces
from webanalytics.core.strings import OTHER_SCRIPT, normalized

Numbers = npt.NDArray[Any]
"""Whole numbers, as small as they can be: terms of all pages are kept."""

LONGEST = 3
"""Most words of a term."""

PORTION = 100
"""Most pages that are read or counted together."""

SHARED_FROM = 500
"""Pages from which on worker processes read and count, which take a second to start."""

LEAST = 2
"""How often a phrase must occur on a page to be a term of it."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PLAIN_WORD = re.compile(r"\w+")
_UNSPACED_LETTER = regex.compile(f"[{_UNSPACED}]")
_WORD = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|[\w--[{_UNSPACED}]]+", regex.VERSION1)

# The hash of a phrase is a polynomial of those of its words, modulo 2**64; an odd number without a pattern.
STEP, _MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def word_hash(word: str) -> int:
    """Return a hash of a word of 64 bits that is the same in every process."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def term_hash(*words: int) -> int:
    """Return the hash of a word or a phrase, by those of its words."""
    found = 0
    for word in words:
        found = (found + word) * STEP & _MASK
    return found


class Vocabulary(dict[int, int]):
    """Terms and their numbers, which are found by the terms' hashes; a new one gets the next number.

    Examples
    --------
    >>> known = Vocabulary(["tea"])
    >>> known.of("green tea"), known.of("tea"), known.names
    (1, 0, ['tea', 'green tea'])
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        super().__init__()
        self.names: list[str] = []
        self._hashes = array("Q")
        for term in terms:
            self.of(term)

    def of(self, term: str) -> int:
        """Return the number of a term."""
        return self.number(term, term_hash(*map(word_hash, term.split(" "))))

    def number(self, term: str, known: int) -> int:
        """Return the number of a term whose hash is known."""
        number = self.setdefault(known, len(self.names))
        if number == len(self.names):
            self.names.append(term)
            self._hashes.append(known)
        return number

    def numbers(self, terms: Iterable[str], hashes: Numbers) -> Numbers:
        """Return the numbers of terms whose hashes are known."""
        known = hashes.tolist()
        numbers = zip(map(self.get, known), terms, known, strict=True)
        found = [self.number(term, of) if number is None else number for number, term, of in numbers]
        return np.array(found, np.int32)

    @property
    def hashes(self) -> Numbers:
        """The hashes of the terms by their numbers."""
        return np.array(self._hashes, np.uint64)


class PageTerms(NamedTuple):
    """The terms of one page: its words, and the phrases that it has twice or more."""

    terms: Numbers  # their numbers in a vocabulary: by falling frequency, then first appearance
    counts: Numbers  # how often each occurs
    words: Numbers  # how many words each has
    whole: npt.NDArray[np.bool_]  # whether each stands for itself, and not only within one longer phrase
    totals: Numbers  # by words of a term: all words of the page, all runs of two, and so on; the first is 0
    once: Numbers  # hashes of the phrases that the page has once: they are terms of other pages only
    # whether each term stands in a place, which is missing where that is not known
    places: dict[str, npt.NDArray[np.bool_]]
    row: int = 0  # of the page in the audit
    name: str = ""  # its address
    language: str = ""  # that its text was read in

    @property
    def sizes(self) -> Numbers:
        """Of how many words or phrases each term is one."""
        return self.totals[self.words]

    def only(self, keep: npt.NDArray[np.bool_]) -> PageTerms:
        """Return some of its terms."""
        if keep.all():
            return self
        terms, counts, words, whole = (column[keep] for column in self[:4])
        places = {place: known[keep] for place, known in self.places.items()}
        return self._replace(terms=terms, counts=counts, words=words, whole=whole, places=places)


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case.

    In scripts without spaces between words (Chinese, Japanese, Thai and so on) each character is a word.

    Examples
    --------
    >>> words("The STORM lantern: 灯台!")
    ['the', 'storm', 'lantern', '灯', '台']
    """
    plain = text.lower() if text.isascii() else normalized(text, "NFKC").casefold()
    found: list[str] = (_WORD if OTHER_SCRIPT.search(plain) else _PLAIN_WORD).findall(plain)
    return found


def piece_words() -> Pieces:
    """Return the pieces of texts with hashes of the `words` of each, and how many it counts as (`words_of`).

    Examples
    --------
    >>> hashes, _, [counts] = piece_words().read("Storm lantern - 30 hours of light/day".split())
    >>> len(hashes), counts.tolist()
    (7, [1, 1, 0, 1, 1, 1, 1])
    """
    return Pieces(lambda piece: (map(word_hash, words(piece)), (words_of(piece),)), 1)


def words_of(piece: str) -> int:
    """Return 1 for a piece with a letter or a digit; in scripts without spaces each character is a word."""
    if not piece.isascii() and OTHER_SCRIPT.search(piece) and _UNSPACED_LETTER.search(piece):
        return len(words(piece))
    return any(map(str.isalnum, piece))


def words_in(content: str) -> int:
    """Return the words of a text: what stands between white space and has a letter or a digit.

    In scripts without spaces between words each character is one.

    Examples
    --------
    >>> words_in("Storm lantern - 30 hours"), words_in("灯台の光")
    (4, 4)
    """
    return sum(map(words_of, content.split()))


def content_hash(text: str) -> str:
    r"""Return the SHA-256 of a text with its spaces and line breaks folded, in hexadecimal; '' for none.

    Examples
    --------
    >>> content_hash(" a \n\nb ") == content_hash("a b"), content_hash(" ")
    (True, '')
    """
    folded = text.replace("\n", " ").strip()
    while "  " in folded:
        folded = folded.replace("  ", " ")
    return sha256(folded.encode("utf-8", "replace")).hexdigest() if folded else ""


class TextRead(NamedTuple):
    """What is told of the content of a page."""

    hashes: Numbers  # of its words in order
    words: int  # how many `words_in` counts
    own: str  # its `content_hash`,
    whole: str  # and that of all that is visible


def without_lines(text: str, lines: AbstractSet[str]) -> str:
    """Return a text without some of its lines."""
    return "\n".join(line for line in text.split("\n") if line not in lines) if lines else text


def read_texts(pages: Sequence[tuple[str | None, AbstractSet[str], str | None]]) -> list[TextRead]:
    """Return what is told of pages; pieces of texts are known in the next call too.

    A page is the text of its content, the lines that are no part of it, and all that is visible.
    """
    known = _kept_pieces(get_ident())
    found = []
    for text, shared, visible in pages:
        hashed = content_hash(visible or "")
        own = without_lines(text or "", shared)
        hashes, _, [counts] = known.read(own.split())
        own_hash = hashed if own is visible else content_hash(own)  # most are where little is shared
        found.append(TextRead(hashes, int(counts.sum()), own_hash, hashed))
    return found


def score_texts(texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return how well texts read, each with its language."""
    from webanalytics.page.readability.readability import score  # it takes the words it knows along

    return [score(*text) for text in texts]


@lru_cache(maxsize=4)
def _kept_pieces(thread: int) -> Pieces:  # noqa: ARG001 - no two threads share what they know
    return piece_words()


forget_pieces = _kept_pieces.cache_clear
