"""Build the package's stop word lists from two published collections.

Run once for each new release of a collection; the file it writes is kept in the repository:

    python data/build_stop_words.py stopwords-iso.json stop-words/

The first is the list of the package stopwordsiso (MIT), the second the folder of lists of the package
stop-words (BSD-3-Clause); their licences are in `stop-words-LICENSE.txt` beside the result. What neither has
is in `any-subject.txt`, which was written for the package.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "webanalytics" / "page" / "data" / "stop-words.txt"
ANY_SUBJECT = Path(__file__).with_name("any-subject.txt")
RENAMED = {"nb": "no"}

# From this many words on, a letter that a list does not have means a broken encoding in the other one.
LARGE = 300

# Nouns, verbs and adjectives of the English lists that a page can be about.
ENGLISH_CONTENT = """
    affected announce area areas auth beginning beginnings bill billion biol bottom brief buy call caption
    case cases changes clear click close computer contain containing contains copy course cry date describe
    described detail different early edu effect empty end ended ending ends example face faces fact facts
    fill fire five fix free front full general goods great greater greatest greetings group grouped grouping
    groups half hello help high higher highest home homepage html hundred immediate importance important
    index information inner interest interested interesting interests invention join keys large latest
    length line little long longer longest low lower man member members men microsoft mill million mine
    mug name net netscape network new newer newest novel null number numbers old older oldest open opened
    opening opens order ordered ordering orders page pages part parting parts place placed places point
    pointed pointing points poorly present presented presenting presents problem problems proud recent
    research results right ring room rooms save section self sensible serious shell show showed showing
    shows side sides significant site small smaller smallest state states system terms test text thick
    thin tip today top trillion turn turned turning turns value web webpage website welcome wells width
    words work worked working works world young younger youngest zero
"""

# Function words that neither collection has.
MISSING = {
    "de": "anhand aufgrund außerdem außerhalb bevor bzw deshalb deswegen eher etwa falls fast gegenüber "
    "inklusive innerhalb jeweils kaum leider meist meistens mittels nachdem obwohl sobald sodass somit sowie "
    "sowohl trotzdem während wodurch woher wohin zudem zufolge",
    "el": "αλλά αυτά αυτές αυτή αυτό αυτοί αυτός είναι είχε έχει έχουν ενώ εδώ εκεί επίσης ήταν κάθε κάποιο "
    "κάτι μέσα μέχρι μετά μόνο μπορεί όλα όλοι όμως όπου όπως όσο όταν ότι ούτε πάνω πολύ πρέπει πώς τότε "
    "τώρα χωρίς ώστε",
    "lt": "apie buvo kurie kurios nėra tačiau yra",
    "ur": "جیسے سکتے کیا کیونکہ لیکن نہیں ہے",
}

# Encodings that words of the collections were misread with: what was meant, and what it was taken for.
MISREAD = {
    "hu": [("cp1250", "latin-1")],
    "lt": [("cp1257", "latin-1")],
    "tr": [("cp1254", "latin-1"), ("cp1254", "cp1250")],
}
FOREIGN = {"hu": set("õû"), "lt": set("àáæèëðøûþ"), "tr": set("ýþðţđ")}


def reread(word: str, language: str) -> str:
    """Return a word in its right letters, where it was decoded with the wrong table."""
    if not set(word) & FOREIGN.get(language, set()):
        return word
    for meant, taken in MISREAD[language]:
        try:
            again = word.encode(taken).decode(meant)
        except UnicodeError:
            continue
        if not set(again) & FOREIGN[language]:
            return again
    return ""


def cleaned(entry: str) -> str:
    """Return a list's entry as the keyword analysis writes words, or an empty string for a broken one."""
    word = unicodedata.normalize("NFC", entry.strip().strip("\"“”',.").lower()).replace("’", "'")
    letters = re.sub("['\u200c\u200d]", "", word)
    good = letters and all(unicodedata.category(character)[0] in "LM" for character in letters)
    return word if good else ""


def merged(first: set[str], second: set[str]) -> set[str]:
    """Return both lists together, without the words of the second that have letters foreign to the first."""
    if len(first) < LARGE:
        return first | second
    alphabet = set("".join(first))
    return first | {word for word in second if set(word) <= alphabet}


def of_any_subject() -> dict[str, set[str]]:
    """Return the words of texts on any subject that were written for the package, by language."""
    lines = [line for line in ANY_SUBJECT.read_text("utf-8").splitlines() if not line.startswith("#")]
    blocks = (block.split(": ", 1) for block in "\n".join(lines).strip().split("\n\n"))
    return {language: set(words.split()) for language, words in blocks}


def main(collection: str, folder: str) -> None:
    """Write one line for each language: its code, then its words."""
    lists = {
        language: {word for entry in entries if (word := reread(cleaned(entry), language))}
        for language, entries in json.loads(Path(collection).read_text("utf-8")).items()
    }
    names = json.loads((Path(folder) / "languages.json").read_text("utf-8"))
    for code, name in names.items():
        entries = (Path(folder) / f"{name}.txt").read_text("utf-8").splitlines()
        language = RENAMED.get(code, code)
        second = {word for entry in entries if (word := reread(cleaned(entry), language))}
        lists[language] = merged(lists.get(language, set()), second)
    added = [(language, set(words.split())) for language, words in MISSING.items()]
    for language, words in [*added, *of_any_subject().items()]:
        lists[language] |= {unicodedata.normalize("NFC", word) for word in words}
    lists["en"] -= set(ENGLISH_CONTENT.split())
    lines = [" ".join([language, *sorted(words)]) for language, words in sorted(lists.items())]
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(lines)} languages, {sum(map(len, lists.values())):,} words")


if __name__ == "__main__":
    main(*sys.argv[1:])
