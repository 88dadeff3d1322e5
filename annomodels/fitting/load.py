"""Load what ``Fit.save`` wrote."""

from __future__ import annotations

import json
import os
from pathlib import Path

from annomodels.data.schema import SCHEMA_VERSION, annotations_of
from annomodels.errors import AnnotationError, EngineError, NotApplicable, Problem
from annomodels.fitting.fit import Fit
from annomodels.models.catalog import from_dict

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Fit:
    """Load what :meth:`Fit.save` wrote.

    Parameters
    ----------
    path
        The netCDF file.

    Raises
    ------
    AnnotationError
        When the file is missing or was not written by this package.
    NotApplicable
        When it is a fit of numbers or of a scan, which have functions of their own.
    """
    import xarray as xr

    path = Path(path)
    if (path / "about.json").is_file():
        raise NotApplicable(
            f"{path} holds a fit of a scan: load it with am.ScannedFit.load(path, am.scan(...)), "
            "since the labels were not saved with it."
        )
    if not path.is_file():
        raise AnnotationError(
            Problem("There is no such file.", str(path), "Give a file that `fit.save` wrote.")
        )
    try:
        tree = xr.load_datatree(path, engine="h5netcdf")
        schema = str(tree.attrs["schema"])
        if tree.attrs.get("kind") == "interval":
            raise NotApplicable(
                f"{path} holds a fit of numbers: load it with am.load_interval(path); its tables "
                "stand beside it where annomodels interval wrote them."
            )
        model = from_dict(json.loads(tree.attrs["model"]))
        data = annotations_of(tree)
    except NotApplicable:
        raise
    except (OSError, KeyError, ValueError, TypeError) as error:
        what = "This is not a fit that annomodels wrote, or the file is damaged."
        remedy = "Fit again and save, or give another file."
        raise AnnotationError(Problem(what, str(path), remedy)) from error
    if schema != SCHEMA_VERSION:
        raise EngineError(f"{path} has schema {schema}; this version reads {SCHEMA_VERSION}.")
    return Fit(data, model, tree)
