"""Notices that an account nears the end of its credits: a log line, and a webhook where configured."""

from __future__ import annotations

import asyncio

import aiohttp

from webanalytics.service.accounts.base import Key
from webanalytics.service.logs import Log

WEBHOOK_SECONDS = 10.0
WEBHOOK_TRIES = 4


class Notices:
    """Sends notices.

    The webhook is the operator's own, so it is not guarded as customers' URLs are, but no redirect is
    followed. The pause before a further try doubles each time.
    """

    def __init__(self, webhook: str, log: Log, pause: float = 1.0) -> None:
        self._webhook = webhook
        self._log = log
        self._pause = pause
        self._tasks: set[asyncio.Task[None]] = set()

    def notify(self, key: Key, percent: int, remaining: int) -> None:
        """Report that an account has used a percentage of its credits; does not wait."""
        self._log.warning("credits", account=key.account, plan=key.plan, percent=percent, remaining=remaining)
        if self._webhook:
            content = {
                "event": "credits",
                "account": key.account,
                "plan": key.plan,
                "percent": percent,
                "remaining": remaining,
            }
            task = asyncio.create_task(self._post(content))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _post(self, content: dict[str, object]) -> None:
        timeout = aiohttp.ClientTimeout(total=WEBHOOK_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
            for attempt in range(WEBHOOK_TRIES):
                if attempt:
                    await asyncio.sleep(self._pause * 2 ** (attempt - 1))
                try:
                    async with session.post(self._webhook, json=content, allow_redirects=False) as answer:
                        if answer.status < 300:
                            return
                except (aiohttp.ClientError, TimeoutError, ValueError):
                    continue
        self._log.warning("webhook", account=content["account"], percent=content["percent"])

    async def close(self) -> None:
        """Wait a while for what is on its way."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=WEBHOOK_SECONDS)
        for task in self._tasks:
            task.cancel()
