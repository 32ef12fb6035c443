"""One run on a hosted API: inputs in batches, failed items again, credits kept count of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any

from webanalytics.backends.base import Answer, Fetched, Job, Outcome, PackedOutcomes, Task
from webanalytics.backends.hosted.asking import Asking, Item, NoBatch, NoCredits, RefusedWhole
from webanalytics.backends.hosted.client import Hosted
from webanalytics.backends.hosted.downloads import Downloads
from webanalytics.backends.hosted.exchange import Exchange, Stall, Stopped
from webanalytics.backends.hosted.purse import Purse
from webanalytics.backends.hosted.rules import EXPECTED, RETRIED, Reply, error_type
from webanalytics.backends.hosted.shapes import Shape
from webanalytics.backends.hosted.wire import MOST_BODY_BYTES, is_upload, sendable, size_of
from webanalytics.errors import RowError, ServiceUnavailableError

FEWEST = 25
"""Inputs of a batch below which it is not worth having more of them."""

SHORT = {
    "credits": "The `api_key` parameter must be the key of an account with credits: none were left for this.",
    "budget": "The `budget` parameter must be larger: it did not reach this row.",
}
"""What rows say that were not asked for."""
REASONS = {"credits": "No credits are left.", "budget": "The budget is spent."}
MOST_UNEXPECTED = 5
"""Inputs, each in a request of its own, that the API may fail at one after the other in its own way."""
ANOTHER_REQUEST = "must be sent in another request"
"""What an item's sentence says where only the answer had no more room."""
WITHOUT_KEY = "`Idempotency-Key`"


Group = list[Answer]

_UNKNOWN = Fetched(redirects=None)


