"""A fit: data, model and results, and the verbs that give tables of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from annomodels.errors import NotApplicable
from annomodels.fitting.saving import save_file, save_folder, told
from annomodels.fitting.verbs import Kind, answering, lacking
from annomodels.limits import NEXT_LABELS
from annomodels.models.base import Model
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.fitting.plots import FitPlots
    from annomodels.summaries.gold.coverage import Wrong
    from annomodels.summaries.next.gains import By
    from annomodels.summaries.next.next_labels import NextLabels
    from annomodels.summaries.trust.checks import Check


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model: data, model and the tree of results; :func:`annomodels.fit` makes it.

    Each table is computed when it is first asked for and kept: a verb that is called twice, by a
    page or by you, does the work once. Results are therefore not to be changed in place; what is
    handed out may have columns added and rows sorted.

    Which tables there are depends on what the truth is and on where the labels are;
    :meth:`lacks` says why one is missing.

    Parameters
    ----------
    data
        What was fitted: :class:`annomodels.Annotations`, the scan of a fit of labels on disk, or
        the candidates of mentions that :func:`annomodels.coref.pairs` gives.
    model
        The model with its priors.
    tree
        Posterior draws, class probabilities and what the run says of itself; see
        :mod:`annomodels.data.schema`.
    truth
        Of a scan, the folder with P(truth) as Parquet, one file for each block of items in their
        order, with the columns item, n, gold, ``p_<label>``, entropy and mcse; its tree has no
        groups on items.
    """

    data: Any
    model: Model
    tree: xr.DataTree
    truth: Path | None = None
    # keeps a temporary folder alive as long as it is needed
    _keeper: Any = None
    _known: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def kind(self) -> Kind:
        """What the truth of an item is, and where the labels are, as the table of verbs has it."""
        return self.model.truth, "memory" if self.truth is None else "disk"

    @property
    def engine(self) -> str:
        """Name of the engine that made it."""
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

    def lacks(self, verb: str) -> str:
        """Say why this fit has no such table or plot; empty where it has one.

        Parameters
        ----------
        verb
            Name of a method, such as "gold", or of a plot, such as "plot.coders".

        Examples
        --------
        >>> import annomodels as am
        >>> fit = am.fit(am.datasets.load("anesthesia"), engine="em", seed=1)
        >>> fit.lacks("gold"), fit.lacks("write_gold")
        ('', 'the gold standard fits into memory, use gold()')
        """
        return lacking(self.kind, verb)

    def answer(self, verb: str) -> Callable[..., Any]:
        """Give the function that answers a verb.

        Raises
        ------
        NotApplicable
            With the reason, where this fit has no such table.
        """
        if reason := self.lacks(verb):
            raise NotApplicable(
                f"There is no {verb.replace('_', ' ')} of this fit of the {self.model.title} "
                f"model: {reason}."
            )
        return answering(self.kind, verb)

    def check(self, *, predictive: bool = True) -> Check:
        """Say whether the result can be trusted, in sentences.

        Parameters
        ----------
        predictive
            Whether to look at whether the model reproduces the labels, which takes longest.
        """
        if self.lacks("predictive"):
            checked: Check = self._once("check")
        elif predictive:
            checked = self._once("check", self._once("predictive")[1])
        else:
            checked = self.answer("check")(self.tree, self.data, ())
        return checked

    def gold(self, threshold: float | None = None) -> Summary:
        """Give the gold standard: label, probability, runner-up and why, one row per item.

        Of numbers, the true value of each item with its 95 % interval.

        Parameters
        ----------
        threshold
            Probability from which an item counts as settled; .95 by default.
        """
        known = () if self.lacks("wrong_labels") else (self.wrong_labels(),)
        return self._table("gold", *known, threshold=threshold)

    def wrong_labels(self, known: Mapping[Any, Any] | None = None) -> Wrong:
        """Count the wrong labels to be expected, of the gold standard and of a majority vote.

        Page, tables, notes and files all show this number. After an audit it is that of the
        estimate.

        Parameters
        ----------
        known
            Truth that the fit was not told, by name of item: these labels are compared with it.
        """
        found: Wrong = self._once("wrong_labels", known=known)
        return found

    def coverage(self, known: Mapping[Any, Any] | None = None) -> Summary:
        """Give the expected accuracy of the highest-probability gold labels, by their number.

        Parameters
        ----------
        known
            As of :meth:`wrong_labels`.
        """
        wrong = self.wrong_labels(known)
        if known is None:
            return self._table("coverage", wrong)
        found: Summary = self.answer("coverage")(self.tree, self.data, wrong)
        return found

    def p_next(self, by: Literal["item", "coder"] | None = None, **some: Any) -> Summary:
        """Give the probability of each label to be the next that an item gets, one row per item.

        Parameters
        ----------
        by
            "item" (by default), by a coder at random, each counting by their labels; or "coder".
        **some
            `items` or `coders`, for some of them only.
        """
        return self._table("p_next", by=by, **some)

    def write_gold(
        self,
        path: str | os.PathLike[str],
        threshold: float | None = None,
        force: bool = False,
        *,
        only_settled: bool = False,
    ) -> Path:
        """Write the gold standard of a scan as Parquet or CSV, one row per item, block by block.

        Columns are item, label, probability, mcse, runner_up, runner_up_probability, n, settled,
        known and entropy. As in :meth:`gold`, nothing but known truth is settled where the labels
        may depend on no truth.

        Parameters
        ----------
        path
            A name that ends in ``.parquet``, ``.csv`` or ``.tsv``.
        threshold
            Probability from which an item counts as settled; .95 by default.
        force
            Whether an existing file is replaced.
        only_settled
            Whether labels that are not settled are left empty.

        Raises
        ------
        NotApplicable
            When the labels are in memory, the ending is another, or the threshold is not between
            0 and 1.
        OutputError
            When the file exists and `force` is not set, or cannot be written.
        """
        write = self.answer("write_gold")
        options = {"force": force, "only_settled": only_settled}
        written: Path = write(self.tree, self.data, self.truth, path, threshold, **options)
        return written

    def why(self, items: Hashable | Iterable[Hashable] | None = None) -> Summary:
        """Take gold labels apart: log-odds that prevalence and each coder contributed.

        Parameters
        ----------
        items
            Name of an item, or several; by default those whose gold label overturns a majority.
        """
        return self._table("why", items=items)

    def coders(self, target: float | None = None, *, prob: float | None = None) -> Summary:
        """Give accuracy, chance-corrected skill, information and kind, one row per coder.

        Of numbers, bias, scale, noise and reliability; of links, sensitivity and specificity (or
        accuracy) for each class of labels.

        Parameters
        ----------
        target
            Accuracy that coders should reach.
        prob
            Of links, probability of the intervals; .9 by default.
        """
        return self._table("coders", target=target, prob=prob)

    def groups(
        self, groups: Mapping[Any, Hashable] | None = None, *, by_labels: bool = False
    ) -> Summary:
        """Give accuracy, skill and information of groups of coders, and of their differences.

        Parameters
        ----------
        groups
            Group of each coder; by default those of a fit of
            :class:`annomodels.models.GroupedCoders`.
        by_labels
            Whether coders count by their number of labels; else each coder counts once.
        """
        return self._table("groups", groups=groups, by_labels=by_labels)

    def effects(self) -> Summary:
        """Give what covariates are worth, with intervals, one row per term."""
        return self._table("effects")

    def items(self) -> Summary:
        """Give entropy, surprise and a reason for each flagged item, one row per item.

        Of numbers, the difficulty of items.
        """
        return self._table("items")

    def labels(self, *, pairs: bool = False) -> Summary:
        """Give prevalence, sensitivity, precision and the worst confusion, one row per label.

        Parameters
        ----------
        pairs
            Whether to give one row for each pair of labels: confusions, and what merging would do.
        """
        return _handed(self._once("labels")[int(pairs)])

    def prevalence(self) -> Summary:
        """Give the share of each label among the truths, one row per label, with 95 % intervals."""
        return self._table("prevalence")

    def agreement(self) -> Summary:
        """Give coefficients three ways: value, sampling posterior, model-implied posterior.

        Of numbers, interval alpha, what the model implies for it, and for two new coders.
        """
        return self._table("agreement")

    def predictive(self) -> Summary:
        """Give posterior predictive checks on votes, coders and pairwise agreement."""
        return _handed(self._once("predictive")[0])

    def interpretations(self) -> Summary:
        """Give every candidate of links with the probability that it is true, one row each.

        ``p_next`` is the probability that one more reader would say it, ``mc_error`` the Monte
        Carlo error of ``p_true``.
        """
        return self._table("interpretations")

    def mentions(self) -> Summary:
        """Give the silver label, and P(none, one, several readings are true), a row per mention."""
        return self._table("mentions")

    def ambiguous(self, threshold: float | None = None) -> Summary:
        """Give mentions with no true reading or several, or whose single truth is open.

        Parameters
        ----------
        threshold
            Smallest probability of that; .5 by default.
        """
        return self._table("ambiguous", threshold=threshold)

    def links(self, at_least: float | None = None) -> Summary:
        """Give the most probable antecedent of each mention, one row per link.

        Parameters
        ----------
        at_least
            Smallest probability of a link; 0 by default.
        """
        return self._table("links", at_least=at_least)

    def chains(self, at_least: float | None = None) -> Summary:
        """Give silver chains, mentions joined by their links, one row per mention of a chain.

        Parameters
        ----------
        at_least
            Smallest probability of a link; 0 by default.
        """
        return self._table("chains", at_least=at_least)

    def prior_sensitivity(self) -> Summary:
        """Say what would change if the priors counted a fifth less, or a quarter more."""
        return self._table("prior_sensitivity")

    def next(
        self,
        budget: int = NEXT_LABELS,
        by: By = "gold",
        *,
        target: float | None = None,
        **limits: Any,
    ) -> NextLabels:
        """Give the labels to ask for next, of which items and by whom, one row per label.

        Parameters
        ----------
        budget
            Most labels to ask for.
        by
            What they shall lessen: "gold", expected wrong gold labels; "bits", uncertainty.
        target
            Accuracy that coders should reach: who very probably does not is not asked.
        **limits
            `coders`, `per_item`, `per_coder` and `stop` of
            :func:`annomodels.summaries.next.next_labels.next_labels`.
        """
        known: tuple[Any, ...] = ()
        if not self.lacks("next"):
            items = self._once("items").table["quadrant"] == "contested"
            known = (self._once("coders", target=target), items.to_numpy())
        chosen: Any = self._table("next", *known, budget=budget, by=by, target=target, **limits)
        return chosen  # type: ignore[no-any-return]

    def to_pymc(self) -> Any:
        """Give the PyMC model with these data; its ``log_likelihood`` is that of each item."""
        from annomodels.engines.pymc.handed import with_data as built

        return built(self.model, self.data)

    def pymc_draws(self) -> xr.DataTree:
        """Give the draws as :meth:`to_pymc` names them, such as for posterior predictive labels."""
        from annomodels.engines.pymc.handed import draws_for

        return draws_for(self.model, self.data, self.tree)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save the fit; :func:`annomodels.load` reads it.

        Data, model and draws become one netCDF file. Of a scan, whose labels are on disk already,
        draws and P(truth) go into a folder: ``fit.nc``, ``about.json``, ``truth/*.parquet``.

        Parameters
        ----------
        path
            Where to write; the file or folder appears when it is complete.
        force
            Whether an existing file, or a folder that an earlier ``save`` wrote, is replaced.

        Raises
        ------
        OutputError
            When there is such a file or folder and `force` is not set, or it cannot be written.
        """
        return (save_file if self.truth is None else save_folder)(self, Path(path), force)

    def _once(self, verb: str, *known: Any, **options: Any) -> Any:
        """Answer a verb, or hand out the answer that was given before; `known` changes nothing."""
        options = {name: value for name, value in options.items() if value is not None}
        try:
            key = verb, frozenset(options.items())
            if key in self._known:
                return self._known[key]
        except TypeError:  # names in a list, or a mapping
            key = None
        function = self.answer(verb)
        strange = sorted(set(options) - set(signature(function).parameters))
        if strange:
            raise NotApplicable(
                f"{verb}() of a fit of the {self.model.title} model takes no "
                f"{'= and no '.join(strange)}=."
            )
        answered = function(self.tree, self.data, *known, **options)
        if key is not None:
            self._known[key] = answered
        return answered

    def _table(self, verb: str, *known: Any, **options: Any) -> Summary:
        return _handed(self._once(verb, *known, **options))

    def __repr__(self) -> str:
        return told(self)

    def _repr_html_(self) -> str:
        first, *rest = map(escape, repr(self).split("\n"))
        return f"<p><strong>{first}</strong></p><p>{'<br>'.join(rest)}</p>"


def _handed(summary: Summary) -> Summary:
    """Copy of a summary whose table may get columns or be sorted; its values are shared."""
    return replace(summary, table=summary.table.copy(deep=False))
