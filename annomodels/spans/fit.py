"""Fit of a span model: gold layer, coders, expected quality."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from annomodels.data.schema import plain_attrs
from annomodels.data.validation import counted
from annomodels.engines.settings import Interrupts
from annomodels.errors import NotApplicable
from annomodels.io.sealed import write_tree
from annomodels.io.span_builder import NONE, MarkedSpan, Spans
from annomodels.io.writing import atomic_path
from annomodels.progress import Progress, reporting
from annomodels.spans.groups import Groups, groups_of
from annomodels.spans.model import SpanDraws, SpanModel, calibrated, sample
from annomodels.spans.tables import SpanTables
from annomodels.types import AnyArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# number of answers up to which chains have their full length; beyond it they are shorter, down to
# an eighth, because many groups let them mix in fewer draws
FULL = 3000
SHORTER = 8


def fit_spans(
    spans: Spans,
    model: SpanModel | None = None,
    *,
    question: str | None = None,
    nested: bool | None = None,
    decisions: Iterable[MarkedSpan] = (),
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SpanFit:
    """Fit the model of spans; :func:`annomodels.fit` calls it.

    Spans may be `nested` if a coder marked nested spans, unless that is given. `decisions` are
    spans that an expert decided, with the label ``(none)`` for "no span is here".
    """
    began = time.monotonic()
    spans = spans.only(question)
    model = SpanModel() if model is None else model
    seed = secrets.randbits(31) if seed is None else seed
    decided = list(decisions)
    groups = groups_of(spans, nested=nested, decisions=decided)
    shorter = min(max(len(groups.coder) // FULL, 1), SHORTER)
    options = {"chains": chains, "draws": -(-draws // shorter), "warmup": -(-warmup // shorter)}
    with reporting(progress) as tell:
        drawn = sample(groups, model, seed=seed, threads=threads, progress=tell, **options)
    found = calibrated(groups, drawn, model, seed)
    attrs = {
        "engine": "gibbs", "seed": seed, "chains": chains, "draws": draws, "warmup": warmup,
        "command": "", "seconds": time.monotonic() - began, "nested": groups.nested,
        "decisions": [[s.document, s.start, s.end, s.label] for s in decided],
    }  # fmt: skip
    made = SpanFit(spans, groups, found, tree_of(spans, groups, found, model, attrs))
    made.tree.attrs |= dict(zip(("rhat_max", "ess_min"), made.mixing(), strict=True))
    return made


@dataclass(frozen=True, eq=False, repr=False)
class SpanFit(SpanTables):
    """Fitted span model: data, draws and the tree of results.

    Parameters
    ----------
    spans
        The spans of the layer.
    groups
        Groups of overlapping marks.
    draws
        Posterior draws.
    tree
        Data, draws and options as one tree, which :meth:`save` writes.
    """

    tree: xr.DataTree

    @classmethod
    def of_tree(cls, tree: xr.DataTree) -> Self:
        spans = unpacked(tree["observed_data"].to_dataset()["spans"].values)
        nested = bool(json.loads(tree.attrs["nested"]))
        groups = groups_of(spans, nested=nested, decisions=_as_spans(decisions_of(tree)))
        draws = draws_of(tree)
        shapes = draws.p_class.shape, draws.p_shape.shape
        if shapes != ((len(groups), len(groups.labels) + 1), (len(groups.shapes),)):
            raise ValueError("its draws are of other spans")
        return cls(spans, groups, draws, tree)

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return str(self.tree.attrs["engine"])

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self.tree.attrs["seed"])

    @property
    def decisions(self) -> list[Decision]:
        """Document, start, end and label of each place that an expert decided."""
        return decisions_of(self.tree)

    def decided(self, decisions: pd.DataFrame | Iterable[Mapping[str, Any]]) -> SpanFit:
        """Return a fit with the decisions of an expert as known truth.

        Parameters
        ----------
        decisions
            Rows with document, start, end, label; ``(none)`` or an empty label means that no span
            is at this place. Earlier decisions stay unless a row has the same place.

        Raises
        ------
        NotApplicable
            If a row has an unknown document, or an invalid start or end.
        """
        import pandas as pd

        given = decisions.to_dict("records") if isinstance(decisions, pd.DataFrame) else decisions
        attrs = self.tree.attrs
        found = {(document, start, end): label for document, start, end, label in self.decisions}
        for row in given:
            document, start, end = str(row["document"]), int(row["start"]), int(row["end"])
            if document not in self.spans.seen or not 0 <= start < end:
                raise NotApplicable(f"{document!r} has no place {start}-{end}.")
            label = row["label"]
            found[document, start, end] = label if isinstance(label, str) else ""
        return fit_spans(
            self.spans,
            model_of(self.tree),
            nested=self.groups.nested,
            decisions=_as_spans((*place, label) for place, label in found.items()),
            seed=self.seed,
            chains=int(attrs["chains"]),
            draws=int(attrs["draws"]),
            warmup=int(attrs["warmup"]),
        )

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Save the fit as a netCDF file; :func:`annomodels.load` reads it.

        Parameters
        ----------
        path
            Path of the file.
        force
            Whether to replace an existing file.

        Raises
        ------
        OutputError
            If the file exists and `force` is not set, or the file cannot be written.
        """
        path = Path(path)
        with Interrupts(True) as interrupts, atomic_path(path, force) as temporary:
            write_tree(self.tree, temporary)
        interrupts.check()
        return path

    def __repr__(self) -> str:
        attrs = self.tree.attrs
        sizes = counted(len(self.groups), "place")
        return (
            f"Spans of {self.spans!r}: {sizes} with marks\n"
            f"{attrs['engine']}, {attrs['chains']} chains, seed {self.seed}, "
            f"{float(attrs['seconds']):.1f} s"
        )


