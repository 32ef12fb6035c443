"""Which run has an address: object stores have no locks, so a file says it, and is read back.

A run renews its claim every few seconds. Another one watches a claim that it finds: one that is renewed is
refused, one that is not was left by a run that was killed. So nobody's clock is compared with another's.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
import weakref

from webanalytics.errors import WriteError
from webanalytics.frames.arrow import Unreadable
from webanalytics.frames.store import Store
from webanalytics.runs.checkpoints.manifest import wrong

log = logging.getLogger("webanalytics")

FILE = ".claim"
LONGEST = 200
"""Most bytes of a claim."""
RENEW_SECONDS = 5.0
"""How often a claim is renewed."""
DEAD_SECONDS = 20.0
"""How long a claim must not be renewed until it is that of a run which was killed."""
LOOK_SECONDS = 0.5
"""How often a claim of another run is looked at."""


class Claim:
    """The claim of one run on the folder of a store.

    Parameters
    ----------
    store : Store
        The folder.

    Attributes
    ----------
    is_lost : bool
        Whether another run was seen to have taken the folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sign = secrets.token_hex(16)
        self._renewed = 0
        self.is_lost = False
        self._ended = threading.Event()
        self._renewing = threading.Thread(
            target=_renewing, args=(weakref.ref(self), self._ended), name="webanalytics-claim", daemon=True
        )

    def take(self) -> None:
        """Claim the folder.

        Raises
        ------
        ParameterError
            Where another run has it.
        OSError
            Where it cannot be written to.
        """
        self._wait_for_another()
        self._write()
        if not self._is_mine():
            raise wrong("that no other run is using")
        self._renewing.start()

    def _wait_for_another(self) -> None:
        """Return when there is no claim of another run that lives."""
        known = self._found()
        if known is not None:
            log.warning(
                "another run has claimed the folder of `save_to`; for %g s it is seen whether that lives",
                DEAD_SECONDS,
            )
        end = time.monotonic() + DEAD_SECONDS
        while known is not None and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
            if (found := self._found()) not in (known, None):
                raise wrong("that no other run is using")
            known = found

    def renew(self) -> None:
        """Renew the claim, where it is still that of this run."""
        if self._is_mine():
            self._write()
        else:
            self.is_lost = True

    def check(self, *, anew: bool) -> None:
        """Raise `WriteError` where another run has taken the folder: as it was last seen, or anew."""
        try:
            self.is_lost = self.is_lost or (anew and not self._is_mine())
        except OSError as error:
            raise WriteError.at("save_to", "a folder that can be read", error) from None
        if self.is_lost:
            raise WriteError(
                "The `save_to` parameter must be a folder that no other run is using: another one has taken "
                "over there, and this one has ended.",
                "save_to",
            )

    def release(self) -> None:
        """Give the folder up."""
        self._ended.set()
        if self._renewing.is_alive():
            self._renewing.join()
        try:
            if self._renewed and self._is_mine():
                self._store.remove(FILE)
        except OSError as error:  # the next run waits for it
            log.info("the claim on an address could not be removed: %s", error)

    def _found(self) -> bytes | None:
        try:
            return next(self._store.lines(FILE, LONGEST, LONGEST), None)
        except Unreadable:  # a link or a pipe, which no run has written
            return b""

    def _is_mine(self) -> bool:
        return (self._found() or b"").startswith(self._sign.encode())

    def _write(self) -> None:
        self._renewed += 1
        self._store.write(FILE, f"{self._sign} {self._renewed}\n".encode())


def _renewing(known: weakref.ref[Claim], ended: threading.Event) -> None:
    while not ended.wait(RENEW_SECONDS):
        claim = known()
        if claim is None or claim.is_lost:
            return
        try:
            claim.renew()
        except OSError as error:  # once more later
            log.info("the claim on an address could not be renewed: %s", error)
        del claim
