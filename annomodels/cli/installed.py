"""``annomodels --version --verbose``: versions, cores, caches and problems."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from annomodels.cli.exits import DONE, EXTRA
from annomodels.cli.session import note, show_text
from annomodels.data.validation import counted

_MODULES = {"dkpro-cassis": "cassis"}  # packages whose module has another name
_ONLY_FOR_WORK_ON_IT = {"docs"}


def examined() -> int:
    """Check the installation, and print a fix for each problem.

    The exit code is 5 if a required package is missing or too old.
    """
    wrong = []
    for fact in facts():
        show_text(f"{fact.name}: {fact.value}\n")
        wrong += [fact] if fact.problem else []
    for fact in wrong:
        note(f"{fact.name}: {fact.problem}")
    note(f"{counted(len(wrong), 'problem')} found." if wrong else "No problem found.")
    return EXTRA if any(fact.needed for fact in wrong) else DONE


@dataclass(frozen=True)
class Fact:
    name: str
    value: str
    problem: str = ""
    needed: bool = False


def facts() -> list[Fact]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [
        Fact("python", platform.python_version()),
        Fact("system", platform.platform()),
        Fact("cores", str(cores or 1)),
        *_packages(),
        _cache(),
        Fact("standard output", sys.stdout.encoding or "unknown"),
    ]


def _packages() -> Iterator[Fact]:
    try:
        requirements = metadata.requires("annomodels") or []
    except metadata.PackageNotFoundError:
        what = "annomodels runs from a folder and is not installed: pip install ."
        yield Fact("installation", "not installed", what)
        return
    for text in sorted(requirements, key=lambda text: ("extra" in text, text.lower())):
        needed = Requirement(text)
        extra = re.search(r"extra == ['\"](\w+)", str(needed.marker or ""))
        if not extra or extra[1] not in _ONLY_FOR_WORK_ON_IT:
            yield _package(needed.name, needed.specifier, extra[1] if extra else "")


def _package(name: str, limits: SpecifierSet, extra: str) -> Fact:
    title = f"{name} (extra {extra})" if extra else name
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        if extra:
            return Fact(title, f"not installed; pip install '{name}{limits}'")
        return Fact(title, "not installed", f"pip install '{name}{limits}'", True)
    if not limits.contains(version, prereleases=True):
        remedy = f"needs {limits}: pip install --upgrade '{name}{limits}'"
        return Fact(title, version, remedy, not extra)
    try:
        importlib.import_module(_MODULES.get(name, name.replace("-", "_")))
    except Exception as error:  # a broken package may raise anything
        remedy = f"cannot be imported ({error}): pip install --force-reinstall '{name}{limits}'"
        return Fact(title, version, remedy, not extra)
    return Fact(title, version)


def _cache() -> Fact:
    name = "cache of compiled code"
    try:
        from annomodels.kernels import compile as compiling
    except ImportError as error:
        return Fact(name, "unknown", f"numba cannot be imported: {error}", True)
    if not compiling.CACHED:
        # the home folder was tried before
        place = f"{tempfile.gettempdir()}/annomodels"
        remedy = f"code is compiled in every run: export NUMBA_CACHE_DIR={place}"
        return Fact(name, "cannot be written", remedy)
    own = Path(compiling.__file__).parent / "__pycache__"
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or own)
    n = sum(1 for _ in folder.rglob("*.nbi")) if folder.is_dir() else 0
    state = f"{n} functions" if n else "empty: the first fit compiles for a few seconds"
    return Fact(name, f"{state} in {folder}")
