"""A pseudo-terminal in this process, what stands on it at the end, and other processes."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest

_TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


def seen(raw: str) -> list[str]:
    """Give the lines that remain after everything that was erased has been erased."""
    lines, row, column = [""], 0, 0
    for match in _TOKEN.finditer(raw):
        count, order, control, text = match.groups()
        if order == "A":
            row = max(row - int(count or 1), 0)
        elif order == "K":
            lines[row] = ""
        elif control == "\r":
            column = 0
        elif control == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif text:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


def on_a_terminal(
    words: Sequence[object], columns: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[str]]:
    """Run ``annomodels`` on a terminal of this width; gives exit code and the lines on it."""
    code, raw = sent_to_a_terminal(words, columns, monkeypatch)
    return code, seen(raw)


def sent_to_a_terminal(
    words: Sequence[object], columns: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str]:
    """Run ``annomodels`` on a terminal of this width; gives exit code and all that it writes."""
    pty = pytest.importorskip("pty")
    from annomodels.cli.main import main

    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    leader, follower = pty.openpty()
    parts: list[bytes] = []
    reader = threading.Thread(target=drain, args=(leader, parts))
    reader.start()
    try:
        with os.fdopen(follower, "w", encoding="utf-8", buffering=1) as stream:
            monkeypatch.setattr(sys, "stdout", stream)
            monkeypatch.setattr(sys, "stderr", stream)
            code = main([str(word) for word in words])
            monkeypatch.undo()
    finally:
        reader.join()
        os.close(leader)
    return code, b"".join(parts).decode()


def drain(leader: int, parts: list[bytes]) -> None:
    """Read all that comes to a terminal until its other end is closed."""
    with suppress(OSError):  # how Linux says so
        while part := os.read(leader, 65536):
            parts.append(part)


def heed_signals() -> None:
    """Heed what a job in the background of a shell, or one that outlives it, ignores."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


ANNOMODELS = [sys.executable, "-m", "annomodels"]


def start(
    *words: object, env: Mapping[str, str] | None = None, **options: object
) -> subprocess.Popen[str]:
    """Start ``annomodels`` in a process of its own, which heeds Ctrl-C."""
    return subprocess.Popen(
        [*ANNOMODELS, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "CI": "1", **(env or {})},
        preexec_fn=heed_signals if os.name == "posix" else None,
        **options,  # type: ignore[call-overload]
    )


def wait_for(process: subprocess.Popen[str], start_of_line: str) -> list[str]:
    """Read what a process says on stderr until a line begins so."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith(start_of_line):
            return lines
    raise AssertionError("".join(lines))
