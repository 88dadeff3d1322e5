"""Tables of a span fit: candidates, the layer that maximizes expected F1, and coders."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from annomodels.coefficients.intervals import interval
from annomodels.coefficients.tables import over
from annomodels.data.html import Html
from annomodels.data.mixing import ess, rhat
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.errors import NotApplicable
from annomodels.io.span_builder import GOLD, NONE, Spans
from annomodels.limits import SETTLED, STATES
from annomodels.spans.agreement import span_agreement
from annomodels.spans.groups import Groups
from annomodels.spans.model import SpanDraws
from annomodels.types import AnyArray, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd


Metric = Literal["precision", "recall"]
# maximum iterations of the search for the largest expected F1, which converges in a few
ROUNDS = 50
SHARES = ("misses", "false_alarms", "borders", "labels", "f1")
QUALITY = ("precision", "recall", "f1")


def candidates(groups: Groups, p_class: Floats, p_shape: Floats) -> pd.DataFrame:
    """Tabulate every span that a coder marked, with each of its plausible labels."""
    import pandas as pd

    names = ("group", "start", "end", "label", "shape", "piece", "p_exact")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for g in range(len(groups)):
        marked = p_class[g, 1:].sum()
        given = p_class[g, 1:] / marked if marked > 0 else p_class[g, 1:]
        merged: dict[tuple[int, int, int], list[float]] = {}
        for s in range(groups.shape_first[g], groups.shape_first[g + 1]):
            chances = groups.other_labels[s]
            for n, (start, end) in enumerate(groups.shapes[s]):
                alone = chances is None or n == groups.longest[s]
                of_label = given if alone else chances[n]  # type: ignore[index]
                for k in np.flatnonzero(of_label > 0):
                    entry = merged.setdefault((start, end, int(k)), [0.0, int(s), n])
                    entry[0] += float(p_shape[s] * of_label[k])
        for (start, end, label), (p, shape, piece) in sorted(merged.items()):
            for name, value in zip(names, (g, start, end, label + 1, shape, piece, p), strict=True):
                columns[name].append(value)
    table = pd.DataFrame(columns).astype(dict.fromkeys(names[:-1], np.int64))
    table["p_exact"] = table["p_exact"].clip(0.0, 1.0)
    table.insert(0, "document", groups.document[table["group"].to_numpy()])
    return table


def choose(
    table: pd.DataFrame,
    expected: float,
    nested: bool,
    threshold: float | None = None,
    metric: Metric | None = None,
) -> Bools:
    """Choose the spans of the gold layer from the candidates; returns a mask of the rows."""
    # `expected` is the number of true spans, including spans that no coder marked. Threshold and
    # metric are the precision or recall that the layer should reach; without a metric, the minimum
    # probability of a span; without a threshold, the layer maximizes expected F1.
    p = table["p_exact"].to_numpy()
    if threshold is not None and not 0 <= threshold <= 1:
        raise NotApplicable(f"The threshold is {threshold}. Give a number between 0 and 1.")
    if metric is not None and (metric not in ("precision", "recall") or threshold is None):
        raise NotApplicable(
            f"The metric is {metric!r}. Give 'precision' or 'recall', with a threshold."
        )
    if threshold is None:
        cost = 0.4
        for _ in range(ROUNDS):
            chosen = _layer(table, cost, nested)
            before, cost = cost, float(p[chosen].sum()) / max(chosen.sum() + expected, 1e-12)
            if abs(cost - before) < 1e-9:
                break
        return _layer(table, cost, nested)
    if metric is None:
        return _layer(table, threshold, nested) & (p >= threshold)
    best = _layer(table, 0.0, nested)
    order = np.flatnonzero(best)[np.argsort(-p[best], kind="stable")]
    total, out = np.cumsum(p[order]), np.zeros(len(p), dtype=bool)
    if metric == "precision":
        good = np.flatnonzero(total / np.arange(1, len(order) + 1) >= threshold)
        many = int(good[-1]) + 1 if len(good) else 0
    else:
        good = np.flatnonzero(total >= threshold * expected)
        many = int(good[0]) + 1 if len(good) else len(order)
    out[order[:many]] = True
    return out


def _layer(table: pd.DataFrame, cost: float, nested: bool) -> Bools:
    """Choose spans that maximize the sum of p - cost without overlapping, or without crossing."""
    value = table["p_exact"].to_numpy() - cost
    chosen = np.zeros(len(value), dtype=bool)
    rows = np.flatnonzero(value > 0)
    starts, ends = table["start"].to_numpy(), table["end"].to_numpy()
    by: dict[int, list[int]] = defaultdict(list)
    for row, place in zip(
        rows, table["document" if nested else "group"].to_numpy()[rows], strict=True
    ):
        by[int(place)].append(int(row))
    for few in by.values():
        if len(few) == 1:
            chosen[few] = True
        elif nested:
            chosen[_uncrossed(few, value, starts, ends)] = True
        else:
            chosen[_apart(few, value, starts, ends)] = True
    return chosen


def _apart(rows: list[int], value: Floats, starts: AnyArray, ends: AnyArray) -> list[int]:
    """Choose disjoint intervals with the largest sum (weighted interval scheduling)."""
    rows = sorted(rows, key=lambda row: (ends[row], starts[row], row))
    finish = [ends[row] for row in rows]
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for n, row in enumerate(rows):
        before = best[bisect_right(finish, starts[row], 0, n)]
        with_row = before[0] + float(value[row])
        if with_row > best[n][0]:
            best.append((with_row, [*before[1], row]))
        else:
            best.append(best[n])
    return best[-1][1]


def _uncrossed(rows: list[int], value: Floats, starts: AnyArray, ends: AnyArray) -> list[int]:
    """Choose spans greedily by value; chosen spans are disjoint or nested."""
    kept: list[int] = []
    for row in sorted(rows, key=lambda row: (-value[row], row)):
        a, b = starts[row], ends[row]
        if all(_fits(a, b, starts[other], ends[other]) for other in kept):
            kept.append(row)
    return kept


def _fits(a: int, b: int, c: int, d: int) -> bool:
    apart = b <= c or d <= a
    within = (a <= c and d <= b) or (c <= a and b <= d)
    return apart or (within and (a, b) != (c, d))


def estimated(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean and 95 % interval over draws, the first axis, without NaN."""
    known = ~np.isnan(values)
    mean = over(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))
    return mean, *interval(values, value=mean)


