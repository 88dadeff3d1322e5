"""Findings about the run: R-hat and effective draws of what is watched, modes, swaps, stops."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
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
from annomodels.models.parameters import watched_draws, watched_names
from annomodels.summaries.draws import choices, model_of, thinned, truth_probabilities
from annomodels.summaries.trust.findings import COMPUTED, FINE, FORBIDS, REVIEW, Finding
from annomodels.types import Floats

FEWEST_DRAWS = 8
# draws of the results, at most, and cells that are computed for them
MOST_DRAWS, CELLS = 1000, 200_000_000
RHAT, RHAT_WORST = 1.01, 1.05
ESS, ESS_WORST = 400.0, 100.0
RELABELLED = 0.01
LONGER = "Run longer chains (more draws)."
SOLUTIONS = (
    "The chains stay in different solutions, so more draws do not help: known labels of a few "
    "items, or labels by further coders, tell the solutions apart."
)
ONE_ESTIMATE = (
    "The engine em gives one estimate without intervals, enough for a first look. "
    "Fit with gibbs or nuts before you rely on probabilities."
)


def convergence(tree: xr.DataTree, data: Data) -> tuple[list[str], Floats, Floats]:
    """Return R-hat and bulk effective sample size of what is watched; one chain is cut in two."""
    # Coders are watched by the accuracy of the hundred busiest.
    posterior = tree["posterior"].to_dataset()
    draws = {str(name): values.values for name, values in posterior.data_vars.items()}
    coords = {str(dim): values.values.tolist() for dim, values in posterior.coords.items()}
    declared = model_of(tree).parameters(data.n_labels)
    names = watched_names(declared, draws, data.per_coder, coords)
    if "watched" in tree.attrs:  # every iteration, of which the tree keeps few
        noted = json.loads(tree.attrs["watched"])
        rhat, ess = np.array(noted["rhat"]), np.array(noted["ess"])
    else:
        chains = posterior.sizes["chain"]
        if posterior.sizes["draw"] // (2 if chains == 1 else 1) < FEWEST_DRAWS:
            return [], np.empty(0), np.empty(0)
        rhat, ess = mixing(watched_draws(declared, draws, data.per_coder))
    varies = np.isfinite(ess)
    # a chain that stands still has no variance: R-hat is then infinite, which is the right answer
    rhat = np.nan_to_num(rhat[varies], nan=np.inf)
    return [name for name, keep in zip(names, varies, strict=True) if keep], rhat, ess[varies]


def fit_findings(tree: xr.DataTree, data: Data, results: Results | None = None) -> list[Finding]:
    """Look at what the run itself says about its results; `results` mix apart from parameters."""
    em = tree.attrs.get("engine") == "em"
    only = Finding("intervals", 0, 1, ONE_ESTIMATE, REVIEW, effect="No number has an interval.")
    out = [only] if em else _mixing(tree, data, results)
    out += [_divergences(tree), _swapped(tree), _modes(tree, em), _stopped(tree), *_starts(tree)]
    return [replace(finding, lamp=COMPUTED) for finding in out]


@dataclass(frozen=True)
class Results:
    """How the numbers that people use mix: wrong labels, the share of each class, P(truth)."""

    rhat: float
    ess: float
    # difference of P(truth) between a chain and all, mean over items, beyond the noise of the draws
    apart: float


def results_of(tree: xr.DataTree, data: Annotations) -> Results | None:
    """Measure whether chains agree on results; None where parameters already do, or too few."""
    posterior = tree["posterior"].sizes
    names, rhat, ess = convergence(tree, data)
    if not names or (rhat.max() < RHAT and ess.min() >= ESS) or not len(data):
        return None
    chains = int(posterior["chain"])
    cells = data.n_items * max(model_of(tree).n_states(data.n_labels), data.n_labels)
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
    """Return how far P(truth) of a chain is from all, beyond the noise of its draws.

    `halves` are means over the halves of each chain, shape [chain, half, item, label]. What the
    halves of a chain differ by is noise: a chain has a quarter of its variance.
    """
    mean = halves.mean(axis=1)
    off = (np.abs(mean - mean.mean(axis=0)).sum(axis=2) / 2).mean(axis=1)
    within = (np.abs(halves[:, 0] - halves[:, 1]).sum(axis=2) / 2).mean()
    noise = within / 2 * np.sqrt(1 - 1 / len(halves))
    return float(np.sqrt(np.maximum(off**2 - noise**2, 0)).max())


def _mixing(tree: xr.DataTree, data: Data, results: Results | None) -> list[Finding]:
    names, rhat, ess = convergence(tree, data)
    if not names:
        sentence = f"Too few draws to see whether the chains agree. {LONGER}"
        nan, effect = float("nan"), "No number can be relied on."
        return [
            Finding("R-hat", nan, RHAT, sentence, FORBIDS, effect=effect),
            Finding("effective draws", nan, ESS, sentence, FORBIDS, effect=effect),
        ]
    if results is not None:
        return _of_results(results, float(rhat.max()), names[int(rhat.argmax())])
    worst, at = float(rhat.max()), names[int(rhat.argmax())]
    severity = FORBIDS if worst >= RHAT_WORST else REVIEW if worst >= RHAT else FINE
    text = f"The chains agree: R-hat is at most {worst:.3f}."
    effect = ""
    if severity:
        n_bad = int((rhat >= RHAT).sum())
        effect = "Numbers depend on the chain."
        text = (
            f"The chains do not agree: R-hat of the {at} is {worst:.3f}, and {n_bad} of "
            f"{len(names)} watched parameters are at or above {RHAT}. "
            f"{_remedy(tree, data) if worst >= RHAT_WORST else LONGER}"
        )
    found = [Finding("R-hat", worst, RHAT, text, severity, effect=effect)]
    least, at = float(ess.min()), names[int(ess.argmin())]
    severity = FORBIDS if least < ESS_WORST else REVIEW if least < ESS else FINE
    text = f"The draws are worth at least {least:,.0f} independent ones."
    effect = ""
    if severity:
        effect = "Intervals are rough."
        text = (
            f"The draws are worth only {least:,.0f} independent ones for the {at}; intervals need "
            f"{ESS:.0f}. {LONGER}"
        )
    return [*found, Finding("effective draws", least, ESS, text, severity, effect=effect)]


def _of_results(found: Results, parameter: float, name: str) -> list[Finding]:
    """Judge the chains by the numbers that people use; parameters become a detail."""
    worst = found.rhat >= RESULT_RHAT_WORST or found.apart >= P_OFF_WORST
    bad = found.rhat >= RESULT_RHAT or found.apart >= P_OFF
    severity = FORBIDS if worst else REVIEW if bad else FINE
    at = f"R-hat of the {name} is {parameter:.3f}"
    if severity:
        effect = "Gold labels, wrong labels or shares depend on the chain."
        text = (
            f"The chains do not agree: P(truth) differs by {found.apart:.3f} on average over "
            f"items, R-hat of wrong labels and shares is up to {found.rhat:.3f}; {at}. {LONGER}"
        )
    else:
        effect = ""
        text = (
            f"P(truth), wrong labels and shares agree between chains (R-hat at most "
            f"{found.rhat:.3f})" + (f", although {at}." if parameter >= RHAT else ".")
        )
    first = Finding(
        "R-hat", found.rhat, RESULT_RHAT, text, severity, effect=effect, noted=not severity
    )
    few = found.ess < RESULT_DRAWS
    severity = FORBIDS if found.ess < RESULT_DRAWS_WORST else REVIEW if few else FINE
    text = f"The draws are worth at least {found.ess:,.0f} independent ones for the results."
    if severity:
        text = (
            f"The draws are worth only {found.ess:,.0f} independent ones for wrong labels and "
            f"shares; intervals need {RESULT_DRAWS:.0f}. {LONGER}"
        )
    effect = "Intervals are rough." if severity else ""
    return [
        first,
        Finding("effective draws", found.ess, RESULT_DRAWS, text, severity, effect=effect),
    ]


def _remedy(tree: xr.DataTree, data: Data) -> str:
    """Advise longer chains, unless chains that do not move differ: then no length is enough."""
    posterior, model = tree["posterior"].to_dataset(), model_of(tree)
    if model.truth == "link" and not getattr(model, "single", True):
        # whose readings are true is open between solutions that are about equally probable
        single = Option("model", "single")
        return f"More draws seldom help here. Use {single}: one reading of a mention is true."
    if "watched" in tree.attrs or posterior.sizes["chain"] < 2:
        return LONGER
    draws = {str(name): values.values for name, values in posterior.data_vars.items()}
    seen = watched_draws(model.parameters(data.n_labels), draws, data.per_coder)
    rhat = np.nan_to_num(mixing(seen)[0], nan=1.0)
    at = [int(rhat.argmax())]
    alone = [mixing(seen[[chain]][:, :, at])[0][0] for chain in range(len(seen))]
    if not max(np.nan_to_num(alone, nan=1.0)) < RHAT_WORST:
        return LONGER
    return SOLUTIONS


def _divergences(tree: xr.DataTree) -> Finding:
    stats = tree["sample_stats"].to_dataset()
    count = int(stats["diverging"].values.sum()) if "diverging" in stats else 0
    if not count:
        return Finding("divergences", 0, 0, "No draw diverged.")
    share = count / stats["diverging"].size
    text = (
        f"{count} draws ({percent(share, 1)}) diverged: parts of the posterior may be missing. "
        "Run a longer warm-up, or use the engine gibbs if the model supports it."
    )
    effect = "Intervals may be too narrow."
    severity = FORBIDS if share > 0.1 else REVIEW
    return Finding("divergences", count, 0, text, severity, effect=effect)


def _swapped(tree: xr.DataTree) -> Finding:
    chains = _list(tree, "swapped_chains")
    share = float(tree.attrs.get("relabelled_share", 0.0))
    if not chains and share <= RELABELLED:
        return Finding("swapped classes", share, RELABELLED, "No chain swapped the classes.")
    where = f"in chain {', '.join(str(int(n) + 1) for n in chains)}" if chains else "now and then"
    text = (
        f"The classes were swapped {where} ({percent(share, 0)} of the draws) and were put back in "
        "order. The data hardly identify the classes: known labels of a few items would."
    )
    effect = "Classes of the gold labels may be swapped."
    return Finding("swapped classes", share, RELABELLED, text, REVIEW, effect=effect)


def _modes(tree: xr.DataTree, em: bool) -> Finding:
    modes = _list(tree, "modes")
    if len(modes) < 2:
        return Finding("modes", len(modes), 1, "All chains found the same solution.")
    parts = "starts" if em else "chains"
    shares = ", ".join(f"{percent(mode['share'], 0)}" for mode in modes[:5])
    gap = modes[0]["lp"] - modes[1]["lp"]
    text = (
        f"The {parts} found {len(modes)} different solutions (shares: {shares}; the log density of "
        f"the second is {gap:,.1f} lower). "
    )
    text += "The best was kept." if em else "They were averaged: fit again with other seeds."
    effect = "Gold labels depend on which solution is right."
    return Finding("modes", len(modes), 1, text, REVIEW, effect=effect)


def _starts(tree: xr.DataTree) -> list[Finding]:
    """Look at the solutions that the census of starts found, and at where chains began."""
    modes = _list(tree, "census")
    if not modes:
        return []
    held = [mode for mode in modes if mode["chains"]]
    text = "All starts led to one solution." if len(modes) == 1 else _solutions(modes)
    moved = _list(tree, "restarted")
    if moved:
        where = ", ".join(str(int(n) + 1) for n in moved)
        text += f" Chain {where} stayed in a far less probable one and was restarted."
    clear = len(held) == 1 and ("votes" in modes[0]["starts"] or len(modes) == 1)
    if clear:
        return [Finding("solutions", len(held), 1, text)]
    effect = "Gold labels depend on which solution is right."
    return [Finding("solutions", len(held), 1, text, REVIEW, effect=effect)]


def _solutions(modes: list[Any]) -> str:
    """Describe the solutions and where they were found from, the best first."""
    best = modes[0]["evidence"]
    held = [mode for mode in modes if mode["chains"]]
    begun = " and ".join(f"from {_listed(mode['starts'])}" for mode in held)
    if len(held) > 1:
        gap = best - held[-1]["evidence"]
        return (
            f"{len(held)} solutions are about as probable as each other ({gap:.1f} nats apart; "
            f"found {begun}): the data do not identify the right one, and chains began in each. "
            "Known labels of a few items would."
        )
    lower = [mode for mode in modes[1:] if "votes" in mode["starts"]] or modes[1:]
    gap = best - lower[0]["evidence"]
    what = "The votes lead" if "votes" in lower[0]["starts"] else f"{_start(lower[0])} leads"
    return (
        f"{what} to another solution than the best one, which was found {begun}: it is "
        f"{gap:,.0f} nats less probable, and no chain began there."
    )


def _start(mode: dict[str, Any]) -> str:
    name = mode["starts"][0]
    return f"{name[0].upper()}{name[1:]}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _stopped(tree: xr.DataTree) -> Finding:
    why = str(tree.attrs.get("stopped", ""))
    if not why:
        return Finding("stopped early", 0, 0, "The run is complete.")
    words = {"interrupted": "it was interrupted", "time limit": "of its time limit"}
    text = f"The run stopped early because {words.get(why, why)}; what was sampled is used."
    return Finding("stopped early", 1, 0, text, REVIEW, effect="Intervals are rough.")


def _list(tree: xr.DataTree, name: str) -> list[Any]:
    value = json.loads(tree.attrs.get(name, "[]"))
    return value if isinstance(value, list) else []
