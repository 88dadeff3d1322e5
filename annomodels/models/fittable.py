"""Whether there is anything to learn from the data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, Problem


def require_fittable(data: Annotations) -> None:
    """Make sure that a model has something to learn from.

    Parameters
    ----------
    data
        The annotations.

    Raises
    ------
    AnnotationError
        With all reasons why not: one label (declare the others if more were possible), one coder,
        no item with two coders.

    Examples
    --------
    >>> require_fittable(Annotations.from_records([(1, "a", "x"), (1, "b", "y")]))
    """
    shared = data.n_coders > 1 and int(np.diff(data.without_repeats().starts).max()) > 1
    require_learnable(data.labels, data.n_coders, shared, data.source)


def require_learnable(labels: Sequence[Hashable], n_coders: int, shared: bool, source: str) -> None:
    """Make sure of the same, given what is known of the data.

    Parameters
    ----------
    labels
        The label set.
    n_coders
        Number of coders.
    shared
        Whether two coders labelled one item.
    source
        Name of the file.
    """
    problems = []
    if len(labels) < 2:
        name = repr(labels[0])
        problems.append(
            Problem(
                f"Every label is {name if len(name) <= 40 else name[:37] + '...'}, so there is "
                "nothing to learn about the truth or the coders.",
                source,
                "Add items with other labels, or declare the labels that were possible (--labels); "
                "the data can be checked, and agreement computed, as they are.",
            )
        )
    if n_coders < 2:
        problems.append(
            Problem(
                "There is one coder: agreement and the quality of coders cannot be learnt from "
                "one.",
                source,
                "Add a second coder; see that the coder column is the right one (--coder).",
            )
        )
    elif not shared:
        problems.append(
            Problem(
                "No item was labelled by two coders, so agreement and the quality of coders "
                "cannot be learnt.",
                source,
                "Let coders share items; see that the item and coder columns are the right ones "
                "(--item, --coder).",
            )
        )
    if problems:
        raise AnnotationError(problems)
