"""Known truth compared with predictions that ignore it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import xarray as xr

from annomodels.data.annotations import Annotations
from annomodels.limits import KNOWN_TESTED, NOTICED
from annomodels.summaries.draws import thinned, truth_probabilities
from annomodels.summaries.next.expected_utility import only
from annomodels.summaries.stacked import stacked
from annomodels.summaries.trust.findings import MESSAGES, Finding, finding, phrase
from annomodels.types import Floats, Ints

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
