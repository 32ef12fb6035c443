"""From a request to an answer, one rule after another.

`server.transport` passes every request in; `headers` identifies the caller, `body` reads the parameters, and
`calls` makes the call and charges it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import web

from webanalytics.core.messages import Message
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service.accounts import SQLITE, digest, open_accounts
from webanalytics.service.accounts.base import AccountsError, Key
from webanalytics.service.accounts.store import Accounts
from webanalytics.service.admission import Admission, ByteBudget, RateLimiter
from webanalytics.service.answer_formats import choose_format, render
from webanalytics.service.calls import Answer, Batch, Caller, Calls, check_inputs
from webanalytics.service.engine import Engine
from webanalytics.service.graphql_endpoint import OPERATION as GRAPHQL
from webanalytics.service.graphql_endpoint import GraphQLEndpoint, Queries
from webanalytics.service.headers import (
    KEY_HEADER,
    REMAINING_HEADER,
    caller_request_id,
    check_address,
    check_key,
    check_operation,
    error_headers,
    forbidden,
    key_shaped,
    listed,
    new_request_id,
    open_headers,
    preflight,
)
from webanalytics.service.images import ImageStore
from webanalytics.service.logs import Log, describe
from webanalytics.service.metrics import Metrics
from webanalytics.service.parameters import IN_PLACE_OF_IMAGE, Body, check_parameters, image_too_large, texts
from webanalytics.service.payment import Notices
from webanalytics.service.public_routes import PublicPages
from webanalytics.service.results import Problem, Record, refusal
from webanalytics.service.server.connection import SENT
from webanalytics.service.settings import ServiceSettings, read_address, read_networks, within

PREFIX = "/v1/"
BATCH = "/batch"
ENCODED = 4 / 3
"""Growth of an image in base64."""
ONLY_JSON = ("json",)
"""The format of answers that belong to no operation: GraphQL, and wrong paths."""
FRAME_BYTES = 65_536
"""Bytes allowed in a body besides the largest image or text."""
FORM = "multipart/form-data"
"""The one multipart type that is read: in others aiohttp would also decode content encodings of parts."""
UNREADY_SECONDS = 5.0
GONE = 499
"""Status in the log of a request whose client has gone; it is never sent."""

_HOST = re.compile(r"[A-Za-z0-9.\-\[\]:]{1,255}")

Handler = Callable[[web.BaseRequest, Caller], Awaitable[Answer]]


def too_large(operation: Operation | None, limit: int) -> Message:
    """Return the message about an upload above the plan's limit."""
    if operation is not None and operation.kind == "image":
        return image_too_large(operation, limit).message
    return Message("body_large", {"limit": limit})


def wanted_format(request: web.BaseRequest, operation: Operation | None) -> tuple[str, Problem | None]:
    """Return the format of the answer, and the problem if the requested one is not offered."""
    query = request.query.get("format") if "?" in request.raw_path else None
    offered = operation.formats if operation is not None else ONLY_JSON
    try:
        return choose_format(listed(request, "Accept"), query, offered), None
    except Problem as problem:
        return ONLY_JSON[0], problem


def refused(operation: Operation | None, problem: Problem) -> Answer:
    """Return the answer to a request that ended before any work."""
    content = refusal(operation, problem.status, problem.sentence)
    return Answer(
        problem.status,
        content,
        retry_after=problem.retry_after,
        headers=problem.headers,
        failure=problem.failure,
    )


