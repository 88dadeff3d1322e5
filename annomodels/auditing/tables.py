"""Tables of an estimate on all items: accuracy, wrong labels, prevalence, thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from annomodels.auditing.answers import Answers
from annomodels.auditing.estimator import Estimator, Seen
from annomodels.auditing.foresight import further
from annomodels.auditing.plain import LEVEL, prediction_powered, weighted
from annomodels.auditing.rectify import ENDS
from annomodels.auditing.rows import WRONG, flipped, row_of, three
from annomodels.data.names import label_text
from annomodels.summaries.gold.coverage import LIMITS, wrong_interval
from annomodels.summaries.trust.known_truth import to_be_expected
from annomodels.types import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from annomodels.auditing.design import Design
    from annomodels.fitting.fit import Fit

# most numbers in the draws of groups
CELLS, FEWEST_DRAWS = 20_000_000, 400


@dataclass(eq=False)
class Tables:
    """Tables of one estimate, whose numbers agree with each other."""

    fit: Fit
    estimator: Estimator
    seen: Seen
    answers: Answers
    weights: Floats  # of the audited items in an audit alone [audited]
    cluster: Ints | None  # their clusters, from 0 [audited]
    alike: bool  # whether all items had the same chance
    cautious: bool  # whether an audit alone must cover whatever strata the errors are in
    n_draws: int
    seed: int
    _totals: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data = self.fit.data
        self.n_items = int(self.estimator.strata.size.sum()) + len(self.answers.extra)

    def drawn(self, label: int) -> tuple[Floats, Floats]:
        """Draw the number of items that are wrong (-1) or have a label, and strata's shares."""
        if label not in self._totals:
            rng = np.random.default_rng([self.seed, label + 1])
            total, shares = self.estimator.total(label, self.seen, self.n_draws, rng)
            self._totals[label] = total + self._known(label).sum(), shares
        return self._totals[label]

    def _known(self, label: int) -> Floats:
        """Mark items judged without being drawn that are wrong (-1) or have a label."""
        truth = self.answers.extra_truth
        if label == WRONG:
            return np.asarray(truth != self.estimator.best[self.answers.extra], dtype=float)
        return np.asarray(truth == label, dtype=float)

    def overall(self) -> pd.DataFrame:
        """Tabulate accuracy, wrong labels, and the prevalence of each label."""
        import pandas as pd

        wrong, _ = self.drawn(WRONG)
        n, audit = self.n_items, self._audit(WRONG)
        model = self._model_wrong()
        rows = [
            row_of("accuracy", "", 1 - wrong / n, flipped(audit), flipped(model)),
            row_of("wrong", "", wrong, audit * n, model * n),
            row_of("still_wrong", "", wrong - self._found(WRONG), (np.nan,) * 3, (np.nan,) * 3),
        ]
        shares = self._prevalences()
        for label, (name, value) in enumerate(
            zip(self.data.labels, self._balanced(shares), strict=True)
        ):
            audit, model = self._audit(label), self._model(label)
            row = row_of("prevalence", name, shares[:, label], audit, model)
            rows.append(row | {"value": float(value)})
        codes = (WRONG, None, None, *range(self.data.n_labels))
        if self.alike:
            for row, label in zip(rows, codes, strict=True):
                row |= self._normal(label, flip=row["quantity"] == "accuracy")
        return pd.DataFrame(rows)

    def _found(self, label: int) -> float:
        """Count the judged items that are wrong (-1), or have a label."""
        return float(self.estimator.found(label, self.seen).sum() + self._known(label).sum())

    def _prevalences(self) -> Floats:
        """Draws of the share of each label, shape [draw, label]."""
        totals = np.stack([self.drawn(k)[0] for k in range(self.data.n_labels)], axis=1)
        if self.data.n_labels == 2:
            totals[:, 1] = self.n_items - totals[:, 0]
        return np.asarray(totals / self.n_items)

    def _balanced(self, shares: Floats) -> Floats:
        """Average the shares, those of items not judged by one factor so that the sum is 1."""
        # Draws keep their means: rare labels are overestimated, and the commonest must not pay for
        # it.
        known = np.array([self._found(k) for k in range(self.data.n_labels)]) / self.n_items
        rest = np.maximum(shares.mean(axis=0) - known, 0.0)
        value = known + rest * (1.0 - known.sum()) / max(float(rest.sum()), 1e-12)
        return np.asarray(np.clip(value, *np.quantile(shares, ENDS, axis=0)))

    def _audit(self, label: int, level: float = LEVEL) -> Floats:
        """Return share, low and high by the audited items alone, of items that could be drawn."""
        found, rest = self.estimator.found(label, self.seen), len(self.answers.extra)
        size = int(self.estimator.strata.size.sum())
        if not len(self.seen.item):
            return np.full(3, np.nan)
        alone = weighted(found, self.weights, size, self.cluster, level, self.cautious)
        share = np.array(alone)
        return np.asarray((share * size + self._known(label).sum()) / (size + rest))

    def _model_wrong(self) -> Floats:
        share = float(self.estimator.wrong[self._part()].mean())
        found = wrong_interval(self.fit.tree)
        if found is None or not self._whole():
            return np.array([share, np.nan, np.nan])
        return np.array([share, found[0] / self.n_items, found[1] / self.n_items])

    def _model(self, label: int) -> Floats:
        share = float(self.estimator.p[self._part(), label].mean())
        if not self._whole():
            return np.array([share, np.nan, np.nan])
        row = self.fit.prevalence().table.iloc[label]
        return np.array([share, row["prevalence_low"], row["prevalence_high"]])

    def _part(self) -> Ints:
        inside = np.flatnonzero(self.estimator.inside)
        return np.concatenate([inside, self.answers.extra])

    def _whole(self) -> bool:
        return bool(self.n_items == self.data.n_items)

    def _normal(self, label: int | None, flip: bool) -> dict[str, float]:
        """Return the prediction-powered mean with a normal interval."""
        names = ("normal", "normal_low", "normal_high")
        if label is None or not len(self.seen.item):
            return dict.fromkeys(names, np.nan)
        told = self.estimator.told(label)
        rest = self.estimator.inside.copy()
        rest[self.seen.item] = False
        y = self.estimator.found(label, self.seen)
        found = np.array(prediction_powered(y, told[self.seen.item], told[rest]))
        return dict(zip(names, flipped(found) if flip else found, strict=True))

    def some(self, label: int, groups: int) -> Floats:
        """Return shares of strata in as many draws as memory allows with so many groups."""
        _, shares = self.drawn(label)
        return shares[: max(FEWEST_DRAWS, CELLS // max(groups, 1))]

    def truth(self) -> Ints:
        """Return the truth of each item that was drawn and judged, else -1."""
        truth = np.full(self.data.n_items, -1)
        truth[self.seen.item] = self.seen.truth
        return truth

    def thresholds(self) -> pd.DataFrame:
        """Tabulate how many gold labels at least so probable are right."""
        import pandas as pd

        _, shares = self.drawn(WRONG)
        inside, top = np.flatnonzero(self.estimator.inside), self.estimator.p.max(axis=1)
        rng = np.random.default_rng([self.seed, 1_000_001])
        rows = []
        for limit in LIMITS[1:]:
            above = inside[top[inside] >= limit]
            if not len(above):
                continue
            units = above, np.zeros(len(above), dtype=np.int64)
            wrong = self.estimator.groups(WRONG, self.seen, shares, units, 1, rng, apart=False)[
                :, 0
            ]
            row = {"threshold": limit, "n": len(above)}
            row["audited"] = int(np.isin(self.seen.item, above).sum())
            rows.append(row | three("accuracy", 1 - wrong / len(above)))
        return pd.DataFrame(rows)

    def needs(self, design: Design | None) -> pd.DataFrame:
        """Tabulate the width of the interval of accuracy after further audited items."""
        import pandas as pd

        had = self.seen.item if design is None else design.items(self.fit)
        had = had[self.estimator.inside[had]]
        drawn = self.estimator.strata.count(had).astype(np.int64)
        found = further(self.estimator, self.seen, drawn)
        return pd.DataFrame(found, columns=["further", "width", "width_audit_alone"])

    def draws(self) -> xr.Dataset:
        """Return the draws behind the table."""
        import xarray as xr

        wrong, _ = self.drawn(WRONG)
        labels = [label_text(label) for label in self.data.labels]
        return xr.Dataset(
            {
                "wrong": ("sample", wrong),
                "still_wrong": ("sample", wrong - self._found(WRONG)),
                "prevalence": (("sample", "truth"), self._prevalences()),
            },
            coords={"truth": labels},
        )

    def sentences(self) -> list[str]:
        """Describe how far the model was off."""
        if not len(self.seen.item):
            return []
        n, wrong = len(self.seen.item), int(self.estimator.found(WRONG, self.seen).sum())
        item = self.seen.item
        drawn = to_be_expected(self.fit.tree, self.data, item, self.estimator.best[item])
        low, high = np.quantile(drawn, [0.025, 0.975])
        said = f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"
        labels = self.data.labels
        tested = (WRONG, *range(1 if len(labels) == 2 else len(labels)))
        level = 1.0 - (1.0 - LEVEL) / len(tested)
        part, names = self._part(), []
        for label in tested:
            _, least, most = self._audit(label, level)
            if not least <= self.estimator.told(label)[part].mean() <= most:
                name = "the number of wrong labels"
                names.append(name if label < 0 else f"the share of {label_text(labels[label])}")
        against = (
            f"The audited items contradict the fit about {' and '.join(names)}: what it says is "
            "outside the interval of the audit alone, at 5 % for all of these tests together."
        )
        return [
            *([against] if names else []),
            f"Of {n:,} audited gold labels {wrong:,} {'is' if wrong == 1 else 'are'} wrong; by "
            f"P(truth) {said} were to be expected.",
        ]
