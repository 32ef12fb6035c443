"""Converted images, downloaded from the links of the hosted API; used by `answers` and `run`."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from webanalytics.errors import RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings
from webanalytics.fetching.limits import backoff
from webanalytics.operations import CONVERT
from webanalytics.runs.backends.hosted.api import Api, is_this_machine

MOST_BYTES = 500_000_000
PAUSE_SECONDS = 0.5
LONGEST_PAUSE = 15.0

_EXTRA = {field.name: None for field in CONVERT.fields if field.extra}
_FORMATS = CONVERT.parameter("output_format").choices
_IN_PILLOW = {"jpg": "JPEG"}
_PORTS = {"http": 80, "https": 443}


class Downloads:
    """Fetches images by their links, without the API key."""

    def __init__(self, api: Api, session: aiohttp.ClientSession, options: Mapping[str, Any]) -> None:
        self._own_origin = _origin(api.base_url)
        self._cleaned = api.cleaned
        self._patience = api.patience
        self._session = session
        self._options = options
        self._stack = AsyncExitStack()
        self._fetcher: Fetcher | None = None

    async def image(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the image's bytes and size, all None if it cannot be downloaded: the link remains.

        An answer's values for columns computed on this machine, or of an unknown format, are ignored.

        Raises
        ------
        RowError
            For content that is not an image of the stated format.
        """
        link, made = data.get("downloadURL"), data.get("outputFormat")
        content = await self._content(link) if isinstance(link, str) else None
        made = made if made in _FORMATS else None
        known = {**_EXTRA, "outputFormat": made, "content": content}
        if content is None:
            return known
        seen = await asyncio.to_thread(_looked_at, content, made)
        if seen is None:
            host = self._cleaned(urlsplit(str(link)).hostname or "")
            raise RowError("download_not_image", host=host)
        return known | seen

    async def _content(self, link: str) -> bytes | None:
        try:
            parts = urlsplit(link)
            if parts.scheme not in ("http", "https") or "@" in parts.netloc:
                return None
            if self._is_own(link):
                return await self._own(link)
            return (await (await self._guarded()).fetch(link, "image", "image")).content
        except (ValueError, FetchError):
            return None

    def _is_own(self, link: str) -> bool:
        """Return whether a link leads to the API itself; on this machine its port may differ."""
        origin = _origin(link)
        host = origin[1]
        return origin == self._own_origin or (host == self._own_origin[1] and is_this_machine(host))

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
                robots=False,
                max_bytes=MOST_BYTES,
                allow_private=self._options["allow_private"],
                adaptive=False,  # what was paid for is asked for again by its own rules
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


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def _looked_at(content: bytes, made: str | None) -> dict[str, Any] | None:
    """Return width, height and frames of an image, None if it is not of the format."""
    from PIL import Image

    if made is None:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=(_IN_PILLOW.get(made, made.upper()),)) as image:
            return {"width": image.width, "height": image.height, "frames": getattr(image, "n_frames", 1)}
    except Image.DecompressionBombError:  # of the format, but too large to inspect
        return {}
    except (OSError, ValueError, SyntaxError):
        return None
