"""Fit labels that are numbers: truth, bias, scale and noise of coders, difficulty of items."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.mixing import ess, rhat
from annomodels.data.names import label_text
from annomodels.data.schema import annotations_of, observed_data, plain_attrs
from annomodels.engines.interval import NumericResult, gibbs, watched
from annomodels.engines.interval_nuts import nuts
from annomodels.engines.settings import Progress, Settings
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.io.writing import atomic_path
from annomodels.models.interval import Interval
from annomodels.models.numeric import NumericLabels
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.summaries.checks import Check

__all__ = ["IntervalFit", "fit_interval", "load_interval"]

KEPT_TRUTHS = 400


@dataclass(frozen=True, eq=False, repr=False)
class IntervalFit:
    """A fit of numeric labels: data, model and the tree of results.

    Parameters
    ----------
    data
        What was fitted.
    model
        The model with its priors.
    tree
        Groups ``posterior`` (chain, draw; bias, scale and noise_sd by coder), ``truth`` and
        ``items`` (item), ``truth_draws`` (sample, item), ``observed_data``. All in units of the
        labels.
    """

    data: Annotations
    model: Interval
    tree: xr.DataTree

    @property
    def engine(self) -> str:
        """Name of the engine that made it."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.tree.attrs["seed"])

    def check(self) -> Check:
        """Say whether the result can be trusted, in sentences."""
        from annomodels.summaries.interval_check import check

        return check(self.tree, self.data)

    def gold(self) -> Summary:
        """Give the true value of every item with its 95 % interval, one row per item."""
        from annomodels.summaries.interval import gold

        return gold(self.tree, self.data)

    def coders(self) -> Summary:
        """Give bias, scale, noise and reliability with intervals, one row per coder."""
        from annomodels.summaries.interval import coders

        return coders(self.tree, self.data)

    def items(self) -> Summary:
        """Give the difficulty of items and why some need a look, one row per item."""
        from annomodels.summaries.interval import items

        return items(self.tree, self.data)

    def agreement(self) -> Summary:
        """Give interval alpha, what the model implies for it, and for two new coders."""
        from annomodels.summaries.interval import agreement

        return agreement(self.tree, self.data)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save data, model and draws as one netCDF file; :func:`load_interval` reads it.

        Parameters
        ----------
        path
            Where to write; the file appears when it is complete.
        force
            Whether an existing file is replaced.
        """
        path = Path(path)
        with atomic_path(path, force) as temporary:
            self.tree.to_netcdf(temporary, engine="h5netcdf")
        return path

    def __repr__(self) -> str:
        attrs = self.tree.attrs
        return (
            f"{self.model.title} on {self.data!r}\n"
            f"{attrs['engine']}, {attrs['chains']} chains of {attrs['draws']} draws, "
            f"seed {attrs['seed']}, {float(attrs['seconds']):.1f} s"
        )


def fit_interval(
    data: Annotations,
    model: Interval | None = None,
    *,
    engine: str = "auto",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> IntervalFit:
    """Fit labels that are numbers, such as sliders and similarity ratings.

    Parameters
    ----------
    data
        The annotations; labels are numbers. Known gold ties truths to their values.
    model
        The model with its priors; the defaults otherwise.
    engine
        ``auto`` (``gibbs``), ``gibbs`` or ``nuts``.
    chains, draws, warmup
        Size of the run; ``gibbs`` goes on, thinned, when chains of this size have not mixed.
    seed
        Seed of all random numbers; without it a new one is drawn and kept in the result.
    time_limit, threads, progress
        As in :func:`annomodels.fit`.
    **options
        Further fields of :class:`annomodels.engines.settings.Settings`.

    Raises
    ------
    NotApplicable
        When labels are no numbers, or the engine does not serve the model.
    AnnotationError
        When the data cannot tell noise from truth.

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [(i, j, 10 * i + j + i * j % 3) for i in range(8) for j in range(3)]
    >>> data = am.Annotations.from_records(rows, scale="interval")
    >>> result = am.fit_interval(data, chains=2, draws=200, seed=1)
    >>> result.gold().table["value"].is_monotonic_increasing
    True
    """
    model = Interval() if model is None else model
    if engine not in ("auto", *model.engines):
        raise NotApplicable(f"The engine {engine!r} does not serve the interval model. Use gibbs.")
    labels = model.encode(data)
    seed = secrets.randbits(31) if seed is None else seed
    settings = Settings(
        chains=chains,
        draws=draws,
        warmup=warmup,
        seed=seed,
        time_limit=time_limit,
        threads=threads,
        progress=progress,
        **options,
    )
    result = (nuts if engine == "nuts" else gibbs)(model, labels, settings)
    n_chains, n_draws = result.log_likelihood.shape
    result.attrs |= {
        "kind": "interval",
        "chains": n_chains,
        "draws": n_draws,
        "warmup": warmup,
        "seed": seed,
        "centre": labels.centre,
        "unit": labels.unit,
        "ends": list(labels.ends),
        "command": "",
        "data_fingerprint": data.fingerprint,
        **_mixing(result, labels),
    }
    return IntervalFit(data, model, _tree(result, data, model))


def _mixing(result: NumericResult, labels: NumericLabels) -> dict[str, Any]:
    names, draws = watched(result.posterior, labels)
    r, n = rhat(draws), ess(draws)
    if np.isnan(r).all():
        return {"rhat_max": float("nan"), "ess_min": float("nan"), "rhat_at": "", "ess_at": ""}
    worst, least = int(np.nanargmax(r)), int(np.nanargmin(n))
    return {
        "rhat_max": float(r[worst]),
        "rhat_at": names[worst],
        "ess_min": float(n[least]),
        "ess_at": names[least],
    }


def _tree(result: NumericResult, data: Annotations, model: Interval) -> xr.DataTree:
    import xarray as xr

    item = {"item": [label_text(name) for name in data.items]}
    coder = {"coder": [label_text(name) for name in data.coders]}
    along = ("chain", "draw", "coder")
    posterior = {name: (along[: v.ndim], v) for name, v in result.posterior.items()}
    draws = result.truth.reshape(-1, data.n_items)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    truth = {
        "truth_mean": result.truth_mean,
        "truth_sd": result.truth_sd,
        "truth_low": low,
        "truth_high": high,
        "truth_mcse": result.truth_mcse,
    }
    items = {"difficulty": result.difficulty, "difficulty_sd": result.difficulty_sd}
    some = draws[:: -(-len(draws) // KEPT_TRUTHS)].astype(np.float32)
    likelihood = {"log_likelihood": (("chain", "draw"), result.log_likelihood)}
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=plain_attrs(result.attrs, model.to_dict())),
            "/posterior": xr.Dataset(posterior, coords=coder),
            "/sample_stats": xr.Dataset(likelihood),
            "/truth": xr.Dataset({k: (("item",), v) for k, v in truth.items()}, coords=item),
            "/items": xr.Dataset({k: (("item",), v) for k, v in items.items()}, coords=item),
            "/truth_draws": xr.Dataset({"truth": (("sample", "item"), some)}, coords=item),
            "/observed_data": observed_data(data),
        }
    )


def load_interval(path: str | os.PathLike[str]) -> IntervalFit:
    """Load what :meth:`IntervalFit.save` wrote.

    Parameters
    ----------
    path
        The netCDF file.

    Raises
    ------
    AnnotationError
        When the file is missing or holds no fit of numeric labels.
    """
    import xarray as xr

    path = Path(path)
    if not path.is_file():
        raise AnnotationError(
            Problem("There is no such file.", str(path), "Give a file that `fit.save` wrote.")
        )
    try:
        tree = xr.load_datatree(path, engine="h5netcdf")
        found = json.loads(tree.attrs["model"])
        if found["name"] != Interval.name:
            raise KeyError(found["name"])
        return IntervalFit(annotations_of(tree), Interval.from_dict(found), tree)
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise AnnotationError(
            Problem(
                "This is no fit of the interval model, or the file is damaged.",
                str(path),
                "Use annomodels.load for a fit of another model.",
            )
        ) from error
