"""Label scheme: use of labels, and definitions to fix."""

from __future__ import annotations

from typing import Any

import numpy as np

from annomodels import plots
from annomodels.data.columns import COLUMNS, Column, percent, short
from annomodels.data.columns import columns as columns_of
from annomodels.data.names import label_text
from annomodels.limits import CONFUSED_PAIR
from annomodels.reporting.facts import Facts
from annomodels.reporting.parts import Part, Section, notes, picture, table
from annomodels.reporting.words import listed, say, share_with
from annomodels.summaries.labels import LEFT_OUT

WANTED = 0.8  # lowest recall and precision of a well-defined label
FIX = Column("fix", "Definition", "tag")
TALLIED = (
    Column("gold", "Gold label of items", "count"),
    Column("settled", "of them settled", "count"),
)


@Section.of("scheme", "Labels", needs=("prevalence",), parts=(("labels", "Quality of each label"),))
def section(facts: Facts) -> list[Part]:
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
