"""Coreference and anaphora: reliability of mentions, links, clusters and chains.

Public names are loaded on first use, so agreement without a model loads no model. The names are
listed once, in ``__init__.pyi``. May import errors, data, coefficients, io, the results of a fit,
and the definition of link models.

Common parameters: `corpus` is a document or several; `chain` a condition of :func:`agreement`;
`distance` and `empty` are those of :func:`set_distance`; `draws`, `seed` and `prob` are the number
and seed of draws and the probability of intervals; `first` and `second` (or `key` and `response`)
are two coders, required if there are more; `x` and `y` are sets of mentions, or mappings from
mention to cluster. An unknown condition, distance or number of draws raises NotApplicable; an
unknown coder, a corpus without documents and clusters that are not a partition raise
AnnotationError.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

_LINES = Path(__file__).with_suffix(".pyi").read_text("utf-8").splitlines()
_WHERE = {line.split()[-1]: line.split()[1] for line in _LINES if line.startswith("from ")}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
