"""Words of texts as numbers, so that what pages say can be kept and compared.

Worker processes read texts by `read_texts`, so nothing here needs pandas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from hashlib import sha256
from threading import get_ident
from typing import Any, NamedTuple

import regex

from webanalytics.audits.content.pieces import Pieces
from webanalytics.audits.content.vocabulary import Numbers, word_hash
from webanalytics.core.strings import OTHER_SCRIPT, normalized

PORTION = 100
"""Most pages that are read or counted together."""

SHARED_FROM = 500
"""Pages from which on worker processes read and count, which take a second to start."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_PLAIN_WORD = re.compile(r"\w+")
_UNSPACED_LETTER = regex.compile(f"[{_UNSPACED}]")
_WORD = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|[\w--[{_UNSPACED}]]+", regex.VERSION1)


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
