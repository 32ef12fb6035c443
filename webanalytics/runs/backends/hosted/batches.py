"""Inputs -> a request, and its response -> a status and an envelope for each; between `run` and `http`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from webanalytics.core.outcomes import Job
from webanalytics.errors import HostedError
from webanalytics.operations import Operation
from webanalytics.runs.backends.base import Sent, Task
from webanalytics.runs.backends.hosted.http import Api, Exchange
from webanalytics.runs.backends.hosted.wire import (
    ITEM_STATUS,
    Reply,
    Request,
    batch_request,
    content_of,
    is_out_of_credits,
    served_settings,
    single_request,
)


@dataclass(slots=True)
class Item:
    """One input of one operation, in transit."""

    job: Job
    tries: int = 0
    keyed: bool = True

    @property
    def can_share(self) -> bool:
        """Whether it may share a request with others."""
        return self.keyed and not isinstance(self.job.subject, bytes)


@dataclass(frozen=True, slots=True)
class Envelopes:
    """The response to one request."""

    found: list[tuple[int, Mapping[str, Any]]]  # a status and an envelope for each input
    reply: Reply  # the response they came in
    ours: bool  # whether this run is charged for them, not an earlier one
    key: str = ""  # the Idempotency-Key of the request


class NoCredits(Exception):  # noqa: N818 - an answer more than an error
    """The account's credits are spent."""


class NoBatch(Exception):  # noqa: N818 - an answer more than an error
    """The server has no batch path."""


class RefusedWhole(Exception):  # noqa: N818 - an answer more than an error
    """The server refused a whole batch."""


class Batching:
    """Makes requests of one run's inputs, and sends them."""

    def __init__(self, api: Api, task: Task, exchange: Exchange) -> None:
        self._api = api
        self._identity = task.spec.identity
        self._journal = task.journal
        self._report = task.report
        self._exchange = exchange
        self._most: dict[str, int] = {}
        self._heard = 0.0
        self._settings = {
            operation.name: served_settings(operation, task.spec.settings[operation.name])
            for operation in task.operations
        }

    def halve(self, operation: Operation, refused: Sequence[Item]) -> None:
        """Halve the inputs of further requests: the server refused a whole one."""
        most = self._most.get(operation.name, self._api.batch_size)
        self._most[operation.name] = min(most, (len(refused) + 1) // 2)

    def next_batch(self, operation: Operation, todo: list[Item]) -> list[Item]:
        """Return the first inputs, which go into one request."""
        if not todo[0].can_share or operation.name in self._api.without_batch:
            return todo[:1]
        together = list(takewhile(lambda item: item.can_share, todo))
        return together[: self._most.get(operation.name, self._api.batch_size)]

    def _key(self, operation: Operation, items: Sequence[Item], salt: Sequence[int]) -> str:
        """Return the Idempotency-Key of a request: the same for the same inputs of the same run."""
        made = hashlib.sha256(json.dumps([self._identity, operation.name, *salt, len(items)]).encode())
        for item in items:
            subject = content_of(item.job)
            content = subject if isinstance(subject, bytes) else subject.encode("utf-8", "surrogatepass")
            made.update(len(content).to_bytes(8, "big") + content)
        return made.hexdigest()

    def _new(self, operation: Operation, items: Sequence[Item], alone: bool) -> Sent:
        """Return a request as it is written down; no earlier run has sent one under its key."""
        salt: tuple[int, ...] = (max(item.tries for item in items),)
        key = self._key(operation, items, salt)
        further = 0
        while self._journal is not None and self._journal.is_used(key):
            further += 1
            key = self._key(operation, items, (*salt, further))
        salt = (*salt, further) if further else salt
        return Sent(key, operation.name, tuple(item.job.number for item in items), salt, alone)

    def is_same(self, operation: Operation, items: Sequence[Item], earlier: Sent) -> bool:
        """Return whether inputs are those of an earlier request: a file may have changed since."""
        return self._key(operation, items, earlier.salt) == earlier.key

    async def send(self, operation: Operation, items: list[Item], earlier: Sent | None = None) -> Envelopes:
        """Send inputs in one request, and return the envelope of each; `earlier` is a request to repeat."""
        single = len(items) == 1 and (operation.name in self._api.without_batch or not items[0].can_share)
        sent = earlier or self._new(operation, items, single)
        settings, key, single = self._settings[operation.name], sent.key, sent.alone
        if single:
            job = items[0].job
            request = single_request(operation, job, settings, key if items[0].keyed else None)
        else:
            request = batch_request(operation, [item.job for item in items], settings, key)
        if self._journal is not None and earlier is None and request.idempotency_key is not None:
            await self._journal.sending(sent)
        sendings = 0

        def make_body() -> Any:
            nonlocal sendings
            sendings += 1
            return request.make_body()

        reply = await self._exchange.send(
            replace(request, make_body=make_body),
            operation.path,
            about_input=_about_the_input if single else lambda _: False,
            fits=_is_single if single else partial(_is_batch, len(items)),
        )
        if reply.remaining is not None and reply.heard >= self._heard:
            self._heard = reply.heard
            self._report.left = reply.remaining
            self._report.note(f"{reply.remaining:,} credits left")
        if is_out_of_credits(reply):
            raise NoCredits
        ours = not reply.replayed or sendings > 1  # else an earlier run paid for it, which was ended
        if single:
            if reply.status == 404:
                raise self._no_operation(request, reply)
            return Envelopes([(reply.status, reply.item)], reply, ours, key)
        if reply.status == 404:
            raise NoBatch
        if reply.status in (400, 413) and len(items) > 1:  # smaller requests may be right
            raise RefusedWhole
        if reply.status != 200:
            return Envelopes([(reply.status, reply.item)] * len(items), reply, ours, key)
        found = [_item_result(item) for item in (reply.envelope or {})["data"]["results"]]
        return Envelopes(found, reply, ours, key)

    def _no_operation(self, request: Request, reply: Reply) -> HostedError:
        path = request.path.partition("?")[0]
        return HostedError(
            f"The `base_url` parameter must be the address of an API that has {path}: "
            f"{self._api.base_url} has not.",
            reply.status,
            reply.request_id,
        )


def _about_the_input(reply: Reply) -> bool:
    """Return whether a 500 or 503 concerns the one input, such as its page's server, and not the API."""
    return bool(reply.error) and reply.failure.error_type != "service"


def _is_single(envelope: Mapping[str, Any]) -> bool:
    return envelope["status"] == "error" or isinstance(envelope.get("data"), Mapping)


def _is_batch(count: int, envelope: Mapping[str, Any]) -> bool:
    data = envelope.get("data")
    results = data.get("results") if isinstance(data, Mapping) else None
    return isinstance(results, list) and len(results) == count


def _item_result(item: Any) -> tuple[int, Mapping[str, Any]]:
    if not isinstance(item, dict):
        return 500, {}
    status = item.get(ITEM_STATUS)
    return (status if isinstance(status, int) else 200 if item.get("status") == "ok" else 500), item
