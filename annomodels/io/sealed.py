"""Write trees of results as netCDF files that end in a checksum.

HDF5 ignores this seal: a mark, then the SHA-256 (32 bytes) of all bytes before the mark. It reveals
a damaged file before a library parses it.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Buffer
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Any

from annomodels.io.writing import compression_of

if TYPE_CHECKING:
    import xarray as xr

MARK = b"annomodels seal 1 sha256"
SEAL = len(MARK) + hashlib.sha256().digest_size
BLOCK = 2**20


def write_tree(tree: xr.DataTree, path: Path) -> None:
    """Write a tree of results as netCDF; :func:`xarray.open_datatree` reads it.

    Each group is written separately. ``DataTree.to_netcdf`` does the same, but also loads Dask if
    it is installed, which is not needed here. Ctrl-C has to wait until the file is complete: see
    :class:`annomodels.engines.settings.Interrupts`.
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
    """File whose writes always succeed: on disk or, after an error, in memory.

    After a failed write, HDF5 tries again when the process ends, and crashes it. Therefore
    the error is stored, :meth:`check` raises it, and the file is closed normally.
    """

    def __init__(self, disk: io.RawIOBase | IO[bytes]) -> None:
        self.file: Any = disk
        self.error: OSError | None = None

    def write(self, data: Buffer) -> int:
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
        """Raise the stored disk error, if any."""
        if self.error is not None:
            raise self.error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def readinto(self, buffer: object) -> int:
        return int(self.file.readinto(buffer))

    def truncate(self, size: int | None = None) -> int:
        return int(self.file.truncate(size))


def digest_of(file: IO[bytes], size: int) -> bytes:
    """Return the SHA-256 of the first `size` bytes of an open file."""
    file.seek(0)
    digest = hashlib.sha256()
    while size and (part := file.read(min(size, BLOCK))):
        digest.update(part)
        size -= len(part)
    return digest.digest()
