"""What counting two labels as one would do to agreement and to accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.annotations import Annotations
from annomodels.coefficients.agreement import agreement
from annomodels.summaries.draws import interval

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOST_MERGED", "merged_alpha", "merges", "with_interval"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_MERGED = 45  # pairs of labels whose merging is worked out: all pairs of ten labels
ALPHA_DRAWS = 1000


def merged_alpha(data: Annotations, first: int, second: int) -> tuple[float, Floats | None]:
    """Nominal alpha with two labels counted as one, and its draws; they pair with those of others.

    Parameters
    ----------
    data
        The annotations.
    first, second
        Codes of the labels; the same code twice merges nothing.

    Examples
    --------
    >>> rows = [(1, "a", "x"), (1, "b", "y"), (2, "a", "z"), (2, "b", "z")]
    >>> data = Annotations.from_records(rows)
    >>> merged_alpha(data, 0, 1)[0]
    1.0
    """
    distance = 1.0 - np.eye(data.n_labels)
    distance[first, second] = distance[second, first] = 0.0
    found = agreement(data, "alpha", distance=distance, draws=ALPHA_DRAWS)
    return float(found.value), found.draws


def merges(data: Annotations, mixed: Floats, chosen: Ints) -> pd.DataFrame:
    """Work out what merging does, one row for each pair of labels, indexed by their codes.

    Parameters
    ----------
    data
        The annotations.
    mixed
        J_kl + J_lk of :func:`annomodels.summaries.labels.labels`, shape [sample, label, label].
    chosen
        Codes of the pairs, shape [pair, 2]; alpha is worked out for the most confused of them.

    Returns
    -------
    pandas.DataFrame
        alpha_merged, alpha_change, accuracy_gain, the last two with intervals. Merging two of two
        labels leaves nothing to agree on: NaN.
    """
    import pandas as pd

    plain = merged_alpha(data, 0, 0)
    changes = []
    size = mixed.mean(axis=0)[chosen[:, 0], chosen[:, 1]]
    worth = np.zeros(len(chosen), dtype=bool)
    worth[np.argsort(-size, kind="stable")[:MOST_MERGED]] = data.n_labels > 2
    for (k, m), wanted in zip(chosen.tolist(), worth, strict=True):
        changes.append(_change(plain, merged_alpha(data, k, m)) if wanted else (np.nan,) * 4)
    rows: dict[str, Any] = dict(
        zip(
            ("alpha_merged", "alpha_change", "alpha_change_low", "alpha_change_high"),
            np.array(changes).reshape(-1, 4).T,
            strict=True,
        )
    )
    with_interval(rows, "accuracy_gain", mixed[:, chosen[:, 0], chosen[:, 1]])
    index = pd.MultiIndex.from_tuples([(int(k), int(m)) for k, m in chosen])
    return pd.DataFrame(rows, index=index)


def _change(
    plain: tuple[float, Floats | None], merged: tuple[float, Floats | None]
) -> tuple[float, float, float, float]:
    low = high = float("nan")
    if plain[1] is not None and merged[1] is not None:
        difference = merged[1] - plain[1]
        difference = difference[np.isfinite(difference)]
        if len(difference) > 1:
            low, high = (float(end) for end in interval(difference))
    return merged[0], merged[0] - plain[0], low, high


def with_interval(table: dict[str, Any], name: str, draws: Floats) -> None:
    """Add the mean of draws [sample, row] to a table, and their 95 % interval.

    Parameters
    ----------
    table
        Columns by name; gets three more.
    name
        Name of the column; ``_low`` and ``_high`` are put behind it for the interval.
    draws
        Shape [sample, row].
    """
    low, high = interval(draws)
    table |= {name: draws.mean(axis=0), f"{name}_low": low, f"{name}_high": high}
