"""A fit becomes a file, or of a scan a folder, or a few lines that say what it is.

A file of a fit is netCDF and ends in a seal, which HDF5 takes no account of: 32 bytes with the
SHA-256 of all before them, after a mark. A file that was damaged is known by it before a library
parses it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

from annomodels.data.names import label_text
from annomodels.engines.settings import Interrupts
from annomodels.errors import Option, Problem
from annomodels.io.writing import OutputError, atomic_path, compression_of

if TYPE_CHECKING:
    import xarray as xr

FIT, TRUTH, ABOUT = "fit.nc", "truth", "about.json"
MARK = b"annomodels seal 1 sha256"
SEAL = len(MARK) + hashlib.sha256().digest_size
BLOCK = 2**20


def save_file(fit: Any, path: Path, force: bool) -> Path:
    """Save data, model and draws as one netCDF file."""
    with Interrupts(True) as interrupts, atomic_path(path, force) as temporary:
        write_tree(fit.tree, temporary)
    interrupts.check()
    return path


def write_tree(tree: xr.DataTree, path: Path) -> None:
    """Write a tree of results as netCDF; :func:`xarray.open_datatree` reads it.

    Each group is put into the file by itself. ``DataTree.to_netcdf`` does the same, and loads Dask
    and its scheduler where they are installed only to find that nothing is to be scheduled. Ctrl-C
    has to wait until the file is whole: see :class:`annomodels.engines.settings.Interrupts`.
    """
    from xarray.backends import H5NetCDFStore

    encoding = compression_of(tree)
    with path.open("w+b", buffering=0) as disk:
        file = _Unfailing(disk)
        root = H5NetCDFStore.open(file, mode="w", lock=Lock())
        try:
            for group in tree.subtree:
                store = root if group is tree else root.get_child_store(group.path)
                dataset = group.to_dataset(inherit=group is tree)
                dataset.dump_to_store(store, encoding=encoding.get(group.path))
                file.check()
        finally:
            root.close()
        file.check()
        disk.seek(0, os.SEEK_END)
        seal = memoryview(MARK + digest_of(disk, disk.tell()))
        while seal:
            seal = seal[disk.write(seal) :]
        os.fsync(disk.fileno())


class _Unfailing(io.RawIOBase):
    """File that takes all that HDF5 writes, on the disk or, after an error, in memory.

    HDF5 cannot let go of a file that it fails to write: it tries again when the process ends, and
    crashes it. So the error is kept, :meth:`check` raises it, and the file is closed in order.
    """

    def __init__(self, disk: io.RawIOBase | IO[bytes]) -> None:
        self.file: Any = disk
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of it."""
        whole = memoryview(data).cast("B")
        start, done = self.file.tell(), 0
        try:
            while done < len(whole):
                done += self.file.write(whole[done:])
        except OSError as error:
            self.error = error
            self.file.seek(0)
            self.file = io.BytesIO(self.file.read())
            self.file.seek(start)
            self.file.write(whole)
        return len(whole)

    def check(self) -> None:
        """Raise the error of the disk, if there was one."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move within the file."""
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        """Return the place within the file."""
        return int(self.file.tell())

    def readinto(self, buffer: object) -> int:
        """Read as much as there is."""
        return int(self.file.readinto(buffer))

    def truncate(self, size: int | None = None) -> int:
        """Set the size; there is room in memory, if not on the disk."""
        return int(self.file.truncate(size))


def digest_of(file: Any, size: int) -> bytes:
    """Digest of the first bytes of an open file."""
    file.seek(0)
    digest = hashlib.sha256()
    while size and (part := file.read(min(size, BLOCK))):
        digest.update(part)
        size -= len(part)
    return digest.digest()


def save_folder(fit: Any, path: Path, force: bool) -> Path:
    """Save draws and P(truth) of a scan in a folder, without its labels."""
    from annomodels.engines.source.disk import truth_path

    if os.path.lexists(path) and not (force and (path / ABOUT).is_file()):
        remedy = f"Choose another name, or use {Option('force', True)} to replace a saved fit."
        raise OutputError(Problem("A folder with this name exists.", str(path), remedy))
    given, path = path, Path(os.path.realpath(path))  # a link stays
    work = path.with_name(f".{path.name}-{os.getpid()}")
    with Interrupts(True) as interrupts:
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
