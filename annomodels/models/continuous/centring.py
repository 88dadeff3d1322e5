"""Partially centered parametrization of coders around their population."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from annomodels.models.encoded import Encoded
from annomodels.models.observed import observed
from annomodels.priors.distributions import Normal
from annomodels.types import Floats, Tensor

if TYPE_CHECKING:
    from pymc.logprob.transforms import Transform

# information of one label about the log-odds of a correct label (accuracy 0.9), relative to a
# population with a spread of 0.3; the value for a wider spread would lead to a funnel at small ones
OF_A_LABEL = 0.1 * 0.3**2


def centred_share(codes: Encoded) -> Floats:
    """Return the degree of centering of each coder's parameters, from 0 to 1, shape [row]."""
    # w = I / (1 + I) with the information I of a coder's labels of one class: parameters are
    # centered for coders with many labels and non-centered for coders with few
    times = np.repeat(codes.weight, np.diff(codes.starts))
    labels = np.bincount(codes.row, weights=times, minlength=codes.n_rows)
    information = OF_A_LABEL * labels / codes.n_labels
    return np.asarray(information / (1.0 + information))


@dataclass(frozen=True, eq=False)
class PartlyCentred(Normal):
    """Normal distributions of coders around their population, partially centered."""

    codes: Encoded | None = None

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return a PyMC variable; call inside a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        assert self.codes is not None
        share = observed("centred_share", centred_share(self.codes))
        share = pt.reshape(share, (-1, *(1,) * (len(dims) - 1)), ndim=len(dims))
        # PyMC transforms may use only the inputs of their variable, so the degree of centering
        # must be part of an input
        mean = self.mean + pt.zeros_like(share)
        return pm.Normal(name, mean, self.sd, dims=dims, transform=partly_centred(share))


def partly_centred(share: Tensor) -> Transform:
    """Return the transform for partial centering of a normal variable."""
    # For location m and scale s, the sampler moves z = (x - m) / s^(1 - w) + w m, so z ~ N(w m,
    # s^w): the variable itself for w = 1, the standardized variable for w = 0. The density of x is
    # the same for every w (Papaspiliopoulos, Roberts and Sköld 2007,
    # doi:10.1214/088342307000000014).
    return _transform()(share)


@lru_cache(maxsize=1)
def _transform() -> type[Transform]:
    """Define the transform class, which needs PyMC."""
    import pytensor.tensor as pt
    from pymc.logprob.transforms import Transform

    class PartlyCentred(Transform):  # type: ignore[misc]
        name = "partly_centred"
        ndim_supp = 0

        def __init__(self, share: Tensor) -> None:
            self.share = share

        def forward(self, value: Tensor, *inputs: Tensor) -> Tensor:
            location, scale = inputs[-2:]
            return (value - location) / scale ** (1.0 - self.share) + self.share * location

        def backward(self, value: Tensor, *inputs: Tensor) -> Tensor:
            location, scale = inputs[-2:]
            return location + scale ** (1.0 - self.share) * (value - self.share * location)

        def log_jac_det(self, value: Tensor, *inputs: Tensor) -> Tensor:
            return (1.0 - self.share) * pt.log(inputs[-1]) + pt.zeros_like(value)

    return PartlyCentred
