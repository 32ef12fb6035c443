"""Inputs -> a request, and its response -> a status and an envelope for each; between `run` and `http`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from webanalytics.backends.base import Task
from webanalytics.backends.hosted.api import Api
from webanalytics.backends.hosted.error_rules import Reply, is_out_of_credits
from webanalytics.backends.hosted.http import Exchange
from webanalytics.backends.hosted.wire import (
    ITEM_STATUS,
    Request,
    batch_request,
    content_of,
    served_settings,
    single_request,
)
from webanalytics.errors import HostedError
from webanalytics.operations import Operation
from webanalytics.outcomes import Job


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
    """The response to one request.

    Attributes
    ----------
    found : list of (int, Mapping)
        A status and an envelope for each input.
    reply : Reply
        The response they came in.
    ours : bool
        Whether this run is charged for them, not an earlier one.
    """

    found: list[tuple[int, Mapping[str, Any]]]
    reply: Reply
    ours: bool


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

    def _key(self, operation: Operation, items: Sequence[Item]) -> str:
        """Return the Idempotency-Key of a request: the same for the same inputs of the same run."""
        what = [self._identity, operation.name, max(item.tries for item in items)]
        made = hashlib.sha256(json.dumps([*what, len(items)]).encode())
        for item in items:
            subject = content_of(item.job)
            content = subject if isinstance(subject, bytes) else subject.encode("utf-8", "surrogatepass")
            made.update(len(content).to_bytes(8, "big") + content)
        return made.hexdigest()

    async def send(self, operation: Operation, items: list[Item]) -> Envelopes:
        """Send inputs in one request, and return the envelope of each.

        Raises
        ------
        NoCredits, NoBatch, RefusedWhole
            For answers that change how the run goes on.
        HostedError
            For one that ends it.
        """
        single = len(items) == 1 and (operation.name in self._api.without_batch or not items[0].can_share)
        settings, key = self._settings[operation.name], self._key(operation, items)
        if single:
            job = items[0].job
            request = single_request(operation, job, settings, key if items[0].keyed else None)
        else:
            request = batch_request(operation, [item.job for item in items], settings, key)
        sendings = 0

        def make_body() -> Any:
            nonlocal sendings
            sendings += 1
            return request.make_body()

        reply = await self._exchange.send(
            replace(request, make_body=make_body),
            operation.path,
            about_input=_about_the_input if single else _never,
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
            return Envelopes([(reply.status, reply.item)], reply, ours)
        if reply.status == 404:
            raise NoBatch
        if reply.status in (400, 413) and len(items) > 1:  # smaller requests may be right
            raise RefusedWhole
        if reply.status != 200:
            return Envelopes([(reply.status, reply.item)] * len(items), reply, ours)
        return Envelopes(
            [_item_result(item) for item in (reply.envelope or {})["data"]["results"]], reply, ours
        )

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


def _never(reply: Reply) -> bool:  # noqa: ARG001 - the same form as the others
    return False


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
