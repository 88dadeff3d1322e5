"""The model of spans: priors, the Gibbs chains, and its definition in PyMC."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.mixing import ess, rhat
from annomodels.progress import Progress, silent
from annomodels.spans.groups import Groups
from annomodels.types import AnyArray, Floats

if TYPE_CHECKING:
    import pymc as pm
    from pytensor.tensor.variable import TensorVariable

# bytes of the draws of the truth of all groups; more draws are thinned
MOST_BYTES = 150_000_000
OF_GROUPS = ("truth", "truth_shape", "p_class", "p_shape")


@dataclass(frozen=True)
class SpanModel:
    """Priors of the model of spans.

    Parameters
    ----------
    other, diagonal
        Pseudo-counts of the mean confusion row: of each label, and added for the true one.
    concentration
        Median of the number of labels that the mean row counts for, log-normal with scale 1.
    exact
        Beta prior of the probability that a coder's borders are exact.
    prevalence
        Pseudo-counts of each class in the prevalence.
    evenness
        Median of the number of groups that the prevalence counts for in a context.
    attention, steadiness
        Beta prior of the share of a document that a coder attends to, on average over documents;
        and median of the number of places that the average counts for in one document.
    effects
        Medians of the effects of a data set, see :mod:`annomodels.spans.calibration`, and their
        scales: share of places that mislead the crowd, as a multiple of the share of wrong classes
        in the answers; share of borders that do, as a multiple of the share of wrong borders; and
        spans that no coder marked, as a multiple of their lower bound.
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
        """Write the model down as plain data."""
        return {"name": "spans", **asdict(self)}

    def base(self, classes: int) -> AnyArray:
        """Return the pseudo-counts of the mean rows."""
        return np.full((classes, classes), self.other) + self.diagonal * np.eye(classes)

    def pymc(self, groups: Groups) -> pm.Model:
        """Return the definition of the model, with the truth of all groups summed out.

        Parameters
        ----------
        groups
            The groups.
        """
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
    """Parameters as variables of PyMC."""

    of_context: Any
    confusion: Any
    exact: Any
    of_visit: Any


def _log_answers(groups: Groups, g: int, drawn: _Drawn) -> TensorVariable:
    """Log probability of the answers of a group, by enumeration of what may be true."""
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
class Draws:
    """Draws of all chains, and probabilities averaged over them.

    Parameters
    ----------
    posterior
        Draws by variable, each [chain, draw, ...].
    log_density
        Log probability of the answers, the truth summed out, [chain, draw].
    truth, truth_shape
        Class and candidate of each group, [draw of any chain, group].
    p_class
        P(class) of each group.
    p_shape
        P(candidate is true) of each candidate, "nothing" being the rest.
    unseen
        Number of true spans in places where no coder marked anything, [draw of any chain].
    rhat, effective
        The largest R-hat of what people use, and the smallest number of effective draws: number of
        true groups, prevalence, and exact borders of each coder.
    """

    posterior: dict[str, AnyArray]
    log_density: AnyArray
    truth: AnyArray
    truth_shape: AnyArray
    p_class: AnyArray
    p_shape: AnyArray
    unseen: AnyArray
    rhat: float
    effective: float


def start_of(groups: Groups) -> AnyArray:
    """Return the class of each group that most coders gave, ties to the labels."""
    classes = len(groups.labels) + 1
    group = np.repeat(np.arange(len(groups)), np.diff(groups.answer_first))
    votes = np.bincount(group * classes + groups.label, minlength=len(groups) * classes)
    doubled: AnyArray = votes.reshape(len(groups), classes) * 2
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
) -> Draws:
    """Draw from the posterior by Gibbs sampling.

    Parameters
    ----------
    groups, model
        Data and priors.
    seed
        Random seed.
    chains, draws, warmup
        Number of chains, iterations kept of each, and iterations before them. Draws of large data
        are thinned; probabilities are averages over all iterations.
    threads
        Number of chains that run at a time [default: all].
    progress
        Called with the share of the chains that are done.
    """
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
    true = (np.stack(each["truth"]) > 0).sum(axis=2, keepdims=True).astype(float)
    used = [np.stack(each[name]) for name in ("prevalence", "exact")]
    # attention and confusion share what a coder misses, and no table shows one of them alone
    watched = np.concatenate([true, *used], axis=2)
    return Draws(
        {name: np.stack(each[name]) for name in parameters},
        np.stack(each["log_density"]),
        np.concatenate(each["truth"]),
        np.concatenate(each["truth_shape"]),
        np.mean(each["p_class"], axis=0),
        np.mean(each["p_shape"], axis=0),
        np.zeros(chains * kept),
        _largest(rhat(watched)),
        -_largest(-ess(watched)),
    )


def _largest(values: Floats) -> float:
    """Return the largest number; NaN, of what does not vary or of one chain, is none."""
    known = values[~np.isnan(values)]
    return float(known.max()) if len(known) else float("nan")
