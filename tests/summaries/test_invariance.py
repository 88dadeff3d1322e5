"""Results do not depend on the order of rows, coders or labels."""

import numpy as np
import pytest

from annomodels.data.annotations import Annotations
from annomodels.summaries.coders import coders
from annomodels.summaries.gold import gold
from annomodels.summaries.items import items
from annomodels.summaries.trust.predictive import aspects


def predictive(tree, data):
    return aspects(tree, data)[0]


@pytest.mark.slow
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


@pytest.mark.slow
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
    clear = a["probability"] > 0.5 + 1e-6
    assert (a["label"] == b["label"])[clear].all()
    first, second = coders(one, data).table, coders(two, other).table
    for column in ("accuracy", "skill", "bits", "recall_b"):
        np.testing.assert_allclose(first[column], second[column])
