"""Converted images, fetched from where the hosted API offers them."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from webanalytics.backends.hosted.client import Hosted
from webanalytics.fetching import Fetcher, FetchError, FetchSettings
from webanalytics.fetching.retry import backoff
from webanalytics.operations import CONVERT

MOST_BYTES = 500_000_000
PAUSE_SECONDS = 0.5
LONGEST_PAUSE = 15.0

_EXTRA = {field.name: None for field in CONVERT.fields if field.extra}
_FORMATS = CONVERT.parameter("output_format").choices


class Downloads:
    """Fetches images by their links, without the API key.

    Parameters
    ----------
    backend : Hosted
        The API.
    session : aiohttp.ClientSession
        For links to the API's own host.
    options : Mapping
        The run's options, for links to other hosts: they go through the guarded fetcher.
    """

    def __init__(self, backend: Hosted, session: aiohttp.ClientSession, options: Mapping[str, Any]) -> None:
        self._host = urlsplit(backend.base_url).hostname
        self._patience = backend.patience
        self._session = session
        self._options = options
        self._stack = AsyncExitStack()
        self._fetcher: Fetcher | None = None

    async def image(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the image's bytes and size, all None where it cannot be had: the link stays.

        What an answer says of the columns that are this machine's own, or of an unknown format, is not taken.
        """
        link, made = data.get("downloadURL"), data.get("outputFormat")
        content = await self._content(link) if isinstance(link, str) else None
        known = {**_EXTRA, "outputFormat": made if made in _FORMATS else None, "content": content}
        return known if content is None else known | await asyncio.to_thread(_looked_at, content)

    async def _content(self, link: str) -> bytes | None:
        try:
            parts = urlsplit(link)
            if parts.scheme not in ("http", "https"):
                return None
            if parts.hostname == self._host:
                return await self._own(link)
            return (await (await self._guarded()).fetch(link, "image", "image")).content
        except (ValueError, FetchError):
            return None

    async def _own(self, link: str) -> bytes | None:
        clock = asyncio.get_running_loop().time
        began, tries = clock(), 0
        while True:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with self._session.get(link, allow_redirects=False) as response:
                    if response.status == 200:
                        return await _bounded(response)
                    if response.status not in (429, 500, 503):
                        return None
            if clock() - began > self._patience:
                return None
            await asyncio.sleep(backoff(tries, PAUSE_SECONDS, LONGEST_PAUSE))
            tries = min(tries + 1, 20)

    async def _guarded(self) -> Fetcher:
        if self._fetcher is None:
            settings = FetchSettings(
                robots=False, max_bytes=MOST_BYTES, allow_private=self._options["allow_private"]
            )
            self._fetcher = await self._stack.enter_async_context(Fetcher(settings))
        return self._fetcher

    async def close(self) -> None:
        """Close what was opened."""
        await self._stack.aclose()


async def _bounded(response: aiohttp.ClientResponse) -> bytes | None:
    pieces, size = [], 0
    async for piece in response.content.iter_chunked(262_144):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            return None
    return b"".join(pieces)


def _looked_at(content: bytes) -> dict[str, Any]:
    """Return width, height and frames of an image, nothing where it is none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP", "GIF", "TIFF")) as image:
            return {"width": image.width, "height": image.height, "frames": getattr(image, "n_frames", 1)}
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return {}
