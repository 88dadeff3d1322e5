"""``annomodels doctor``: versions, cores, caches and problems."""

from __future__ import annotations

import click

from annomodels.cli.options import Writing, common_options, examples, write_options

__all__ = ["command"]


@click.command("doctor", epilog=examples("annomodels doctor --json"))
@write_options
@common_options
@click.pass_context
def command(ctx: click.Context, writing: Writing) -> None:
    """Print versions, cores and caches, and what is wrong with this installation.

    The exit code is 5 when a package that is always needed is missing or too old.
    """
    import pandas as pd

    from annomodels.cli.exits import DONE, EXTRA
    from annomodels.cli.installation import facts
    from annomodels.cli.places import check_writing
    from annomodels.cli.session import note, plural
    from annomodels.cli.tables import emit

    check_writing(writing)
    found = facts()
    rows = [(fact.name, fact.value, fact.problem) for fact in found]
    emit(pd.DataFrame(rows, columns=["name", "value", "problem"]), writing, "annomodels doctor")
    wrong = [fact for fact in found if fact.problem]
    note(f"{plural(len(wrong), 'problem')} found." if wrong else "No problem found.")
    ctx.exit(EXTRA if any(fact.needed for fact in wrong) else DONE)
