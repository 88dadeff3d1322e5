"""Covariates of coders and items, and the regression of coder abilities on covariates."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.errors import AnnotationError, Problem
from annomodels.models.base import Model
from annomodels.models.parameters import Parameter, Variables
from annomodels.priors import Covariates
from annomodels.priors.columns import is_numeric
from annomodels.priors.distributions import Normal
from annomodels.types import Floats, TensorLike

EFFECT = Parameter("coder_effect", ("coder_term",), effect="log-odds that a coder is right")
ITEM_EFFECT = Parameter("item_effect", ("item_term",), effect="difficulty of an item, in logits")
COEFFICIENTS = {"coder": EFFECT, "item": ITEM_EFFECT}
ABOUT: dict[str, Callable[[Covariates], str]] = {
    "coder": lambda known: (
        "The log-odds that a coder is right are regressed on columns about the coder: "
        f"{in_words(known)}."
    ),
    "item": lambda known: (
        f"The difficulty of an item is regressed on columns about the item: {in_words(known)}. The "
        "prevalence does not depend on it."
    ),
}
MOST_NAMED = 5


class Regressed(Model):
    """Base of models in which coder abilities may depend on covariates."""

    # a_j = sum_t x_jt gamma_t, gamma_t ~ N(0, s^2), is added to the log-odds of a correct label in
    # each class; it shifts the population mean of the coder

    coder_covariates: Covariates | None

    def __post_init__(self) -> None:
        """Convert tables to :class:`annomodels.priors.Covariates`, and check the priors."""
        for key in COEFFICIENTS:
            name = f"{key}_covariates"
            if hasattr(self, name):
                object.__setattr__(self, name, covariates_of(getattr(self, name), key))
        super().__post_init__()

    @property
    def covariates(self) -> dict[str, Covariates]:
        """Known covariates, of coders and of items."""
        found = {key: getattr(self, f"{key}_covariates", None) for key in COEFFICIENTS}
        return {key: known for key, known in found.items() if known is not None}

    @property
    def swappable(self) -> bool:  # type: ignore[override]
        """Return True if the model also allows parameters with swapped classes."""
        return self.coder_covariates is None

    def with_data(self, data: Annotations) -> Self:
        names = {"coder": data.coders, "item": data.items}
        bound: dict[str, Any] = {
            f"{key}_covariates": bound_to(known, [label_text(name) for name in names[key]], key)
            for key, known in self.covariates.items()
        }
        return replace(super().with_data(data), **bound)

    @property
    def effect_parameters(self) -> tuple[Parameter, ...]:
        """Declare the coefficients with their prior and terms."""
        return tuple(
            replace(
                COEFFICIENTS[key], prior=Normal(0.0, known.spread), about=ABOUT[key](known),
                terms=tuple(zip(known.terms, known.units, strict=True)),
            )
            for key, known in self.covariates.items()
        )  # fmt: skip

    @property
    def effect_coords(self) -> dict[str, list[str]]:
        """Names of the covariate terms, by dimension."""
        return {f"{key}_term": list(known.terms) for key, known in self.covariates.items()}

    def effect_of(self, v: Variables) -> TensorLike:
        """Return the covariate effect on each coder [coder], given the coefficients."""
        known = self.coder_covariates
        assert known is not None
        return v[EFFECT.name] @ v.data("coder_design", np.array(known.design)).T

    @property
    def effect_start(self) -> dict[str, Floats]:
        """Initial values of the coefficients."""
        given = self.covariates.items()
        return {COEFFICIENTS[key].name: np.zeros(len(known.terms)) for key, known in given}


def in_words(known: Covariates) -> str:
    """Return the terms with their units, and the prior of the coefficients, as text."""
    named = ", ".join(
        f"{term} ({unit})" for term, unit in zip(known.terms, known.units, strict=True)
    )
    return (
        f"{named or ', '.join(known.columns)}; coefficients normal with spread "
        f"{known.spread:g} logits"
    )


def right_direction(n_labels: int) -> Floats:
    """Return logits relative to the last label, [truth, label], per unit of ability."""
    # in the last class, ability lowers the logits of all other labels
    return np.concatenate([np.eye(n_labels - 1), -np.ones((1, n_labels - 1))])


def covariates_of(table: object, key: str = "coder") -> Covariates | None:
    """Convert a table with covariates of coders or items."""
    if table is None or isinstance(table, Covariates):
        return table
    rows = [
        {str(name): cell if name == key else _value(cell) for name, cell in row.items()}
        for row in _rows(table, key)
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row if name != key))
    said: dict[str, dict[str, Any]] = {}
    twice: dict[str, set[str]] = {}
    for row in rows:
        name = label_text(row[key])
        first = said.setdefault(name, row)
        if differing := {each for each in columns if first.get(each) != row.get(each)}:
            twice[name] = twice.get(name, set()) | differing
    problems = []
    if not columns:
        problems.append(Problem(f"The table has no column besides the {key}s.", remedy="Add one."))
    if twice:
        differing = {each for those in twice.values() for each in those}
        problems.append(
            Problem(
                f"{counted(len(twice), key)} with more than one row, which differ in "
                f"{_named([repr(each) for each in columns if each in differing])}.",
                _named(sorted(twice)),
                f"Keep one row for each {key}, or columns that are equal in all of its rows.",
            )
        )
    if problems:
        raise AnnotationError(problems)
    values = tuple(tuple(row.get(column) for column in columns) for row in said.values())
    return Covariates(tuple(columns), tuple(said), values)


def _rows(table: Any, key: str) -> list[dict[Hashable, object]]:
    if isinstance(table, Mapping):
        if all(isinstance(row, Mapping) for row in table.values()):
            return [{key: name, **row} for name, row in table.items()]
    elif hasattr(table, "reset_index"):
        named = table if key in table.columns else table.rename_axis(key).reset_index()
        return list(named.to_dict("records"))
    elif hasattr(table, "to_dicts"):
        table = table.to_dicts()
    if isinstance(table, list | tuple) and all(isinstance(r, Mapping) and key in r for r in table):
        return [dict(row) for row in table]
    example = {"coder": '{"ana": {"years": 3}, ...}', "item": '{"s1": {"length": 12}, ...}'}[key]
    raise AnnotationError(
        Problem(
            f"This is not a table about {key}s: {str(table)[:80]}.",
            f"{key}_covariates=",
            f'Give {example}, or a table with the column "{key}".',
        )
    )


def _value(cell: object) -> float | str | None:
    """Convert a cell to a number or a string; None if it is empty."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or str(cell) == "<NA>":
        return None
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return cell
    return str(cell).strip() or None


