"""The pace of one host, by times that the tests give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webanalytics.fetching.pace import FEWEST_ROUNDS, LONGEST_DELAY, PATIENCE, Pace


def answers(pace: Pace, count: int, began: float, took: float = 0.1) -> float:
    for _ in range(count):
        pace.answered(began, began + took)
        began += took
    return began


def test_a_healthy_host_is_asked_as_the_caller_says() -> None:
    pace = Pace(8)
    answers(pace, 100, 10.0)
    assert (pace.connections, pace.delay, pace.note, pace.failures, pace.pages) == (8, 0.0, "", 0, 100)


def test_a_round_of_refusals_halves_the_connections_once() -> None:
    pace = Pace(8)
    for _ in range(8):  # all under way together
        pace.refused(began=10.0, now=10.5, reason="HTTP 429")
    assert (pace.connections, pace.rounds, pace.in_row) == (4, 1, 8)
    pace.refused(began=10.6, now=10.7, reason="HTTP 429")
    assert (pace.connections, pace.rounds) == (2, 2)
    assert pace.note == "slowed down (HTTP 429)"


def test_the_connections_come_back_one_a_round_and_never_exceed_the_callers() -> None:
    pace = Pace(4)
    pace.refused(10.0, 10.1, "HTTP 503")
    assert pace.connections == 2
    now = answers(pace, 3, 11.0)
    assert pace.connections == 3
    answers(pace, 100, now)
    assert pace.connections == 4


def test_one_connection_that_is_refused_gets_a_delay_which_fades() -> None:
    pace = Pace(1)
    pace.refused(10.0, 10.1, "HTTP 429")
    first = pace.delay
    pace.refused(11.0, 11.1, "HTTP 429")
    assert pace.delay == 2 * first > 0
    now = answers(pace, 1, 12.0)
    assert 0 < pace.delay < 2 * first
    answers(pace, 30, now)
    assert pace.delay == 0


def test_what_the_host_asks_for_comes_first() -> None:
    pace = Pace(8)
    pace.refused(10.0, 10.1, "HTTP 429", wait=17.0)
    assert pace.not_before == pytest.approx(27.1)


def test_further_refusals_pause_longer_and_longer() -> None:
    pace, pauses, now = Pace(8), [], 10.0
    for _ in range(4):
        pace.refused(now, now + 0.1, "HTTP 503")
        pauses.append(pace.not_before - now - 0.1)
        now = max(pace.not_before, now + 0.1) + 0.1
    assert pauses[1:] == pytest.approx([0.5, 1.0, 2.0])
    assert pauses[0] < 0


def test_a_host_that_starts_anew_is_not_given_up() -> None:
    """It refuses for a quarter of a minute."""
    pace, now = Pace(8), 10.0
    while now < 25.0:
        pace.refused(now, now + 0.1, "HTTP 503")
        now = max(pace.not_before, now + 0.1) + 0.1
    assert not pace.given_up
    answers(pace, 200, now)
    assert pace.connections == 8


def test_a_host_that_asks_for_a_minute_each_time_is_given_up_in_three() -> None:
    pace, now = Pace(8), 10.0
    while not pace.given_up:
        pace.refused(now, now + 0.1, "HTTP 429", wait=60.0)
        now = pace.not_before + 0.1
    assert pace.rounds == FEWEST_ROUNDS
    assert PATIENCE <= now - 10.0 < 200
    assert pace.note == "given up after 3 failed requests in a row (HTTP 429)"


def test_a_host_whose_pages_hang_is_given_up() -> None:
    pace, now = Pace(8), 10.0
    while not pace.given_up:
        for _ in range(pace.connections):
            pace.refused(now, now + 30, "no answer in time")
        now = max(pace.not_before, now + 30) + 0.1
    assert now - 10.0 < 120


def test_a_longer_wait_than_is_waited_for_is_an_answer() -> None:
    pace = Pace(8, longest_wait=60)
    pace.refused(10.0, 10.1, "HTTP 503", wait=3600)
    assert pace.not_before == 0
    pace.refused(10.2, 10.3, "HTTP 503", wait=3600)
    assert not pace.given_up
    pace.refused(11.0, 11.1, "HTTP 503", wait=3600)
    assert pace.given_up


def test_one_good_answer_in_ten_does_not_keep_a_hanging_host_for_hours() -> None:
    pace, now = Pace(8), 10.0
    for number in range(1000):
        if number % 10 == 9:
            pace.answered(now, now + 0.1)
            now += 0.1
        else:
            pace.refused(now, now + 30, "no answer in time")
            now = max(pace.not_before, now + 30) + 0.1
        if pace.given_up:
            break
    assert number < 40


def test_one_bad_page_in_five_is_endured() -> None:
    pace, now = Pace(8), 10.0
    for number in range(500):
        if number % 5 == 4:
            pace.refused(now, now + 1, "HTTP 503")
        else:
            pace.answered(now, now + 1)
        now = max(pace.not_before, now + 1)
    assert not pace.given_up


def test_answers_that_take_longer_and_longer_take_connections_away() -> None:
    pace = Pace(8)
    now = answers(pace, 20, 10.0, took=0.2)
    now = answers(pace, 20, now, took=1.0)  # slower, and within bounds
    assert pace.connections == 8
    now = answers(pace, 60, now, took=6.0)
    assert pace.connections == 1
    assert pace.note == "slowed down (its answers take longer)"
    answers(pace, 300, now, took=0.2)
    assert pace.connections == 8


def test_without_adapting_only_what_the_host_asks_for_counts() -> None:
    pace = Pace(8, adaptive=False)
    for at in range(100, 200):
        pace.refused(at, at + 0.5, "HTTP 429", wait=2.0)
    assert (pace.connections, pace.delay, pace.given_up, pace.note) == (8, 0.0, False, "")
    assert pace.not_before == 201.5


events = st.lists(
    st.tuples(st.booleans(), st.floats(0, 100), st.floats(0, 100), st.none() | st.floats(0, 100)), max_size=60
)


@given(st.integers(1, 100), events)
def test_never_faster_than_the_caller_allows(
    most: int, events: list[tuple[bool, float, float, float | None]]
) -> None:
    pace, now = Pace(most), 0.0
    for good, gap, took, wait in events:
        began, now = now + gap, now + gap + took
        before = pace.not_before
        if good:
            pace.answered(began, now)
        else:
            pace.refused(began, now, "HTTP 429", wait)
        assert 1 <= pace.connections <= most
        assert 0 <= pace.delay <= LONGEST_DELAY
        assert pace.not_before >= before
