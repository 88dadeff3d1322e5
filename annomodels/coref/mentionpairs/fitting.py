"""One call from judgments to a fit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any, Literal

from annomodels.coref.mentionpairs.candidates import candidates_of
from annomodels.coref.mentionpairs.engines import run_gibbs, run_nuts
from annomodels.coref.mentionpairs.result import PairFit
from annomodels.errors import InferenceWarning, NotApplicable
from annomodels.models.catalog import OTHERS, resolve
from annomodels.models.pairs import PairModel


def fit_pairs(
    data: Any,
    model: PairModel | str = "pairs",
    *,
    engine: Literal["auto", "gibbs", "nuts"] = "auto",
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int = 1,
    always: Sequence[str] = (),
) -> PairFit:
    """Estimate which interpretations of mentions are true, and how good the coders are.

    The candidates of a mention are the labels that its coders gave it; each coder of the mention
    thereby decides on all of them.

    Parameters
    ----------
    data
        Documents as :func:`read` gives them, or a table with the columns `item`, `coder` and
        `label`, one row per judgment; rows of one coder on one item are several readings. A label
        is a class with its antecedent, `DN()` or `DO(3-4)`, see :func:`to_mpa_frame`.
    model
        "pairs" for :class:`MentionPairs` (several interpretations may be true), "single" for
        :class:`SingleTruth`, or one of these with priors of your own.
    engine
        "gibbs", "nuts" (slow; the PyMC model as it stands), or "auto", which is "gibbs".
    chains, draws, warmup
        Number of chains, of kept draws a chain and of iterations before them.
    seed
        Seed of all random numbers.
    always
        Labels that are candidates of every mention, although no one gave them.

    Returns
    -------
    PairFit

    Raises
    ------
    AnnotationError
        When the data cannot be used.
    NotApplicable
        When an option is none of those allowed.

    Warns
    -----
    InferenceWarning
        When the chains have not mixed.

    Examples
    --------
    >>> import pandas as pd, annomodels as am
    >>> said = {"ana": ["DN()", "DO(1)", "DO(1)"], "ben": ["DN()", "DO(1)", "DO(2)"]}
    >>> rows = [(f"t#{i}", who, x) for who, xs in said.items() for i, x in enumerate(xs, 1)]
    >>> table = pd.DataFrame(rows, columns=["item", "coder", "label"])
    >>> fit = am.coref.fit_pairs(table, "single", draws=200)
    >>> fit.mentions().table["silver"].tolist()[:2]
    ['DN()', 'DO(1)']
    """
    chosen = _resolved(model)
    counts = {"chains": chains, "draws": draws}
    for name, value in counts.items():
        if value < 1:
            raise NotApplicable(f"{name}={value!r} should be 1 or more.")
    if warmup < 0:
        raise NotApplicable(f"warmup={warmup!r} should be 0 or more.")
    if engine not in ("auto", "gibbs", "nuts"):
        raise NotApplicable(f"engine={engine!r} should be 'auto', 'gibbs' or 'nuts'.")
    if isinstance(always, str):
        raise NotApplicable(f"always={always!r} should be a list of labels, [{always!r}].")
    codes = candidates_of(data, always, chosen.has_none)
    run = run_nuts if engine == "nuts" else run_gibbs
    began = time.perf_counter()
    drawn = run(chosen, codes, chains, draws, warmup, seed)
    name = "nuts" if engine == "nuts" else "gibbs"
    fit = PairFit(chosen, codes, drawn, name, time.perf_counter() - began)
    if not fit.mixed:
        warnings.warn(fit.check()[0], InferenceWarning, stacklevel=2)
    return fit


def _resolved(model: PairModel | str) -> PairModel:
    """Give a model of links, or the one with that name."""
    known = not isinstance(model, str) or model in OTHERS
    chosen: Any = resolve(model) if known else None
    if getattr(chosen, "truth", "") != "link":
        raise NotApplicable(
            f"model={model!r} should be 'pairs', 'single', a MentionPairs or a SingleTruth."
        )
    return chosen  # type: ignore[no-any-return]
