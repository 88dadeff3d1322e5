"""Saving of fits as a file or, for a scan, a folder; and their text summary."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from annomodels.data.names import label_text
from annomodels.engines.settings import Interrupts
from annomodels.errors import Option, Problem
from annomodels.io.sealed import write_tree
from annomodels.io.writing import OutputError, atomic_path, named

FIT, TRUTH, ABOUT = "fit.nc", "truth", "about.json"


def save_file(fit: Any, path: Path, force: bool) -> Path:
    """Save data, model and draws as one netCDF file."""
    with Interrupts(True) as interrupts, atomic_path(path, force) as temporary:
        write_tree(fit.tree, temporary)
    interrupts.check()
    return path


def save_folder(fit: Any, path: Path, force: bool) -> Path:
    """Save draws and P(truth) of a scan in a folder, without its labels."""
    from annomodels.engines.source.disk import truth_path

    if os.path.lexists(path) and not (force and (path / ABOUT).is_file()):
        remedy = f"Choose another name, or use {Option('force', True)} to replace a saved fit."
        raise OutputError(Problem("A folder with this name already exists.", str(path), remedy))
    given, path = path, Path(os.path.realpath(path))  # keep a symbolic link
    work = path.with_name(f".{path.name}-{os.getpid()}")
    with Interrupts(True) as interrupts, named(given):
        try:
            (work / TRUTH).mkdir(parents=True)
            for number in range(len(fit.data.blocks)):
                shutil.copyfile(truth_path(fit.truth, number), truth_path(work / TRUTH, number))
            write_tree(fit.tree, work / FIT)
            about = {
                "kind": "scanned fit",
                "fingerprint": fit.data.fingerprint,
                "items": fit.data.n_items,
                "annotations": fit.data.n_annotations,
                "source": fit.data.source,
                "expected_errors": fit.tree.attrs["expected_errors"],
            }
            (work / ABOUT).write_text(json.dumps(about, indent=1), "utf-8")
            if path.exists():
                shutil.rmtree(path)
            work.replace(path)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    interrupts.check()
    return given


def told(fit: Any) -> str:
    """Summarize the model, the data and the result in a few lines."""
    attrs = fit.tree.attrs
    about = f"{fit.model.title} on {fit.data!r}\n{attrs['engine']}, {attrs['chains']} chains"
    about += f" of {attrs['draws']} draws, seed {fit.seed}, {float(attrs['seconds']):.1f} s"
    if "expected_errors" not in attrs:
        return about
    table = fit.prevalence().table[:10]
    shares = zip(table["label"], table["prevalence"], strict=True)
    known = ", ".join(f"{label_text(name)} {share:.3f}" for name, share in shares)
    wrong = f"{float(attrs['expected_errors']):,.1f} of the most probable labels"
    return f"{about}\nprevalence: {known}; {wrong} are expected to be wrong"
