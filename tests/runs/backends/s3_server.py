"""A server that speaks S3 (moto, in memory) until its standard input ends; `running` starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import fsspec
import pytest

BUCKET = "audits"
ADDRESS = f"s3://{BUCKET}"


@contextmanager
def running() -> Iterator[str]:
    """Run a server with an empty bucket, and configure fsspec and what is started meanwhile to use it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "FSSPEC_"))}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__], stdin=-1, stdout=-1, stderr=-3, text=True, env=environment
    ) as server:
        try:
            endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}"  # type: ignore[union-attr]
            with pytest.MonkeyPatch.context() as patch:
                given = {"key": "nobody", "secret": "5e4Zx9-secret", "endpoint_url": endpoint}
                patch.setenv("FSSPEC_S3", json.dumps(given))
                patch.setitem(fsspec.config.conf, "s3", given)
                fsspec.filesystem("s3").mkdir(BUCKET)
                yield endpoint
        finally:
            fsspec.filesystem("s3").clear_instance_cache()
            server.kill()


if __name__ == "__main__":
    from moto.server import ThreadedMotoServer

    made = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    print(made.get_host_and_port()[1], flush=True)
    sys.stdin.read()
