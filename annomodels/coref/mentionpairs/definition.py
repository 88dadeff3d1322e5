"""The models in PyMC with the truth summed out: what all engines must target."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels.coref.mentionpairs.candidates import Candidates
from annomodels.coref.mentionpairs.model import MentionPairs, PairModel, SingleTruth

__all__ = ["build"]


def build(model: PairModel, codes: Candidates) -> Any:
    """Build the PyMC model of some judgments.

    Variables are prevalence [class], mean and concentration [kind], rate [coder, kind].

    Returns
    -------
    pymc.Model
    """
    import pymc as pm
    import pytensor.tensor as pt

    n_classes = len(codes.classes) - model.has_none
    anchor = model.anchor(n_classes)
    with pm.Model(coords={"kind": range(len(anchor))}) as built:
        prevalence = _prevalence(model, len(codes.classes))
        mean = pm.Beta("mean", anchor[:, 0], anchor[:, 1], dims="kind")
        concentration = model.concentration.pymc("concentration", dims="kind")
        shape = (len(codes.coders), len(anchor))
        a, b = concentration * mean, concentration * (1 - mean)
        rate = pm.Beta("rate", a[None], b[None], shape=shape)
        total = (_single if model.single else _pairs)(codes, prevalence, rate, pt)
        pm.Potential("decisions", total)
    return built


def _prevalence(model: PairModel, n: int) -> Any:
    import pymc as pm

    match model:
        case MentionPairs(prevalence=prior):
            return pm.Beta("prevalence", prior.a, prior.b, shape=n)
        case SingleTruth(prevalence=shares):
            return pm.Dirichlet("prevalence", a=shares.alpha(n))
    raise TypeError(type(model).__name__)


def _by_candidate(codes: Candidates, values: Any, pt: Any) -> Any:
    """Sum over the decisions on each candidate."""
    return pt.inc_subtensor(pt.zeros(len(codes.labels))[codes.candidate], values)


def _pairs(codes: Candidates, prevalence: Any, rate: Any, pt: Any) -> Any:
    kind, yes = 2 * codes.cls[codes.candidate], codes.accepted == 1
    off, on = rate[codes.coder, kind], rate[codes.coder, kind + 1]
    rejected = pt.where(yes, pt.log1p(-off), pt.log(off))
    accepted = pt.where(yes, pt.log(on), pt.log1p(-on))
    share = prevalence[codes.cls]
    zero = pt.log1p(-share) + _by_candidate(codes, rejected, pt)
    one = pt.log(share) + _by_candidate(codes, accepted, pt)
    return pt.sum(pt.logaddexp(zero, one))


def _single(codes: Candidates, prevalence: Any, rate: Any, pt: Any) -> Any:
    n_kinds = int(rate.type.shape[1])
    per_mention = np.diff(codes.firsts)
    is_none = codes.cls == n_kinds
    listed = np.add.reduceat(~is_none, codes.firsts[:-1])
    right = rate[codes.coder, codes.cls[codes.candidate]]
    spread = np.log(listed)[codes.mention][codes.candidate]
    said = pt.where(codes.accepted == 1, pt.log(right), pt.log1p(-right) - spread)
    blind = np.where(is_none, codes.judged()[codes.mention] * np.log1p(listed)[codes.mention], 0.0)
    weight = pt.log(prevalence)[codes.cls]
    joint = weight - blind + _by_candidate(codes, said, pt)
    # candidates side by side in a matrix, filled up with impossible ones
    column = np.arange(len(codes.labels)) - codes.firsts[codes.mention]
    room = pt.as_tensor(np.full((len(codes.items), int(per_mention.max())), -np.inf))
    place = codes.mention, column
    top = pt.logsumexp(pt.set_subtensor(room[place], joint), axis=1)
    norm = pt.logsumexp(pt.set_subtensor(room[place], weight), axis=1)
    return pt.sum(top - norm)
