"""Paths that need no key: documentation, health, metrics and converted images.

The application asks here first; every other path needs a key.
"""

from __future__ import annotations

import orjson
from aiohttp import web

from webanalytics.core.messages import Message
from webanalytics.service.accounts.store import Accounts
from webanalytics.service.answer_formats import render
from webanalytics.service.headers import caller_request_id, error_headers, open_headers
from webanalytics.service.images import PATH, ImageStore
from webanalytics.service.metrics import Metrics
from webanalytics.service.reference.docs import CONTENT_SECURITY_POLICY, docs_page
from webanalytics.service.reference.openapi import document
from webanalytics.service.results import Problem, Record, failure
from webanalytics.service.settings import ServiceSettings

TEXT = "text/plain; charset=utf-8"
INNER = ("/healthz", "/readyz", "/metrics")
"""Paths for whoever runs the service: no page that is open in a browser of theirs may read them."""


class PublicPages:
    """The paths that need no key; ``draining`` is set when the service stops taking new requests."""

    def __init__(
        self, settings: ServiceSettings, accounts: Accounts, images: ImageStore, metrics: Metrics
    ) -> None:
        self.draining = False
        self._accounts = accounts
        self._images = images
        self._metrics = metrics
        described = document(settings, base_url=settings.base_url)
        self._document = orjson.dumps(described)
        self._page = docs_page(described)

    async def respond(self, request: web.BaseRequest, record: Record) -> web.Response | None:
        """Return the response to a public path, None for every other path."""
        path = request.path
        if request.method not in ("GET", "HEAD"):
            return None
        if path.startswith(PATH):
            return await self._download(request, record, path.removeprefix(PATH))
        content = await self._content(path)
        if content is None:
            return None
        record.operation = path.removeprefix("/v1").strip("/")
        status, body, content_type = content
        headers = {**open_headers(record.request_id), "Content-Type": content_type}
        if path in INNER:
            del headers["Access-Control-Allow-Origin"]
        if content_type.startswith("text/html"):
            headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        return web.Response(status=status, body=body, headers=headers)

    async def _content(self, path: str) -> tuple[int, bytes, str] | None:
        if path == "/healthz":
            return 200, b"ok\n", TEXT
        if path == "/readyz":
            ready = not self.draining and await self._accounts.ready()
            return (200, b"ready\n", TEXT) if ready else (503, b"not ready\n", TEXT)
        if path == "/metrics":
            body, content_type = self._metrics.render()
            return 200, body, content_type
        if path == "/v1/openapi.json":
            return 200, self._document, "application/json; charset=utf-8"
        if path in ("/docs", "/v1/docs"):
            return 200, self._page, "text/html; charset=utf-8"
        return None

    async def _download(self, request: web.BaseRequest, record: Record, name: str) -> web.Response:
        record.operation = "downloads"
        try:
            found = await self._images.open(name)
        except Problem as problem:
            return self._refused(request, record, problem)
        if found is None:
            return self._refused(request, record, Problem(404, Message("no_image")))
        headers = {**open_headers(record.request_id), "Content-Type": found.mime_type}
        content = found.content
        size = len(content) if isinstance(content, bytes) else content.size
        headers["Content-Length"] = str(size)
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
        headers["Cache-Control"] = "private, no-store"
        headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        return web.Response(body=content, headers=headers)

    def _refused(self, request: web.BaseRequest, record: Record, problem: Problem) -> web.Response:
        body, content_type = render(failure(problem.sentence), "json")
        headers = {**open_headers(record.request_id), "Content-Type": content_type}
        headers["X-Request-ID"] = caller_request_id(request.headers.get("X-Request-ID"), record.request_id)
        headers.update(error_headers(problem.status, problem.failure))
        if problem.retry_after is not None:
            headers["retry-after"] = str(max(1, round(problem.retry_after)))
        return web.Response(status=problem.status, body=body, headers=headers)
