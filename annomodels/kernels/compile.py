"""Compilation of kernels: without the interpreter lock, and cached if possible."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _set_cache_folder() -> bool:
    """Point numba to a folder it can write to; gives whether there is one."""
    if os.environ.get("NUMBA_CACHE_DIR") or _writable(Path(__file__).parent / "__pycache__"):
        return True
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "annomodels" / "numba"
    if _writable(folder):
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        return True
    return False


# numba reads its settings when it is first imported, so the folder comes first
CACHED = _set_cache_folder()

import numba  # noqa: E402
import numpy as np  # noqa: E402

Array = np.ndarray[Any, np.dtype[Any]]
Key = np.uint64
OPTIONS: dict[str, Any] = {"nogil": True, "cache": CACHED, "error_model": "numpy"}


def kernel(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile on first use, cached on disk when a folder can be written to."""
    compiled: Callable[..., Any] = numba.njit(**OPTIONS)(function)
    return compiled


def inlined(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a small step that only kernels call: LLVM decides whether to inline it."""
    # what Python needs to call it would take half as long to compile as the step itself; without
    # it a call from Python is a crash, so these stay within the kernels
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS
    )(function)
    return compiled


def enclosed(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a small step that is made around another one; what calls it is kept on disk."""
    # by itself it would be kept once for every process
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, **{**OPTIONS, "cache": False}
    )(function)
    return compiled


def melted(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a small step of an innermost loop, which LLVM must inline wherever it is called."""
    compiled: Callable[..., Any] = numba.njit(
        no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **OPTIONS
    )(function)
    return compiled
