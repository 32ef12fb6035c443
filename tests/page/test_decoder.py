"""Decoding: the order and the labels are those of the HTML and Encoding standards."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from tests.effort import effort_since
from webanalytics.page.decoder import declared_label, decode, detect, header_label
from webanalytics.page.page import Page

GREEK = "Η κυβέρνηση ανακοίνωσε χθες ότι τα σχολεία θα ανοίξουν ξανά την επόμενη εβδομάδα. "
RUSSIAN = "Привет, это обычный русский текст о погоде и о горах."


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ("text/html;charset='ISO-8859-2'", "ISO-8859-2"),
        ('text/html; charset="windows-1251"; boundary=x', "windows-1251"),
        ("text/html; CHARSET = koi8-r", "koi8-r"),
        ("text/html", None),
        ("text/html; charset=", None),
        ("", None),
    ],
)
def test_header(header: str, label: str | None) -> None:
    assert header_label(header) == label


@pytest.mark.parametrize(
    ("markup", "label"),
    [
        (b'<meta charset="utf-8">', "utf-8"),
        (b"<META CHARSET=Shift_JIS >", "Shift_JIS"),
        (b"<script>" + b"x;" * 130_000 + b"</script><meta charset=koi8-r>", "koi8-r"),
        (b"<meta\ncharset = 'gbk' >", "gbk"),
        (b'<meta http-equiv="content-type" content="text/html; charset=koi8-r">', "koi8-r"),
        (b'<meta content="text/html; charset=koi8-r" http-equiv=Content-Type>', "koi8-r"),
        (b'<meta name=description content="charset=koi8-r"><meta charset=big5>', "big5"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=big5>", "big5"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<!-- <meta charset=koi8-r>", None),
        (b"<script>'<meta charset=koi8-r>'</script><meta charset=big5>", "big5"),
        (b"<metadata charset=koi8-r>", None),
        (b"<meta charset>", None),
        (b'<?xml version="1.0" encoding="iso-8859-1"?><html>', "iso-8859-1"),
        (b'<?xml version="1.0" encoding="iso-8859-1"?><meta charset=utf-8>', "utf-8"),
        (b" " * 5_000 + b"<meta charset=koi8-r>", "koi8-r"),
        (b"plain", None),
    ],
)
def test_declaration(markup: bytes, label: str | None) -> None:
    assert declared_label(markup) == label


@pytest.mark.parametrize(
    ("content", "header", "charset", "text"),
    [
        # The byte order mark goes before the header, the header before the page.
        (b"\xef\xbb\xbf<meta charset=koi8-r>\xc3\xa9", "koi8-r", "utf-8", "<meta charset=koi8-r>é"),
        (b"\xff\xfe<\0p\0>\0", "utf-8", "utf-16le", "<p>"),
        (b"\xfe\xff\0<\0p\0>", "", "utf-16be", "<p>"),
        (b"<meta charset=utf-8>\xe9", "iso-8859-1", "windows-1252", "<meta charset=utf-8>é"),
        # Latin-1 is windows-1252, gb2312 is gbk and decoded as gb18030, euc-kr is windows-949.
        (b"\x93q\x94", "iso-8859-1", "windows-1252", "“q”"),
        (b"\x80", "gb2312", "gbk", "\ufffd"),
        ("镕€".encode("gb18030"), "gb2312", "gbk", "镕€"),
        ("똠".encode("cp949"), "ks_c_5601-1987", "euc-kr", "똠"),
        ("①".encode("cp932"), "x-sjis", "shift_jis", "①"),
        # A declaration that can be read was not in UTF-16; x-user-defined means windows-1252 there.
        ("<meta charset=utf-16>é".encode(), "", "utf-8", "<meta charset=utf-16>é"),
        (b"<meta charset=x-user-defined>\xe9", "", "windows-1252", "<meta charset=x-user-defined>é"),
        (b"\xe9", "x-user-defined", "x-user-defined", "\uf7e9"),
        (b"ab\xe9cd", "utf-8", "utf-8", "ab\ufffdcd"),
    ],
)
def test_rules(content: bytes, header: str, charset: str, text: str) -> None:
    decoded = decode(content, f"text/html; charset={header}" if header else "text/html")
    assert (decoded.charset, decoded.text) == (charset, text)


@pytest.mark.parametrize(
    "label", ["utf-7", "punycode", "idna", "rot13", "hex", "unicode_escape", "foo", "utf-32"]
)
@pytest.mark.parametrize("where", ["header", "page"])
def test_what_is_no_label_of_the_standard_is_ignored(label: str, where: str) -> None:
    text = f"<meta charset={label}>é" if where == "page" else "é"
    decoded = decode(text.encode(), f"text/html; charset={label}" if where == "header" else "")
    assert (decoded.charset, decoded.text) == ("utf-8", text)
    assert label == (decoded.header if where == "header" else decoded.declared)


def test_text_is_taken_as_it_is() -> None:
    assert decode("\ufeff<meta charset=koi8-r>é")[:4] == ("<meta charset=koi8-r>é", "utf-8", None, "koi8-r")


@pytest.mark.parametrize(
    ("text", "header", "declared", "label"),
    [
        ("Déjà vu", "", "iso-8859-1", "iso-8859-1"),
        ("©", "", "windows-1252", "windows-1252"),
        (RUSSIAN, "windows-1251", "koi8-r", "windows-1251"),
        (RUSSIAN, "punycode", "koi8-r", "koi8-r"),
        ("안녕하세요 반갑습니다 여러분", "", "euc-kr", "euc-kr"),
    ],
)
def test_a_page_that_can_only_be_utf_8_is_read_as_utf_8(
    text: str, header: str, declared: str, label: str
) -> None:
    page = f"<meta charset={declared}>{text}"
    decoded = decode(page.encode(), f"text/html; charset={header}" if header else "text/html")
    assert (decoded.text, decoded.charset, decoded.mislabelled) == (page, "utf-8", label)


def test_a_few_characters_of_several_bytes_prove_nothing() -> None:
    """The word for learning is valid UTF-8 in GBK."""
    page = "<meta charset=gbk>学习".encode("gbk")
    assert page.decode("utf-8")
    assert decode(page)[:2] == ("<meta charset=gbk>学习", "gbk")


@pytest.mark.parametrize(
    ("content", "charset"),
    [
        ("<meta charset=iso-8859-1>Déjà vu".encode("latin-1"), "windows-1252"),
        (b"<meta charset=iso-8859-1>plain", "windows-1252"),
        ("<meta charset=iso-8859-1>Déjà ".encode() + b"\xe9t\xe9", "windows-1252"),
    ],
)
def test_what_may_be_in_the_declared_encoding_is_read_so(content: bytes, charset: str) -> None:
    decoded = decode(content)
    assert (decoded.charset, decoded.mislabelled) == (charset, "")


@given(st.text("абвгдежзийклмнопрстуфхцчшщъыьэюяАБЯё <p>", min_size=1))
def test_russian_in_one_byte_a_letter_is_never_taken_for_utf_8(text: str) -> None:
    assume("ёё" not in text and "Яё" not in text)  # no word has these, which are letters in UTF-8
    content = text.encode("cp1251")
    assume(not content.startswith((b"\xfe\xff", b"\xff\xfe")))  # an order mark goes before every label
    assert decode(content, "text/html; charset=windows-1251").text == text


@pytest.mark.parametrize(
    ("content", "as_written"),
    [
        ("<p>é\x0c\x01\ufffe</p>".encode(), True),
        (b"<p>caf\xe9", False),
        (b"<meta charset=utf-8><p>caf\xe9", False),
        ("\ufeff<p>é".encode(), False),
        ("<p>é".encode("utf-16"), False),
        ("<meta charset=iso-8859-1><p>é".encode(), True),
    ],
)
def test_bytes_in_utf8_are_parsed_as_their_text(content: bytes, as_written: bool) -> None:
    page = Page(content, content_type="text/html")
    assert page.decoded.as_written == as_written
    assert etree.tostring(page.tree) == etree.tostring(Page(page.html).tree)


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        ("Ceci est un été très doux à la façon française.", "cp1252", "windows-1252"),
        ("これは日本語のテキストです。文字コードを判定します。", "shift_jis", "shift_jis"),
        ("これは日本語のテキストです。文字コードを判定します。", "euc_jp", "euc-jp"),
        ("这是中文文本，用来检测编码。我们喜欢网页。", "gbk", "gb18030"),
        ("안녕하세요 한국어 텍스트입니다 반갑습니다", "cp949", "euc-kr"),
        (GREEK, "cp1253", "windows-1253"),
        (RUSSIAN, "utf-8", "utf-8"),
        ("only ASCII", "ascii", "utf-8"),
    ],
)
@pytest.mark.parametrize("times", [1, 3_000])
def test_detection(text: str, codec: str, charset: str, times: int) -> None:
    content = f"<html><title>x</title><p class=y>{text * times}</p>".encode(codec)
    started = time.process_time()
    assert detect(content) == charset
    assert effort_since(started) < 3


def test_a_page_cut_in_the_middle_of_a_character_is_still_utf_8() -> None:
    assert detect("naïve é".encode()[:-1]) == "utf-8"


@pytest.mark.parametrize("content", [b"<!--" * 100_000, b"<meta charset" * 100_000, b"\xff\x80" * 500_000])
def test_hostile_input_takes_no_time(content: bytes) -> None:
    started = time.process_time()
    decode(content)
    assert effort_since(started) < 2


@given(st.binary(max_size=300), st.text(max_size=30))
def test_any_bytes_decode(content: bytes, content_type: str) -> None:
    assert isinstance(decode(content, content_type).text, str)


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_declared_utf_8_comes_back(text: str) -> None:
    page = f"<meta charset=utf-8>{text}"
    assert decode(page.encode()).text == page


XHTML = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html [
  <!ENTITY nbsp "&#xA0;">
]>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><head><title>Tea</title><script src="a.js?b=&gt;1"/>
<meta name="robots" content="a > b"/></head>
<body><h1 id="top"/><p>Green<a name="x"/><br/> tea <em class='y'/>and&#160;milk</p><textarea/><p>Last</p></body></html>
"""


def test_xhtml_is_read_as_an_xml_parser_reads_it() -> None:
    wanted = [
        (etree.QName(element).localname, (element.text or "").strip(), (element.tail or "").strip())
        for element in etree.fromstring(XHTML.encode()).iter(etree.Element)
    ]
    page = Page(XHTML, content_type="Application/XHTML+XML; charset=utf-8")
    found = [(e.tag, (e.text or "").strip(), (e.tail or "").strip()) for e in page.document.elements]
    assert found == wanted
    # the same as HTML: its script and heading never end
    assert [e.tag for e in Page(XHTML, content_type="text/html").document.elements] != [
        tag for tag, *_ in wanted
    ]
