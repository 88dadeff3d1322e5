"""Draws for a seed, kept as numbers: a change of code that is to change no draw changes none.

NUTS is not among them: the last bit of its start changes all that follows.

`python -m tests.engines.test_draws` records them again; with names of cases, these alone; with
``--exact`` it compares bits instead, and records nothing.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import annomodels as am
from annomodels import models
from annomodels.priors import Diagonal
from tests.scale.scans import crowd as labels
from tests.scale.scans import in_blocks

FILE = Path(__file__).with_suffix(".json")
SHORT: dict[str, Any] = {"chains": 2, "draws": 40, "warmup": 30, "seed": 1, "threads": 2}
PLAIN = {**SHORT, "extend": False}
CLIMB: dict[str, Any] = {"engine": "em", "starts": 3, "seed": 1, "threads": 2}
# numbers that another processor may round in another way
CLOSE = 1e-7

CLASSES = ("pooled", "one-coin", "class-conditional", "mace", "dawid-skene", "hierarchical")
STATES = ("guess-level", "consensus", "easy-hard", "ambiguous", "readings")


def crowd(known: bool = False, silent: bool = False, n_labels: int = 3) -> am.Annotations:
    """Simulate labels of a crowd, with known labels or with answers that are none."""
    rng = np.random.default_rng(7)
    truth = rng.integers(n_labels, size=150)
    rows: list[tuple[Any, ...]] = []
    for i in range(len(truth)):
        for j in rng.choice(12, 4, replace=False):
            right = rng.random() < 0.55 + 0.03 * j
            label = truth[i] if right else rng.integers(n_labels)
            none = silent and rng.random() < 0.1
            rows.append((f"i{i}", f"c{j}", "dk" if none else str(label)))
    given = {f"i{i}": str(truth[i]) for i in range(0, 150, 6)} if known else None
    names = [str(k) for k in range(n_labels)]
    return am.Annotations.from_records(
        rows, labels=names, truth=given, dont_know=("dk",) if silent else ()
    )


def numbers() -> am.Annotations:
    rng = np.random.default_rng(3)
    truth = rng.normal(5.0, 2.0, 30)
    rows = [
        (i, f"c{j}", round(float(truth[i] + rng.normal(0.1 * j, 0.5)), 2))
        for i in range(30)
        for j in rng.choice(6, 3, replace=False)
    ]
    return am.Annotations.from_records(rows, scale="interval")


def links() -> Any:
    """Mentions with candidates for their antecedents."""
    rng = np.random.default_rng(4)
    names = [f"d{n}(m{n})" for n in range(2)]
    rows = [
        (f"m{i}", f"c{j}", names[0] if rng.random() < 0.8 else names[1])
        for i in range(40)
        for j in range(4)
    ]
    import pandas as pd

    return am.coref.pairs(pd.DataFrame(rows, columns=["item", "coder", "label"]))


@cache
def folder() -> Path:
    """Folder for files to scan, which stays until the process ends."""
    held = tempfile.TemporaryDirectory()
    folder.held = held  # type: ignore[attr-defined]
    return Path(held.name)


def scanned() -> Any:
    """Return a crowd with known labels, in blocks on disk."""
    path = folder() / "labels.csv"
    labels(n_items=150, n_coders=12).to_csv(path, index=False)
    return in_blocks(path, 150, truth="gold")


def grouped(data: am.Annotations, **options: Any) -> Any:
    groups = {name: "ab"[n % 2] for n, name in enumerate(data.coders)}
    return models.GroupedCoders(groups=groups, **options)


def returning() -> am.Fit:
    prior = am.prior_from(am.fit(crowd(known=True), "hierarchical", **PLAIN))
    return am.fit(crowd(), prior, **PLAIN)


def case(data: Callable[[], Any], model: Any, **options: Any) -> Callable[[], am.Fit]:
    """Return what makes a fit."""

    def fit() -> am.Fit:
        labels = data()
        return am.fit(labels, model(labels) if callable(model) else model, **options)

    return fit


@cache
def named(name: str) -> am.Annotations:
    return am.datasets.load(name)


SPREAD = Diagonal(300.0, 0.7, 10.0, 1.0)
CASES: dict[str, Callable[[], am.Fit]] = {
    **{f"{m} anesthesia": case(lambda: named("anesthesia"), m, **PLAIN) for m in CLASSES},
    **{f"{m} known": case(lambda: crowd(known=True), m, **PLAIN) for m in (*CLASSES, *STATES)},
    "spammers crowd": case(lambda: named("crowd"), "spammers", **PLAIN),
    **{f"{m} silent": case(lambda: crowd(silent=True), m, **PLAIN) for m in CLASSES},
    **{f"{m} em": case(lambda: crowd(known=True), m, **CLIMB) for m in CLASSES},
    **{f"{m} scan": case(scanned, m, **PLAIN) for m in ("pooled", "mace", "hierarchical")},
    "dawid-skene extended": case(lambda: named("anesthesia"), "dawid-skene", **SHORT),
    "hierarchical caries": case(lambda: named("caries"), "hierarchical", **PLAIN),
    "hierarchical caries em": case(lambda: named("caries"), "hierarchical", **CLIMB),
    "hierarchical scan em": case(scanned, "hierarchical", **{**CLIMB, "starts": 1}),
    "hierarchical parts": case(crowd, "hierarchical", partitions=3, **PLAIN),
    "hierarchical silent em": case(lambda: crowd(silent=True), "hierarchical", **CLIMB),
    "hierarchical traced": case(crowd, "hierarchical", memory=60_000, **PLAIN),
    "hierarchical six labels": case(lambda: crowd(n_labels=6), "hierarchical", **PLAIN),
    "carpenter": case(crowd, models.HierarchicalDawidSkene.carpenter(), **PLAIN),
    "spread": case(crowd, models.HierarchicalDawidSkene(population=SPREAD), **PLAIN),
    "groups": case(lambda: crowd(known=True), grouped, **PLAIN),
    "groups em": case(lambda: crowd(known=True), grouped, **CLIMB),
    "groups spread": case(crowd, lambda data: grouped(data, population=SPREAD), **PLAIN),
    "returning": returning,
    "readings unknown": case(crowd, "readings", **SHORT),
    "interval": case(numbers, "interval", **PLAIN),
    "pairs": case(links, "pairs", **SHORT),
    "single": case(links, "single", **SHORT),
}


def values_of(fit: am.Fit) -> dict[str, Any]:
    """Return every array of a fit's result, and of what it wrote on disk."""
    held = {
        f"{group}/{name}": values.values
        for group in ("posterior", "truth", "sample_stats")
        if group in fit.tree.children
        for name, values in fit.tree[group].data_vars.items()
    }
    if getattr(fit, "truth", None) is not None:
        import pandas as pd

        frame = pd.concat([pd.read_parquet(path) for path in sorted(fit.truth.iterdir())])
        numeric = frame.select_dtypes("number")
        held["written"] = numeric.to_numpy(dtype=float)
    return {n: v for n, v in held.items() if v.size and np.issubdtype(v.dtype, np.number)}


