"""What the client's tests do again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

import webanalytics as wa
from tests.runs.hosted.proxy import Fault, Proxy, Record, json_of
from tests.service.live import Server

KEY = "22bce1bb-4929-4c08-a13f-6061b2c16adc"
"""A key that is shaped like one, and that no service knows."""

PRICE = 2
"""Credits of an HMAC."""


def sign(count: int, backend: Any, **options: Any) -> pd.DataFrame:
    """Sign some messages."""
    messages = [f"m{number}" for number in range(count)]
    return wa.hmac(messages, secret="k", backend=backend, **{"progress": False, **options})


def credits_left(server: Server, key: str) -> int:
    """Ask by a call that fails, and so costs nothing."""
    return int(server.post("/v1/hmac", key).headers["x-api-remaining-credits"])


def asked(proxy: Proxy) -> list[list[str]]:
    """Return the messages of each request for a batch."""
    return [[given["message"] for given in record.json["inputs"]] for record in proxy.requests]


def keys_sent(proxy: Proxy) -> set[str | None]:
    """Return the different Idempotency-Keys that came."""
    return {record.headers.get("Idempotency-Key") for record in proxy.requests}


def item(status: int, error: str = "The server failed.") -> dict[str, Any]:
    """Return the answer to one input of a batch of messages."""
    if status == 200:
        data = {"hmac": "0a", "algorithm": "sha256", "encoding": "hex"}
        return {"status": "ok", "error": None, "data": data, "statusCode": 200}
    return {"status": "error", "error": error, "data": None, "statusCode": status}


def batch_of(items: Iterable[Mapping[str, Any]], **headers: str) -> Fault:
    """Return the answer to a batch."""
    results = list(items)
    good = sum(result["statusCode"] == 200 for result in results)
    data = {"results": results, "succeeded": good, "failed": len(results) - good}
    return json_of({"status": "ok", "error": None, "data": data}, headers=headers)


def in_turn(statuses: Mapping[str, list[int]], **headers: str) -> Callable[[Record], Fault]:
    """Return a rule by which a message gets one status after the other, the last one for good."""
    left = {message: list(codes) for message, codes in statuses.items()}

    def one(message: str) -> dict[str, Any]:
        codes = left.get(message, [200])
        return item(codes.pop(0) if len(codes) > 1 else codes[0])

    return lambda record: batch_of((one(given["message"]) for given in record.json["inputs"]), **headers)
