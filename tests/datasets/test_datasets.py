"""The bundled data are the printed figures, and the crowd holds what was planted."""

import csv
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from annomodels import Annotations, datasets
from annomodels.errors import AnnotationError


def patterns(rows: list[tuple[str, str, str]]) -> Counter[str]:
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for item, coder, label in rows:
        labels[item][coder] = label
    return Counter("".join(v for _, v in sorted(by.items())) for by in labels.values())


def rows_of(data: Annotations) -> list[tuple[str, str, str]]:
    return [tuple(row) for row in data.to_frame().to_numpy().tolist()]


def shared_rows(path: Path) -> list[tuple[str, str, str]]:
    with path.open(encoding="utf-8") as file:
        return [(row["item"], row["coder"], row["label"]) for row in csv.DictReader(file)]


def test_dawid_skene_1979_table_1(shared: Path) -> None:
    want = shared_rows(shared / "data" / "anesthesia" / "labels.csv")
    assert Counter(rows_of(datasets.load("anesthesia"))) == Counter(want)


def test_dawid_skene_1979_keeps_the_printed_order_of_coder_1() -> None:
    data = datasets.load("anesthesia")
    patient_7 = (data.item == 6) & (data.coder == 0)
    assert [data.labels[k] for k in data.label[patient_7]] == ["1", "2", "2"]
    assert (len(data), data.repeats, data.scale) == (315, 90, "ordinal")


def test_espeland_handelman_1989(shared: Path) -> None:
    want = patterns(shared_rows(shared / "data" / "caries" / "labels.csv"))
    data = datasets.load("caries")
    assert data.n_items == 3869
    got = patterns(rows_of(data))
    assert len(got) == 32
    if set(next(iter(want))) <= {"1", "2"}:  # the shared file may count its labels from 1
        want = Counter({p.replace("1", "0").replace("2", "1"): n for p, n in want.items()})
    assert got == want


def test_tutorial_trains_has_the_printed_totals() -> None:
    data = datasets.load("trains")
    totals = dict(zip(data.labels, data.votes.sum(0).tolist(), strict=True))
    assert totals == {"Box": 46, "Tank": 20, "E-1": 23, "E-2": 11}
    agreeing = (data.votes * (data.votes - 1) // 2).sum()
    assert agreeing == 132
    assert data.is_complete


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("boxcar", [[41, 3], [9, 47]]),
        ("even", [[44, 6], [6, 44]]),
        ("skewed", [[77, 1, 2], [1, 6, 3], [2, 3, 5]]),
        ("love", [[990, 5], [5, 0]]),
    ],
)
def test_tutorial_tables_of_two_coders(name: str, table: list[list[int]]) -> None:
    data = datasets.load(name)
    pairs = data.label.reshape(-1, 2)
    got = np.zeros((data.n_labels, data.n_labels), dtype=int)
    np.add.at(got, (pairs[:, 0], pairs[:, 1]), 1)
    assert got.tolist() == table


def test_every_data_set_says_where_it_comes_from() -> None:
    assert [about.name for about in datasets.all_about()] == list(datasets.names())
    for about in datasets.all_about():
        assert about.title
        assert about.source
        assert about.note
        assert about.doi.startswith("10.") or about.name == "crowd"
        assert about.name in str(about)
        assert datasets.load(about.name).source == about.name


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(AnnotationError, match="Did you mean 'caries'"):
        datasets.load("carries")
    with pytest.raises(AnnotationError, match="No data set"):
        datasets.about("")


def test_crowd_has_the_planted_sizes() -> None:
    data, planted = datasets.load("crowd"), datasets.crowd_truth()
    assert (data.n_items, data.n_coders, data.n_labels, len(data)) == (200, 24, 3, 1600)
    assert set(np.diff(data.starts)) == {8}
    assert data.repeats == 0
    assert np.bincount(data.coder).min() >= 66
    assert data.gold is None
    assert data.texts is not None
    assert all(data.texts)
    assert data.groups == ("batch 1", "batch 2", "batch 3", "batch 4")
    assert len(planted.ambiguous) == 8
    assert set(planted.truth) | planted.ambiguous == set(data.items)
    assert not set(planted.truth) & planted.ambiguous


def test_crowd_coders_behave_as_planted() -> None:
    data, planted = datasets.load("crowd"), datasets.crowd_truth()
    truth = data.with_truth(planted.truth).gold
    assert truth is not None
    told = truth[data.item] >= 0
    right = (data.label == truth[data.item])[told]
    coder = data.coder[told]
    observed = {name: right[coder == j].mean() for j, name in enumerate(data.coders)}
    assert observed == pytest.approx(dict(planted.share_right))
    good = set(data.coders) - planted.spammers - {planted.adversary}
    assert min(observed[name] for name in good) > 0.4
    assert max(observed[name] for name in planted.spammers) < 0.5
    assert observed[planted.adversary] < 0.4
    # items with two readings split the votes
    majority = data.votes.max(1) / data.votes.sum(1)
    vague = np.array([name in planted.ambiguous for name in data.items])
    assert majority[vague].mean() < majority[~vague].mean() - 0.1


def test_crowd_is_what_its_generator_makes() -> None:
    maker = Path(__file__).parents[2] / "benchmarks" / "make_crowd.py"
    assert subprocess.run([sys.executable, maker, "--check"], check=False).returncode == 0
    assert datasets.load("crowd").fingerprint == CROWD


CROWD = "17a136a283b7"
