"""Tables of saved fits: ``annomodels gold``, ``coders``, ``next`` and ``compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annomodels.cli.declared import as_command
from annomodels.cli.options import COUNT, Named, Writing, option, split_words
from annomodels.cli.spans import spans_back
from annomodels.cli.tables import emit, form_of, gold_back, gold_table, loaded, show
from annomodels.data.names import label_text
from annomodels.limits import STATES
from annomodels.spans.fit import SpanFit

if TYPE_CHECKING:
    from annomodels.summaries.trust.held_out import By


TO = (
    *("label-studio", "label-studio-review", "prodigy", "argilla", "hugging-face"),
    *("toloka", "appen", "parquet", "brat", "webanno", "conll", "doccano", "spacy"),
)


@as_command(
    "gold out -o gold.csv --threshold 0.95",
    "gold out --soft --format tsv",
    "gold out --state contested",
    "gold out --why",
    "gold out --why --item s17 --format json",
    "gold out --to label-studio --question sentiment -o tasks.json",
)
@option("--state", "Items in this state only.", STATES)
@option("--soft", "Add the probability of each label: p_<label>.", bool)
@option(
    "--to",
    "Tool that imports the file (predictions, examples to review, suggestions, tests), or parquet.",
    TO,
)
@option("--question", "Name of the question in that tool.", default="label")
@option(
    "--why",
    "Explain the labels instead: how much each coder contributed (log-odds), for the items whose "
    "label overturns a majority.",
    bool,
)
@option("--item items...", "With --why: explain this item; may be repeated.", metavar="NAME")
def gold(
    fit: str,
    threshold: float | None,
    state: str | None,
    soft: bool,
    to: str | None,
    question: str,
    spreadsheet: bool,
    why: bool,
    items: tuple[str, ...],
    writing: Writing,
) -> None:
    """List the gold label of each item, or the gold spans.

    Gold spans are written for a tool with --to: brat and webanno (folders), conll, label-studio,
    prodigy, doccano or spacy.
    """
    if items and not why:
        raise click.UsageError("--item needs --why.")
    if why and (to is not None or soft or threshold is not None or state is not None):
        alone = "--why makes its own table: leave out --to, --soft, --state and --threshold."
        raise click.UsageError(alone)
    if to is not None and state is not None:
        raise click.UsageError("--state and --to cannot both be used.")
    found = loaded(fit)
    of_spans = isinstance(found, SpanFit)
    if of_spans and (why or soft):
        raise click.UsageError("--why and --soft are for labels of items, and these are spans.")
    if why:
        show(found.why(items or None), writing)
    elif to is None:
        summary = found.gold(threshold)
        table = summary.table if of_spans else gold_table(found, summary, threshold, soft)
        show(summary, writing, table if state is None else table[table["state"] == state])
    elif of_spans:
        spans_back(found, to, threshold, writing)
    else:
        gold_back(found, to, threshold, question, writing, spreadsheet)


@as_command(
    "coders out --target 0.8 -o coders.csv", "coders out --by label", "coders out --by pair"
)
@option(
    "--by",
    "Content of a row: a coder, a label (recall, precision and confusions), or a pair of labels.",
    ("coder", "label", "pair"),
    "coder",
)
def coders(fit: str, by: str, target: float | None, writing: Writing) -> None:
    """Rate each coder of FIT, or how each label is used.

    Intervals have 95 % probability. With a target the table has the probability that the coder is
    below it. A drawn table begins with the coders to act on; files keep the order of the data. The
    last columns of --by label show how alpha and crowd accuracy would change if each label were
    merged with the label that it is most confused with.
    """
    found = loaded(fit)
    if isinstance(found, SpanFit):
        if by == "pair" or target is not None:
            raise click.UsageError("Spans support --by coder and --by label, but not --target.")
        show(found.coders() if by == "coder" else found.confusion(), writing)
        return
    if by != "coder":
        if target is not None:
            raise click.UsageError("--target is about coders: leave out --by.")
        show(found.labels(pairs=by == "pair"), writing)
        return
    summary = found.coders(target=target)
    show(summary, writing, summary.seen if form_of(writing) == "table" else None)


@as_command("compare hierarchical.nc mace.nc", "compare a.nc b.nc c.nc --by label -o models.csv")
@click.argument("fits", metavar="FIT FIT...", nargs=-1, required=True, type=Named())
@option(
    "--by",
    "What is left out: new items, or one more label of a known item.",
    ("item", "label"),
    "item",
)
def compare(fits: tuple[str, ...], by: By, writing: Writing) -> None:
    """Compare fits by their predictions of held-out data."""
    from annomodels.fitting.compare import compare

    if len(fits) < 2:
        raise click.UsageError("compare needs at least two fits: annomodels compare a.nc b.nc")
    if len(set(fits)) < len(fits):
        raise click.UsageError("The same file is given twice.")
    stems = [Path(path).stem for path in fits]
    names = stems if len(set(stems)) == len(stems) else list(fits)
    show(compare(dict(zip(names, map(loaded, fits), strict=True)), by), writing)


@as_command(
    "next out --budget 500 -o next.csv",
    "next out --coder ana,ben --per-item 2",
    "next out --by coder",
    called="next",
)
@option("--budget", "Maximum number of labels to ask for.", COUNT, 100)
@option(
    "--by",
    "Content of a row: a label to ask for, or a coder to ask or to train.",
    ("label", "coder"),
    "label",
)
@option(
    "--coder coders",
    "Coders who are available: ana,ben [default: all who are good enough, and new ones].",
    metavar="A,B,...",
    callback=split_words,
)
@option("--per-item", "Maximum number of further labels per item.", COUNT, 5)
@option("--per-coder", "Maximum number of labels per coder [default: the busiest coder's].", COUNT)
@option("--stop", "Minimum expected reduction per label.", click.FloatRange(min=0), 0.01)
def next_labels(
    fit: str,
    budget: int,
    by: str,
    coders: tuple[str, ...] | None,
    writing: Writing,
    **limits: Any,
) -> None:
    """Choose items to label next, and the coders to ask."""
    from annomodels.summaries.next_labels import WHOM

    found = loaded(fit)
    names = {label_text(name): name for name in found.data.coders}
    chosen = None if coders is None else [names.get(word, word) for word in coders]
    asked = found.next(budget, coders=chosen, **limits)
    if by == "coder":
        emit(asked.coders, writing, "Whom to ask", WHOM, notes=asked.notes)
    else:
        show(asked, writing)
