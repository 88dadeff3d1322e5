"""Priors written down as plain data, and read back."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from annomodels.priors.scales import HalfNormal, LogNormal, Pareto
from annomodels.priors.shares import Beta, CoderRows, Diagonal, Dirichlet, Rows

__all__ = ["from_dict", "to_dict"]

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Beta, CoderRows, Dirichlet, Diagonal, HalfNormal, LogNormal, Pareto, Rows)
}


def to_dict(prior: Any) -> dict[str, Any]:
    """Write a prior down as plain data.

    Examples
    --------
    >>> to_dict(Dirichlet(2.0))
    {'kind': 'Dirichlet', 'concentration': 2.0}
    """
    values = {name: value for name, value in asdict(prior).items() if value != ()}
    return {"kind": type(prior).__name__, **values}


def from_dict(data: dict[str, Any]) -> Any:
    """Read back what :func:`to_dict` wrote.

    Examples
    --------
    >>> from_dict({"kind": "Dirichlet", "concentration": 2.0})
    Dirichlet(concentration=2.0)
    """
    data = {name: _tuples(value) for name, value in data.items()}
    return _KINDS[data.pop("kind")](**data)


def _tuples(value: Any) -> Any:
    """Turn the lists that JSON makes of tuples back."""
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
