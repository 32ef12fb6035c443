"""What other sites write about and ours does not."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_terms import BOATS, LAMPS, TIDES, audited, page
from webanalytics.errors import ParameterError


def texts(**pages: str) -> pd.DataFrame:
    return pd.DataFrame({"url": [f"https://{name}.example/" for name in pages], "text": [*pages.values()]})


def test_what_ours_lacks() -> None:
    gap = wa.content_gap(texts(ours=LAMPS * 3), texts(other=TIDES * 3)).set_index("keyword")
    row = gap.loc["moon"]
    size, rest = len((TIDES * 3).split()), len((LAMPS * 3).split())
    assert (row["gap"], row["their_frequency"], row["our_frequency"]) == ("missing", 12, 0)
    assert row["their_density"] == pytest.approx(12 / size)
    assert row["distinctiveness"] == pytest.approx(24 * math.log((size + rest) / size))
    assert (row["examples"], row["language"]) == (["https://other.example/"], "en")
    assert pd.isna(row["our_page"])
    assert "lantern" not in gap.index  # only ours has it
    assert gap["distinctiveness"].is_monotonic_decreasing


def test_the_names_of_hosts_are_no_content() -> None:
    ours = texts(ours=LAMPS * 3)
    assert "moon" in set(wa.content_gap(ours, texts(other=TIDES * 3))["keyword"])
    assert "moon" not in set(wa.content_gap(ours, texts(moon=TIDES * 3))["keyword"])


def test_what_ours_barely_has() -> None:
    ours = texts(a=LAMPS * 3 + "Boats too.", b=TIDES)
    gap = wa.content_gap(ours, texts(other=BOATS * 6)).set_index("keyword")
    row = gap.loc["boats"]
    assert (row["gap"], row["our_frequency"], row["our_pages"]) == ("thin", 1, 1)
    assert row["our_page"] == "https://a.example/"
    assert "brass" not in gap.index  # ours has it just as much


def test_the_parts_of_our_phrases_are_ours() -> None:
    """A word that ours has within a longer phrase only is not missing."""
    theirs = texts(other="Every lantern has a wick, and this lantern burns. One more lantern is old. " * 4)
    assert "lantern" not in set(wa.content_gap(texts(ours=LAMPS * 3), theirs)["keyword"])
    once = texts(ours="We know how trimmed wicks work. " + LAMPS * 30)
    theirs = texts(other="Keep trimmed wicks dry! Wet trimmed wicks smoke. " * 9)
    found = wa.content_gap(once, theirs).set_index("keyword")
    assert found.loc["trimmed wicks", ["gap", "our_frequency", "our_page"]].tolist() == [
        "thin",
        1,
        "https://ours.example/",
    ]


def test_examples_are_the_pages_that_use_it_most() -> None:
    theirs = [texts(**{f"p{times}": TIDES * times}) for times in (1, 4, 2, 3)]
    gap = wa.content_gap(texts(ours=LAMPS * 3), theirs).set_index("keyword")
    assert gap.loc["moon", "their_pages"] == 4
    assert gap.loc["moon", "examples"] == [f"https://p{times}.example/" for times in (4, 3, 2)]
    few = wa.content_gap(texts(ours=LAMPS * 3), [*theirs, texts(x=BOATS * 5)], min_pages=2)
    assert set(few["their_pages"]) == {4}


def test_audits_and_frames_of_texts_agree() -> None:
    ours, theirs = audited(a=page(LAMPS * 9)), audited(b=page(TIDES * 9), c=page(BOATS * 9))
    of_audits = wa.content_gap(ours, theirs)
    assert not of_audits.empty
    plain = [audit.raw[["url", "text", "language"]] for audit in (ours, theirs)]
    pd.testing.assert_frame_equal(wa.content_gap(*plain), of_audits)


def test_frames_of_keywords() -> None:
    pages = [
        pd.DataFrame({"url": [f"https://{n}.example/"], "html": [page(t * 3)]})
        for n, t in (("ours", LAMPS), ("other", TIDES))
    ]
    ours, theirs = (wa.keywords(frame, top=1000, progress=False) for frame in pages)
    found = wa.content_gap(ours, theirs, ngrams=1).set_index("keyword")
    exact = wa.content_gap(texts(ours=LAMPS * 3), texts(other=TIDES * 3), ngrams=1).set_index("keyword")
    assert found.loc["moon", "distinctiveness"] == pytest.approx(exact.loc["moon", "distinctiveness"])
    assert found["language"].isna().all()  # such a frame does not say


def test_frames_of_keywords_from_files_of_others() -> None:
    """Numbers may be texts, and what is no number or of no page is left out."""
    known = {"url": ["https://b.example/"] * 2, "keyword": ["repair kits", "kits"]}
    ours = texts(ours=LAMPS * 3)
    exact = wa.content_gap(ours, pd.DataFrame({**known, "frequency": [9, 9], "density": [0.5, 0.25]}))
    assert sorted(exact["their_density"]) == [0.25, 0.5]
    told = pd.DataFrame({**known, "frequency": ["9", "9"], "density": ["0.5", "0.25"]})
    pd.testing.assert_frame_equal(wa.content_gap(ours, told), exact)
    odd = pd.DataFrame({**known, "frequency": ["9", "many"], "density": [0.0, float("inf")]})
    assert wa.content_gap(ours, odd)["keyword"].tolist() == ["repair kits"]
    odd["frequency"] = [9, float("inf")]
    assert wa.content_gap(ours, odd)["keyword"].tolist() == ["repair kits"]


def test_only_languages_that_we_have() -> None:
    german = "Die Gezeiten kommen zweimal am Tag, weil der Mond das Meer mit seiner Schwerkraft anzieht. " * 6
    assert wa.content_gap(texts(ours=LAMPS * 3), texts(other=german)).empty
    found = wa.content_gap(texts(ours=LAMPS * 3), texts(other=german, more=TIDES * 3))
    assert set(found["language"]) == {"en"}


def test_nothing_to_compare() -> None:
    full = wa.content_gap(texts(ours=LAMPS * 3), texts(other=TIDES * 3))
    for ours, theirs in ((texts(), texts(b=TIDES)), (texts(a=LAMPS), texts()), (texts(a=LAMPS), [])):
        found = wa.content_gap(ours, theirs)
        assert found.empty
        assert found.dtypes.equals(full.dtypes)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("https://a.example/", texts(b=TIDES)), "ours"),
        ((texts(a=LAMPS), "https://b.example/"), "theirs"),
        ((texts(a=LAMPS), 7), "theirs"),
        ((texts(a=LAMPS), pd.DataFrame({"url": ["x"]})), "theirs"),
    ],
)
def test_wrong_inputs(arguments: tuple[object, object], name: str) -> None:
    with pytest.raises(ParameterError, match=f"^The `{name}` parameter must be an audit"):
        wa.content_gap(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ngrams", "top", "min_length", "min_pages"])
def test_wrong_settings(name: str) -> None:
    with pytest.raises(ParameterError, match=f"^The `{name}` parameter must be an integer"):
        wa.content_gap(texts(a=LAMPS), texts(b=TIDES), **{name: 0})  # type: ignore[arg-type]


def test_parts_of_one_audit_are_compared_by_their_own_rows() -> None:
    """The rows of a part know the links of the whole; its terms are its own."""
    shop, blog = "Lamps of brass for the table. " * 12, "We repair lamps, and repair them again. " * 12
    pages = pd.DataFrame(
        {
            "url": ["https://a.example/shop/1", "https://a.example/blog/1"],
            "html": [
                f"<html lang=en><title>{text[:20]}</title><main><p>{text}</main>" for text in (shop, blog)
            ],
        }
    )
    audit = wa.audit(pages, progress=False)
    ours, theirs = (audit.select(audit.raw["url"].str.contains(name)) for name in ("/shop/", "/blog/"))
    gap = wa.content_gap(ours, theirs, ngrams=(1, 1))
    assert "repair" in gap["keyword"].tolist()
    assert "brass" not in gap["keyword"].tolist()
    assert set(ours.keywords(ngrams=(1, 1))["url"]) == {"https://a.example/shop/1"}
    assert "repair" not in ours.keywords("site", ngrams=(1, 1))["keyword"].tolist()


def test_a_page_that_two_audits_have_counts_once() -> None:
    ours, theirs = texts(ours=LAMPS * 3), texts(other=TIDES * 3)
    assert wa.content_gap(ours, [theirs, theirs.copy()]).equals(wa.content_gap(ours, theirs))
