"""One file per model; a model is an immutable value with priors and without data.

A model declares its parameters and defines their estimation from counts (a draw or the mode), its
prior density, and its PyMC model. Imports annotations, schema, priors and, inside functions, the
kernels. Model classes are loaded on first use::

    import annomodels as am

    am.models.HierarchicalDawidSkene(concentration=am.priors.LogNormal(10.0, 1.0))
"""

from __future__ import annotations

from typing import Any

from annomodels.models.catalog import MODELS, PLACES, from_dict, load, resolve

__all__ = ["MODELS", "from_dict", "resolve"]
__all__ += sorted(PLACES)


def __getattr__(name: str) -> Any:
    if name in PLACES:
        return load(PLACES[name])
    raise AttributeError(f"module 'annomodels.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
