"""Fit: data, model and results, with methods that return tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from annomodels.data.html import Html
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.fitting.saving import save_file, save_folder, told
from annomodels.limits import NEXT_LABELS
from annomodels.models.base import Model

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.fitting.plots import FitPlots
    from annomodels.summaries.gold import Wrong
    from annomodels.summaries.next_labels import By, NextLabels
    from annomodels.summaries.trust.checks import Check


def verb[**P, T](method: Callable[P, T]) -> Callable[P, T]:
    """Make a method raise NotApplicable, with the reason, for fits without it."""

    @wraps(method)
    def asked(*args: P.args, **options: P.kwargs) -> T:
        fit: Any = args[0]
        fit.require(method.__name__)
        return method(*args, **options)

    return asked


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Html):
    """Fitted model: data, model and the result tree, created by :func:`annomodels.fit`.

    Each table is computed on first use and cached, so do not change results in place. You can add
    columns to a returned table and sort its rows.

    The available tables depend on the type of truth and the location of the labels;
    :meth:`unsupported` returns why a table is missing.

    Parameters
    ----------
    data
        Fitted data: :class:`annomodels.Annotations`, the scan of labels on disk, or candidates of
        mentions from :func:`annomodels.coref.pairs`.
    model
        Model with its priors.
    tree
        Posterior draws, class probabilities and metadata of the run; see
        :mod:`annomodels.data.schema`.
    truth
        For a scan, the folder with P(truth) as Parquet, one file per block of items in order, with
        the columns item, n, gold, ``p_<label>``, entropy and mcse. The tree then has no groups for
        items.
    """

    data: Any
    model: Model
    tree: xr.DataTree
    truth: Path | None = None
    # keeps a temporary folder alive as long as it is needed
    _keeper: Any = None
    _known: dict[Any, Any] = field(default_factory=dict, init=False)

    # available methods and plots, and reasons for missing ones, by name or (under "") for all
    _has: ClassVar[frozenset[str]] = frozenset()
    _reasons: ClassVar[Mapping[str, str]] = {"": "this kind of fit does not support it"}

    def __new__(cls, data: Any = None, model: Any = None, *args: Any, **options: Any) -> Self:
        """Create a fit of the subclass for the model and the location of the labels."""
        if cls is not Fit or model is None:
            return super().__new__(cls)
        on_disk = options.get("truth", args[1] if len(args) > 1 else None) is not None
        kinds: dict[str, type[Any]] = {"number": NumberFit, "link": LinkFit}
        made: Self = super().__new__(kinds.get(model.truth, ScanFit if on_disk else ClassFit))
        return made

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.tree.attrs["seed"])

    @property
    def plot(self) -> FitPlots:
        """Plots of this fit, such as ``fit.plot.coders()``."""
        from annomodels.fitting.plots import FitPlots

        return FitPlots(self)

    def unsupported(self, verb: str) -> str:
        """Return why this fit lacks a table or plot; empty if it has it.

        Parameters
        ----------
        verb
            Name of a method, such as "gold", or of a plot, such as "plot.coders".

        Examples
        --------
        >>> import annomodels as am
        >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
        >>> fit.unsupported("gold"), fit.unsupported("write_gold")
        ('', 'the gold standard fits into memory: use gold()')
        """
        return "" if verb in self._has else self._reasons.get(verb) or self._reasons[""]

    def require(self, verb: str) -> None:
        """Raise NotApplicable, with the reason, if this fit lacks a table or plot."""
        if reason := self.unsupported(verb):
            raise NotApplicable(
                f"A fit of the {self.model.title} model has no {verb.replace('_', ' ')}: {reason}."
            )

    @verb
    def check(self, *, predictive: bool = True) -> Check:
        """Check whether the result can be trusted; return a verdict with reasons.

        Parameters
        ----------
        predictive
            Also check whether the model reproduces the labels, which takes longest.
        """
        from annomodels.summaries.trust.checks import check

        if not predictive:
            return check(self.tree, self.data, ())
        return self._once(check, self._aspects()[1])

    @verb
    def gold(self, threshold: float | None = None) -> Summary:
        """Return the gold standard: label, probability, runner-up and reason, one row per item.

        For numbers, return the true value of each item with its 95 % interval.

        Parameters
        ----------
        threshold
            Probability from which an item counts as settled; 0.95 by default.
        """
        from annomodels.summaries.gold import gold

        return self._table(gold, self.wrong_labels(), threshold=threshold)

    @verb
    def wrong_labels(self, truth: Mapping[Any, Any] | None = None) -> Wrong:
        """Return the expected numbers of wrong gold labels and of wrong majority votes.

        Page, tables, notes and files all show this number. After an audit it is the audit's
        estimate.

        Parameters
        ----------
        truth
            Held-out true labels by item name, to compare with the gold labels.
        """
        from annomodels.summaries.gold import wrong_labels

        return self._once(wrong_labels, known=truth)

    @verb
    def coverage(self, truth: Mapping[Any, Any] | None = None) -> Summary:
        """Return the expected accuracy of the highest-probability gold labels, by their number.

        Parameters
        ----------
        truth
            As in :meth:`wrong_labels`.
        """
        from annomodels.summaries.gold import coverage

        if truth is not None:
            return coverage(self.tree, self.data, self.wrong_labels(truth))
        return self._table(coverage, self.wrong_labels())

    @verb
    def p_next(self, by: Literal["item", "coder"] | None = None, **some: object) -> Summary:
        """Return the probability that one more coder gives each label, one row per item.

        Parameters
        ----------
        by
            "item" (the default), for a random coder, weighted by number of labels; or "coder".
        **some
            `items` or `coders` to include.
        """
        from annomodels.summaries.p_next import p_next

        return self._table(p_next, by=by, **some)

    @verb
    def write_gold(
        self,
        path: str | os.PathLike[str],
        threshold: float | None = None,
        force: bool = False,
        *,
        only_settled: bool = False,
    ) -> Path:
        """Write the gold standard of a scan as Parquet or CSV, one row per item, block by block.

        Columns are item, label, probability, state, source, runner_up, n and doubt. As in
        :meth:`gold`, no label is settled if the labels may not depend on any truth.

        Parameters
        ----------
        path
            Path that ends in ``.parquet``, ``.csv`` or ``.tsv``.
        threshold
            Probability from which an item counts as settled; 0.95 by default.
        force
            Replace an existing file.
        only_settled
            Leave labels that are not settled empty.

        Raises
        ------
        NotApplicable
            If the labels are in memory, the extension is unknown, or the threshold is not between
            0 and 1.
        OutputError
            If the file exists and `force` is not set, or if it cannot be written.
        """
        from annomodels.scale.summaries import write_gold

        options = {"force": force, "only_settled": only_settled}
        return write_gold(self.tree, self.data, self.truth or Path(), path, threshold, **options)

    @verb
    def why(self, items: Hashable | Iterable[Hashable] | None = None) -> Summary:
        """Return the log-odds that prevalence and each coder contribute to gold labels.

        Parameters
        ----------
        items
            Name of an item, or several; by default those whose gold label overturns a majority.
        """
        from annomodels.summaries.why import why

        return self._table(why, items=items)

    @verb
    def coders(self, target: float | None = None, *, prob: float | None = None) -> Summary:
        """Return the share of right labels, kind and advice, one row per coder.

        The table also has accuracy, skill and information under the model.

        For numbers, return bias, scale, noise and reliability; for links, sensitivity and
        specificity (or accuracy) for each class of labels.

        Parameters
        ----------
        target
            Share of right labels that coders should reach.
        prob
            For links: probability of the intervals, by default 0.95.
        """
        from annomodels.summaries.coders import coders

        return self._table(coders, target=target, prob=prob)

    @verb
    def groups(
        self, groups: Mapping[Any, Hashable] | None = None, *, by_labels: bool = False
    ) -> Summary:
        """Return accuracy, skill and information of groups of coders, and of their differences.

        Parameters
        ----------
        groups
            Group of each coder; by default the groups of
            :class:`annomodels.models.GroupedCoders`.
        by_labels
            Weight coders by their number of labels; otherwise each coder counts once.
        """
        from annomodels.summaries.coders import groups as of_groups

        return self._table(of_groups, groups=groups, by_labels=by_labels)

    @verb
    def effects(self) -> Summary:
        """Return the coefficients of covariates, with intervals, one row per term."""
        from annomodels.summaries.coders import effects

        return self._table(effects)

    @verb
    def items(self) -> Summary:
        """Return state, entropy and a reason for each flagged item, one row per item.

        For numbers, return the difficulty of items.
        """
        from annomodels.summaries.items import items

        return self._table(items)

    @verb
    def labels(self, *, pairs: bool = False) -> Summary:
        """Return prevalence, recall, precision and the worst confusion, one row per label.

        Labels by spammers and adversaries count for the prevalence only.

        Parameters
        ----------
        pairs
            Return one row per pair of labels instead: confusions, and the effect of merging.
        """
        from annomodels.summaries.labels import scheme

        useless = self.coders().table["kind"].isin(["spammer", "adversary"])
        return _copied(self._once(scheme, useless.tolist())[int(pairs)])

    @verb
    def prevalence(self) -> Summary:
        """Return the prevalence of each label with its 95 % interval, one row per label."""
        from annomodels.summaries.labels import prevalence

        return self._table(prevalence)

    @verb
    def agreement(self) -> Summary:
        """Return coefficients: value, sampling posterior and model-implied posterior.

        For numbers, return interval alpha: observed, model-implied, and for two new coders.
        """
        from annomodels.summaries.agreement import agreement

        return self._table(agreement)

    @verb
    def predictive(self) -> Summary:
        """Return posterior predictive checks on votes, coders and pairwise agreement."""
        return _copied(self._aspects()[0])

    @verb
    def interpretations(self) -> Summary:
        """Return the probability that each candidate of a link is true, one row per candidate.

        ``p_next`` is the probability that one more reader would give it, ``mc_error`` the Monte
        Carlo error of ``p_true``.
        """
        from annomodels.summaries.links import interpretations

        return self._table(interpretations)

    @verb
    def mentions(self) -> Summary:
        """Return silver labels and P(none, one, several readings are true), a row per mention."""
        from annomodels.summaries.links import mentions

        return self._table(mentions)

    @verb
    def ambiguous(self, threshold: float | None = None) -> Summary:
        """Return mentions with no or several true readings, or an uncertain single reading.

        Parameters
        ----------
        threshold
            Minimum probability of these cases; 0.5 by default.
        """
        from annomodels.summaries.links import ambiguous

        return self._table(ambiguous, threshold=threshold)

    @verb
    def links(self, at_least: float | None = None) -> Summary:
        """Return the most probable antecedent of each mention, one row per link.

        Parameters
        ----------
        at_least
            Minimum probability of a link; 0 by default.
        """
        from annomodels.summaries.links import links

        return self._table(links, at_least=at_least)

    @verb
    def chains(self, at_least: float | None = None) -> Summary:
        """Return silver chains, mentions joined by their links, one row per mention of a chain.

        Parameters
        ----------
        at_least
            Minimum probability of a link; 0 by default.
        """
        from annomodels.summaries.links import chains

        return self._table(chains, at_least=at_least)

    @verb
    def prior_sensitivity(self) -> Summary:
        """Compute the effect of priors a fifth weaker or a quarter stronger."""
        from annomodels.summaries.trust.priors import prior_sensitivity

        return self._table(prior_sensitivity)

    def _aspects(self) -> tuple[Summary, Any]:
        from annomodels.summaries.trust.predictive import aspects

        return self._once(aspects)

    @verb
    def next(
        self,
        budget: int = NEXT_LABELS,
        by: By = "gold",
        *,
        target: float | None = None,
        **limits: object,
    ) -> NextLabels:
        """Return the labels to ask for next, with items and coders, one row per label.

        Parameters
        ----------
        budget
            Maximum number of labels to ask for.
        by
            Quantity to reduce: "gold", expected wrong gold labels; "bits", uncertainty.
        target
            Share of right labels to reach; coders who very probably miss it are not asked.
        **limits
            `coders`, `per_item`, `per_coder` and `stop` of
            :func:`annomodels.summaries.next_labels.next_labels`.
        """
        from annomodels.summaries.next_labels import next_labels

        # an expert should decide the first, and has decided that the second have two readings
        apart = self.items().table["state"].isin(("contested", "decided")).to_numpy()
        undecided = apart & (self.data.known < 0)
        limits |= {"budget": budget, "by": by, "target": target}
        return self._table(next_labels, self.coders(target), undecided, **limits)

    def to_pymc(self) -> Any:
        """Return the PyMC model with these data; its ``log_likelihood`` is per item."""
        from annomodels.engines.pymc.handed import with_data as built

        return built(self.model, self.data)

    def pymc_draws(self) -> xr.DataTree:
        """Return the draws under the names of :meth:`to_pymc`, for posterior predictive labels."""
        from annomodels.engines.pymc.handed import draws_for

        return draws_for(self.model, self.data, self.tree)

    def to_arviz(self, *, log_likelihood: bool = True) -> xr.DataTree:
        """Return the draws in the format of ArviZ, for ``az.summary``, ``az.loo`` and its plots.

        The group ``posterior`` has all variables and, for classes, the ``accuracy`` of coders that
        :meth:`coders` shows; ``confusion`` has the dimension ``given``. ``log_likelihood`` has
        one observation per item, with the truth summed out: ``az.loo`` leaves out items, as
        :func:`annomodels.compare` does. Fits of numbers, links and scans have no such group.

        Parameters
        ----------
        log_likelihood
            Compute this group, which takes 8 bytes per item and draw.

        Raises
        ------
        NotApplicable
            If there are no draws, because the engine is em.

        Examples
        --------
        >>> import annomodels as am
        >>> fit = am.fit(am.datasets.load("anesthesia"), "mace", chains=2, draws=100, seed=1)
        >>> tree = fit.to_arviz()
        >>> dict(tree["log_likelihood"].sizes)
        {'chain': 2, 'draw': 100, 'item': 45}
        """
        from annomodels.summaries.arviz import arviz_tree

        return arviz_tree(self.tree, self.data, log_likelihood=log_likelihood)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save the fit; :func:`annomodels.load` reads it.

        Data, model and draws become one netCDF file. For a scan, whose labels are on disk,
        draws and P(truth) go into a folder: ``fit.nc``, ``about.json``, ``truth/*.parquet``.

        Parameters
        ----------
        path
            Path of the file or folder, which appears when it is complete.
        force
            Replace an existing file, or a folder that an earlier ``save`` wrote.

        Raises
        ------
        OutputError
            If the file or folder exists and `force` is not set, or if it cannot be written.
        """
        return (save_file if self.truth is None else save_folder)(self, Path(path), force)

    def _once[T](self, function: Callable[..., T], *known: object, **options: object) -> T:
        """Call a summary, or return its cached result; `known` is not part of the cache key."""
        options = {name: value for name, value in options.items() if value is not None}
        strange = sorted(set(options) - set(signature(function).parameters))
        if strange:
            raise NotApplicable(
                f"{function.__name__}() of a fit of the {self.model.title} model takes no "
                f"{'= and no '.join(strange)}=."
            )
        key: Any = function, tuple(sorted(options.items()))
        try:
            hash(key)
        except TypeError:  # names in a list, or a mapping
            return function(self.tree, self.data, *known, **options)
        if key not in self._known:
            self._known[key] = function(self.tree, self.data, *known, **options)
        found: T = self._known[key]
        return found

    def _table[S: Summary](
        self, function: Callable[..., S], *known: object, **options: object
    ) -> S:
        return _copied(self._once(function, *known, **options))

    def __repr__(self) -> str:
        return told(self)


