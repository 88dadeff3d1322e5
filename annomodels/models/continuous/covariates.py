"""Ability of the coders regressed on columns about them: a part of models with logits of coders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.errors import AnnotationError, Problem
from annomodels.models.base import Model
from annomodels.models.observed import observed
from annomodels.models.parameters import Parameter
from annomodels.priors import Covariates
from annomodels.priors.columns import is_numeric
from annomodels.types import Floats

EFFECT = Parameter("coder_effect", ("coder_term",), effect="log-odds that a coder is right")
KEY = "coder"
MOST_NAMED = 5


class Regressed(Model):
    r"""Base of models of which a coder's ability may depend on columns about the coders.

    .. math:: a_j = \sum_t x_{j,t} \gamma_t, \quad \gamma_t \sim N(0, s^2)

    is added to the log-odds that the coder is right, whatever the class; the population that the
    model has anyway spreads around it.
    """

    coder_covariates: Covariates | None

    def __post_init__(self) -> None:
        """Turn a table into :class:`annomodels.priors.Covariates`, and check the priors."""
        object.__setattr__(self, "coder_covariates", covariates_of(self.coder_covariates))
        super().__post_init__()

    def bound(self, data: Annotations) -> Self:
        """Copy that knows what the columns say of the coders of the data.

        Raises
        ------
        AnnotationError
            With all that is wrong: coders without a row, rows of others, cells without a value,
            columns that say the same of all coders, or that follow from others.
        """
        known = super().bound(data)
        if known.coder_covariates is None:
            return known
        terms = for_coders(known.coder_covariates, [label_text(name) for name in data.coders])
        return replace(known, coder_covariates=terms)  # type: ignore[type-var]

    @property
    def effect_parameters(self) -> tuple[Parameter, ...]:
        """Declare the coefficients."""
        return () if self.coder_covariates is None else (EFFECT,)

    @property
    def effect_coords(self) -> dict[str, list[str]]:
        """Names of the terms."""
        known = self.coder_covariates
        return {} if known is None else {"coder_term": list(known.terms)}

    def terms(self, name: str) -> list[tuple[str, str]]:
        """Terms of the coefficients of this name, each with what one more of it is."""
        known = self.coder_covariates
        if known is None or name != EFFECT.name:
            return []
        return list(zip(known.terms, known.units, strict=True))

    def pymc_effect(self) -> Any:
        """Add the coefficients, and give what they add to each coder, [coder]; None without.

        Called in a model context.
        """
        import pymc as pm

        known = self.coder_covariates
        if known is None:
            return None
        effect = pm.Normal(EFFECT.name, 0.0, known.spread, dims=EFFECT.dims)
        return observed("coder_design", np.array(known.design)) @ effect

    @property
    def effect_start(self) -> dict[str, Floats]:
        """Values of the coefficients to start from."""
        known = self.coder_covariates
        return {} if known is None else {EFFECT.name: np.zeros(len(known.terms))}

    @property
    def effect_story(self) -> list[str]:
        """What is believed of the columns, in a sentence."""
        known = self.coder_covariates
        if known is None:
            return []
        named = ", ".join(
            f"{term} ({unit})" for term, unit in zip(known.terms, known.units, strict=True)
        )
        return [
            "The log-odds that a coder is right are regressed on what is known of the coder: "
            f"{named or ', '.join(known.columns)}; coefficients normal with spread "
            f"{known.spread:g} logits."
        ]


def right_direction(n_labels: int) -> Floats:
    """Logits against the last label that one more of log-odds of being right adds, [truth, label].

    For the last class, all other labels lose.

    Examples
    --------
    >>> right_direction(3)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [-1., -1.]])
    """
    return np.concatenate([np.eye(n_labels - 1), -np.ones((1, n_labels - 1))])


def covariates_of(table: Any) -> Covariates | None:
    """Read what somebody says of coders.

    Parameters
    ----------
    table
        A mapping from coders to mappings from columns to values; a data frame, or a list of
        mappings, with a column "coder"; a data frame of pandas may have the coders as its index.

    Raises
    ------
    AnnotationError
        When it is none of these, holds no column, or names a coder twice.
    """
    if table is None or isinstance(table, Covariates):
        return table
    rows = _rows(table)
    names = [label_text(row[KEY]) for row in rows]
    columns = list(dict.fromkeys(str(key) for row in rows for key in row if key != KEY))
    problems = []
    if not columns:
        problems.append(Problem("There is no column beside the coders.", remedy="Add one."))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        what = "A coder has more than one row."
        problems.append(Problem(what, ", ".join(twice), "Keep one row for each coder."))
    if problems:
        raise AnnotationError(problems)
    cells = [{str(key): _value(cell) for key, cell in row.items()} for row in rows]
    values = tuple(tuple(row.get(column) for column in columns) for row in cells)
    return Covariates(tuple(columns), tuple(names), values)


def _rows(table: Any) -> list[dict[Any, Any]]:
    if isinstance(table, Mapping):
        if all(isinstance(row, Mapping) for row in table.values()):
            return [{KEY: name, **row} for name, row in table.items()]
    elif hasattr(table, "reset_index"):
        named = table if KEY in table.columns else table.rename_axis(KEY).reset_index()
        return list(named.to_dict("records"))
    elif hasattr(table, "to_dicts"):
        table = table.to_dicts()
    if isinstance(table, list | tuple) and all(isinstance(r, Mapping) and KEY in r for r in table):
        return [dict(row) for row in table]
    raise AnnotationError(
        Problem(
            f"These are no columns about coders: {str(table)[:80]}.",
            "coder_covariates=",
            'Give {"ana": {"years": 3}, ...}, or a table with the column "coder".',
        )
    )


def _value(cell: Any) -> Any:
    """Turn a cell into a number or a text; None where it is empty."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or str(cell) == "<NA>":
        return None
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return cell
    return str(cell).strip() or None


