"""Bytes of a page to text: the first thing that a worker does with a page.

The order in which encodings are looked for is that of the HTML standard's sniffing algorithm: byte order
mark, Content-Type header, a declaration inside the page, and detection last. Labels are looked up in the
list of the Encoding standard alone (the webencodings package), never among Python's codecs: the labels
``punycode`` or ``utf-7`` are unknown, as in a browser.

In one thing it differs from a browser: a page that can only be UTF-8 is read as UTF-8, whatever it is
declared as. Tools that save pages write UTF-8 and leave the declaration as it was.

Notes
-----
HTML standard, section 13.2.3 "The input byte stream"; Encoding standard, section 4 "Encodings".

Attributes of crowded tags are counted here too, by the parser's own grammar before it runs: it compares each
attribute of a tag with those before it, so that its time grows with the square of their number. HTML
standard, sections 13.2.5.6 "Tag open state" to 13.2.5.39 "After attribute value (quoted) state": no white
space is needed after a quoted value or a slash, and "<" and quotes may be parts of a name.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from html import escape
from typing import NamedTuple

import webencodings

DECLARED_BYTES = 300_000
"""Bytes at the start of a page in which a declaration is looked for; shops have 260 kB of scripts before."""

PRESCAN_BYTES = 65_536
"""Bytes of a page that tell what an encoding that nobody declares is."""

SAMPLE_BYTES = 8_192
"""Bytes that the detection of an undeclared encoding examines."""

PROOF_BYTES = 32
"""Bytes beyond ASCII that prove UTF-8 against an encoding with several bytes a character.