def _named(verbs: str, plots: str = "") -> frozenset[str]:
    return frozenset([*verbs.split(), *(f"plot.{name}" for name in plots.split())])


_NO_LINKS = dict.fromkeys(
    ("ambiguous", "chains", "interpretations", "links", "mentions"),
    "items have no antecedents: fit am.coref.pairs(documents)",
)
_IN_MEMORY = "the gold standard fits into memory: use gold()"
_NO_VALUES = "items have classes and no values"


class ClassFit(Fit):
    """A fit whose items have classes, with the labels in memory."""

    _has = _named(
        "agreement check coders compare coverage effects gold groups items labels next p_next "
        "predictive prevalence prior_sensitivity why wrong_labels",
        "agreement coders confusion coverage difficulty pairwise predictive prevalence doubt "
        "ranks simplex",
    )
    _reasons: ClassVar = {**_NO_LINKS, "write_gold": _IN_MEMORY, "plot.values": _NO_VALUES}


class ScanFit(Fit):
    """A fit whose items have classes, with the labels and P(truth) on disk."""

    _has = _named("check coders prevalence write_gold", "coders confusion prevalence ranks")
    _reasons: ClassVar = {
        **_NO_LINKS,
        "": "needs the labels in memory: fit them without a scan",
        "gold": "the gold standard of a scan goes to disk: use write_gold(path)",
        "plot.values": _NO_VALUES,
    }

    def check(self, *, predictive: bool = True) -> Check:
        """Judge the chains and the design of the data."""
        from annomodels.scale.summaries import check

        return self._once(check)

    def coders(self, target: float | None = None, *, prob: float | None = None) -> Summary:
        """Return accuracy, skill, information and kind, one row per coder."""
        from annomodels.scale.summaries import coders

        return self._table(coders, target=target, prob=prob)


