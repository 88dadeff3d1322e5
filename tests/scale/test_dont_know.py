"""Labels that are not classes, and annotation ids, in scans: as reading into memory takes them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.errors import AnnotationError
from annomodels.scale.scanned import Scanned
from tests.scale.scans import in_blocks

pytestmark = pytest.mark.slow

KINDS = ["?", "unsure"]
RUN: dict[str, Any] = {"chains": 2, "draws": 40, "warmup": 10, "seed": 3, "extend": False}


def crowd(n_items: int = 300, n_coders: int = 12) -> pd.DataFrame:
    """Labels of a crowd with two that are no class, gaps, repeats and ids that are repeated."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, n_items, p=[0.5, 0.3, 0.2])
    item = np.repeat(np.arange(n_items), rng.integers(1, 6, n_items))
    right = rng.random(len(item)) < 0.8
    words = np.array(["no", "perhaps", "yes"], dtype=object)
    label = words[np.where(right, truth[item], rng.choice(3, len(item)))]
    chance = rng.random(len(item))
    for text, low, high in (("?", 0.0, 0.1), ("unsure", 0.1, 0.15), ("", 0.95, 1.0)):
        label[(low <= chance) & (chance < high)] = text
    frame = pd.DataFrame(
        {
            "item": [f"t{i}" for i in item],
            "coder": [f"a{j}" for j in rng.integers(0, n_coders, len(item))],
            "label": label,
            "annotation_id": rng.integers(0, len(item) // 2, len(item)).astype(str),
        }
    )
    # a coder and an item with no other label than these
    silent = pd.DataFrame(
        {"item": ["t1", "tz"], "coder": ["mute", "a1"], "label": ["?", "?"], "annotation_id": ""}
    )
    return pd.concat([frame, frame.sample(150, random_state=1), silent]).sample(
        frac=1, random_state=2
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scanned, am.Annotations, Path]:
    """Scan the crowd in many small blocks, from two files, and read it."""
    folder = tmp_path_factory.mktemp("crowd")
    frame = crowd()
    frame.to_csv(folder / "all.csv", index=False)
    (folder / "parts").mkdir()
    frame[:400].to_parquet(folder / "parts" / "1.parquet", index=False, row_group_size=90)
    frame[400:].to_parquet(folder / "parts" / "2.parquet", index=False)
    found = in_blocks(folder / "parts", 60, dont_know=KINDS, cache=folder / "kept")
    assert len(found.blocks) > 10
    return found, am.read(folder / "all.csv", dont_know=KINDS), folder


def test_a_scan_sets_aside_what_reading_sets_aside(
    both: tuple[Scanned, am.Annotations, Path],
) -> None:
    found, wanted, folder = both
    again = am.scan(folder / "parts", dont_know=KINDS, cache=folder / "kept")
    assert wanted.unanswered is not None
    for scan in (found, again):
        whole = scan.to_annotations()
        assert (whole.items, whole.coders) == (wanted.items, wanted.coders)
        assert (whole.skips, whole.fingerprint) == (wanted.skips, wanted.fingerprint)
        assert np.array_equal(whole.unanswered, wanted.unanswered)
        times = np.zeros_like(scan.unanswered)
        np.add.at(times, (wanted.unanswered[:, 2], wanted.unanswered[:, 1]), 1)
        assert np.array_equal(scan.unanswered, times)
        assert f"{len(wanted.unanswered)} times ?/unsure" in repr(scan)
        assert np.array_equal(scan.per_label, wanted.votes.sum(axis=0))
    said = [note for note in wanted.notes if "Left out" in note or "dropped" in note]
    assert len(said) == 5
    assert set(said) <= set(found.notes)


@pytest.mark.calibration
@pytest.mark.parametrize("model", ["hierarchical", "mace", "pooled"])
def test_a_fit_learns_from_them_as_in_memory_or_leaves_them_out(
    both: tuple[Scanned, am.Annotations, Path], model: str
) -> None:
    scan, data, _ = both
    for found, wanted in (
        (am.fit(scan, model, **RUN), am.fit(data, model, **RUN)),
        (
            am.fit(scan.without_dont_know(), model, **RUN),
            am.fit(data.without_dont_know(), model, **RUN),
        ),
    ):
        draws, reference = (fit.tree["posterior"].to_dataset() for fit in (found, wanted))
        assert set(draws) == set(reference)
        for name in draws:
            assert np.array_equal(draws[name].values, reference[name].values), name
        in_memory = wanted.coders().table.filter(regex="^(?!share_right)")
        pd.testing.assert_frame_equal(found.coders().table, in_memory)
        assert found.coders().notes == wanted.coders().notes
        p = pd.concat([pd.read_parquet(path) for path in sorted(found.truth.iterdir())])
        p = p[[f"p_{label}" for label in data.labels]].to_numpy()
        assert p == pytest.approx(wanted.tree["truth"]["p_truth"].values, abs=1e-9)


def test_em_learns_from_them_as_in_memory(both: tuple[Scanned, am.Annotations, Path]) -> None:
    scan, data, _ = both
    found = am.fit(scan, engine="em", seed=1)
    wanted = am.fit(data, engine="em", seed=1, starts=1)
    for name in ("confusion", "prevalence", "no_answer"):
        draws, reference = (fit.tree["posterior"][name].values for fit in (found, wanted))
        assert draws == pytest.approx(reference, abs=1e-9)
    assert "counts as no answer" in " ".join(found.coders().notes)


def test_a_fit_with_them_is_saved_and_not_taken_for_one_without(
    both: tuple[Scanned, am.Annotations, Path], tmp_path: Path
) -> None:
    scan, _, _ = both
    found = am.fit(scan, engine="em", seed=1)
    folder = found.save(tmp_path / "fit")
    again = am.load(folder, scan)
    pd.testing.assert_frame_equal(again.coders().table, found.coders().table)
    with pytest.raises(am.errors.NotApplicable, match="other labels"):
        am.load(folder, scan.without_dont_know())
    assert scan.without_dont_know().without_dont_know().dont_know == ()


def test_a_cache_knows_which_labels_were_set_aside(
    both: tuple[Scanned, am.Annotations, Path], tmp_path: Path
) -> None:
    _, _, folder = both
    data = folder / "all.csv"
    assert am.scan(data, cache=tmp_path / "kept").labels == ("?", "no", "perhaps", "unsure", "yes")
    found = am.scan(data, dont_know="?", cache=tmp_path / "kept")
    assert (found.labels, found.dont_know) == (("no", "perhaps", "unsure", "yes"), ("?",))
    assert found.unanswered.shape == (1, found.n_coders)


def test_labels_that_are_all_no_class_are_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,coder,label\na,x,?\na,y,?\n")
    with pytest.raises(AnnotationError, match="None of the labels is a class"):
        am.scan(path, dont_know=["?"])
    path.write_text("item,coder,label\na,x,1\na,y,2\nb,x,1\nb,y,1\n")
    none = am.scan(path, dont_know=["?"])  # nobody said it: a column of zeros, as in memory
    wanted = am.fit(am.read(path, dont_know=["?"]), engine="em", seed=1)
    table = am.fit(none, engine="em", seed=1).coders().table
    in_memory = [name for name in wanted.coders().table if not name.startswith("share_right")]
    assert list(table) == in_memory
    assert table["dont_know"].tolist() == [0, 0]


def test_a_repeated_id_is_taken_once_also_where_only_some_files_have_ids(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text(
        "item,coder,label,Annotation_ID\nt,a,x,7\nt,a,x,7\nt,a,x,8\nt,a,y,7\nt,b,x,7\nu,b,,9\nu,b,,9\n"
    )
    (tmp_path / "2.csv").write_text("item,coder,label\nu,a,x\nu,a,x\nu,b,y\n")
    found = am.scan(tmp_path, repeats="all")
    # by a: 7, 8 and y on t, and two without ids on u; by b: one on each
    assert (found.per_coder.tolist(), found.skips) == ([5, 2], 1)
    assert found.notes[0].startswith("2 rows dropped because they repeat an annotation id")
    assert not any("not used" in note for note in found.notes)
    by_item = am.scan(
        tmp_path / "1.csv", item="Annotation_ID", repeats="all"
    )  # then it is no id of labels
    assert by_item.to_annotations().items == ("7", "8")
