"""Answers that are kept without a result for each, and jobs that are made when asked for."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from webanalytics.frames.build import FrameBuilder
from webanalytics.frames.inputs import read_inputs
from webanalytics.frames.jobs import TextJobs
from webanalytics.messages import Message
from webanalytics.operations import OPERATIONS
from webanalytics.outcomes import Job, JobResult, Outcome, PlainResults

HMAC = OPERATIONS["hmac"]
MESSAGES = ["b", "a", "b", "c", "", "d"]
FAILED = Outcome.failed(Message("unfinished"))


def data(number: int) -> dict[str, str]:
    return {"hmac": f"{number:064x}", "algorithm": "sha256", "encoding": "hex"}


def plain(*numbers: int) -> PlainResults:
    found = PlainResults()
    for number in numbers:
        found.add(number, data(number))
    return found


@pytest.mark.parametrize("failed", [(), (2,), (0, 4)])
@pytest.mark.parametrize("missing", [(), (1,), (1, 3)])
def test_a_frame_is_that_of_the_results(failed: tuple[int, ...], missing: tuple[int, ...]) -> None:
    rows = read_inputs(MESSAGES, HMAC, "messages")
    together, single = FrameBuilder(rows, (HMAC,)), FrameBuilder(rows, (HMAC,))
    good = plain(*(job.number for job in rows.jobs if job.number not in (*failed, *missing)))
    assert together.add_plain(good) == len(good)
    for result in good:
        assert single.add(result)
    for number in failed:
        for builder in (together, single):
            builder.add(JobResult(number, (FAILED,)))
    assert (together.done, together.rows_done) == (single.done, single.rows_done)
    made = together.frame()
    pd.testing.assert_frame_equal(made, single.frame())
    known = [m for m in MESSAGES if list(dict.fromkeys(MESSAGES)).index(m) not in missing]
    assert made["message"].tolist() == known
    assert (made["status"] == "error").sum() == sum(rows.numbers.tolist().count(number) for number in failed)
    assert made["hmac"].notna().sum() == (made["status"] == "ok").sum()


def test_plain_results_are_results() -> None:
    found = plain(3, 1)
    results = [JobResult(number, (Outcome(data(number)),)) for number in (3, 1)]
    assert list(found) == results
    assert (found[0], found[-1], found[:1], len(found)) == (results[0], results[1], results[:1], 2)
    assert not PlainResults()


def test_jobs_of_texts_are_a_list_of_them() -> None:
    jobs, listed = TextJobs("abc"), [Job(number, text) for number, text in enumerate("abc")]
    assert list(jobs) == listed
    assert (jobs[0], jobs[-1], jobs[1:], jobs[::-1], len(jobs)) == (
        *(listed[0], listed[-1], listed[1:], listed[::-1], 3),
    )
    assert list(pickle.loads(pickle.dumps(jobs))) == listed
    with pytest.raises(IndexError):
        jobs[3]


@pytest.mark.parametrize("messages", [["b", "a"], ["b", "a", "b"]])
def test_equal_texts_share_a_job(messages: list[str]) -> None:
    rows = read_inputs(messages, HMAC, "messages")
    assert list(rows.jobs) == [Job(0, "b"), Job(1, "a")]
    assert rows.numbers.tolist() == [["b", "a"].index(message) for message in messages]
    assert rows.numbers.dtype == "int64"
