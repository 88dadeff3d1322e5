"""A click group that knows its commands by name and imports one only when it is used."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

import click

__all__ = ["COMMANDS", "LazyGroup"]

COMMANDS: dict[str, str] = {
    "run": "The main job: check, agreement, fit, report, gold, coders, items in one folder.",
    "check": "What is in a file of labels, and what looks odd in it.",
    "advise": "Which model suits the labels in a file, in sentences.",
    "agree": "Agreement coefficients with intervals; a quality gate with --fail-if.",
    "fit": "Fit one model and save it.",
    "interval": "Labels that are numbers: true values, bias and noise of coders, in one folder.",
    "gold": "Gold label of each item with its probability, from a saved fit.",
    "coders": "Quality of each coder with intervals, from a saved fit.",
    "items": "Which items are easy, hard, contested or in need of labels, from a saved fit.",
    "labels": "How frequent, well used and often confused each label is, from a saved fit.",
    "next": "Which labels to ask for next, and by whom, from a saved fit.",
    "compare": "Which of several saved fits predicts held-out items or labels best.",
    "methods": "The methods section to paste, as Markdown, LaTeX or BibTeX, from a saved fit.",
    "coref": "Coreference: agreement on chains, ambiguous places, silver chains.",
    "report": "The page to forward: one HTML file, from a saved fit.",
    "convert": "Any export to a long table, or to the layout of another program.",
    "formats": "What can be read and written, and how each format is recognised.",
    "datasets": "List the bundled data sets, or write one to a file.",
    "simulate": "Made-up labels of coders and items as you assume them to be.",
    "design": "How many coders and labels per item reach a target, from assumptions or a pilot.",
    "completion": "The script that lets bash, zsh or fish complete commands and options.",
    "doctor": "Versions, cores, caches, and what is wrong with this installation.",
}
"""One line of help for each command; the command ``x`` is ``annomodels.cli.commands.x.command``."""


class LazyGroup(click.Group):
    """Group whose help is written from :data:`COMMANDS` without importing any command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"annomodels.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed, or name those that look like it."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            close = difflib.get_close_matches(name, COMMANDS, n=2)
            hint = f"Did you mean {' or '.join(close)}?" if close else f"Use {_any(COMMANDS)}."
            raise click.UsageError(f"There is no command {name!r}. {hint}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and say where options stand when one stands before the command."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            text = f"{error.format_message()} Options stand after the command."
            raise click.UsageError(text, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _any(names: Any) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}"
