"""Agreement by document, label, coder or pair of coders: the same coefficients on parts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from annomodels.cli.session import note, plural

if TYPE_CHECKING:
    from annomodels.annotations import Annotations

__all__ = ["BY", "parts"]

BY = ("document", "label", "coder", "pair")
MOST_PAIRS = 300

Part = tuple[dict[str, Any], "Annotations"]


def parts(data: Annotations, by: str) -> list[Part]:
    """Split the data for a breakdown.

    Parameters
    ----------
    data
        The annotations.
    by
        ``document``: the items of each document. ``label``: each label against all others.
        ``coder``: the data without each coder, so that one sees what leaving them out would do.
        ``pair``: each two coders who share items, those who share most first.

    Returns
    -------
    list
        What names the part (columns of the table), and its annotations.

    Raises
    ------
    click.UsageError
        When the data do not have such parts.
    """
    found = list(
        {"document": _documents, "label": _labels, "coder": _without, "pair": _pairs}[by](data)
    )
    if not found:
        why = {
            "coder": "it takes three coders or more",
            "pair": "no two coders share an item",
        }.get(by, "there is nothing to split")
        raise click.UsageError(
            f"--by {by} does not apply to these data: {why}.",
            click.get_current_context(silent=True),
        )
    return found


def _documents(data: Annotations) -> Iterator[Part]:
    if data.group is None:
        raise click.UsageError(
            "--by document needs to know the documents: name their column with --group-column.",
            click.get_current_context(silent=True),
        )
    for code, name in enumerate(data.groups):
        items = [data.items[i] for i in np.flatnonzero(data.group == code)]
        yield {"document": name}, data.select(items=items)


def _labels(data: Annotations) -> Iterator[Part]:
    for code, name in enumerate(data.labels):
        against = data.replace(
            label=(data.label == code).astype(np.int32),
            labels=("all others", name),
            scale="nominal",
            declared=True,
            gold=None,
        )
        yield {"label": name}, against


def _without(data: Annotations) -> Iterator[Part]:
    if data.n_coders < 3:
        return
    for name in data.coders:
        others = [coder for coder in data.coders if coder != name]
        yield {"without_coder": name}, data.select(coders=others)


def _pairs(data: Annotations) -> Iterator[Part]:
    labelled = [set(data.item[data.coder == j].tolist()) for j in range(data.n_coders)]
    shared = {
        (a, b): n
        for a, b in combinations(range(data.n_coders), 2)
        if (n := len(labelled[a] & labelled[b]))
    }
    chosen = sorted(shared, key=lambda pair: (-shared[pair], pair))[:MOST_PAIRS]
    if len(shared) > MOST_PAIRS:
        note(f"{plural(len(shared), 'pair')} share items; the {MOST_PAIRS} that share most follow.")
    for a, b in chosen:
        both = labelled[a] & labelled[b]
        part = data.select(
            items=[data.items[i] for i in sorted(both)],
            coders=[data.coders[a], data.coders[b]],
        )
        yield {"coder_a": data.coders[a], "coder_b": data.coders[b]}, part