Decision = tuple[str, int, int, str]


def decisions_of(tree: xr.DataTree) -> list[Decision]:
    return [tuple(row) for row in json.loads(tree.attrs["decisions"])]


def _as_spans(decisions: Iterable[Decision]) -> list[MarkedSpan]:
    return [MarkedSpan(d, "", "", start, end, label) for d, start, end, label in decisions]


def model_of(tree: xr.DataTree) -> SpanModel:
    held: dict[str, Any] = json.loads(tree.attrs["model"])
    held.pop("name")
    plain: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in held.items()}
    return SpanModel(**plain)


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


def tree_of(
    spans: Spans, groups: Groups, draws: SpanDraws, model: SpanModel, attrs: Mapping[str, object]
) -> xr.DataTree:
    import xarray as xr

    classes = [NONE, *groups.labels]
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


def draws_of(tree: xr.DataTree) -> SpanDraws:
    posterior, truth = tree["posterior"].to_dataset(), tree["truth"].to_dataset()
    return SpanDraws(
        {str(name): values.values for name, values in posterior.items()},
        tree["sample_stats"].to_dataset()["lp"].values,
        **{name: truth[name].values for name in OF_TRUTH},
    )


def packed(spans: Spans) -> AnyArray:
    """Encode spans as JSON bytes."""
    held = {each.name: getattr(spans, each.name) for each in fields(spans)}
    row = attrgetter(*(each.name for each in fields(MarkedSpan)))
    held["spans"] = [row(span) for span in spans.spans]
    for name in ("seen", "texts", "tokens"):
        held[name] = dict(held[name])
    return np.frombuffer(json.dumps(held).encode("ascii"), np.uint8)


def unpacked(data: AnyArray) -> Spans:
    """Decode spans that :func:`packed` encoded."""
    held: dict[str, Any] = json.loads(np.asarray(data, np.uint8).tobytes())
    held["spans"] = tuple(MarkedSpan(*row) for row in held["spans"])
    held["seen"] = {name: tuple(coders) for name, coders in held["seen"].items()}
    held["tokens"] = {
        name: tuple((start, end) for start, end in each) for name, each in held["tokens"].items()
    }
    for name in ("notes", "attributes"):
        if name in held:
            held[name] = tuple(held[name])
    return Spans(**held)
