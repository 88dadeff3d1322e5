"""Results do not depend on the order of rows, coders or labels."""

from __future__ import annotations

import numpy as np
import pytest

from annomodels.data.annotations import Annotations
from annomodels.summaries.agreement import agreement
from annomodels.summaries.coders.coders import coders
from annomodels.summaries.gold.gold import gold
from annomodels.summaries.items.items import items
from annomodels.summaries.trust.checks import VERDICTS, check
from annomodels.summaries.trust.predictive import predictive


@pytest.mark.parametrize("summary", [gold, coders, items, predictive])
def test_row_order_does_not_matter(make, summary):
    world = make.world(n_items=80, n_coders=6, per_item=4)
    frame = world.data.to_frame()
    shuffled = frame.sample(frac=1, random_state=3)
    tables = []
    for rows in (frame, shuffled):
        data = Annotations.from_records(rows.itertuples(index=False), labels=["a", "b"])
        tables.append(summary(make.gibbs(data, draws=50), data).table)
    for column in tables[0]:
        np.testing.assert_array_equal(tables[0][column], tables[1][column])


def test_names_of_labels_in_another_order_give_the_same_gold(make):
    """The classes are swapped together with their parameters: nothing else may change."""
    world = make.world(n_items=80, n_coders=6, per_item=4, n_labels=3, prevalence=[0.5, 0.3, 0.2])
    data, order = world.data, np.array([2, 0, 1])
    back = np.argsort(order)
    other = data.replace(label=back[data.label], labels=tuple(data.labels[k] for k in order))
    one = make.exact(data, world.prevalence, world.confusion)
    two = make.exact(other, world.prevalence[order], world.confusion[:, order][:, :, order])
    a, b = gold(one, data).table, gold(two, other).table
    np.testing.assert_allclose(a["probability"], b["probability"])
    clear = a["probability"] - a["runner_up_probability"] > 1e-6
    assert (a["label"] == b["label"])[clear].all()
    first, second = coders(one, data).table, coders(two, other).table
    for column in ("accuracy", "skill", "bits", "sensitivity_b"):
        np.testing.assert_allclose(first[column], second[column])


@pytest.mark.slow
def test_all_summaries_of_the_real_engines(make):
    """Hierarchical Gibbs and EM on the same crowd: every table has its rows."""
    from annomodels.fitting.run import fit

    world = make.world(n_items=60, n_coders=8, per_item=4)
    for engine in ("gibbs", "em"):
        found = fit(world.data, "hierarchical", engine=engine, chains=2, draws=200, seed=1)
        tree, data = found.tree, found.data
        assert len(gold(tree, data).table) == 60
        assert len(coders(tree, data).table) == 8
        assert len(items(tree, data).table) == 60
        assert len(agreement(tree, data, draws=20).table) >= 6
        assert len(predictive(tree, data).table) > 6
        assert check(tree, data).verdict in VERDICTS
