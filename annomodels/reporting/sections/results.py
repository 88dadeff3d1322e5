"""Results that people act on: items to decide and to buy, coders, labels and agreement."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from annomodels import plots
from annomodels.data.columns import (
    COLUMNS,
    WHOLE_TEXT,
    Cell,
    Column,
    clean,
    decimal,
    percent,
    short,
)
from annomodels.data.columns import columns as columns_of
from annomodels.data.names import label_text
from annomodels.data.validation import counted
from annomodels.limits import CODER_JUDGED, CODER_ROW, CONFUSED_PAIR, STATES
from annomodels.plots.coders import pairwise
from annomodels.plots.style import distinct_names
from annomodels.reporting.facts import Facts
from annomodels.reporting.head import warning
from annomodels.reporting.parts import (
    FIRST_CARDS,
    MOST_CARDS,
    Card,
    Part,
    Section,
    notes,
    pair,
    picture,
    summary,
    table,
)
from annomodels.reporting.parts import cards as carded
from annomodels.reporting.words import say, share_with
from annomodels.summaries.labels import LEFT_OUT
from annomodels.summaries.notes import listed
from annomodels.types import Floats

_ON_PAPER = 20
_KEYS = 9  # labels with a keyboard shortcut
NEXT_ITEMS = columns_of(
    "item",
    Column("labels", "Labels to ask for", "count"),
    Column("coders", "From", "text", width=WHOLE_TEXT, of=lambda row: listed(_whom(row.coders), 5)),
    "gain label probability",
    COLUMNS["n"].called("Labels so far"),
)


@Section(
    "decide",
    "Decide",
    "The items whose decision removes the most expected errors come first.",
    needs=("items",),
    printed=False,
)
def decide(facts: Facts) -> list[Part]:
    return [Part("decide", {"keys": min(facts.data.n_labels, _KEYS), "contested": "contested"})]


@Section("items-section", "Items")
def items(facts: Facts) -> list[Part]:
    data = facts.data
    if facts.unsupported("items"):
        return table(
            "items",
            "Items that are not settled, least certain first",
            columns_of("item label probability runner_up n"),
            facts.tally.open,
            "gold.parquet",
            total=facts.states["needs labels"],  # the table has only the first of them
            otherwise="Every item is settled.",
        )
    shown = {
        "thing": "Item",
        "states": [(str(code), name) for code, name in enumerate(STATES)],
        "labels": [short(name, 40) for name in data.labels],
        "coders": [short(name, 40) for name in data.coders],
    }
    rows = facts.fit.items().table
    rows = rows[facts.state == 2].sort_values("probability", kind="stable")
    # for print, and for pages without a script
    on_paper = table(
        "contested",
        "Contested items",
        columns_of("item label probability", votes(facts)),
        rows.head(_ON_PAPER),
        "gold.csv",
        total=len(rows),
        otherwise="No item is contested.",
        paper="all",
    )
    return [Part("explorer", shown), *on_paper]


def votes(facts: Facts) -> Column:
    """Return the column of votes, most frequent first, readable for numeric labels."""

    def cell(r: Any) -> Cell:
        counts = facts.data.votes[r.Index]
        order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
        parts = [f"{counts[k]} × {short(facts.data.labels[k], 24)}" for k in order[:6]]
        return Cell(", ".join(parts) + (f", {len(order) - 6} more" if len(order) > 6 else ""))

    return COLUMNS["votes"].called(kind="text", of=cell)


@Section("labels-to-buy", "Labels to buy", needs=("next",), printed=False)
def labels_to_buy(facts: Facts) -> list[Part]:
    plan, title = facts.following, "Items to label next, largest gain first"
    rows = _by_item(plan.table)
    return table("next", title, NEXT_ITEMS, rows, "next.csv", otherwise=plan.notes[0])


def _whom(coders: list[str]) -> list[str]:
    """Return the names of coders to ask, and the number of new coders."""
    new = coders.count("")
    known = [short(name, 24) for name in coders if name]
    return known + ([] if not new else ["a new coder" if new == 1 else f"{new} new coders"])


def _by_item(requests: pd.DataFrame) -> pd.DataFrame:
    """Group the requests by item, in order of first appearance."""
    first = dict.fromkeys(("label", "probability", "n"), "first")
    by_item = requests.assign(labels=1, coders=requests["coder"].astype(str)).groupby(
        "item", sort=False
    )
    return by_item.agg({"labels": "sum", "gain": "sum", "coders": list, **first}).reset_index()


_MOST_CODERS = 40
_WIDEST = 8  # most labels in a matrix
_MOST_PAIRED = 24
_ROOM = 26  # characters of the names above the columns of a matrix
_LISTED = 3  # confusions to list if there are too many labels for a matrix
_CONFUSED = 0.05  # proportion of a label's items from which a confusion is reported
WELL = 0.8  # lowest recall and specificity of a label on which a coder does well


MATRIX = (
    "Matrix: rows are the true label, columns the label given, in percent of the row; blue is "
    "right, orange is wrong."
)


@Section("coders-section", "Coders", needs=("coders",))
def coders(facts: Facts) -> list[Part]:
    rows = facts.coders.table
    title, only = "All coders, most notable first", f"coder kind {_right(rows)} advice n"
    rows_of = facts.coders.seen, "coders.csv", only
    quality = summary("coders", title, facts.coders, *rows_of, paper="flagged")
    lead = "Each card ends with a sentence that you can send."
    lead += f" {MATRIX}" if facts.data.n_labels <= _WIDEST else ""
    first = warning(facts.check)  # already on the first screen
    told = notes([said for said in facts.check.of_coders if not first.endswith(clean(said))])
    return [*told, Part("text", lead, "lead"), *carded(cards(facts)), *quality]


def cards(facts: Facts) -> list[Card]:
    """Return the cards: coders to stop or talk to, or the most notable if these are few."""
    posterior, rows = facts.tree["posterior"], facts.coders.table
    share = np.asarray(posterior["prevalence"].mean(("chain", "draw")).values)
    share = share if share.ndim == 1 else np.full(facts.data.n_labels, 1 / facts.data.n_labels)
    asked = [*facts.flagged.index, *facts.advised("retrain").index]
    order = [*asked, *facts.coders.order[: max(FIRST_CARDS - len(asked), 0)]]
    order = list(dict.fromkeys(order))[:MOST_CARDS]
    draws = posterior["confusion"]
    draws = draws.isel(coder=order) if "coder" in draws.dims else draws
    mean = np.asarray(draws.mean(("chain", "draw")).values, dtype=float)
    mean = np.broadcast_to(mean, (len(order), *mean.shape[-2:]))
    return [_card(rows.loc[j], mean[at], share, facts) for at, j in enumerate(order)]


def _card(row: Any, confusion: Floats, share: Floats, facts: Facts) -> Card:
    names = [short(label, 30) for label in facts.data.labels]
    right = np.diag(confusion)
    weight = share[:, None] * confusion
    np.fill_diagonal(weight, 0.0)
    k, said = np.unravel_index(int(weight.argmax()), weight.shape)
    value, low, high = (row[f"{_right(row)}{end}"] for end in ("", "_low", "_high"))
    about = f"{counted(int(row['n']), 'label')}, {share_with(value, low, high)} right"
    confused = _confused(weight, confusion, names)
    best = _best(confusion, share)
    well = [] if best < 0 else [("Does well", f"{names[best]}, right on {percent(right[best], 0)}")]
    few = CODER_ROW * len(names)
    feedback = _feedback(row, names[int(k)], names[int(said)], confusion[k, said], few)
    return Card(
        short(row["coder"], 40), str(row["kind"]), about,
        (*well, ("Confuses", confused)), feedback, *_matrix(confusion, facts),
    )  # fmt: skip


def _best(confusion: Floats, share: Floats) -> int:
    """Return the label with the highest recall, if recall and specificity are high; else -1."""
    right = np.diag(confusion)
    others = share @ confusion - share * right
    given_else = others / np.maximum(1.0 - share, 1e-9)
    well = (right >= WELL) & (given_else <= 1.0 - WELL)
    return int(np.where(well, right, -1.0).argmax()) if well.any() else -1


def _right(row: Any) -> str:
    """Name the column of the proportion of right labels; streamed data have accuracy only."""
    return "share_right" if "share_right" in row else "accuracy"


def _feedback(row: Any, true: str, said: str, share: float, few: int) -> str:
    """Return one sentence to send to a coder; with fewer labels than `few` none on confusions."""
    n, kind, advice = int(row["n"]), row["kind"], str(row["advice"])
    right = f"About {row[_right(row)] * n:.0f} of your {counted(n, 'label')} are right"
    if advice.startswith("correct"):
        swapped = advice.removeprefix("correct: swaps ")
        pair = f"{true} and {said}" if swapped == "classes" else swapped
        return f"{right}: please check whether you use {pair} the other way round."
    if advice == "stop":
        why = "no more than by guessing" if kind == "spammer" else "fewer than agreed"
        return f"{right}, {why}: please stop, and go through ten items with us."
    if advice == "give test items" and n >= CODER_JUDGED:
        return f"{right}: please label ten test items, so that we can judge better."
    if kind == "not enough evidence" and n < few:
        return f"You gave {counted(n, 'label')}, too few to judge."
    if kind == "biased":
        label = str(row["bias"]).removeprefix("says ").removesuffix(" too often")
        return f"{right}: you choose {short(label, 30)} too often, so use it only if it is clear."
    if share < _CONFUSED:
        return f"{right}: please go on like this."
    return f"{right}: take care with {true}, which you often call {said}."


def _matrix(mean: Floats, facts: Facts) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return headings and rows of a matrix; columns are numbered if names are long."""
    labels = distinct_names(facts.data.labels, 14)
    if len(labels) > _WIDEST:
        return (), ()
    numbered = sum(map(len, labels)) > _ROOM
    rows = [f"{k} {label}" for k, label in enumerate(labels, 1)] if numbered else labels
    heads = [str(k) for k in range(1, len(labels) + 1)] if numbered else labels
    lines = [(rows[k], tuple(round(100 * float(p)) for p in mean[k])) for k in range(len(rows))]
    return tuple(heads), tuple(lines)


