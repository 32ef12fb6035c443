"""A Dask cluster of two workers, started when the first test asks for it."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from webanalytics.runs.backends.dask import Dask


@cache
def _client() -> Any:
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    return Client(cluster)


def dask_backend(chunk: int = 10) -> Dask:
    return Dask(_client(), chunk=chunk)


def close() -> None:
    if _client.cache_info().currsize:
        client = _client()
        cluster = client.cluster
        client.close()
        cluster.close()
        _client.cache_clear()
