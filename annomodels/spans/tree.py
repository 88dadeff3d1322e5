"""Spans, options and draws as the tree of results that a saved fit contains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.schema import plain_attrs
from annomodels.io.span_builder import Span, Spans
from annomodels.spans.groups import Groups
from annomodels.spans.model import Draws, SpanModel
from annomodels.types import AnyArray

if TYPE_CHECKING:
    import xarray as xr

DIMS: dict[str, tuple[str, ...]] = {
    "prevalence": ("class",),
    "evenness": (),
    "confusion": ("coder", "class", "label"),
    "base": ("class", "label"),
    "concentration": ("class",),
    "exact": ("coder",),
    "attentive": ("coder",),
    "steadiness": ("coder",),
}
OF_TRUTH = {
    "truth": ("truth_draw", "group"),
    "truth_shape": ("truth_draw", "group"),
    "p_class": ("group", "class"),
    "p_shape": ("candidate",),
    "unseen": ("truth_draw",),
}
NOTHING = "(none)"


def tree_of(
    spans: Spans, groups: Groups, draws: Draws, model: SpanModel, attrs: Mapping[str, object]
) -> xr.DataTree:
    """Build the tree of results."""
    import xarray as xr

    classes = [NOTHING, *groups.labels]
    names = {"class": classes, "label": classes, "coder": list(groups.coders)}
    chains, kept = draws.log_density.shape
    base = {"chain": np.arange(chains), "draw": np.arange(kept)}

    def dataset(arrays: dict[str, tuple[tuple[str, ...], AnyArray]]) -> xr.Dataset:
        used = {dim for dims, _ in arrays.values() for dim in dims}
        known = {**base, **names}
        return xr.Dataset(arrays, coords={dim: known[dim] for dim in known if dim in used})

    posterior = {
        name: (("chain", "draw", *DIMS[name]), values) for name, values in draws.posterior.items()
    }
    truth = {name: (OF_TRUTH[name], getattr(draws, name)) for name in OF_TRUTH}
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=plain_attrs({"kind": "spans", **attrs}, model.to_dict())),
            "/posterior": dataset(posterior),
            "/sample_stats": dataset({"lp": (("chain", "draw"), draws.log_density)}),
            "/truth": dataset(truth),
            "/observed_data": xr.Dataset({"spans": (("byte",), packed(spans))}),
        }
    )


def draws_of(tree: xr.DataTree) -> Draws:
    """Return the draws of a tree."""
    posterior, truth = tree["posterior"].to_dataset(), tree["truth"].to_dataset()
    return Draws(
        {str(name): values.values for name, values in posterior.items()},
        tree["sample_stats"].to_dataset()["lp"].values,
        **{name: truth[name].values for name in OF_TRUTH},
        rhat=float(tree.attrs["rhat_max"]),
        effective=float(tree.attrs["ess_min"]),
    )


def packed(spans: Spans) -> AnyArray:
    """Encode spans as JSON bytes."""
    held = {each.name: getattr(spans, each.name) for each in fields(spans)}
    row = attrgetter(*(each.name for each in fields(Span)))
    held["spans"] = [row(span) for span in spans.spans]
    for name in ("seen", "texts", "tokens"):
        held[name] = dict(held[name])
    return np.frombuffer(json.dumps(held).encode("ascii"), np.uint8)


def unpacked(data: AnyArray) -> Spans:
    """Decode spans that :func:`packed` encoded."""
    held: dict[str, Any] = json.loads(np.asarray(data, np.uint8).tobytes())
    held["spans"] = tuple(Span(*row) for row in held["spans"])
    held["seen"] = {name: tuple(coders) for name, coders in held["seen"].items()}
    held["tokens"] = {
        name: tuple((start, end) for start, end in each) for name, each in held["tokens"].items()
    }
    for name in ("notes", "attributes"):
        if name in held:
            held[name] = tuple(held[name])
    return Spans(**held)