def for_coders(given: Covariates, coders: list[str]) -> Covariates:
    """Give columns with the terms that they have for the coders of some data.

    Raises
    ------
    AnnotationError
        With all that is wrong.
    """
    problems = []
    lacking = [name for name in coders if name not in given.names]
    if lacking:
        problems.append(
            Problem(
                f"{len(lacking)} coder(s) of the data have no row of covariates.",
                _named(lacking),
                "Add their rows, or leave these coders out of the data.",
            )
        )
    strange = [name for name in given.names if name not in coders]
    if strange:
        problems.append(
            Problem(
                f"{len(strange)} row(s) of covariates are of no coder of the data.",
                _named(strange),
                f"Correct the names, or leave these rows out. The coders are {_named(coders)}.",
            )
        )
    there = [name for name in coders if name in given.names]
    for column in given.columns:
        problems += _wrong_with(column, given.column(column, there), there)
    if problems:
        raise AnnotationError(problems)
    terms, units, design = given.terms_of(coders)
    if np.linalg.matrix_rank(design) < len(terms):
        raise AnnotationError(
            Problem(
                f"{len(terms)} terms of covariates cannot be told apart by {len(coders)} coders: "
                "some follow from others.",
                ", ".join(terms),
                "Leave columns out, or join values that few coders have.",
            )
        )
    table = tuple(tuple(float(x) for x in row) for row in design)
    return replace(given, terms=terms, units=units, design=table)


def _wrong_with(column: str, values: list[Any], coders: list[str]) -> list[Problem]:
    empty = [name for name, value in zip(coders, values, strict=True) if value is None]
    if empty:
        what = f"The column {column!r} is empty for {len(empty)} coder(s)."
        return [Problem(what, _named(empty), "Fill it in, or leave the column out.")]
    numbers = [value for value in values if is_numeric([value])]
    if 0 < len(numbers) < len(values):
        what = f"The column {column!r} holds numbers and texts."
        texts = [n for n, value in zip(coders, values, strict=True) if not is_numeric([value])]
        return [Problem(what, f"texts for {_named(texts)}", "Write all of them in one way.")]
    if any(map(math.isinf, numbers)):
        where = [name for name, value in zip(coders, values, strict=True) if math.isinf(value)]
        what = f"The column {column!r} holds numbers without end."
        return [Problem(what, _named(where), "Give finite numbers.")]
    if len(set(values)) == 1:
        what = f"The column {column!r} says {values[0]!r} of every coder, so nothing can be learnt."
        return [Problem(what, column, "Leave it out.")]
    return []


def _named(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
