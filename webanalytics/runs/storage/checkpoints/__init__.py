"""Finished outcomes in a folder: `runs.run` keeps them there, and resumes an interrupted run from them.

A checkpoint holds ``run.json``, which says what call made it, and ``part-000001-DIGEST.parquet`` and so on,
each written whole or not at all: under another name, flushed to the disk, then renamed. A part has one row
for each outcome; the inputs themselves are not in it, only their SHA-256. A part whose content is no longer
what its name says is not read. ``sent.jsonl`` has the requests to a hosted API, ``robots.jsonl`` the
robots.txt that were read.
"""

from __future__ import annotations

from webanalytics.runs.storage.checkpoints.folder import NOT_DONE, Checkpoint

__all__ = ["NOT_DONE", "Checkpoint"]
