"""Tables of a span fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.coefficients.intervals import interval
from annomodels.coefficients.tables import over
from annomodels.data.summary import Summary
from annomodels.data.validation import counted
from annomodels.io.span_builder import GOLD, NONE, Spans
from annomodels.limits import SETTLED, STATES
from annomodels.spans.decode import Metric, candidates, choose
from annomodels.spans.groups import Groups
from annomodels.spans.model import Draws
from annomodels.types import AnyArray, Bools, Floats

if TYPE_CHECKING:
    import pandas as pd


def estimated(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean and 95 % interval over draws, the first axis, without NaN."""
    known = ~np.isnan(values)
    mean = over(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))
    return mean, *interval(values, value=mean)


@dataclass(frozen=True, eq=False)
class Facts:
    """Spans, groups and draws as the source of the tables of a fit."""

    spans: Spans
    groups: Groups
    draws: Draws
    _latest: dict[tuple[float | None, Metric | None], Bools] = field(default_factory=dict)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Candidates with their probabilities."""
        return candidates(self.groups, self.draws.p_class, self.draws.p_shape)

    @cached_property
    def of(self) -> dict[str, AnyArray]:
        """Columns of the candidate table as arrays."""
        return {str(name): values.to_numpy() for name, values in self.table.items()}

    @cached_property
    def unmarked(self) -> Floats:
        """Expected number of true spans that no coder marked, per group."""
        last = self.groups.shape_first[1:] - 1
        return np.asarray(self.draws.p_shape[last])

    @cached_property
    def expected(self) -> float:
        """Expected number of true spans."""
        return float(self.table["p_exact"].sum() + self.unmarked.sum() + self.draws.unseen.mean())

    def chosen(self, threshold: float | None, metric: Metric | None) -> Bools:
        """Return the mask of the candidates in the gold layer; the latest mask is cached."""
        key = threshold, metric
        if key not in self._latest:
            self._latest.clear()
            self._latest[key] = choose(self.table, self.expected, self.groups.nested, *key)
        return self._latest[key]

    def correct(self, chosen: Bools) -> Bools:
        """Return whether each chosen candidate is true, shape [draw, span]."""
        rows = self.table[chosen]
        group, shape = rows["group"].to_numpy(), rows["shape"].to_numpy()
        local = shape - self.groups.shape_first[group]
        found = self.draws.truth[:, group] == rows["label"].to_numpy()
        return np.asarray(found & (self.draws.truth_shape[:, group] == local))

    def gold(self, threshold: float | None, metric: Metric | None) -> Summary:
        """Tabulate the gold layer."""
        import pandas as pd

        g, chosen = self.groups, self.chosen(threshold, metric)
        limit = SETTLED if threshold is None or metric is not None else threshold
        columns = [self.of[name] for name in ("start", "end", "label", "p_exact")]
        first = np.searchsorted(self.of["group"], np.arange(len(g) + 1))
        rows = []
        for n in np.unique(self.of["group"][chosen]).tolist():
            here = slice(first[n], first[n + 1])
            found = list(zip(*(column[here].tolist() for column in columns), strict=True))
            document, p_class = g.documents[g.document[n]], self.draws.p_class[n].tolist()
            text, present = self.spans.texts.get(document, ""), 1 - p_class[0]
            for row in np.flatnonzero(chosen[here]).tolist():
                start, end, label, p = found[row]
                near = [each for each in found if each[0] < end and start < each[1]]
                given = p_class[label] / present if present else 0.0
                p_span = sum(each[3] for each in near if each[2] == label)
                p_span = max(p, min(1.0, p_span + float(self.unmarked[n]) * given))
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
        """Tabulate the spans that coders marked, and plausible labels of these."""
        import pandas as pd

        g, chosen = self.groups, self.chosen(None, None)
        coders: dict[tuple[str, int, int, str], list[str]] = {}
        for span in self.spans.spans:
            if span.coder != GOLD:
                coders.setdefault((span.document, span.start, span.end, span.label), []).append(
                    span.coder
                )
        rows = []
        columns = [self.of[name].tolist() for name in ("document", "start", "end", "label")]
        every = zip(*columns, self.of["p_exact"].tolist(), chosen.tolist(), strict=True)
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
        correct = self.correct(chosen)
        place = self.table["document"].to_numpy()[chosen]
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

    def quality(self, threshold: float | None, metric: Metric | None) -> Summary:
        """Tabulate expected precision, recall and F1."""
        import pandas as pd
        import xarray as xr

        tp, n_gold, true = self._of_documents(self.chosen(threshold, metric))
        hit, gold, all_true = tp.sum(1), n_gold.sum(), true.sum(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = {
                "precision": hit / gold,
                "recall": hit / all_true,
                "f1": 2 * hit / (gold + all_true),
            }
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

    def documents(self, threshold: float | None) -> pd.DataFrame:
        """Tabulate expected counts per document."""
        import pandas as pd

        tp, n_gold, true = self._of_documents(self.chosen(threshold, None))
        return pd.DataFrame(
            {
                "document": list(self.groups.documents),
                "n_gold": n_gold.astype(int),
                "tp": tp.mean(axis=0),
                "true": true.mean(axis=0),
            }
        )

    def coders(self) -> Summary:
        """Tabulate error rates and F1 of the coders."""
        import pandas as pd

        g, draws = self.groups, self.draws
        group = np.repeat(np.arange(len(g)), np.diff(g.answer_first))
        n, marked = len(g.coders), g.label > 0
        sums: dict[str, list[Floats]] = {
            name: [] for name in ("misses", "false_alarms", "borders", "labels", "f1")
        }

        def count(which: Bools) -> Floats:
            return np.bincount(g.coder, which, n).astype(float)

        marks = count(marked)
        for truth, shape in zip(draws.truth, draws.truth_shape, strict=True):
            k = truth[group]
            there, exact = k > 0, shape[group] == g.shape
            both = count(marked & there)
            with np.errstate(invalid="ignore", divide="ignore"):
                sums["misses"].append(1 - both / count(there))
                sums["false_alarms"].append(count(marked & ~there) / marks)
                sums["borders"].append(count(marked & there & exact) / both)
                sums["labels"].append(count(marked & (k == g.label)) / both)
                right = count(marked & (k == g.label) & exact)
                sums["f1"].append(2 * right / (marks + count(there)))
        table = pd.DataFrame({"coder": list(g.coders), "n": marks.astype(int)})
        for name, values in sums.items():
            mean, low, high = estimated(np.array(values))
            table[name], table[f"{name}_low"], table[f"{name}_high"] = mean, low, high
        table["advice"] = _advice(table)
        return Summary("Coders", table)

    def confusion(self) -> Summary:
        """Tabulate the proportion of each label per coder and true label."""
        import pandas as pd

        g, n = self.groups, len(self.groups.labels) + 1
        group = np.repeat(np.arange(len(g)), np.diff(g.answer_first))
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


def _rows(table: pd.DataFrame) -> Iterable[Any]:
    """Return the rows of a table with untyped cells."""
    return table.itertuples()


# minimum probability at which a label that no coder gave is listed
PLAUSIBLE = 0.05
LOW_F1 = 0.5


def _advice(table: pd.DataFrame) -> list[str]:
    middle = float(table["f1"].median())
    words = []
    for row in _rows(table):
        if not row.n:
            words.append("give test items")
        elif row.f1_high < middle:
            words.append("ask others first")
        else:
            words.append("ask")
    return words
