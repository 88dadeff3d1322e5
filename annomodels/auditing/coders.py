"""Tables of an estimate on coders: accuracy, by label, and all of them as a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.auditing.rectify import ENDS
from annomodels.auditing.rows import WRONG, three
from annomodels.auditing.tables import Tables
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

# most rows of the table of coders and labels, and draws of the panel
MOST_CLASSES, PANEL_DRAWS = 2_000, 1_000
# pairs of coders with fewer audited items in common say nothing; more coders are not paired
FEWEST_SHARED, MOST_CODERS = 10, 150


def accuracies(t: Tables) -> tuple[Floats, Ints]:
    """Draw the share of right labels [draw, coder], NaN without any; and count the labels."""
    data = t.data
    labels = data.item, data.coder.astype(np.int64), data.label.astype(np.int64)
    rng = np.random.default_rng([t.seed, 1_000_002])
    shares = t.some(WRONG, data.n_coders)
    right, n = t.estimator.coders(t.seen, shares, labels, data.n_coders, rng)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(n > 0, right / n, np.nan), n


def coders(t: Tables, share: Floats, n: Ints) -> pd.DataFrame:
    """Tabulate the share of right labels of each coder, from its draws."""
    import pandas as pd

    data = t.data
    truth = t.truth()[data.item]
    judged = truth >= 0
    hit = judged & (data.label == truth)
    low, high = np.quantile(share, ENDS, axis=0)
    return pd.DataFrame(
        {
            "coder": list(data.coders),
            "n": n,
            "audited": np.bincount(data.coder[judged], minlength=data.n_coders),
            "right": np.bincount(data.coder[hit], minlength=data.n_coders),
            "accuracy": share.mean(axis=0),
            "accuracy_low": low,
            "accuracy_high": high,
        }
    )


def classes(t: Tables) -> pd.DataFrame:
    """Tabulate the share of the items of each label to which each coder gave it."""
    import pandas as pd

    data = t.data
    columns = ["coder", "label", "audited", "right", "share", "share_low", "share_high"]
    if data.n_coders * data.n_labels > MOST_CLASSES:
        return pd.DataFrame(columns=columns)
    rows = []
    truth, coder = t.truth()[data.item], data.coder.astype(np.int64)
    for label, name in enumerate(data.labels):
        shares = t.some(label, 2 * data.n_coders)
        rng = np.random.default_rng([t.seed, 1_000_003, label])
        gave = data.label == label
        units = data.item, 2 * coder + gave
        found = t.estimator.groups(label, t.seen, shares, units, 2 * data.n_coders, rng)
        yes, no = found[:, 1::2], found[:, ::2]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(yes + no > 0, yes / (yes + no), np.nan)
        asked = np.bincount(coder[truth == label], minlength=data.n_coders)
        right = np.bincount(coder[(truth == label) & gave], minlength=data.n_coders)
        for who in range(data.n_coders):
            row = {"coder": data.coders[who], "label": name}
            row |= {"audited": int(asked[who]), "right": int(right[who])}
            rows.append(row | three("share", share[:, who]))
    return pd.DataFrame(rows, columns=columns)


def panel(t: Tables, share: Floats, n: Ints) -> pd.DataFrame:
    """Tabulate how many independent coders these are worth, and the best coder against all."""
    import pandas as pd

    data, rows = t.data, []
    place = np.full(data.n_items, -1)
    place[t.seen.item] = np.arange(len(t.seen.item))
    judged = place[data.item] >= 0
    at, coder = place[data.item[judged]], data.coder[judged]
    errors = np.full((len(t.seen.item), data.n_coders), np.nan)
    errors[at, coder] = data.label[judged] != t.seen.truth[at]
    rng = np.random.default_rng([t.seed, 1_000_006])
    worth, together = effective(errors, t.weights, min(t.n_draws, PANEL_DRAWS), rng)
    found = [("effective_coders", "", worth), ("error_correlation", "", together)]
    many = np.flatnonzero(2 * n >= n.max())
    if len(many) > 1 and len(t.seen.item):
        # the best on average is not taken to be the best for sure: it is the same in all draws
        best = int(many[share[:, many].mean(axis=0).argmax()])
        gold = 1 - t.drawn(WRONG)[0][: len(share)] / t.n_items
        found += [
            ("best_coder", data.coders[best], share[:, best]),
            ("gold_less_best_coder", data.coders[best], gold - share[:, best]),
        ]
    for quantity, who, draws in found:
        if len(draws):
            rows.append({"quantity": quantity, "coder": who} | three("value", draws, bare=True))
    return pd.DataFrame(rows, columns=["quantity", "coder", "value", "low", "high"])


def effective(
    errors: Floats, counts: Floats, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw the effective number of coders, and the mean correlation of their errors."""
    # n_eff = J / (1 + (J - 1) rho): rho >= 0 is the mean correlation of wrong labels over pairs of
    # coders (Kish 1965), under a Bayesian bootstrap of the audited items (Rubin 1981,
    # doi:10.1214/aos/1176345338). `errors` [audited, coder] are 1, 0, or NaN without a label. Both
    # results are empty if no two coders share enough items.
    given = np.isfinite(errors)
    n_coders = errors.shape[1]
    shared = given.T.astype(float) @ given
    pairs = np.argwhere(np.triu(shared >= FEWEST_SHARED, 1))
    if not len(pairs) or n_coders > MOST_CODERS:
        return np.empty(0), np.empty(0)
    there = given.astype(float)
    wrong = np.where(given, errors, 0.0)
    correlation = np.empty(draws)
    for draw in range(draws):
        weight = (rng.standard_exponential(len(errors)) * counts)[:, None]
        n = (there * weight).T @ there
        both = (wrong * weight).T @ wrong
        of_first = (wrong * weight).T @ there
        a, b = pairs.T
        total = np.maximum(n[a, b], 1e-300)
        p, q = of_first[a, b] / total, of_first[b, a] / total
        spread = np.sqrt(p * (1 - p) * q * (1 - q))
        with np.errstate(invalid="ignore", divide="ignore"):
            rho = np.where(spread > 1e-12, (both[a, b] / total - p * q) / spread, np.nan)
        correlation[draw] = np.nanmean(rho) if np.isfinite(rho).any() else np.nan
    correlation = correlation[np.isfinite(correlation)]
    worth = n_coders / (1.0 + (n_coders - 1) * np.clip(correlation, 0.0, 1.0))
    return worth, correlation
