"""Span model: priors, Gibbs chains, PyMC definition, and calibration for shared errors."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, ndtri

from annomodels.progress import Progress, silent
from annomodels.spans.groups import Groups
from annomodels.types import AnyArray, Floats

if TYPE_CHECKING:
    import pymc as pm
    from pytensor.tensor.variable import TensorVariable


# maximum size of all draws, in bytes; larger samples are thinned
MOST_BYTES = 150_000_000
OF_GROUPS = ("truth", "truth_shape", "p_class", "p_shape")


@dataclass(frozen=True)
class SpanModel:
    """Priors of the span model.

    Parameters
    ----------
    other, diagonal
        Pseudo-counts of the mean confusion row: for each label, and in addition for the true label.
    concentration
        Median concentration around the mean row, in pseudo-labels; log-normal with scale 1.
    exact
        Beta prior of the probability that a coder's borders are exact.
    prevalence
        Pseudo-counts of each class in the prevalence.
    evenness
        Median concentration of contexts around the prevalence, in pseudo-groups.
    attention, steadiness
        Beta prior of the mean share of a document that a coder attends to; and median
        concentration of documents around this mean, in pseudo-places.
    effects
        Medians of the three effects of a data set, then their scales, see
        :func:`calibrated`: share of places with a shared wrong class, as a
        multiple of the share of wrong classes in the answers; share of places with shared wrong
        borders, as a multiple of the share of wrong borders; and number of spans that no coder
        marked, as a multiple of its lower bound.
    """

    other: float = 0.3
    diagonal: float = 6.0
    concentration: float = 8.0
    exact: tuple[float, float] = (6.0, 2.0)
    prevalence: float = 1.0
    evenness: float = 8.0
    attention: tuple[float, float] = (4.0, 1.0)
    steadiness: float = 8.0
    effects: tuple[float, ...] = (0.2, 0.1, 1.0, 2.5, 2.5, 1.5)

    def to_dict(self) -> dict[str, object]:
        return {"name": "spans", **asdict(self)}

    def base(self, classes: int) -> AnyArray:
        """Return the pseudo-counts of the mean rows."""
        return np.full((classes, classes), self.other) + self.diagonal * np.eye(classes)

    def pymc(self, groups: Groups) -> pm.Model:
        """Return the PyMC model, with the truth of all groups summed out."""
        import pymc as pm
        import pytensor.tensor as pt

        classes, coders = len(groups.labels) + 1, len(groups.coders)
        contexts, visits = int(groups.context.max()) + 1, np.diff(groups.visit_first)
        with pm.Model() as model:
            overall = pm.Dirichlet("prevalence", np.full(classes, self.prevalence))
            even = pm.LogNormal("evenness", math.log(self.evenness), 1)
            of_context = pm.Dirichlet("of_context", even * overall, shape=(contexts, classes))
            s = pm.LogNormal("concentration", math.log(self.concentration), 1, shape=classes)
            rows = []
            for k, prior in enumerate(self.base(classes)):
                base = pm.Dirichlet(f"base_{k}", prior)
                rows.append(pm.Dirichlet(f"confusion_{k}", s[k] * base, shape=(coders, classes)))
            exact = pm.Beta("exact", *self.exact, shape=coders)
            attentive = pm.Beta("attentive", *self.attention, shape=coders)
            steady = pm.LogNormal("steadiness", math.log(self.steadiness), 1, shape=coders)
            coder = np.repeat(np.arange(coders), visits)
            shapes = steady[coder] * attentive[coder], steady[coder] * (1 - attentive[coder])
            of_visit = pm.Beta("of_visit", *shapes, shape=len(coder))
            drawn = _Drawn(of_context, pt.stack(rows, axis=1), exact, of_visit)
            terms = [_log_answers(groups, g, drawn) for g in range(len(groups))]
            pm.Potential("answers", pt.sum(pt.stack(terms)))
        return model


@dataclass(frozen=True, eq=False)
class _Drawn:
    of_context: Any
    confusion: Any
    exact: Any
    of_visit: Any


def _log_answers(groups: Groups, g: int, drawn: _Drawn) -> TensorVariable:
    """Return the log probability of the answers of a group, by enumeration of the truth."""
    import pytensor.tensor as pt

    answers = range(groups.answer_first[g], groups.answer_first[g + 1])
    first, size = groups.shape_first[g], groups.shape_first[g + 1] - groups.shape_first[g]

    def given(k: int) -> TensorVariable:
        total = pt.log(drawn.of_context[groups.context[g], k])
        for a in answers:
            attends = drawn.of_visit[groups.visit[a]]
            p = attends * drawn.confusion[groups.coder[a], k, groups.label[a]]
            total += pt.log(p if groups.label[a] else p + 1 - attends)
        return total

    def borders(s: int) -> TensorVariable:
        total = pt.as_tensor(groups.log_shape[first + s])
        for a in answers:
            if groups.label[a]:
                b = drawn.exact[groups.coder[a]]
                wrong = pt.log1p(-b) + groups.log_other[g]
                total += pt.log(b) if s == groups.shape[a] else wrong
        return total

    known, shape = groups.known[g], groups.known_shape[g]
    labels = range(1, len(groups.labels) + 1) if known < 0 else [known] * int(known > 0)
    terms = [given(k) + borders(s) for k in labels for s in (range(size) if known < 0 else [shape])]
    if known <= 0:
        terms.append(given(0) + groups.log_nothing[g])
    return pt.logsumexp(pt.stack(terms))


@dataclass(frozen=True, eq=False)
class SpanDraws:
    """Draws of all chains, and probabilities averaged over the draws."""

    posterior: dict[str, AnyArray]  # by variable, each [chain, draw, ...]
    log_density: AnyArray  # of the answers, with the truth summed out [chain, draw]
    truth: AnyArray  # class and candidate of each group [draw of any chain, group]
    truth_shape: AnyArray
    p_class: AnyArray  # [group, class]
    p_shape: AnyArray  # P(candidate is true); the remainder is P("nothing") [candidate]
    unseen: AnyArray  # number of true spans in places without marks [draw of any chain]


def start_of(groups: Groups) -> AnyArray:
    """Return the majority class of each group; a label wins a tie with "nothing"."""
    doubled: AnyArray = groups.votes * 2
    doubled[:, 0] -= 1
    chosen: AnyArray = doubled.argmax(axis=1)
    return chosen


def sample(
    groups: Groups,
    model: SpanModel,
    *,
    seed: int,
    chains: int,
    draws: int,
    warmup: int,
    threads: int | None = None,
    progress: Progress = silent,
) -> SpanDraws:
    # Draws of large data are thinned; probabilities are averages over all iterations after warmup.
    from annomodels.kernels.spans import run_chain

    classes, coders, n = len(groups.labels) + 1, len(groups.coders), len(groups)
    cells = 4 * n + 4 * coders * classes * classes
    kept = max(min(draws, MOST_BYTES // (cells * chains)), min(draws, 25))
    thin = -(-draws // kept)
    kept = -(-draws // thin)
    keys = np.random.SeedSequence(seed).generate_state(chains, np.uint64)
    base = model.base(classes)
    centers = np.log([model.concentration, model.evenness, model.steadiness])
    start, contexts = start_of(groups), int(groups.context.max()) + 1

    def run(chain: int) -> dict[str, AnyArray]:
        out: dict[str, AnyArray] = {
            "prevalence": np.empty((kept, classes)),
            "evenness": np.empty(kept),
            "confusion": np.empty((kept, coders, classes, classes), np.float32),
            "base": np.empty((kept, classes, classes)),
            "concentration": np.empty((kept, classes)),
            "exact": np.empty((kept, coders)),
            "attentive": np.empty((kept, coders)),
            "steadiness": np.empty((kept, coders)),
            "log_density": np.empty(kept),
            "truth": np.empty((kept, n), np.int16),
            "truth_shape": np.empty((kept, n), np.int16),
            "p_class": np.zeros((n, classes)),
            "p_shape": np.zeros(len(groups.shapes)),
        }
        run_chain(
            keys[chain], warmup, kept, thin, groups.context, contexts,
            groups.answer_first, groups.coder, groups.visit, groups.visit_first, groups.label,
            groups.shape, groups.shape_first,
            groups.log_other, groups.log_shape, groups.log_nothing, groups.known,
            groups.known_shape, start, base, centers, np.array(model.exact),
            np.full(classes, model.prevalence), np.array(model.attention), *out.values(),
        )  # fmt: skip
        return out

    results = []
    progress("sampling", 0.0, "")
    with ThreadPoolExecutor(max(1, threads or chains)) as pool:
        for done in pool.map(run, range(chains)):
            results.append(done)
            progress("sampling", len(results) / chains, "")
    each = {name: [result[name] for result in results] for name in results[0]}
    parameters = [name for name in each if name not in ("log_density", *OF_GROUPS)]
    return SpanDraws(
        {name: np.stack(each[name]) for name in parameters},
        np.stack(each["log_density"]),
        np.concatenate(each["truth"]),
        np.concatenate(each["truth_shape"]),
        np.mean(each["p_class"], axis=0),
        np.mean(each["p_shape"], axis=0),
        np.zeros(chains * kept),
    )


def calibrated(groups: Groups, draws: SpanDraws, model: SpanModel, seed: int) -> SpanDraws:
    """Return the draws of the Gibbs chains with shared errors of the coders added."""
    # Coder errors are correlated: a name that misleads one coder misleads others, and all coders
    # miss a span that is easy to overlook. A posterior that assumes independent errors is therefore
    # overconfident, even with many coders. As in the stack of models for items, the rates of shared
    # errors are unknown effects of the data set, with priors from public data with known truth.
    rng = np.random.default_rng([seed, 1])
    n, count = draws.truth.shape
    wrong_class, wrong_border = error_rates(groups, draws)
    # evenly spaced quantiles of the normal distribution, so that tails are covered
    normal, spread = ndtri((np.arange(n) + 0.5) / n), model.effects[3:]
    misled, shifted = (
        expit(logit(np.clip(times * rate, 1e-4, 0.6)) + sd * rng.permutation(normal))
        for times, rate, sd in zip(model.effects, (wrong_class, wrong_border), spread, strict=False)
    )
    given, sizes = answers_given(groups), np.diff(groups.shape_first)
    ends = np.cumsum(given, axis=1)
    unknown = groups.known < 0
    truth, shape = draws.truth.copy(), draws.truth_shape.copy()
    for d in range(n):
        other = unknown & (rng.random(count) < misled[d])
        drawn: AnyArray = np.asarray((ends < rng.random((count, 1))).sum(axis=1))
        truth[d, other] = drawn[other]
        other = unknown & (rng.random(count) < shifted[d])
        shape[d, other] = np.floor(rng.random(count) * sizes).astype(np.int16)[other]
    u, b = np.where(unknown, misled.mean(), 0.0), np.where(unknown, shifted.mean(), 0.0)
    p_class = (1 - u[:, None]) * draws.p_class + u[:, None] * given
    group = np.repeat(np.arange(count), sizes)
    alone = draws.p_shape / np.maximum(1 - draws.p_class[:, 0], 1e-12)[group]
    p_shape = ((1 - b[group]) * alone + b[group] / sizes[group]) * (1 - p_class[group, 0])
    unseen = unseen_spans(groups, truth) * np.exp(
        np.log(model.effects[2]) + spread[2] * rng.permutation(normal)
    )
    return replace(
        draws, truth=truth, truth_shape=shape, p_class=p_class, p_shape=p_shape, unseen=unseen
    )


def error_rates(groups: Groups, draws: SpanDraws) -> tuple[float, float]:
    """Return the share of answers with a wrong class, and of marks with wrong borders."""
    group = groups.of_answer
    right = float(draws.p_class[group, groups.label].mean())
    marked = groups.label > 0
    shape = draws.p_shape[groups.shape_first[group[marked]] + groups.shape[marked]]
    present = 1 - draws.p_class[group[marked], 0]
    return 1 - right, 1 - float(shape.sum() / max(present.sum(), 1e-12))


def answers_given(groups: Groups) -> Floats:
    """Return the uniform distribution over the classes given in each group, [group, class]."""
    given = (groups.votes > 0).astype(float)
    given[given.sum(axis=1) == 0, 0] = 1.0  # no coder saw it
    return np.asarray(given / given.sum(axis=1, keepdims=True))


def unseen_spans(groups: Groups, truth: AnyArray) -> Floats:
    """Estimate the number of unmarked true spans from the spans marked once and twice.

    References
    ----------
    A. Chao (1987). Estimating the population size for capture-recapture data with unequal
    catchability. Biometrics 43, 783-791, doi:10.2307/2531532.
    """
    marks, seen = groups.votes[:, 1:].sum(axis=1), np.diff(groups.answer_first)
    once = ((truth > 0) & (marks == 1) & (seen > 1)).sum(axis=1).astype(float)
    twice = ((truth > 0) & (marks == 2)).sum(axis=1)
    return np.asarray(once * np.maximum(once - 1, 0) / (2 * (twice + 1)))
