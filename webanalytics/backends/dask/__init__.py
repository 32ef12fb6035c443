"""A Dask cluster as a backend: steered from the client, host by host.

`backend` is what a user makes, `steering` sends chunks of jobs and takes what they bring, `lanes` knows which
hosts are being asked, `cluster` speaks with Dask, and `work` is what runs on a worker.
"""

from webanalytics.backends.dask.backend import Dask

__all__ = ["Dask"]
