"""Coefficients of covariates, with intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.summaries.draws import flat, interval, model_of
from annomodels.summaries.notes import say
from annomodels.types import Floats

SURE = 0.975


def effects(tree: xr.DataTree, data: Annotations) -> Summary:
    """Tabulate the coefficients of the covariates, one row per term."""
    found = _draws(tree, data)
    if not found:
        raise NotApplicable(
            f"The {model_of(tree).title} model was fitted without covariates. Give them, such as "
            "am.models.ScalarDifficulty(coder_covariates=table) or "
            "ScalarDifficulty(item_covariates=table)."
        )
    rows, kept, notes = [], {}, []
    for name, each in found.items():
        low, high = interval(each.draws)
        for n, (term, unit) in enumerate(each.terms):
            one = each.draws[:, n]
            rows.append(
                {
                    "of": each.of, "term": term, "unit": unit, "effect": one.mean(),
                    "sd": one.std(), "low": low[n], "high": high[n],
                    "p_positive": (one > 0).mean(),
                }
            )  # fmt: skip
        kept[name] = (("sample", f"{name}_term"), each.draws)
        notes.append(str(say("effect", of=each.of, words=each.words)))
        goes_with = "coders' ability" if each.of == "coder" else "items' difficulty"
        notes.append(f"A column correlated with the {goes_with} is not necessarily its cause.")
    table = pd.DataFrame(rows)
    return Summary("Effects of covariates", table, xr.Dataset(kept), tuple(notes))


def effect_sentences(tree: xr.DataTree, data: Annotations, of: str) -> tuple[str, ...]:
    """Describe the covariates with a clear sign, and count the others."""
    if all(each.of != of for each in _draws(tree, data).values()):
        return ()
    every: Any = effects(tree, data).table
    table = every[every["of"] == of]
    clear = table[(table["p_positive"] > SURE) | (table["p_positive"] < 1.0 - SURE)]
    more_of_it, less_of_it = ("Better", "Worse") if of == "coder" else ("Harder", "Easier")
    said = [
        f"{more_of_it if row.effect > 0 else less_of_it} with {row.term} ({row.unit}): "
        f"{row.effect:+.2f} ({row.low:.2f} to {row.high:.2f}) logits."
        for row in clear.itertuples()
    ]
    rest = len(table) - len(clear)
    more = [f"The sign of {counted(rest, 'other term')} of covariates is open."] if rest else []
    return (*said, *more, "All coefficients are in fit.effects().")


class _Effects(NamedTuple):
    """Coefficients of coders or items: outcome, terms with units, draws [sample, term]."""

    of: str
    words: str
    terms: tuple[tuple[str, str], ...]
    draws: Floats


def _draws(tree: xr.DataTree, data: Annotations) -> dict[str, _Effects]:
    model = model_of(tree)
    return {
        each.name: _Effects(
            each.dims[0].removesuffix("_term"),
            each.effect,
            each.terms,
            flat(tree, each.name),
        )
        for each in model.parameters(data.n_labels)
        if each.effect and each.name in tree["posterior"]
    }
