"""Temporary folders that go with what needs them, and those that a killed process left."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO

PREFIX, HELD = "annomodels-", "held"


class Keeper:
    """A temporary folder that goes when nobody holds this any more, or the process ends.

    A process that is killed cannot remove its folder; the next one that makes a folder does.
    """

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _lock(self.folder / "new")
        if self._lock is not None:
            # locked before it has its name, so that nobody finds it unlocked
            (self.folder / "new").rename(self.folder / HELD)
        self._end = weakref.finalize(self, _remove, self.folder, self._lock)


def sweep(parent: Path) -> list[Path]:
    """Remove folders whose process has died: their lock file is locked by nobody.

    Parameters
    ----------
    parent
        Where temporary folders are made.
    """
    gone = []
    try:
        ours = [parent / name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:  # a folder in which one may write but not look
        return []
    for folder in ours:
        held = folder / HELD
        # another user's folder is one without a lock file; a Path would raise there before 3.13
        lock = _lock(held) if os.path.isfile(held) else None
        if lock is not None:
            _remove(folder, lock)
            gone.append(folder)
    return gone


def _lock(path: Path) -> IO[bytes] | None:
    """Open and lock a file; nothing where somebody else holds it, or where there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows: a killed process leaves its folder
        return None
    try:
        file = path.open("ab")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _remove(folder: Path, lock: IO[bytes] | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        lock.close()
