"""What a run has in its folder or at its address besides what is finished: the call, and its robots.txt."""

from __future__ import annotations

import json
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from webanalytics._version import __version__
from webanalytics.backends.base import RunSpec, Task
from webanalytics.errors import WriteError, reason
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.store import Folder, Store
from webanalytics.outcomes import Job, JobResult
from webanalytics.runs.checkpoints import robots
from webanalytics.runs.checkpoints.journal import Journal
from webanalytics.runs.checkpoints.manifest import compare, described, wrong

FORMAT = 4
EARLIER = 3
"""The format before, whose parts have no digests in their names."""
MANIFEST = "run.json"


class RunFolder(ABC):
    """The folder of a run, made, or opened where the same call left one; one run at a time has it.

    Parameters
    ----------
    store : Store
        The folder: empty, missing, or one that the same call has made.
    spec : RunSpec
        The specification of the run.
    family : str
        Family of the backend: its answers are as good as those of another one of the family.
    extra : Mapping
        What else must match, such as the folder that images are written to.

    Raises
    ------
    ParameterError
        For a folder of another call, one that is in use, or one that cannot be written to.

    Attributes
    ----------
    identity : str
        The same for all calls that use the folder.
    journal : Journal or None
        The requests to a hosted API, where such runs have the folder.
    logs : tuple of str
        Files that lines are appended to.
    parameter : str
        Name of the parameter that gave the folder.
    premium_missing : set of str
        Premium fields that restored answers lack.
    """

    logs: ClassVar[tuple[str, ...]] = (robots.FILE,)
    parameter = "save_to"
    journal: Journal | None

    def __init__(self, store: Store, spec: RunSpec, family: str, extra: Mapping[str, Any]) -> None:
        self._store = store
        self._operations = Task(spec).operations
        self.premium_missing: set[str] = set()
        try:
            store.make()
            if store.foreign(parts_alone=False):
                raise wrong("that is empty, or that the same call has made")
            self._claim()
            self.identity = self._identify(spec, family, extra)
            self._begin()
            self._robots = robots.RobotsLog(store)
        except (OSError, Unreadable) as error:
            self.close()
            said = reason(error) if isinstance(error, OSError) else f"{' or '.join(self.logs)} is no file"
            raise wrong(f"that can be written to: {said}") from None
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> Folder:
        """The folder, or its address."""
        return self._store.place

    def _identify(self, spec: RunSpec, family: str, extra: Mapping[str, Any]) -> str:
        """Return the identity in the manifest; a missing manifest is written first."""
        try:
            kept = self._store.read_manifest()
        except FileNotFoundError:
            salt = os.urandom(16).hex()
            made = {"format": FORMAT, "identity": uuid.uuid4().hex, "package": __version__, "salt": salt}
            self._store.write_manifest(made | {"call": described(spec, family, extra, salt)})
            return str(made["identity"])
        except (Unreadable, OSError, ValueError, RecursionError):
            kept = None
        try:
            known, salt, identity = kept["call"], kept["salt"], kept["identity"]
            good = kept["format"] in (EARLIER, FORMAT) and bytes.fromhex(salt) and isinstance(known, dict)
        except (ValueError, KeyError, TypeError):
            good = False
        if not good or not isinstance(identity, str):
            raise wrong(f"whose {MANIFEST} can be read, and was written by this version of webanalytics")
        compare(known, json.loads(json.dumps(described(spec, family, extra, salt))))
        if kept["format"] != FORMAT:  # an earlier version would not see the parts that are written now
            self._store.write_manifest(kept | {"format": FORMAT})
        return identity

    def before_rows(self) -> None:
        """Write what the run has read of robots.txt: rows of its hosts are written or removed next."""
        try:
            self._robots.write()
        except OSError as error:
            raise WriteError.at(self.parameter, "a folder that can be written to", error) from None

    # ---------------------------------------------------------------- what each kind of folder does

    @abstractmethod
    def _claim(self) -> None:
        """Take the folder for this run, or raise `ParameterError`."""

    def _begin(self) -> None:  # noqa: B027 - a folder without answers has nothing to find
        """Find what earlier runs have left."""

    @abstractmethod
    def restore(
        self, jobs: Sequence[Job], is_kept: Callable[[int], bool] = lambda _: False, *, failed_again: bool
    ) -> tuple[list[JobResult], list[Job]]:
        """Return the answers that are kept, and the jobs that are still to be done.

        Parameters
        ----------
        jobs : sequence of Job
            All jobs of the run.
        is_kept : callable
            Takes the number of a job, and returns whether it is kept elsewhere: then it is left out.
        failed_again : bool
            Whether inputs that failed count as missing.
        """

    @abstractmethod
    def restore_all(self, *, failed_again: bool) -> dict[str, dict[int, JobResult]]:
        """Return all answers that are kept, by the digest of their input and the place of their operation.

        For jobs that are not known in advance; the numbers of the answers are meaningless.
        """

    @abstractmethod
    def take(self, answers: Sequence[JobResult], jobs: Sequence[Job] | Mapping[int, Job]) -> None:
        """Take answers, which are written with the next part or when the folder is closed."""

    @abstractmethod
    async def write(self, *, at_once: bool) -> None:
        """Write what has been taken: before this returns, or soon if that is enough."""

    @abstractmethod
    def forget(self, inputs: Iterable[str]) -> None:
        """Forget the answers of inputs that are kept elsewhere."""

    @abstractmethod
    async def aclose(self) -> None:
        """Let what is being written be finished, and close."""

    @abstractmethod
    def close(self) -> None:
        """Write what is pending, and release the folder."""
