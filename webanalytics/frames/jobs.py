"""The jobs of inputs that are all text, made one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import overload

from webanalytics.outcomes import Job


class TextJobs(Sequence[Job]):
    """The jobs of distinct texts, each made when it is asked for: a call need not wait for all of them.

    Examples
    --------
    >>> TextJobs(["a", "b"])[1]
    Job(number=1, subject='b', wanted=None)
    """

    __slots__ = ("_texts",)

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[Job]:
        return starmap(Job, enumerate(self._texts))

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | Sequence[Job]:
        numbers = range(len(self._texts))[index]
        if isinstance(numbers, int):
            return Job(numbers, self._texts[numbers])
        return [Job(number, self._texts[number]) for number in numbers]
