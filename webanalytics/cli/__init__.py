"""The command line: tables of operations, and the service.

Exit status: 0 every row is ok; 1 some rows failed (they are in the output, with their error);
2 the call was wrong; 3 there are issues that ``--fail-on`` or ``--fail-on-new`` names, whether rows failed
or not; 4 something could not be written where it was asked for (the rows are elsewhere: a line says where);
130 interrupted and 143 terminated, also by a closed terminal (the finished rows are written).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from webanalytics.cli.names import SERVICE_COMMANDS, as_flags, root
from webanalytics.errors import WebAnalyticsError, WriteError


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
    from webanalytics.cli.summaries import SUMMARIES
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
    for stream in (sys.stdout, sys.stderr):  # a page may hold what the terminal's encoding does not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    status = _status(sys.argv[1:] if arguments is None else list(arguments))
    if arguments is None and status in (130, 143):
        _end_soon()
    return status


def _end_soon() -> None:
    """Ignore signals that come while the process ends, and wait for no worker: the rows are written."""
    import signal

    from webanalytics.runs.workers.template import TEMPLATE

    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)
    TEMPLATE.end()


def _status(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except WriteError as error:
        sys.stderr.write(f"webanalytics: {as_flags(str(error))}\n")
        return 4
    except WebAnalyticsError as error:
        said = f"webanalytics: {as_flags(str(error))}\n"
        sys.stderr.write(said)  # in one piece: other processes may write too
        return 2
    except BrokenPipeError:  # the reader of the pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            raise
        sys.stderr.write(f"webanalytics: {error.strerror}: {error.filename}\n")  # such as a name too long
        return 2
    except KeyboardInterrupt as interrupt:
        return 143 if type(interrupt).__name__ == "Terminated" else 130


if __name__ == "__main__":
    sys.exit(main())
