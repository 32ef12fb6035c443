"""The content of a page as plain text and as Markdown, from the same units.

Markdown is CommonMark with the tables of GitHub: headings, lists, quotations, tables, code, formulas, links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, islice

from webanalytics.core.strings import normalized
from webanalytics.page.content.units import HEADINGS, Container, Unit
from webanalytics.page.document import Element
from webanalytics.page.visible_text import Piece, drop_invisible

LONGEST_LINK = 2_000
"""Characters of an address from which on its text stays without the link."""
MOST_LINKS = 500_000
"""Characters that all addresses of a page may have."""

_ADDRESS = re.compile(r"(?a:https?://|mailto:|tel:)[^\s<>\"]+", re.IGNORECASE)
_IN_ADDRESS = str.maketrans({"\\": "%5C", "|": "%7C", "`": "%60"})
_REFERENCE = re.compile(r"&(?=#?\w+;)")
_SIGNS = re.compile(r"([\\`*_\[\]<>~|]|&(?=#?\w+;))")
_BLOCK_SIGN = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|=+\s*$|-[\s-]*$|\d{1,9}(?=[.)](?:\s|$)))")
_TICKS = re.compile(r"`+")
_SPACES = re.compile(r" {2,}")
_LAST_SIGNS = re.compile(r"(#+)$")
_LANGUAGE = re.compile(r"(?<!\S)(?:lang(?:uage)?|highlight(?:-source)?)-([A-Za-z][\w+#.-]{0,19})(?!\S)", re.A)
_COLUMN = re.compile(r"(?<!\\)\|")
MOST_STEPS = 12
"""Elements around a text in which its link is looked for."""
_CODE = frozenset(("code", "kbd", "samp", "tt"))


def plain(content: Iterable[Unit]) -> str:
    """Return content as plain text: a line for each paragraph, row and item, ``-`` in front of items."""
    lines: list[str] = []
    begun: set[int] = set()
    for unit in content:
        if unit.kind == "pre":
            lines.extend(_code(unit))
            continue
        prefix = "- " if _begins_item(unit.containers, begun) else ""
        for row in unit.rows:
            # An empty cell keeps its place.
            text = " | ".join(map(_text, row)).strip() if unit.kind == "table" else _text(row[0], True)
            for line in filter(None, text.split("\n")):
                lines.append(prefix + line)
                prefix = ""
    return normalized("\n".join(lines))


def _begins_item(containers: tuple[Container, ...], begun: set[int]) -> bool:
    """Return whether this is the first of an item's content, and note that it has begun."""
    fresh = [part for part in containers if part.number is not None and part.node not in begun]
    begun.update(part.node for part in fresh)
    return bool(fresh)


def _text(pieces: list[Piece], lines: bool = False) -> str:
    """Return the text of pieces, white space folded; with `lines` in the lines that breaks make."""
    if not lines or len(pieces) == 1:
        return " ".join(drop_invisible("".join([text for text, _ in pieces])).split())
    parts = "".join(["\0" if element.tag == "br" and text == "\n" else text for text, element in pieces])
    return "\n".join(" ".join(part.split()) for part in drop_invisible(parts).split("\0")).strip("\n")


def _code(unit: Unit) -> list[str]:
    """Return the lines of a piece of code as they are."""
    text = "\n".join("".join(text for text, _ in row[0]).strip("\r\n") for row in unit.rows)
    # Normalised before it is escaped or fenced: some signs become a tick then.
    lines = (line.rstrip() for line in normalized(text).expandtabs(4).splitlines())
    text = "\n".join(lines).strip("\n")
    return text.split("\n") if text else []


def _language(unit: Unit) -> str:
    """Return the language that a class of code, or close around it, names (HTML: the `code` element)."""
    element = unit.rows[0][0][0][1]
    for near in islice(chain((element,), element.iterancestors()), 5):
        found = _LANGUAGE.search(near.get("class") or "")
        if found and found[1] not in ("default", "none"):
            return found[1]
    return ""


def escaped(line: str) -> str:
    """Return a line of text as Markdown that shows it unchanged."""
    return _BLOCK_SIGN.sub(_without_meaning, _SIGNS.sub(r"\\\1", line))


def _without_meaning(found: re.Match[str]) -> str:
    blank, sign = found.groups()
    return f"{blank}{sign}\\" if sign.isdigit() else f"{blank}\\{sign}"


def paragraphs(text: str) -> str:
    r"""Return plain text as paragraphs of Markdown, each sign escaped that would have a meaning.

    Examples
    --------
    >>> paragraphs("# no heading\n2 * 3 < 7")
    '\\# no heading\n\n2 \\* 3 \\< 7'
    """
    lines = (line.strip() for line in text.split("\n"))
    return "\n\n".join(escaped(line) for line in lines if line)


_Run = tuple[tuple[str, str], list[str]]


