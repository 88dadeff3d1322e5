"""Compilation of kernels, which run without the interpreter lock and are cached if possible."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def forget_older(folder: Path) -> None:
    """Delete compiled kernels of a folder of sources if one of the sources is new."""
    # numba compares the file of a function only. It would keep a caller with the old code of a
    # function of another file, and fail on names of classes that are gone.
    stats = {path: path.stat() for path in sorted(folder.rglob("*.py"))}
    stamp = "".join(f"{path.name} {s.st_size} {s.st_mtime_ns}\n" for path, s in stats.items())
    kept = folder / "__pycache__" / "sources.txt"
    with suppress(OSError):
        if kept.read_text("utf-8") == stamp:
            return
    with suppress(OSError):
        for compiled in folder.rglob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        made.write_text(stamp, "utf-8")
        made.replace(kept)


def _set_cache_folder() -> bool:
    """Point numba to a writable cache folder; return True if there is one."""
    here = Path(__file__).parent
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    if _writable(here / "__pycache__"):
        forget_older(here)
        return True
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "annomodels" / "numba"
    if _writable(folder):
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        return True
    return False


# numba reads its settings on its first import, so the folder is set before
CACHED = _set_cache_folder()

import numba  # noqa: E402
import numpy as np  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]
Key = np.uint64
OPTIONS: dict[str, Any] = {"nogil": True, "cache": CACHED, "error_model": "numpy"}


def kernel(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile on first use, with a disk cache if a folder is writable."""
    compiled: Callable[..., Any] = numba.njit(**OPTIONS)(function)
    return compiled


def inlined(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a small function that only kernels call: LLVM decides whether to inline it."""
    # A wrapper for Python would take half as long to compile as the function. Without it, a call
    # from Python crashes, so only kernels use these functions.
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS
    )(function)
    return compiled


def enclosed(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a closure over another function; the disk cache contains only its callers."""
    # numba would cache the closure again in each process
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, **{**OPTIONS, "cache": False}
    )(function)
    return compiled


def melted(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a small function for innermost loops, which LLVM must inline in every caller."""
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **OPTIONS
    )(function)
    return compiled
