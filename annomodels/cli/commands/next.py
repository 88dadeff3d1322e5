"""``annomodels next``: labels to ask for next, and their coders."""

from __future__ import annotations

from typing import Any

import click

from annomodels.cli.declared import as_command
from annomodels.cli.options import COUNT, Writing, option, split_words
from annomodels.cli.tables import emit, loaded, show
from annomodels.data.names import label_text


@as_command(
    "next out --budget 500 -o next.csv",
    "next out --coder ana,ben --per-item 2",
    "next out --by coder",
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
def command(
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
