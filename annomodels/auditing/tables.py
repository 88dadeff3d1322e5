"""Tables of an estimate on all items: accuracy, wrong labels, prevalence, thresholds."""

from __future__ import annotations

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


class Tables:
    """Makes the tables of one estimate; numbers of a table agree with those of the others.

    Parameters
    ----------
    fit
        The fit.
    estimator
        Of its P(truth) and the strata.
    seen, answers
        Audited items, what each counts for, and items of which nothing follows for others.
    weights
        Weights of the audited items in an audit alone, shape [audited].
    cluster
        Their clusters, from 0, shape [audited]; None without any.
    alike
        Whether all items had the same chance.
    cautious
        Whether the interval of an audit alone must cover whatever strata the errors are in.
    n_draws, seed
        Number and seed of the draws.
    """

    def __init__(
        self,
        fit: Fit,
        estimator: Estimator,
        seen: Seen,
        answers: Answers,
        weights: Floats,
        cluster: Ints | None,
        alike: bool,
        cautious: bool,
        n_draws: int,
        seed: int,
    ) -> None:
        self.fit, self.data, self.estimator = fit, fit.data, estimator
        self.seen, self.answers, self.n_draws, self.seed = seen, answers, n_draws, seed
        self.alike, self.cautious = alike, cautious
        self.weights, self.cluster = weights, cluster
        self.n_items = int(estimator.strata.size.sum()) + len(answers.extra)
        self._totals: dict[int, tuple[Floats, Floats]] = {}

    # -- all items ------------------------------------------------------------------------------

    def drawn(self, label: int) -> tuple[Floats, Floats]:
        """Draws of how many items are wrong (-1) or have a label, and of the shares of strata."""
        if label not in self._totals:
            rng = np.random.default_rng([self.seed, label + 1])
            total, shares = self.estimator.total(label, self.seen, self.n_draws, rng)
            self._totals[label] = total + self._known(label).sum(), shares
        return self._totals[label]

    def _known(self, label: int) -> Floats:
        """Whether items that were judged without being drawn are wrong, or have a label."""
        truth = self.answers.extra_truth
        if label == WRONG:
            return np.asarray(truth != self.estimator.best[self.answers.extra], dtype=float)
        return np.asarray(truth == label, dtype=float)

    def overall(self) -> pd.DataFrame:
        """Accuracy, wrong labels, and the prevalence of each label."""
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
        """Means of the shares, those of the items not judged by one factor so that the sum is 1.

        Draws keep their own means: rare labels are overestimated by as much as shares that none of
        the audited items has are skewed, and the commonest one must not pay for them.
        """
        known = np.array([self._found(k) for k in range(self.data.n_labels)]) / self.n_items
        rest = np.maximum(shares.mean(axis=0) - known, 0.0)
        value = known + rest * (1.0 - known.sum()) / max(float(rest.sum()), 1e-12)
        return np.asarray(np.clip(value, *np.quantile(shares, ENDS, axis=0)))

    def _audit(self, label: int, level: float = LEVEL) -> Floats:
        """Share, low and high by the audited items alone, of the items that could be drawn."""
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
        """Prediction-powered mean with a normal interval, of a simple random sample."""
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
        """Shares of strata in as many draws as there is room for with so many groups."""
        _, shares = self.drawn(label)
        return shares[: max(FEWEST_DRAWS, CELLS // max(groups, 1))]

    def truth(self) -> Ints:
        """Truth of each item that was drawn and judged, -1 of others."""
        truth = np.full(self.data.n_items, -1)
        truth[self.seen.item] = self.seen.truth
        return truth

    def thresholds(self) -> pd.DataFrame:
        """How many gold labels that are at least so probable are right."""
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
        """Width of the interval of accuracy if further items are audited."""
        import pandas as pd

        had = self.seen.item if design is None else design.items(self.fit)
        had = had[self.estimator.inside[had]]
        drawn = self.estimator.strata.count(had).astype(np.int64)
        found = further(self.estimator, self.seen, drawn)
        return pd.DataFrame(found, columns=["further", "width", "width_audit_alone"])

    def draws(self) -> xr.Dataset:
        """Draws behind the table."""
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
        """Say how far the model was off, and what the panel is worth."""
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
