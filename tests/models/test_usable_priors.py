"""Priors that a model cannot use are refused by name, with what can be used instead."""

import numpy as np
import pytest

import annomodels as am
from annomodels.errors import NotApplicable
from annomodels.models.catalog import EVERY
from annomodels.priors import (
    Beta,
    Diagonal,
    Dirichlet,
    HalfNormal,
    LogNormal,
    Pareto,
    Rows,
)
from annomodels.priors.usable import misfits

LEARNT = Diagonal(4.0, 0.7, 10.0)
M = am.models


@pytest.mark.parametrize(
    ("model", "fields", "instead"),
    [
        (M.HierarchicalDawidSkene, {"concentration": HalfNormal(5.0)}, "LogNormal or Pareto, such"),
        (M.HierarchicalDawidSkene, {"population": Diagonal(0.0)}, "strength above 0"),
        (M.DawidSkene, {"confusion": LEARNT}, "without certainty= and spread="),
        (M.DawidSkene, {"confusion": Diagonal(4.0, 0.7, spread=1.0)}, "without certainty="),
        (M.DawidSkene, {"prevalence": 1.0}, r"Dirichlet\(concentration=1.0\)"),
        (M.Pooled, {"confusion": Beta(2, 1)}, "give Rows, or Diagonal"),
        (M.Consensus, {"error": LEARNT}, "Diagonal with a strength above 0, without certainty="),
        (M.BetaBinomialByItem, {"population": LEARNT}, "without certainty="),
        (M.LogitNormalDawidSkene, {"centre": LEARNT}, "without certainty="),
        (M.LogitNormalDawidSkene, {"scale_spread": -1.0}, "a number above 0, such as 1.0"),
        (M.LogisticRandomEffects, {"item_scale": HalfNormal(1.0)}, "a number above 0"),
        (M.LogisticRandomEffects, {"coder_scale": float("nan")}, "a number above 0"),
        (M.ScalarDifficulty, {"accuracy": 1.0}, "a number between 0 and 1, such as 0.7"),
        (M.ScalarDifficulty, {"discrimination": -0.1}, "a number of 0 or more"),
        (M.ScalarDifficulty, {"nodes": 2.5}, "a whole number"),
        (M.ScalarDifficulty, {"guessing": 0.25}, "give Beta or None"),
        (M.GradedResponse, {"typical": True}, "a number above 0"),
        (M.OneCoin, {"accuracy": 0.8}, r"Beta\(a=2.8, b=1.2\)"),
        (M.Mace, {"guess": Dirichlet(0.0)}, "Dirichlet with a concentration above 0"),
        (M.Ambiguous, {"coders": "hierarchical"}, r"ConjugateModel, such as HonestAndSpammers\(\)"),
        (M.EasyHardItems, {"coders": am.models.Interval()}, "ConjugateModel"),
        (M.Interval, {"noise": LogNormal()}, r"HalfNormal\(spread=1.0\)"),
        (M.MentionPairs, {"sensitivity": Dirichlet()}, "Beta"),
    ],
)
def test_it_is_named_with_what_can_be_used(model, fields, instead):
    ((name, value),) = fields.items()
    with pytest.raises(NotApplicable, match=instead) as caught:
        model(**fields)
    assert f"{model.__name__} cannot use {name}={value!r}: give" in str(caught.value)


def test_all_are_named_at_once():
    with pytest.raises(NotApplicable) as caught:
        M.LogisticRandomEffects(item_scale=HalfNormal(), coder_scale=0, prevalence=Beta())
    assert [line.split("=")[0].split()[-1] for line in str(caught.value).splitlines()] == [
        "prevalence", "coder_scale", "item_scale",
    ]  # fmt: skip


def test_priors_for_other_labels_are_refused_before_anything_is_computed():
    data = am.datasets.load("anesthesia")
    for model in (
        M.DawidSkene(confusion=Rows(((2.0, 1.0), (1.0, 2.0)))),
        M.HierarchicalDawidSkene(prevalence=Dirichlet(2.0, (0.5, 0.5))),
        M.Ambiguous(coders=M.DawidSkene(prevalence=Dirichlet(2.0, (0.5, 0.5)))),
    ):
        with pytest.raises(NotApplicable, match="is for 2 labels, but the data have 4: 1, 2, 3, 4"):
            am.fit(data, model)


def test_what_can_be_used_is_taken():
    for name in EVERY:
        assert misfits(EVERY[name]()) == []
    M.DawidSkene.unsmoothed()
    M.HierarchicalDawidSkene.carpenter()
    M.HierarchicalDawidSkene(concentration=Pareto(), population=Diagonal(40, 0.8, 9, spread=1))
    M.LogisticRandomEffects(item_scale=np.float32(0.5), coder_scale=2, nodes=np.int64(7))
    M.ScalarDifficulty(difficulty=0, difficulty_fixed=True, guessing=Beta(1, 4))
    M.HierarchicalDawidSkene(population=Rows(((8.0, 2.0), (1.0, 4.0))))


def test_em_of_guesses_uses_their_shares():
    """Guesses with a prior that knows the labels: its mode is that of the same prior for NUTS."""
    from annomodels.models.base import State

    plain, told = M.Mace(guess=Dirichlet(4.0)), M.Mace(guess=Dirichlet(4.0, (0.75, 0.25)))
    guess = np.array([[0.9, 0.1], [0.2, 0.8]])
    state = State(
        np.log([0.5, 0.5]),
        np.zeros((2, 2, 2)),
        {"competence": np.array([0.5, 0.5]), "guess": guess},
    )
    alpha = np.array([6.0, 2.0])
    difference = told.log_penalty(state) - plain.log_penalty(state)
    assert difference == pytest.approx(((alpha - 4.0) * np.log(guess)).sum())
