"""A Dask cluster as a backend: one task for each group of hosts.

`backend` is what a user makes and runs begin in; `groups` puts jobs together by host, and has what runs on a
worker.
"""

from webanalytics.runs.backends.dask.backend import Dask

__all__ = ["Dask"]
