"""What pages, sites and services wrote never acts on a terminal, whichever way it is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import webanalytics as wa
from webanalytics.core import messages
from webanalytics.core.messages import for_terminal

ESCAPES = "\x1b]0;mine\x07\x1b[31m\x9b2J\x90q\x9c\x85\x7f\b"
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@pytest.mark.parametrize("number", [*range(32), *range(0x7F, 0xA0), 0x2028, 0x202E, 0x2066])
def test_every_control_character_is_named(number: int) -> None:
    shown = for_terminal(f"Tea{chr(number)}!")
    assert shown == (f"Tea{chr(number)}!" if chr(number) in "\t\n" else f"Tea⟨U+{number:04X}⟩!")


def test_text_stays_as_it_is() -> None:
    for text in ("Grüner Tee, お茶", "two\nlines\tand a tab", "👩‍👩‍👧"):
        assert for_terminal(text) == messages.visible(text) == text
    assert for_terminal("one\r\ntwo") == "one\ntwo"


def test_an_error_says_what_it_quotes_without_acting() -> None:
    error = wa.ParameterError(f"The `url` parameter must be other than {ESCAPES}.", "url")
    assert not CONTROLS.search(str(error))
    assert "⟨U+001B⟩]0;mine⟨U+0007⟩" in str(error)


def printed(arguments: list[str], folder: Path) -> str:
    """Run the command line in a pseudo-terminal and return what it writes there."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "webanalytics", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
        os.close(ours)
    assert process.returncode in (0, 1, 2, 3)
    return written.decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "json", "jsonl"])
def test_no_format_of_the_command_line_acts_on_a_terminal(tmp_path: Path, form: str) -> None:
    page = f"<title>Tea{ESCAPES}</title><h1>{ESCAPES}</h1>"
    (tmp_path / "page.html").write_text(page, "utf-8")
    shown = printed(["metadata", "page.html", "-f", form], tmp_path)
    assert "Tea" in shown
    assert not CONTROLS.search(shown)


def test_into_a_file_a_page_is_written_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<title>Tea\x9b2J</title>", "utf-8")
    command = [sys.executable, "-m", "webanalytics", "metadata", "page.html", "-f", "csv"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
    assert "Tea\x9b2J" in done.stdout.decode()
