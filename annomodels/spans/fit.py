"""Fit of a span model: gold layer, coders, expected quality."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from annomodels.data.html import Html
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.engines.settings import Interrupts
from annomodels.errors import NotApplicable
from annomodels.io.sealed import write_tree
from annomodels.io.span_builder import Span, Spans
from annomodels.io.writing import atomic_path
from annomodels.progress import Progress, reporting
from annomodels.spans import tables
from annomodels.spans.agreement import span_agreement
from annomodels.spans.calibration import calibrated
from annomodels.spans.decode import Metric
from annomodels.spans.groups import Groups, groups_of
from annomodels.spans.model import Draws, SpanModel, sample
from annomodels.spans.tree import draws_of, tree_of, unpacked

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# divisor of the number of draws for items: with many groups and chains that start near the mode,
# fewer draws suffice
SHORTER = 8


def fit_spans(
    spans: Spans,
    model: SpanModel | None = None,
    *,
    question: str | None = None,
    nested: bool | None = None,
    decisions: Iterable[Span] = (),
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SpanFit:
    """Fit the model of spans; :func:`annomodels.fit` calls it.

    Parameters
    ----------
    spans
        The spans of all coders.
    model
        The model with its priors.
    question
        Layer and feature; not needed if there is only one.
    nested
        Whether spans may be nested [default: if a coder marked nested spans].
    decisions
        Spans that an expert decided; label ``(none)`` for "no span is here".
    chains, draws, warmup
        As for :func:`annomodels.fit`; the sampler makes an eighth of the draws.
    seed
        Random seed [default: a new seed, stored in the result].
    threads
        Number of chains that run at the same time [default: all].
    progress
        Called as ``progress("sampling", share, "")`` after each chain.

    Examples
    --------
    >>> marks = [("ana", 0, 4), ("ben", 0, 4), ("eva", 0, 9)]
    >>> spans = Spans(
    ...     tuple(Span("d", coder, "NE", a, b, "PER") for coder, a, b in marks),
    ...     {"d": ("ana", "ben", "eva")},
    ... )
    >>> fit_spans(spans, seed=1).gold().table[["start", "end", "label", "votes"]]
       start  end label                       votes
    0      0    4   PER  2 × PER, 1 × PER 0-9
    """
    began = time.monotonic()
    spans = spans.only(question)
    model = SpanModel() if model is None else model
    seed = secrets.randbits(31) if seed is None else seed
    decided = list(decisions)
    groups = groups_of(spans, nested=nested, decisions=decided)
    options = {"chains": chains, "draws": -(-draws // SHORTER), "warmup": -(-warmup // SHORTER)}
    with reporting(progress) as tell:
        drawn = sample(groups, model, seed=seed, threads=threads, progress=tell, **options)
    found = calibrated(groups, drawn, model, seed)
    attrs = {
        "engine": "gibbs", "seed": seed, "chains": chains, "draws": draws, "warmup": warmup,
        "command": "", "seconds": time.monotonic() - began, "nested": groups.nested,
        "decisions": [[s.document, s.start, s.end, s.label] for s in decided],
        "rhat_max": found.rhat, "ess_min": found.effective,
    }  # fmt: skip
    return SpanFit(spans, groups, found, tree_of(spans, groups, found, model, attrs))


@dataclass(frozen=True, eq=False, repr=False)
class SpanFit(Html):
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

    spans: Spans
    groups: Groups
    draws: Draws
    tree: xr.DataTree

    @classmethod
    def of_tree(cls, tree: xr.DataTree) -> Self:
        """Build the fit from its tree of results."""
        spans = unpacked(tree["observed_data"].to_dataset()["spans"].values)
        decided = [Span(d, "", "", a, b, k) for d, a, b, k in json.loads(tree.attrs["decisions"])]
        nested = bool(json.loads(tree.attrs["nested"]))
        groups = groups_of(spans, nested=nested, decisions=decided)
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

    @cached_property
    def _facts(self) -> tables.Facts:
        return tables.Facts(self.spans, self.groups, self.draws)

    def gold(self, threshold: float | None = None, metric: Metric | None = None) -> Summary:
        """Return the gold layer, one row per span.

        Parameters
        ----------
        threshold
            Minimum probability of a span [default: the layer maximizes expected F1].
        metric
            "precision" or "recall": the layer reaches `threshold` in expectation, with the largest
            number of spans for precision, and the smallest for recall.
        """
        return self._facts.gold(threshold, metric)

    def coders(self) -> Summary:
        """Return misses, false alarms, exact borders and F1 per coder, with 95 % intervals."""
        return self._facts.coders()

    def confusion(self) -> Summary:
        """Return the proportion of each label per coder and true label."""
        return self._facts.confusion()

    def quality(self, threshold: float | None = None, metric: Metric | None = None) -> Summary:
        """Return expected precision, recall and F1 of the gold layer, with 95 % intervals.

        Parameters
        ----------
        threshold, metric
            As for :meth:`gold`.
        """
        return self._facts.quality(threshold, metric)

    def agreement(self) -> Summary:
        """Return agreement between coders, with intervals from resampled documents."""
        return span_agreement(self.spans)

    def documents(self, threshold: float | None = None) -> pd.DataFrame:
        """Return the gold spans and the expected correct and true spans of each document.

        Parameters
        ----------
        threshold
            As for :meth:`gold`.
        """
        return self._facts.documents(threshold)

    def candidates(self) -> pd.DataFrame:
        """Return every span that a coder marked, with its probability and coders."""
        return self._facts.candidates()

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

        rows = (
            pd.DataFrame(list(decisions)) if not isinstance(decisions, pd.DataFrame) else decisions
        )
        attrs = self.tree.attrs
        found = {
            (document, start, end): label
            for document, start, end, label in json.loads(attrs["decisions"])
        }
        for row in rows.to_dict("records"):
            document, start, end = str(row["document"]), int(row["start"]), int(row["end"])
            if document not in self.spans.seen or not 0 <= start < end:
                raise NotApplicable(f"{document!r} has no place {start}-{end}.")
            label = row["label"]
            found[document, start, end] = label if isinstance(label, str) else ""
        return fit_spans(
            self.spans,
            model_of(self.tree),
            nested=self.groups.nested,
            decisions=[Span(d, "", "", a, b, label) for (d, a, b), label in found.items()],
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


def model_of(tree: xr.DataTree) -> SpanModel:
    """Return the model of a tree of results."""
    held: dict[str, Any] = json.loads(tree.attrs["model"])
    held.pop("name")
    plain: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in held.items()}
    return SpanModel(**plain)
