"""Short names of the types that the signatures use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pymc
    from pytensor.tensor import TensorVariable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
AnyArray = NDArray[Any]

# evaluated by type checkers only: PyMC takes seconds to import
type PyMCModel = pymc.Model
type Tensor = TensorVariable
type TensorLike = Floats | TensorVariable


class ByName(Protocol):
    """Arrays by name: a dict or a dataset."""

    def __getitem__(self, name: str, /) -> object:
        """Return the array of this name."""


# arrays for the draws of kernels, nested for parts of a model
type Places = tuple[AnyArray | Places, ...]
