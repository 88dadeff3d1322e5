"""A small made-up fit for the examples in the docstrings of this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.schema import RawResult, conform
from annomodels.models.dawid_skene import DawidSkene

if TYPE_CHECKING:
    import xarray as xr


def small_fit(n_draws: int = 100) -> tuple[xr.DataTree, Annotations]:
    """Two items, three coders, two labels; the draws lie close around accuracies .9, .9, .75.

    >>> tree, data = small_fit()
    >>> data
    2 items × 3 coders × 2 labels · 6 annotations · complete
    """
    rows = [
        ("t1", "ana", "neg"),
        ("t1", "ben", "neg"),
        ("t1", "cem", "pos"),
        ("t2", "ana", "pos"),
        ("t2", "ben", "pos"),
        ("t2", "cem", "pos"),
    ]
    data = Annotations.from_records(rows, labels=["neg", "pos"])
    rng = np.random.default_rng(1)
    centre = np.array(
        [[[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.1, 0.9]], [[0.6, 0.4], [0.1, 0.9]]]
    )
    confusion = rng.gamma(2000 * centre, size=(2, n_draws, *centre.shape))
    confusion /= confusion.sum(axis=-1, keepdims=True)
    prevalence = rng.dirichlet([2000, 2000], size=(2, n_draws))
    logp = np.log(prevalence)[:, :, None] + np.stack(
        [
            np.log(confusion[:, :, data.coder[data.item == i], :, data.label[data.item == i]]).sum(
                axis=0
            )
            for i in range(2)
        ],
        axis=2,
    )
    p = np.exp(logp)
    p /= p.sum(axis=-1, keepdims=True)
    entropy = -(p * np.log(p)).sum(axis=-1)
    result = RawResult(
        posterior={"prevalence": prevalence, "confusion": confusion},
        lp=np.log(np.exp(logp).sum(axis=-1)).sum(axis=-1),
        p_truth=p.mean(axis=(0, 1)),
        p_truth_mcse=p.std(axis=(0, 1)) / np.sqrt(2 * n_draws),
        conditional_entropy=entropy.mean(axis=(0, 1)),
        attrs={"engine": "gibbs", "seed": 1, "chains": 2, "draws": n_draws, "stopped": ""},
    )
    return conform(result, data, DawidSkene()), data
