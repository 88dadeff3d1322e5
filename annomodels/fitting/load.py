"""Loading of fits that ``Fit.save`` wrote."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from annomodels import __version__
from annomodels.data.schema import SCHEMA_VERSION, data_of, is_group, require_sound
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.fitting.fit import Fit
from annomodels.fitting.saving import ABOUT, FIT, TRUTH
from annomodels.io.sealed import MARK, SEAL, digest_of
from annomodels.models.base import Model
from annomodels.models.catalog import from_dict, is_stack, placed
from annomodels.scale.scanned import Scanned
from annomodels.spans.fit import SpanFit

if TYPE_CHECKING:
    import h5py

# limits on the unpacked size: bytes, and multiples of the file size; draws hardly compress
MOST_UNPACKED, MOST_PACKED = 2**26, 200
# limits on groups and variables, attributes of each, and dimensions: far above those of any fit
MOST_PARTS, MOST_ATTRIBUTES, MOST_DIMENSIONS = 2000, 200, 16
# HDF5 reference to a string elsewhere in the file
_REFERENCE = np.dtype([("size", "<u4"), ("heap", "<u8"), ("number", "<u4")])

Classes = type[Model] | Model | Sequence[type[Model] | Model]


def load(
    path: str | os.PathLike[str],
    data: Scanned | None = None,
    *,
    model: Classes = (),
) -> Any:
    """Load a fit of any kind that :meth:`annomodels.Fit.save` wrote.

    Parameters
    ----------
    path
        The netCDF file, or the folder of a fit of a scan.
    data
        The scan, for a fit of a scan, whose labels are not saved with the fit.
        ``am.scan(..., cache=...)`` finds it again.
    model
        A model that is not part of this package, or its class, or several of them. A file names the
        class and contains no code: import the class first (or define it, in a notebook) at the same
        place, or give it here. Loading never imports a module that a file names.

    Raises
    ------
    AnnotationError
        If the file does not exist, is damaged, or was not written by this package, or if another
        version wrote it in a form that this one does not read. Other files that it names are not
        read.
    NotApplicable
        If the fit is of a scan and its data are missing or different, or if its model is not part
        of this package and its class is unknown.

    Examples
    --------
    >>> import tempfile, annomodels as am
    >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     am.load(fit.save(f"{folder}/fit.nc")).model == fit.model
    True
    """
    path = Path(path)
    folder = path.parent if path.name == FIT else path
    if (folder / ABOUT).is_file():
        return _of_scan(folder, data, model)
    if not path.is_file():
        raise AnnotationError(
            Problem("The file does not exist.", str(path), "Give a file that `fit.save` wrote.")
        )
    if data is not None:
        raise NotApplicable(f"{path} holds its data: leave out data=.")
    tree = _read(path, path)
    if str(tree.attrs.get("kind")) == "spans":
        try:
            return SpanFit.of_tree(tree)
        except Exception as error:
            raise _no_fit(path, error, tree) from error
    if "expected_errors" in tree.attrs:
        raise NotApplicable(_NO_LABELS.format(path))
    known = _model_of(tree, path, model)
    try:
        fitted = data_of(tree)
        require_sound(tree, known, fitted, stacked=is_stack(known))
    except Exception as error:
        raise _no_fit(path, error, tree) from error
    return Fit(fitted, known, tree)


_NO_LABELS = (
    "{} holds a fit of a scan without its labels. Its tables are in its folder; in Python, load "
    "the folder with the scan: am.load(folder, data=am.scan(...))."
)


def _of_scan(folder: Path, data: Scanned | None, model: Classes) -> Fit:
    if data is None:
        raise NotApplicable(_NO_LABELS.format(folder))
    tree = _read(folder / FIT, folder)
    known = _model_of(tree, folder, model)
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        same = about["fingerprint"] == data.fingerprint
        if same:
            require_sound(tree, known, data.shell(), stacked=is_stack(known))
    except Exception as error:
        raise _no_fit(folder, error, tree) from error
    if not same:
        raise NotApplicable(f"{folder} holds a fit of other labels than this scan.")
    return Fit(data, known, tree, folder / TRUTH)


def _read(path: Path, named: Path) -> Any:
    """Read the tree of a file; errors name the path that the user gave."""
    import xarray as xr

    try:
        with path.open("rb") as file:
            require_plain(file)
            file.seek(0)
            with xr.open_datatree(file, engine="h5netcdf") as tree:
                for group in tree.subtree:  # DataTree.load leaves some on disk
                    for variable in group.variables.values():
                        variable.load()
        _require_known(str(tree.attrs["schema"]), named)
    except (AnnotationError, MemoryError, PermissionError):
        raise
    except Exception as error:  # libraries may raise anything for a damaged file
        raise _no_fit(named, error) from error
    return tree


def _model_of(tree: Any, named: Path, given: Classes) -> Model:
    try:
        known = placed(json.loads(tree.attrs["model"]), _classes(given))
    except (AnnotationError, NotApplicable):
        raise
    except Exception as error:
        raise _no_fit(named, error) from error
    tree.attrs["model"] = json.dumps(known)
    try:
        return from_dict(known)
    except Exception as error:
        if isinstance(error, NotApplicable) and '"class":' in tree.attrs["model"]:
            raise  # a class that was defined elsewhere has changed
        raise _no_fit(named, error) from error


def _require_known(schema: str, named: Path) -> None:
    """Refuse a fit that another version wrote."""
    if schema != SCHEMA_VERSION:
        newer = schema.isdecimal() and int(schema) > int(SCHEMA_VERSION)
        what = f"Another version of annomodels wrote this fit, in format {schema[:20]}."
        remedy = "Update annomodels, or fit again." if newer else "Fit again with this version."
        raise AnnotationError(Problem(what, str(named), remedy))


def require_plain(file: IO[bytes]) -> None:
    """Refuse a damaged file, or a file with parts that no fit has, before it is read.

    HDF5 follows links to other files, and reads bytes of a data set from any named file.
    """
    import h5py

    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - SEAL, 0))
    seal = file.read()
    if not seal.startswith(MARK):  # HDF5 may never return from a file that it did not write
        raise ValueError("an earlier version wrote it, or something changed it since")
    if seal != MARK + digest_of(file, size - SEAL):
        raise ValueError("its bytes are not those that were written")
    file.seek(0)
    with h5py.File(file, "r") as whole:
        texts, unpacked = _require_parts(whole.id, size)
        file.seek(0)
        for part in texts:
            unpacked += _bytes_of_texts(part, file)
        if unpacked > max(MOST_UNPACKED, MOST_PACKED * size):
            raise ValueError("it is far larger than its file")


def _require_parts(root: h5py.h5g.GroupID, size: int) -> tuple[list[h5py.h5d.DatasetID], int]:
    """Refuse groups and data sets that no fit has; return string data sets and total bytes."""
    from h5py import h5d, h5g, h5l, h5o, h5t

    numbers = (h5t.INTEGER, h5t.FLOAT, h5t.ENUM)
    groups, seen = [(root, True)], set()
    unpacked, said, parts, texts = 0, 0, 0, []
    while groups:
        group, is_root = groups.pop()
        said += _bytes_of_attributes(group)
        parts += group.get_num_objs()
        if parts > MOST_PARTS:
            raise ValueError("it holds more parts than a fit has")
        for encoded in group:
            name = encoded.decode("utf-8", "replace")
            if group.links.get_info(encoded).type != h5l.TYPE_HARD:
                raise ValueError("it holds a link to something else")
            part = h5o.open(group, encoded)
            if (address := h5o.get_info(part).addr) in seen:
                raise ValueError("it holds the same object in two places")
            seen.add(address)
            if isinstance(part, h5g.GroupID):
                if not (is_root and is_group(name)):
                    raise ValueError("it holds a group that no fit has")
                groups.append((part, False))
                continue
            if not isinstance(part, h5d.DatasetID):
                raise ValueError("it holds an object that is not a data set")
            said += _bytes_of_attributes(part)
            _require_inside(part.get_create_plist())
            kind = part.get_type()
            if kind.get_class() == h5t.STRING and kind.is_variable_str():
                texts.append(part)
            elif kind.get_class() not in (*numbers, h5t.STRING):
                raise ValueError("it holds values that are neither numbers nor texts")
            unpacked += math.prod(_stored(part)) * part.dtype.itemsize
            if said > size:
                raise ValueError(_REPEATED)
    return texts, unpacked


def _stored(part: h5py.h5d.DatasetID) -> list[int]:
    """Return the shape of the values with all of the chunks that hold them: HDF5 unpacks these."""
    from h5py import h5d

    made = part.get_create_plist()
    chunked = made.get_layout() == h5d.CHUNKED
    chunks = made.get_chunk() if chunked else (1,) * len(part.shape)
    return [-(-size // chunk) * chunk for size, chunk in zip(part.shape, chunks, strict=True)]


_REPEATED = "it refers to one text many times"


def _bytes_of_attributes(part: h5py.h5g.GroupID | h5py.h5d.DatasetID) -> int:
    """Count the bytes of string attributes of a part; the file has each string once."""
    from h5py import h5a, h5t

    if h5a.get_num_attrs(part) > MOST_ATTRIBUTES:
        raise ValueError("a part has more attributes than a fit writes")
    total = 0
    for n in range(h5a.get_num_attrs(part)):
        attribute = h5a.open(part, index=n)
        kind = attribute.get_type()
        text = kind.get_class() == h5t.STRING and kind.is_variable_str()
        if not text and kind.get_class() != h5t.VLEN:
            continue
        if math.prod(attribute.shape) > (1 if text else MOST_DIMENSIONS):
            raise ValueError(_REPEATED)
        values = np.empty(attribute.shape, dtype=attribute.dtype)
        attribute.read(values)
        sizes = [len(value) for value in values.ravel()]
        if text:
            total += sum(sizes)
        elif max(sizes, default=0) > 1:  # a dimension has one scale
            raise ValueError("it gives a dimension several scales")
    return total


def _bytes_of_texts(part: h5py.h5d.DatasetID, file: IO[bytes]) -> int:
    """Count the bytes of strings from their references, without reading them."""
    count = math.prod(part.shape)
    if not count:
        return 0
    size, start = part.get_storage_size(), part.get_offset()
    if start is None or size != count * _REFERENCE.itemsize:  # a fit never stores them so
        raise ValueError("its texts are compressed")
    file.seek(start)
    total = int(np.frombuffer(file.read(size), _REFERENCE)["size"].sum(dtype=np.int64))
    if total > file.seek(0, os.SEEK_END):
        raise ValueError(_REPEATED)
    return total


def _require_inside(made: Any) -> None:
    """Refuse a data set whose values are not in the file, or use an unknown filter."""
    from h5py import h5d, h5z

    if made.get_external_count() or made.get_layout() not in (
        h5d.COMPACT, h5d.CONTIGUOUS, h5d.CHUNKED,
    ):  # fmt: skip
        raise ValueError("its values are stored in another file")
    known = (h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32)
    if any(made.get_filter(n)[0] not in known for n in range(made.get_nfilters())):
        raise ValueError("its values are compressed by an unknown filter")


def _classes(given: object) -> list[type[Model]]:
    several = given if isinstance(given, tuple | list) else [given]
    return [each if isinstance(each, type) else type(each) for each in several]


def _no_fit(path: Path, error: Exception, tree: Any = None) -> AnnotationError:
    why = f" ({error})" if type(error) is ValueError and len(str(error)) < 100 else ""
    wrote = __version__ if tree is None else str(tree.attrs.get("annomodels", __version__))[:40]
    if wrote != __version__:  # the file is intact, as its seal shows
        what = (
            f"Version {wrote} of annomodels wrote this fit, and {__version__} cannot read it{why}."
        )
        return AnnotationError(Problem(what, str(path), "Fit the labels again with this version."))
    what = f"This is not a fit that annomodels wrote, or the file is damaged{why}."
    return AnnotationError(Problem(what, str(path), "Fit again and save, or give another file."))
