"""Frames of answers that come operation by operation, in any order."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webanalytics.core.outcomes import Fetched, JobResult, Outcome, PackedOutcomes
from webanalytics.operations import AUDIT, HMAC
from webanalytics.runs.frames.build import FrameBuilder
from webanalytics.runs.frames.inputs import read_inputs

URLS = ["http://a.example/", "http://b.example/", "http://a.example/"]
FETCHED = Fetched("http://a.example/end", (), 200, 0.5, 10)
DATA = ({"title": "A"}, {"text": "some words"}, {"wordCount": 2}, {"keywords": {"word": 1}})
BY_NAME = {"metadata": DATA[0], "text": DATA[1], "readability": DATA[2], "keywords": DATA[3]}
OUTCOMES = [Outcome(BY_NAME[operation.name]) for operation in AUDIT]


def builder() -> FrameBuilder:
    return FrameBuilder(read_inputs(URLS, AUDIT[0], "urls"), AUDIT)


def part(number: int, place: int, outcome: Outcome | None = None) -> JobResult:
    outcome = outcome or OUTCOMES[place]
    packed = (outcome,) if outcome.data is None else PackedOutcomes(PackedOutcomes.pack([outcome.data]))
    return JobResult(number, packed, FETCHED if place == 0 else None, place)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_parts_in_any_order_make_the_frame_of_whole_answers(order: tuple[int, ...]) -> None:
    whole, by_parts = builder(), builder()
    for number in (0, 1):
        whole.add(JobResult(number, OUTCOMES, FETCHED))
        done = [by_parts.add(part(number, place)) for place in order]
        assert done == [False, False, False, True]
    pd.testing.assert_frame_equal(by_parts.frame(), whole.frame())
    assert by_parts.done == whole.done == 2


@given(st.permutations([(number, place) for number in (0, 1) for place in range(4)]), st.integers(0, 8))
@settings(max_examples=40, deadline=None)
def test_at_any_moment_the_frame_has_what_has_come(order: list[tuple[int, int]], count: int) -> None:
    built = builder()
    done = sum(built.add(part(*one)) for one in order[:count])
    came = {number: {place for n, place in order[:count] if n == number} for number in (0, 1)}
    frame = built.frame()
    assert built.done == done == sum(len(places) == 4 for places in came.values())
    assert frame.index.tolist() == [row for row, number in enumerate((0, 1, 0)) if came[number]]
    for row, status, kind in zip(frame.index, frame["status"], frame["error_type"], strict=True):
        complete = len(came[(0, 1, 0)[row]]) == 4
        assert (status == "ok") == complete
        assert pd.isna(kind) if complete else kind == "unfinished"
    names = [operation.name for operation in AUDIT]
    for column, name in (
        ("title", "metadata"),
        ("text", "text"),
        ("wordCount", "readability"),
        ("keywords", "keywords"),
    ):
        held = [bool(came[(0, 1, 0)[row]] & {names.index(name)}) for row in frame.index]
        assert frame[column].notna().tolist() == held
    pd.testing.assert_series_equal(frame.dtypes, builder_with_all().dtypes)


def builder_with_all() -> pd.DataFrame:
    built = builder()
    for number in (0, 1):
        built.add(JobResult(number, OUTCOMES, FETCHED))
    return built.frame()


def test_the_first_failure_in_the_order_of_operations_is_told() -> None:
    built = builder()
    built.add(part(0, 3, Outcome(None, "the last", "credits")))
    built.add(part(0, 1, Outcome(None, "the second", "timeout")))
    built.add(part(0, 2))
    built.add(part(0, 0))
    frame = built.frame()
    assert frame["error"].tolist() == ["the second", "the second"]
    assert frame["error_type"].tolist() == ["timeout", "timeout"]
    assert frame["title"].tolist() == ["A", "A"]
    assert frame["wordCount"].tolist() == [2, 2]


def test_a_part_that_comes_again_takes_the_place_of_the_first() -> None:
    built = builder()
    built.add(part(0, 1, Outcome(None, "at first", "timeout")))
    built.add(part(0, 1))
    for place in (0, 2, 3):
        built.add(part(0, place))
    assert built.frame()["status"].tolist() == ["ok", "ok"]
    assert built.done == 1


def test_a_whole_answer_goes_before_parts_of_an_earlier_run() -> None:
    built = builder()
    built.add(part(0, 1, Outcome(None, "at first", "timeout")))
    assert built.add(JobResult(0, OUTCOMES, FETCHED))
    assert built.frame()["status"].tolist() == ["ok", "ok"]


def test_one_operation_comes_with_its_place_or_without() -> None:
    frames = []
    for position in (None, 0):
        built = FrameBuilder(read_inputs(["x"], HMAC, "messages"), (HMAC,))
        assert built.add(
            JobResult(0, (Outcome({"hmac": "00", "algorithm": "md5", "encoding": "hex"}),), None, position)
        )
        frames.append(built.frame())
    pd.testing.assert_frame_equal(*frames)


def test_how_the_page_was_had_is_kept_from_whichever_part_knows_it() -> None:
    built = builder()
    for place in (3, 0, 1, 2):
        built.add(part(1, place))
    assert built.frame()["final_url"].tolist() == ["http://a.example/end"]
    assert built.frame()["http_status"].tolist() == [200]
