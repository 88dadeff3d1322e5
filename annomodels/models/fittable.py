"""Whether there is anything to learn from the data."""

from __future__ import annotations

import numpy as np

from annomodels.annotations import Annotations
from annomodels.errors import AnnotationError, Problem

__all__ = ["require_fittable"]


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
    problems = []
    if data.n_labels < 2:
        name = repr(data.labels[0])
        problems.append(
            Problem(
                f"Every label is {name if len(name) <= 40 else name[:37] + '...'}, so there is "
                "nothing to learn about the truth or the coders.",
                data.source,
                "Add items with other labels, or declare the labels that were possible (--labels); "
                "the data can be checked, and agreement computed, as they are.",
            )
        )
    if data.n_coders < 2:
        problems.append(
            Problem(
                "There is one coder: agreement and the quality of coders cannot be learnt from "
                "one.",
                data.source,
                "Add a second coder; see that the coder column is the right one (--coder).",
            )
        )
    elif int(np.diff(data.without_repeats().starts).max()) < 2:
        problems.append(
            Problem(
                "No item was labelled by two coders, so agreement and the quality of coders "
                "cannot be learnt.",
                data.source,
                "Let coders share items; see that the item and coder columns are the right ones "
                "(--item, --coder).",
            )
        )
    if problems:
        raise AnnotationError(problems)