A text of GBK, of which about one character in six is valid UTF-8 too, would need 16 such characters in a row;
against an encoding with one byte a character, any are proof.
"""

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_UTF16_XML = ((b"<\x00?\x00x\x00", "utf-16le"), (b"\x00<\x00?\x00x", "utf-16be"))
_HEADER = re.compile(r"""charset\s*=\s*["']?([^\s"';]+)""", re.IGNORECASE)
# What opens and is never closed swallows the rest, in a browser as here: no second look at the same bytes.
_META = re.compile(
    rb"<!--(?:-?>|.*?-->|.*)|<(script|style|title)\b(?:.*?</\1|.*)|<meta(?=[\s/])([^<>]*)>",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_XML_ENCODING = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
# A run of text that contains a byte beyond ASCII; markup says nothing about the encoding.
_FOREIGN_RUN = re.compile(rb"[^<>\x80-\xff]{0,200}[\x80-\xff][^<>]*")
# Names of Python codecs for the encodings of the standard that detection may choose from.
_CANDIDATES = [
    *("cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("cp866", "koi8_r", "koi8_u", "iso8859_2", "iso8859_5", "iso8859_7"),
    *("shift_jis", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_MULTIBYTE = frozenset(("gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis"))
_ASCII = bytes(range(0x80))
_STANDARD_NAMES = {"cp932": "shift_jis", "cp949": "euc-kr", "cp874": "windows-874", "iso8859_2": "iso-8859-2"}

_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


class Decoded(NamedTuple):
    """A decoded page and how its encoding was found: by which label of the header, or declared in the page.

    The labels are as they are written, the charset is the Encoding standard's name in lower case.
    """

    text: str
    charset: str
    header: str | None
    declared: str | None
    as_written: bool = False
    """Whether the bytes of the page are this text in UTF-8."""
    mislabelled: str = ""
    """The label, of the header or else in the page, by which browsers garble a page that is UTF-8."""


def header_label(content_type: str) -> str | None:
    """Return the charset parameter of a Content-Type header.

    Examples
    --------
    >>> header_label('text/html; charset="ISO-8859-1"')
    'ISO-8859-1'
    >>> header_label("text/html") is None
    True
    """
    found = _HEADER.search(content_type)
    return found[1] if found else None


def declared_label(content: bytes, prescan: int = DECLARED_BYTES) -> str | None:
    """Return the label that a page declares for itself in its first bytes.

    The standard's prescan takes 1,024 of them, and lets the parser change the encoding at a later
    declaration; both are done here in one go.

    Examples
    --------
    >>> declared_label(b'<!-- <meta charset=a> --><meta charset="windows-1251">')
    'windows-1251'
    >>> declared_label(b'<meta http-equiv=Content-Type content="text/html; charset=gb2312">')
    'gb2312'
    """
    head = content[:prescan]
    for match in _META.finditer(head):
        if match[2] is not None and (label := _meta_label(match[2])):
            return label
    found = _XML_ENCODING.match(head.lstrip())
    return found[1].decode("ascii") if found else None


def _meta_label(attributes: bytes) -> str | None:
    values: dict[str, str] = {}
    for name, *forms in _ATTRIBUTE.findall(attributes):
        value = next(filter(None, forms), b"").decode("latin-1").strip()
        values.setdefault(name.decode("latin-1").lower(), value)
    if values.get("charset"):
        return values["charset"]
    if values.get("http-equiv", "").lower() == "content-type":
        return header_label(values.get("content", ""))
    return None


def _for_header(label: str | None) -> webencodings.Encoding | None:
    return webencodings.lookup(label) if label else None


def _for_declaration(label: str | None) -> webencodings.Encoding | None:
    """Return what a declaration inside the page means: it was readable, so the page is not UTF-16."""
    encoding = _for_header(label)
    if encoding is None:
        return None
    if encoding.name in ("utf-16le", "utf-16be"):
        return webencodings.UTF8
    return webencodings.lookup("windows-1252") if encoding.name == "x-user-defined" else encoding


def detect(content: bytes, sample: int = SAMPLE_BYTES) -> str:
    """Return the standard's name of the encoding that a page without any label is most likely in.

    UTF-8 is tried on the whole page, everything else on a sample of its text beyond ASCII.

    Examples
    --------
    >>> detect("<p>naïve".encode())
    'utf-8'
    """
    return _detect_legacy(content, sample) if _as_utf8(content) is None else "utf-8"


def _as_utf8(content: bytes) -> str | None:
    """Return the text of a page in UTF-8, None for another; one cut off may end amid a character."""
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(content, False)
    except UnicodeDecodeError:
        return None


def _detect_legacy(content: bytes, sample: int) -> str:
    from charset_normalizer import from_bytes

    text = bytearray()
    for match in _FOREIGN_RUN.finditer(content[:PRESCAN_BYTES]):
        text += match[0] + b"\n"
        if len(text) >= sample:
            break
    # The last run may end in the middle of a character, which has up to four bytes.
    ends = range(4) if len(content) > PRESCAN_BYTES else range(1)
    runs = (bytes(text[: len(text) - 1 - end]) for end in ends)
    matches = (from_bytes(run, cp_isolation=_CANDIDATES, steps=5, chunk_size=512).best() for run in runs)
    best = min(filter(None, matches), key=lambda match: (match.chaos, -match.coherence), default=None)
    label = best.encoding if best else "windows-1252"
    encoding = webencodings.lookup(_STANDARD_NAMES.get(label, label.replace("_", "-")))
    return encoding.name if encoding else "windows-1252"


def decode(content: bytes | str, content_type: str = "") -> Decoded:
    r"""Decode a page; text is unchanged, and bytes that cannot be decoded become U+FFFD.

    Examples
    --------
    >>> decode(b"<meta charset=iso-8859-1>caf\xe9").charset
    'windows-1252'
    >>> decode(b"caf\xc3\xa9", "text/html; charset=punycode")[:4]
    ('café', 'utf-8', 'punycode', None)
    >>> decode(b"<meta charset=iso-8859-1>caf\xc3\xa9").mislabelled
    'iso-8859-1'
    """
    header = header_label(content_type)
    if isinstance(content, str):
        start = content[:DECLARED_BYTES].encode("utf-8", "replace")
        return Decoded(content.removeprefix("\ufeff"), "utf-8", header, declared_label(start))
    declared = declared_label(content)
    if name := order_mark(content):
        length = 3 if name == "utf-8" else 2
        return Decoded(_decode(content[length:], name), name, header, declared)
    name, mislabelled = _choose(content, header, declared), ""
    if _is_utf8_despite(name, content):
        name, mislabelled = "utf-8", (header if _for_header(header) else declared) or ""
    if name == "utf-8":
        try:
            text = content.decode("utf-8")
            return Decoded(text, name, header, declared, as_written=True, mislabelled=mislabelled)
        except UnicodeDecodeError:
            pass
    return Decoded(_decode(content, name), name, header, declared, mislabelled=mislabelled)


def order_mark(content: bytes | str) -> str:
    r"""Return the encoding that a byte order mark at the start of a page declares, "" without one.

    Examples
    --------
    >>> order_mark(b"\xef\xbb\xbfTea"), order_mark("Tea")
    ('utf-8', '')
    """
    if isinstance(content, str):
        return "utf-8" if content[:1] == "\ufeff" else ""
    return next((name for mark, name in _BYTE_ORDER_MARKS if content.startswith(mark)), "")


def _choose(content: bytes, header: str | None, declared: str | None) -> str:
    for mark, name in _UTF16_XML:
        if content.startswith(mark) and not header:
            return name
    encoding = _for_header(header) or _for_declaration(declared)
    return str(encoding.name) if encoding else detect(content)


def _is_utf8_despite(name: str, content: bytes) -> bool:
    """Return whether a page declared in this encoding cannot but be UTF-8."""
    if name.startswith("utf-") or content.isascii() or (_as_utf8(content) or "").isascii():
        return False
    return name not in _MULTIBYTE or len(content.translate(None, _ASCII)) >= PROOF_BYTES


def _decode(content: bytes, name: str) -> str:
    if name == "utf-8":
        return content.decode("utf-8", "replace")
    # The standard decodes gbk with the decoder of gb18030, which knows more characters.
    encoding = webencodings.lookup("gb18030" if name == "gbk" else name) or webencodings.UTF8
    return str(encoding.codec_info.decode(content, "replace")[0])


def wrap_plain_text(text: str) -> str:
    r"""Return plain text as a page, with a paragraph for each block between blank lines.

    Examples
    --------
    >>> wrap_plain_text("Tea & milk\n\nHot")
    '<html><body><p>Tea &amp; milk</p>\n<p>Hot</p>\n</body></html>'
    """
    blocks = _PARAGRAPHS.split(text.replace("\r\n", "\n").strip())
    body = "".join(f"<p>{escape(block)}</p>\n" for block in blocks if block.strip())
    return f"<html><body>{body}</body></html>" if body else ""


_SUBSET = re.compile(r"(<!DOCTYPE\s+html\b[^\[<>]*?)\s*\[[^\]]*+\]\s*+>", re.IGNORECASE)
_SUBSET_WITHIN = 10_000
_CLOSED_TAG = re.compile(r"<([a-zA-Z][\w.-]*+)((?:[^<>\"'/]++|/(?!>)|\"[^\"<]*+\"|'[^'<]*+')*+)/>")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)


def xhtml_as_html(text: str) -> str:
    """Return a page in XHTML as HTML has it: without own entities, and each element with an end tag.

    Examples
    --------
    >>> xhtml_as_html('<!DOCTYPE html [<!ENTITY nbsp "&#160;">]><title/><script src="a>b"/><br/>')
    '<!DOCTYPE html><title></title><script src="a>b"></script><br/>'
    """
    start, rest = text[:_SUBSET_WITHIN], text[_SUBSET_WITHIN:]
    text = _SUBSET.sub(r"\1>", start, 1) + rest
    return _CLOSED_TAG.sub(lambda tag: tag[0] if tag[1] in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>", text)


CROWDED_TAG = 256
"""From this many attributes a tag is crowded; a missing quote can make a page's text look so."""

# White space of the standard without form feeds, which are gone from the text by now. Spelled out, because \s
# in a set of characters makes each step of a search dearer.
_BLANK = rb" \t\n\r"
_VALUE = (
    rb"(?:[%(b)s]*+=[%(b)s]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^%(b)s>\"'][^%(b)s>]*+|(?=>|\Z)))?+"
    % {b"b": _BLANK}
)
_ANY_ATTRIBUTE = re.compile(rb"[%(b)s/]*+(?:=[^%(b)s/>=]*+|[^%(b)s/>=]++)" % {b"b": _BLANK} + _VALUE)
# A longer name is of no tag, and is counted by tokens: a search would read the rest from each of its signs.
_TAG_NAME = rb"</?[a-zA-Z][^%b/>]{0,60}+" % _BLANK
_CROWDED = re.compile(
    rb"%b(?:[%b/](?=(?:%b){%d}+)|[^%b/>])" % (_TAG_NAME, _BLANK, _ANY_ATTRIBUTE.pattern, CROWDED_TAG, _BLANK)
)
_TOKEN = re.compile(
    rb"<!--(?:-?>|.*?--!?>|.*)|<(?:[!?]|/[^a-zA-Z])[^>]*+|<(/?)([a-zA-Z][^\s/>]*+)((?:%s)*+)"
    % _ANY_ATTRIBUTE.pattern,
    re.DOTALL,
)
# The attributes of all tags of these are those of one element.
_MERGED = re.compile(rb"<(?:html|body)(?=[\s/])((?:%s)*+)" % _ANY_ATTRIBUTE.pattern, re.IGNORECASE)
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
    most = sum(len(_ANY_ATTRIBUTE.findall(found)) for found in merged) if len(merged) >= CROWDED_TAG else 0
    # What seem to be tags may stand in each other: no more than this is read of them.
    left = 2 * len(data)
    for found in _CROWDED.finditer(data):
        token = _TOKEN.match(data, found.start())
        if token is None or (left := left - len(token[0])) < 0:
            break
        if len(_ANY_ATTRIBUTE.findall(token[3])) >= CROWDED_TAG:
            break
    else:
        return most
    most = max(most, _count(data, unparsed=True))
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
            count = len(_ANY_ATTRIBUTE.findall(attributes))
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
