"""Labels of a crowd, scanned into small blocks, and what a fit of them wrote."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import annomodels as am
from annomodels.scale import sorting
from annomodels.scale.scanned import Scanned


def crowd(n_items: int = 600, n_coders: int = 25, seed: int = 0) -> pd.DataFrame:
    """Labels of a crowd with some repeats and some known gold."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n_items, p=[0.5, 0.3, 0.2])
    item = np.repeat(np.arange(n_items), rng.integers(2, 6, n_items))
    coder = rng.integers(0, n_coders, len(item))
    right = rng.random(len(item)) < rng.uniform(0.5, 0.95, n_coders)[coder]
    label = np.where(right, truth[item], rng.choice(3, len(item)))
    gold = np.where(np.arange(n_items) % 10 == 0, truth, -1)
    words = np.array(["no", "perhaps", "yes", ""])
    frame = pd.DataFrame(
        {
            "item": [f"t{n}" for n in item],
            "coder": [f"ann{j}" for j in coder],
            "label": words[label],
            "gold": words[gold[item]],
        }
    )
    return frame.sample(frac=1, random_state=1)


def in_blocks(path: Path, size: int, **options: Any) -> Scanned:
    """Scan into blocks of so many labels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "BLOCK_LABELS", size)
        return am.scan(path, **options)


def truths(fit: am.Fit) -> pd.DataFrame:
    """Give what a fit wrote of the items."""
    assert fit.truth is not None
    return pd.concat([pd.read_parquet(path) for path in sorted(fit.truth.iterdir())])
