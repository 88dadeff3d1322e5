"""Helpers of this folder can be imported by name; draws without a sampler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give points around the start of NUTS for draws, where a model would have to be compiled.

    They are no posterior, but values of every variable as the PyMC model has them: what is asked
    of draws can be asked of these, and compiling and sampling cost ten times as much.
    """
    import numpy as np
    from pymc.initial_point import make_initial_point_fn
    from pytensor import config

    from annomodels.engines.pymc import nuts

    def points(given, settings, wanted, **_):
        model, start = given
        rng = np.random.default_rng(settings.seed)
        shown = [each for each in model.unobserved_RVs if each.name in wanted]
        outputs = [model.logp(), *model.replace_rvs_by_values(shown)]
        with config.change_flags(mode="FAST_COMPILE"):
            at = model.compile_fn(outputs, inputs=model.value_vars, on_unused_input="ignore")
            begin = make_initial_point_fn(model=model, overrides=start, return_transformed=True)(0)
            runs = [
                [
                    at({k: v + 0.3 * rng.normal(size=np.shape(v)) for k, v in begin.items()})
                    for _ in range(settings.draws)
                ]
                for _ in range(settings.chains)
            ]
        lp, *values = (np.array([[d[n] for d in run] for run in runs]) for n in range(len(outputs)))
        found = {each.name: drawn for each, drawn in zip(shown, values, strict=True)}
        return found, lp, np.zeros(lp.shape, bool), ""

    sampled = nuts.sample
    monkeypatch.setattr(nuts, "compiled", lambda *given: given)
    monkeypatch.setattr(
        nuts,
        "sample",
        lambda code, *args, **options: (points if isinstance(code, tuple) else sampled)(
            code, *args, **options
        ),
    )
