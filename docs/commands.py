"""One reference page per command, made from its help."""

from __future__ import annotations

import click

from annomodels.cli.main import COMMANDS, cli, load_command

__all__ = ["page", "pages"]

WIDTH = 96


def page(name: str) -> str:
    """Return the page of a command: its summary, and its help as the terminal shows it."""
    command = load_command(name)
    parent = click.Context(cli, info_name="annomodels", terminal_width=WIDTH)
    context = click.Context(
        command, parent, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH
    )
    text = command.get_help(context)
    first = " ".join(text.split("\n\n")[1].split())
    return f"# `annomodels {name}`\n\n{first}\n\n```text\n{text.rstrip()}\n```\n"


def pages() -> dict[str, str]:
    """Return the pages of all commands, by name."""
    return {name: page(name) for name in COMMANDS}
