"""Paragraphs of the methods section on inference and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.reporting.prose import cite
from annomodels.reporting.words import count, decimal, interval, number, percent, share_interval

if TYPE_CHECKING:
    from annomodels.reporting.once import Once
    from annomodels.summaries.checks import Check

__all__ = ["coders_in", "inference", "inference_by", "results"]

_SAMPLERS = {"gibbs": "a Gibbs sampler", "nuts": "the No-U-Turn sampler"}


def inference(fit: Once) -> str:
    """Say how the posterior was computed, and what the checks say.

    Parameters
    ----------
    fit
        A fit that remembers its summaries.
    """
    return inference_by(fit.engine, fit.tree.attrs, fit.check())


def inference_by(engine: str, attrs: Mapping[Any, Any], check: Check) -> str:
    """Say the same of an engine, what it says of the run, and a verdict."""
    if engine == "em":
        how = (
            "The posterior mode was found by expectation maximisation, so there are no intervals "
            "of what the model implies"
        )
    else:
        source = f" {cite('hoffman2014', 'abrilpla2023')}" if engine == "nuts" else ""
        how = (
            f"The posterior was sampled with {_SAMPLERS[engine]}{source}, "
            f"{count(int(attrs['chains']), 'chain')} of "
            f"{int(attrs['draws']):,} draws each after {int(attrs['warmup']):,} of warm-up"
        )
        if np.isfinite(float(attrs["rhat_max"])):
            how += (
                f"; the largest R-hat was {float(attrs['rhat_max']):.3f} and the smallest "
                f"effective sample size {float(attrs['ess_min']):,.0f} {cite('vehtari2021')}"
            )
    return f"{how}. Verdict of the checks: {check.verdict}. " + " ".join(check.sentences)


def results(fit: Once) -> str:
    """Say how much of the gold is settled and wrong, and how good the coders are.

    Parameters
    ----------
    fit
        A fit that remembers its summaries.
    """
    table = fit.gold().table
    settled, n = int(table["settled"].sum()), len(table)
    wrong = fit.wrong()
    return (
        f"{count(settled, 'item').capitalize()} of {n:,} ({percent(settled / n)}; for more items "
        f"like these {share_interval(settled, n)}, 95 % interval) reached a probability of .95. By "
        f"these probabilities {number(wrong.gold)} of the gold labels "
        f"({interval(wrong.gold_low, wrong.gold_high)}) are expected to be wrong, and "
        f"{number(wrong.vote)} of the majority's ({interval(wrong.vote_low, wrong.vote_high)}); "
        f"{_caution(fit)}. Where most votes agree on a label, "
        f"the gold label is another one for {count(int(table['overturned'].sum()), 'item')}. "
        f"{coders_in(fit.accuracy())}"
    )


def _caution(fit: Once) -> str:
    if "pool" in fit.tree.children:
        return "they are pooled from models that are each believed only so far"
    return "they are too sure where items differ in difficulty"


def coders_in(draws: NDArray[np.float64]) -> str:
    """Accuracies from the worst to the best coder; as the order is uncertain, on every draw."""
    parts = (
        _estimate(np.median(draws, axis=1)),
        _estimate(draws.min(axis=1)),
        _estimate(draws.max(axis=1)),
    )
    middle, worst, best = parts
    return (
        f"The median accuracy of the coders is {middle}, that of the least accurate {worst}, and "
        f"of the most accurate {best}."
    )


def _estimate(draws: NDArray[np.float64]) -> str:
    if len(draws) < 2:
        return decimal(float(draws[0]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{decimal(float(draws.mean()))} (95 % interval {decimal(low)} to {decimal(high)})"
