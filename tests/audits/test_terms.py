"""The terms of an audit's pages and of its site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.content.counting import Lexicon, Texts, Together
from webanalytics.audits.content.terms import count_pages
from webanalytics.errors import ParameterError

LAMPS = (
    "A storm lantern burns paraffin. The storm lantern is made of brass, and brass never rusts at sea. " * 2
)
TIDES = (
    "Tides rise twice a day because the moon pulls at the sea, and the sea follows the moon around us. " * 2
)
BOATS = (
    "Boats of oak need brass screws at sea, and a lantern at night so that nobody runs into the boats. " * 2
)
HOST = "https://a.example"


def page(text: str, title: str = "", *, head: str = "") -> str:
    return f"<html lang=en><head><title>{title}</title>{head}</head><h1>{title}</h1><p>{text}"


def audited(**pages: str) -> wa.Audit:
    urls = [f"{HOST}/{name}" for name in pages]
    return wa.audit(pd.DataFrame({"url": urls, "html": [*pages.values()]}), progress=False)


@pytest.fixture(scope="module")
def site() -> wa.Audit:
    return audited(
        lantern=page(LAMPS, "Lanterns of brass"), tides=page(TIDES, "Tides"), boats=page(BOATS, "Boats")
    )


def test_each_page_has_its_most_distinctive_terms_first(site: wa.Audit) -> None:
    found = site.keywords()
    by_page = found.groupby("url", sort=False)
    assert list(by_page.groups) == [f"{HOST}/lantern", f"{HOST}/tides", f"{HOST}/boats"]
    for _, rows in by_page:
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
        assert rows["distinctiveness"].is_monotonic_decreasing
    best = found[found["rank"] == 1].set_index("url")["keyword"]
    assert best[f"{HOST}/lantern"] == "storm lantern"
    assert best[f"{HOST}/tides"] == "moon"
    assert best[f"{HOST}/boats"] == "boats"


def test_what_only_a_longer_phrase_has_is_left_out(site: wa.Audit) -> None:
    terms = site.keywords()
    lantern = terms[terms["url"] == f"{HOST}/lantern"].set_index("keyword")
    assert "storm" not in lantern.index
    assert lantern.loc["storm lantern", ["words", "frequency"]].tolist() == [2, 4]
    assert "brass" in lantern.index  # five times, only twice of them in "made of brass"
    assert lantern.loc["brass", "in_title"]
    assert not lantern.loc["storm lantern", "in_title"]  # lanterns is another word


def test_settings(site: wa.Audit) -> None:
    words = site.keywords(ngrams=1, top=3)
    assert words["words"].eq(1).all()
    assert words.groupby("url").size().tolist() == [3, 3, 3]
    assert set(site.keywords(ngrams=(2, 2))["words"]) == {2}
    assert "moon" not in set(site.keywords(stop_words=["moon"])["keyword"])
    assert "sea" in set(site.keywords(min_length=3)["keyword"])


def test_the_whole_site(site: wa.Audit) -> None:
    found = site.keywords("site").set_index("keyword")
    assert found["frequency"].is_monotonic_decreasing
    assert found.loc["brass", ["pages", "frequency", "best_page", "in_title"]].tolist() == [
        2,
        7,  # four times in a text, once in its heading, twice in the other text
        f"{HOST}/lantern",
        1,
    ]
    assert found.loc["moon", "best_page"] == f"{HOST}/tides"
    assert len(site.keywords("site", top=2)) == 2


@pytest.mark.parametrize("top", [1, 2, 3, 5, 8, 13])
def test_fewer_terms_of_a_site_are_the_first_of_all(site: wa.Audit, top: int) -> None:
    every = site.keywords("site", top=1000)
    assert len(every) > 13
    pd.testing.assert_frame_equal(site.keywords("site", top=top), every.head(top))


def test_the_text_of_menus_is_not_counted() -> None:
    menu = "<nav>" + "<a href=/x>Lampshop</a>" * 40 + "</nav>"
    audit = audited(a=page(LAMPS) + menu, b=page(TIDES) + menu)
    assert "lampshop" not in set(audit.keywords("site")["keyword"])
    assert not any("lampshop" in found for found in audit.raw["keywords"])


def test_a_loaded_audit_gives_the_same(site: wa.Audit, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="saved audits need pyarrow")
    loaded = wa.load(site.save(tmp_path / "audit"))
    pd.testing.assert_frame_equal(loaded.keywords(), site.keywords())
    pd.testing.assert_frame_equal(loaded.keywords("site"), site.keywords("site"))


def test_one_page_and_none() -> None:
    single = audited(a=page(LAMPS))
    assert single.keywords()["distinctiveness"].isna().all()
    assert single.keywords().loc[0, "rank"] == 1
    assert single.keywords("site")["distinctiveness"].isna().all()
    failed = wa.audit(["no address"], progress=False)
    for by in ("page", "site"):
        assert failed.keywords(by).empty
        assert failed.keywords(by).dtypes.equals(single.keywords(by).dtypes)


def test_a_page_that_is_there_twice_counts_once() -> None:
    pages = pd.DataFrame({"url": [HOST, HOST, f"{HOST}/b"], "html": [page(LAMPS), page(LAMPS), page(TIDES)]})
    twice, once = (wa.audit(frame, progress=False) for frame in (pages, pages.tail(2)))
    pd.testing.assert_frame_equal(twice.keywords(), once.keywords())


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"by": "section"}, "by"),
        ({"ngrams": 4}, "ngrams"),
        ({"ngrams": (2, 1)}, "ngrams"),
        ({"ngrams": (1, 2, 3)}, "ngrams"),
        ({"ngrams": "2"}, "ngrams"),
        ({"top": 0}, "top"),
        ({"min_length": 0}, "min_length"),
        ({"stop_words": 7}, "stop_words"),
    ],
)
def test_wrong_calls(site: wa.Audit, settings: dict[str, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^The `{name}` parameter must ") as caught:
        site.keywords(**settings)  # type: ignore[arg-type]
    assert caught.value.parameter == name


def test_scripts_without_spaces() -> None:
    pytest.importorskip("rjieba", reason='rjieba is not installed: in the clone, pip install ".[cjk]"')
    audit = audited(a=page("网站优化的技术。" * 12), b=page("咖啡和茶的历史。" * 12))
    assert "网站" in "".join(audit.keywords().loc[lambda rows: rows["url"] == f"{HOST}/a", "keyword"])


def test_the_pages_are_counted_once_for_all_that_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counted: list[str] = []
    count = Lexicon.count

    def counting(self: Lexicon, pages: Sequence[Texts]) -> Together:
        counted.extend(text for text, _ in pages)
        return count(self, pages)

    monkeypatch.setattr(Lexicon, "count", counting)
    audit = audited(lantern=page(LAMPS, "Lanterns"), tides=page(TIDES, "Tides"), boats=page(BOATS, "Boats"))
    first = audit.keywords()
    pd.testing.assert_frame_equal(audit.keywords(), first)
    assert len(audit.keywords("site"))
    audit.cannibalisation()
    audit.report(tmp_path / "report.html")
    assert len(counted) == 3
    audit.keywords(min_length=7)
    assert len(counted) == 6


ODD = """People's lamps, l'homme, don't; an ox at sea. The ox sees it: wi-fi, c++, r&d. It's o'er. Ox at sea, ox at sea.
東京の灯台、東京の灯台です。 검색 엔진 검색 엔진. Ab cd ab cd, x's x's"""


@pytest.mark.parametrize("language", ["en", "fr", "ja", "ko"])
def test_terms_of_more_letters_are_those_that_are_counted_so(language: str) -> None:
    texts = {"one": ODD, "two": f"{ODD} {LAMPS}", "three": TIDES}
    pages = [("", language, (row, name), (text, {})) for row, (name, text) in enumerate(texts.items())]
    counted, chosen = (count_pages(pages, sizes=(1, 2, 3), min_length=least)[""] for least in (4, 3))
    found = []
    for terms in (counted, chosen.settle().of_length(4)):
        names, (counts, pages) = terms.vocabulary.names, terms.frequencies()
        used = {number for each in terms.pages for number in each.terms.tolist()}
        found.append(({(names[n], int(counts[n]), int(pages[n])) for n in used}, len(used)))
        found[-1][0].update((each.name, *(names[n] for n in each.terms)) for each in terms.pages)
    assert found[0] == found[1]


def test_an_audit_without_a_phrase_that_comes_twice_has_no_phrases() -> None:
    assert audited(one=page("Tea keeps warm"), two=page("A pot of clay")).keywords(ngrams=2).empty
