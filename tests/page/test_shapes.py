"""Pages of one shape repeated: twice as much of it takes twice the steps, whatever it is, and no more."""

from __future__ import annotations

import time

import pytest

from tests.effort import Steps, effort_since
from webanalytics.core.messages import Message
from webanalytics.errors import RowError
from webanalytics.operations import OPERATIONS
from webanalytics.page.tree import MANY_OPTIONS, parse
from webanalytics.runs.workers.worker import analysis_function, answer_page, prepare

PATHS = {operation.name: operation.analysis for operation in OPERATIONS.values() if operation.kind == "page"}
SMALL = 12_000
"""Bytes of the smaller page."""
TAGS = [
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "audio",
    "b",
    "bdo",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "dd",
    "del",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "math",
    "menu",
    "meta",
    "meter",
    "nav",
    "nobr",
    "noembed",
    "noscript",
    "object",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "pre",
    "progress",
    "q",
    "rt",
    "ruby",
    "s",
    "script",
    "section",
    "select",
    "small",
    "source",
    "span",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "th",
    "title",
    "tr",
    "track",
    "u",
    "ul",
    "video",
    "wbr",
    "x-y",
]

# What stands before, and what is repeated.
SHAPES = {
    "cells over many rows and columns": ("<table>", "<tr><td colspan=1000 rowspan=65534>x"),
    "cells over many columns": ("<table><tr>", "<td colspan=99>x"),
    "cells over some": ("<table>", "<tr><td colspan=20 rowspan=2000>x"),
    "cells of content over others": (
        "<article><h1>Lamps</h1><table>",
        "<tr><td rowspan=99>A lamp of brass and glass burns for nine hours and a half in the wind."
        "<td colspan=99 rowspan=99>It costs eight pounds a piece and lasts.",
    ),
    "groups of options": ("<select>", "<optgroup label=x><option>x"),
    "options and rules": ("<select>", "<option selected>x<hr>"),
    "languages": ("", "<div lang=l>x</div>"),
    "descriptions": ("<dl>", "<dt>x<dd>y"),
    "text between rows": ("<table>", "x<tr>"),
    "tables closed in cells": ("", "<table><tr><td></table>x"),
    "links in blocks": ("", "<a>x<p>"),
    "items with properties": ("", "<div itemscope itemtype=http://schema.org/Thing itemprop=x></div>"),
    "an item that refers to itself": ("<div itemscope itemref='i' id=i>", "<p itemprop=x>y"),
    "JSON-LD": ("", '<script type=application/ld+json>{"@type":"Thing","name":"x"}</script>'),
    "JSON-LD in one": ("<script type=application/ld+json>[", '{"@type":"Thing","name":"x"},'),
    "labels": ("", "<label for=i>x</label><input id=i>"),
    "names elsewhere": ("<p id=a>Name</p>", "<button aria-labelledby='a a a'></button>"),
    "comments": ("", "<!-- x -->"),
    "references": ("<p>", "&amp;&#65;&nosuch;"),
    "signs of tags": ("<p>", "<"),
    "styles": ("<p style='", "display:/*"),
    "ticks": ("<p>", "<code>`` ` ```</code>"),
    "links with brackets": ("<p>", "<a href=/(x)>[y](z)</a>!"),
    "lines of code": ("<pre>", "x\n"),
    "white space": ("<p>x", " \n"),
    "marks out of order": ("<p>a", "\u0301\u0323"),
    "Chinese": ("<html lang=zh><p>", "\u8336\u53f6\u548c\u6c34\u3002"),
    "Thai": ("<html lang=th><p>", "\u0e0a\u0e32\u0e41\u0e25\u0e30\u0e19\u0e49\u0e33"),
    "one word": ("<p>", "a"),
    "quotes": ("", "<q>x</q>"),
    "hidden parts": ("", "<p hidden>x</p>"),
    "alternates": ("", "<link rel=alternate hreflang=en href=/x>"),
    "bases": ("", "<base href=/x>"),
    "addresses": ("<p>", "https://a.example/x "),
    "shadow roots": ("", "<div><template shadowrootmode=open>x</template></div>"),
}
SHAPES |= {f"{tag} open": ("", f"<{tag}>x ") for tag in TAGS}
SHAPES |= {f"{tag} closed": ("", f"<{tag} class=c>Some words</{tag}> ") for tag in TAGS}


@pytest.fixture(scope="module", autouse=True)
def _prepared() -> None:
    for path in PATHS.values():
        analysis_function(path)
    prepare(tuple(PATHS.values()))
    for name in ("descriptions", "Chinese", "Thai"):  # tables are read once
        steps(name, SMALL)


def steps(name: str, size: int) -> int:
    start, part = SHAPES[name]
    page = (start + part * (size // len(part))).encode()
    with Steps() as counted:
        found = answer_page(PATHS, {name: {} for name in PATHS}, (page, "https://a.example/"))
    assert not any(isinstance(one, Message) and one.key == "analysis_failed" for one in found)
    return counted.count


def test_a_page_that_is_refused_is_parsed_once() -> None:
    with Steps() as parsing, pytest.raises(RowError, match="nested"):
        parse("<audio>x " * 3_000)
    with Steps() as counted:
        answer_page(PATHS, {name: {} for name in PATHS}, (b"<audio>x " * 3_000, "https://a.example/"))
    assert counted.count < 1.5 * parsing.count


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_page_takes_twice_the_steps(name: str) -> None:
    small, large = steps(name, SMALL), steps(name, 2 * SMALL)
    assert large < 2.4 * small + 2_000


REFUSED = {
    "attributes of one body": ("attributes", "".join(f"<body a{n}=1>" for n in range(30_000))),
    "attributes of one html": ("attributes", "".join(f"<HTML\ta{n} b{n}>" for n in range(15_000))),
    "blocks left open": ("nested", "<div>x " * 28_000),
    "languages left open": ("nested", "".join(f"<div lang=l{n}>" for n in range(25_000))),
    "lists left open": ("nested", "<ul><li>" * 15_000),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_parser_compares_each_with_each_is_refused(name: str) -> None:
    word, html = REFUSED[name]
    started = time.process_time()
    with pytest.raises(RowError, match=word):
        parse(html)
    assert effort_since(started) < 1


@pytest.mark.parametrize("part", ["<option>x", "<option selected>x</option>", "<optgroup label=y><option>x"])
def test_long_lists_of_options_are_read_at_once(part: str) -> None:
    html = "<p>Tea</p><SELECT name=a>" + part * 100_000 + "</select><p id=z>Milk"
    started = time.process_time()
    document = parse(html)
    assert effort_since(started) < 3
    assert sum(element.tag == "option" for element in document.elements) == 100_000
    assert document.noted["id"][0].text == "Milk"


def test_lists_of_options_that_people_choose_from_stay_as_they_are() -> None:
    document = parse("<select>" + "<option>x" * MANY_OPTIONS)
    assert [dict(element.attrib) for element in document.elements if element.tag == "select"] == [{}]
    sound = parse("".join(f"<body a{number}>" for number in range(300)) + "<p>Tea")
    assert len(sound.elements[2].attrib) == 300