def measures(tp: Floats, gold: Floats | float, true: Floats) -> dict[str, Floats]:
    """Return precision, recall and F1 from right, gold and true spans; NaN if undefined."""
    return dict(
        zip(QUALITY, (over(tp, gold), over(tp, true), over(2 * tp, gold + true)), strict=True)
    )


class GoldLayer(NamedTuple):
    """A gold layer: its candidates, and its counts in each document."""

    chosen: Bools  # [candidate]
    tp: Floats  # right spans [draw, document]
    gold: Floats  # spans [document]
    true: Floats  # true spans, marked or not [draw, document]


@dataclass(frozen=True, eq=False, repr=False)
class SpanTables(Html):
    """The tables of a fit, from its spans, groups of overlapping marks, and posterior draws."""

    spans: Spans
    groups: Groups
    draws: SpanDraws

    @cached_property
    def _latest(self) -> dict[tuple[float | None, Metric | None], GoldLayer]:
        return {}

    @cached_property
    def _table(self) -> pd.DataFrame:
        """Candidates with their probabilities."""
        return candidates(self.groups, self.draws.p_class, self.draws.p_shape)

    @cached_property
    def _of(self) -> dict[str, AnyArray]:
        return {str(name): values.to_numpy() for name, values in self._table.items()}

    @cached_property
    def _unmarked(self) -> Floats:
        """Expected number of true spans that no coder marked, per group."""
        last = self.groups.shape_first[1:] - 1
        return np.asarray(self.draws.p_shape[last])

    @cached_property
    def _expected(self) -> float:
        """Expected number of true spans."""
        return float(self._table["p_exact"].sum() + self._unmarked.sum() + self.draws.unseen.mean())

    def _layer(self, threshold: float | None = None, metric: Metric | None = None) -> GoldLayer:
        """Return the gold layer with its counts; the latest one is cached."""
        key = threshold, metric
        if key not in self._latest:
            self._latest.clear()
            chosen = choose(self._table, self._expected, self.groups.nested, *key)
            self._latest[key] = GoldLayer(chosen, *self._of_documents(chosen))
        return self._latest[key]

    def _correct(self, chosen: Bools) -> Bools:
        """Return whether each chosen candidate is true, shape [draw, span]."""
        rows = self._table[chosen]
        group, shape = rows["group"].to_numpy(), rows["shape"].to_numpy()
        local = shape - self.groups.shape_first[group]
        found = self.draws.truth[:, group] == rows["label"].to_numpy()
        return np.asarray(found & (self.draws.truth_shape[:, group] == local))

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
        import pandas as pd

        g, chosen = self.groups, self._layer(threshold, metric).chosen
        limit = SETTLED if threshold is None or metric is not None else threshold
        columns = [self._of[name] for name in ("start", "end", "label", "p_exact")]
        first = np.searchsorted(self._of["group"], np.arange(len(g) + 1))
        rows = []
        for n in np.unique(self._of["group"][chosen]).tolist():
            here = slice(first[n], first[n + 1])
            found = list(zip(*(column[here].tolist() for column in columns), strict=True))
            document, p_class = g.documents[g.document[n]], self.draws.p_class[n].tolist()
            text, present = self.spans.texts.get(document, ""), 1 - p_class[0]
            for row in np.flatnonzero(chosen[here]).tolist():
                start, end, label, p = found[row]
                near = [each for each in found if each[0] < end and start < each[1]]
                given = p_class[label] / present if present else 0.0
                p_span = sum(each[3] for each in near if each[2] == label)
                p_span = max(p, min(1.0, p_span + float(self._unmarked[n]) * given))
                state, reason = self._state(n, p, p_span, present, limit)
                others = [each for each in near if each is not found[row]]
                rows.append(
                    (
                        document, start, end, g.labels[label - 1], text[start:end], p, p_span,
                        self._runner_up(others, 1 - present), self._votes(n, start, end), state,
                        reason, self._source(n),
                    )
                )  # fmt: skip
        names = "document start end label text p_exact p_span runner_up votes state reason source"
        table = pd.DataFrame(rows, columns=names.split())
        table = table.sort_values(["document", "start", "end"], kind="stable", ignore_index=True)
        quality = self.quality(threshold, metric).table
        f1 = quality[quality["quantity"] == "f1"].iloc[0]
        told = (
            f"Expected F1 of the {counted(len(table), 'span')} is {f1['value']:.2f} "
            f"({f1['low']:.2f} to {f1['high']:.2f})."
        )
        return Summary("Gold spans", table, notes=(told, *g.notes))

    def _state(
        self, n: int, p: float, p_span: float, present: float, limit: float
    ) -> tuple[str, str]:
        settled, needs, contested, decided = STATES
        if self.groups.known[n] >= 0:
            return decided, ""
        if p >= limit:
            return settled, ""
        doubts = {"presence": 1 - present, "label": present - p_span, "border": p_span - p}
        reason = max(doubts, key=lambda name: doubts[name])
        return (needs if reason == "presence" else contested), reason

    def _source(self, n: int) -> str:
        if self.groups.known[n] < 0:
            return "model"
        document = self.groups.documents[self.groups.document[n]]
        return "truth" if GOLD in self.spans.seen.get(document, ()) else "decision"

    def _runner_up(self, others: list[tuple[int, int, int, float]], best: float) -> str:
        name = NONE
        for start, end, label, p in others:
            if p > best:
                best, name = p, f"{self.groups.labels[label - 1]} {start}-{end}"
        return name

    def _votes(self, n: int, start: int, end: int) -> str:
        """Return the counts of the coders' answers at a place of a group, as text."""
        g = self.groups
        here: dict[str, list[str]] = {}
        for x, y, coder, label in g.marks[n]:
            if coder != GOLD and x < end and start < y:
                told = label if (x, y) == (start, end) else f"{label} {x}-{y}"
                here.setdefault(coder, []).append(told)
        given = Counter(map("+".join, here.values()))
        given[NONE] += int(g.answer_first[n + 1] - g.answer_first[n]) - len(here)
        order = sorted((+given).items(), key=lambda item: (-item[1], item[0] == NONE, item[0]))
        return ", ".join(f"{count} × {answer}" for answer, count in order)

    def candidates(self) -> pd.DataFrame:
        """Return every span that a coder marked, with its probability and coders."""
        import pandas as pd

        g, chosen = self.groups, self._layer().chosen
        coders: dict[tuple[str, int, int, str], list[str]] = {}
        for span in self.spans.spans:
            if span.coder != GOLD:
                coders.setdefault((span.document, span.start, span.end, span.label), []).append(
                    span.coder
                )
        rows = []
        columns = [self._of[name].tolist() for name in ("document", "start", "end", "label")]
        every = zip(*columns, self._of["p_exact"].tolist(), chosen.tolist(), strict=True)
        for place, start, end, code, p, in_gold in every:
            document, label = g.documents[place], g.labels[code - 1]
            names = coders.get((document, start, end, label), [])
            if names or p >= PLAUSIBLE:
                rows.append((document, start, end, label, p, ", ".join(names), in_gold))
        names_ = ("document", "start", "end", "label", "p_exact", "coders", "in_gold")
        out = pd.DataFrame(rows, columns=list(names_))
        return out.sort_values(
            ["document", "start", "end", "label"], kind="stable", ignore_index=True
        )

    def _of_documents(self, chosen: Bools) -> tuple[Floats, Floats, Floats]:
        g, truth = self.groups, self.draws.truth
        documents, draws = len(g.documents), len(truth)
        correct = self._correct(chosen)
        place = self._table["document"].to_numpy()[chosen]
        sizes = np.array([max(len(shape), 1) for shape in g.shapes])
        tp, true = np.zeros((draws, documents)), np.zeros((draws, documents))
        n_gold = np.bincount(place, minlength=documents).astype(float)
        for d in range(draws):
            tp[d] = np.bincount(place, correct[d], documents)
            there = sizes[g.shape_first[:-1] + self.draws.truth_shape[d]] * (truth[d] > 0)
            marked = np.bincount(g.document, there, documents)
            share = (marked + 1 / documents) / (marked.sum() + 1)
            true[d] = marked + self.draws.unseen[d] * share
        return tp, n_gold, true

    def quality(self, threshold: float | None = None, metric: Metric | None = None) -> Summary:
        """Return expected precision, recall and F1 of the gold layer, with 95 % intervals.

        Parameters
        ----------
        threshold, metric
            As for :meth:`gold`.
        """
        import pandas as pd
        import xarray as xr

        _, tp, n_gold, true = self._layer(threshold, metric)
        values = measures(tp.sum(1), n_gold.sum(), true.sum(1))
        rows = []
        for name, drawn in values.items():
            mean, low, high = estimated(drawn[:, None])
            rows.append((name, float(mean[0]), float(low[0]), float(high[0])))
        dims = ("draw", "document")
        draws = xr.Dataset(
            {
                "tp": (dims, tp), "gold": (("document",), n_gold), "true": (dims, true),
                **{name: (("draw",), drawn) for name, drawn in values.items()},
            },
            coords={"document": list(self.groups.documents)},
        )  # fmt: skip
        table = pd.DataFrame(rows, columns=["quantity", "value", "low", "high"])
        return Summary("Expected quality of the gold spans", table, draws)

    def documents(self, threshold: float | None = None) -> pd.DataFrame:
        """Return the gold spans and the expected correct and true spans of each document.

        Parameters
        ----------
        threshold
            As for :meth:`gold`.
        """
        import pandas as pd

        _, tp, n_gold, true = self._layer(threshold)
        return pd.DataFrame(
            {
                "document": list(self.groups.documents),
                "n_gold": n_gold.astype(int),
                "tp": tp.mean(axis=0),
                "true": true.mean(axis=0),
            }
        )

    @cached_property
    def _shares(self) -> dict[str, Floats]:
        """Misses, false alarms, exact borders, right labels and F1 of the coders, [draw, coder]."""
        g, draws = self.groups, self.draws
        group, marked = g.of_answer, g.label > 0

        def count(which: Bools) -> Floats:
            return np.bincount(g.coder, which, len(g.coders)).astype(float)

        marks, found = count(marked), []
        for truth, shape in zip(draws.truth, draws.truth_shape, strict=True):
            k = truth[group]
            there, named, exact = count(k > 0), k == g.label, shape[group] == g.shape
            hit = marked & (k > 0)
            both, right = count(hit), count(hit & named & exact)
            found.append((
                1 - over(both, there), over(marks - both, marks), over(count(hit & exact), both),
                over(count(hit & named), both), over(2 * right, marks + there),
            ))  # fmt: skip
        return dict(zip(SHARES, np.stack(found, axis=1), strict=True))

    def coders(self) -> Summary:
        """Return misses, false alarms, exact borders and F1 per coder, with 95 % intervals."""
        import pandas as pd

        g = self.groups
        marks = np.bincount(g.coder[g.label > 0], minlength=len(g.coders))
        table = pd.DataFrame({"coder": list(g.coders), "n": marks})
        for name, values in self._shares.items():
            mean, low, high = estimated(values)
            table[name], table[f"{name}_low"], table[f"{name}_high"] = mean, low, high
        table["advice"] = _advice(table)
        return Summary("Coders", table)

    def mixing(self) -> tuple[float, float]:
        """Return the largest R-hat and the fewest effective draws of what the tables report."""
        # Parameters that no table shows may mix worse: attention and confusion both explain misses.
        quality = self.quality().draws
        told = [*self._shares.values(), np.column_stack([quality[name] for name in QUALITY])]
        each = np.concatenate(told, axis=1)
        each = each.reshape(len(self.draws.log_density), -1, each.shape[1])
        compared, effective = rhat(each), ess(each)
        return (
            float(max(compared[~np.isnan(compared)], default=np.nan)),
            float(min(effective[~np.isnan(effective)], default=np.nan)),
        )

    def agreement(self) -> Summary:
        """Return agreement between coders, with intervals from resampled documents."""
        return span_agreement(self.spans)

    def confusion(self) -> Summary:
        """Return the proportion of each label per coder and true label."""
        import pandas as pd

        g, n = self.groups, len(self.groups.labels) + 1
        group = g.of_answer
        counts = np.array(
            [
                np.bincount(
                    (g.coder * n + truth[group]) * n + g.label, minlength=len(g.coders) * n * n
                )
                for truth in self.draws.truth
            ]
        ).reshape(-1, len(g.coders), n, n)
        with np.errstate(invalid="ignore"):
            shares = counts / counts.sum(axis=-1, keepdims=True)
        met = counts.any(axis=(0, 3))  # true labels of a coder's places in any draw
        names = (NONE, *g.labels)
        rows = []
        for j, k in np.argwhere(met):
            found = zip(names, *estimated(shares[:, j, k]), strict=True)
            rows += [(g.coders[j], names[k], *each) for each in found]
        columns = ["coder", "true_label", "label", "share", "low", "high"]
        return Summary("Confusion of the coders", pd.DataFrame(rows, columns=columns))


# minimum probability at which a label that no coder gave is listed
PLAUSIBLE = 0.05


def _advice(table: pd.DataFrame) -> list[str]:
    middle = float(table["f1"].median())
    below = np.where(table["f1_high"] < middle, "ask others first", "ask")
    return np.where(table["n"] > 0, below, "give test items").tolist()  # type: ignore[no-any-return]
