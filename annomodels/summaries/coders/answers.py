"""How often coders answered, where labels are no class."""

from __future__ import annotations

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import percent
from annomodels.data.names import label_text
from annomodels.models.conjugate import NO_ANSWER_MEAN, NO_ANSWER_RATE
from annomodels.summaries.draws import estimated
from annomodels.types import AnyArray, Floats

TELLING = 0.95


def answer_columns(tree: xr.DataTree, data: Annotations) -> dict[str, AnyArray]:
    """Count times without an answer, and tabulate answer rates; empty if all labels are classes."""
    if data.unanswered is None:
        return {}
    times = np.bincount(data.unanswered[:, 1], minlength=data.n_coders)
    posterior = tree["posterior"].to_dataset()
    if NO_ANSWER_RATE.name not in posterior:
        return {"dont_know": times}
    rates = _rates(posterior[NO_ANSWER_RATE.name].values.astype(float).sum(axis=-1))
    prevalence = _rates(posterior["prevalence"].values.astype(float))
    answered = 1.0 - np.einsum("sjk,sk->sj", rates, prevalence)
    return {"dont_know": times, **estimated("answer_rate", answered)}


def answer_sentences(tree: xr.DataTree, data: Annotations, asked: int) -> tuple[str, ...]:
    """Say of which class coders give no answer most often, or that the model does not learn it."""
    if not asked:
        return ()
    kinds = "/".join(map(label_text, data.dont_know))
    posterior = tree["posterior"].to_dataset()
    if NO_ANSWER_MEAN.name not in posterior:
        return (f"Missing to this model: {asked:,} times {kinds}.",)
    mean = _rates(posterior[NO_ANSWER_MEAN.name].values.astype(float).sum(axis=-1))
    most, least = int(mean.mean(axis=0).argmax()), int(mean.mean(axis=0).argmin())
    above = float((mean[:, most] > mean[:, least]).mean())
    labels = [label_text(name) for name in data.labels]
    said = (
        f"{kinds} counts as no answer, not as a wrong one: {asked:,} times. Typical coders say it "
        f"of {percent(mean[:, most].mean(), 0)} where the truth is {labels[most]}, of "
        f"{percent(mean[:, least].mean(), 0)} where it is {labels[least]}"
    )
    if len(mean) < 2:
        return (f"{said}.",)
    tells = f"it carries {'' if above > TELLING else 'little '}information about the truth"
    return (f"{said}: {tells} (P = {above:.2f} that the first is more).",)


def _rates(values: Floats) -> Floats:
    """Draws with the chains one after the other."""
    return values.reshape(-1, *values.shape[2:])
