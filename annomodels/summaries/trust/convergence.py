"""Findings about the run: R-hat and effective draws, modes, swaps and early stops."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.mixing import mixing
from annomodels.data.schema import Data
from annomodels.errors import Option
from annomodels.limits import (
    P_OFF,
    P_OFF_WORST,
    RESULT_DRAWS,
    RESULT_DRAWS_WORST,
    RESULT_RHAT,
    RESULT_RHAT_WORST,
)
from annomodels.models.base import Model, n_states
from annomodels.models.parameters import watched_draws, watched_names
from annomodels.summaries.draws import choices, model_of, thinned, truth_probabilities
from annomodels.summaries.notes import listed
from annomodels.summaries.trust.findings import (
    FINE,
    FORBIDS,
    REVIEW,
    Finding,
    Severity,
    finding,
    phrase,
)
from annomodels.types import Floats

FEWEST_DRAWS = 8
# most draws for the convergence of results, and cells computed for them
MOST_DRAWS, CELLS = 1000, 200_000_000
RHAT, RHAT_WORST = 1.01, 1.05
ESS, ESS_WORST = 400.0, 100.0
RELABELLED = 0.01
MANY_DIVERGED = 0.1


def convergence(tree: xr.DataTree, data: Data) -> tuple[list[str], Floats, Floats]:
    """Return R-hat and bulk ESS of watched quantities; a single chain is split in two."""
    # The accuracy of the 100 busiest coders is watched.
    posterior = tree["posterior"].to_dataset()
    draws = {str(name): values.values for name, values in posterior.data_vars.items()}
    coords = {str(dim): values.values.tolist() for dim, values in posterior.coords.items()}
    declared = model_of(tree).parameters(data.n_labels)
    names = watched_names(declared, draws, data.per_coder, coords)
    if "watched" in tree.attrs:  # statistics of all iterations; the tree keeps few of them
        noted = json.loads(tree.attrs["watched"])
        rhat, ess = np.array(noted["rhat"]), np.array(noted["ess"])
    else:
        chains = posterior.sizes["chain"]
        if posterior.sizes["draw"] // (2 if chains == 1 else 1) < FEWEST_DRAWS:
            return [], np.empty(0), np.empty(0)
        rhat, ess = mixing(watched_draws(declared, draws, data.per_coder))
    varies = np.isfinite(ess)
    # a stuck chain has no variance, so R-hat is correctly infinite
    rhat = np.nan_to_num(rhat[varies], nan=np.inf)
    return [name for name, keep in zip(names, varies, strict=True) if keep], rhat, ess[varies]


def fit_findings(tree: xr.DataTree, data: Data, results: Results | None = None) -> list[Finding]:
    """Collect findings about the run; with `results`, convergence is judged by these."""
    em = tree.attrs.get("engine") == "em"
    mixing = [finding("intervals", "none", 0, 1)] if em else _mixing(tree, data, results)
    rest = [_divergences(tree), _swapped(tree), _modes(tree, em), _stopped(tree)]
    return [*mixing, *rest, *_starts(tree)]


@dataclass(frozen=True)
class Results:
    """Convergence of reported results: wrong labels, prevalence of each class, P(truth)."""

    rhat: float
    ess: float
    # mean difference of P(truth) between one chain and all chains, beyond Monte Carlo noise
    apart: float


def results_of(tree: xr.DataTree, data: Annotations) -> Results | None:
    """Measure convergence of results; None if parameters converged or draws are too few."""
    posterior = tree["posterior"].sizes
    names, rhat, ess = convergence(tree, data)
    if not names or (rhat.max() < RHAT and ess.min() >= ESS) or not len(data):
        return None
    chains = int(posterior["chain"])
    cells = data.n_items * max(n_states(model_of(tree), data.n_labels), data.n_labels)
    most = int(np.clip(CELLS // cells, chains * FEWEST_DRAWS, MOST_DRAWS))
    draws = thinned(tree, data, most // chains * chains)
    each = len(draws) // chains
    if each < FEWEST_DRAWS:
        return None
    if len(draws) % chains:
        draws = thinned(tree, data, each * chains)
    unknown = np.flatnonzero(data.known < 0)
    best = tree["truth"].to_dataset()["p_truth"].values[unknown].argmax(axis=1)
    rng = np.random.default_rng(0)
    counts = np.empty((chains * each, 1 + data.n_labels))
    halves = np.zeros((chains, 2, data.n_items, data.n_labels))
    size = each // 2, each - each // 2
    for n, p in truth_probabilities(draws, data):
        half = int(n % each >= size[0])
        halves[n // each, half] += p / size[half]
        truth = choices(p, rng.random(data.n_items))
        counts[n, 0] = (truth[unknown] != best).sum()
        counts[n, 1:] = np.bincount(truth, minlength=data.n_labels)
    r, n_eff = mixing(counts.reshape(chains, each, -1))
    varies = np.isfinite(n_eff)
    apart = chains_apart(halves)
    if not varies.any():
        return Results(1.0, float(len(draws)), apart)
    largest = float(np.nan_to_num(r[varies], nan=np.inf).max())
    return Results(largest, float(n_eff[varies].min()), apart)


def chains_apart(halves: Floats) -> float:
    """Return the distance of P(truth) of a chain from all chains, beyond Monte Carlo noise.

    `halves` are means over the halves of each chain, shape [chain, half, item, label]. The
    difference between the halves is noise; the mean of a chain has a quarter of its variance.
    """
    mean = halves.mean(axis=1)
    off = (np.abs(mean - mean.mean(axis=0)).sum(axis=2) / 2).mean(axis=1)
    within = (np.abs(halves[:, 0] - halves[:, 1]).sum(axis=2) / 2).mean()
    noise = within / 2 * np.sqrt(1 - 1 / len(halves))
    return float(np.sqrt(np.maximum(off**2 - noise**2, 0)).max())


def _mixing(tree: xr.DataTree, data: Data, results: Results | None) -> list[Finding]:
    names, rhat, ess = convergence(tree, data)
    if not names:
        nan, limits = float("nan"), {"r_hat": RHAT, "effective_draws": ESS}
        return [finding(code, "short", nan, limit) for code, limit in limits.items()]
    worst, at = float(rhat.max()), names[int(rhat.argmax())]
    advice = _remedy(tree, data) if worst >= RHAT_WORST else _longer(tree)
    if results is not None:
        return _of_results(results, worst, at, advice)
    severity = _severity(worst >= RHAT, worst >= RHAT_WORST)
    words = {"at": at, "bad": int((rhat >= RHAT).sum()), "watched": len(names), "advice": advice}
    first = finding(
        "r_hat", "apart" if severity else "fine", worst, RHAT, severity=severity, **words
    )
    least, at = float(ess.min()), names[int(ess.argmin())]
    severity = _severity(least < ESS, least < ESS_WORST)
    state = "few" if severity else "fine"
    words = {"at": at, "advice": advice}
    return [first, finding("effective_draws", state, least, ESS, severity=severity, **words)]


def _severity(bad: bool, worst: bool) -> Severity:
    return FORBIDS if worst else REVIEW if bad else FINE


def _of_results(found: Results, parameter: float, name: str, advice: str) -> list[Finding]:
    """Judge the chains by the reported results; parameters become a detail."""
    severity = _severity(
        found.rhat >= RESULT_RHAT or found.apart >= P_OFF,
        found.rhat >= RESULT_RHAT_WORST or found.apart >= P_OFF_WORST,
    )
    state = "results_apart" if severity else "although" if parameter >= RHAT else "results"
    advice = advice if severity else phrase("r_hat", "longer")
    words = {"at": name, "parameter": parameter, "apart": found.apart, "advice": advice}
    first = finding("r_hat", state, found.rhat, RESULT_RHAT, severity=severity, **words)
    severity = _severity(found.ess < RESULT_DRAWS, found.ess < RESULT_DRAWS_WORST)
    state = "results_few" if severity else "results"
    words = {"severity": severity, "advice": advice}
    return [first, finding("effective_draws", state, found.ess, RESULT_DRAWS, **words)]


def _has_readings(model: Model) -> bool:
    """Return True for links whose solutions, with other true readings, are about as probable."""
    return model.truth == "link" and not getattr(model, "single", True)


def _longer(tree: xr.DataTree) -> str:
    model = model_of(tree)
    if _has_readings(model):
        return phrase("r_hat", "single", single=Option("model", "single"))
    # `coref` has no option for the draws of silver chains
    return phrase("r_hat", "longer_links" if model.truth == "link" else "longer")


def _remedy(tree: xr.DataTree, data: Data) -> str:
    """Advise longer chains, unless stationary chains differ: then no length is enough."""
    posterior, model = tree["posterior"].to_dataset(), model_of(tree)
    longer = _longer(tree)
    if _has_readings(model) or "watched" in tree.attrs or posterior.sizes["chain"] < 2:
        return longer
    draws = {str(name): values.values for name, values in posterior.data_vars.items()}
    seen = watched_draws(model.parameters(data.n_labels), draws, data.per_coder)
    rhat = np.nan_to_num(mixing(seen)[0], nan=1.0)
    at = [int(rhat.argmax())]
    alone = [mixing(seen[[chain]][:, :, at])[0][0] for chain in range(len(seen))]
    if not max(np.nan_to_num(alone, nan=1.0)) < RHAT_WORST:
        return longer
    return phrase("r_hat", "solutions")


def _divergences(tree: xr.DataTree) -> Finding:
    stats = tree["sample_stats"].to_dataset()
    count = int(stats["diverging"].values.sum()) if "diverging" in stats else 0
    if not count:
        return finding("divergences", "fine", 0)
    share = count / stats["diverging"].size
    severity = _severity(True, share > MANY_DIVERGED)
    return finding("divergences", "some", count, severity=severity, share=share)


def _swapped(tree: xr.DataTree) -> Finding:
    chains = _list(tree, "swapped_chains")
    share = float(tree.attrs.get("relabelled_share", 0.0))
    state = "back" if chains or share > RELABELLED else "fine"
    where = f"in chain {_numbers(chains)}" if chains else "now and then"
    return finding("swapped_classes", state, share, RELABELLED, where=where)


def _numbers(chains: list[Any]) -> str:
    return ", ".join(str(int(n) + 1) for n in chains)


def _modes(tree: xr.DataTree, em: bool) -> Finding:
    modes = _list(tree, "modes")
    if len(modes) < 2:
        return finding("modes", "fine", len(modes), 1)
    shares = ", ".join(f"{percent(mode['share'], 0)}" for mode in modes[:5])
    gap = modes[0]["lp"] - modes[1]["lp"]
    state = "kept" if em else "averaged"
    return finding("modes", state, len(modes), 1, shares=shares, gap=gap)


def _starts(tree: xr.DataTree) -> list[Finding]:
    """Judge the solutions from the census of starts, and the starts of the chains."""
    modes = _list(tree, "census")
    if not modes:
        return []
    alone = len(modes) == 1
    held = [mode for mode in modes if mode["chains"]]
    text = phrase("solutions", "one") if alone else _solutions(modes, held)
    if moved := _list(tree, "restarted"):
        text += phrase("solutions", "moved", where=_numbers(moved))
    state = "fine" if len(held) == 1 and ("votes" in modes[0]["starts"] or alone) else "several"
    return [finding("solutions", state, len(held), 1, what=text)]


def _solutions(modes: list[Any], held: list[Any]) -> str:
    best = modes[0]["evidence"]
    begun = " and ".join(f"from {listed(mode['starts'], 9)}" for mode in held)
    if len(held) > 1:
        gap = best - held[-1]["evidence"]
        return phrase("solutions", "many", n=len(held), gap=gap, begun=begun)
    lower = [mode for mode in modes[1:] if "votes" in mode["starts"]] or modes[1:]
    start = lower[0]["starts"][0]
    what = f"{start[0].upper()}{start[1:]} leads"
    what = "The votes lead" if "votes" in lower[0]["starts"] else what
    gap = best - lower[0]["evidence"]
    return phrase("solutions", "other", what=what, begun=begun, gap=gap)


def _stopped(tree: xr.DataTree) -> Finding:
    why = str(tree.attrs.get("stopped", ""))
    words = {"interrupted": "it was interrupted", "time limit": "of its time limit"}
    state = "stopped" if why else "fine"
    return finding("stopped_early", state, int(bool(why)), why=words.get(why, why))


def _list(tree: xr.DataTree, name: str) -> list[Any]:
    value = json.loads(tree.attrs.get(name, "[]"))
    return value if isinstance(value, list) else []
