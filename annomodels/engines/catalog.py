"""The table of engines, and which one serves a model."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from annomodels.errors import NotApplicable
from annomodels.models.base import Model

# module, and name of the function, by engine and by what the truth is
ENGINES: dict[str, dict[str, str]] = {
    "gibbs": {
        "class": "annomodels.engines.gibbs:run",
        "number": "annomodels.engines.interval:run",
        "link": "annomodels.engines.links:run_gibbs",
        "stack": "annomodels.engines.stacking:run",
    },
    "nuts": {
        "class": "annomodels.engines.pymc.nuts:run",
        "number": "annomodels.engines.interval_nuts:run",
        "link": "annomodels.engines.links:run_nuts",
    },
    "em": {"class": "annomodels.engines.em:run"},
}


def choose(model: Model, engine: str = "auto") -> str:
    """Give the engine to use: Gibbs where the model is conjugate given the truth, else NUTS.

    Parameters
    ----------
    model
        The model.
    engine
        ``auto`` or the name of an engine.

    Raises
    ------
    NotApplicable
        When there is no such engine, or it does not serve the model.

    Examples
    --------
    >>> from annomodels.models import resolve
    >>> choose(resolve("hierarchical")), choose(resolve("logit-normal"))
    ('gibbs', 'nuts')
    """
    if engine == "auto":
        return model.engines[0]
    if engine not in ENGINES:
        raise NotApplicable(f"There is no engine {engine!r}. Use auto, {', '.join(ENGINES)}.")
    if engine not in model.engines:
        raise NotApplicable(
            f"The engine {engine!r} does not serve the {model.title} model. "
            f"Use {' or '.join(model.engines)}."
        )
    if engine != "em" and not model.proper:
        raise NotApplicable(
            "A model without proper priors has no posterior to sample. "
            "Use engine='em', or give it priors."
        )
    return engine


def runner(engine: str, truth: str = "class") -> Callable[..., Any]:
    """Load an engine and give its function for models of such a truth, or for a stack."""
    module, name = ENGINES[engine][truth].split(":")
    run: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return run
