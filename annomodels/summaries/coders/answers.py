"""Answer rates of coders if some labels, such as "don't know", are not classes."""

from __future__ import annotations

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.models.conjugate import NO_ANSWER_MEAN, NO_ANSWER_RATE
from annomodels.summaries.draws import estimated, flat
from annomodels.summaries.notes import say
from annomodels.types import AnyArray

TELLING = 0.95


def answer_columns(tree: xr.DataTree, data: Annotations) -> dict[str, AnyArray]:
    """Count missing answers and tabulate answer rates; empty if all labels are classes."""
    if data.unanswered is None:
        return {}
    times = np.bincount(data.unanswered[:, 1], minlength=data.n_coders)
    if NO_ANSWER_RATE.name not in tree["posterior"]:
        return {"dont_know": times}
    rates = flat(tree, NO_ANSWER_RATE.name).sum(axis=-1)
    answered = 1.0 - np.einsum("sjk,sk->sj", rates, flat(tree, "prevalence"))
    return {"dont_know": times, **estimated("answer_rate", answered)}


def answer_sentences(tree: xr.DataTree, data: Annotations, asked: int) -> tuple[str, ...]:
    """Describe the classes that coders leave unanswered most and least."""
    if not asked:
        return ()
    kinds = "/".join(map(label_text, data.dont_know))
    if NO_ANSWER_MEAN.name not in tree["posterior"]:
        return (f"This model ignores answers of {kinds}: {asked:,} of them.",)
    mean = flat(tree, NO_ANSWER_MEAN.name).sum(axis=-1)
    most, least = int(mean.mean(axis=0).argmax()), int(mean.mean(axis=0).argmin())
    above = float((mean[:, most] > mean[:, least]).mean())
    labels = [label_text(name) for name in data.labels]
    shares = {"most": mean[:, most].mean(), "least": mean[:, least].mean()}
    names = {"most_on": labels[most], "least_on": labels[least]}
    said = say("unanswered", kinds=kinds, asked=asked, **shares, **names)
    if len(mean) < 2:
        return (f"{said}.",)
    tells = f"it carries {'' if above > TELLING else 'little '}information about the truth"
    return (f"{said}: {tells} (P = {above:.2f} that the first is more).",)
