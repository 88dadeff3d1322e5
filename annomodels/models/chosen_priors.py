"""Log density of the priors that somebody chose, from the PyMC definition of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from annomodels.data.annotations import Annotations
from annomodels.models.base import Model
from annomodels.models.encoded import Encoded, encode
from annomodels.priors.shares import inside
from annomodels.types import Floats, Tensor


def defined_priors(
    model: Model, data: Annotations, known: dict[str, Floats]
) -> tuple[Floats, list[str]]:
    """Log density of the chosen priors on every draw, and the variables that it is of."""
    import pytensor
    from pymc import logp
    from pytensor.graph.replace import clone_replace, vectorize_graph

    chosen, parts = _chosen(model, data)
    chosen = [rv for rv in chosen if rv.name in known]
    one = [rv.type(name=rv.name) for rv in chosen]
    total = sum((logp(rv, x).sum() for rv, x in zip(chosen, one, strict=True)), start=0.0)
    total = sum((part.sum() for part in parts), start=total)
    (total,) = clone_replace([total], dict(zip(chosen, one, strict=True)))
    every = [pytensor.tensor.tensor(rv.name, shape=(None, *rv.type.shape)) for rv in chosen]
    total = vectorize_graph(total, dict(zip(one, every, strict=True)))
    density = pytensor.function(every, total, mode="FAST_COMPILE")
    found = density(*(_inside(rv, np.asarray(known[rv.name], dtype=np.float64)) for rv in chosen))
    return np.asarray(found, dtype=np.float64), [str(rv.name) for rv in chosen]


def _inside(rv: Tensor, values: Floats) -> Floats:
    """Values of a variable, away from the edge if they are shares."""
    from pytensor.tensor.random.basic import BetaRV, DirichletRV

    return inside(values) if isinstance(rv.owner.op, BetaRV | DirichletRV) else values


def _chosen(model: Model, data: Annotations) -> tuple[list[Tensor], list[Tensor]]:
    """Variables of the PyMC model whose prior is not learnt, and the rest of their density."""
    from pytensor.graph.traversal import ancestors

    known = data.coords
    coords = {dim: known[dim] for dim in ("truth", "label", "coder")}
    coords |= model.coords(coords["label"])
    pymc_model = model.build(
        _first(encode(data, shared=model.shared, kind=model.item_kinds)), coords
    )
    free, dims = set(pymc_model.free_RVs), pymc_model.named_vars_to_dims
    # densities that are no distribution of PyMC's stand beside the labels as potentials
    parts = {p: free & set(ancestors([p])) for p in pymc_model.potentials if p.name != "labels"}

    def learnt(rv: Tensor) -> bool:
        of = set(ancestors([rv])).union(*(each for each in parts.values() if rv in each))
        return "coder" in dims.get(rv.name, ()) and bool((free & of) - {rv})

    chosen = [rv for rv in pymc_model.free_RVs if not learnt(rv)]
    return chosen, [p for p, of in parts.items() if of <= set(chosen)]


def _first(codes: Encoded) -> Encoded:
    """Codes of one item: priors do not depend on the labels."""
    end = int(codes.starts[1])
    return replace(
        codes,
        starts=codes.starts[:2],
        row=codes.row[:end],
        label=codes.label[:end],
        gold=codes.gold[:1],
        weight=codes.weight[:1],
        inverse=np.zeros(1, dtype=codes.inverse.dtype),
        kind=None if codes.kind is None else codes.kind[:1],
    )
