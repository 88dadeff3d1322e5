"""Two kinds of coders: honest coders from one population, and spammers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from annomodels.models.base import State, log_priors
from annomodels.models.conjugate import ConjugateModel, added, log_multinomial
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.mixtures.layout import Layout
from annomodels.models.mixtures.state_model import StateModel
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Beta, Diagonal, Dirichlet, LogNormal, Proper, ScalePrior
from annomodels.priors.distributions import Bernoulli, DirichletRows
from annomodels.types import Floats, TensorLike

# number of initial iterations without spammers, so that the honest population is estimated first
PATIENCE = 5
FAR = 2**192


@dataclass(frozen=True)
class HonestAndSpammers(HierarchicalDawidSkene):
    r"""Hierarchical Dawid-Skene in which coders may be spammers, who ignore the item.

    .. math::

        z_j \sim Bernoulli(q), \quad
        \theta_{j,k} \sim Dir(s_k m_k) \text{ if } z_j = 0, \quad
        \theta_{j,k} = h_j \sim Dir(\eta) \text{ for all } k \text{ if } z_j = 1

    One population for all coders would shrink spammers toward the honest coders, and honest coders
    toward the spammers. Two kinds separate them, and P(z = 1) is the probability that a coder is a
    spammer.

    Parameters
    ----------
    prevalence, population, concentration
        As in :class:`HierarchicalDawidSkene`; the population is that of the honest coders.
    share
        Prior of the proportion of spammers.
    habit
        Prior of a spammer's label distribution; values below 1 favor spammers who repeat one label.

    References
    ----------
    V. C. Raykar and S. Yu (2012). Eliminating spammers and ranking annotators for crowdsourced
    labeling tasks. JMLR 13, 491-518, which defines spammers as coders with equal rows.

    Examples
    --------
    >>> HonestAndSpammers().share
    Beta(a=1.0, b=4.0)
    """

    name: ClassVar[str] = "kinds"
    title: ClassVar[str] = "honest coders and spammers"
    citation: ClassVar[str] = "Raykar and Yu (2012)"

    population: Diagonal = field(default_factory=lambda: Diagonal(40.0, 0.7, 10.0))
    concentration: ScalePrior = field(default_factory=lambda: LogNormal(15.0, 1.0))
    share: Beta = field(default_factory=lambda: Beta(1.0, 4.0))
    habit: Proper = field(default_factory=lambda: Dirichlet(0.5))

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        return (
            *super().variables(n_labels),
            Parameter(
                "spammer_share", (), "unit", prior=self.share,
                about="A coder may instead be a spammer, whose answers do not depend on the item; "
                f"share of spammers: {self.share.in_words}.",
            ),
            Parameter(
                "spammer", ("coder",), "unit", watched="", tells_spammers=True,
                prior=lambda v: Bernoulli(v["spammer_share"][..., None]),
            ),
            Parameter(
                "habit", ("coder", "label"), "simplex", watched="",
                prior=lambda _: DirichletRows(self.habit.alpha(n_labels)[None]),
                about=f"Habits of spammers: {self.habit.in_words}.",
            ),
        )  # fmt: skip

    def start(self, counts: Floats, sizes: Floats) -> State:
        state = super().start(counts, sizes)
        said = counts.sum(axis=2) + self.habit.alpha(len(sizes))
        state.population |= {
            "spammer": np.zeros(len(counts)),
            "habit": said / said.sum(axis=1, keepdims=True),
            "spammer_share": np.array(self.share.mean),
        }
        return state

    def draw(self, counts: Floats, sizes: Floats, state: State, key: int, iteration: int) -> None:
        """Draw the spammers with rows integrated out, then all parameters (Gibbs step)."""
        from annomodels.kernels.rows import draw_parameters

        own = np.array([key, iteration], dtype=np.uint64)
        # distant from the stream of the item variables, which has the same key
        rng = np.random.Generator(np.random.Philox(key=own, counter=FAR))
        held = state.population
        odds = self.log_odds(counts, state)
        u = rng.random(len(odds))
        spammer = (u < 1.0 / (1.0 + np.exp(-np.clip(odds, -700, 700)))) & (iteration >= PATIENCE)
        held["spammer"][:] = spammer
        a, b = self.share.counts
        held["spammer_share"] = np.array(rng.beta(a + spammer.sum(), b + (~spammer).sum()))
        honest = np.flatnonzero(~spammer)
        rows = np.empty((len(honest), *counts.shape[1:]))
        draw_parameters(
            np.ascontiguousarray(counts[honest]), sizes, *self.of_rows(honest).priors(state), key,
            iteration, state.log_prevalence, rows,
        )  # fmt: skip
        state.log_confusion[honest] = rows
        # the habit of an honest coder is unused and follows its prior
        said = np.where(spammer[:, None], counts.sum(axis=2), 0.0)
        shape = np.maximum(rng.standard_gamma(self.habit.alpha(len(sizes)) + said), 1e-300)
        held["habit"][:] = shape / shape.sum(axis=1, keepdims=True)
        state.log_confusion[spammer] = np.log(held["habit"][spammer])[:, :, None]

    def collapsed(self, state: State) -> None:
        """Return None: the rows of a spammer are equal, not independent Dirichlet rows."""

    def log_odds(self, counts: Floats, state: State) -> Floats:
        """Return the log-odds [row] that a coder is a spammer, given counts [row, label, truth]."""
        q = float(state.population["spammer_share"])
        habit = log_multinomial(counts.sum(axis=2), self.habit.alpha(counts.shape[1]), axis=1)
        shapes = self._shapes(self.row_prior(state))
        own = log_multinomial(counts, np.swapaxes(shapes, -1, -2), axis=1).sum(axis=1)
        out: Floats = np.log(q) - np.log1p(-q) + habit - own
        return out

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        return np.array(
            [
                self._log_prior({name: array[[draw]] for name, array in values.items()})
                for draw in range(len(values["prevalence"]))
            ]
        )

    def _log_prior(self, values: dict[str, Floats]) -> float:
        """Return the log prior density of one draw: honest rows and spammers' habits."""
        spammer = values["spammer"][0] > 0.5
        honest = np.flatnonzero(~spammer)
        used = {
            "confusion": values["confusion"][:, honest], "habit": values["habit"][:, spammer],
        }  # fmt: skip
        return float(added(log_priors(self.of_rows(honest), {**values, **used}))[0])

    def log_rows(self, v: Variables) -> TensorLike:
        """Return the log confusion [coder, truth, label]; each row of a spammer is the habit."""
        spammer = v["spammer"][:, None, None] > 0.5
        return v.xp.log(v.xp.where(spammer, v["habit"][:, None, :], v["confusion"]))

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert one draw to the result's variables, with the habit as rows of spammers."""
        spammer = np.asarray(values["spammer"])[:, None, None] > 0.5
        rows = np.where(spammer, values["habit"][:, None, :], values["confusion"])
        return {**values, "confusion": rows}


@dataclass(frozen=True)
class Spammers(StateModel):
    """Hierarchical Dawid-Skene with spammers among the coders.

    Items are as in Dawid-Skene; :class:`HonestAndSpammers` is the model of the coders.

    Parameters
    ----------
    coders
        Model of the coders.

    Examples
    --------
    >>> Spammers().layout(3).names
    ('0', '1', '2')
    """

    name: ClassVar[str] = "spammers"
    title: ClassVar[str] = "honest coders and spammers"
    citation: ClassVar[str] = "Raykar and Yu (2012)"

    coders: ConjugateModel = field(default_factory=HonestAndSpammers)

    def layout(self, n_labels: int) -> Layout:
        eye = np.eye(n_labels)
        return Layout(tuple(map(str, range(n_labels))), eye, np.arange(n_labels), eye)

    def story(self) -> list[str]:
        return []
