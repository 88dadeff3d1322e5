"""crowd-kit's calls: the same tables in, the same kind of tables out, the labels of the fit."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import annomodels as am
from annomodels.compat import Aggregator
from annomodels.errors import AnnotationError, NotApplicable


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    data = am.datasets.load("crowd")
    frame = data.select(items=data.items[:60]).to_frame()
    return frame.set_axis(["task", "worker", "label"], axis=1)


def test_pandas_in_pandas_out_as_crowd_kit_does_it(crowd: pd.DataFrame) -> None:
    aggregator = Aggregator("dawid-skene", engine="em", seed=1)
    labels = aggregator.fit_predict(crowd)
    assert isinstance(labels, pd.Series)
    assert (labels.name, labels.index.name) == ("agg_label", "task")
    assert set(labels.index) == set(crowd["task"])
    probas = aggregator.fit_predict_proba(crowd)
    assert probas.index.name == "task"
    assert probas.columns.tolist() == ["neg", "neu", "pos"]
    np.testing.assert_allclose(probas.sum(axis=1), 1)
    assert probas.idxmax(axis=1).tolist() == labels.tolist()
    gold = aggregator.fit_.gold().table.set_index("item")["label"]
    assert labels.tolist() == gold.loc[labels.index].tolist()


def test_errors_and_priors_lie_as_in_crowd_kit(crowd: pd.DataFrame) -> None:
    aggregator = Aggregator("dawid-skene", engine="em", seed=1).fit(crowd)
    assert aggregator.errors_.index.names == ["worker", "label"]
    assert aggregator.errors_.columns.tolist() == ["neg", "neu", "pos"]
    # For each true label, what one worker says is a distribution.
    np.testing.assert_allclose(aggregator.errors_.groupby("worker").sum(), 1)
    assert aggregator.priors_.sum() == pytest.approx(1)
    worker = crowd["worker"].iloc[0]
    j = aggregator.fit_.data.coders.index(worker)
    confusion = aggregator.fit_.tree["posterior"]["confusion"].values.mean(axis=(0, 1))[j]
    assert aggregator.errors_.loc[(worker, "neg"), "pos"] == pytest.approx(confusion[2, 0])


def test_one_matrix_for_all_workers(crowd: pd.DataFrame) -> None:
    errors = Aggregator("pooled", engine="em", seed=1).fit(crowd).errors_
    assert len(errors) == 3 * crowd["worker"].nunique()
    assert errors.groupby("label").nunique().to_numpy().max() == 1


def test_polars_in_polars_out(crowd: pd.DataFrame) -> None:
    frame = pl.DataFrame({name: crowd[name].tolist() for name in crowd.columns})
    aggregator = Aggregator("dawid-skene", engine="em", seed=1)
    labels = aggregator.fit_predict(frame)
    probas = aggregator.probas_
    expected = aggregator.fit_predict(crowd)
    assert isinstance(labels, pl.DataFrame)
    assert labels.columns == ["task", "agg_label"]
    assert dict(labels.iter_rows()) == expected.to_dict()
    assert isinstance(probas, pl.DataFrame)
    assert probas.columns == ["task", "neg", "neu", "pos"]
    np.testing.assert_allclose(probas.drop("task").to_numpy(), aggregator.probas_.to_numpy())


def test_known_truth_counts(crowd: pd.DataFrame) -> None:
    task = crowd["task"].iloc[0]
    truth = pd.Series({task: "neu"})
    for given in (truth, truth.to_dict()):
        labels = Aggregator("dawid-skene", engine="em", seed=1).fit_predict(crowd, given)
        assert labels[task] == "neu"
    with pytest.raises(NotApplicable, match="Series indexed by task"):
        Aggregator(engine="em").fit(crowd, ["neu"])


def test_other_columns_are_said(crowd: pd.DataFrame) -> None:
    with pytest.raises(AnnotationError, match="'worker'"):
        Aggregator().fit(crowd.rename(columns={"worker": "annotator"}))


@dataclass
class Split:
    """What a split of a Hugging Face data set has."""

    columns: dict[str, list[Any]]
    features: dict[str, SimpleNamespace]

    def to_dict(self) -> dict[str, list[Any]]:
        return self.columns


def test_a_hugging_face_split_is_read_with_the_names_of_its_classes() -> None:
    kind = SimpleNamespace(names=["no", "yes"])
    rows = {"item": ["a", "a", "b"], "coder": ["x", "y", "x"], "label": [1, 0, -1]}
    data = am.from_hf(Split(rows, {"item": SimpleNamespace(), "label": kind}))
    assert data.labels == ("no", "yes")
    assert len(data.item) == 2  # -1 is no label
    lists = {"id": ["a", "b"], "annotators": [["x", "y"], ["x", "y"]], "labels": [[1, 0], [1, 1]]}
    data = am.from_hf(Split(lists, {"labels": SimpleNamespace(feature=kind)}))
    assert (data.coders, data.labels, len(data.item)) == (("x", "y"), ("no", "yes"), 4)


def test_what_is_no_split_is_refused_with_the_remedy() -> None:
    with pytest.raises(NotApplicable, match=r"splits \('train', 'test'\). Choose one"):
        am.from_hf({"train": 1, "test": 2})
    with pytest.raises(NotApplicable, match="from_frame"):
        am.from_hf([1])


@pytest.mark.slow
def test_readmes_file_has_item_and_coder() -> None:
    frame = am.datasets.load("crowd").to_frame()
    found = am.Aggregator(engine="em", seed=1).fit_predict(frame)
    assert len(found) == 200
    named = frame.rename(columns={"item": "task", "coder": "worker"})
    assert found.equals(am.Aggregator(engine="em", seed=1).fit_predict(named))
