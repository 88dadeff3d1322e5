"""Coders who may answer "don't know": labels that are not classes, for any model of coders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model, State
from annomodels.models.conjugate import ConjugateModel
from annomodels.models.encoded import Encoded
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Beta, Dirichlet, LogNormal
from annomodels.priors.distributions import DirichletRows
from annomodels.types import AnyArray, Floats, Ints, Places, PyMCModel, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels import answering

MEAN, SPREAD, RATES = "answering", "answering_concentration", "answers"
LEAST = float(np.log(np.finfo(float).tiny))  # log probability of an impossible label


@dataclass(frozen=True)
class Answering(ConjugateModel):
    r"""Coders may give no answer, with rates that depend on the true class.

    .. math::

        m_k \sim Beta(a, b), \quad s_k \sim p(s), \quad
        d_{j,k} \sim Beta(s_k m_k, s_k (1 - m_k)), \quad
        P(y_n = l \mid c_i = k) =
        \begin{cases} d_{j,k} & \text{"don't know"} \\
        (1 - d_{j,k})\, \theta_{j,k,l} & \text{a class } l \end{cases}

    This is a factored matrix of K rows and K + 1 labels. If such a row is Dirichlet, its last entry
    is Beta and independent of the proportions of the other labels, which are again Dirichlet.
    Answers therefore follow any model of coders, with a separate rate of no answer for each coder
    and class. A "don't know" is informative if coders give it more often for some classes. Several
    kinds form a sequence: the rate of the second kind is conditional on not giving the first.

    :func:`annomodels.fit` wraps a model in it when the data have labels that are not classes.

    Parameters
    ----------
    base
        Model of the answers.
    kinds
        Labels that are not classes, in order; set by :meth:`with_data`.
    rate
        Prior of the coders' mean rates, the same for each class and kind.
    concentration
        Prior of the concentration of the coders around the mean rates, in pseudo-labels.
    coders
        Number of coders; set by :meth:`with_data`.

    References
    ----------
    R. J. Connor and J. E. Mosimann (1969). Concepts of independence for proportions with a
    generalization of the Dirichlet distribution. JASA 64, 194-206. doi:10.2307/2283728

    Examples
    --------
    >>> Answering().rate.mean
    0.1
    """

    name: ClassVar[str] = "answering"
    citation: ClassVar[str] = "doi:10.2307/2283728"

    base: ConjugateModel = field(default_factory=HierarchicalDawidSkene)
    kinds: tuple[str, ...] = ("don't know",)
    rate: Beta = field(default_factory=lambda: Beta(1.0, 9.0))
    concentration: LogNormal = field(default_factory=lambda: LogNormal(10.0, 1.0))
    coders: int = 0

    @property
    def prevalence(self) -> Dirichlet:  # type: ignore[override]
        """Prior of the prevalence of the classes."""
        return self.base.prevalence

    @property
    def title(self) -> str:  # type: ignore[override]
        """Name of the model in text."""
        return f"{self.base.title} with labels that are not classes"

    @property
    def swappable(self) -> bool:  # type: ignore[override]
        """Return True if the model also allows parameters with swapped classes."""
        return self.base.swappable

    def with_data(self, data: Annotations) -> Self:
        kinds = tuple(str(name) for name in data.dont_know)
        return replace(self, base=self.base.with_data(data), kinds=kinds, coders=data.n_coders)

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        return {"dont_know": list(self.kinds), "said": ["no", "yes"], **self.base.coords(labels)}

    def variables(self, n_labels: int) -> tuple[Parameter, ...]:
        rates = (
            Parameter(
                MEAN, ("dont_know", "truth", "said"), "simplex",
                prior=lambda _: DirichletRows(self._anchor(n_labels)[None]),
                about=f"Mean rate of the coders: {self.rate.in_words}.",
            ),
            Parameter(
                SPREAD, ("dont_know", "truth"), "pseudo-counts", prior=self.concentration,
                about=f"Concentration of the coders around it: {self.concentration.in_words}.",
            ),
            Parameter(
                RATES, ("dont_know", "coder", "truth", "said"), "simplex",
                prior=lambda v: DirichletRows((v[MEAN] * v[SPREAD][..., None])[..., None, :, :]),
            ),
        )  # fmt: skip
        return (*self.base.variables(n_labels), *rates)

    def parameters(self, n_labels: int = 2) -> tuple[Parameter, ...]:
        """Declare the variables of a result, in which the rates have a different form."""
        return self.base.parameters(n_labels)

    def draw_places(self, held: dict[str, AnyArray], spare: AnyArray) -> Places:
        return (self.base.draw_places(held, spare), held[MEAN], held[SPREAD])

    def n_coders(self, n_rows: int) -> int:
        """Return the number of coders, given the number of rows."""
        return n_rows // (len(self.kinds) + 1)

    def rows_of(self, coders: Ints, n_rows: int) -> Ints:
        first = np.arange(len(self.kinds) + 1) * self.n_coders(n_rows)
        return np.asarray((first[:, None] + coders).ravel())

    # -- parts -----------------------------------------------------------------------------------

    def _rows(self, state: State) -> int:
        return self.n_coders(len(state.log_confusion))

    def of_answers(self, state: State) -> State:
        """Return the state of the answer model, as views."""
        mine = state.log_confusion[: self._rows(state)]
        return State(state.log_prevalence, mine, state.population)

    def _rates(self, rows: Floats) -> Floats:
        """Return the rates [kind, coder, truth, said] in rows [row, label, truth]."""
        n = len(rows) // (len(self.kinds) + 1)
        parts = rows[n:].reshape(len(self.kinds), n, *rows.shape[1:])
        return np.moveaxis(parts[:, :, :2], 2, 3)

    def _together(self, answers: Floats, log_rates: Floats) -> Floats:
        """Join answers and rates [kind, coder, truth, said] into rows [row, label, truth]."""
        n, k, _ = answers.shape
        rest = np.full((len(self.kinds), n, k, k), LEAST)
        rest[:, :, :2] = np.moveaxis(log_rates, 3, 2)
        return np.ascontiguousarray(np.concatenate([answers, rest.reshape(-1, k, k)]))

    def _anchor(self, n_classes: int) -> Floats:
        """Return the pseudo-counts of the mean rates, shape [truth, said]."""
        return np.tile(self.rate.counts[::-1], (n_classes, 1))

    # -- Gibbs and EM ----------------------------------------------------------------------------

    def row_prior(self, state: State) -> Floats:
        return self.base.row_prior(self.of_answers(state))

    def source(self, state: State) -> answering.AnsweringSource:
        from annomodels.kernels import answering

        held = state.population
        return answering.AnsweringSource(
            self.base.source(self.of_answers(state)), held[MEAN], held[SPREAD],
            self._anchor(len(state.log_prevalence)), np.array(self.concentration.coefficients()),
        )  # fmt: skip

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        rows = values["confusion"]
        n, k = self.n_coders(rows.shape[1]), rows.shape[-1]
        rates = rows[:, n:].reshape(len(rows), len(self.kinds), n, k, k)[..., :2]
        return super().log_prior({**values, "confusion": rows[:, :n], RATES: rates})

    def start(self, counts: Floats, sizes: Floats) -> State:
        from annomodels.models.population import population_mode

        k, said = len(sizes), self._rates(np.asarray(counts, dtype=float))
        anchor, scale = self._anchor(k), self.concentration
        parts = [population_mode(np.moveaxis(n, 2, 1), anchor, scale) for n in said]
        mean, concentration = (np.stack(values) for values in zip(*parts, strict=True))
        n = len(counts) // (len(self.kinds) + 1)
        held = {MEAN: mean, SPREAD: concentration}
        return self._at_mode(self.base.start(counts[:n], sizes), said, held)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        n = self._rows(state)
        answers = self.base.maximise(counts[:n], sizes, self.of_answers(state))
        held = {name: state.population[name] for name in (MEAN, SPREAD)}
        return self._at_mode(answers, self._rates(counts), held)

    def _at_mode(self, answers: State, said: Floats, held: dict[str, Floats]) -> State:
        total = said + (held[SPREAD][:, :, None] * held[MEAN])[:, None]
        log_rates = np.log(total / total.sum(axis=-1, keepdims=True))
        rows = self._together(answers.log_confusion, log_rates)
        return State(answers.log_prevalence, rows, {**answers.population, **held})

    def log_penalty(self, state: State) -> float:
        held = state.population
        pseudo = (held[SPREAD][:, :, None] * held[MEAN])[:, None]
        rates = float((pseudo * self._rates(state.log_confusion)).sum())
        return self.base.log_penalty(self.of_answers(state)) + rates

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        """Estimate the log mass of a mode; the rates contribute only their log prior."""
        n, answers = self._rows(state), self.of_answers(state)
        rates = self.log_penalty(state) - self.base.log_penalty(answers)
        return self.base.log_evidence(counts[:n], sizes, log_likelihood, answers) + rates

    def kept_values(self, state: State) -> dict[str, Floats]:
        """Return the values that engines keep, with rows of answers and rates as one variable."""
        rows = np.exp(np.transpose(state.log_confusion, (0, 2, 1)))
        return {
            **self.base.kept_values(self.of_answers(state)),
            **state.population,
            "confusion": rows,
        }

    # -- PyMC ------------------------------------------------------------------------------------

    def build(self, codes: Encoded, coords: dict[str, list[str]]) -> PyMCModel:
        n = codes.n_rows // (len(self.kinds) + 1)
        return super().build(codes, {**coords, "coder": list(coords["coder"][:n])})

    def log_rows(self, v: Variables) -> TensorLike:
        """Return the log rows [row, truth, label] of answers, then of rates."""
        k = v.n_labels
        rates = v.xp.reshape(v.xp.log(v[RATES]), (-1, k, 2))
        if k > 2:  # impossible labels of a row of rates
            never = v.xp.zeros_like(rates[..., :1]) + np.full(k - 2, LEAST)
            rates = v.xp.concatenate([rates, never], axis=2)
        return v.xp.concatenate([self.base.log_rows(v), rates], axis=0)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        rates = np.exp(self._rates(state.log_confusion))
        return {**state.population, **self.base.pymc_start(self.of_answers(state)), RATES: rates}

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert one draw of the PyMC variables to the format of all engines."""
        out = dict(values)
        rates, answers = out.pop(RATES), out["confusion"]
        k = answers.shape[-1]
        rest = np.zeros((rates.shape[0] * rates.shape[1], k, k))
        rest[..., :2] = rates.reshape(-1, k, 2)
        out["confusion"] = np.concatenate([answers, rest])
        return out

    def result_draws(self, posterior: dict[str, Floats]) -> dict[str, Floats]:
        """Return the variables of a result, with separate rows of answers."""
        # no_answer [coder, truth, kind] is the rate of each kind among all requests to a coder,
        # no_answer_mean [truth, kind] its population mean
        out = dict(posterior)
        rows = out["confusion"]
        n, k = self.n_coders(rows.shape[2]), rows.shape[-1]
        out["confusion"] = np.ascontiguousarray(rows[:, :, :n])
        given = rows[:, :, n:].reshape(*rows.shape[:2], len(self.kinds), n, k, k)[..., 1]
        out["no_answer"] = _of_all(given)
        out["no_answer_mean"] = _of_all(out.pop(MEAN)[..., 1])
        out["no_answer_concentration"] = np.moveaxis(out.pop(SPREAD), 2, -1)
        return out

    def story(self) -> list[str]:
        kinds = ", ".join(self.kinds)
        return [
            *self.base.story(),
            f"Coders may give no answer ({kinds}), each with a separate rate for each class.",
        ]


def answers_of(model: Model) -> Model:
    """Return the model of the answers, which a result names."""
    return model.base if isinstance(model, Answering) else model


def result_draws(model: Model, posterior: dict[str, Floats]) -> dict[str, Floats]:
    """Convert the draws of an engine, [chain, draw, ...], to the draws of a result."""
    return model.result_draws(posterior) if isinstance(model, Answering) else posterior


def of_coders(model: Model, volume: Floats) -> Floats:
    """Return the volume of the rows that are of coders' answers, shape [coder]."""
    return volume[: model.n_coders(len(volume))] if isinstance(model, Answering) else volume


def _of_all(given: Floats) -> Floats:
    """Convert conditional rates to unconditional rates of each kind, on the last axis."""
    before = np.cumprod(1.0 - given, axis=2)
    before = np.concatenate([np.ones_like(before[:, :, :1]), before[:, :, :-1]], axis=2)
    return np.ascontiguousarray(np.moveaxis(given * before, 2, -1))
