"""The result tree: names of its groups, dimensions, variables and attributes.

Every engine returns a ``RawResult`` of plain arrays; :func:`conform` turns it into the one tree
that all summaries, plots and reports read.

====================  ==========================================================================
group                 variables
====================  ==========================================================================
``posterior``         ``prevalence`` (chain, draw, truth); ``confusion`` (chain, draw, coder,
                      truth, label), without ``coder`` for the pooled model; for hierarchical
                      models ``population`` (chain, draw, truth, label) and ``concentration``
                      (chain, draw, truth) and ``common_accuracy`` (chain, draw), or the same of
                      each group of coders, ``group_population`` (chain, draw, coder_group, truth,
                      label), ``group_concentration`` and ``group_accuracy``; on the logit
                      scale ``location`` (chain, draw, truth, label) and ``scale`` (chain, draw,
                      truth); for one-coin and class-conditional ``accuracy`` (chain, draw, coder),
                      the latter by ``truth`` too; where labels are no class, ``no_answer`` (chain,
                      draw, coder, truth, dont_know), ``no_answer_mean`` and
                      ``no_answer_concentration`` (chain, draw, truth, dont_know);
                      for MACE ``competence`` (chain, draw, coder)
                      and ``guess`` (chain, draw, coder, label); where items have states,
                      ``prevalence`` and ``confusion`` are those of the truth, with the states
                      summed out, and ``perceived_prevalence`` (chain, draw, perceived),
                      ``perceived_confusion`` (chain, draw, coder, perceived, label) what coders
                      respond to
``sample_stats``      ``lp`` (chain, draw): log joint density with the truth summed out;
                      ``diverging`` (chain, draw) for NUTS
``truth``             ``p_truth`` (item, truth): posterior probability of each class, averaged
                      exactly over the draws; ``p_truth_mcse``: its Monte Carlo error;
                      ``conditional_entropy`` (item): mean entropy in nats given the parameters
``items``             of models whose items have states: what these stand for, such as
                      ``ambiguous`` or ``difficulty`` (item) with ``_sd``; ``p_state`` (item,
                      state)
``pool``              of an opinion pool: ``weight`` (pool_draw, member) and ``error`` (pool_draw),
                      draws of how far its models are believed; ``member_log_p`` (member, item,
                      truth): log P(truth) of each of them
``observed_data``     ``item``, ``coder``, ``label`` (annotation): codes; ``gold`` (item_index)
====================  ==========================================================================
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "SCHEMA_VERSION",
    "RawResult",
    "annotations_of",
    "conform",
    "confusion_draws",
    "names",
    "observed_data",
    "plain_attrs",
]

SCHEMA_VERSION = "1"
Floats = NDArray[Any]

POOL = {
    "weight": ("pool_draw", "member"),
    "error": ("pool_draw",),
    "member_log_p": ("member", "item", "truth"),
}
DIMS: dict[str, tuple[str, ...]] = {
    "prevalence": ("truth",),
    "confusion": ("coder", "truth", "label"),
    "population": ("truth", "label"),
    "concentration": ("truth",),
    "common_accuracy": (),
    "group_population": ("coder_group", "truth", "label"),
    "group_concentration": ("coder_group", "truth"),
    "group_accuracy": ("coder_group",),
    "scale": ("truth",),
    "location": ("truth", "label"),
    "accuracy": ("coder", "truth"),
    "competence": ("coder",),
    "guess": ("coder", "label"),
    "no_answer": ("coder", "truth", "dont_know"),
    "no_answer_mean": ("truth", "dont_know"),
    "no_answer_concentration": ("truth", "dont_know"),
    "spammer": ("coder",),
    "habit": ("coder", "label"),
    "spammer_share": (),
    "perceived_prevalence": ("perceived",),
    "perceived_confusion": ("coder", "perceived", "label"),
}


@dataclass
class RawResult:
    """What an engine hands back: arrays without names.

    Parameters
    ----------
    posterior
        Draws by variable, each with leading dimensions [chain, draw].
    lp
        Log joint density with the truth summed out, shape [chain, draw].
    p_truth
        Probability of each class of each item, shape [item, truth].
    p_truth_mcse
        Its Monte Carlo standard error, NaN for ``em``.
    conditional_entropy
        Mean over the draws of the entropy of the truth given the parameters, nats, shape [item].
    stats
        Further statistics with dimensions [chain, draw].
    attrs
        Plain values about the run: engine, seed, warmup, seconds, modes, swapped chains ...
    item_values
        What the states of an item stand for, posterior mean and, as ``name_sd``, standard
        deviation; each [item].
    p_state
        Posterior probability of each state, shape [item, state]; None without states, or where
        there are too many items.
    pool
        Of an opinion pool: ``weight``, shape [draw, model], ``error``, shape [draw], and
        ``member_log_p``, shape [model, item, truth].
    """

    posterior: dict[str, Floats]
    lp: Floats
    p_truth: Floats
    p_truth_mcse: Floats
    conditional_entropy: Floats
    stats: dict[str, Floats] = field(default_factory=dict)
    attrs: dict[str, Any] = field(default_factory=dict)
    item_values: dict[str, Floats] = field(default_factory=dict)
    p_state: Floats | None = None
    pool: dict[str, Floats] = field(default_factory=dict)


def names(data: Annotations) -> dict[str, list[str]]:
    """Coordinates of the tree as texts, by dimension."""
    labels = [label_text(name) for name in data.labels]
    return {
        "item": [label_text(name) for name in data.items],
        "coder": [label_text(name) for name in data.coders],
        "truth": labels,
        "label": labels,
    }


def conform(
    result: RawResult,
    data: Annotations,
    model: dict[str, Any],
    dims: dict[str, tuple[str, ...]] | None = None,
    coords: dict[str, list[str]] | None = None,
) -> xr.DataTree:
    """Build the result tree.

    Parameters
    ----------
    result
        Arrays of an engine.
    data
        What was fitted.
    model
        The model as plain data.
    dims, coords
        Dimensions of variables that only this model has, and names along them.

    Raises
    ------
    ValueError
        When an array does not have the shape that the schema says.
    """
    import xarray as xr

    known_dims = {**DIMS, **(dims or {})}
    known_coords = {**names(data), **(coords or {})}
    chains, draws = result.lp.shape
    base = {"chain": np.arange(chains), "draw": np.arange(draws)}

    def dataset(arrays: dict[str, Any]) -> xr.Dataset:
        used = {dim for dims, _ in arrays.values() for dim in dims}
        known = {**base, **known_coords}
        return xr.Dataset(arrays, coords={dim: known[dim] for dim in known if dim in used})

    posterior: dict[str, Any] = {}
    for name, values in result.posterior.items():
        along = known_dims[name]
        if name == "confusion" and values.ndim == 4:
            along = ("truth", "label")
        if name == "accuracy":  # for all classes, or for each
            along = along[: values.ndim - 2]
        posterior[name] = (("chain", "draw", *along), values)
    stats = {
        name: (("chain", "draw"), values)
        for name, values in {"lp": result.lp, **result.stats}.items()
    }
    truth = {
        "p_truth": (("item", "truth"), result.p_truth),
        "p_truth_mcse": (("item", "truth"), result.p_truth_mcse),
        "conditional_entropy": (("item",), result.conditional_entropy),
    }
    observed = observed_data(data)
    items: dict[str, Any] = {name: (("item",), v) for name, v in result.item_values.items()}
    if result.p_state is not None:
        items["p_state"] = (("item", "state"), result.p_state)
    pool = {name: (POOL[name], values) for name, values in result.pool.items()}
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=plain_attrs(result.attrs, model)),
            "/posterior": dataset(posterior),
            "/sample_stats": dataset(stats),
            "/truth": dataset(truth),
            **({"/items": dataset(items)} if items else {}),
            **({"/pool": dataset(pool)} if pool else {}),
            "/observed_data": observed,
        }
    )
    return tree


def observed_data(data: Annotations) -> xr.Dataset:
    """Give what was fitted as the group ``observed_data``; :func:`annotations_of` reads it back."""
    import xarray as xr

    observed = xr.Dataset(
        {
            "item": (("annotation",), data.item),
            "coder": (("annotation",), data.coder),
            "label": (("annotation",), data.label),
        }
    )
    if data.gold is not None:
        observed["gold"] = (("item_index",), data.gold)
    if data.group is not None:
        observed["group"] = (("item_index",), data.group)
    if data.unanswered is not None:
        observed["unanswered"] = (("time", "part"), data.unanswered)
    observed.attrs = {"data": json.dumps(_describe(data), default=_plain)}
    return observed


def _plain(value: Any) -> dict[str, list[Any]]:
    """Write a set-valued label as plain data; :func:`_label` reads it back."""
    if isinstance(value, frozenset):
        return {"set": sorted(value, key=label_text)}
    raise TypeError(f"{value!r} cannot be written as JSON.")


def _label(value: Any) -> Any:
    return frozenset(map(_label, value["set"])) if isinstance(value, dict) else value


def _describe(data: Annotations) -> dict[str, Any]:
    return {
        "items": list(data.items),
        "coders": list(data.coders),
        "labels": list(data.labels),
        "scale": data.scale,
        "declared": data.declared,
        "groups": list(data.groups),
        "texts": None if data.texts is None else list(data.texts),
        "skips": data.skips,
        "source": data.source,
        "notes": list(data.notes),
        **({"dont_know": list(data.dont_know)} if data.dont_know else {}),
    }


def plain_attrs(attrs: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    """Give attributes as a netCDF file can hold them: numbers and texts, all else as JSON."""
    from annomodels import __version__

    plain = {"schema": SCHEMA_VERSION, "annomodels": __version__, "model": json.dumps(model)}
    for key, value in attrs.items():
        simple = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        plain[key] = value if simple else json.dumps(value)
    return plain


def annotations_of(tree: xr.DataTree) -> Annotations:
    """Give the data that were fitted, from a result tree."""
    observed = tree["observed_data"].to_dataset()
    about = json.loads(observed.attrs["data"])
    texts = about.pop("texts")
    notes = about.pop("notes")
    fields: dict[str, Any] = {
        key: tuple(map(_label, value)) if isinstance(value, list) else value
        for key, value in about.items()
    }
    return Annotations(
        item=observed["item"].values,
        coder=observed["coder"].values,
        label=observed["label"].values,
        gold=observed["gold"].values if "gold" in observed else None,
        group=observed["group"].values if "group" in observed else None,
        unanswered=observed["unanswered"].values if "unanswered" in observed else None,
        texts=None if texts is None else tuple(texts),
        notes=tuple(notes),
        **fields,
    )


def confusion_draws(tree: xr.DataTree, n_coders: int) -> Floats:
    """Draws of the confusion matrices, shape [sample, coder, truth, label].

    Chains follow each other along ``sample``. For the pooled model every coder has the same
    matrix; the array is then a read-only view without copies.
    """
    values: Floats = tree["posterior"].to_dataset()["confusion"].values
    values = values.reshape(-1, *values.shape[2:])
    if values.ndim == 3:
        values = np.broadcast_to(values[:, None], (len(values), n_coders, *values.shape[1:]))
    return values
