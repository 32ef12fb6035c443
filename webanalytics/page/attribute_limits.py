"""How many attributes the crowded tags of a page have, counted by the parser's own grammar before it runs.

A parser compares each attribute of a tag with those before it, so that its time grows with the square of
their number. `webanalytics.page.tree` asks here before it parses.

Notes
-----
HTML standard, sections 13.2.5.6 "Tag open state" to 13.2.5.39 "After attribute value (quoted) state": no
white space is needed after a quoted value or a slash, and "<" and quotes may be parts of a name.
"""

from __future__ import annotations

import re
from collections import Counter

CROWDED_TAG = 256
"""From this many attributes a tag is crowded; a missing quote can make a page's text look so."""

# White space of the standard without form feeds, which are gone from the text by now. Spelled out, because \s
# in a set of characters makes each step of a search dearer.
_BLANK = rb" \t\n\r"
_VALUE = (
    rb"(?:[%(b)s]*+=[%(b)s]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(b)s>\"'][^%(b)s>]*+|(?=>|\Z)))?+"
    % {b"b": _BLANK}
)
_ATTRIBUTE = re.compile(rb"[%(b)s/]*+(?:=[^%(b)s/>=]*+|[^%(b)s/>=]++)" % {b"b": _BLANK} + _VALUE)
_TAG_NAME = rb"</?[a-zA-Z][^%b/>]*+" % _BLANK
_CROWDED = re.compile(rb"%b[%b/](?=(?:%b){%d}+)" % (_TAG_NAME, _BLANK, _ATTRIBUTE.pattern, CROWDED_TAG))
_TOKEN = re.compile(
    rb"<!--(?:-?>|.*?--!?>|.*)|<(?:[!?]|/[^a-zA-Z])[^>]*+|<(/?)([a-zA-Z][^\s/>]*+)((?:%s)*+)"
    % _ATTRIBUTE.pattern,
    re.DOTALL,
)
# The attributes of all tags of these are those of one element.
_MERGED = re.compile(rb"<(?:html|body)(?=[\s/])((?:%s)*+)" % _ATTRIBUTE.pattern, re.IGNORECASE)
_UNPARSED = re.compile(rb"(?i:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext)\Z")
# Where these are open, elements that hold unparsed text elsewhere may be parsed like any other.
_FOREIGN = frozenset((b"svg", b"math"))
_OTHERWISE = re.compile(rb"<(?:svg|math|select|frameset)[\s/>]", re.IGNORECASE)
_SCRIPT = re.compile(rb"(<script\b[^<>]*+>)(.*?)(</script|\Z)", re.IGNORECASE | re.DOTALL)


def crowd(data: bytes) -> int:
    """Return the number of attributes in all crowded tags, as the parser would count them.

    Examples
    --------
    >>> crowd(b'<p a="">Tea' * 500), crowd(b"<p " + b'a=""' * 500 + b">Tea")
    (0, 500)
    """
    merged = _MERGED.findall(data)
    if len(merged) >= CROWDED_TAG:
        return max(sum(len(_ATTRIBUTE.findall(found)) for found in merged), _crowd(data))
    return _crowd(data)


def _crowd(data: bytes) -> int:
    if _CROWDED.search(data) is None:
        return 0
    most = _count(data, unparsed=True)
    return max(most, _count(data, unparsed=False)) if _OTHERWISE.search(data) else most


def without_crowds(data: bytes, most: int) -> bytes | None:
    """Return a page with at most so many attributes in crowded tags, None for one that has more.

    Where the text of scripts may be parsed as markup, "i<n" may open a tag with thousands of attributes; that
    it does not is sure without the sign, which says nothing of a page.

    Examples
    --------
    >>> without_crowds(b"<svg></svg><script>i<n" + b" x=1;" * 500 + b"</script>Tea", 400)[:25]
    b'<svg></svg><script>i n x='
    """
    if crowd(data) <= most:
        return data
    if _count(data, unparsed=True) <= most:
        data = _SCRIPT.sub(lambda found: found[1] + found[2].replace(b"<", b" ") + found[3], data)
        if crowd(data) <= most:
            return data
    return None


def _count(data: bytes, *, unparsed: bool) -> int:
    """Count by tokens; with ``unparsed`` the text of scripts and their like is none."""
    total = place = 0
    opened: Counter[bytes] = Counter()
    while (token := _TOKEN.search(data, place)) is not None:
        slash, name, attributes = token.groups()
        place = token.end()
        if name is None:
            continue
        if len(attributes) > 2 * CROWDED_TAG:
            count = len(_ATTRIBUTE.findall(attributes))
            total += count if count >= CROWDED_TAG else 0
        name = name.lower()
        if name in _FOREIGN:
            opened[name] = max(0, opened[name] + (-1 if slash else 1))
        elif unparsed and not slash and not opened.total() and _UNPARSED.match(name):
            place = _end_of(name, data, place)
    return total


def _end_of(name: bytes, data: bytes, place: int) -> int:
    """Return where the text of an element ends that is not parsed."""
    if name == b"plaintext":
        return len(data)
    found = re.compile(rb"</%s(?=[\s/>])" % name, re.IGNORECASE).search(data, place)
    return found.start() if found else len(data)