class HostedRun:
    """The work of `Hosted.run`.

    Parameters
    ----------
    backend : Hosted
        The API.
    task : Task
        What is asked.
    """

    def __init__(self, backend: Hosted, task: Task) -> None:
        self._backend = backend
        self._task = task
        self._all = tuple(range(len(task.operations)))
        self._prices = [backend.price(operation) for operation in task.operations]
        self._price_of_all = sum(self._prices)
        self._shapes = [Shape.of(operation, task.settings[operation.name]) for operation in task.operations]
        self._retries = int(task.options["retries"])
        self._purse = Purse(task.options["budget"])
        self._groups: asyncio.Queue[tuple[Group, asyncio.Event] | None] = asyncio.Queue()
        self._error: BaseException | None = None
        self._short = ""
        self._unexpected = 0
        self._requests = int(task.given.get("concurrency", backend.concurrency))

    async def answers(self, jobs: Sequence[Job]) -> AsyncGenerator[Group, None]:
        """Yield the answers in groups; a request counts as done when its group has been taken."""
        chunks = self._chunks(jobs)
        async with Exchange(self._backend, self._requests, self._task.report.note) as self._exchange:
            self._asking = Asking(self._backend, self._task, self._exchange)
            self._downloads = Downloads(self._backend, self._exchange.session, self._task.options)
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
        if self._error is not None:
            raise self._error
        if self._short:
            needed = self._task.report.needed
            self._task.report.why = f"{REASONS[self._short]} The rows that are left need {needed:,} credits."

    def _chunks(self, jobs: Sequence[Job]) -> Iterator[list[Job]]:
        """Yield the inputs of one request after the other.

        Where there is a checkpoint, their borders depend on the jobs' numbers alone, and not on how many
        there are or are left: a run that is resumed sends what was under way when it was ended in the same
        requests, and the server knows them again.
        """
        share = -(-len(jobs) // self._requests)
        if self._task.options.get("checkpoint") is not None:
            share = self._backend.batch_size if self._task.operations[0].kind == "record" else FEWEST
        size = min(self._backend.batch_size, max(FEWEST, share))
        chunk: list[Job] = []
        weight = 0
        for job in jobs:
            weight += size_of(job)
            full = job.number // size != (chunk or [job])[0].number // size or weight > MOST_BODY_BYTES
            if chunk and (full or is_upload(job) or is_upload(chunk[0])):
                yield chunk
                chunk, weight = [], size_of(job)
            chunk.append(job)
        if chunk:
            yield chunk

    async def _give(self, group: Group) -> None:
        """Hand answers over, and wait until they are safe."""
        if group:
            taken = asyncio.Event()
            self._groups.put_nowait((group, taken))
            await taken.wait()

    async def _work(self, chunks: Iterator[list[Job]]) -> None:
        """Do one chunk after the other; what goes wrong ends the run, but not what is under way."""
        try:
            for chunk in chunks:
                await self._chunk(chunk)
        except Exception as error:
            if self._error is None and not isinstance(error, Stopped):
                self._error = error
            self._exchange.gate.end()
        finally:
            self._groups.put_nowait(None)

    def _wanted(self, job: Job) -> tuple[int, ...]:
        return self._all if job.wanted is None else job.wanted

    def _price(self, job: Job) -> int:
        return self._price_of_all if job.wanted is None else sum(self._prices[place] for place in job.wanted)

    async def _chunk(self, chunk: list[Job]) -> None:
        while chunk and not self._short:
            count = await self._purse.take([self._price(job) for job in chunk])
            if not count:
                self._short = self._short or "budget"
                break
            now, chunk = chunk[:count], chunk[count:]
            taken = sum(map(self._price, now))
            spent = 0
            try:
                spent = await self._all_operations(now)
            finally:
                await self._purse.settle(taken, spent)
        if chunk:
            await self._leave([(job, self._wanted(job)) for job in chunk])

    async def _all_operations(self, jobs: list[Job]) -> int:
        """Ask every operation about the jobs, and return the credits spent."""
        return await self._side_by_side(
            self._operation(place, [Item(job) for job in jobs if place in self._wanted(job)])
            for place in range(len(self._task.operations))
        )

    async def _side_by_side(self, work: Iterable[Coroutine[Any, Any, int]]) -> int:
        """Return what several questions cost together; one that fails leaves those under way time to end."""

        async def ending(question: Coroutine[Any, Any, int]) -> int:
            try:
                return await question
            except Exception:
                self._exchange.gate.end()
                raise

        done = await asyncio.gather(*map(ending, work), return_exceptions=True)
        errors = [found for found in done if isinstance(found, BaseException)]
        if errors:
            raise next((error for error in errors if not isinstance(error, Stopped)), errors[0])
        return sum(spent for spent in done if isinstance(spent, int))

    async def _leave(self, left: Sequence[tuple[Job, Sequence[int]]]) -> None:
        """Mark what is not asked for, and count what it would need."""
        sentence = SHORT[self._short]
        group = []
        for job, places in left:
            for place in places:
                self._task.report.needed += self._prices[place]
                group.append(self._answer(place, job, Outcome(None, sentence, "credits")))
        await self._give(group)

    def _answer(self, place: int, job: Job, outcome: Outcome, fetched: Fetched | None = None) -> Answer:
        position = self._position(place)
        if fetched is None and self._shapes[place].large:
            fetched = _UNKNOWN
        if outcome.data is None or not self._shapes[place].large:
            return Answer(job.number, (outcome,), fetched, position)
        packed = PackedOutcomes(PackedOutcomes.pack([(outcome.data, None, None)]))
        return Answer(job.number, packed, fetched, position)

    def _position(self, place: int) -> int | None:
        return place if len(self._all) > 1 else None

    async def _operation(self, place: int, items: list[Item]) -> int:
        """Ask one operation about inputs until each has its outcome, and return the credits spent."""
        return await self._answered(place, await self._sendable(place, items))

    async def _answered(self, place: int, todo: list[Item]) -> int:
        operation, spent = self._task.operations[place], 0
        stall = Stall(self._backend.patience)
        while todo:
            if len(todo) > 1 and operation.name in self._backend.without_batch:
                return spent + await self._side_by_side(self._answered(place, [item]) for item in todo)
            if self._short == "credits":
                await self._leave([(item.job, (place,)) for item in todo])
                break
            together = self._asking.together(operation, todo)
            try:
                results, reply, ours = await self._asking.ask(operation, together)
            except NoBatch:
                self._backend.without_batch.add(operation.name)
                continue
            except RefusedWhole:
                self._asking.smaller(operation, together)
                continue
            except NoCredits:
                self._short = "credits"
                continue
            group, again, paid = await self._judged(place, together, results, reply, ours=ours)
            todo = again + todo[len(together) :]
            spent += paid
            await self._give(group)
            self._stop_where_nothing_works([status for status, _ in results], reply)
            if again and not self._short:
                await self._exchange.gate.pause(stall.pause(reply, answered=bool(group)))
        return spent

    async def _sendable(self, place: int, items: list[Item]) -> list[Item]:
        """Answer what cannot be sent, and return the rest."""
        good, group = [], []
        for item in items:
            try:
                job = item.job
                if self._task.operations[place].kind == "image":
                    job = await asyncio.to_thread(sendable, self._task.operations[place], job)
                else:
                    job = sendable(self._task.operations[place], job)
                good.append(Item(job))
            except RowError as error:
                group.append(self._answer(place, item.job, Outcome.failed(error)))
        await self._give(group)
        return good

    async def _judged(
        self,
        place: int,
        items: Sequence[Item],
        results: Sequence[tuple[int, Mapping[str, Any]]],
        reply: Reply,
        *,
        ours: bool,
    ) -> tuple[Group, list[Item], int]:
        """Return the answers, the inputs to send again, and the credits spent."""
        price = self._prices[place] if ours else 0
        shape, position = self._shapes[place], self._position(place)
        poor = reply.remaining is not None and reply.remaining < max(self._prices[place], 1)
        group: Group = []
        again: list[Item] = []
        spent = 0
        for item, (status, envelope) in zip(items, results, strict=True):
            data = envelope.get("data")
            if status == 200 and envelope.get("status") == "ok" and isinstance(data, dict):
                spent += price
                if fault := shape.fault(data):
                    group.append(self._answer(place, item.job, Outcome(None, fault, "service")))
                elif shape.plain:
                    group.append(Answer(item.job.number, (Outcome(data),), None, position))
                else:
                    group.append(await self._success(place, item.job, data))
                if shape.large:  # to pack one takes milliseconds
                    await asyncio.sleep(0)
                continue
            sentence = self._sentence(status, envelope)
            if status == 429 and poor:
                self._short = "credits"  # what goes again is left when its turn comes
                again.append(item)
            elif self._goes_again(item, status, sentence):
                again.append(item)
            else:
                group.append(
                    self._answer(place, item.job, Outcome(None, sentence, error_type(sentence, status)))
                )
        self._task.report.used += spent
        return group, again, spent

    def _sentence(self, status: int, envelope: Mapping[str, Any]) -> str:
        """Return what an answer says of a failure, else what can be said of its status."""
        said = envelope.get("error")
        sentence = self._backend.cleaned(said) if isinstance(said, str) else ""
        if sentence.strip():
            return sentence
        return (
            "The hosted API gave no reason." if status in EXPECTED else f"The hosted API answered {status}."
        )

    def _stop_where_nothing_works(self, statuses: Sequence[int], reply: Reply) -> None:
        """Raise `ServiceUnavailableError` where whole requests fail, and not for their inputs' sake."""
        if not EXPECTED.isdisjoint(statuses):
            self._unexpected = 0
            return
        self._unexpected += 1
        if len(statuses) > 1 or self._unexpected >= MOST_UNEXPECTED:
            raise ServiceUnavailableError(
                "The `base_url` parameter must be the address of a service that works: it answered "
                f"{statuses[0]} to all that it was asked.",
                reply.status,
                reply.request_id,
            )

    def _goes_again(self, item: Item, status: int, sentence: str) -> bool:
        if status == 400 and WITHOUT_KEY in sentence and item.keyed:
            item.keyed = False  # alone and without a key the answer may be larger
            return True
        if status == 429 or (status in RETRIED and ANOTHER_REQUEST in sentence):
            return True
        item.tries += status in RETRIED
        return status in RETRIED and item.tries <= self._retries

    async def _success(self, place: int, job: Job, data: Mapping[str, Any]) -> Answer:
        shape = self._shapes[place]
        for name in shape.premium:
            if name not in data:
                self._task.report.left_out.add(name)
        fetched = None
        if shape.final is not None and (final := shape.final.read(data)):
            fetched = Fetched(final_url=final, redirects=None)
        if shape.emptied and shape.emptied.keys() <= data.keys():  # a plan without the field leaves it null
            data = {**data, **shape.emptied}
        if isinstance(note := data.get("note"), str):
            data = {**data, "note": self._backend.cleaned(note)}
        if shape.image:
            try:
                data = {**data, **await self._downloads.image(data)}
            except RowError as error:
                return self._answer(place, job, Outcome.failed(error))
        return self._answer(place, job, Outcome(data), fetched)
