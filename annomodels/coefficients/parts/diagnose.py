"""Find the sources of disagreement in a data set."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from annomodels.coefficients.agreement import Convention, Resample, agreement
from annomodels.coefficients.distances import DistanceLike, Nominal
from annomodels.coefficients.formulas import evaluate_with
from annomodels.coefficients.intervals import interval, share_above, spans
from annomodels.coefficients.parts.breakdown import FEW, by_coder, by_label, one_against_rest
from annomodels.coefficients.parts.results import SHARES, Breakdown, Diagnosis
from annomodels.coefficients.parts.setup import (
    Connections,
    Setup,
    collect,
    dataset,
    notes_of,
    overlap,
    planned,
    refuse_unfit,
    set_up,
)
from annomodels.coefficients.reasons import before, say, used_items
from annomodels.coefficients.rows import Duplicates, constant_labels
from annomodels.coefficients.sums import Sums, by_group, of_items
from annomodels.coefficients.sums import by_coder as by_coder_sums
from annomodels.coefficients.tables import over
from annomodels.data.annotations import Annotations
from annomodels.data.names import label_text
from annomodels.data.validation import some
from annomodels.errors import NotApplicable, Note, valid_seed
from annomodels.types import Floats, Ints

MANY_LABELS = 200
EVERY = ["part", "name", "n", *SHARES]


def diagnose(
    data: Annotations,
    name: str = "alpha",
    *,
    distance: DistanceLike | None = None,
    missing: Convention | None = None,
    duplicates: Duplicates = "first",
    draws: int = 1000,
    seed: int = 0,
    resample: Resample = "auto",
    labels: Sequence[Hashable] | None = None,
) -> Diagnosis:
    r"""Find the sources of disagreement: label pairs, items, coders, groups, design gaps.

    The observed disagreement :math:`D_o` is a sum over pairs of labels, so each pair of labels,
    item, coder and group has a share of it, next to the share expected by chance.

    Parameters
    ----------
    data
        Labels to compare.
    name
        Name or alias of the coefficient to explain.
    distance, missing, duplicates, resample, labels
        As in :func:`~annomodels.agreement`.
    draws, seed
        Number and seed of the draws of the sampling posterior.

    Returns
    -------
    A :class:`~annomodels.coefficients.parts.results.Diagnosis`: sentences, and the tables behind
    them.

    Raises
    ------
    NotApplicable
        If the coefficient is unknown or has no breakdown.
    AnnotationError
        If labels are not in the label set, a table is not a distance, or repeats are an error.

    References
    ----------
    Feinstein & Cicchetti 1990, doi:10.1016/0895-4356(90)90158-L (high agreement, low kappa).

    Examples
    --------
    Two coders agree on 95 of 100 items, and nearly all labels are "no":

    >>> import annomodels as am
    >>> pairs = [("no", "no")] * 95 + [("no", "yes")] * 3 + [("yes", "no")] * 2
    >>> rows = [(i, c, label) for i, pair in enumerate(pairs) for c, label in zip("AB", pair)]
    >>> found = am.diagnose(am.Annotations.from_records(rows), "kappa", draws=200)
    >>> print(found.sentences[1])
    Why 95.0 % agreement gives Cohen's kappa -0.025: 97.5 % of the labels are 'no', so coders ...
    """
    setup = set_up(data, name, distance, missing, duplicates, resample, labels)
    refuse_unfit(setup)
    data, rows, request, entry = setup.data, setup.rows, setup.request, setup.request.coefficient
    about = f"Where disagreement comes from: {request.title} · {data!r}"
    if entry.each_pair or request.convention == "pairwise":
        raise NotApplicable(
            f"{request.title} is a mean over pairs of coders and is not diagnosed. Use alpha, k or "
            'multi_kappa, and breakdown(data, "pair").'
        )
    links = overlap(rows)
    if before(entry, rows, request.convention):  # no two coders share an item
        row = agreement(data, entry.name, draws=0).row()
        gaps = about_overlap(links, data.coders, data.n_items)
        return Diagnosis(
            about,
            pd.DataFrame(columns=EVERY),
            sentences=(about_agreement(row), *gaps),
            agreement=pd.DataFrame([row]),
            components=links.components,
        )
    by = by_coder(setup, draws, valid_seed(seed))
    made = by.draws.sizes.get("draw", 0)
    few = request.nominal and data.n_labels <= MANY_LABELS
    label = by_label(setup, made, seed) if few else None
    panel = agreement(
        data,
        list(dict.fromkeys([entry.name, "percent", *(("s", "ac1") if request.nominal else ())])),
        distance=distance,
        missing=missing,
        duplicates=duplicates,
        draws=made,
        seed=seed,
        resample=resample,
    ).table
    asked: dict[str, Any] = {str(key): cell for key, cell in panel.iloc[0].items()}
    sides, label_pairs = by_coder_sums(setup.sample.rows, setup.convention), LabelPairs(setup)
    parts = {"label_pair": label_pairs.shares, "coder": setup.shares(sides)}
    sizes = {"label_pair": len(label_pairs.listed), "coder": rows.n_coders}
    if resample != "items" and data.group is not None and len(data.groups) > 1:
        sizes["group"] = len(data.groups)
        parts["group"] = setup.shares(by_group(setup.sums, data.group, sizes["group"]))
    more = Bias(sides, setup.sample.point)

    def measure(weights: Floats) -> dict[str, Floats]:
        found = {"over": more.by(weights)}
        for name, shares in parts.items():
            found[f"{name}_share"], found[f"{name}_expected"] = shares(weights)
        return found

    width = 6 * sum(sizes.values()) + 2 * data.n_labels + 6 * len(label_pairs.d)
    work = int(label_pairs.cells.nnz + 4 * sides.total.nnz)
    made = planned(made, width, work)
    drawn = collect(setup.sample, measure, made, seed, width)
    columns = {}
    for kind, shares in parts.items():
        both = drawn[f"{kind}_share"], drawn[f"{kind}_expected"]
        columns[kind] = share_columns(shares(setup.sample.point), both)
    first, second = ([data.labels[k] for k in x] for x in (label_pairs.first, label_pairs.second))
    pairs = pd.DataFrame({"first": first, "second": second, **columns["label_pair"]})
    coders = _coders(setup, links, by.table, columns["coder"], more, drawn["over"])
    groups = None
    if "group" in columns:
        groups = pd.DataFrame({"group": list(data.groups), **columns["group"]})
    items = item_table(setup)
    given = np.bincount(rows.label, minlength=data.n_labels)
    share_of = dict(zip(data.labels, given / given.sum(), strict=True))
    sentences = [
        about_agreement(asked),
        *why_so_low(setup, asked["value"], asked["expected"]),
        *about_overlap(links, data.coders, data.n_items),
        *about_label_pairs(pairs, data.n_labels),
        *about_labels(label, request.title),
        *about_items(items),
        *about_groups(groups),
        *about_coders(coders, request.title, data.n_labels),
        *about_constant_coders(coders, share_of),
    ]
    kept = {name: values for name, values in drawn.items() if name.startswith("coder")}
    names = [f"{label_text(a)} / {label_text(b)}" for a, b in zip(first, second, strict=True)]
    pieces = [pairs.assign(part="label pair", name=names)]
    for kind, table in (("coder", coders), ("group", groups), ("item", items)):
        if table is not None:
            pieces.append(table.assign(part=kind, name=table[kind].map(label_text)))
    listed = [piece.reindex(columns=EVERY) for piece in pieces if len(piece)]
    return Diagnosis(
        about,
        pd.concat(listed, ignore_index=True),
        dataset({"coder": data.coders}, kept),
        tuple(notes_of(setup, draws, made)),
        sentences=tuple(sentences),
        agreement=panel,
        label_pairs=pairs,
        labels=None if label is None else label.table,
        items=items,
        coders=coders,
        groups=groups,
        components=links.components,
    )


def _coders(
    setup: Setup,
    links: Connections,
    table: pd.DataFrame,
    columns: dict[str, Floats],
    more: Bias,
    over: Floats,
) -> pd.DataFrame:
    by = more.by(setup.sample.point)
    low, high = interval(over, value=by)
    rows, names = setup.rows, setup.data.labels

    def named(codes: Ints) -> pd.Series:
        return pd.Series([names[k] if k >= 0 else None for k in codes], dtype=object)

    found = table.drop(columns="note").assign(
        **columns,
        partners=np.nan if links.partners is None else links.partners,
        component=links.component,
        only=named(constant_labels(rows.coder, rows.label, rows.n_coders)),
        overused=named(np.where(np.isnan(more.distance), -1, more.label)),
        over_by=by,
        over_low=low,
        over_high=high,
        note=table["note"],
    )
    return found.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


MOST_LABEL_PAIRS = 500
ALL = 1.0 + 1e-9  # ratio of a part with all of the disagreement, plus rounding


class Bias:
    """The label that each coder gives more often than others on the same items."""

    # `distance` is the total variation distance between the coder's and the other labels: the
    # disagreement that unequal margins alone enforce ("quantity disagreement", Pontius & Millones
    # 2011, doi:10.1080/01431161.2011.552923).

    def __init__(self, sums: Sums, point: Floats) -> None:
        k = sums.n_labels
        counted = (sums.times(side, point, k) for side in sums.sides)
        one, other = (over(x, x.sum(-1, keepdims=True)) for x in counted)
        more = one - other
        self.label: Ints = np.where(np.isnan(more), -1.0, more).argmax(-1)
        self.distance: Floats = np.abs(more).sum(-1) / 2
        rows = np.arange(len(self.label)) * k + self.label
        left, right = sums.sides
        self._more, self._given = left[rows] - right[rows], sums.total

    def by(self, weights: Floats) -> Floats:
        """Return the difference in proportions of that label, [..., item] -> [..., coder]."""
        return over((self._more @ weights.T).T, (self._given @ weights.T).T)


class LabelPairs:
    """Observed pairs of different labels, by decreasing share of disagreement."""

    def __init__(self, setup: Setup) -> None:
        self.sums, self.distance = setup.sums, setup.request.distance
        self.cells, _, first, second = self.sums.cells
        self.pooled = setup.pooled
        self.d = self.distance.pairs(first, second, self.pooled)
        now = np.asarray(self.cells @ setup.sample.point) * self.d
        order = np.argsort(-now, kind="stable")[:MOST_LABEL_PAIRS]
        self.listed = order[now[order] > 0]
        self.first, self.second = first[self.listed], second[self.listed]

    def shares(self, weights: Floats) -> tuple[Floats, Floats]:
        apart = (self.cells @ weights.T).T * self.d
        n = (self.sums.of_all @ weights.T).T
        by_chance = 2 * n[..., self.first] * n[..., self.second] * self.d[self.listed]
        all_chance = self.distance.form(n, n, np.broadcast_to(self.pooled, n.shape))
        whole = apart.sum(-1, keepdims=True)
        return over(apart[..., self.listed], whole), over(by_chance, all_chance[..., None])


def share_columns(point: tuple[Floats, Floats], draws: tuple[Floats, Floats]) -> dict[str, Floats]:
    """Return columns of observed and expected shares, [part], from draws [draw, part]."""
    ratio = over(*draws)
    shares = spans("share", point[0], draws[0]) | {"by_chance": point[1]}
    return shares | spans("ratio", over(*point), ratio) | {"p_more": share_above(ratio, ALL)}


def item_table(setup: Setup) -> pd.DataFrame:
    """Tabulate the share of each item that has label pairs, largest first."""
    sums = of_items(setup.rows, setup.convention)
    apart = sums.apart(setup.request.distance, setup.pooled).toarray()[0]
    given = sums.total.toarray()[0]
    shown = np.flatnonzero(given > 0)
    share, expected = (x[shown] / (x.sum() or np.nan) for x in (apart, given))
    table = pd.DataFrame(
        {
            "item": [setup.data.items[i] for i in shown],
            "n": setup.rows.per_item[shown],
            "disagreement": apart[shown] / given[shown],
            "share": share,
            "by_chance": expected,
            "ratio": over(share, expected),
        }
    )
    return table.sort_values("share", ascending=False, kind="stable").reset_index(drop=True)


# A finding needs a posterior probability of .975; among many candidates, such as thousands of
# coders, the threshold rises until the expected number of false findings is 0.5.
SURE = 0.975
FALSE_NAMES = 0.5
WIDTH = 2 * float(ndtri(SURE))  # of a 95 % interval, in standard deviations
NAMED = 3
FEW_ITEMS = 3
POINTS = 0.05
CLEARLY = 1.1
VISIBLE = 0.001
FEW_LABELS = 20
RARE_BY_CHANCE = 0.001

Rows = list[dict[str, Any]]


def _clear(excess: Any, low: Any, high: Any, choices: int, n: Any = 1e6) -> Any:
    """Test if a value from `n` items exceeds 0, corrected for selection among many."""
    p = max(SURE, 1 - FALSE_NAMES / max(choices, 1))
    return excess > stdtrit(np.maximum(n - 1, 1), p) * (high - low) / WIDTH


def _records(table: pd.DataFrame) -> Rows:
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]


def _named(code: str, rows: Rows, rest: str, **words: object) -> list[Note]:
    """Name the first, and count the others."""
    notes = [say(code, **words, **row) for row in rows[:NAMED]]
    left = len(rows) - NAMED
    return notes + ([say(rest, n=left, **words)] if left > 0 else [])


def about_agreement(row: Mapping[str, Any]) -> Note:
    if np.isnan(row["value"]) or np.isnan(row["low"]):
        text = say("undefined" if np.isnan(row["value"]) else "value", **row)
        return Note(text.strip(), text.code)
    p = [row["p_above_667"], row["p_above_800"]]
    said = ["< 0.01" if x < 0.005 else "> 0.99" if x > 0.995 else f"= {x:.2f}" for x in p]
    return say("interval", p_667=said[0], p_800=said[1], **row)


def about_label_pairs(table: pd.DataFrame, n_labels: int) -> list[Note]:
    """Name the pairs of labels that make up more of the disagreement than chance would."""
    if len(table) < 2 or n_labels > FEW_LABELS:
        return []
    rows = _records(table)
    notes = []
    if rows[0]["share"] > rows[1]["share"] + POINTS:
        notes.append(say("largest_pair", **rows.pop(0)))
    sure = [
        row
        for row in rows
        if row["p_more"] >= SURE and row["share"] >= POINTS and row["ratio"] >= CLEARLY
    ]
    sure.sort(key=lambda row: -row["ratio_low"])
    return notes + [say("label_pair", **row) for row in sure[: NAMED - 1]]


def about_labels(found: Breakdown | None, title: str) -> list[Note]:
    """Name labels with lower agreement against the rest than all labels together."""
    if found is None or len(found.table) < 3 or "whole" not in found.draws:
        return []
    rows = found.table[(found.table["n"] >= FEW) & found.table["value"].notna()]
    return [
        say("hard_label", title=title, **row)
        for row in _records(rows.sort_values("value"))[:NAMED]
        if found.difference(row["label"]).p_above() <= 1 - SURE
    ]


def about_items(table: pd.DataFrame) -> list[Note]:
    """Count the items that hold half of the disagreement."""
    apart, n = int((table["share"] > 0).sum()), len(table)
    if not apart:
        return []
    half = int(np.searchsorted(np.cumsum(table["share"].to_numpy()), 0.5 - 1e-12)) + 1
    code = "few_items_differ" if apart < FEW_ITEMS else "items"
    return [say(code, apart=apart, n=n, half=half, share=half / n)]


def about_coders(table: pd.DataFrame, title: str, n_labels: int) -> list[Note]:
    """Name coders whose removal would raise the coefficient, and overused labels."""
    gain = (table["difference"], table["difference_low"], table["difference_high"])
    sure = (table["p_better_without"] >= SURE) & (table["n"] >= FEW) & (gain[0] >= VISIBLE)
    better = table[sure & _clear(*gain, len(table), table["n"])]
    rows = _records(better.sort_values("difference", ascending=False))
    notes = [
        say(
            "without_coder_behind" if row["share"] > row["by_chance"] else "without_coder",
            title=title,
            **row,
        )
        for row in rows[:NAMED]
    ]
    if len(rows) > NAMED:
        notes.append(say("without_others", n=len(rows) - NAMED, of=len(table)))
    return notes + (_overuse(table, n_labels) if n_labels <= FEW_LABELS else [])


def _overuse(table: pd.DataFrame, n_labels: int) -> list[Note]:
    """Name labels that a coder gives more often than others on the same items."""
    sure = (table["over_by"] >= 2 * POINTS) & (table["n"] >= FEW)
    excess = (table["over_by"], table["over_low"], table["over_high"])
    sure &= _clear(*excess, len(table) * n_labels, table["n"])
    over = table[sure].sort_values("over_low", ascending=False)
    points = 100 * over[["over_by", "over_low", "over_high"]]
    points.columns = ["by", "low", "high"]
    rows = _records(over[["coder", "overused"]].join(points))
    if len(table) == 2:
        rows = rows[:1]
    others = "others" if len(table) > 2 else "other"
    return _named("overused", rows, "overused_by_others", others=others, points=200 * POINTS)


def about_constant_coders(table: pd.DataFrame, shares: dict[Hashable, float]) -> list[Note]:
    """Name coders who gave only one label on more than a few items."""
    rows = table[table["only"].notna() & (table["n"] >= 2)][["coder", "only", "n"]]
    odd = [r for r in _records(rows) if shares[r["only"]] ** r["n"] < RARE_BY_CHANCE]
    return _named("constant_coder", sorted(odd, key=lambda row: -row["n"]), "constant_others")


def about_groups(table: pd.DataFrame | None) -> list[Note]:
    """Name the groups that make up more of the disagreement than their size."""
    if table is None:
        return []
    more = table["share"] - table["by_chance"]
    clear = _clear(more, table["share_low"], table["share_high"], len(table))
    sure = table[(table["p_more"] >= SURE) & clear & (table["share"] >= POINTS)]
    rows = _records(sure.sort_values("share", ascending=False))
    return [say("group", **row) for row in rows[:NAMED]]


def about_overlap(found: Connections, coders: Sequence[Hashable], items: int) -> list[Note]:
    """Report unconnected parts of the graph of coders and items."""
    notes = []
    alone = [name for name, n in zip(coders, found.shared, strict=True) if n == 0]
    together = found.components["coders"][found.components["coders"] > 1]
    if len(together) > 1:
        sizes = ", ".join(f"{n:,}" for n in together.head(NAMED))
        more = ", ..." if len(together) > NAMED else ""
        notes.append(say("sets_of_coders", n=len(together), sizes=f"{sizes}{more}"))
    if alone:
        notes.append(say("coders_alone", names=some(alone, most=NAMED), n=len(alone)))
    if found.single:
        notes.append(say("items_of_one_label", single=found.single, items=items))
    return notes


HIGH = 0.8
GAP = 0.25


def why_so_low(setup: Setup, value: float, by_chance: float) -> list[Note]:
    """Explain a coefficient far below the observed agreement; needs items with two labels."""
    # Feinstein & Cicchetti 1990, doi:10.1016/0895-4356(90)90158-L
    rows, request, title = setup.rows, setup.request, setup.request.title
    if not request.nominal or request.coefficient.expectation is None:
        return []
    tables = setup.sums.tables(setup.sample.point, by_coder=False)
    agreement, s, ac1 = (
        float(evaluate_with(how, tables, Nominal()).value) for how in (None, "uniform", "gwet")
    )
    if agreement < HIGH or value > agreement - GAP:
        return []
    shares = tables.pooled / tables.pooled.sum()
    code = int(shares.argmax())  # of the most frequent label
    label, share = setup.data.labels[code], float(shares[code])
    used = used_items(rows, request.convention)
    others = len(np.unique(rows.item[(rows.label != code) & used[rows.item]]))
    if others == 0:
        return [say("one_label", label=label, title=title)]
    if np.isnan(value):
        return []
    rest, mixed, _ = one_against_rest(tables).together[code]
    # proportion of the other labels whose partner is also another label
    met = float(over(2 * rest, 2 * rest + mixed))
    low = "less" if value < 0 else "little more" if value < 0.3 else "more"
    words = {"label": label, "title": title, "value": value, "share": share, "low": low}
    notes = [
        say("why", agreement=agreement, by_chance=by_chance, **words),
        say("others", others=others, n=int(used.sum()), met=met),
    ]
    return notes + ([say("chance_of_others", s=s, ac1=ac1, **words)] if s > value + GAP else [])
