"""``annomodels labels``: the label scheme."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]

SHORT = (
    *("label", "share", "prevalence", "sensitivity", "precision", "partner", "partner_share"),
    *("alpha_change", "alpha_change_low", "alpha_change_high", "accuracy_gain"),
)
SHORT_PAIRS = (
    *("first", "second", "confusions", "alpha_merged", "alpha_change", "alpha_change_low"),
    *("alpha_change_high", "accuracy_gain"),
)


@click.command(
    "labels",
    epilog=examples("annomodels labels fit.nc", "annomodels labels fit.nc --pairs -o pairs.csv"),
)
@click.argument("fit")
@click.option("--pairs", is_flag=True, help="One row for each pair of labels, not for each label.")
@write_options
@common_options
def command(fit: str, pairs: bool, writing: Writing) -> None:
    """Say of each label of FIT how frequent it is, how well it is used, what it is confused with.

    The last columns say what counting a label and the one that it is most confused with as one
    label would do to alpha and to the accuracy of the crowd.
    """
    from annomodels.cli.places import check_writing
    from annomodels.cli.summary import show

    check_writing(writing)
    short = SHORT_PAIRS if pairs else SHORT
    show(fit, lambda loaded: loaded.labels(pairs=pairs), writing, short)