def _confused(weight: Floats, confusion: Floats, names: list[str]) -> str:
    """Name the most frequent confusion, or several if there is no matrix."""
    order = np.argsort(-weight, axis=None, kind="stable")
    most = 1 if len(names) <= _WIDEST else _LISTED
    pairs = [divmod(int(at), len(names)) for at in order[:most]]
    found = [(k, j) for k, j in pairs if confusion[k, j] >= _CONFUSED and weight[k, j] > 0]
    if not found:
        return "nothing often"
    one = "says {1} for {2} of the {0} items" if most == 1 else "{0} called {1}: {2}"
    return "; ".join(one.format(names[k], names[j], percent(confusion[k, j], 0)) for k, j in found)


def pictures(facts: Facts) -> Part:
    n, some = facts.data.n_coders, ""
    if n > _MOST_CODERS:
        some = f" The {_MOST_CODERS} most notable of {n:,} coders are shown."
    made = [
        picture(
            plots.coder_forest(facts.coders, most=_MOST_CODERS, target=facts.target),
            "coders",
            some=some,
        )
    ]
    if 2 < n <= _MOST_PAIRED and facts.health.per_item.most > 1 and facts.has("plot.pairwise"):
        values = pairwise(facts.data)
        known = values[np.isfinite(values)]
        span = f"{decimal(known.min())} to {decimal(known.max())}" if len(known) else "not defined"
        made.append(picture(plots.pairwise_heatmap(facts.data), "pairs", span=span))
    return pair(*made)