class NumberFit(Fit):
    """A fit whose items have a number as their true value."""

    _has = _named("agreement check coders gold items", "agreement coders values")
    _reasons: ClassVar = {
        **_NO_LINKS,
        "": "numbers have no classes",
        "write_gold": _IN_MEMORY,
        "compare": "held-out labels are scored for classes only",
        "effects": "only models of classes have covariates",
        "next": "labels to ask for are ranked for classes only",
        "p_next": "the next label is predicted for classes only",
        "predictive": "simulated labels are compared with the given ones for classes only",
        "prior_sensitivity": "other priors are tried for classes only",
        "groups": "groups of coders are compared for classes only",
        **dict.fromkeys(
            _named("", "difficulty pairwise predictive doubt ranks"),
            "this plot is for classes only",
        ),
    }

    def check(self, *, predictive: bool = True) -> Check:
        """Judge the chains and the ends of the scale."""
        from annomodels.summaries.numbers import check

        return self._once(check)

    def gold(self, threshold: float | None = None) -> Summary:
        """Return the true value of each item with its 95 % interval."""
        from annomodels.summaries.numbers import gold

        return self._table(gold, threshold=threshold)

    def coders(self, target: float | None = None, *, prob: float | None = None) -> Summary:
        """Return bias, scale, noise and reliability, one row per coder."""
        from annomodels.summaries.numbers import coders

        return self._table(coders, target=target, prob=prob)

    def items(self) -> Summary:
        """Return the difficulty of the items."""
        from annomodels.summaries.numbers import items

        return self._table(items)

    def agreement(self) -> Summary:
        """Return interval alpha: observed, model-implied, and for two new coders."""
        from annomodels.summaries.numbers import agreement

        return self._table(agreement)


class LinkFit(Fit):
    """A fit of mentions and their antecedents."""

    _has = _named("ambiguous chains check coders interpretations links mentions", "ranks")
    _reasons: ClassVar = {
        "": "mentions are linked to antecedents and have no classes",
        "agreement": "agreement on links is measured on texts: am.coref.agreement_table(documents)",
        "gold": "silver labels are in mentions(), and silver chains in chains()",
        "items": "doubtful mentions are in ambiguous()",
        "p_next": "predictions for one more reader are a column of interpretations()",
        "compare": "held-out labels are scored for classes only",
    }

    def check(self, *, predictive: bool = True) -> Check:
        """Judge the chains and the coders."""
        from annomodels.summaries.links import check

        return self._once(check)

    def coders(self, target: float | None = None, *, prob: float | None = None) -> Summary:
        """Return sensitivity and specificity, or accuracy, per coder and class of labels."""
        from annomodels.summaries.links import coders

        return self._table(coders, target=target, prob=prob)


def _copied[S: Summary](summary: S) -> S:
    """Return a summary with a shallow copy of its table, to add columns or sort rows."""
    return replace(summary, table=summary.table.copy(deep=False))
