"""Load what ``Fit.save`` wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annomodels.data.schema import SCHEMA_VERSION, data_of
from annomodels.errors import AnnotationError, EngineError, NotApplicable, Problem
from annomodels.fitting.fit import Fit
from annomodels.fitting.saving import ABOUT, FIT, TRUTH
from annomodels.models.base import Model
from annomodels.models.catalog import from_dict, placed
from annomodels.scale.scanned import Scanned

Classes = type[Model] | Model | Sequence[type[Model] | Model]


def load(
    path: str | os.PathLike[str],
    data: Scanned | None = None,
    *,
    model: Classes = (),
) -> Fit:
    """Load what :meth:`annomodels.Fit.save` wrote, whatever it is a fit of.

    Parameters
    ----------
    path
        The netCDF file; of a scan, the folder.
    data
        Of a scan, whose labels were not saved with the fit: the scan, such as
        ``am.scan(..., cache=...)`` finds it again.
    model
        A model that is no part of this package, or its class, or several of them. A file names the
        class and holds no code: the class must have been imported (or defined, in a notebook)
        before, at the place where it was, or be given here. Nothing is imported because a file
        says so.

    Raises
    ------
    AnnotationError
        When there is no such file, or it was not written by this package.
    NotApplicable
        When the fit is of a scan and its data are missing, or are others; when its model is none of
        this package and its class is not known.
    EngineError
        When another version of this package wrote it in a form that this one does not read.

    Examples
    --------
    >>> import tempfile, annomodels as am
    >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     am.load(fit.save(f"{folder}/fit.nc")).model == fit.model
    True
    """
    path = Path(path)
    if (path / ABOUT).is_file():
        return _of_scan(path, data, model)
    if not path.is_file():
        raise AnnotationError(
            Problem("There is no such file.", str(path), "Give a file that `fit.save` wrote.")
        )
    if data is not None:
        raise NotApplicable(f"{path} holds its data: leave out data=.")
    tree, known = _opened(path, path, model)
    try:
        fitted = data_of(tree)
    except (KeyError, ValueError, TypeError) as error:
        raise _no_fit(path) from error
    return Fit(fitted, known, tree)


def _of_scan(folder: Path, data: Scanned | None, model: Classes) -> Fit:
    if data is None:
        raise NotApplicable(
            f"{folder} holds a fit of a scan, without its labels: give the scan too, "
            "am.load(path, data=am.scan(...))."
        )
    tree, known = _opened(folder / FIT, folder, model)
    try:
        about = json.loads((folder / ABOUT).read_text("utf-8"))
        same = about["fingerprint"] == data.fingerprint
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise _no_fit(folder) from error
    if not same:
        raise NotApplicable(f"{folder} holds a fit of other labels than this scan.")
    return Fit(data, known, tree, folder / TRUTH)


def _opened(path: Path, named: Path, given: Classes) -> tuple[Any, Model]:
    """Tree and model of a file; errors name what the user gave."""
    import xarray as xr

    try:
        tree = xr.load_datatree(path, engine="h5netcdf")
        schema = str(tree.attrs["schema"])
        described = json.loads(tree.attrs["model"])
        known = placed(described, _classes(given))
        model = from_dict(known)
        tree.attrs["model"] = json.dumps(known)
    except NotApplicable:
        raise
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise _no_fit(named) from error
    if schema != SCHEMA_VERSION:
        raise EngineError(f"{named} has schema {schema}; this version reads {SCHEMA_VERSION}.")
    return tree, model


def _classes(given: Any) -> list[type[Model]]:
    several = given if isinstance(given, tuple | list) else [given]
    return [each if isinstance(each, type) else type(each) for each in several]


def _no_fit(path: Path) -> AnnotationError:
    what = "This is not a fit that annomodels wrote, or the file is damaged."
    return AnnotationError(Problem(what, str(path), "Fit again and save, or give another file."))
