"""One file per model, each an immutable value that holds priors and no data.

A model says how counts become parameters (a draw or an argmax), what its prior density is, how
PyMC builds it, and declares its parameters. Imports annotations, schema, priors and, inside
functions, the kernels. The classes are loaded when they are asked for::

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
