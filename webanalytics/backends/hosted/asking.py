"""Inputs -> a request, and its answer -> a status and an envelope for each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from webanalytics.backends.base import Job, Task
from webanalytics.backends.hosted.client import Hosted
from webanalytics.backends.hosted.exchange import Exchange
from webanalytics.backends.hosted.rules import Reply, error_type, is_out_of_credits
from webanalytics.backends.hosted.wire import (
    ITEM_STATUS,
    Request,
    batch_request,
    served_settings,
    single_request,
)
from webanalytics.errors import HostedError
from webanalytics.operations import Operation


@dataclass(slots=True)
class Item:
    """One input of one operation, on its way."""

    job: Job
    tries: int = 0
    keyed: bool = True


class NoCredits(Exception):  # noqa: N818 - an answer more than an error
    """The account's credits are spent."""


class NoBatch(Exception):  # noqa: N818 - an answer more than an error
    """The server has no batch path."""


class RefusedWhole(Exception):  # noqa: N818 - an answer more than an error
    """The server refused a batch as a whole."""


class Asking:
    """Puts the questions of one run.

    Parameters
    ----------
    backend : Hosted
        The API.
    task : Task
        What is asked.
    exchange : Exchange
        The connections.
    """

    def __init__(self, backend: Hosted, task: Task, exchange: Exchange) -> None:
        self._backend = backend
        self._task = task
        self._exchange = exchange
        self._most: dict[str, int] = {}
        self._heard = 0.0
        self._settings = {
            operation.name: served_settings(operation, task.settings[operation.name])
            for operation in task.operations
        }

    def smaller(self, operation: Operation, refused: Sequence[Item]) -> None:
        """Put half as many inputs into a request from here on: the server refused one as a whole."""
        most = self._most.get(operation.name, self._backend.batch_size)
        self._most[operation.name] = min(most, (len(refused) + 1) // 2)

    def together(self, operation: Operation, todo: list[Item]) -> list[Item]:
        """Return the first inputs that go into one request."""
        first = todo[0]
        alone = isinstance(first.job.subject, bytes) or not first.keyed
        if alone or operation.name in self._backend.without_batch:
            return [first]
        together = []
        for item in todo:
            if isinstance(item.job.subject, bytes) or not item.keyed:
                break
            together.append(item)
        return together[: self._most.get(operation.name, self._backend.batch_size)]

    def _key(self, operation: Operation, items: Sequence[Item]) -> str:
        """Return the Idempotency-Key of a request: the same for the same inputs of the same run."""
        what = [self._task.identity, operation.name, max(item.tries for item in items)]
        made = hashlib.sha256(json.dumps([*what, len(items)]).encode())
        for item in items:
            subject = item.job.subject
            content = subject if isinstance(subject, bytes) else subject.encode("utf-8", "surrogatepass")
            made.update(len(content).to_bytes(8, "big") + content)
        return made.hexdigest()

    async def ask(
        self, operation: Operation, items: list[Item]
    ) -> tuple[list[tuple[int, Mapping[str, Any]]], Reply, bool]:
        """Send inputs, and return a status and an envelope for each, and whether this run pays for them.

        Raises
        ------
        NoCredits, NoBatch, RefusedWhole
            For answers that change how the run goes on.
        HostedError
            For one that ends it.
        """
        single = len(items) == 1 and (
            operation.name in self._backend.without_batch
            or isinstance(items[0].job.subject, bytes)
            or not items[0].keyed
        )
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
            self._task.report.left = reply.remaining
            self._task.report.note(f"{reply.remaining:,} credits left")
        if is_out_of_credits(reply):
            raise NoCredits
        ours = not reply.replayed or sendings > 1  # else an earlier run paid for it, which was ended
        if single:
            if reply.status == 404:
                raise self._no_operation(request, reply)
            return [(reply.status, reply.envelope or {})], reply, ours
        if reply.status == 404:
            raise NoBatch
        if reply.status in (400, 413) and len(items) > 1:  # smaller requests may be right
            raise RefusedWhole
        if reply.status != 200:
            return [(reply.status, reply.envelope or {})] * len(items), reply, ours
        return [_item_result(item) for item in (reply.envelope or {})["data"]["results"]], reply, ours

    def _no_operation(self, request: Request, reply: Reply) -> HostedError:
        path = request.path.partition("?")[0]
        return HostedError(
            f"The `base_url` parameter must be the address of an API that has {path}: "
            f"{self._backend.base_url} has not.",
            reply.status,
            reply.request_id,
        )


def _about_the_input(reply: Reply) -> bool:
    """Tell whether a 500 or 503 is about the one input, such as its page's server, and not about the API."""
    return bool(reply.error) and error_type(reply.error, reply.status) != "service"


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