class Service:
    """The hosted API, one instance per process."""

    def __init__(
        self,
        settings: ServiceSettings,
        accounts: Accounts,
        calls: Calls,
        queries: Queries,
        limiter: RateLimiter,
        public: PublicPages,
        log: Log,
        metrics: Metrics,
    ) -> None:
        self.settings = settings
        self._accounts = accounts
        self._calls = calls
        self._queries = queries
        self._limiter = limiter
        self._public = public
        self._log = log
        self._metrics = metrics
        self._bodies = ByteBudget(settings.body_memory)
        self._proxies = read_networks(settings.trusted_proxies)
        self._operations = {PREFIX + operation.path: operation for operation in OPERATIONS.values()}
        self.on_connections = metrics.connections

    def drain(self) -> None:
        """Refuse new requests from now on: the service is stopping."""
        self._public.draining = True

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; any error becomes an answer."""
        record = Record(new_request_id())
        record.status = GONE  # until there is an answer: the request may be cancelled
        self._metrics.begun()
        try:
            response: web.StreamResponse | None
            if request.method == "OPTIONS":
                response = preflight(record.request_id)
            else:
                response = await self._public.respond(request, record)
            if response is None:
                response = await self._keyed(request, record)
            record.status = response.status
            return response
        finally:
            self._metrics.ended()
            self.on_error(record)

    def on_error(self, record: Record) -> None:
        """Record a finished request, also one answered before it could be read."""
        seconds = time.monotonic() - record.started
        self._log.request(record, seconds)
        self._metrics.request(record, seconds)

    async def _keyed(self, request: web.BaseRequest, record: Record) -> web.StreamResponse:
        """Answer a request that needs a key; with one, every answer is an envelope."""
        api_key = request.headers.get(KEY_HEADER)
        if api_key is None or not key_shaped(api_key):
            return forbidden(record.request_id)
        headers = open_headers(record.request_id)
        key: Key | None = None
        caller: Caller | None = None
        path = request.rel_url.raw_path
        operation = self._operations.get(path.removesuffix(BATCH))
        called = None if path.endswith(BATCH) else operation
        if operation is not None:
            record.operation = operation.name
        format_name, wrong_format = wanted_format(request, operation)
        try:
            found = await self._accounts.find_key(digest(api_key))
            record.key = found.prefix if found is not None else ""
            key = check_key(found)
            caller = self._caller(request, key, record)
            check_address(key, request, self._proxies)
            handler = self._route(request, operation, record)
            if operation is not None:
                check_operation(key, operation)
            ceiling = caller.plan.requests_a_minute
            if ceiling is not None:
                await self._limit(key, ceiling, headers)
            if wrong_format is not None:
                raise wrong_format
            answer = await handler(request, caller)
        except Problem as problem:
            answer = refused(called, problem)
        except AccountsError:
            self._log.error("failure", id=record.request_id, operation=record.operation, what="accounts")
            answer = refused(called, Problem(503, Message("accounts_away"), retry_after=UNREADY_SECONDS))
        except Exception as error:
            self._log.error("exception", id=record.request_id, operation=record.operation, **describe(error))
            answer = refused(called, Problem(500, Message("service_failed")))
        except BaseException:
            if caller is not None:
                self._calls.sent(caller)
            raise
        if caller is not None and caller.answer_bytes:
            request[SENT] = partial(self._calls.sent, caller)
        if key is not None and answer.remaining is None and REMAINING_HEADER not in answer.headers:
            answer.remaining = await self._balance(key)
        self._complete(headers, request, answer, record)
        if format_name == "json":
            body, headers["Content-Type"] = render(answer.envelope, format_name)
        else:  # these take long for the text of a large page
            body, headers["Content-Type"] = await asyncio.to_thread(render, answer.envelope, format_name)
        return web.Response(status=answer.status, body=body, headers=headers)

    async def _balance(self, key: Key) -> int | None:
        try:
            return await self._accounts.balance(key.account)
        except AccountsError:
            return None

    def _caller(self, request: web.BaseRequest, key: Key, record: Record) -> Caller:
        headers = request.headers
        caller = Caller(key, self.settings.plans[key.plan], record)
        if request.method == "POST":
            caller.idempotency_key = headers.get("Idempotency-Key")
        caller.fresh = "no-cache" in listed(request, "Cache-Control").lower()
        return caller

    def _own_address(self, request: web.BaseRequest) -> str:
        scheme = "http"
        if self._proxies and within(read_address(request.remote), self._proxies):
            scheme = "https" if request.headers.get("X-Forwarded-Proto", "").lower() == "https" else scheme
        host = request.headers.get("Host", "")
        if not _HOST.fullmatch(host):
            host = f"{self.settings.host}:{self.settings.port}"
        return f"{scheme}://{host}"

    async def _limit(self, key: Key, ceiling: int, headers: dict[str, str]) -> None:
        rate = await self._limiter.hit(key.account, ceiling)
        headers.update(rate.headers)
        if not rate.allowed:
            raise Problem(
                429,
                Message("rate_limited", {"limit": ceiling, "seconds": rate.retry_after}),
                retry_after=rate.retry_after,
            )

    def _route(self, request: web.BaseRequest, operation: Operation | None, record: Record) -> Handler:
        path, method = request.rel_url.raw_path, request.method
        if operation is not None:
            if path.endswith(BATCH) and method == "POST":
                return partial(self._batch, operation=operation)
            if not path.endswith(BATCH) and method == operation.method:
                return partial(self._single, operation=operation)
        elif path == PREFIX + GRAPHQL and method == "POST":
            record.operation = GRAPHQL
            return self._graphql
        raise Problem(404, Message("no_path"))

    async def _single(self, request: web.BaseRequest, caller: Caller, operation: Operation) -> Answer:
        if operation.method == "GET":
            given = texts(operation, request.query)
            return await self._calls.single(caller, operation, check_parameters(operation, given))
        async with self._body(request, caller, operation) as body:
            if operation.kind == "image" and request.content_type == FORM:
                fields = await body.form(operation.subject)
                parameters = check_parameters(operation, self._form_values(operation, fields))
            else:
                given = await body.json(plain=operation.kind == "image")
                parameters = check_parameters(operation, given)
            return await self._calls.single(caller, operation, parameters)

    @staticmethod
    def _form_values(operation: Operation, fields: Mapping[str, str | bytes]) -> dict[str, Any]:
        words = {name: value for name, value in fields.items() if isinstance(value, str)}
        files = {name: value for name, value in fields.items() if isinstance(value, bytes)}
        in_place = {name: value for name, value in words.items() if name == IN_PLACE_OF_IMAGE}
        return {**in_place, **texts(operation, words), **files}

    async def _batch(self, request: web.BaseRequest, caller: Caller, operation: Operation) -> Answer:
        async with self._body(request, caller, operation) as body:
            content = await body.json(plain=operation.kind == "image")
            inputs = check_inputs(content, self.settings.batch_size)
            return await Batch(self._calls, caller, operation, inputs).run()

    async def _graphql(self, request: web.BaseRequest, caller: Caller) -> Answer:
        async with self._body(request, caller, None) as body:
            return await self._queries.run(caller, await body.json())

    def _body(self, request: web.BaseRequest, caller: Caller, operation: Operation | None) -> Body:
        caller.base_url = self.settings.base_url.rstrip("/") or self._own_address(request)
        upload = caller.plan.upload_bytes
        if operation is not None and operation.kind == "image":
            limit, shown = int(upload * ENCODED) + FRAME_BYTES, upload
        else:
            limit = shown = min(upload, self.settings.body_bytes)
        excess = too_large(operation, shown)
        return Body(request, limit, excess, self.settings, self._bodies, caller.key.account)

    @staticmethod
    def _complete(headers: dict[str, str], request: web.BaseRequest, answer: Answer, record: Record) -> None:
        """Add the headers that tell what came of a request."""
        if answer.headers:
            headers.update(answer.headers)
        if answer.remaining is not None:
            headers.setdefault(REMAINING_HEADER, str(answer.remaining))
        if answer.status != 200:
            headers["X-Request-ID"] = caller_request_id(
                request.headers.get("X-Request-ID"), record.request_id
            )
            headers.update(error_headers(answer.status, answer.failure))
            if answer.retry_after is not None:
                headers.setdefault("retry-after", str(max(1, round(answer.retry_after))))


IMAGES_FOLDER = "webanalytics-images"


def images_url(settings: ServiceSettings) -> str:
    """Return where converted images are kept: as configured, else in a folder next to the database.

    >>> images_url(ServiceSettings({"database": "sqlite:////var/lib/accounts.db"}))
    '/var/lib/webanalytics-images'
    """
    if settings.images:
        return str(settings.images)
    database: str = settings.database
    folder = Path(database.removeprefix(SQLITE)).parent if database.startswith(SQLITE) else Path()
    return str(folder / IMAGES_FOLDER)


@asynccontextmanager
async def open_service(settings: ServiceSettings) -> AsyncIterator[Service]:
    """Open a service for the length of an ``async with`` block."""
    log = Log(settings)
    metrics = Metrics()
    try:
        accounts = await open_accounts(settings.database, settings, server=True)
    except BaseException:
        log.close()
        raise
    notices = Notices(settings.notice_webhook, log)
    try:
        limiter = RateLimiter(settings.rate_limit_storage)
        async with (
            ImageStore(images_url(settings), settings.image_seconds) as images,
            Engine(settings, images, metrics=metrics) as engine,
        ):
            calls = Calls(
                settings, accounts, engine, Admission(settings.queue, on_change=metrics.queue), notices.notify
            )
            queries = Queries(calls, GraphQLEndpoint(settings))
            public = PublicPages(settings, accounts, images, metrics)
            try:
                yield Service(settings, accounts, calls, queries, limiter, public, log, metrics)
            finally:
                await limiter.close()
    finally:
        await notices.close()
        await accounts.close()
        log.close()
