"""Known truth compared with predictions that ignore it, and calibration on it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import betaincinv

from annomodels.data.annotations import Annotations
from annomodels.data.columns import COLUMNS as ALL
from annomodels.data.columns import Column, columns
from annomodels.data.summary import Summary
from annomodels.errors import NotApplicable
from annomodels.limits import KNOWN_TESTED, NOTICED
from annomodels.summaries.draws import SMALLEST, only, stacked, thinned, truth_probabilities
from annomodels.summaries.notes import say
from annomodels.summaries.trust.findings import MESSAGES, Finding, finding, phrase
from annomodels.types import Bools, Floats, Ints

EDGES = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)

COLUMNS = columns(
    ALL["bin"].called("Probability"),
    ALL["n"].called("Items"),
    "right",
    Column("probability", "Mean probability", digits=3),
    ALL["share"].called("Share right", bar=True, interval=("share_low", "share_high")),
)


def calibration(
    tree: xr.DataTree, data: Annotations, known: Mapping[Hashable, Hashable]
) -> Summary:
    """Compare probabilities of gold labels with observed accuracy (Jeffreys' prior)."""
    truth = np.asarray(data.with_truth(known).gold)
    told = data.known >= 0
    tested = np.flatnonzero((truth >= 0) & ~told)
    if not len(tested):
        raise NotApplicable(
            "No item can test the probabilities: the fit already used its true label, or the "
            "item is not in the data. Fit without the labels that you hold back."
        )
    p: Floats = np.asarray(tree["truth"]["p_truth"].values, dtype=float)[tested]
    at = truth[tested]
    sure, right = p.max(axis=1), p.argmax(axis=1) == at
    place = np.clip(np.searchsorted(EDGES, sure, side="right") - 1, 0, len(EDGES) - 2)
    bins = [
        (f"{EDGES[b]:g} to {EDGES[b + 1]:g}", place == b)
        for b in range(len(EDGES) - 1)
        if (place == b).any()
    ]
    rows = [_row(name, sure[some], right[some]) for name, some in bins]
    rows.append(_row("all", sure, right))
    votes = log_loss(_shares(data)[tested], at)
    notes = (
        say("held_back", n=right.sum(), of=len(tested), expected=sure.sum()),
        say("log_loss", loss=log_loss(p, at), votes=votes),
    )
    kept = xr.Dataset({"p_truth": (("item", "truth"), p), "right": ("item", right)})
    return Summary("Calibration on known truth", pd.DataFrame(rows), kept, notes, COLUMNS)


def jeffreys(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a proportion k / n under Jeffreys' prior."""
    low, high = (float(betaincinv(k + 0.5, n - k + 0.5, end)) for end in (0.025, 0.975))
    return 0.0 if k == 0 else low, 1.0 if k == n else high


def _row(name: str, sure: Floats, right: Bools) -> dict[str, object]:
    n, k = len(right), int(right.sum())
    low, high = jeffreys(k, n)
    mean = float(sure.mean())
    row = {"bin": name, "n": n, "right": k, "probability": mean, "share": k / n}
    return {**row, "share_low": low, "share_high": high}


def _shares(data: Annotations) -> Floats:
    votes = data.votes.astype(np.float64) + 0.5
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


def log_loss(p: Floats, truth: Ints) -> float:
    """Return the mean log loss of the true labels; NaN without any."""
    if not len(truth):
        return float("nan")
    chosen = p[np.arange(len(p)), truth]
    return float(-np.log(np.maximum(chosen, SMALLEST)).mean())


CODE = "tested_on_known_truth"
CONTRADICTED = str(MESSAGES[CODE]["too_many"]["effect"])
# draws of P(truth) to compare with known items
TESTS = 400


def known_truth_finding(tree: xr.DataTree, data: Annotations) -> Finding | None:
    """Test predictions for known items that ignore their known labels."""
    # After an audit, test the sampled items with predictions from before the audit, which the
    # tree contains; otherwise the known items of a stack. None without a test.
    audit = tree["audit"].to_dataset() if "audit" in tree.children else None
    known = np.flatnonzero(data.known >= 0)
    if audit is not None:
        items = audit["audited_item"].values
        drawn = audit["audited_drawn"].values.astype(bool)
        if drawn.sum() >= KNOWN_TESTED:
            right = audit["audited_best"].values == data.known[items]
            number = int((~right[drawn]).sum())
            return _finding(number, int(drawn.sum()), audit["expected_wrong"].values, "audited")
        known = np.setdiff1d(known, items)
    if len(known) < KNOWN_TESTED:
        return None
    return _of_stack(tree, known, data.known[known].astype(np.int64))


def held_back_finding(
    tree: xr.DataTree, data: Annotations, known: Mapping[Hashable, Hashable]
) -> Finding | None:
    """Test a fit on held-out truth; None with too few items."""
    truth = np.asarray(data.with_truth(known).gold)
    told = data.known >= 0
    items = np.flatnonzero((truth >= 0) & ~told)
    if len(items) < KNOWN_TESTED:
        return None
    best = tree["truth"].to_dataset()["p_truth"].values[items].argmax(axis=1)
    drawn = to_be_expected(tree, data, items, best)
    return _finding(int((best != truth[items]).sum()), len(items), drawn, "tested")


def told_finding(tree: xr.DataTree) -> Finding | None:
    """Test a stack of streamed data, which keeps predictions that ignore known labels."""
    stack = stacked(tree)
    if stack is None or len(stack.known) < KNOWN_TESTED:
        return None
    return _of_stack(tree, np.arange(len(stack.known)), stack.known)


def _of_stack(tree: xr.DataTree, items: Ints, truth: Ints) -> Finding | None:
    whole = stacked(tree)
    if whole is None:
        return None
    stack = whole.at(slice(TESTS))
    best = np.concatenate([p.mean(axis=0).argmax(axis=1) for _, p in stack.parts(items)])
    drawn = stack.wrong(items, best, np.random.default_rng(0))
    return _finding(int((best != truth).sum()), len(truth), drawn, "known")


def to_be_expected(tree: xr.DataTree, data: Annotations, items: Ints, best: Ints) -> Floats:
    """Draw the number of items whose label is not `best`, as predicted for unknown items."""
    at, n = np.arange(len(items)), len(items)
    rng = np.random.default_rng(0)
    if not n:
        return np.zeros(1)
    stack = stacked(tree)
    if stack is not None:
        return stack.at(slice(TESTS)).wrong(items, best, rng)
    drawn = truth_probabilities(thinned(tree, data, TESTS), only(data, items))
    p_wrong = np.stack([1.0 - p[at, best] for _, p in drawn])
    if len(p_wrong) == 1:  # EM
        p_wrong = np.repeat(p_wrong, TESTS, axis=0)
    return np.asarray((rng.random(p_wrong.shape) < p_wrong).sum(axis=1), dtype=float)


def expected_range(drawn: Floats) -> tuple[int, int, str]:
    """Return the 95 % interval of an expected number, and its text."""
    low, high = (int(x) for x in np.quantile(drawn, [0.025, 0.975]))
    return low, high, f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _finding(wrong: int, n: int, drawn: Floats, how: str) -> Finding:
    """Compare a number of wrong labels with the number expected for the same items."""
    low, high, expected = expected_range(drawn)
    said = phrase(CODE, how, wrong=wrong, n=n, range=expected)
    apart = wrong - float(drawn.mean())
    state = "too_many" if apart > 0 else "audit_too_few" if how == "audited" else "too_few"
    if low <= wrong <= high or abs(apart) < NOTICED * n:
        state = "fine"
    return finding(CODE, state, wrong / n, high / n, said=said)


def contradicted(found: Finding | None) -> bool:
    return found is not None and (found.code, found.state) == (CODE, "too_many")
