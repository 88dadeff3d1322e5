"""Findings about the run: R-hat and effective draws of what is watched, modes, swaps, stops."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from annomodels.data.columns import percent
from annomodels.data.mixing import mixing
from annomodels.data.schema import Data
from annomodels.errors import Option
from annomodels.models.parameters import watched_draws, watched_names
from annomodels.summaries.draws import model_of
from annomodels.summaries.trust.findings import CHECK, COMPUTED, FINE, FORBIDS, Finding
from annomodels.types import Floats

FEWEST_DRAWS = 8
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


def fit_findings(tree: xr.DataTree, data: Data) -> list[Finding]:
    """Look at what the run itself says about its results."""
    em = tree.attrs.get("engine") == "em"
    only = Finding("intervals", 0, 1, ONE_ESTIMATE, CHECK)
    out = [only] if em else _mixing(tree, data)
    out += [_divergences(tree), _swapped(tree), _modes(tree, em), _stopped(tree), *_starts(tree)]
    return [replace(finding, lamp=COMPUTED) for finding in out]


def _mixing(tree: xr.DataTree, data: Data) -> list[Finding]:
    names, rhat, ess = convergence(tree, data)
    if not names:
        sentence = f"Too few draws to see whether the chains agree. {LONGER}"
        nan = float("nan")
        return [
            Finding("R-hat", nan, RHAT, sentence, FORBIDS),
            Finding("effective draws", nan, ESS, sentence, FORBIDS),
        ]
    worst, at = float(rhat.max()), names[int(rhat.argmax())]
    severity = FORBIDS if worst >= RHAT_WORST else CHECK if worst >= RHAT else FINE
    text = f"The chains agree: R-hat is at most {worst:.3f}."
    if severity:
        n_bad = int((rhat >= RHAT).sum())
        text = (
            f"The chains do not agree: R-hat of the {at} is {worst:.3f}, and {n_bad} of "
            f"{len(names)} watched parameters are at or above {RHAT}. "
            f"{_remedy(tree, data) if worst >= RHAT_WORST else LONGER}"
        )
    found = [Finding("R-hat", worst, RHAT, text, severity)]
    least, at = float(ess.min()), names[int(ess.argmin())]
    severity = FORBIDS if least < ESS_WORST else CHECK if least < ESS else FINE
    text = f"The draws are worth at least {least:,.0f} independent ones."
    if severity:
        text = (
            f"The draws are worth only {least:,.0f} independent ones for the {at}; intervals need "
            f"{ESS:.0f}. {LONGER}"
        )
    return [*found, Finding("effective draws", least, ESS, text, severity)]


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
    return Finding("divergences", count, 0, text, FORBIDS if share > 0.1 else CHECK)


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
    return Finding("swapped classes", share, RELABELLED, text, CHECK)


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
    return Finding("modes", len(modes), 1, text, CHECK)


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
    return [Finding("solutions", len(held), 1, text, FINE if clear else CHECK)]


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
    return Finding("stopped early", 1, 0, text, CHECK)


def _list(tree: xr.DataTree, name: str) -> list[Any]:
    value = json.loads(tree.attrs.get(name, "[]"))
    return value if isinstance(value, list) else []
