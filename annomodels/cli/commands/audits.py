"""``annomodels audit`` and ``annomodels estimate``: judged items and their estimates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from annomodels.auditing.columns import SHOWN
from annomodels.auditing.design import design_at
from annomodels.auditing.spans import refuse_of_spans
from annomodels.cli.declared import as_command
from annomodels.cli.exits import gate_code, gate_failures, parse_gates
from annomodels.cli.loading import design_of, estimated, load_fit, sorted_truth
from annomodels.cli.options import COUNT, Truth, Writing, option, split_words
from annomodels.cli.session import note, say_notes
from annomodels.cli.spans import estimate_of_spans
from annomodels.cli.tables import emit
from annomodels.data.names import label_text
from annomodels.spans.fit import SpanFit

if TYPE_CHECKING:
    from annomodels.auditing.estimate import Estimate


@as_command(
    "audit out --size 60 -o audit.csv",
    "audit out --width 0.1 -o audit.csv",
    "estimate out --truth audit.csv",
)
@option("--size", "Number of items to draw [default: 60].", COUNT)
@option(
    "--width",
    "Instead of a size: width of the 95 % interval of accuracy, 0.1 for ten percentage points.",
    click.FloatRange(0, 1, min_open=True, max_open=True),
)
@option("--among", "Table of the items to draw from.", metavar="FILE")
@option("--start-over", "Forget earlier rounds of this fit and begin again.", bool)
def audit(
    fit: str,
    size: int | None,
    seed: int,
    among: str | None,
    start_over: bool,
    writing: Writing,
    **how: Any,
) -> None:
    """Draw items of FIT at random for an expert to judge.

    FIT is a saved fit or the folder of a run. The table has the items and an empty column for the
    label; it does not show what the model estimates. The design is kept next to the fit
    (audit.json), where `annomodels estimate` finds it. Called again, the command draws a further
    round of other items.
    """
    from annomodels.auditing.sample import audit as draw
    from annomodels.auditing.sample import audited
    from annomodels.io.mappings import items_from

    found, place = load_fit(fit), design_of(fit)
    of_spans = isinstance(found, SpanFit)
    if of_spans:
        refuse_of_spans(among=among, **how)
    of = audited(found)
    Writing("", str(place), force=True).check()
    earlier = None if start_over else design_at(place, of)
    stale = place.is_file() and not start_over and earlier is None
    chosen = None if among is None else items_from(among, items=found.data.items)
    drawn = draw(found, size, among=chosen, earlier=earlier, seed=seed, **how)
    emit(drawn.table, writing, f"{'Documents' if of_spans else 'Items'} to judge")
    if stale:
        aside = place.with_name(f"{place.stem}-{int(place.stat().st_mtime)}.json")
        place.replace(aside)
        note(f"{place} was the design of an audit of another fit; it was renamed to {aside}.")
    # after the table: a design of items that nobody received would invalidate the next round
    drawn.save(place, force=True)
    if earlier is not None:
        note(f"This is round {len(drawn.design.rounds)}; its {of.word}s were not drawn before.")
    say_notes(drawn.notes)
    note(f"The design of the audit is in {place}.")


@as_command(
    "estimate out --truth audit.csv",
    "estimate out --truth audit.csv --by system --items items.csv",
    "estimate out --truth human.csv --use audit --table coders",
    "estimate out --truth audit.csv --fail-if 'accuracy.low<0.9'",
)
@option(
    "--truth paths...",
    "Items that an expert judged (item,label); may be repeated for several rounds.",
    metavar="FILE",
    required=True,
)
@option(
    "--use",
    "Use of the true labels: audit, for items drawn at random; or fit, for items chosen otherwise.",
    ("audit", "fit"),
)
@option(
    "--by...",
    "Column of --items that divides the items into slices; may be repeated.",
    metavar="COLUMN",
)
@option(
    "--items",
    "Table with the items and other columns about them; may be the file with the labels.",
    metavar="FILE",
)
@option("--item", "Column of --items with the item.", metavar="COLUMN")
@option(
    "--pairs",
    "Two columns of --items with the systems that an item compares: adds win rates.",
    metavar="LEFT,RIGHT",
    callback=split_words,
)
@option(
    "--wins",
    "Labels for a win of the left or the right system [default: the first two].",
    metavar="LABEL,LABEL",
    callback=split_words,
)
@option(
    "--weights",
    "Column of the judged items with the inverse of each item's probability of being drawn.",
    metavar="COLUMN",
)
@option(
    "--cluster",
    "Column of --items that is the same for repeats of one item, which count as one.",
    metavar="COLUMN",
)
@option("--label", "Show the prevalence of this label only.", metavar="LABEL")
@option("--table shown", "Table to show.", tuple(SHOWN), "overall")
def estimate(
    fit: str,
    paths: tuple[str, ...],
    use: str | None,
    by: tuple[str, ...],
    items: str | None,
    item: str | None,
    pairs: tuple[str, ...] | None,
    wins: tuple[str, ...] | None,
    weights: str | None,
    cluster: str | None,
    label: str | None,
    shown: str,
    seed: int,
    gates: tuple[str, ...],
    writing: Writing,
) -> int:
    """Estimate label and coder accuracy from an audit.

    Each row also shows the estimate from the judged items alone (audit) and from the fit alone
    (model). If the items were drawn at random, the intervals allow for errors of the model.
    """
    limits = parse_gates(gates)
    how: dict[str, Any] = {}
    loaded = load_fit(fit)
    if isinstance(loaded, SpanFit):
        refuse_of_spans(by=by, items=items, pairs=pairs, weights=weights, cluster=cluster)
        of_spans = estimate_of_spans(loaded, paths, design_of(fit), seed)
        failures = gate_failures(limits, of_spans.table, "quantity")
        emit(of_spans.table, writing, "Estimate: overall", of_spans.columns, notes=of_spans.notes)
        return gate_code(failures)
    if use == "fit":
        how = {"use": "fit"}
    elif weights is None:
        given = sorted_truth(Truth(paths, use), fit, "audit")
        how, paths = dict(given.how), (*given.fit, *given.test, *given.audit)
    known = loaded.data.items
    about = _about(items, item, by, pairs, cluster, known)
    if weights is not None:
        if use == "fit":
            raise click.UsageError("--weights are for items drawn at random: leave out --use fit.")
        how["weights"] = _weights(paths, weights, known)
    if pairs is not None:
        left, right = (about[name] for name in pairs)
        how["pairs"] = {i: (left[i], right[i]) for i in left if i in right}
        how["wins"] = None if wins is None else tuple(wins)
    elif wins is not None:
        raise click.UsageError("--wins needs --pairs.")
    found = estimated(
        loaded,
        paths,
        how,
        by={name: about[name] for name in by},
        clusters=None if cluster is None else about[cluster],
        seed=seed,
    )
    failures = gate_failures(limits, _gated(found), "quantity")
    names = set(map(label_text, known))
    for name in by:
        if rest := len(names - about[name].keys()):
            note(
                f"note: no {name} in {items} for {rest:,} of {len(names):,} items: they count in "
                "the estimate for all items, but are in no slice."
            )
    emit(_table(found, shown, label), writing, f"Estimate: {shown}", SHOWN[shown])
    return gate_code(failures)


def _about(
    items: str | None,
    item: str | None,
    by: tuple[str, ...],
    pairs: tuple[str, ...] | None,
    cluster: str | None,
    known: Iterable[object],
) -> dict[str, Any]:
    from annomodels.io.mappings import item_columns

    if pairs is not None and len(pairs) != 2:
        raise click.UsageError("--pairs names two columns: LEFT,RIGHT.")
    wanted = [*by, *(pairs or ()), *(() if cluster is None else (cluster,))]
    if not wanted:
        return {}
    if items is None:
        raise click.UsageError(
            f"--items is missing: a table of the items with the column {', '.join(wanted)}."
        )
    return dict(item_columns(items, list(dict.fromkeys(wanted)), item, known))


def _weights(paths: tuple[str, ...], column: str, known: Iterable[object]) -> dict[str, str]:
    from annomodels.io.mappings import item_columns

    found: dict[str, str] = {}
    for path in paths:
        found |= item_columns(path, [column], None, known)[column]
    return found


def _table(found: Estimate, shown: str, label: str | None) -> pd.DataFrame:
    """Return the requested table, optionally with the prevalence of one label only."""
    table: pd.DataFrame = found.table if shown == "overall" else getattr(found, shown)
    if not len(table):
        asked = {"slices": "--by", "differences": "--by", "systems": "--pairs"}
        raise click.UsageError(f"--table {shown} needs {asked.get(shown, 'more data')}.")
    if label is None or "quantity" not in table or "label" not in table:
        return table
    texts = table["label"].map(label_text)
    of_label = (table["quantity"] == "prevalence") & (texts == label)
    if not of_label.any():
        there = list(dict.fromkeys(text for text in texts if text))
        raise click.UsageError(f"--label: there is no label {label!r}; use {', '.join(there)}.")
    return table[(table["quantity"] != "prevalence") | of_label]


def _gated(found: Estimate) -> pd.DataFrame:
    """Return all quantities that a gate may name, of all items and of slices."""
    rows = found.table.assign(by="", slice="")
    if len(found.slices):
        rows = pd.concat([rows, found.slices], ignore_index=True)
    kept = ("quantity", "value", "low", "high")
    # one column per kind of slice, so that messages read "of system A"
    cuts = {
        name if name not in kept else f"column {name}": rows["slice"].where(rows["by"] == name, "")
        for name in rows["by"].unique()
        if name
    }
    names = [
        quantity if label == "" else f"{quantity}:{label_text(label)}"
        for quantity, label in zip(rows["quantity"], rows["label"], strict=True)
    ]
    rows = rows.assign(quantity=names)[list(kept)]
    return pd.concat([pd.DataFrame(cuts, index=rows.index), rows], axis=1)
