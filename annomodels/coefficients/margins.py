"""What a user brings along for the agreement by chance: label shares, or chance levels of items."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annomodels.coefficients.rows import with_labels
from annomodels.data.annotations import Annotations
from annomodels.errors import AnnotationError, Problem

__all__ = ["ChanceLike", "MarginsLike", "item_chances", "label_margins"]

Floats = NDArray[np.float64]
MarginsLike = Mapping[Any, float]
ChanceLike = Mapping[Any, float] | ArrayLike

TOLERANCE = 1e-6
FEW = 5


def label_margins(data: Annotations, margins: MarginsLike) -> tuple[Annotations, Floats]:
    """Shares in the order of the label set, which grows by labels that nobody used.

    Parameters
    ----------
    data
        Who labelled which item how.
    margins
        Share of each label; whole numbers that add up to more than 1 are taken as counts.

    Raises
    ------
    AnnotationError
        With all problems at once: no mapping, labels without a share, shares that are no numbers,
        negative or do not add up to 1, labels without a place in the order of the scale.

    Examples
    --------
    >>> data = Annotations.from_records([(1, "a", "x"), (1, "b", "y")])
    >>> label_margins(data, {"x": 30, "y": 50, "z": 20})[1]
    array([0.3, 0.5, 0.2])
    """
    if not isinstance(margins, Mapping):
        raise AnnotationError(
            Problem(
                f"margins={margins!r} is no mapping from labels to shares.",
                remedy='Give the share of each label, for instance margins={"no": .9, "yes": .1}.',
            )
        )
    margins = _by_name(margins, data.labels)
    problems = _bad_numbers(margins, "share", np.inf)
    used = [data.labels[code] for code in np.unique(data.label)]
    problems += _without(used, margins, "share", "label", "Give a share to each label in use.")
    extra = [label for label in margins if label not in set(data.labels)]
    if extra and (data.scale != "nominal" or data.declared):
        problems.append(
            Problem(
                f"{_some(extra)} not in the label set.",
                "margins",
                "Declare the whole set in its order: labels=[...].",
            )
        )
    shares = np.array([v for v in margins.values() if not _no_number(v)], dtype=float)
    total = float(shares.sum())
    counts = total > 1 + TOLERANCE and bool((shares == np.round(shares)).all())
    if not problems and not counts and abs(total - 1) > TOLERANCE:
        problems.append(
            Problem(
                f"The shares add up to {total:.6g}.",
                "margins",
                "Shares add up to 1; counts are whole numbers.",
            )
        )
    if problems:
        raise AnnotationError(problems)
    if extra:
        data = with_labels(data, [*data.labels, *extra])
    return data, np.array([float(margins.get(label, 0.0)) / total for label in data.labels])


def item_chances(data: Annotations, chance: ChanceLike) -> Floats:
    """Chance level of each item, shape [item].

    Parameters
    ----------
    data
        Who labelled which item how.
    chance
        Probability that two coders agree on an item by chance: a mapping from items, an array in
        the order of ``data.items``, or one number for all.

    Raises
    ------
    AnnotationError
        With all problems at once: items without a chance level, a wrong length, values that are
        no numbers or do not lie between 0 and 1.

    Examples
    --------
    >>> data = Annotations.from_records([(1, "a", "x"), (1, "b", "y"), (2, "a", "x")])
    >>> item_chances(data, {2: 1.0, 1: 0.25})
    array([0.25, 1.  ])
    """
    if not isinstance(chance, Mapping):
        values = np.asarray(chance, dtype=object)
        if values.shape == ():
            values = np.full(data.n_items, chance, dtype=object)
        if values.shape != (data.n_items,):
            raise AnnotationError(
                Problem(
                    f"chance has the shape {values.shape}, but there are {data.n_items:,} items.",
                    remedy="Give one number for each item in the order of data.items, or "
                    "a mapping from items to numbers.",
                )
            )
        chance = dict(zip(data.items, values.tolist(), strict=True))
    chance = _by_name(chance, data.items)
    problems = _bad_numbers(chance, "chance level", 1.0)
    problems += _without(list(data.items), chance, "chance level", "item", "Give one to each item.")
    if problems:
        raise AnnotationError(problems)
    return np.array([float(chance[item]) for item in data.items])


def _by_name(given: Mapping[Any, Any], names: Sequence[Hashable]) -> dict[Any, Any]:
    """Take 1 for "1" and the other way round, as files hold words where programs hold numbers."""
    known = set(names)
    spelt = {str(name): name for name in names}
    return {
        key if key in known else spelt.get(str(key), key): value for key, value in given.items()
    }


def _no_number(value: object) -> bool:
    try:
        return not np.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return True


def _some(names: list[Any]) -> str:
    """Quote the first few, and say how many more there are."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    verb = "is" if len(names) == 1 else "are"
    return f"{', '.join(map(repr, names[:FEW]))}{more} {verb}"


def _bad_numbers(given: Mapping[Any, Any], what: str, most: float) -> list[Problem]:
    """Values that are no numbers or out of range."""
    none = [name for name, value in given.items() if _no_number(value)]
    out = [n for n, v in given.items() if n not in set(none) and not 0 <= float(v) <= most]
    limits = "not negative" if np.isinf(most) else f"between 0 and {most:g}"
    return [
        Problem(
            f"The {what} of {_some(names)} {wrong}.",
            ", ".join(f"{name!r}: {given[name]!r}" for name in names[:FEW]),
            f"A {what} is a number, {limits}.",
        )
        for names, wrong in ((none, "no number"), (out, "out of range"))
        if names
    ]


def _without(
    names: list[Hashable], given: Mapping[Any, Any], what: str, kind: str, remedy: str
) -> list[Problem]:
    """Names that were not given."""
    missing = [name for name in names if name not in given]
    if not missing:
        return []
    return [Problem(f"{_some(missing)} without a {what}.", f"{kind}s of the data", remedy)]
