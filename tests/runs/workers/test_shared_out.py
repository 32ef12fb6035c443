"""Work that worker processes share, with real ones."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.runs.workers import shared
from webanalytics.runs.workers.shared import shared_out


def only_here(number: int) -> int:  # workers cannot import the tests, and end
    return number + 1


def wrong(number: int) -> int:
    raise ArithmeticError(str(number))


def test_answers_come_in_the_order_of_the_messages() -> None:
    asked: list[int] = []

    def messages() -> Iterator[tuple[str, tuple[int]]]:
        for number in range(40):
            asked.append(number)
            yield f"of {number}", (number,)

    found = shared_out(math.factorial, messages(), share=True)
    first = next(found)
    assert len(asked) < 40, "not all is held at once"
    assert [first, *found] == [(f"of {number}", math.factorial(number)) for number in range(40)]


@pytest.mark.parametrize(("share", "workers", "here"), [(True, 2, False), (True, 1, True), (False, 2, True)])
def test_processes_do_it_where_there_are_several(share: bool, workers: int, here: bool) -> None:
    with wa.option_context(workers=workers):
        found = {process for _, process in shared_out(os.getpid, [(0, ())] * 3, share)}
    assert (os.getpid() in found) == here


def test_what_a_process_cannot_do_is_done_here() -> None:
    with wa.option_context(workers=2):
        found = list(shared_out(only_here, [(number, (number,)) for number in range(5)], share=True))
        assert found == [(number, number + 1) for number in range(5)]
        with pytest.raises(ArithmeticError, match="7"):
            list(shared_out(wrong, [(0, (7,))], share=True))


def test_what_was_begun_is_ended_where_nobody_waits() -> None:
    with wa.option_context(workers=2):
        found = shared_out(time.sleep, ((number, (3_600 * number,)) for number in range(3)), share=True)
        assert next(found) == (0, None)
        found.close()  # type: ignore[attr-defined] - waits for the threads, and not for an hour


def test_a_process_that_starts_while_the_others_are_ended_is_ended_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin, ending, calls = shared.idle_workers.new, threading.Event(), count()

    def slowly(*arguments: Any) -> Any:
        made = begin(*arguments)
        if next(calls):
            ending.wait()
            time.sleep(0.3)  # until the others have been ended
        return made

    monkeypatch.setattr(shared.idle_workers, "warm", lambda _: None)
    monkeypatch.setattr(shared.idle_workers, "new", slowly)
    with wa.option_context(workers=2):
        found = shared_out(time.sleep, ((number, (3_600 * number,)) for number in range(3)), share=True)
        assert next(found) == (0, None)
        ending.set()
        found.close()  # type: ignore[attr-defined]


def test_reading_and_counting_need_no_pandas() -> None:
    code = (
        "import sys, webanalytics.audits.content.counting, webanalytics.audits.content.words\n"
        "print({'pandas', 'matplotlib', 'ipywidgets', 'trafilatura'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
