"""One run on a hosted API: inputs in batches, retries of failed items, credits counted; behind `Hosted.run`.

Results <- `answers` <- envelopes <- `batches` <- responses <- `http`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import Job, JobResult, Outcome
from webanalytics.errors import RowError, ServiceUnavailableError
from webanalytics.runs.backends.base import Sent, Task
from webanalytics.runs.backends.hosted.answers import Answers, Downloads
from webanalytics.runs.backends.hosted.batches import (
    Batching,
    Envelopes,
    Item,
    NoBatch,
    NoCredits,
    RefusedWhole,
)
from webanalytics.runs.backends.hosted.http import Api, Backoff, Exchange, Stopped
from webanalytics.runs.backends.hosted.wire import EXPECTED, MOST_BODY_BYTES, is_upload, sendable, size_of

FEWEST = 25
"""Batches of fewer inputs than this are not worth running in parallel."""

SHORT = {"credits": Message("credits_spent"), "budget": Message("budget_spent")}
"""Errors of rows that were not sent."""
REASONS = {"credits": "No credits are left.", "budget": "The budget is spent."}
MOST_UNEXPECTED = 5
"""Single-input requests in a row that may fail with errors of the API itself."""

Group = list[JobResult]


class Budget:
    """The credits of one call: reserved before a request, and returned if it did not spend them."""

    def __init__(self, most: int | None) -> None:
        self._free = most
        self._out = 0
        self._changed = asyncio.Condition()

    async def take(self, prices: list[int]) -> int:
        """Reserve the prices of as many inputs as the budget allows, and return how many those are."""
        async with self._changed:
            if self._free is None:
                return len(prices)
            while True:
                count = total = 0
                for price in prices:
                    if total + price > self._free:
                        break
                    total, count = total + price, count + 1
                if count or not self._out:
                    self._free -= total
                    self._out += total
                    return count
                await self._changed.wait()

    async def settle(self, taken: int, spent: int) -> None:
        """Return reserved credits that were not spent."""
        async with self._changed:
            if self._free is not None:
                self._out -= taken
                self._free += taken - spent
                self._changed.notify_all()


@dataclass(frozen=True)
class Repeat:
    """A request of an earlier run that is made again, because its answer is not known."""

    place: int
    jobs: list[Job]
    sent: Sent


class HostedRun:
    """The work of `Hosted.run`; made on the event loop that it runs on."""

    def __init__(self, api: Api, task: Task, requests: int) -> None:
        self._api = api
        self._task = task
        self._spec = task.spec
        self._report = task.report
        self._operations = task.operations
        self._requests = requests
        self._all = tuple(range(len(self._operations)))
        self._prices = [api.price(operation) for operation in self._operations]
        self._whole = sum(self._prices)
        self._exchange = Exchange(api, requests, task.report.note)
        self._batching = Batching(api, task, self._exchange)
        self._downloads = Downloads(api, self._exchange.session, task.spec.options)
        self._answers = Answers(api, task, self._downloads)
        self._budget = Budget(task.spec.options["budget"])
        self._groups: asyncio.Queue[tuple[Group, asyncio.Event] | None] = asyncio.Queue()
        self._error: BaseException | None = None
        self._short = ""
        self._unexpected = 0

    async def results(self, jobs: Sequence[Job]) -> AsyncGenerator[Group, None]:
        """Yield the results in groups; a request counts as done when its group has been consumed."""
        repeats, others = self._repeats(jobs)
        chunks: Iterator[Repeat | list[Job]] = chain(repeats, self._chunks(others))
        workers = [asyncio.create_task(self._work(chunks)) for _ in range(self._requests)]
        try:
            running = len(workers)
            while running:
                item = await self._groups.get()
                if item is None:
                    running -= 1
                    continue
                group, taken = item
                yield group
                taken.set()
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._downloads.close()
            await self._exchange.close()
        if self._error is not None:
            raise self._error
        if self._short:
            needed = self._report.credits_needed
            self._report.stop_reason = (
                f"{REASONS[self._short]} The rows that are left need {needed:,} credits."
            )

    def _repeats(self, jobs: Sequence[Job]) -> tuple[list[Repeat], Sequence[Job]]:
        """Return the requests to make again as they were, and the jobs with what is wanted besides."""
        pending = [] if self._task.journal is None else self._task.journal.pending()
        if not pending:
            return [], jobs
        known, names = {job.number: job for job in jobs}, [item.name for item in self._operations]
        repeats: list[Repeat] = []
        taken: set[tuple[int, int]] = set()
        for sent in pending:
            if sent.operation in names and all(number in known for number in sent.numbers):
                place = names.index(sent.operation)
                repeats.append(Repeat(place, [known[number] for number in sent.numbers], sent))
                taken.update((number, place) for number in sent.numbers)
        others = []
        for job in jobs:
            wanted = tuple(place for place in self._wanted(job) if (job.number, place) not in taken)
            if wanted:
                others.append(replace(job, wanted=wanted))
        return repeats, others

    def _chunks(self, jobs: Sequence[Job]) -> Iterator[list[Job]]:
        """Yield the inputs of one request after another.

        With a checkpoint, their boundaries depend only on the jobs' numbers, not on how many there are or
        are left: a resumed run repeats the interrupted requests exactly, and the server recognises them.
        """
        share = -(-len(jobs) // self._requests)
        if self._spec.resumable:
            share = self._api.batch_size if self._operations[0].kind == "record" else FEWEST
        size = min(self._api.batch_size, max(FEWEST, share))
        chunk: list[Job] = []
        weight, was_upload = 0, False
        for job in jobs:
            own, upload = size_of(job), is_upload(job)
            weight += own
            full = job.number // size != (chunk or [job])[0].number // size or weight > MOST_BODY_BYTES
            if chunk and (full or upload or was_upload):
                yield chunk
                chunk, weight = [], own
            was_upload = upload
            chunk.append(job)
        if chunk:
            yield chunk

    async def _deliver(self, group: Group) -> None:
        """Deliver results, and wait until they are saved."""
        if group:
            taken = asyncio.Event()
            self._groups.put_nowait((group, taken))
            await taken.wait()

    async def _work(self, chunks: Iterator[Repeat | list[Job]]) -> None:
        """Process one chunk after another; an error ends the run, but not requests in progress."""
        try:
            for chunk in chunks:
                await (self._repeat(chunk) if isinstance(chunk, Repeat) else self._chunk(chunk))
        except Exception as error:
            if self._error is None and not isinstance(error, Stopped):
                self._error = error
            self._exchange.gate.end()
        finally:
            self._groups.put_nowait(None)

    def _wanted(self, job: Job) -> tuple[int, ...]:
        return self._all if job.wanted is None else job.wanted

    def _price(self, job: Job) -> int:
        return self._whole if job.wanted is None else sum(self._prices[place] for place in job.wanted)

    async def _chunk(self, chunk: list[Job]) -> None:
        """Request all operations for the jobs, as far as the budget allows."""
        while chunk and not self._short:
            prices = [self._price(job) for job in chunk]
            count = await self._budget.take(prices)
            if not count:
                self._short = self._short or "budget"
                break
            now, chunk = chunk[:count], chunk[count:]
            spent = 0
            try:
                parts = (
                    (place, [job for job in now if job.wanted is None or place in job.wanted])
                    for place in self._all
                )
                spent = await self._side_by_side(partial(self._operation, *part) for part in parts)
            finally:
                await self._budget.settle(sum(prices[:count]), spent)
        if chunk:
            await self._leave([(job, self._wanted(job)) for job in chunk])

    async def _repeat(self, again: Repeat) -> None:
        """Make a request again; as it was, or, where the budget is too small for that, not at all."""
        price = self._prices[again.place] * len(again.jobs)
        if self._short or not await self._budget.take([price]):
            self._short = self._short or "budget"
            await self._leave([(job, (again.place,)) for job in again.jobs])
            return
        spent = 0
        try:
            spent = await self._operation(again.place, again.jobs, again.sent)
        finally:
            await self._budget.settle(price, spent)

    async def _side_by_side(self, work: Iterable[Callable[[], Awaitable[int]]]) -> int:
        """Return the total cost of several operations; if one fails, those in progress may finish."""

        async def ending(ask: Callable[[], Awaitable[int]]) -> int:
            try:
                return await ask()  # begun here, for one that is interrupted before must not have begun
            except Exception:
                self._exchange.gate.end()
                raise

        done = await asyncio.gather(*map(ending, work), return_exceptions=True)
        errors = [found for found in done if isinstance(found, BaseException)]
        if errors:
            raise next((error for error in errors if not isinstance(error, Stopped)), errors[0])
        return sum(spent for spent in done if isinstance(spent, int))

    async def _leave(self, left: Sequence[tuple[Job, Sequence[int]]]) -> None:
        """Mark jobs that are not sent, and count the credits they would need."""
        outcome = Outcome.failed(SHORT[self._short])
        group = []
        for job, places in left:
            for place in places:
                self._report.credits_needed += self._prices[place]
                group.append(self._answers.result(place, job, outcome))
        await self._deliver(group)

    async def _operation(self, place: int, jobs: list[Job], sent: Sent | None = None) -> int:
        """Request one operation until each job has its outcome, and return the credits spent."""
        operation, items, unsendable = self._operations[place], [], []
        for job in jobs:
            try:
                if operation.kind == "image":  # it may be a file to read
                    items.append(Item(await asyncio.to_thread(sendable, operation, job)))
                else:
                    items.append(Item(sendable(operation, job)))
            except RowError as error:
                unsendable.append(self._answers.result(place, job, Outcome.failed(error)))
        await self._deliver(unsendable)
        if sent is not None and (unsendable or not self._batching.is_same(operation, items, sent)):
            sent = None  # a file has changed since: nothing that was paid for would be repeated
        return await self._ask(place, items, sent)

    async def _ask(self, place: int, todo: list[Item], sent: Sent | None = None) -> int:
        operation, spent = self._operations[place], 0
        backoff = Backoff(self._api.patience)
        while todo:
            if sent is None and len(todo) > 1 and operation.name in self._api.without_batch:
                return spent + await self._side_by_side(partial(self._ask, place, [item]) for item in todo)
            if self._short == "credits":
                await self._leave([(item.job, (place,)) for item in todo])
                break
            earlier, sent = sent, None
            batch = self._batching.next_batch(operation, todo) if earlier is None else todo
            try:
                envelopes = await self._batching.send(operation, batch, earlier)
            except NoBatch:
                self._api.without_batch.add(operation.name)
                continue
            except RefusedWhole:
                self._batching.halve(operation, batch)
                continue
            except NoCredits:
                self._short = "credits"
                continue
            judged = await self._answers.judge(place, batch, envelopes)
            if judged.out_of_credits:
                self._short = "credits"
            todo = judged.again + todo[len(batch) :]
            spent += judged.spent
            await self._deliver(judged.results)
            if self._task.journal is not None:
                self._task.journal.answered(envelopes.key)
            self._stop_where_nothing_works(envelopes)
            if judged.again and not self._short:
                pause = backoff.pause(envelopes.reply, answered=bool(judged.results))
                await self._exchange.gate.pause(pause)
        return spent

    def _stop_where_nothing_works(self, envelopes: Envelopes) -> None:
        """Raise `ServiceUnavailableError` if whole requests fail for reasons other than their inputs."""
        statuses = [status for status, _ in envelopes.found]
        if not EXPECTED.isdisjoint(statuses):
            self._unexpected = 0
            return
        self._unexpected += 1
        if len(statuses) > 1 or self._unexpected >= MOST_UNEXPECTED:
            raise ServiceUnavailableError(
                "The `base_url` parameter must be the address of a service that works: it answered "
                f"{statuses[0]} to all that it was asked.",
                envelopes.reply.status,
                envelopes.reply.request_id,
            )