WANTED = 0.8  # lowest recall and precision of a well-defined label
FIX = Column("fix", "Definition", "tag")
TALLIED = (
    Column("gold", "Gold label of items", "count"),
    Column("settled", "of them settled", "count"),
)


@Section("scheme", "Labels", needs=("prevalence",), parts=(("labels", "Quality of each label"),))
def labels(facts: Facts) -> list[Part]:
    title = "Labels, as given and corrected by the model"
    shown = picture(plots.prevalence(facts.fit), "prevalence")
    if facts.unsupported("labels"):
        rows = facts.fit.prevalence().table.drop(columns="label").join(facts.tally.labels)
        given = facts.health.label_counts
        rows = rows.assign(given=given, share=given / max(int(given.sum()), 1))
        columns = columns_of("label given share prevalence", *TALLIED)
        return [*table("labels", title, columns, rows), shown]
    found, judged = facts.fit.labels(), fix(facts)
    if any(getattr(note, "code", "") == LEFT_OUT for note in found.notes):
        title += "; recall and precision without spammers and adversaries"
    # omit a mark that is the same for every label
    columns = (COLUMNS["label"], *[FIX] * (len(set(judged)) > 1), *found.columns[1:7])
    return [
        *notes(scheme_notes(facts)),
        *table("labels", title, columns, found.table.assign(fix=judged)),
        shown,
    ]


