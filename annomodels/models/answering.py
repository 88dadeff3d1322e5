"""Coders who may answer "don't know": labels that are not classes, for any model of coders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model, State
from annomodels.models.conjugate import ConjugateModel, log_shares
from annomodels.models.hierarchical import HierarchicalDawidSkene
from annomodels.models.parameters import Known, Parameter, Variables
from annomodels.models.states import SMALLEST
from annomodels.priors import Beta, Dirichlet, LogNormal
from annomodels.priors.distributions import DirichletRows
from annomodels.types import AnyArray, Floats, Places, TensorLike

if TYPE_CHECKING:
    from annomodels.kernels import answering

MEAN, SPREAD, RATES = "answering", "answering_concentration", "answers"


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
        return replace(self, base=self.base.with_data(data), kinds=kinds)

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

    # -- parts -----------------------------------------------------------------------------------

    def of_answers(self, state: State) -> State:
        """Return the state of the answer model, with the population as views."""
        answers = state.log_confusion[:, : len(state.log_prevalence)]
        return State(state.log_prevalence, log_shares(answers, 1), state.population)

    def _joined(self, answers: TensorLike, rates: TensorLike, xp: ModuleType = np) -> TensorLike:
        """Join log P(class | answer) [coder, truth, label] and log rates to rows of all labels."""
        left: TensorLike = np.zeros(1)
        kinds = []
        for m in range(len(self.kinds)):
            kinds.append(left + rates[m, ..., 1:])
            left = left + rates[m, ..., :1]
        # a coder who hardly ever answers keeps rows of answers
        left = xp.maximum(left, np.log(SMALLEST))
        return xp.concatenate([answers + left, *kinds], axis=-1)

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
            np.log(SMALLEST),
        )  # fmt: skip

    def log_prior(self, values: dict[str, Floats]) -> Floats:
        answers, rates = _parts(values["confusion"])
        return super().log_prior({**values, "confusion": answers, RATES: rates})

    def start(self, counts: Floats, sizes: Floats) -> State:
        from annomodels.models.population import population_mode

        k, said = len(sizes), _said(_rows(counts))
        anchor, scale = self._anchor(k), self.concentration
        parts = [population_mode(np.moveaxis(n, 2, 1), anchor, scale) for n in said]
        mean, concentration = (np.stack(values) for values in zip(*parts, strict=True))
        held = {MEAN: mean, SPREAD: concentration}
        return self._at_mode(self.base.start(counts[:, :k], sizes), said, held)

    def maximise(self, counts: Floats, sizes: Floats, state: State) -> State:
        answers = self.base.maximise(counts[:, : len(sizes)], sizes, self.of_answers(state))
        held = {name: state.population[name] for name in (MEAN, SPREAD)}
        return self._at_mode(answers, _said(_rows(counts)), held)

    def _at_mode(self, answers: State, said: Floats, held: dict[str, Floats]) -> State:
        total = said + (held[SPREAD][:, :, None] * held[MEAN])[:, None]
        log_rates = np.log(total / total.sum(axis=-1, keepdims=True))
        rows = _rows(self._joined(_rows(answers.log_confusion), log_rates))
        population = {**answers.population, **held}
        return State(answers.log_prevalence, np.ascontiguousarray(rows), population)

    def log_penalty(self, state: State) -> float:
        held = state.population
        pseudo = (held[SPREAD][:, :, None] * held[MEAN])[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # EM rejects a leap that is too long
            _, rates = _parts(_rows(np.exp(state.log_confusion)))
            of_rates = float((pseudo * np.log(rates)).sum())
        return self.base.log_penalty(self.of_answers(state)) + of_rates

    def log_evidence(
        self, counts: Floats, sizes: Floats, log_likelihood: float, state: State
    ) -> float:
        """Estimate the log mass of a mode; the rates contribute only their log prior."""
        answers = self.of_answers(state)
        rates = self.log_penalty(state) - self.base.log_penalty(answers)
        classes = counts[:, : len(sizes)]
        return self.base.log_evidence(classes, sizes, log_likelihood, answers) + rates

    def kept_values(self, state: State) -> dict[str, Floats]:
        """Return the values that engines keep, with rows of all labels."""
        return {
            **self.base.kept_values(self.of_answers(state)),
            **state.population,
            "confusion": _rows(np.exp(state.log_confusion)),
        }

    # -- PyMC ------------------------------------------------------------------------------------

    def log_rows(self, v: Variables) -> TensorLike:
        """Return the log rows [coder, truth, label] of all labels."""
        return self._joined(self.base.log_rows(v), v.xp.log(v[RATES]), v.xp)

    def pymc_start(self, state: State) -> dict[str, Floats]:
        _, rates = _parts(_rows(np.exp(state.log_confusion)))
        return {**state.population, **self.base.pymc_start(self.of_answers(state)), RATES: rates}

    def result_values(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Convert one draw of the PyMC variables to the format of all engines."""
        k = len(values["prevalence"])
        with np.errstate(divide="ignore"):  # log of zero probabilities
            rows = np.exp(self.log_rows(Known(self.variables(k), k, values)))
        others = {name: value for name, value in values.items() if name != RATES}
        return {**others, "confusion": rows}

    def result_draws(self, posterior: dict[str, Floats]) -> dict[str, Floats]:
        """Return the variables of a result, with separate rows of answers."""
        # no_answer [coder, truth, kind] is the rate of each kind among all requests to a coder,
        # no_answer_mean [truth, kind] its population mean
        out = dict(posterior)
        rows = out["confusion"]
        out["confusion"], _ = _parts(rows)
        out["no_answer"] = np.ascontiguousarray(rows[..., rows.shape[-2] :])
        given = out.pop(MEAN)[..., 1]
        before = np.cumprod(1.0 - given, axis=2)
        before = np.concatenate([np.ones_like(before[:, :, :1]), before[:, :, :-1]], axis=2)
        out["no_answer_mean"] = np.ascontiguousarray(np.moveaxis(given * before, 2, -1))
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


def uses_unanswered(model: Model) -> bool:
    """Return True if a model learns from labels that are no classes."""
    return isinstance(model, Answering)


def result_draws(model: Model, posterior: dict[str, Floats]) -> dict[str, Floats]:
    """Convert the draws of an engine, [chain, draw, ...], to the draws of a result."""
    return model.result_draws(posterior) if isinstance(model, Answering) else posterior


def _rows(table: TensorLike) -> Floats:
    """Swap the last two axes: [coder, label, truth] is the order in a state."""
    return np.swapaxes(table, -1, -2)


def _said(rows: Floats) -> Floats:
    """Sum rows [..., coder, truth, label] by whether a label is of a kind, or comes after it.

    Returns shape [..., kind, coder, truth, said].
    """
    k, pairs = rows.shape[-2], []
    later = rows[..., :k].sum(axis=-1)
    for code in reversed(range(k, rows.shape[-1])):
        pairs.append(np.stack([later, rows[..., code]], axis=-1))
        later = later + rows[..., code]
    return np.stack(pairs[::-1], axis=-4)


def _parts(rows: Floats) -> tuple[Floats, Floats]:
    """Return P(class | answer) [..., coder, truth, label] and rates [..., kind, ..., said]."""
    answers, said = rows[..., : rows.shape[-2]], _said(rows)
    return answers / answers.sum(axis=-1, keepdims=True), said / said.sum(axis=-1, keepdims=True)
