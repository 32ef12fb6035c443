"""Pages that compete with each other."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.audits.test_terms import HOST, audited, page
from webanalytics.audits.content import cannibalisation
from webanalytics.errors import ParameterError

OTHERS = {
    "clay": page(
        "Clay pots are thrown on a wheel and then fired in a kiln for two whole days. " * 3, "Clay pots"
    ),
    "tea": page(
        "Green tea leaves are picked by hand in spring and dried over a slow fire. " * 3, "Green tea"
    ),
    "oak": page("Oak chairs are joined without a single nail and oiled once every year. " * 3, "Oak chairs"),
}
GUIDE = (
    "A storm lantern needs a trimmed wick. Fill the storm lantern with paraffin and wait until it is wet. "
)
SHOP = "This storm lantern weighs less than a kilo. The storm lantern comes with glass and a spare burner. "


def rivals(**pages: str) -> pd.DataFrame:
    return audited(**pages).cannibalisation()


def test_two_pages_about_the_same() -> None:
    found = rivals(
        a=page(GUIDE * 2, "Storm lantern guide"), b=page(SHOP * 2, "Guide: which storm lantern?"), **OTHERS
    )
    (row,) = found.to_dict("records")
    assert (row["keyword"], {row["url"], row["rival"]}) == ("storm lantern", {f"{HOST}/a", f"{HOST}/b"})
    assert row["shared"] == "storm, lantern, guide"  # headings are content
    assert row["places"] == "title, h1, first paragraph, text"
    assert (row["frequency"], row["rival_frequency"]) == (5, 5)  # four times in the text, once in the heading
    assert row["distinctiveness"] >= row["rival_distinctiveness"] > 3.84
    assert row["score"] == 1  # all that they claim, both claim alike
    assert row["language"] == "en"


def test_a_shared_word_is_not_enough() -> None:
    found = rivals(
        a=page(
            "Oil lamps light rooms with little oil, so lamps for rooms burn oil. " * 3, "Oil lamps for rooms"
        ),
        b=page("Street lamps light streets all night, so a street has lamps. " * 3, "Street lamps at night"),
        **OTHERS,
    )
    assert found.empty
    assert list(found.columns)[:4] == ["keyword", "url", "rival", "score"]


def test_a_brand_in_every_title_does_not_compete() -> None:
    texts = {"tea": "Green tea", "clay": "Clay pots", "oak": "Oak chairs", "ink": "Black ink"}
    pages = {
        name: page(
            f"Lumenvik sells {text.lower()}. {text} keep for years if you store them dry. " * 4,
            f"{text} | Lumenvik",
        )
        for name, text in texts.items()
    }
    assert rivals(**pages).empty


@pytest.mark.parametrize(
    "head",
    ["<meta name=robots content=noindex>", f"<link rel=canonical href={HOST}/a>"],
    ids=["noindex", "canonicalised"],
)
def test_pages_that_are_not_indexed_do_not_compete(head: str) -> None:
    one, other = page(GUIDE * 2, "Storm lantern guide"), page(SHOP * 2, "Storm lantern guide", head=head)
    assert rivals(a=one, b=other, **OTHERS).empty
    assert len(rivals(a=one, b=page(SHOP * 2, "Storm lantern guide"), **OTHERS)) == 1


def test_near_duplicates_do_not_compete() -> None:
    text = (
        GUIDE
        + SHOP
        + (
            "Turn the wick down before you leave the room, and never carry a burning storm lantern by its glass. "
            "Clean the chimney with newspaper once it has cooled, since soot takes half of the light away. "
            "Keep paraffin in a can with a tight lid, far from the stove and out of reach of children. "
            "In a gale the flame stays steady because the air that feeds it is warmed inside the frame first. "
        )
    )
    one = page(text, "Storm lantern guide")
    assert rivals(a=one, b=page(text, "Storm lantern guide, printed"), **OTHERS).empty


def test_other_hosts_and_languages_do_not_compete() -> None:
    pages = {
        f"{HOST}/a": page(GUIDE * 2, "Storm lantern"),
        "https://b.example/b": page(SHOP * 2, "Storm lantern"),
    }
    others = {f"{HOST}/{name}": html for name, html in OTHERS.items()}
    frame = pd.DataFrame([*pages.items(), *others.items()], columns=["url", "html"])
    assert wa.audit(frame, progress=False).cannibalisation().empty
    german = "Die Sturmlaterne Lantern leuchtet sehr hell und brennt mit Paraffin im Regen. " * 4
    assert rivals(
        a=page(GUIDE * 2, "Lantern"), b=page(german, "Lantern").replace("lang=en", "lang=de"), **OTHERS
    ).empty


def test_the_limit_of_the_score() -> None:
    audit = audited(
        a=page(GUIDE * 2, "Storm lantern wick"), b=page(SHOP * 2, "Storm lantern burner"), **OTHERS
    )
    (score,) = audit.cannibalisation(min_score=0.1)["score"]
    assert 0.1 < score < 1
    assert len(audit.cannibalisation(min_score=score)) == 1
    assert audit.cannibalisation(min_score=min(1, score + 0.01)).empty


@pytest.mark.parametrize("wrong", [0, 1.1, "0.5", True, None])
def test_wrong_calls(wrong: object) -> None:
    with pytest.raises(ParameterError, match=r"^The `min_score` parameter must be a number above 0"):
        audited(a=page(GUIDE)).cannibalisation(min_score=wrong)  # type: ignore[arg-type]


def test_the_work_grows_with_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count comparisons on sites on which all pages claim the same word."""
    compared = 0
    likeness = cannibalisation._likeness

    def count(claims: Any, ones: Any, others: Any) -> Any:
        nonlocal compared
        compared += len({*zip(ones.tolist(), others.tolist(), strict=True)})
        return likeness(claims, ones, others)

    monkeypatch.setattr(cannibalisation, "_likeness", count)
    letters = random.Random(7)
    for size in (30, 60):
        own = ["".join(letters.choices("abcdefghij", k=9)) for _ in range(size)]
        pages = {name: page(f"The lantern {name} shines. " * 8, f"Lantern {name}") for name in own}
        audited(**pages, **OTHERS).cannibalisation()
        assert size < compared <= size * cannibalisation.NEIGHBOURS  # of 435 pairs, and of 1,770
        compared = 0
