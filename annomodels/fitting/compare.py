"""Comparison of fits by predictions of held-out data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

import numpy as np

from annomodels.data.columns import percent
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable, Option
from annomodels.fitting.fit import Fit
from annomodels.summaries.arviz import effective_share, posterior
from annomodels.summaries.trust.held_out import (
    COLUMNS,
    FEWEST_DRAWS,
    By,
    HeldOut,
    held_out,
    whole_chains,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from annomodels.data.annotations import Annotations


def compare(fits: Sequence[Fit] | Mapping[str, Fit], by: By = "item") -> Summary:
    r"""Compare fits of different models to the same data by their predictions of held-out data.

    The score of a fit is its expected log predictive density
    :math:`\sum_i \log p(y_i \mid y_{-i})`, leaving out one item (or one label) at a time; higher is
    better. It is estimated from the draws by Pareto-smoothed importance sampling. Differences have
    standard errors because the fits predict the same points.

    Parameters
    ----------
    fits
        Two or more fits of the same data; a mapping names them.
    by
        Unit to leave out: "item", with all its labels, measures predictions for new items; "label"
        measures predictions for one more label of a known item.

    Returns
    -------
    Summary
        One row for each fit, best first: ``elpd`` and its ``se`` in nats, ``difference`` to the
        best and its ``difference_se``, ``weight`` in the best mixture of the predictions
        (stacking), ``parameters`` (effective number), ``unreliable`` (points whose estimate cannot
        be trusted) and a ``verdict`` as text.

    Raises
    ------
    NotApplicable
        With fewer than two fits, fits of different data, a fit of numbers or of a scan, or too few
        draws.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), doi:10.1007/s11222-016-9696-4; Yao et al. (2018), stacking,
    doi:10.1214/17-BA1091.

    Examples
    --------
    >>> import annomodels as am
    >>> data = am.datasets.load("anesthesia")
    >>> options = {"chains": 2, "draws": 200, "seed": 1}
    >>> found = am.compare([am.fit(data, name, **options) for name in ("pooled", "mace")])
    >>> found.table["model"].tolist()
    ['pooled', 'mace']
    """
    if by not in get_args(By):
        raise NotApplicable(f"{Option('by', by)} is unknown. Use one of {', '.join(get_args(By))}.")
    named = dict(fits) if isinstance(fits, Mapping) else _names(list(fits))
    _check(named)
    found = {name: _score(by, fit.tree, fit.data) for name, fit in named.items()}
    table = _ranked(found)
    return Summary(
        f"Expected log predictive density, leaving out one {by} at a time",
        table,
        _draws(found),
        _notes(found, by),
        COLUMNS,
    )


def _score(by: By, tree: xr.DataTree, data: Annotations) -> HeldOut:
    draws = whole_chains(tree, data)
    return held_out(tree, data, by, draws, effective_share(posterior(tree, data), len(draws)))


def _names(fits: list[Fit]) -> dict[str, Fit]:
    """Name fits by their models, with numbers if a model occurs twice."""
    names = [fit.model.name for fit in fits]
    seen: dict[str, int] = {}
    out: dict[str, Fit] = {}
    for name, fit in zip(names, fits, strict=True):
        seen[name] = seen.get(name, 0) + 1
        out[f"{name} ({seen[name]})" if names.count(name) > 1 else name] = fit
    return out


def _check(named: dict[str, Fit]) -> None:
    if len(named) < 2:
        raise NotApplicable(f"A comparison needs at least two fits, not {len(named)}.")
    for name, fit in named.items():
        if reason := fit.unsupported("compare"):
            raise NotApplicable(f"{name} cannot be compared: {reason}.")
    prints = {name: fit.tree.attrs["data_fingerprint"] for name, fit in named.items()}
    first, *others = prints
    if other := next((name for name in others if prints[name] != prints[first]), ""):
        raise NotApplicable(
            f"{first} and {other} were fitted to different data, so their predictions cannot be "
            "compared. Fit both to the same labels (and the same known gold)."
        )
    for name, fit in named.items():
        sizes = fit.tree["posterior"].sizes
        if (n := int(sizes["chain"] * sizes["draw"])) < FEWEST_DRAWS:
            raise NotApplicable(
                f"{name} has {counted(n, 'draw')}; a comparison needs at least {FEWEST_DRAWS}. "
                f'Fit it with {Option("engine", "gibbs")} or "nuts".'
            )


def _ranked(found: dict[str, HeldOut]) -> pd.DataFrame:
    import pandas as pd

    weights = _stacking(found)
    names = sorted(found, key=lambda name: -found[name].total)
    best = found[names[0]]
    rows = []
    for name in names:
        part = found[name]
        gap = part.elpd - best.elpd
        error = float(np.sqrt(len(gap) * gap.var(ddof=1)))
        rows.append(
            {
                "model": name,
                "elpd": part.total,
                "se": part.error,
                "difference": float(gap.sum()),
                "difference_se": error,
                "weight": weights[name],
                "parameters": float((part.in_sample - part.elpd).sum()),
                "unreliable": part.n_bad,
                "verdict": "best" if name == names[0] else _verdict(float(gap.sum()), error),
            }
        )
    return pd.DataFrame(rows)


def _verdict(gap: float, error: float) -> str:
    """Describe the evidence that a fit predicts worse than the best."""
    # differences below 4 nats are not resolved regardless of their standard error (Sivula et al.
    # 2020, doi:10.48550/arXiv.2008.10296)
    if gap > -4 or gap > -2 * error:
        return "as good as the best, as far as these data show"
    return "worse" if gap > -4 * error else "clearly worse"


def _stacking(found: dict[str, HeldOut]) -> dict[str, float]:
    """Return the weights of the mixture of predictions with the best held-out score."""
    import xarray as xr
    from arviz_stats import compare as arviz_compare
    from arviz_stats.utils import ELPDDataLOO

    # a shift common to all fits changes no weight, and avoids underflow for long items
    top = np.max([part.elpd for part in found.values()], axis=0)
    given = {
        name: ELPDDataLOO(
            elpd=float((part.elpd - top).sum()),
            se=part.error,
            p=float((part.in_sample - part.elpd).sum()),
            n_samples=part.n_draws,
            n_data_points=len(part.elpd),
            scale="log",
            warning=False,
            good_k=part.good_k,
            elpd_i=xr.DataArray(part.elpd - top),
            pareto_k=xr.DataArray(part.pareto_k),
        )
        for name, part in found.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # replaced by our note
        table = arviz_compare(given, method="stacking", round_to="none")
    weights = table["weight"].clip(lower=0.0)
    return {str(name): float(weight) for name, weight in (weights / weights.sum()).items()}


def _draws(found: dict[str, HeldOut]) -> xr.Dataset:
    import xarray as xr

    scores = np.stack([part.elpd for part in found.values()])
    tails = np.stack([part.pareto_k for part in found.values()])
    return xr.Dataset(
        {"elpd": (("model", "point"), scores), "pareto_k": (("model", "point"), tails)},
        coords={"model": list(found)},
    )


def _notes(found: dict[str, HeldOut], by: str) -> tuple[str, ...]:
    n = len(next(iter(found.values())).elpd)
    notes = [
        f"Scores are sums over {n:,} {by}s, in nats; higher is better. A model that predicts "
        "better need not have the better gold standard: check that on known gold if you can."
    ]
    notes += [
        f"{name}: for {part.n_bad:,} of {n:,} {by}s ({percent(part.n_bad / n, 1)}) the estimate is "
        f"unreliable (Pareto k above {part.good_k:.2f}): leaving them out changes the posterior "
        "too much. Its score is probably too good."
        for name, part in found.items()
        if part.n_bad
    ]
    return tuple(notes)
