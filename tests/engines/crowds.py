"""Shared sets and simulated crowds for the tests of this folder."""

import csv
import json

import numpy as np

import annomodels as am
from annomodels.engines.run import Run
from annomodels.engines.settings import Settings
from annomodels.engines.source.partition import cut
from annomodels.engines.source.spread import Spread
from annomodels.executors.team import Remote, Threads


def shared_set(shared, name):
    """Annotations of a shared set, and its gold as codes (-1 where unknown)."""
    folder = shared / "data" / name
    with (folder / "labels.csv").open(newline="") as file:
        rows = [(r["item"], r["coder"], r["label"]) for r in csv.DictReader(file)]
    gold = {}
    if (folder / "gold.csv").exists():
        with (folder / "gold.csv").open(newline="") as file:
            gold = {r["item"]: r["label"] for r in csv.DictReader(file)}
    labels = sorted({r[2] for r in rows} | set(gold.values()))
    data = am.Annotations.from_records(rows, labels=labels)
    truth = [data.labels.index(gold[i]) if i in gold else -1 for i in data.items]
    return data, np.array(truth)


def simulate(rng, n_items=120, n_coders=8, n_labels=3, per_item=4, accuracy=0.75):
    """Labels drawn from Dawid-Skene, with the truth."""
    truth = rng.choice(
        n_labels, n_items, p=np.arange(1, n_labels + 1) / np.arange(1, n_labels + 1).sum()
    )
    skill = np.clip(rng.normal(accuracy, 0.1, n_coders), 0.4, 0.97)
    rows = []
    for i in range(n_items):
        for j in rng.choice(n_coders, per_item, replace=False):
            p = np.full(n_labels, (1 - skill[j]) / (n_labels - 1))
            p[truth[i]] = skill[j]
            rows.append((int(i), f"c{j}", int(rng.choice(n_labels, p=p))))
    return am.Annotations.from_records(rows, labels=list(range(n_labels))), truth


def p_truth(fit):
    """P(truth), shape [item, truth]."""
    return fit.tree["truth"]["p_truth"].values


def draws(fit, name):
    values = fit.tree["posterior"][name].values
    return values.reshape(-1, *values.shape[2:])


def assert_same(fit, reference):
    """Compare draws to the bit, classes and densities to rounding, and the modes of the chains."""
    for name, values in reference.tree["posterior"].data_vars.items():
        np.testing.assert_array_equal(fit.tree["posterior"][name].values, values.values)
    for group in ("truth", "sample_stats"):
        for name, values in reference.tree[group].data_vars.items():
            found = fit.tree[group][name].values
            np.testing.assert_allclose(found, values.values, rtol=1e-7, atol=1e-12)
    modes, wanted = (json.loads(each.tree.attrs.get("modes", "[]")) for each in (fit, reference))
    assert [mode["share"] for mode in modes] == [mode["share"] for mode in wanted]


def mean_and_error(values):
    """Mean over chains and draws and its Monte Carlo error, by batch means within chains."""
    chains, n = values.shape[:2]
    batches = 20
    cut = values[:, : n - n % batches].reshape(chains * batches, -1, *values.shape[2:])
    means = cut.mean(axis=1)
    return values.mean(axis=(0, 1)), means.std(axis=0, ddof=1) / np.sqrt(len(means))


def alone(model, codes, start, seed=1, relabel=False):
    """One chain over items that are here."""
    settings = Settings(chains=1, threads=1, seed=seed)
    spread = Spread(cut(codes, 1), Threads(1))
    return Run(model, spread, settings, None, [start], relabel)


class Elsewhere(Remote):
    """A team that is not asked to be here, but is: calls go one after the other."""

    def __init__(self, places=1):
        super().__init__(places)

    def submit(self, function, *arguments):
        return function(*arguments)

    def values(self, promises):
        return list(promises)


class Forgetful(Elsewhere):
    """Holds nothing: whatever is asked for is made again, from the partitions on."""

    def submit(self, function, *arguments):
        return Promise(function, arguments)

    def values(self, promises):
        return [promise.kept() for promise in promises]


class Promise:
    """A call that is made whenever its result is needed."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments

    def kept(self):
        known = [each.kept() if isinstance(each, Promise) else each for each in self.arguments]
        return self.function(*known)
