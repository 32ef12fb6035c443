"""Words of texts as numbers, so that what pages say can be kept and compared.

Worker processes read texts by `read_texts`, so nothing here needs pandas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import regex

from webanalytics.audits.content.vocabulary import STEP, Numbers
from webanalytics.audits.graph.metrics import once
from webanalytics.core.strings import OTHER_SCRIPT, normalized

PORTION = 100
"""Most pages that are read or counted together."""

SHARED_FROM = 500
"""Pages from which on worker processes read and count, which take a second to start."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PLAIN_WORD = re.compile(r"\w+")
_UNSPACED_LETTER = regex.compile(f"[{_UNSPACED}]")
_WORD = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|[\w--[{_UNSPACED}]]+", regex.VERSION1)
_LETTER_ALONE = re.compile("[\u05d0-\u05ea\u0620-\u064a\u0660-\u0669\u0671-\u06d3]")
"""Letters of Hebrew and Arabic: where none of their marks is near they are what they are by themselves."""


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


def read_words(text: str) -> tuple[Numbers, int]:
    r"""Return hashes of the `words` of a text, the same in every process, and how many `words_in` counts.

    All of its signs are looked up together; pieces with signs of which a table cannot say enough are
    read one by one.

    Examples
    --------
    >>> hashes, count = read_words("Storm lantern - 30 hours of light/day")
    >>> len(hashes), count
    (7, 6)
    """
    parts = [_read_block(block) for block in _blocks(text)]
    return np.concatenate([hashes for hashes, _ in parts]), sum(count for _, count in parts)


_BLOCK = 500_000
"""Characters that are looked up together, at 50 bytes each; a longer word is cut."""


def _blocks(text: str) -> Iterator[str]:
    """Yield a text in parts that end where pieces do."""
    start = 0
    while len(text) - start > _BLOCK:
        end = max(text.rfind(blank, start + 1, start + _BLOCK) for blank in " \n")
        end = start + _BLOCK if end < 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def _read_block(text: str) -> tuple[Numbers, int]:
    codes, kinds = _signs(text)
    unclear = np.flatnonzero(kinds & _UNCLEAR)
    if not len(unclear):
        return _hashes(codes, kinds), _count(kinds)
    if 20 * len(unclear) > len(codes):  # most pieces have some
        read = [_read_piece(piece) for piece in text.split()]
        return _hashes(*_signs(" ".join([known for known, _ in read]))), sum(count for _, count in read)
    edges = np.concatenate(([-1], np.flatnonzero(kinds & _SPACE), [len(text)]))
    ends = once(np.searchsorted(edges, unclear))
    parts, count, before = list[str](), 0, 0
    for start, end in zip((edges[ends - 1] + 1).tolist(), edges[ends].tolist(), strict=True):
        words, counts = _read_piece(text[start:end])
        parts += text[before:start], words
        count, before = count + counts, end
        kinds[start:end] = 0  # its words are counted
    return _hashes(*_signs("".join((*parts, text[before:])))), count + _count(kinds)


def _count(kinds: Numbers) -> int:
    """Return how many pieces have a letter or a digit."""
    pieces = np.cumsum(kinds & _SPACE > 0)[kinds & _COUNTS > 0]
    return int(np.count_nonzero(np.diff(pieces))) + (len(pieces) > 0)


def _read_piece(piece: str) -> tuple[str, int]:
    """Return the words of a piece, and how many it counts as; short ones are known for some time."""
    return (_known_piece if len(piece) < 40 else _known_piece.__wrapped__)(piece)


@lru_cache(maxsize=50_000)
def _known_piece(piece: str) -> tuple[str, int]:
    return " ".join(words(piece)), words_in(piece)


_SIZE, _FEW = 0x20000, 0x2800
"""Signs that have a place in the tables, and those that are looked at one by one for them."""
_OF_WORD, _COUNTS, _SPACE, _UNCLEAR = 1, 2, 4, 8
"""What signs are: of words, letters or digits, white space, or of a form that needs a closer look."""


@cache
def _tables() -> tuple[Numbers, Numbers]:
    """Return what each sign is, and the code of the sign that it is read as."""
    kinds, folded = np.full(_SIZE, _UNCLEAR | _OF_WORD, np.uint8), np.arange(_SIZE, dtype=np.uint32)
    kinds[0x1F300:0x1F700] = kinds[0x1F900:0x1FA00] = 0  # emoji
    kinds[0xAC00:0xD7A4] = _OF_WORD | _COUNTS  # syllables of Korean
    for code, sign in enumerate(map(chr, range(_FEW))):
        plain, counts = normalized(sign, "NFKC").casefold(), sign.isalnum()
        is_unclear = bool(OTHER_SCRIPT.match(sign)) and not _LETTER_ALONE.match(sign)
        is_unclear |= len(plain) > 1 and bool(_WORD.search(plain))
        is_unclear &= not sign.isspace()
        of_word = counts or sign == "_" or is_unclear
        kinds[code] = of_word + _COUNTS * counts + _SPACE * sign.isspace() + _UNCLEAR * is_unclear
        if len(plain) == 1:
            folded[code] = ord(plain)
    return kinds, folded


def _signs(text: str) -> tuple[Numbers, Numbers]:
    """Return the code of each sign of a text, and what it is."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return codes, _tables()[0].take(codes, mode="clip")


def _hashes(codes: Numbers, kinds: Numbers) -> Numbers:
    """Return a hash for each run of signs of words: the polynomial of what they are read as."""
    of_words = kinds & _OF_WORD
    edges = np.flatnonzero(np.diff(of_words, prepend=0, append=0))
    lengths = edges[1::2] - edges[::2]
    if not len(lengths):
        return np.empty(0, np.uint64)
    begins = np.cumsum(lengths) - lengths
    chosen = codes[of_words > 0]
    read = np.where(chosen < _SIZE, _tables()[1].take(chosen, mode="clip"), chosen)
    places = np.arange(len(chosen)) - np.repeat(begins, lengths)
    powers = np.multiply.accumulate(np.full(lengths.max(), STEP, np.uint64))
    hashes: Numbers = np.add.reduceat(read * powers[places], begins)
    return hashes


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
    """Return what is told of pages.

    A page is the text of its content, the lines that are no part of it, and all that is visible.
    """
    found = []
    for text, shared, visible in pages:
        hashed = content_hash(visible or "")
        own = without_lines(text or "", shared)
        own_hash = hashed if own is visible else content_hash(own)  # most are where little is shared
        found.append(TextRead(*read_words(own), own_hash, hashed))
    return found


def score_texts(texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return how well texts read, each with its language."""
    from webanalytics.page.readability.readability import score  # it takes the words it knows along

    return [score(*text) for text in texts]
