"""Whether a fit can be trusted, in sentences."""

from __future__ import annotations

import numpy as np

from annomodels.coref.mentionpairs.engines import Draws
from annomodels.data.candidates import Candidates
from annomodels.models.pairs import PairModel
from annomodels.models.parameters import watched_draws

GOOD_RHAT, GOOD_ESS, GOOD_ERROR = 1.05, 100.0, 0.05
FEW = 20
SHARE = 0.02


def mixing(model: PairModel, drawn: Draws) -> tuple[float, float]:
    """Largest R-hat and smallest effective sample size of what the model says is to be watched."""
    from annomodels.data.mixing import ess, rhat

    draws = {name: getattr(drawn, name) for name in model.dims(0)}
    declared = watched_draws(model.parameters(), draws, np.empty(0))
    watched = np.concatenate([declared, drawn.log_likelihood[:, :, None]], axis=2)
    r, n = rhat(watched), ess(watched)
    if np.isnan(n).all():
        return float("nan"), float("nan")
    # one chain has an effective sample size but no R-hat
    return (float("nan") if np.isnan(r).all() else float(np.nanmax(r))), float(np.nanmin(n))


def check(model: PairModel, codes: Candidates, drawn: Draws) -> tuple[str, ...]:
    """Sentences on mixing, Monte Carlo error, coders, and the swap of true and false."""
    r, n = mixing(model, drawn)
    said = []
    if np.isnan(r):
        said.append("One chain, or too few draws: whether it has mixed cannot be told.")
    elif r > GOOD_RHAT or n < GOOD_ESS:
        said.append(
            f"The chains have not mixed (R-hat {r:.3f}, effective sample size {n:.0f}): run "
            "longer, with draws and warmup doubled."
        )
    else:
        said.append(f"The chains agree (R-hat {r:.3f}, effective sample size {n:.0f} or more).")
    error = float(monte_carlo_error(drawn).max())
    advice = "; run longer." if error > GOOD_ERROR else "."
    said.append(f"The largest Monte Carlo error of a probability is {error:.3f}{advice}")
    if not model.single:
        crossed = drawn.mean[:, :, 0::2] + drawn.mean[:, :, 1::2] < 1.0
        for name, share in zip(codes.classes, crossed.mean(axis=(0, 1)), strict=True):
            if share > SHARE:
                said.append(
                    f"In {share:.0%} of the draws coders are worse than chance on class {name}: "
                    "true and false may be swapped there. Do not use its probabilities."
                )
    few = [codes.coders[j] for j in np.flatnonzero(codes.workload() < FEW)]
    if few:
        more = f" and {len(few) - 5} more" if len(few) > 5 else ""
        said.append(
            f"Fewer than {FEW} mentions were judged by {', '.join(few[:5])}{more}: what is said of "
            "them comes mostly from the other coders."
        )
    alone = int((codes.judged() < 2).sum())
    if alone:
        said.append(f"{alone} of {len(codes.items)} mentions have one coder only.")
    return tuple(said)


def monte_carlo_error(drawn: Draws) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Give the standard error of P(true) from batches of draws, shape [candidate]."""
    flat = drawn.p_batches.reshape(-1, drawn.p_batches.shape[2])
    if len(flat) < 2:
        return np.full(flat.shape[1], np.nan)
    return np.asarray(flat.std(axis=0, ddof=1) / np.sqrt(len(flat)))
