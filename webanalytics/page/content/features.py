"""What is measured of each block of a page, and of the page, for the models that say what its content is."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webanalytics.page.content.names import GROUPS
from webanalytics.page.visible_text import Blocks

Numbers = NDArray[np.floating[Any]]

HOST_TAGS = (
    *("p", "li", "td", "th", "dt", "dd", "div", "h1", "h2", "h3", "h4", "h5", "pre", "button"),
    *("figcaption", "section"),
)
_TAG_NUMBERS = {tag: number for number, tag in enumerate(HOST_TAGS)}
MOST_MEASURES = 240
LEVELS = 6
"""Nodes around a block that are looked at, one around the other."""
_HEAD = 60
_SHORT = 120
"""Characters up to which a text may be a call to do something, or say when something was written."""
_CURRENCIES = re.compile("[€£¥₹]")
_SEPARATOR = re.compile("[·»›•]")
_DIGIT = re.compile("[0-9]")


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_DATES = words(
    "ago jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june "
    "july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday posted published updated yesterday today hours days weeks months years"
)
_CALLS = words(
    "subscribe reply share report login cookie cookies copyright privacy terms download "
    "newsletter next previous prev shop follow cart buy basket quote sign log menu search view "
    "started demo contact trial free rights reserved skip like upvote permalink email tweet print "
    "save edit load show see less"
)
_OTHERS = words(
    "related similar more recommended recommendations popular latest trending also next previous mehr "
    "weitere weitere verwandte ähnliche auch schon gelesen themen plus aussi lire más también "
    "relacionados relacionadas altri anche leggi correlati zobacz podobne czytaj leia mais meer lees "
    "lisez autres otras otros topics articles sponsored advertisement anzeige newsletter subscribe "
    "stories posts read"
)
_REMARKS = words(
    "comments comment kommentare kommentar commentaires commentaire comentarios comentario commenti "
    "commento komentarze komentarz reacties replies responses respuestas discussion leave diskussion "
    "reviews share teilen partager compartir condividi udostępnij about author"
)
_TELLING = _DATES | _CALLS | _OTHERS | _REMARKS
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
"""Chinese and Japanese signs, of which each says as much as two or three letters."""
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
"""Letters of Thai, Lao, Burmese and Khmer: their words, too, have no spaces between them."""
_ENDS = (".", "!", "?", "…", "。", "！", "？", ".”", '."', ":", ".)", "।", "؟")


def unspaced_words(text: str) -> int:
    """Return about how many words of scripts without spaces are in a text."""
    return sum(map(len, _DENSE.findall(text))) // 2 + sum(map(len, _UNPARTED.findall(text))) // 5


def _per_text(text: str) -> tuple[float, ...]:
    head = text[:_HEAD]
    size = len(text)
    plain = text.isascii()
    is_dense = not plain and len(text.encode("utf-8", "replace")) > 2 * size
    dense = sum(map(len, _DENSE.findall(text))) if is_dense else 0
    said = text.lower().split() if size < _SHORT else ()
    tells = bool(said) and not _TELLING.isdisjoint(said)
    return (
        size + 1.5 * dense,
        text.count(" ") + 1 + (unspaced_words(text) if is_dense else 0),
        text.count(",") if plain else text.count(",") + text.count("，") + text.count("、"),
        text.count(". ") if plain else text.count(". ") + text.count("。"),
        text.endswith(_ENDS),
        1 - (len(head) - len(_DIGIT.findall(head))) / len(head),
        "|" in head or (not plain and _SEPARATOR.search(head) is not None),
        "$" in head or (not plain and _CURRENCIES.search(head) is not None),
        tells and not _DATES.isdisjoint(said),
        tells and not _CALLS.isdisjoint(said),
        tells and not _OTHERS.isdisjoint(said),
        tells and not _REMARKS.isdisjoint(said),
    )


TEXT_NAMES = (
    *("chars", "words", "commas", "sentences", "ends", "digits", "separators", "currency"),
    *("date", "call", "others", "remarks"),
)


def spread(values: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """Return a row for each of the lowest bits of whole numbers, of 32 at most."""
    octets = values.astype("<u4").view(np.uint8).reshape(-1, 4)
    return np.unpackbits(octets, axis=1, count=count, bitorder="little").T


def _shifted(values: Numbers, by: int) -> Numbers:
    """Return the values of the blocks so many places on, 0 beyond the ends."""
    moved = np.zeros_like(values)
    if by > 0:
        moved[:-by] = values[by:]
    else:
        moved[-by:] = values[:by]
    return moved


def node_sums(values: Numbers, starts: NDArray[np.int_], ends: NDArray[np.int_]) -> Numbers:
    """Return the sum of values over all blocks in each node, given the first and the one behind the last."""
    total = np.concatenate((np.zeros(1), np.cumsum(values, dtype=np.float64)))
    found: Numbers = total[ends] - total[starts]
    return found


class Frame:
    """The nodes around the blocks of a page as arrays."""

    def __init__(self, blocks: Blocks) -> None:
        parents = np.array(blocks.parents)
        self.starts = np.array(blocks.starts)
        self.ends = np.array(blocks.ends)
        self.levels = [np.array(blocks.hosts)]
        for _ in range(LEVELS - 1):
            # The outermost node is around itself.
            self.levels.append(np.maximum(parents[self.levels[-1]], 0))

    def sums(self, values: Numbers) -> list[Numbers]:
        """Return for each level the sum of values over all blocks in the node around each block."""
        of_node = node_sums(values, self.starts, self.ends).astype(np.float32)
        return [of_node[level] for level in self.levels]


def block_features(blocks: Blocks, known: str, title: str) -> tuple[Numbers, list[str]]:
    """Return numbers of the blocks, a row for each measure and a column for each block, and the names."""
    count, frame = len(blocks.texts), Frame(blocks)
    columns = np.empty((MOST_MEASURES, count), dtype=np.float32)
    names = list(TEXT_NAMES)
    of_texts = np.fromiter(chain.from_iterable(map(_per_text, blocks.texts)), np.float32, count * len(names))
    columns[: len(names)] = of_texts.reshape(count, -1).T

    def add(name: str, values: Any) -> None:
        columns[len(names)] = values
        names.append(name)

    def add_all(named: list[str], rows: Any) -> None:
        columns[len(names) : len(names) + len(named)] = rows
        names.extend(named)

    chars, words = columns[0], columns[1]
    share = np.array(blocks.linked, dtype=np.float32) / np.array([len(text) for text in blocks.texts])
    linked = share * chars
    add("link_share", share)
    add("word_length", chars / words)
    tags = [blocks.nodes[host].tag for host in blocks.hosts]
    number_of = np.array([_TAG_NUMBERS.get(tag, 99) for tag in tags])
    add_all([f"is_{tag}" for tag in HOST_TAGS], number_of == np.arange(len(HOST_TAGS))[:, None])
    # Position.
    order = np.arange(count, dtype=np.float32)
    before = np.cumsum(chars) - chars
    total = float(chars.sum())
    add("place", order / count)
    add("chars_before", before)
    add("chars_before_share", before / total)
    add("chars_after_share", 1 - (before + chars) / total)
    folded = [text[:_HEAD].casefold() for text in blocks.texts]
    times = Counter(folded)
    add("times", [times[text] for text in folded])
    head = title.casefold()
    is_title = np.array(
        [len(text) > 3 and (text == head[:_HEAD] or (len(text) > 15 and text in head)) for text in folded]
    )
    add("is_title", is_title)
    add("since_title", order - np.argmax(is_title) if is_title.any() else -1.0)
    heading = np.array([tag in _HEADINGS for tag in tags])
    main_heading = number_of == _TAG_NUMBERS["h1"]
    add("since_h1", order - np.argmax(main_heading) if main_heading.any() else -1000.0)
    last_heading = np.maximum.accumulate(np.where(heading, np.arange(count), -1))
    add("since_heading", np.where(last_heading >= 0, order - last_heading, 999))
    for name in ("others", "remarks"):
        told = columns[TEXT_NAMES.index(name)] > 0
        add(f"under_{name}", (last_heading >= 0) & told[last_heading])
    long_enough = zip(blocks.texts, (chars > 20).tolist(), strict=True)
    add("known", [is_long and text[:40] in known for text, is_long in long_enough])
    # Neighbours.
    prose = np.where(share < 0.3, chars, 0)
    for by in (-3, -2, 1, 2, 3):
        add(f"chars{by:+}", _shifted(chars, by))
    for by in (-1, 1):
        add(f"links{by:+}", _shifted(share, by))
    for width in (4, 12):
        around = _window(chars, width)
        add(f"chars_around{width}", around)
        add(f"prose_around{width}", _window(prose, width))
        add(f"links_around{width}", _window(linked, width) / np.maximum(around, 1))
    # The nodes around.
    long_prose = np.where(chars >= 80, prose, 0)
    sizes = frame.ends - frame.starts
    repeats = np.array(blocks.repeats, dtype=np.float32)
    in_chars, in_links, in_prose = frame.sums(chars), frame.sums(linked), frame.sums(long_prose)
    all_prose = max(float(long_prose.sum()), 1.0)
    widest = np.zeros(count, dtype=np.float32)
    for level in range(LEVELS):
        where = frame.levels[level]
        add(f"node_chars{level}", in_chars[level])
        add(f"node_share{level}", in_chars[level] / total)
        add(f"node_links{level}", in_links[level] / np.maximum(in_chars[level], 1))
        add(f"repeats{level}", repeats[where])
        if level:
            add(f"node_prose{level}", in_prose[level] / all_prose)
            add(f"node_blocks{level}", sizes[where])
            widest = np.maximum(widest, np.where(sizes[where] > 1, repeats[where], 0))
    add("widest_repeat", widest)
    # Names.
    own = np.array(blocks.names, dtype=np.int64)
    above = _inherited(blocks)
    hosts = frame.levels[0]
    near = own[hosts] | np.array(blocks.inner, dtype=np.int64) | own[frame.levels[1]]
    add_all(_NEAR, spread(near, len(GROUPS)))
    add_all(_ANY, spread(above[hosts], len(GROUPS)))
    return columns[: len(names)], names


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def _window(values: Numbers, width: int) -> Numbers:
    """Return the sums of the values of each block and so many before and behind it."""
    size = len(values)
    total = np.zeros(size + 2 * width + 1)
    np.cumsum(values, out=total[width + 1 : width + 1 + size])
    total[width + 1 + size :] = total[width + size]
    found: Numbers = total[2 * width + 1 :] - total[:size]
    return found


def _inherited(blocks: Blocks) -> NDArray[np.int64]:
    """Return the bits of the names of each node and all nodes around it but html and body."""
    found: list[int] = []
    for parent, name, element in zip(blocks.parents, blocks.names, blocks.nodes, strict=True):
        within = name | found[parent] if parent >= 0 else name
        found.append(0 if element.tag in ("html", "body") else within)
    return np.array(found, dtype=np.int64)


_NEAR = [f"near_{name}" for name in GROUPS]
_ANY = [f"any_{name}" for name in GROUPS]


def weights_of(table: Numbers) -> Numbers:
    """Return the words of each block, by their characters where a language has no spaces."""
    found: Numbers = np.maximum(table[1], table[0] / 8)
    return found
