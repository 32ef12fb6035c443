"""`Hosted`: a hosted API as the backend of every function; `run` does the work."""

from __future__ import annotations

import getpass
import os
import re
import warnings
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from webanalytics.core.environment import somebody_can_answer
from webanalytics.core.operations.secret import MASK, Secret
from webanalytics.core.outcomes import Job, JobResult
from webanalytics.errors import ParameterError, whole_number
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.runs.backends.base import Backend, Task, refuse_saving
from webanalytics.runs.backends.hosted.http import Api, is_this_machine
from webanalytics.runs.backends.hosted.run import HostedRun
from webanalytics.runs.backends.hosted.wire import BATCH_SIZE
from webanalytics.runs.backends.pipeline import is_on

KEY_VARIABLE = "WEBANALYTICS_API_KEY"

_HOST = re.compile(r"[\w.:%-]+")
_prompted: dict[str, Secret] = {}


class Hosted(Backend):
    """A hosted API as the backend of every function.

    Parameters
    ----------
    base_url : str
        Address of the API, such as ``https://api.example.com``; its operations are below ``/v1/``.
    api_key : str, optional
        The API key; else the environment variable ``WEBANALYTICS_API_KEY``, else a prompt in an interactive
        session (once per address and process). It is never shown.
    concurrency : int, default 8
        Concurrent requests; ``concurrency=`` of a call takes precedence.
    batch_size : int, default 200
        Most inputs per request.
    timeout : float, default 900
        Seconds for one request; a batch of slow pages takes its time.
    patience : float, default 120
        Seconds to go on after broken connections and the answers 429, 500 and 503, before giving up; an
        API that asks for a longer wait ends the run at once.
    prices : mapping of str to int, optional
        Credits of one success by operation, where the API's differ from the published ones; ``budget=`` of
        a call is computed from them, not from what the API charges.

    Raises
    ------
    ParameterError
        For a wrong argument.

    Notes
    -----
    Retried are 500, 503 and what a gateway answers instead of the API (exponential backoff with jitter), 429
    with credits left (after ``retry-after``) and broken connections, all under one ``Idempotency-Key``: an
    answer lost in transit is not paid for twice. 400, 401, 403, 404 and 429 without credits never are.

    Examples
    --------
    >>> backend = Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    >>> backend
    Hosted('https://api.example.com', api_key='**********', concurrency=8)
    """

    priced = True
    durable = True
    base_url = ""
    concurrency = 0  # shown, with the address, where an error is raised before they are known

    def __init__(
        self,
        base_url: str,
        api_key: str | Secret | None = None,
        *,
        concurrency: int = 8,
        batch_size: int = BATCH_SIZE,
        timeout: float = 900.0,
        patience: float = 120.0,
        prices: Mapping[str, int] | None = None,
    ) -> None:
        # masked first: the frame of a call that fails further down may be shown with its variables
        api_key = None if api_key is None else _masked(api_key)
        self.base_url = _base_url(base_url)
        self.concurrency = whole_number("concurrency", concurrency, 1, 1000)
        self.name = self.family = f"hosted {self.base_url}"
        self._api = Api(
            base_url=self.base_url,
            batch_size=whole_number("batch_size", batch_size, 1, 10_000),
            timeout=_seconds("timeout", timeout),
            patience=_seconds("patience", patience),
            prices=_checked_prices(prices or {}),
            api_key=_checked_key(api_key) if api_key is not None else _found_key(self.base_url),
        )

    def __repr__(self) -> str:
        return f"Hosted({self.base_url!r}, api_key={MASK!r}, concurrency={self.concurrency})"

    def serves(self, operation: Operation) -> bool:
        """Return whether the service has an operation."""
        return bool(operation.path)

    def price(self, operation: Operation) -> int:
        """Return the credits of one success."""
        return self._api.price(operation)

    def check(self, task: Task) -> None:
        """Raise `ParameterError` for settings that only this machine knows, or that no JSON can carry."""
        refuse_saving(task.spec.options, "with a hosted backend")
        if is_on(task.spec.options):
            raise ParameterError.must_be(
                "render", '"off" with a hosted backend: pages are rendered on this machine'
            )
        for operation in task.operations:
            for item in operation.settings:
                value = task.spec.settings[operation.name][item.keyword]
                if isinstance(value, Secret) and not _is_text(value):
                    raise ParameterError.must_be(item.keyword, "text for a hosted backend")
                if value in item.more:
                    raise ParameterError.must_be(
                        item.keyword, f"one of: {', '.join(item.choices)} with a hosted backend"
                    )
                unknown = item.local and not item.applied_here
                if unknown and value not in (item.default, item.service_value):
                    raise ParameterError.must_be(
                        item.keyword, "left out with a hosted backend, which does not know it"
                    )

    async def run(self, task: Task, jobs: Sequence[Job]) -> AsyncGenerator[Sequence[JobResult], None]:
        """Yield the answers in groups, one for each request."""
        spec = task.spec
        requests = int(spec.options["concurrency"]) if "concurrency" in spec.given else self.concurrency
        async with aclosing(HostedRun(self._api, task, requests).results(jobs)) as groups:
            async for results in groups:
                yield results


def _masked(value: Any) -> Any:
    """Return the text of a key as a secret, and anything else unchanged."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    return Secret(value.strip() or b" ") if isinstance(value, bytes) else value


def _is_text(value: Secret) -> bool:
    try:
        return bool(value.reveal().decode())
    except UnicodeDecodeError:
        return False


def _is_key(value: Secret) -> bool:
    text = value.reveal()
    return text.isascii() and text.decode().isprintable() and 0 < len(text.strip()) <= 500


def _checked_key(value: Any) -> Secret:
    if isinstance(value, Secret) and _is_key(value):  # judged in there: this frame may be shown
        return value
    raise ParameterError.must_be("api_key", "the text of an API key")


def _found_key(base_url: str) -> Secret:
    """Return the key from the environment, else prompt for it in an interactive session."""
    if os.environ.get(KEY_VARIABLE, "").strip():
        return _checked_key(_masked(os.environ[KEY_VARIABLE]))
    if base_url not in _prompted:
        if not somebody_can_answer():
            raise ParameterError.on("api_key", f"is required where the variable {KEY_VARIABLE} is not set")
        _prompted[base_url] = _checked_key(_masked(getpass.getpass(f"API key of {base_url}: ")))
    return _prompted[base_url]


def _base_url(url: str) -> str:
    """Return the address without a trailing slash or version."""
    wrong = ParameterError.must_be(
        "base_url", "an address such as https://api.example.com, without user, query and fragment"
    )
    if not isinstance(url, str):
        raise wrong
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host or port == 0 or not _HOST.fullmatch(host):
        raise wrong
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise wrong
    if parts.scheme == "http" and not is_this_machine(host):
        warnings.warn(
            f"{parts.scheme}://{parts.netloc} is not encrypted: the API key can be read on its way",
            stacklevel=3,
        )
    path = parts.path.rstrip("/").removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _seconds(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value <= 86_400:
        raise ParameterError.must_be(name, "a number of seconds up to 86400")
    return float(value)


def _checked_prices(prices: Mapping[str, int]) -> dict[str, int]:
    for name, price in prices.items():
        if name not in OPERATIONS:
            raise ParameterError.one_of("prices", OPERATIONS)
        whole_number("prices", price, 0, 10**9)
    return dict(prices)
