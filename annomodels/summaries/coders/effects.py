"""What covariates are worth: their coefficients, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.errors import NotApplicable
from annomodels.summaries.draws import interval, model_of
from annomodels.summaries.summary import Summary

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.types import Floats

SURE = 0.975


def effects(tree: xr.DataTree, data: Annotations) -> Summary:
    """Coefficients of the covariates, one row per term.

    Parameters
    ----------
    tree
        Result of a fit of a model with covariates.
    data
        What was fitted.

    Returns
    -------
    Summary
        term, unit (what one more of it is), effect, sd, low and high (95 % interval), and
        p_positive = P(effect > 0). In logits: exp(effect) is by what the odds are multiplied.

    Raises
    ------
    NotApplicable
        When the model has no covariates.
    """
    import pandas as pd
    import xarray as xr

    found = _draws(tree, data)
    if not found:
        raise NotApplicable(
            f"The {model_of(tree).title} model was fitted without covariates. Give them, such as "
            "am.models.ScalarDifficulty(coder_covariates=table)."
        )
    rows, kept, notes = [], {}, []
    for name, (words, terms, draws) in found.items():
        low, high = interval(draws)
        for n, (term, unit) in enumerate(terms):
            one = draws[:, n]
            rows.append(
                {
                    "term": term, "unit": unit, "effect": one.mean(), "sd": one.std(),
                    "low": low[n], "high": high[n], "p_positive": (one > 0).mean(),
                }
            )  # fmt: skip
        kept[name] = (("sample", f"{name}_term"), draws)
        notes.append(
            f"effect: what one more of a term adds to the {words}; numbers are standardised over "
            "the coders, texts are compared with the most frequent one."
        )
    notes.append("A column that goes with the coders' ability need not be its cause.")
    table = pd.DataFrame(rows)
    return Summary("Effects of covariates", table, xr.Dataset(kept), tuple(notes))


def effect_sentences(tree: xr.DataTree, data: Annotations) -> tuple[str, ...]:
    """Say which covariates surely matter, and that there are others.

    Parameters
    ----------
    tree
        Result of a fit.
    data
        What was fitted.
    """
    if not _draws(tree, data):
        return ()
    table: Any = effects(tree, data).table
    clear = table[(table["p_positive"] > SURE) | (table["p_positive"] < 1.0 - SURE)]
    said = [
        f"{'Better' if row.effect > 0 else 'Worse'} with {row.term} ({row.unit}): "
        f"{row.effect:+.2f} [{row.low:.2f}, {row.high:.2f}] logits."
        for row in clear.itertuples()
    ]
    rest = len(table) - len(clear)
    more = [f"Of {rest} other term(s) of covariates the sign is open."] if rest else []
    return (*said, *more, "All coefficients are in fit.effects().")


def _draws(
    tree: xr.DataTree, data: Annotations
) -> dict[str, tuple[str, list[tuple[str, str]], Floats]]:
    """Give what coefficients add to, their terms with their units, and draws [sample, term]."""
    model = model_of(tree)
    posterior = tree["posterior"].to_dataset()
    found = {}
    for each in model.parameters(data.n_labels):
        if each.effect and each.name in posterior:
            values = posterior[each.name].values.astype(np.float64)
            draws = values.reshape(-1, values.shape[-1])
            found[each.name] = (each.effect, model.terms(each.name), draws)
    return found
