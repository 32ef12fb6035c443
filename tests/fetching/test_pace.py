"""The pace of one host, by times that the tests give."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from webanalytics._version import USER_AGENTS
from webanalytics.core.proxy import Proxy
from webanalytics.core.run_options import RECORDS
from webanalytics.fetching.pace import FEWEST_ROUNDS, LONGEST_DELAY, PATIENCE, FetchSettings, Pace


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


def test_a_fetcher_begins_with_the_defaults_of_the_options() -> None:
    settings, shared = FetchSettings(), [item.name for item in fields(FetchSettings) if item.name in RECORDS]
    assert {"robots", "allow_private", "ports", "timeout"} <= {*shared}
    assert [getattr(settings, name) for name in shared] == [RECORDS[name].default for name in shared]
    # the guides say: 10 MB a page, half a second before the first retry, a wait of a minute, a crawl-delay of half a one
    said = (settings.max_bytes, settings.backoff, settings.max_retry_after, settings.max_crawl_delay)
    assert said == (10_000_000, 0.5, 60.0, 30.0)
    assert settings.max_robots_bytes >= 500 * 1024, "RFC 9309 section 2.5"
    assert settings.adaptive


def test_what_a_fetcher_is_given_is_what_guards_and_dials_it() -> None:
    name = next(iter(USER_AGENTS))
    settings = FetchSettings(ports=[443], hosts=frozenset("a"), user_agent=name)  # type: ignore[arg-type]
    assert settings.guarded == {"allow_private": False, "ports": (443,), "hosts": frozenset("a")}
    assert settings.user_agent == USER_AGENTS[name] != name
    assert settings.way(URL("http://a.example/")) is None
    by_proxy = FetchSettings(proxy=Proxy.of("http://proxy.example:3128"))
    way = by_proxy.way(URL("https://a.example/"))
    assert way is not None
    assert way.url == "http://proxy.example:3128"
    but = Proxy({"http": way}, {"no": "b.example,c.example:81"})
    dialled = ("http://b.example/", "http://c.example/", "http://c.example:81/")
    ways = [FetchSettings(proxy=but).way(URL(url)) for url in dialled]
    assert ways == [None, way, None]


def test_every_end_of_a_request_is_counted() -> None:
    pace = Pace(8)
    pace.refused(0.0, 1.0, "HTTP 429")
    pace.failed()
    pace.turned_away(1.0, 2.0, "HTTP 403")
    pace.answered(2.0, 3.0)
    assert (pace.pages, pace.failures) == (4, 3)


def test_a_delay_begins_at_one_request_at_a_time_and_doubles_to_half_a_minute() -> None:
    pace, delays = Pace(2), []
    for at in range(9):
        pace.refused(float(at), at + 0.5, "HTTP 429")
        delays.append(pace.delay)
    assert delays == [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_delay_of_a_twentieth_of_a_second_ends() -> None:
    pace = Pace(1, delay=0.05)
    answers(pace, 1, 0.0)
    assert pace.delay == 0


@pytest.mark.parametrize(("took", "connections"), [(25.0, 8), (25.1, 7)])
def test_what_is_slow_is_smoothed_by_an_eighth(took: float, connections: int) -> None:
    """RFC 6298 section 2: of 1 and 25 seconds, 4 are kept, which is three times the quickest and one more."""
    pace = Pace(8)
    pace.answered(0.0, 1.0)
    pace.answered(10.0, 10.0 + took)
    assert pace.connections == connections


def test_the_first_answer_is_what_later_ones_are_smoothed_with() -> None:
    pace = Pace(8)
    answers(pace, 1, 0.0, took=2.0)
    answers(pace, 1, 2.0, took=0.1)
    assert pace.connections == 7


def test_a_host_that_always_takes_its_time_is_not_slowed_down() -> None:
    pace = Pace(8)
    answers(pace, 20, 0.0, took=5.0)
    assert (pace.connections, pace.note) == (8, "")


def test_slow_answers_take_one_away_for_each_round_and_never_the_last() -> None:
    pace, last = Pace(8), Pace(1)
    pace.answered(0.0, 1.0)
    pace.answered(10.0, 50.0)
    pace.answered(49.0, 90.0)  # under way when the last one came
    assert pace.connections == 7
    pace.answered(50.0, 90.0)
    assert pace.connections == 6
    last.answered(0.0, 1.0)
    last.answered(10.0, 50.0)
    assert (last.connections, last.note) == (1, "")


def test_what_begins_at_the_moment_of_a_refusal_is_another_round() -> None:
    pace = Pace(8)
    pace.refused(0.0, 10.0, "HTTP 429")
    pace.refused(9.9, 10.1, "HTTP 429")
    assert (pace.rounds, pace.connections) == (1, 4)
    pace.refused(10.0, 10.2, "HTTP 429")
    assert (pace.rounds, pace.connections) == (2, 2)


def test_24_refusals_of_30_are_too_many() -> None:
    pace, ended = Pace(8), []
    for number in range(1, 41):
        if number % 5:
            pace.refused(number / 100, number / 100, "HTTP 503")
        else:
            pace.answered(number / 100, number / 100)
        ended += [number] if pace.given_up else []
    assert ended[:1] == [29]
    pace = Pace(8)
    for number in range(31):  # 24 of 31
        if 0 < number < 8:
            pace.answered(number / 100, number / 100)
        else:
            pace.refused(number / 100, number / 100, "HTTP 503")
    assert not pace.given_up


@pytest.mark.parametrize(
    ("moments", "wait", "longest", "given_up"),
    [
        ((100.0, 130.0, 160.0), None, 60.0, True),
        ((100.0, 130.0, 159.9), None, 60.0, False),
        ((100.0, 101.0, 102.0), 60.0, 60.0, False),
        ((100.0, 101.0, 102.0), 60.1, 60.0, True),
        ((100.0, 101.0, 102.0), None, 0.5, False),
    ],
)
def test_three_rounds_over_a_minute_or_a_longer_wait_end_it(
    moments: tuple[float, ...], wait: float | None, longest: float, given_up: bool
) -> None:
    pace = Pace(8, longest_wait=longest)
    for moment in moments:
        pace.refused(moment, moment, "HTTP 503", wait)
    assert pace.given_up == given_up


def test_nobody_waits_longer_than_a_minute_unless_asked() -> None:
    pace = Pace(8)
    pace.refused(0.0, 1.0, "HTTP 503", 60.5)
    assert pace.not_before == 0


def turned_away(pace: Pace, times: int) -> list[bool]:
    """Whether the host is doubted after each of some pages that it refuses."""
    doubts = []
    for number in range(times):
        pace.turned_away(float(number), number + 0.5, "HTTP 403")
        doubts.append(pace.is_doubted)
    return doubts


def test_a_host_that_has_answered_is_doubted_after_one_page_and_twice_as_many_each_time_it_stands() -> None:
    pace = Pace(8)
    pace.opened("https://a.example/")
    assert turned_away(pace, 1) == [True]
    for rounds in (2, 4, 8):
        pace.stands()
        assert turned_away(pace, rounds) == [*[False] * (rounds - 1), True]
    pace.opened("")
    assert (pace.is_doubted, pace.good) == (False, "https://a.example/")
    assert turned_away(pace, 8)[6:] == [False, True]
    assert (pace.connections, pace.rounds, pace.failures) == (8, 0, 23)


def test_a_host_that_has_answered_nothing_is_doubted_after_eight_pages() -> None:
    assert turned_away(Pace(8), 8) == [*[False] * 7, True]
    assert not any(turned_away(Pace(8, adaptive=False), 20))


def test_a_host_that_has_turned_is_asked_less_until_a_page_comes() -> None:
    pace = Pace(8)
    pace.opened("https://a.example/")
    pace.turned_away(0.0, 1.0, "HTTP 403", sure=True)
    assert (pace.connections, pace.is_doubted, pace.note) == (4, False, "slowed down (HTTP 403)")
    pace.turned_away(2.0, 3.0, "HTTP 403", 7.0)
    assert (pace.connections, pace.rounds, pace.not_before) == (2, 2, 10.0)
    pace.opened("https://a.example/other")
    pace.turned_away(11.0, 12.0, "HTTP 403")
    assert (pace.connections, pace.is_doubted, pace.good) == (2, True, "https://a.example/other")


def test_a_host_that_was_given_up_is_not_doubted() -> None:
    pace = Pace(8)
    pace.opened("https://a.example/")
    for moment in (0.0, 40.0, 80.0):
        pace.refused(moment, moment, "HTTP 429")
    assert pace.given_up
    assert turned_away(pace, 1) == [False]


def test_a_pace_for_another_clock_knows_its_rounds() -> None:
    pace = Pace(8)
    pace.refused(0.0, 10.0, "HTTP 429")
    other = pace.moved(-100.0)
    other.refused(-91.0, -89.0, "HTTP 429")  # began before the last one came, by either clock
    assert other.rounds == 1
    other.refused(-90.0, -88.0, "HTTP 429")
    assert other.rounds == 2
    other = pace.moved(1000.0)
    other.refused(1010.0, 1011.0, "HTTP 429")
    other.refused(1011.0, 1012.0, "HTTP 429")
    assert (other.rounds, other.given_up) == (3, False)
