"""What is believed: one file per model, each an immutable value that holds priors and no data.

A model says how counts become parameters (a draw or an argmax), what its prior density is and how
PyMC builds it. Imports annotations, schema, priors and, inside functions, the kernels.
"""

from __future__ import annotations

from annomodels.models.catalog import MODELS, from_dict, resolve

__all__ = ["MODELS", "from_dict", "resolve"]