def summed_up(values: Any) -> list[Any]:
    """Return a digest of the bits, and two numbers that hardly any other array has."""
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    digest = hashlib.blake2b(flat.tobytes(), digest_size=6).hexdigest()
    finite = np.where(np.isfinite(flat), flat, -1.0)
    weight = 1.0 + np.cos(np.arange(len(flat)))
    return [digest, float(finite.mean()), float((weight * finite).mean())]


def record(name: str) -> dict[str, list[Any]]:
    """Make the fit of a case, and sum up its arrays."""
    fit = CASES[name]()
    return {each: summed_up(values) for each, values in sorted(values_of(fit).items())}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_seed_gives_the_draws_that_it_gave(name: str) -> None:
    wanted, found = json.loads(FILE.read_text())[name], record(name)
    assert set(found) == set(wanted)
    for each, (digest, *numbers_) in wanted.items():
        if found[each][0] != digest:
            np.testing.assert_allclose(found[each][1:], numbers_, rtol=CLOSE, atol=1e-9)


def main(*chosen: str) -> None:
    exact, chosen = "--exact" in chosen, tuple(each for each in chosen if each != "--exact")
    held = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in chosen or CASES:
        found = record(name)
        if exact:
            other = [each for each in held[name] if found.get(each) != held[name][each]]
            print(name, "equal" if not other and len(found) == len(held[name]) else other)
        else:
            held[name] = found
    if not exact:
        FILE.write_text(json.dumps(held, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
