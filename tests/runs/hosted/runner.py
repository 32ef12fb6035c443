"""One call with a checkpoint, as a command: for tests that kill it.

    python runner.py SPECIFICATION.json

The specification names the function, its inputs and arguments, and where the frame goes when all is done.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path


def main(specification: str) -> None:
    import webanalytics as wa

    asked = json.loads(Path(specification).read_text())
    backend = wa.Hosted(*asked["backend"], **asked["hosted"]) if asked["backend"] else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = getattr(wa, asked["function"])(
            asked["inputs"],
            backend=backend,
            store=asked["store"],
            progress=False,
            **asked["arguments"],
        )
    frame = getattr(frame, "raw", frame)  # the rows of an audit
    out = Path(asked["out"])
    frame.to_pickle(out.with_suffix(".tmp"))
    out.with_suffix(".json").write_text(json.dumps(frame.attrs))
    out.with_suffix(".tmp").replace(out)


if __name__ == "__main__":
    main(sys.argv[1])