def bound_to(given: Covariates, names: list[str], key: str = "coder") -> Covariates:
    """Return covariates with their terms for the coders or items of the data."""
    # rows of unknown coders are rejected; rows of unknown items are dropped
    problems = []
    known, wanted = set(given.names), set(names)
    lacking = [name for name in names if name not in known]
    if lacking:
        remedy = f"Add their rows, or leave these {key}s out of the data."
        if key == "item" and len(lacking) == len(names):
            remedy = f"Name items as the data do, such as {names[0]}."
        what = f"Covariates lack a row for {counted(len(lacking), key)} of the data."
        problems.append(Problem(what, f"{key} {_named(lacking)}", remedy))
    strange = [name for name in given.names if name not in wanted]
    if strange and key == "coder":
        problems.append(
            Problem(
                f"Covariates have {counted(len(strange), 'row')} for unknown coders.",
                f"coder {_named(strange)}",
                f"Correct the names, or leave these rows out. The coders are {_named(names)}.",
            )
        )
    there = [name for name in names if name in known]
    columns = {column: given.column(column, there) for column in given.columns}
    for column, values in columns.items():
        problems += _wrong_with(column, values, there, key)
    if problems:
        raise AnnotationError(problems)
    n_terms = sum(1 if is_numeric(v) else len(set(map(str, v))) - 1 for v in columns.values())
    few = n_terms < len(names)  # with more terms, the columns are always linearly dependent
    terms, units, design = given.terms_of(names) if few else ((), (), np.zeros((0, 0)))
    if not few or np.linalg.matrix_rank(design) < n_terms:
        raise AnnotationError(
            Problem(
                f"{n_terms} terms of covariates cannot be identified from {len(names)} {key}s: "
                "some terms follow from others.",
                _named(list(terms)) or ", ".join(given.columns),
                f"Leave columns out, or join values that few {key}s have.",
            )
        )
    table = tuple(tuple(float(x) for x in row) for row in design)
    rows = dict(zip(given.names, given.values, strict=True))
    if key == "item":  # in the order of the data, without other items
        given = replace(given, names=tuple(names), values=tuple(rows[name] for name in names))
    return replace(given, terms=terms, units=units, design=table)


def _wrong_with(
    column: str, values: list[float | str | None], names: list[str], key: str
) -> list[Problem]:
    empty = [name for name, value in zip(names, values, strict=True) if value is None]
    if empty:
        what = f"The column {column!r} is empty for {counted(len(empty), key)}."
        return [Problem(what, f"{key} {_named(empty)}", "Fill it in, or leave the column out.")]
    numbers = [value for value in values if isinstance(value, int | float)]
    if 0 < len(numbers) < len(values):
        what = f"The column {column!r} mixes numbers and texts."
        texts = [n for n, value in zip(names, values, strict=True) if not is_numeric([value])]
        return [Problem(what, f"texts for {_named(texts)}", "Write all as numbers or as texts.")]
    if any(map(math.isinf, numbers)):
        where = [name for name, x in zip(names, numbers, strict=True) if math.isinf(x)]
        what = f"The column {column!r} holds infinite numbers."
        return [Problem(what, _named(where), "Give finite numbers.")]
    if len(set(values)) == 1:
        what = f"The column {column!r} is {values[0]!r} for every {key}: it has no effect."
        return [Problem(what, column, "Leave it out.")]
    return []


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
