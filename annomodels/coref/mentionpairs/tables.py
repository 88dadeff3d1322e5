"""Tables of a fit, with the draws they were made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from annomodels.coref.mentionpairs.chains import best_candidates
from annomodels.coref.mentionpairs.checks import monte_carlo_error
from annomodels.coref.mentionpairs.engines import Draws
from annomodels.data.candidates import NONE, Candidates
from annomodels.errors import NotApplicable
from annomodels.models.pairs import PairModel
from annomodels.types import Floats

if TYPE_CHECKING:
    import xarray as xr

    from annomodels.summaries.summary import Summary


NUMBERS = np.array(["none", "one", "several"])


def dataset(model: PairModel, codes: Candidates, drawn: Draws) -> xr.Dataset:
    """Draws with named dimensions."""
    import xarray as xr

    lead = "chain", "draw"
    return xr.Dataset(
        {
            "prevalence": ((*lead, "class"), drawn.prevalence),
            "rate": ((*lead, "coder", "kind"), drawn.rate),
            "mean": ((*lead, "kind"), drawn.mean),
            "concentration": ((*lead, "kind"), drawn.concentration),
            "log_likelihood": (lead, drawn.log_likelihood),
        },
        coords={
            "class": list(codes.classes),
            "coder": list(codes.coders),
            **model.coords([name for name in codes.classes if name != NONE]),
        },
    )


def kinds(model: PairModel, codes: Candidates) -> list[tuple[str, str]]:
    """Class and quantity of each kind of rate."""
    names = [name for name in codes.classes if name != NONE]
    return [(name, quantity) for name in names for quantity in model.quantities]


def interpretations(model: PairModel, codes: Candidates, drawn: Draws, p_next: Floats) -> Summary:
    """All candidates with their probabilities."""
    import pandas as pd
    import xarray as xr

    from annomodels.summaries.summary import Summary

    p = drawn.p_batches.mean(axis=(0, 1))
    silver = p > 0.5
    if model.single:
        silver = np.zeros(len(p), dtype=bool)
        silver[best_candidates(codes, p)] = True
    table = pd.DataFrame(
        {
            "item": np.array(codes.items, dtype=object)[codes.mention],
            "label": np.array(codes.labels, dtype=object),
            "class": np.array(codes.classes, dtype=object)[codes.cls],
            "votes": codes.votes,
            "coders": codes.judged()[codes.mention],
            "p_true": p,
            "mc_error": monte_carlo_error(drawn),
            "p_next": p_next,
            "silver": silver,
        }
    )
    draws = xr.Dataset({"p_true": (("chain", "batch", "candidate"), drawn.p_batches)})
    return Summary("Interpretations", table, draws)


def mentions(codes: Candidates, drawn: Draws, p_next: Floats) -> Summary:
    """Mentions with their best label, and how many readings are true."""
    import pandas as pd
    import xarray as xr

    from annomodels.summaries.summary import Summary

    p = drawn.p_batches.mean(axis=(0, 1))
    best = best_candidates(codes, p)
    number = drawn.p_number
    table = pd.DataFrame(
        {
            "item": np.array(codes.items, dtype=object),
            "silver": np.array(codes.labels, dtype=object)[best],
            "p_silver": p[best],
            "p_next": p_next[best],
            "p_none": number[:, 0],
            "p_one": number[:, 1],
            "p_several": number[:, 2],
            "readings": NUMBERS[number.argmax(axis=1)],
        }
    )
    counts = table["readings"].value_counts()
    note = ", ".join(f"{int(counts.get(name, 0))} with {name}" for name in NUMBERS)
    draws = xr.Dataset({"p_true": (("chain", "batch", "candidate"), drawn.p_batches)})
    return Summary("Mentions", table, draws, (f"True readings, at their most probable: {note}.",))


def ambiguous(model: PairModel, found: Summary, threshold: float) -> Summary:
    """Keep mentions that have no true reading or several, or whose single truth is open."""
    from annomodels.summaries.summary import Summary

    if not 0 <= threshold <= 1:
        raise NotApplicable(f"threshold={threshold!r} should be between 0 and 1.")
    table = found.table
    doubt = 1 - table["p_silver"] if model.single else 1 - table["p_one"]
    chosen = table[doubt >= threshold].assign(doubt=doubt[doubt >= threshold])
    chosen = chosen.sort_values(["doubt", "item"], ascending=[False, True], kind="stable")
    table = chosen.drop(columns="doubt").reset_index(drop=True)
    return Summary("Ambiguous mentions", table, found.draws)


def coders(model: PairModel, codes: Candidates, drawn: Draws, prob: float) -> Summary:
    """Rates of each coder for each class."""
    import pandas as pd

    from annomodels.summaries.summary import Summary

    if not 0 < prob < 1:
        raise NotApplicable(f"prob={prob!r} should be between 0 and 1, for instance 0.9.")
    edges = (1 - prob) / 2, (1 + prob) / 2
    low, high = np.quantile(drawn.rate, edges, axis=(0, 1))
    mean = drawn.rate.mean(axis=(0, 1))
    judged = codes.workload()
    rows = [
        (name, cls, quantity, mean[j, k], low[j, k], high[j, k], int(judged[j]))
        for j, name in enumerate(codes.coders)
        for k, (cls, quantity) in enumerate(kinds(model, codes))
    ]
    columns = ["coder", "class", "quantity", "mean", "low", "high", "judgments"]
    table = pd.DataFrame(rows, columns=columns)
    draws = dataset(model, codes, drawn)[["rate"]]
    return Summary("Coders", table, draws, (f"Intervals hold {prob:.0%} of the draws.",))
