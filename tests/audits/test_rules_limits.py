"""Limits and exceptions of single rules about pages, by values of columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.rules import RULES, content
from webanalytics.audits.rules.searches import enumerated
from webanalytics.audits.site import Site
from webanalytics.page.readability.readability import score

LIMITS = (
    ("readability_difficult", "fleschReadingEase", 49.99, 50.0),
    ("readability_difficult", "fleschReadingEase", 30.0, 29.99),
    ("readability_very_difficult", "fleschReadingEase", 29.99, 30.0),
    ("content_low", "content_words", 199, 200),
    ("content_low", "content_words", 1, 0),
    ("title_too_short", "title_pixels", 1, 0),
    ("title_too_long", "title_pixels", 562, 561),
    ("url_too_long", "url_length", 116, 115),
)


@pytest.mark.parametrize(("rule", "column", "fault", "near"), LIMITS)
def test_limits_are_met_exactly(rule: str, column: str, fault: float, near: float) -> None:
    site = Site(pd.DataFrame({"status": ["ok", "ok"], column: [near, fault]}))
    found = list(RULES[rule].find(site, RULES[rule].threshold))
    assert [(finding.row, finding.value) for finding in found] == [(1, fault)]


@pytest.mark.parametrize(
    ("sent", "rendered", "value"), [(98, 200, 49), (100, 200, None), (0, 20, 0), (0, 19, None), (9, 28, None)]
)
def test_scripts_bring_more_than_half_of_the_words_and_at_least_twenty(
    sent: int, rendered: int, value: int | None
) -> None:
    cells = {"words_without_scripts": [sent], "rendered_words": [rendered], "rendering": [[]]}
    found = RULES["content_only_rendered"].find(Site(pd.DataFrame({"status": ["ok"], **cells})), 50)
    assert [finding.value for finding in found] == [value] * (value is not None)


@pytest.mark.parametrize(
    ("sent", "rendered", "speaks"),
    [("", "none", True), ("NONE", "index", True), ("none", "noindex", False), ("", "nofollow", False)],
)
def test_scripts_change_whether_a_page_may_be_indexed(sent: str, rendered: str, speaks: bool) -> None:
    entry = {"what": "robots", "sent": sent, "rendered": rendered}
    site = Site(pd.DataFrame({"status": ["ok"], "rendering": [[entry]]}))
    shown = f"robots: {sent or 'nothing'} as sent, {rendered} after scripts"
    found = RULES["directives_changed_by_scripts"].find(site, None)
    assert [finding.evidence for finding in found] == [shown] * speaks


def test_five_items_are_shown_and_the_others_counted() -> None:
    assert enumerated("abcde") == "a | b | c | d | e"
    assert enumerated("abcdef") == "a | b | c | d | e | and 1 more"


def test_many_narrow_letters_are_no_long_title_and_few_wide_ones_are() -> None:
    """Search engines cut by pixels: a width has one issue, whatever the number of characters."""
    titles = {"narrow": "i" * 61, "wide": "W" * 40}
    frame = pd.DataFrame({"url": list(titles), "html": [f"<title>{title}" for title in titles.values()]})
    issues = wa.audit(frame, progress=False).issues
    about = issues[issues["rule"].str.startswith("title_too")]
    assert about[["url", "rule", "evidence"]].values.tolist() == [
        ["wide", "title_too_long", f"40 characters: {'W' * 40}"]
    ]


@pytest.mark.parametrize(
    ("declared", "detected", "differs"),
    [
        ("nb-NO", "no", False),
        ("iw", "he", False),
        ("sr-Latn", "hr", False),
        ("EN_us", "en", False),
        ("gsw", "de", False),
        ("pt", "es", True),
        ("", "es", False),
        ("en", "", False),
    ],
)
def test_languages_that_are_one_or_easily_mixed_up_do_not_differ(
    declared: str, detected: str, differs: bool
) -> None:
    text = "Todos los seres humanos nacen libres e iguales en dignidad y derechos. " * 4
    cells = {"status": ["ok"], "lang": [declared], "language": [detected], "text": [text]}
    found = list(RULES["language_differs"].find(Site(pd.DataFrame(cells)), None))
    assert bool(found) == differs


@pytest.mark.parametrize(
    ("words", "sentences", "judged"), [(120, 3, True), (120, 2, False), (123, 3, False), (0, 0, False)]
)
def test_a_main_text_without_sentences_is_not_judged(words: int, sentences: int, judged: bool) -> None:
    cells = {"status": "ok", "wordCount": words, "sentenceCount": sentences, "fleschReadingEase": 10.0}
    cells |= {"lang": "en", "language": "de", "text": "Ein Wort nach dem andern. " * 20}
    site = Site(pd.DataFrame([cells]))
    for rule in ("readability_very_difficult", "language_differs"):
        assert bool(list(RULES[rule].find(site, RULES[rule].threshold))) is judged


@pytest.mark.parametrize(
    ("scale", "score", "rule", "value"),
    [
        ("LIX (Björnsson 1968, Swedish)", 55.0, "readability_difficult", 40.0),
        ("LIX (Björnsson 1968, Swedish)", 61.0, "readability_very_difficult", 27.0),
        ("Flesch reading ease (Martins et al. 1996, Portuguese)", 42.5, "readability_difficult", 42.5),
        ("Gunning fog index (words of four syllables, Polish)", 14.5, "readability_difficult", 40.0),
        ("LIX (Björnsson 1968, Swedish)", 49.9, None, None),
        ("a scale of another version", 99.0, None, None),
    ],
)
def test_difficulty_goes_by_the_scale_of_the_language(
    scale: str, score: float, rule: str | None, value: float | None
) -> None:
    cells = {"status": "ok", "wordCount": 300, "sentenceCount": 20, "fleschReadingEase": None}
    site = Site(pd.DataFrame([{**cells, "readability_score": score, "readability_scale": scale}]))
    for name in ("readability_difficult", "readability_very_difficult"):
        found = list(RULES[name].find(site, RULES[name].threshold))
        assert [finding.value for finding in found] == ([value] if name == rule else [])
        assert all(scale in finding.evidence for finding in found)


def test_two_rules_on_sentences_look_at_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    sentences = content._sentences

    def look(text: str) -> str:
        looked.append(text)
        return sentences(text)

    monkeypatch.setattr(content, "_sentences", look)
    hard = "Organisations systematically underestimate interdisciplinary considerations.\n" * 9
    names = "Interdisciplinary administration\n" * 9
    cells = {"status": "ok", "wordCount": 100, "sentenceCount": 9, "fleschReadingEase": 10.0}
    rows = [{**cells, "text": text, "visible_text": f"{text}Menu"} for text in (hard, names)]
    site = Site(pd.DataFrame([{**row, "url": f"https://a.example/{at}"} for at, row in enumerate(rows)]))
    rules = ("readability_difficult", "readability_very_difficult")
    found = [[one.row for one in RULES[name].find(site, RULES[name].threshold)] for name in rules]
    assert found == [[], [0]]
    assert len(looked) == 3  # of a list of names what it has of its own, of the other its main text too


def test_items_of_a_list_do_not_make_a_text_hard_to_read() -> None:
    """The formulas take all that stands before an end mark for one sentence, a list too."""
    plain = "We take all of this equipment with us on each expedition into the mountains. " * 2
    hard = "Administrative organisations systematically underestimate interdisciplinary considerations. " * 2
    listed = "- Inflatable sleeping pad, insulated\n" * 4
    found = {}
    for text in (plain, hard):
        page = f"{listed}{text.strip()}\n" * 4
        cells = {"status": "ok", **score(page), "text": page, "visible_text": page, "language": "en"}
        site = Site(pd.DataFrame([cells]))
        findings = RULES["readability_very_difficult"].find(site, 30)
        found[text] = cells["fleschReadingEase"], [finding.value for finding in findings]
    assert found[plain] == (pytest.approx(19.15), []), "65.73 without the lists"
    assert found[hard] == (0, [0])


def test_evidence_of_another_language_is_its_longest_line() -> None:
    text = "Jane Doe, staff writer\n" + "Der Zug nach Norden fährt jeden Morgen um acht Uhr ab. " * 6
    cells = {"status": ["ok"], "lang": ["en"], "language": ["de"], "text": [text]}
    (finding,) = RULES["language_differs"].find(Site(pd.DataFrame(cells)), None)
    assert finding.evidence.startswith("declared en, written in de: Der Zug")


def test_a_list_of_names_is_in_no_other_language_than_is_declared() -> None:
    """The entries under E of Python's own index, in English: fastText calls them Italian, by 0.77."""
    names = ("EACCES", "EADDRINUSE", "EADDRNOTAVAIL", "EADV", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADF")
    text = "e in numeric literal e (in module cmath) (in module math) E2BIG (in module errno) "
    cells = {
        **{"status": ["ok"], "lang": ["en"], "language": ["it"]},
        "text": [text + " ".join(f"{name} (in module errno)" for name in names)],
    }
    assert list(RULES["language_differs"].find(Site(pd.DataFrame(cells)), None)) == []


def test_a_line_in_the_language_that_is_declared_says_that_the_language_is_right() -> None:
    """A shop's names of goods in German are more than its own sentences."""
    text = (
        "Kupplung für Bus\n" * 12
        + "Read the description of the item, or contact the seller for more details.\n"
    )
    cells = {"status": ["ok"], "lang": ["en"], "language": ["de"], "text": [text]}
    assert list(RULES["language_differs"].find(Site(pd.DataFrame(cells)), None)) == []


def test_structured_data_that_does_not_parse_is_not_called_missing_too() -> None:
    cells = {"status": "ok", "structured_types": ["BreadcrumbList"], "page_type": "forum"}
    faults = [[{"type": "JSON-LD", "problem": "broken", "kind": kind}] for kind in ("broken", "value")]
    site = Site(pd.DataFrame([{**cells, "structured_errors": fault} for fault in faults]))
    assert [finding.row for finding in RULES["structured_data_missing"].find(site, None)] == [1]


@pytest.mark.parametrize(("shown", "is_low"), [(150, True), (900, False)])
def test_a_page_of_which_a_part_was_found_is_low_only_where_it_shows_little(shown: int, is_low: bool) -> None:
    cells = {"text": "word " * 90, "visible_text": "word " * shown, "content_words": 90}
    row = {"status": "ok", "final_url": "https://a.example/b", "content_note": "fragment", "language": "en"}
    found = list(RULES["content_low"].find(Site(pd.DataFrame([row | cells])), 200))
    assert [finding.value for finding in found] == ([90] if is_low else [])
    assert all(finding.evidence.startswith("The page shows 150 words in all: word ") for finding in found)


@pytest.mark.parametrize(
    ("words", "shown", "is_low"), [(179, 400, True), (180, 400, False), (199, 199, True)]
)
def test_a_main_text_alone_is_low_by_a_margin_unless_the_page_shows_no_more(
    words: int, shown: int, is_low: bool
) -> None:
    cells = {"text": "word " * words, "visible_text": "word " * shown, "content_words": words}
    row = {"status": "ok", "final_url": "https://a.example/b", "language": "en"}
    found = list(RULES["content_low"].find(Site(pd.DataFrame([row | cells])), 200))
    assert [finding.value for finding in found] == ([words] if is_low else [])


@pytest.mark.parametrize(("rendered", "is_low"), [(None, False), (False, False), (True, True)])
def test_what_scripts_may_bring_to_a_page_alone_is_not_called_little(
    rendered: bool | None, is_low: bool
) -> None:
    cells = {"text": "Our lamps", "visible_text": "Our lamps", "content_words": 2, "rendered": rendered}
    row = {"status": "ok", "final_url": "https://a.example/b", "content_note": "by_scripts", "language": "en"}
    found = list(RULES["content_low"].find(Site(pd.DataFrame([row | cells])), 200))
    assert [finding.value for finding in found] == ([2] if is_low else [])


def test_texts_without_spaces_between_words_are_not_called_short() -> None:
    site = Site(pd.DataFrame({"status": ["ok"] * 2, "content_words": [3, 3], "language": ["ja", "en"]}))
    assert [finding.row for finding in RULES["content_low"].find(site, 200)] == [1]


@pytest.mark.parametrize(
    ("viewport", "blocks"),
    [
        ("user-scalable=no", True),
        ("USER-SCALABLE = 0", True),
        ("maximum-scale=1.0", True),
        ("maximum-scale=1.5", True),
        ("maximum-scale=2", False),
        ("user-scalable=1", False),
        ("minimum-scale=1", False),
    ],
)
def test_what_keeps_people_from_zooming(viewport: str, blocks: bool) -> None:
    site = Site(pd.DataFrame({"status": ["ok"], "viewport": [viewport]}))
    assert bool(list(RULES["viewport_blocks_zoom"].find(site, None))) == blocks


@pytest.mark.parametrize(
    ("lang", "valid"),
    [
        ("english", False),
        ("xx", False),
        ("deutsch", False),
        ("iw", True),
        ("haw", True),
        ("zh-Hant-TW", True),
    ],
)
def test_a_language_is_looked_up_in_the_registry(lang: str, valid: bool) -> None:
    found = list(RULES["lang_invalid"].find(Site(pd.DataFrame({"status": ["ok"], "lang": [lang]})), None))
    assert bool(found) != valid


@pytest.mark.parametrize(
    ("content", "redirects"),
    [
        ("0;url=/b", True),
        ("0; /b", True),
        ("0, url=/b", True),
        (".5;/b", True),
        ("0", False),
        ("30;/b", False),
    ],
)
def test_a_meta_refresh_within_a_second_is_a_redirect(content: str, redirects: bool) -> None:
    site = Site(pd.DataFrame({"status": ["ok"], "refresh": [content]}))
    rules = ("meta_refresh", "meta_refresh_redirect")
    assert [len(list(RULES[name].find(site, None))) for name in rules] == [int(not redirects), int(redirects)]


def test_a_canonical_in_the_body_is_not_obeyed() -> None:
    html = {
        "head": '<head><link rel=canonical href="/b"></head><body><p>Tea',
        "body": '<head></head><body><p>Tea<link rel=canonical href="/b">',
        "ended": '<head><title>Tea</title><p>ends the head<link rel=canonical href="/b"></head>',
    }
    urls = [f"https://a.example/{name}" for name in html]
    audit = wa.audit(pd.DataFrame({"url": urls, "html": list(html.values())}), progress=False)
    assert audit.pages["canonical_state"].tolist() == ["other", "missing", "missing"]
    outside = audit.issues.loc[audit.issues["rule"] == "canonical_outside_head", "url"]
    assert outside.tolist() == urls[1:]


def test_a_saved_file_is_not_judged_by_an_address_that_it_does_not_have(tmp_path: Path) -> None:
    html = '<!doctype html><title>Tea</title><link rel=canonical href="https://a.example/tea"><a href="/cups">Cups</a>'
    file = tmp_path / "tea.html"
    file.write_text(html)
    urls = ["https://a.example/other"]
    named = wa.audit(
        pd.DataFrame({"url": urls, "html": [html.replace('<a href="/cups">Cups</a>', "")]}), progress=False
    )
    saved = wa.audit([file], progress=False)
    rules = {"no_internal_links", "canonicalised"}
    assert rules <= set(named.issues["rule"])
    assert not rules & set(saved.issues["rule"])


def test_an_address_of_open_graph_in_another_spelling_is_that_of_the_page() -> None:
    urls = ["https://example.org/a"] * 3
    shared = ["HTTPS://EXAMPLE.org:443/a", "/a", "https://example.org/b"]
    pages = {"status": ["ok"] * 3, "url": [f"{url}{row}" for row, url in enumerate(urls)], "og:url": shared}
    pages["canonical_url"] = ["https://example.org/a", "https://example.org/a", None]
    found = list(RULES["og_url_differs"].find(Site(pd.DataFrame(pages)), None))
    assert [finding.evidence for finding in found] == [
        "og:url /a, the page is https://example.org/a",
        "og:url https://example.org/b, the page is https://example.org/a2",
    ]


def test_a_page_that_declares_no_charset_is_shown_with_the_one_it_is_read_in() -> None:
    pages = {"status": ["ok"] * 2, "declared_charset": ["", ""], "charset": ["windows-1252", None]}
    found = list(RULES["charset_missing"].find(Site(pd.DataFrame(pages)), None))
    assert [finding.evidence for finding in found] == ["read as windows-1252", ""]
