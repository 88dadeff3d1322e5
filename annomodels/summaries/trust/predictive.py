"""Posterior predictive checks: whether the model reproduces what was seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.data.columns import Column, columns
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.summaries.draws import Draws, choices, draw_labels, thinned
from annomodels.summaries.trust.discrepancies import Design, error_dispersion
from annomodels.summaries.trust.next_model import fitted_model, next_model
from annomodels.types import Floats, Ints

WORK = 2_000_000  # replicated labels
FEWEST_DRAWS, MOST_DRAWS = 120, 400
UNEVEN = "Errors gather on some items ({:.2f} times the variance that the model expects)."
SPREAD = "The votes are not spread over the items as the model expects."
REJECTED = 0.01
WORST = 3  # coders and pairs that get a row of their own
SMALLEST_SD = 0.01

COLUMNS = columns(
    "statistic",
    Column("observed", "Observed", "quantity"),
    Column("expected", "Expected", "quantity", interval=("low", "high")),
    "p_value verdict",
)


def predictive(tree: xr.DataTree, data: Annotations, seed: int = 0) -> Summary:
    """Compare the labels with labels replicated from the model by the same coders."""
    # p_value: share of replicates with at least the observed value, ties half; for chi-square,
    # errors and rows of coders only small values count. Gelman, Meng & Stern 1996, Statistica
    # Sinica 6, 733-807.
    return aspects(tree, data, seed)[0]


def aspects(tree: xr.DataTree, data: Annotations, seed: int = 0) -> tuple[Summary, list[Aspect]]:
    """Return the summary of :func:`predictive`, and the aspects of the data it rests on."""
    design = Design(data)
    rng = np.random.default_rng(seed)
    draws = thinned(tree, data, int(np.clip(WORK // len(data), FEWEST_DRAWS, MOST_DRAWS)))
    repeats = -(-FEWEST_DRAWS // len(draws))  # draws serve more than once when there are few
    seen = _replicate(draws, design, rng, repeats)
    observed = _statistics(design, data.label.astype(np.int64))
    rows = Rows()
    found = []
    if design.has_pairs:
        found = _of_items(rows, design, observed, seen)
        uneven = error_dispersion(draws, data, rng, repeats)
        errors = rows.realised("errors on the same items", *uneven)
        found.append(errors.saying(UNEVEN.format(uneven[0].mean())))
    names = [
        f"{data.coders[j]} says {label_text(label)}"
        for j in design.busiest
        for label in data.labels
    ]
    use = rows.worst("use of labels", names, observed["uses"], seen["uses"])
    found.append(use.saying("The model does not reproduce which labels coders use"))
    if len(observed["pairs"]):
        names = [f"{pair} agree" for pair in design.pair_names()]
        pair = rows.worst("agreement of pairs", names, observed["pairs"], seen["pairs"])
        found.append(pair.saying("Errors of coders depend on each other beyond the model"))
    notes = list(dict.fromkeys(aspect.sentence for aspect in found if not aspect.fits))
    rejected = [aspect.name for aspect in found if not aspect.fits]
    other = next_model(fitted_model(tree), rejected, data.n_labels, data.scale)
    notes += [] if other is None else [other.sentence]
    table = rows.table()
    kept = xr.Dataset(
        {
            "replicated": (("draw", "statistic"), np.stack(rows.draws, axis=1)),
            "observed": (("statistic",), table["observed"].to_numpy()),
        },
        coords={"statistic": table["statistic"].to_list()},
    )
    well = "The labels look like labels that the model would produce."
    return Summary(
        "Posterior predictive checks", table, kept, tuple(notes or [well]), COLUMNS
    ), found


def _of_items(
    rows: Rows, design: Design, observed: dict[str, Floats], seen: dict[str, Floats]
) -> list[Aspect]:
    for k, name in enumerate(design.cell_names):
        rows.two_sided(name, observed["cells"][k], seen["cells"][:, k])
    expected = np.maximum(seen["cells"].mean(axis=0), 0.5)
    chi = ((seen["cells"] - expected) ** 2 / expected).sum(axis=1)
    chi_seen = float(((observed["cells"] - expected) ** 2 / expected).sum())
    votes = rows.one_sided("votes, chi-square", chi_seen, chi, "not as the model expects")
    spread = rows.two_sided("spread of the votes", observed["spread"][0], seen["spread"][:, 0])
    agree = rows.two_sided("pairwise agreement", observed["agreement"][0], seen["agreement"][:, 0])
    more = "more" if agree.p_value < 0.5 else "less"
    found = [
        votes.saying(SPREAD),
        spread.saying(SPREAD),
        agree.saying(f"Coders agree {more} often than the model expects"),
    ]
    if not np.isnan([observed["alpha"][0], *seen["alpha"][:, 0]]).any():
        alpha = rows.two_sided("Krippendorff's alpha", observed["alpha"][0], seen["alpha"][:, 0])
        more = "higher" if alpha.p_value < 0.5 else "lower"
        found.append(alpha.saying(f"Krippendorff's alpha is {more} than the model expects"))
    return found


def _statistics(design: Design, label: Ints) -> dict[str, Floats]:
    out = {"uses": design.uses(label).ravel(), "pairs": design.pair_agreement(label)}
    if design.has_pairs:
        votes = design.votes(label)
        out["cells"] = design.cells(votes)
        out["spread"] = np.array([design.spread(votes)])
        out["agreement"] = np.array([design.agreement(votes)])
        out["alpha"] = np.array([design.alpha(votes)])
    return out


def _replicate(
    draws: Draws, design: Design, rng: np.random.Generator, repeats: int
) -> dict[str, Floats]:
    """Statistics of the replicates, one from each draw, or several."""
    data = design.data
    found: dict[str, list[Floats]] = {}
    for step in np.repeat(np.arange(len(draws)), repeats):
        state = choices(_shares(draws, data, int(step)), rng.random(data.n_items))
        label = draw_labels(draws.emission[step], data.coder, state[data.item], rng)
        for name, value in _statistics(design, label).items():
            found.setdefault(name, []).append(value)
    return {name: np.stack(values) for name, values in found.items()}


def _shares(draws: Draws, data: Annotations, step: int) -> Floats:
    """Probability of each state of every item before it is labeled, shape [item, state]."""
    kinds = draws.kinds_of(data)
    out = np.tile(draws.share[step], (data.n_items, 1))
    if kinds is not None:
        out = np.exp(draws.log_share(step, kinds))
    known = np.flatnonzero(data.known >= 0)
    joint = out[known] * draws.truth(step).T[data.known[known]]
    out[known] = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return out


@dataclass(frozen=True)
class Aspect:
    """One side of the data that the model should reproduce."""

    name: str  # what it is
    p_value: float  # posterior predictive p-value
    fits: bool  # whether the model reproduces it, whatever the size
    which: str = ""  # coders or pairs that stand out, in words
    size: float = 0.0  # how far the labels are from the model, in the unit of its limit
    sentence: str = ""  # what it means that the model does not

    def saying(self, sentence: str) -> Aspect:
        """Copy with a sentence; what stands out is put behind it."""
        if self.which:
            sentence = f"{sentence}: {self.which}"
        return replace(self, sentence=sentence if sentence.endswith(".") else f"{sentence}.")


class Rows:
    """Rows of the table while it is filled, with their replicated values."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, float, float, float, float, float, str]] = []
        self.draws: list[Floats] = []

    def table(self) -> pd.DataFrame:
        """Return the rows as a table."""
        columns = ["statistic", "observed", "expected", "low", "high", "p_value", "verdict"]
        return pd.DataFrame(self.rows, columns=columns)

    def two_sided(self, name: str, observed: float, seen: Floats) -> Aspect:
        """Add a number that should be neither large nor small; ties count half."""
        p = float((seen > observed).mean() + (seen == observed).mean() / 2)
        fits = REJECTED <= p <= 1 - REJECTED
        self._add(name, observed, seen, p, _verdict(fits, p < 0.5))
        return Aspect(name, p, fits, size=float(abs(observed - seen.mean())))

    def one_sided(self, name: str, observed: float, seen: Floats, verdict: str) -> Aspect:
        """Add a distance, of which only large values speak against the model."""
        p = _p_at_least(observed, seen)
        fits = p >= REJECTED
        self._add(name, observed, seen, p, "fits" if fits else verdict)
        return Aspect(name, p, fits)

    def realised(self, name: str, observed: Floats, seen: Floats) -> Aspect:
        """Add a distance that depends on the parameters, computed for both on every draw."""
        p = _p_at_least(observed, seen)
        fits = p >= REJECTED
        self._add(name, float(observed.mean()), seen, p, _verdict(fits, more=True))
        return Aspect(name, p, fits, size=float(observed.mean() / seen.mean()))

    def worst(self, name: str, names: list[str], observed: Floats, seen: Floats) -> Aspect:
        """Add rows for the entries farthest from what is expected; p allows for their number."""
        mean = seen.mean(axis=0)
        sd = np.maximum(seen.std(axis=0), SMALLEST_SD)
        far = np.abs(observed - mean) / sd
        farthest = (np.abs(seen - mean) / sd).max(axis=1)
        out = []
        ps = []
        order = np.argsort(-far, kind="stable")
        for at in order[:WORST]:
            p = _p_at_least(far[at], farthest)
            more = bool(observed[at] > mean[at])
            self._add(names[at], observed[at], seen[:, at], p, _verdict(p >= REJECTED, more))
            ps.append(p)
            if p < REJECTED:
                out.append(f"{names[at]} {'more' if more else 'less'} often")
        size = float(np.abs(observed - mean)[order[:WORST]].max(initial=0.0))
        return Aspect(name, min(ps), not out, ", ".join(out), size)

    def _add(self, name: str, observed: float, seen: Floats, p: float, verdict: str) -> None:
        low, high = np.quantile(seen, [0.025, 0.975])
        row = (name, float(observed), float(seen.mean()), float(low), float(high), p, verdict)
        self.rows.append(row)
        self.draws.append(seen)


def _p_at_least(observed: float | Floats, seen: Floats) -> float:
    return float((1 + (seen >= observed).sum()) / (1 + len(seen)))


def _verdict(fits: bool, more: bool) -> str:
    return "fits" if fits else f"{'more' if more else 'less'} than the model expects"