class _Inline:
    """Writes the text of blocks with their links and code; addresses of a page share a limit."""

    def __init__(self, absolute: Callable[[str], str]) -> None:
        self._absolute = absolute
        self._room = MOST_LINKS
        self._known: dict[int, str] = {}

    def write(self, pieces: list[Piece]) -> list[str]:
        """Return the lines of a block, none of which begins with a sign that has a meaning."""
        lines: list[list[_Run]] = [[]]
        for text, element in pieces:
            if text == "\n" and element.tag == "br":
                lines.append([])
                continue
            form = self._form(element)
            if lines[-1] and lines[-1][-1][0] == form:
                lines[-1][-1][1].append(text)
            else:
                lines[-1].append((form, [text]))
        return list(filter(None, map(self._line, lines)))

    def _line(self, runs: list[_Run]) -> str:
        written: list[str] = []
        for (kind, target), texts in runs:
            text = normalized(drop_invisible("".join(texts)))
            folded = " ".join(text.split())
            if folded:
                inner = self._inner(kind, folded)
                if target and written and written[-1].endswith("!"):
                    written[-1] = written[-1][:-1] + "\\!"  # what follows is no picture
                inner = f"[{inner}]({target})" if target else inner
                written.append(" " * text[0].isspace() + inner + " " * text[-1].isspace())
            else:
                written.append(" ")
        line = _SPACES.sub(" ", "".join(written)).strip()
        return _BLOCK_SIGN.sub(_without_meaning, line)

    @staticmethod
    def _inner(kind: str, text: str) -> str:
        if kind == "code":
            longest = max(map(len, _TICKS.findall(text)), default=0)
            fence = "`" * (longest + 1)
            edge = " " if text[0] == "`" or text[-1] == "`" else ""
            return f"{fence}{edge}{text}{edge}{fence}"
        if kind == "math" and "$" not in text and "`" not in text:
            return "$" + _SIGNS.sub(r"\\\1", text) + "$"
        return _SIGNS.sub(r"\\\1", text)

    def _form(self, element: Element) -> tuple[str, str]:
        """Return what the text in an element is, code or a formula, and the address that it links to."""
        kind = ""
        for around in islice(chain((element,), element.iterancestors()), MOST_STEPS):
            if around.tag in _STOPS:
                break
            if around.tag in _CODE and not kind:
                kind = "code"
            elif around.tag in ("math", "script"):
                kind = "math"
            elif around.tag == "a":
                return kind, self._target(around)
        return kind, ""

    def _target(self, link: Element) -> str:
        known = self._known.get(link.position)
        if known is None:
            address = self._absolute(link.get("href") or "")
            known = ""
            if len(address) <= min(LONGEST_LINK, self._room) and _ADDRESS.fullmatch(address):
                self._room -= len(address)
                known = _REFERENCE.sub("&amp;", address.translate(_IN_ADDRESS))
                if "(" in known or ")" in known:
                    known = f"<{known}>"
            self._known[link.position] = known
        return known


_STOPS = frozenset(("body", "html", "p", "li", "td", "th", "tr", "main", "section"))


def markdown(content: Iterable[Unit], absolute: Callable[[str], str]) -> str:
    """Return content as Markdown; `absolute` gives the absolute form of a link."""
    inline = _Inline(absolute)
    lines: list[str] = []
    begun: dict[int, str] = {}
    before: tuple[Container, ...] = ()
    bullet, last_list = "-", -1
    for unit in content:
        written = _lines_of(unit, inline)
        if not written:
            continue
        outer = next((part.around for part in unit.containers if part.number is not None), -1)
        if outer >= 0 and outer != last_list:
            # Two lists behind each other would be read as one.
            directly = bool(before) and any(part.number is not None for part in before)
            bullet = "*" if directly and bullet == "-" else "-"
        last_list = outer
        first, rest, starts = _prefixes(unit.containers, begun, bullet)
        shared = [part for part in unit.containers if part in before]
        lists = {part.around for part in before if part.number is not None}
        tight = starts and (shared or any(part.around in lists for part in unit.containers))
        # Only a list that begins with 1 may follow a paragraph at once (CommonMark, 5.2).
        tight = tight and all(p.around in lists or p.number in (None, -1, 1) for p in unit.containers)
        if lines and not tight:
            lines.append(_rest(shared, begun).rstrip())
        lines.append((first + written[0]).rstrip())
        lines.extend((rest + line).rstrip() for line in written[1:])
        before = unit.containers
    return "\n".join(lines)


def _rest(containers: Iterable[Container], begun: dict[int, str]) -> str:
    """Return what stands in front of a line within items and quotations."""
    return "".join("> " if part.number is None else begun[part.node] for part in containers)


def _prefixes(containers: tuple[Container, ...], begun: dict[int, str], bullet: str) -> tuple[str, str, bool]:
    """Return what stands in front of the first line of a unit and its others, and whether an item begins."""
    first, starts = "", False
    for part in containers:
        if part.number is None or part.node in begun:
            first += _rest([part], begun)
        else:
            mark = f"{part.number}{'.' if bullet == '-' else ')'} " if part.number >= 0 else f"{bullet} "
            begun[part.node] = " " * len(mark)
            first, starts = first + mark, True
    return first, _rest(containers, begun), starts


def _lines_of(unit: Unit, inline: _Inline) -> list[str]:
    if unit.kind == "pre":
        code = _code(unit)
        longest = max((len(found) for line in code for found in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        return [fence + _language(unit), *code, fence] if code else []
    if unit.kind == "table":
        return _table(unit, inline)
    lines = inline.write(unit.rows[0][0])
    if not lines:
        return []
    if unit.kind in HEADINGS:
        text = " ".join(lines)
        return ["#" * HEADINGS[unit.kind] + " " + _LAST_SIGNS.sub(r"\\\1", text)]
    if unit.kind == "dt":
        return ["**" + " ".join(lines) + "**"]
    return [line + "\\" for line in lines[:-1]] + lines[-1:]


def _table(unit: Unit, inline: _Inline) -> list[str]:
    width = max(map(len, unit.rows))
    lines = []
    for number, row in enumerate(unit.rows):
        # Within code a sign is not escaped otherwise, and would end the cell.
        cells = [_COLUMN.sub(r"\|", " ".join(inline.write(cell))) for cell in row]
        cells += [""] * (width - len(cells))
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            lines.append("|" + " --- |" * width)
    return lines
