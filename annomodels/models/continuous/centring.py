"""Parametrisation of coders around their population, between centred and non-centred."""

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

# information of one label on the log-odds of being right, at an accuracy near .9, beside what a
# population with a spread of .3 tells; with wider spreads in mind, small ones make a funnel
OF_A_LABEL = 0.1 * 0.3**2


def centred_share(codes: Encoded) -> Floats:
    """Share to which each coder's parameters should be centered, between 0 and 1, shape [row]."""
    # w = I / (1 + I) with the information I of a coder's labels of one class: a coder with many
    # labels is known apart from the population (centered), one with few is not
    times = np.repeat(codes.weight, np.diff(codes.starts))
    labels = np.bincount(codes.row, weights=times, minlength=codes.n_rows)
    information = OF_A_LABEL * labels / codes.n_labels
    return np.asarray(information / (1.0 + information))


@dataclass(frozen=True, eq=False)
class PartlyCentred(Normal):
    """Normal distributions of coders around their population, in a form that eases sampling."""

    codes: Encoded | None = None

    def pymc(self, name: str, dims: tuple[str, ...]) -> Tensor:
        """Return a PyMC variable; call inside a model context."""
        import pymc as pm
        import pytensor.tensor as pt

        assert self.codes is not None
        share = observed("centred_share", centred_share(self.codes))
        share = pt.reshape(share, (-1, *(1,) * (len(dims) - 1)), ndim=len(dims))
        # PyMC lets a transform use only the inputs of its variable, so a share that is a variable
        # must be part of one of its arguments
        mean = self.mean + pt.zeros_like(share)
        return pm.Normal(name, mean, self.sd, dims=dims, transform=partly_centred(share))


def partly_centred(share: Tensor) -> Transform:
    """Transform of a normal variable with location m and scale s that eases sampling."""
    # The sampler sees z = (x - m) / s^(1 - w) + w m, so z ~ N(w m, s^w): the variable itself for w
    # = 1, its distance from the population in units of the scale for w = 0. The density of x is the
    # same for every w (Papaspiliopoulos, Roberts and Sköld 2007, doi:10.1214/088342307000000014).
    return _transform()(share)


@lru_cache(maxsize=1)
def _transform() -> type[Transform]:
    """Define the transform when PyMC is there."""
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
