"""The result tree: names of its groups, dimensions, variables and attributes.

Every engine returns a ``RawResult`` of plain arrays; :func:`conform` turns it into the one tree
that all summaries, plots and reports read.

====================  ==========================================================================
group                 variables
====================  ==========================================================================
``posterior``         what the model declares (:meth:`annomodels.models.base.Model.parameters`) and
                      nothing else; always ``prevalence`` (chain, draw, truth) and ``confusion``
                      (chain, draw, coder, truth, label), without ``coder`` where all coders share
                      one. Where items have states, these are those of the truth, with the states
                      summed out
``sample_stats``      ``lp`` (chain, draw): log joint density with the truth summed out;
                      ``diverging`` (chain, draw) for NUTS
``truth``             ``p_truth`` (item, truth): posterior probability of each class, averaged
                      exactly over the draws; ``p_truth_mcse``: its Monte Carlo error;
                      ``conditional_entropy`` (item): mean entropy in nats given the parameters.
                      Of links ``p_true`` (chain, batch, candidate): means over batches of draws;
                      ``p_number`` (item, number): probability of no true reading, one, or several;
                      ``p_next`` (candidate): that one more reader says it
``items``             of models whose items have states: what these stand for, such as
                      ``ambiguous`` or ``difficulty`` (item) with ``_sd``; ``p_state`` (item,
                      state)
``stack``             of a stack: ``log_mode`` (item, truth), log P(truth) of its model, and
                      ``log_mixture`` (item, truth), with the votes; draws of ``sharpness`` and
                      ``unknown`` (layer_draw) and ``tilt`` (layer_draw, truth). Of a scan, in place
                      of what is said of all items, ``known_mixture`` (known, truth) and
                      ``known_truth`` (known)
``audit``             of a fit after an audit, what it said before of the items that were judged
                      (audited): ``audited_item``, their codes; ``audited_drawn``, whether drawn at
                      random; ``audited_best``, the most probable label, and ``audited_wrong``, the
                      probability of the others; ``expected_wrong`` (expected_draw): how many of
                      those drawn were to be expected to be wrong
``coders``            of a stack: ``right`` (chain, draw, coder), how many labels of each coder are
                      right, counted under the truths that were drawn
``observed_data``     what was fitted: the arrays of the data, everything else of them as JSON; of
                      annotations ``item``, ``coder``, ``label`` (annotation): codes; ``gold``
                      (item_index)
====================  ==========================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import numpy as np

from annomodels.data.annotations import SCALES, Annotations
from annomodels.data.candidates import Candidates
from annomodels.data.names import label_text
from annomodels.types import AnyArray

if TYPE_CHECKING:
    import xarray as xr

SCHEMA_VERSION = "1"

GROUPS = (
    "posterior", "sample_stats", "truth", "truth_draws", "items", "stack", "audit", "coders",
    "observed_data",
)  # fmt: skip

Data = Annotations | Candidates
DATA: dict[str, Any] = {kind.__name__: kind for kind in (Annotations, Candidates)}
STACK = {
    "log_mode": ("item", "truth"),
    "log_mixture": ("item", "truth"),
    "sharpness": ("layer_draw",),
    "unknown": ("layer_draw", "truth"),
    "tilt": ("layer_draw", "truth"),
    "known_mixture": ("known", "truth"),
    "known_truth": ("known",),
}

SMALL = 1e-3  # by which shares may miss their sum: they may be kept in single precision
# what a run says of itself in attributes, and in lists; what stands first is always there
SAID: dict[str, Any] = {
    **dict.fromkeys(("engine", "command"), str),
    **dict.fromkeys(("seed", "chains", "draws", "warmup"), Integral),
    **dict.fromkeys(("rhat_max", "ess_min", "seconds"), Real),
    **dict.fromkeys(("gain", "expected_errors", "relabelled_share", "centre", "unit"), Real),
    **dict.fromkeys(("stopped", "data_fingerprint"), str),
}
ALWAYS = 9
LISTED: dict[str, Any] = {
    **dict.fromkeys(("census", "modes"), dict),
    **{"swapped_chains": int, "restarted": int, "ends": (float, int)},
    "decisions": list,
}
# where the values of other variables than those of the posterior lie
SPANS = {
    "p_truth": "simplex", "p_state": "simplex", "p_number": "simplex",
    "p_true": "unit", "p_next": "unit", "right": "positive", "conditional_entropy": "real",
    "log_mode": "log", "log_mixture": "log", "p_truth_mcse": "unit",
}  # fmt: skip


class Dimensioned(Protocol):
    """Variable of the posterior."""

    @property
    def name(self) -> str:
        """Name in the result tree."""

    @property
    def dims(self) -> tuple[str, ...]:
        """Dimensions beyond chain and draw."""


class Declared(Protocol):
    """Variables of results, as a model declares them."""

    def parameters(self, n_labels: int) -> Iterable[Dimensioned]:
        """Variables of the posterior."""

    def coords(self, labels: list[str]) -> dict[str, list[str]]:
        """Names along the dimensions that only this model has."""

    def to_dict(self) -> dict[str, object]:
        """Write the model down as plain data."""


@dataclass
class RawResult:
    """Result of an engine: arrays without names."""

    posterior: dict[str, AnyArray]  # draws by variable, each with leading dimensions [chain, draw]
    lp: AnyArray  # log joint density with the truth summed out, shape [chain, draw]
    # probability of each class of each item, shape [item, truth]
    p_truth: AnyArray = field(default_factory=lambda: np.empty((0, 0)))
    # its Monte Carlo standard error, NaN for ``em``
    p_truth_mcse: AnyArray = field(default_factory=lambda: np.empty((0, 0)))
    # mean over the draws of the entropy of the truth given the parameters, nats, shape [item]
    conditional_entropy: AnyArray = field(default_factory=lambda: np.empty(0))
    # further statistics with dimensions [chain, draw]
    stats: dict[str, AnyArray] = field(default_factory=dict)
    # plain values about the run: engine, seed, warmup, seconds, modes, swapped chains
    attrs: dict[str, Any] = field(default_factory=dict)
    # what the states of an item stand for, posterior mean and, as ``name_sd``, standard deviation;
    # each [item]
    item_values: dict[str, AnyArray] = field(default_factory=dict)
    p_state: AnyArray | None = None  # posterior probability of each state, shape [item, state]
    # of a stack: the arrays of the group of the tree
    stack: dict[str, AnyArray] = field(default_factory=dict)
    # of a truth that is no class: variables with their dimensions, by group of the tree
    groups: dict[str, dict[str, tuple[tuple[str, ...], AnyArray]]] = field(default_factory=dict)
    # where P(truth) is, of labels on disk, see :mod:`annomodels.engines.source.disk`
    on_disk: Any = None


class ItemFields(TypedDict, total=False):
    """Fields of a :class:`RawResult` that concern items."""

    p_truth: AnyArray
    p_truth_mcse: AnyArray
    conditional_entropy: AnyArray
    item_values: dict[str, AnyArray]
    p_state: AnyArray | None
    on_disk: Any


def conform(result: RawResult, data: Data, model: Declared) -> xr.DataTree:
    """Build the result tree."""
    import xarray as xr

    described = model.to_dict()
    declared = {each.name: each.dims for each in model.parameters(data.n_labels)}
    strange = [name for name in result.posterior if name not in declared]
    if strange:
        raise ValueError(
            f"The model {described['name']} does not declare {', '.join(strange)} of its "
            f"posterior. Name each in variables; declared are {', '.join(declared)}."
        )
    known_coords = data.coords | model.coords(data.coords["label"])
    chains, draws = result.lp.shape
    base = {"chain": np.arange(chains), "draw": np.arange(draws)}

    def dataset(arrays: Mapping[str, tuple[tuple[str, ...], AnyArray]]) -> xr.Dataset:
        used = {dim for dims, _ in arrays.values() for dim in dims}
        known = {**base, **known_coords}
        return xr.Dataset(arrays, coords={dim: known[dim] for dim in known if dim in used})

    posterior = {
        name: (("chain", "draw", *declared[name]), values)
        for name, values in result.posterior.items()
    }
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
    stack = {name: (STACK[name], values) for name, values in result.stack.items()}
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=plain_attrs(result.attrs, described)),
            "/posterior": dataset(posterior),
            "/sample_stats": dataset(stats),
            **{
                f"/{name}": dataset(part)
                for name, part in ({"truth": truth} | result.groups).items()
            },
            **({"/items": dataset(items)} if items else {}),
            **({"/stack": dataset(stack)} if stack else {}),
            "/observed_data": observed,
        }
    )
    return tree


def observed_data(data: Data) -> xr.Dataset:
    """Return what was fitted as the group ``observed_data``; :func:`data_of` reads it back."""
    import xarray as xr

    kind = next(kind for kind in DATA.values() if isinstance(data, kind))
    held = {field.name: getattr(data, field.name) for field in fields(kind)}
    arrays = {name: (dims, held.pop(name)) for name, dims in data.dims.items()}
    kept = {name: array for name, array in arrays.items() if array[1] is not None}
    about = json.dumps({"kind": kind.__name__, **held}, default=_plain)
    return xr.Dataset(kept, attrs={"data": about})


def _plain(value: object) -> dict[str, list[object]]:
    """Write a set-valued label as plain data; :func:`_label` reads it back."""
    if isinstance(value, frozenset):
        return {"set": sorted(value, key=label_text)}
    raise TypeError(f"{value!r} cannot be written as JSON.")


def _label(value: object) -> object:
    return frozenset(map(_label, value["set"])) if isinstance(value, dict) else value


def plain_attrs(attrs: Mapping[str, object], model: Mapping[str, object]) -> dict[str, object]:
    """Return attributes for a netCDF file: numbers and strings, all else as JSON."""
    from annomodels import __version__

    plain: dict[str, object] = {
        "schema": SCHEMA_VERSION,
        "annomodels": __version__,
        "model": json.dumps(model),
    }
    for key, value in attrs.items():
        simple = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        plain[key] = value if simple else json.dumps(value)
    return plain


def data_of(tree: xr.DataTree) -> Data:
    """Return the fitted data from a result tree."""
    observed = tree["observed_data"].to_dataset()
    about = json.loads(observed.attrs["data"])
    kind = DATA[about.pop("kind", "Annotations")]
    held: dict[str, Any] = {
        key: tuple(map(_label, value)) if isinstance(value, list) else value
        for key, value in about.items()
    }
    held |= {str(name): values.values for name, values in observed.items()}
    found: Data = kind(**held)
    return found


def is_group(name: str) -> bool:
    """Return True if a tree of results may have a group of this name.

    >>> is_group("truth"), is_group("member_2")
    (True, False)
    """
    return name in GROUPS


def require_sound(tree: xr.DataTree, model: Any, data: Any, *, stacked: bool) -> None:
    """Refuse a tree that :func:`conform` would not build for this model and data."""
    k, whole = data.n_labels, len(data.items) > 0  # of a scan there are no items
    links = isinstance(data, Candidates)
    _require_codes(data)
    _require_said(tree.attrs)
    groups = {name: tree[name].to_dataset() for name in tree.children if name != "observed_data"}
    declared = {each.name: each for each in model.parameters(k)}
    needed: dict[tuple[str, str], tuple[str, ...]] = {("sample_stats", "lp"): ("chain", "draw")}
    for name, each in declared.items():
        if not each.optional or name in groups["posterior"]:
            needed["posterior", name] = ("chain", "draw", *each.dims)
    if whole and model.truth == "class":
        by_class = dict.fromkeys(("p_truth", "p_truth_mcse"), ("item", "truth"))
        of_items = {**by_class, "conditional_entropy": ("item",)}
        needed |= {("truth", name): dims for name, dims in of_items.items()}
    if stacked:
        left = ("known_mixture", "known_truth", *(() if whole else ("log_mode", "log_mixture")))
        needed |= {("stack", name): dims for name, dims in STACK.items() if name not in left}
        needed["coders", "right"] = ("chain", "draw", "coder")
    wrong = [key for key, dims in needed.items() if groups[key[0]][key[1]].dims != dims]
    wrong += [("posterior", str(name)) for name in groups["posterior"] if name not in declared]
    if wrong or links != (model.truth == "link"):
        raise ValueError(f"{'/'.join(wrong[0]) if wrong else 'the data'} is not of its model")
    coords = data.coords | model.coords(data.coords["label"])
    sizes = {name: len(names) for name, names in coords.items()}
    sizes |= {"chain": tree.attrs["chains"], "draw": tree.attrs["draws"]}
    sizes |= {} if links else {"annotation": len(data)}
    for group, dataset in groups.items():
        for dim, size in dataset.sizes.items():
            named = dim in coords and dim in dataset.coords
            if sizes.get(str(dim), size) != size or (
                named and [*dataset[dim].values] != coords[str(dim)]
            ):
                raise ValueError(f"{group} has another {dim}")
        for name, variable in dataset.variables.items():
            if variable.dims == (name,):
                continue
            posterior = group == "posterior"
            support = declared[str(name)].support if posterior else SPANS.get(str(name))
            if name == "p_truth_mcse" and _unknown(variable.values):
                support = None
            _require_values(f"{group}/{name}", variable.values, support)


def _unknown(errors: AnyArray) -> bool:
    """Return True for errors of a run without enough draws: NaN, but 0 where the truth is known."""
    return errors.dtype.kind == "f" and bool((np.isnan(errors) | (errors == 0)).all())


def _require_values(name: str, values: AnyArray, support: str | None) -> None:
    """Refuse non-numeric values or values outside their support (None: any number)."""
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{name} is not a number")
    if support is None:
        return
    low = -np.inf if support in ("real", "zero-sum", "log") else -SMALL
    high = {"unit": 1.0, "simplex": 1.0, "log": 0.0}.get(support, np.inf) + SMALL
    finite = ~np.isnan(values) if support == "log" else np.isfinite(values)
    if not (finite & (low <= values) & (values <= high)).all():
        raise ValueError(f"{name} is out of its range")
    if support == "simplex" and (np.abs(values.sum(axis=-1, dtype=float) - 1) > SMALL).any():
        raise ValueError(f"{name} does not sum to 1")


def _require_said(attrs: Mapping[Any, Any]) -> None:
    """Refuse attributes that no run writes."""
    wrong = [
        name
        for n, (name, kind) in enumerate(SAID.items())
        if (n < ALWAYS or name in attrs) and not isinstance(attrs.get(name), kind)
    ]
    for name, kind in LISTED.items():
        listed = json.loads(attrs.get(name, "[]"))
        wrong += [name] * (
            not isinstance(listed, list) or any(not isinstance(x, kind) for x in listed)
        )
    lowest = min(attrs["chains"] - 1, attrs["draws"] - 1, attrs["seed"], attrs["warmup"])
    if wrong or lowest < 0:
        raise ValueError(f"{min(wrong, default='its size or seed')} is not what a run says")


def _require_codes(data: Data) -> None:
    """Refuse codes without a name, and invalid names."""
    n = len(data.items)
    names = [data.items, data.coders, data.labels]
    names += [data.classes] if isinstance(data, Candidates) else [data.groups, data.dont_know]
    plain = (str, int, float, frozenset)
    if any(not isinstance(each, tuple) for each in names) or any(
        not isinstance(name, plain) for each in names for name in each
    ):
        raise ValueError("names that are none")
    codes = [(data.coder, data.n_coders)]
    if isinstance(data, Candidates):
        codes += [(data.accepted, 2), (data.cls, data.n_labels)]
        many = len(data.labels)
        borders = ((data.firsts, n, many), (data.starts, many, len(data.coder)))
        fine = len(data.cls) == many and len(data.coder) == len(data.accepted)
        for border, parts, end in borders:
            fine &= len(border) == parts + 1 and border[0] == 0 and border[-1] == end
            fine &= bool((np.diff(border) >= 0).all())
    else:
        codes += [(data.item, n), (data.label, data.n_labels)]
        codes += [(np.maximum(data.gold, 0), data.n_labels)] if data.gold is not None else []
        codes += [(np.maximum(data.group, 0), len(data.groups))] if data.group is not None else []
        if data.unanswered is not None:
            ends = (n, data.n_coders, len(data.dont_know))
            codes += zip(data.unanswered.T, ends, strict=True)
        of_items = (data.gold, data.group, data.texts)
        fine = len(data.item) == len(data.coder) == len(data.label)
        fine &= all(each is None or len(each) == n for each in of_items)
        fine &= bool((np.diff(data.item) >= 0).all())
        told = (data.source, *data.notes, *(data.texts or ()))
        fine &= all(isinstance(text, str) for text in told)
        fine &= data.scale in SCALES and type(data.declared) is bool
        fine &= type(data.skips) is int and data.skips >= 0
    own = (data.items, data.coders, data.classes if isinstance(data, Candidates) else data.labels)
    fine &= all(len(set(each)) == len(each) for each in own)
    if not fine or any(
        each.size and not 0 <= each.min() <= each.max() < end for each, end in codes
    ):
        raise ValueError("codes of no item, coder or label")
