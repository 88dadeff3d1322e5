"""Fit a model, keep the result together with its data, and save it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

from annomodels.data.annotations import Annotations
from annomodels.data.schema import conform
from annomodels.engines.catalog import choose, runner
from annomodels.engines.checkpoint import new_seed
from annomodels.engines.settings import Progress, Settings
from annomodels.io.writing import atomic_path, compression_of
from annomodels.models.answering import Answering
from annomodels.models.base import Model
from annomodels.models.catalog import resolve
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.expanded import expanded
from annomodels.models.fittable import require_fittable
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    import annomodels
    from annomodels.models.opinion_pool import OpinionPool
    from annomodels.scale.fitted import ScannedFit
    from annomodels.scale.scanned import Scanned
    from annomodels.summaries.checks import Check
    from annomodels.summaries.gains import By
    from annomodels.summaries.next_labels import NextLabels

__all__ = ["Fit", "fit"]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model: data, model and the tree of results.

    Parameters
    ----------
    data
        What was fitted.
    model
        The model with its priors.
    tree
        Posterior draws, class probabilities and what the run says of itself; see
        :mod:`annomodels.data.schema`.
    """

    data: Annotations
    model: Model
    tree: xr.DataTree

    @property
    def engine(self) -> str:
        """Name of the engine that made it."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.tree.attrs["seed"])

    @property
    def plot(self) -> annomodels.FitPlots:
        """Plots of this fit, such as ``fit.plot.coders()``; see :class:`annomodels.FitPlots`."""
        import annomodels

        return annomodels.FitPlots(self)

    def check(self) -> Check:
        """Say whether the result can be trusted, in sentences."""
        from annomodels.summaries.checks import check

        return check(self.tree, self.data)

    def gold(self, threshold: float | None = None) -> Summary:
        """Give the gold standard: label, probability, runner-up and why, one row per item.

        Parameters
        ----------
        threshold
            Probability from which an item counts as settled; .95 by default.
        """
        from annomodels.summaries.gold import gold

        return gold(self.tree, self.data, threshold)

    def why(self, items: Hashable | Iterable[Hashable] | None = None) -> Summary:
        """Take gold labels apart: log-odds that prevalence and each coder contributed.

        Parameters
        ----------
        items
            Name of an item, or several; by default those whose gold label overturns a majority.
        """
        from annomodels.summaries.why import why

        return why(self.tree, self.data, items)

    def coders(self, target: float | None = None) -> Summary:
        """Give accuracy, chance-corrected skill, information and kind, one row per coder.

        Parameters
        ----------
        target
            Accuracy that coders should reach.
        """
        from annomodels.summaries.coders import coders

        return coders(self.tree, self.data, target=target)

    def items(self) -> Summary:
        """Give entropy, surprise and a reason for each flagged item, one row per item."""
        from annomodels.summaries.items import items

        return items(self.tree, self.data)

    def labels(self, *, pairs: bool = False) -> Summary:
        """Give prevalence, sensitivity, precision and the worst confusion, one row per label.

        Parameters
        ----------
        pairs
            Whether to give one row for each pair of labels instead: how often they are confused,
            and what merging them would do.
        """
        from annomodels.summaries import labels

        return (labels.pairs if pairs else labels.labels)(self.tree, self.data)

    def agreement(self) -> Summary:
        """Give coefficients three ways: value, sampling posterior, model-implied posterior."""
        from annomodels.summaries.agreement import agreement

        return agreement(self.tree, self.data)

    def predictive(self) -> Summary:
        """Give posterior predictive checks on votes, coders and pairwise agreement."""
        from annomodels.summaries.predictive import predictive

        return predictive(self.tree, self.data)

    def prior_sensitivity(self) -> Summary:
        """Say what would change if the priors counted a fifth less, or a quarter more."""
        from annomodels.summaries.prior_sensitivity import prior_sensitivity

        return prior_sensitivity(self.tree, self.data)

    def next(self, budget: int = 100, by: By = "gold", **limits: Any) -> NextLabels:
        """Give the labels to ask for next, of which items and by whom, one row per label.

        Parameters
        ----------
        budget
            Most labels to ask for.
        by
            What they shall lessen: "gold", expected wrong gold labels; "bits", uncertainty.
        **limits
            `coders`, `per_item`, `per_coder` and `stop` of
            :func:`annomodels.summaries.next_labels.next_labels`.
        """
        from annomodels.summaries.next_labels import next_labels

        return next_labels(self.tree, self.data, budget, by, **limits)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save data, model and draws as one netCDF file.

        Parameters
        ----------
        path
            Where to write; the file appears when it is complete.
        force
            Whether an existing file is replaced.

        Raises
        ------
        OutputError
            When the file exists and `force` is not set, or cannot be written.
        """
        path = Path(path)
        with atomic_path(path, force) as temporary:
            self.tree.to_netcdf(temporary, engine="h5netcdf", encoding=compression_of(self.tree))
        return path

    def __repr__(self) -> str:
        attrs = self.tree.attrs
        return (
            f"{self.model.title} on {self.data!r}\n"
            f"{attrs['engine']}, {attrs['chains']} chains of {attrs['draws']} draws, "
            f"seed {attrs['seed']}, {float(attrs['seconds']):.1f} s"
        )


