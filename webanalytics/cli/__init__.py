"""The command line: tables of operations, and the service.

Exit status: 0 every row is ok; 1 some rows failed (they are in the output, with their error);
2 the call was wrong; 3 there are issues that ``--fail-on`` or ``--fail-on-new`` names, whether rows failed
or not; 4 something could not be written where it was asked for (the rows are elsewhere: a line says where);
130 interrupted and 143 terminated, also by a closed terminal (the finished rows are written).
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from webanalytics.cli.names import SERVICE_COMMANDS, SUMMARIES, as_flags, root
from webanalytics.errors import AuditInterrupted, WebAnalyticsError, WriteError


def _run(arguments: list[str]) -> int:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if arguments and arguments[0] in SERVICE_COMMANDS:
        from webanalytics.service.commands import main as run_service

        return run_service(arguments)
    if arguments in (["-h"], ["--help"]) and _listed():
        return 0
    from webanalytics.cli.tables import run

    return run(arguments)


def _listed() -> bool:
    """Print the sub-commands without a look at their modules; not if another package adds operations."""
    from webanalytics.core.plugins import OPERATIONS, installed

    if installed(OPERATIONS):
        return False
    parser, commands = root()
    for name, summary in SUMMARIES.items():
        commands.add_parser(name, help=summary)
    parser.print_help()
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    if arguments is None:
        _open_all()
    for stream in (sys.stdout, sys.stderr):  # a page may hold what the terminal's encoding does not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    status = _status(sys.argv[1:] if arguments is None else list(arguments))
    _give_up_streams()
    if arguments is None and status in (130, 143):
        _end_soon()
    return status


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
"""What a system says of a stream that takes nothing more."""


def _give_up_streams() -> None:
    """Let what still waits for a standard stream go nowhere, unless it is taken after all."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # and Python would end with a status of its own
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _say(text: str) -> None:
    """Write to standard error in one piece, since other processes may write too; it may be full."""
    with suppress(OSError):
        sys.stderr.write(f"webanalytics: {text}\n")


def _open_all() -> None:
    """Open the standard streams that the caller has closed: no other file may have their numbers."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode))


def _end_soon() -> None:
    """Ignore signals that come while the process ends, and wait for no worker: the rows are written."""
    import signal

    from webanalytics.runs.workers.template import TEMPLATE

    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)
    TEMPLATE.end()


def _status(arguments: list[str]) -> int:
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except WriteError as error:
        _say(as_flags(str(error)))
        return 4
    except WebAnalyticsError as error:
        _say(as_flags(str(error)))
        return 2
    except BrokenPipeError:  # the reader of the pipe has seen enough
        return 0
    except OSError as error:
        if error.filename is not None:  # such as a name too long
            _say(f"{error.strerror}: {error.filename}")
            return 2
        if error.errno not in _FULL:
            raise
        _say(f"Standard output could not be written: {error.strerror}.")
        return 4
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, AuditInterrupted):  # of a call that cannot show a part of its rows
            _say(f"{str(interrupt).partition(';')[0]}; nothing is written")
        return 143 if type(interrupt).__name__ == "Terminated" else 130


if __name__ == "__main__":
    sys.exit(main())
