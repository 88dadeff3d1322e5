"""Where chains of NUTS start, every model has a finite density and gradient."""

import numpy as np
import pytest

from annomodels.models import MODELS, resolve
from tests.models.densities import density_at_the_start
from tests.models.enumeration import tiny


@pytest.mark.calibration
@pytest.mark.nuts
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", [n for n in MODELS if "nuts" in resolve(n).engines])
def test_density_and_gradient_are_finite(name, rng):
    k = 2 if name == "beta-binomial-by-item" else 3
    data = tiny(rng, n_items=8, n_coders=4, n_labels=k)
    value, gradient, free = density_at_the_start(resolve(name).with_data(data), data)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert len(gradient) == free