def fix(facts: Facts) -> list[str]:
    """Return "fix", "fine" or "unclear" for the definition of each label."""
    # recall and precision: one certainly below WANTED, both certainly above, or neither
    rows = facts.fit.labels().table
    low, high = (
        rows[[f"recall_{end}", f"precision_{end}"]].to_numpy(dtype=float) for end in ("low", "high")
    )
    bad, good = (high < WANTED).any(axis=1), (low > WANTED).all(axis=1)
    return [str(word) for word in np.select([bad, good], ["fix", "fine"], "unclear")]


def scheme_notes(facts: Facts) -> list[str]:
    """State the definitions to fix, and the most confused pair of labels."""
    rows, verdicts = facts.fit.labels().table, fix(facts)
    names = [short(label_text(label), 24) for label in rows["label"]]
    chosen = [k for k, word in enumerate(verdicts) if word == "fix"]
    worst = rows[["recall", "precision"]].to_numpy(dtype=float).min(axis=1)
    out = [_which([names[k] for k in sorted(chosen, key=lambda k: worst[k])], verdicts)]
    if facts.data.n_labels > 2:
        pairs = facts.fit.labels(pairs=True).table
        top: Any = pairs.iloc[0]
        part, low, high = (float(top[f"confusions{end}"]) for end in ("", "_low", "_high"))
        # of many pairs one is always first: it is named if it certainly stands out
        if part >= CONFUSED_PAIR and not low <= 1 / len(pairs):
            out.append(say("confused_pair", pair=_pair(top), part=share_with(part, low, high)))
    return out


def _which(names: list[str], verdicts: list[str]) -> str:
    limit = percent(WANTED, 0)
    why = say("why_confused", limit=limit)
    if len(names) == len(verdicts):
        return say("all_confused", why=why)
    if names:
        order = "" if len(names) == 1 else ", worst first"
        return say("some_confused", n=len(names), names=listed(names, 6), order=order, why=why)
    return say("none_clear" if "unclear" in verdicts else "none_confused", limit=limit)


def _pair(r: Any) -> str:
    return f"{short(label_text(r.first), 28)} and {short(label_text(r.second), 28)}"


@Section(
    "agreement-section",
    "Agreement",
    "Agreement beyond chance, as observed and as implied by the model for many items like these.",
    needs=("agreement",),
    printed=False,
)
def agreement(facts: Facts) -> list[Part]:
    title, found = "Agreement coefficients with 95 % intervals", facts.fit.agreement()
    known = found.table["value"].notna()
    rows = found.table[known]
    shown = summary("agreement", title, found, rows, "agreement.csv", "title value model")
    return [*notes(agreement_notes(facts)), *shown, *notes(_undefined(found.table[~known]), 300)]


def _undefined(rows: pd.DataFrame) -> list[str]:
    whole = [str(note).partition(". ")[0].rstrip(".") for note in rows["note"]]
    reasons = np.array([reason.removeprefix("It is ") for reason in whole])
    named = rows["title"].groupby(reasons, sort=False).agg(list)
    return [f"Not defined here: {listed(who, 9)} ({why})." for why, who in named.items()]


def agreement_notes(facts: Facts) -> list[str]:
    values = facts.fit.agreement().table.set_index("coefficient")["value"]
    share, alpha = float(values.get("percent", np.nan)), float(values.get("alpha", np.nan))
    if not share - alpha > 0.3:
        return []
    shares = facts.health.label_counts / max(len(facts.data), 1)
    top = short(facts.data.labels[int(shares.argmax())], 24)
    most = percent(float(shares.max()))
    return [say("percent_and_alpha", share=share, alpha=alpha, most=most, top=top)]
