"""The coefficient without each item, and without each coder."""

from __future__ import annotations

import numpy as np

from annomodels.coefficients.catalogue import Request
from annomodels.coefficients.evaluation import Statistics
from annomodels.coefficients.parts.setup import Setup
from annomodels.coefficients.reasons import before
from annomodels.coefficients.rows import CONVENTIONS, restrict
from annomodels.coefficients.sums import Sums, without, without_coders
from annomodels.types import Floats

BLOCK = 2_000_000
MOST_NUMBERS = 2_000_000_000
MOST_ROWS = 20_000_000


def without_each_item(request: Request, sums: Sums) -> Floats:
    """Return the coefficient without each item [item], NaN if it is undefined."""
    # NaN too for a mean over pairs of coders, and for too many items if coders are told apart.
    n, entry = sums.n_items, request.coefficient
    out = np.full(n, np.nan)
    width = sums.width(request.distance, entry.by_coder) + (n if entry.by_coder else 0)
    entries = int(sums.of_coders.nnz) if entry.by_coder else 1
    if entry.each_pair or n * max(width, entries) > MOST_NUMBERS:
        return out
    for start in range(0, n, step := max(1, BLOCK // width)):
        some = np.arange(start, min(start + step, n))
        if entry.by_coder:
            weights = np.ones((len(some), n))
            weights[np.arange(len(some)), some] = 0.0
            out[some] = sums.evaluate(weights, request).value
        else:
            part = np.full(n, -1)
            part[some] = np.arange(len(some))
            rest = without(sums, ((1.0, sums),), part, np.arange(n), len(some))
            out[some] = rest.evaluate(np.ones(n), request).value
    return out


class WithoutCoders:
    """The coefficient without each coder."""

    # Taking a coder out changes only the items that the coder labeled. If the coefficient is a
    # function of pooled counts, the counts without the coder are those of the data less a linear
    # statistic; otherwise the data are counted for each coder.

    def __init__(self, setup: Setup) -> None:
        request, rows = setup.request, setup.sample.rows
        self.request = request
        plain = not request.coefficient.by_coder and not rows.repeated
        self.sums: Sums | None = None
        self.each: list[Statistics] = []
        if plain and request.convention in CONVENTIONS and request.convention != "listwise":
            self.sums = without_coders(rows, setup.convention, setup.sums)
            self.width = self.sums.width(request.distance, False)
            self.work = self.sums.work(request.distance)
            return
        if rows.n_coders * len(rows.item) <= MOST_ROWS:
            others = (restrict(rows, rows.coder != coder) for coder in range(rows.n_coders))
            self.each = [Statistics(rest, [request]) for rest in others]
        self.width = max((one.width for one in self.each), default=0)
        self.work = 4 * len(rows.item) * rows.n_coders

    def __bool__(self) -> bool:
        return self.sums is not None or bool(self.each)

    def evaluate(self, weights: Floats) -> Floats:
        """Coefficient without each coder, [..., item] -> [..., coder]."""
        if self.sums is not None:
            return self.sums.evaluate(weights, self.request).value
        return np.stack([one.evaluate(weights)[0].value for one in self.each], axis=-1)


def without_each_coder(setup: Setup) -> WithoutCoders | None:
    """None if a coefficient without a coder means nothing, or takes too long."""
    reason = before(setup.request.coefficient, setup.rows, setup.request.convention)
    if setup.sample.rows.n_coders < 3 or reason not in ("", "no_complete_items"):
        return None
    return WithoutCoders(setup) or None
