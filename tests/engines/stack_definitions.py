"""PyMC models of the parts of a stack, which define what its loops compute."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from annomodels.models.mixtures.stack import DEGREES, flat_of
from annomodels.models.mixtures.votes import CONCENTRATIONS, EASY, HARD, RIGHT, WRONG


def build_layer(stack, log_q, truth, dependence):
    """Build the PyMC model of a mixture's confidence, given known truths."""
    import pymc as pm
    import pytensor.tensor as pt

    n_labels = log_q.shape[1]
    median, spread = stack.median_log_odds(n_labels), stack.spread
    with pm.Model(coords={"truth": range(n_labels)}) as pymc_model:
        z = pm.Normal("z_sharpness", 0.0, 1.0)
        scale = spread[0] * pm.math.switch(z > 0, stack.skew, 1.0)
        sharpness = pm.Deterministic("sharpness", stack.sharpness * pm.math.exp(scale * z))
        odds = pm.StudentT("log_odds", nu=DEGREES, mu=median, sigma=spread[1])
        unknown = pm.Deterministic("unknown", pm.math.sigmoid(odds))
        tilt = pm.Normal("tilt", 0.0, spread[2], dims="truth")
        log_p = sharpness * log_q + tilt
        log_p = log_p - pt.logsumexp(log_p, axis=1, keepdims=True)
        of_truth = log_p[np.arange(len(truth)), truth]
        flat = pt.log(unknown) + np.log(flat_of(dependence, n_labels)[truth])
        pm.Potential("known_truth", pt.logaddexp(pt.log1p(-unknown) + of_truth, flat).sum())
    return pymc_model


def build_votes(votes, times):
    """Build the PyMC model of the difficulty, given patterns of votes."""
    import pymc as pm
    import pytensor.tensor as pt

    k = votes.shape[1]
    n = votes.sum(axis=1, keepdims=True)
    with pm.Model() as model:
        hard = pm.Beta("hard", HARD + 1.0, EASY + 1.0)
        accuracy = pm.Beta("accuracy", RIGHT + 1.0, WRONG + 1.0)
        scattered = pm.Beta("scattered", 2.0, 2.0)
        wrong = (1.0 - accuracy) / (k - 1)
        easy = votes * pt.log(accuracy) + (n - votes) * pt.log(wrong) - np.log(k)
        by_kind = [
            pm.logp(pm.DirichletMultinomial.dist(n=n[:, 0], a=np.full(k, a / k)), votes)
            for a in CONCENTRATIONS
        ]
        # remove the multinomial coefficient: the order of labels among coders is irrelevant
        orders = gammaln(n[:, 0] + 1.0) - gammaln(votes + 1.0).sum(axis=1)
        shares = (pt.log1p(-scattered), pt.log(scattered))
        kinds = [
            pt.log(hard) + share + of_kind - orders
            for share, of_kind in zip(shares, by_kind, strict=True)
        ]
        states = pt.concatenate([easy + pt.log1p(-hard), pt.stack(kinds, axis=1)], axis=1)
        pm.Potential("votes", (times * pt.logsumexp(states, axis=1)).sum())
    return model
