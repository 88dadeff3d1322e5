"""Labels of any number for scaling.py: simulated and written as Parquet, a block at a time.

    python benchmarks/scaling_data.py FOLDER LABELS [SEED]

K = 5 labels, 5 labels on each item, a thousand from each coder on average and up to 10,000 coders,
of whom few give many labels. Names are texts, items are not in the order of their names, and the
rows of twenty thousand items each are shuffled, as labels come in batches.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

PER_ITEM, N_LABELS = 5, 5
PER_CODER, LEAST_CODERS, MOST_CODERS = 1_000, 20, 10_000
BLOCK_ITEMS = 200_000
# items whose rows are mixed with each other: as many in sets of all sizes, the smallest included
# whose time is compared, since a table of the names that were just seen is smaller or larger
MIXED_ITEMS = 20_000


def n_coders(n: int) -> int:
    """Give the number of coders of a set of `n` labels, so that crowds of all sizes are of a kind.

    If smaller sets had fewer labels from each coder, EM and Gibbs would take more iterations there
    and most of their time for the coders, and times of two sizes could not be compared.
    """
    return max(LEAST_CODERS, min(MOST_CODERS, n // PER_CODER))


def write(folder: Path, n: int, seed: int = 1, coders: int | None = None) -> None:
    """Simulate `n` labels from Dawid-Skene and write them into Parquet files of a million rows.

    Without a number of `coders` there are as many as `n_coders` gives.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    coders = coders or n_coders(n)
    share = rng.lognormal(0.0, 1.0, coders)
    edges = np.cumsum(share / share.sum())
    alpha = np.full((N_LABELS, N_LABELS), 3.0 / (N_LABELS - 1))
    np.fill_diagonal(alpha, 7.0)
    confusion = np.stack([rng.dirichlet(row, coders) for row in alpha], axis=1).cumsum(axis=2)
    prevalence = rng.dirichlet(np.full(N_LABELS, 5.0))
    labels = np.array([f"class {k}" for k in range(N_LABELS)])
    names = np.array([f"coder{j:05d}" for j in range(coders)])
    n_items = max(1, n // PER_ITEM)
    folder.mkdir(parents=True, exist_ok=True)
    for block, first in enumerate(range(0, n_items, BLOCK_ITEMS)):
        items = np.arange(first, min(first + BLOCK_ITEMS, n_items))
        truth = rng.choice(N_LABELS, len(items), p=prevalence)
        coder = _different(rng, edges, len(items))
        at = rng.random((len(items), PER_ITEM, 1))
        label = (at > confusion[coder, truth[:, None], :-1]).sum(axis=2)
        mixed = np.arange(coder.size) // (PER_ITEM * MIXED_ITEMS)
        order = np.argsort(mixed + rng.random(coder.size))
        # a multiple without common factors brings the names out of order
        numbers = (items * 7_368_787) % 1_000_000_007
        columns: dict[str, Any] = {
            "item": pa.array(np.char.add("item", numbers.astype(str)))
            .take(pa.array(order // PER_ITEM)),
            "coder": pa.DictionaryArray.from_arrays(
                pa.array(coder.ravel()[order].astype(np.int32)), pa.array(names)
            ).cast(pa.string()),
            "label": pa.DictionaryArray.from_arrays(
                pa.array(label.ravel()[order].astype(np.int32)), pa.array(labels)
            ).cast(pa.string()),
        }  # fmt: skip
        pq.write_table(pa.table(columns), folder / f"labels-{block:04d}.parquet")


def _different(rng: Any, edges: Any, n: int) -> Any:
    """Draw coders of items so that nobody labels an item twice."""
    import numpy as np

    coder = np.sort(np.searchsorted(edges, rng.random((n, PER_ITEM))), axis=1)
    coder = np.minimum(coder, len(edges) - 1)
    while (again := (np.diff(coder, axis=1) == 0).any(axis=1)).any():
        fresh = np.searchsorted(edges, rng.random((int(again.sum()), PER_ITEM)))
        coder[again] = np.sort(np.minimum(fresh, len(edges) - 1), axis=1)
    return coder


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(float(sys.argv[2])), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
