"""The attributes of a tag are counted as a parser counts them: html5lib's tokenizer says what is right."""

from __future__ import annotations

import pytest
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.errors import RowError
from webanalytics.page import decoder
from webanalytics.page.tree import MAX_ATTRIBUTES, parse

MANY = 2 * MAX_ATTRIBUTES


def names(pattern: str, between: str = "") -> str:
    return between.join(pattern.format(number) for number in range(MANY))


HIDDEN = {
    "values without white space": "<p " + names('a{}=""') + ">",
    "both quotes": "<p " + names("a{0}=\"'\"b{0}='\"'") + ">",
    "signs that open tags": "<p " + names("<a{}", " ") + ">",
    "a quoted end of the tag": '<p x=">" ' + names("a{}", " ") + ">",
    "an end tag": "</p " + names("a{}=''") + ">",
    "a page that ends in the tag": "<p " + names("a{}", "/"),
    "a comment in a title": "<title><!--</title><p " + names("a{}", " ") + ">",
    "an empty comment": "<!--><p " + names("a{}", " ") + "> -->",
    "a style in a drawing": "<svg><style><p " + names("a{}", " ") + ">",
    "a textarea in a selection": "<select><textarea><p " + names("a{}", " ") + ">",
    "a script in a value": '<i x="<script>"><p ' + names("a{}", " ") + ">",
    "a script after a drawing": "<svg></svg><title><script></title><p " + names("a{}", " ") + ">",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_attributes_cannot_be_hidden_from_the_count(name: str) -> None:
    with pytest.raises(RowError, match="attributes"):
        parse(HIDDEN[name])


HARMLESS = {
    "a comparison in a script": "<script>if (a<b " + names("a{}", " ") + ")</script>",
    "markup in a comment": "Tea<!-- <p " + names("a{}", " ") + "> -->",
    "markup in a textarea": "<textarea><p " + names("a{}", " ") + "></textarea>",
    "a tag that a quote ends": '<p =">' + names("a{}", " "),
    "a long value": '<p title="' + names("a{}=1", " ") + '">',
    "many small tags": names("<p a{} b c>"),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_no_attribute_is_not_counted(name: str) -> None:
    assert parse(HARMLESS[name]) is not None


def attributes_of(page: str) -> list[int]:
    """Return the numbers of attributes of the first tag, as an independent tokenizer finds them."""
    kinds = (tokenTypes["StartTag"], tokenTypes["EndTag"], tokenTypes["EmptyTag"])
    tokenizer = HTMLTokenizer(page)
    counts = []

    def counting() -> bool:
        counts.append(len(tokenizer.currentToken["data"]))
        return emit()

    emit = tokenizer.emitCurrentToken
    tokenizer.emitCurrentToken = counting
    for token in tokenizer:
        assert token["type"] not in kinds or counts
    return counts


PIECES = st.sampled_from([*" /='\"ab", "a=", '="', "=''", 'a="b"', "<", "\n", "é", "a='>'", "!"])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_count_is_that_of_an_independent_tokenizer(inner: str) -> None:
    page = f"<p {inner}>"
    expected = attributes_of(page)
    if not expected:  # a quote swallows the end: no tag at all
        return
    found = decoder._TOKEN.search(page.encode())
    assert found is not None
    assert len(decoder._ANY_ATTRIBUTE.findall(found[3])) == expected[0]


@pytest.mark.parametrize(
    "page",
    [
        *(
            "<a x='" * 150_000,
            "<a " * 300 + 'x="' + "a" * 900_000,
            "<a" + " " * 900_000,
            "<a a" + " =" * 400_000,
        ),
        *("<a" * 1_000_000, "<a" * 1_000_000 + ">", ("<a" * 30 + ">") * 30_000),
    ],
)
def test_counting_takes_time_in_proportion_to_the_page(page: str) -> None:
    assert decoder.crowd(page.encode()) <= len(page) // 2


@pytest.mark.parametrize("length", [1, 59, 60, 61, 62, 5_000])
def test_attributes_count_however_long_the_name_is(length: int) -> None:
    assert decoder.crowd(b"<" + b"a" * length + b" x=1" * 300 + b">") == 300
    assert decoder.crowd(b"<" + b"a" * length + b" x=1" * 255 + b">") == 0


def test_a_page_whose_scripts_have_no_crowd_is_not_read_token_by_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(decoder, "_count")
    script = "<svg></svg><script>for(;i<" + "n.length&&" * 30 + "j;)" + "i<n" + " x=1;" * 200 + "</script>"
    assert decoder.crowd(script.encode() * 50) == 0


@pytest.mark.parametrize("other", ["<svg></svg>", "<select></select>", "<math></math>"])
def test_a_script_beside_a_drawing_is_not_counted(other: str) -> None:
    page = f"<title>t</title>{other}<script>var s=i<n;{'x=1; ' * 11_000}</script><p id=a>Hello"
    assert parse(page).text_of(parse(page).noted["id"][0]) == "Hello"
