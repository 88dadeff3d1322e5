"""``annomodels completion``: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

from annomodels.cli.options import common_options, examples

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    epilog=examples(
        "annomodels completion bash > ~/.local/share/bash-completion/completions/annomodels",
        "annomodels completion zsh > ~/.zfunc/_annomodels",
        "annomodels completion fish > ~/.config/fish/completions/annomodels.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--json", "as_json", is_flag=True, help="Write shell and script as JSON.")
@common_options
def command(shell: str, as_json: bool) -> None:
    """Print the completion script of SHELL, which stands where the examples put it.

    bash needs version 4.4 and the package bash-completion; for zsh the folder must be in fpath.
    """
    from click.shell_completion import get_completion_class

    from annomodels.cli.tables import to_json

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"This version of click has no completion for {shell}.")
    # not .source(), which for bash starts a bash to ask for its version
    maker = kind(
        click.get_current_context().find_root().command, {}, "annomodels", "_ANNOMODELS_COMPLETE"
    )
    script = maker.source_template % maker.source_vars()
    if as_json:
        script = to_json({"shell": shell, "script": script})
    click.echo(script, nl=not script.endswith("\n"))