@overload
def fit(data: Annotations, model: str | Model = "hierarchical", **options: Any) -> Fit: ...
@overload
def fit(data: Scanned, model: str | Model = "hierarchical", **options: Any) -> ScannedFit: ...


def fit(
    data: Annotations | Scanned,
    model: str | Model = "hierarchical",
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
) -> Fit | ScannedFit:
    """Fit a model of annotation.

    Parameters
    ----------
    data
        The annotations, or a scan of them (:func:`annomodels.scan`) that is fitted block by block.
    model
        A model or its name: ``hierarchical`` (the default), ``dawid-skene``,
        ``class-conditional``, ``one-coin``, ``mace``, ``pooled``, ``logit-normal``; where items
        are more than their class, ``guess-level``, ``consensus``, ``easy-hard``, ``ambiguous``,
        ``readings``, ``opinion-pool``, ``subtypes``; ``spammers``; all are in the docs on models.
    engine
        ``auto``, ``gibbs``, ``nuts`` or ``em``. ``em`` is a first look without intervals.
    chains, draws, warmup
        Size of the run; ``gibbs`` goes on, thinned, when chains of this size have not mixed.
    seed
        Seed of all random numbers; without it a new one is drawn and kept in the result.
    time_limit
        Seconds after which sampling stops; what was sampled is kept.
    threads
        Number of threads; all cores by default.
    progress
        Called as ``progress(stage, share_done, message)``.
    **options
        Further fields of :class:`annomodels.engines.settings.Settings`, such as `executor`,
        `checkpoint` and `resume`.

    Returns
    -------
    Fit
        Or a :class:`annomodels.ScannedFit`, of a scan.

    Raises
    ------
    AnnotationError
        When the data hold one label or one coder only, so that nothing can be learnt.
    NotApplicable
        When model and engine do not go together.
    EngineError
        When inference failed.

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [(i, j, int(i % 2 == 0 or j == i)) for i in range(6) for j in range(3)]
    >>> result = am.fit(am.Annotations.from_records(rows), chains=2, draws=200, seed=1)
    >>> result.tree["truth"]["p_truth"].shape
    (6, 2)
    """
    if not isinstance(data, Annotations):
        from annomodels.scale.running import fit_scanned

        options |= {"chains": chains, "draws": draws, "warmup": warmup, "threads": threads}
        options |= {"seed": seed, "time_limit": time_limit, "progress": progress}
        return fit_scanned(data, model, engine, **options)
    resolved = resolve(model)
    name = choose(resolved, engine)
    require_fittable(data)
    resolved, seen = _with_answering(resolved.bound(data), data)
    if seed is None:
        seed = new_seed(**options)
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
    result = runner(name)(resolved, seen, settings)
    if resolved.pools:
        from annomodels.engines.pooling import pooled

        result = pooled(cast("OpinionPool", resolved), data, result, settings)
    result.posterior, resolved = resolved.separated(result.posterior), resolved.reported
    n_chains, n_draws = result.lp.shape
    result.attrs = {
        "chains": n_chains,
        "draws": n_draws,
        "warmup": warmup,
        "thin": 1,
        "swapped_chains": [],
        "relabelled_share": 0.0,
        "rhat_max": float("nan"),
        "ess_min": float("nan"),
        "command": "",
        **result.attrs,
        "seed": seed,
        "data_fingerprint": data.fingerprint,
    }
    return Fit(data, resolved, conform(result, data, resolved))


def _with_answering(model: Model, data: Annotations) -> tuple[Model, Annotations]:
    """Model and data in which whether coders answer is learnt too, where it can be."""
    if data.unanswered is None or not len(data.unanswered):
        return (model.base if isinstance(model, Answering) else model), data
    if isinstance(model, Answering):
        return model, expanded(data)
    if not isinstance(model, ConjugateModel) or model.shared:
        return model, data  # labels that are no class are missing to it
    return Answering(model).bound(data), expanded(data)
