"""A fit becomes a file, or of a scan a folder, or a few lines that say what it is."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from annomodels.data.names import label_text
from annomodels.errors import Problem
from annomodels.io.writing import OutputError, atomic_path, compression_of

if TYPE_CHECKING:
    import xarray as xr

FIT, TRUTH, ABOUT = "fit.nc", "truth", "about.json"


def save_file(fit: Any, path: Path, force: bool) -> Path:
    """Save data, model and draws as one netCDF file."""
    with atomic_path(path, force) as temporary:
        write_tree(fit.tree, temporary)
    return path


def write_tree(tree: xr.DataTree, path: Path) -> None:
    """Write a tree of results as netCDF; :func:`xarray.open_datatree` reads it.

    Each group is put into the file by itself. ``DataTree.to_netcdf`` does the same, and loads Dask
    and its scheduler where they are installed only to find that nothing is to be scheduled.
    """
    from xarray.backends import H5NetCDFStore

    encoding = compression_of(tree)
    root = H5NetCDFStore.open(path, mode="w", lock=Lock())
    try:
        for group in tree.subtree:
            store = root if group is tree else root.get_child_store(group.path)
            dataset = group.to_dataset(inherit=group is tree)
            dataset.dump_to_store(store, encoding=encoding.get(group.path))
    finally:
        root.close()


def save_folder(fit: Any, path: Path, force: bool) -> Path:
    """Save draws and P(truth) of a scan in a folder, without its labels."""
    from annomodels.engines.source.disk import truth_path

    if path.exists() and not (force and (path / ABOUT).is_file()):
        remedy = "Choose another name, or say force=True to replace a saved fit."
        raise OutputError(Problem("There is a folder of this name.", str(path), remedy))
    work = path.with_name(f".{path.name}-{os.getpid()}")
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
    return path


def told(fit: Any) -> str:
    """Say in a few lines what was fitted to what, and what came out."""
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
