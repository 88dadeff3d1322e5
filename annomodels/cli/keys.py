"""Rare options: keys of an option ``--read KEY=VALUE``, and a file of options."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from annomodels.errors import meant

# headings of shared options in --help
SECTIONS = {
    "reading": "Data",
    "sampling": "Model",
    "assumptions": "Assumptions",
    "writing": "Output",
    "true_labels": "True labels",
    "common": "General",
}
# options that only --help-all shows, for commands with keys
RARE = (
    *("coder_columns", "group", "units", "groups", "covariates", "engine", "chains", "draws"),
    *("debug", "stream", "cache", "spreadsheet", "earlier"),
)
JSON = "--json"  # short for --format json, as -o is for --output
LONGEST_CHOICE = 30  # characters of the longest list of choices next to its option


class KeyOption(click.Option):
    """Key of an option ``--group KEY=VALUE``; :meth:`Spelled.parse_args` converts it."""

    @property
    def spelled(self) -> str:
        """Group and key as typed."""
        return self.opts[-1].replace(".", " ", 1)

    @property
    def alone(self) -> bool:
        """Return True if the key needs no value."""
        return isinstance(self.type, click.types.BoolParamType)

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return f"'{self.spelled}'"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        value = "" if self.alone else f"={self.make_metavar(ctx)}"
        return record and (f"{self.spelled}{value}", record[1])


class Spelled(click.Command):
    """Command with keys, such as ``--read sets`` and ``--read skip_rows=2``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; name a key as it is typed if it was taken for an option."""
        words, keys = list(self._spelled_out(ctx, args)), self.keys()
        try:
            return super().parse_args(ctx, words)
        except click.NoSuchOption as error:
            name, said = error.option_name.lstrip("-").replace("-", "_"), error.message
            for named in keys.values():
                if name in named:
                    said += f" It is a key: {named[name].spelled}=VALUE."
            near = () if said != error.message else error.possibilities or ()
            near = [each.replace(".", " ") for each in near]
            raise click.NoSuchOption(error.option_name, said, near, ctx) from error

    def keys(self) -> dict[str, dict[str, KeyOption]]:
        found: dict[str, dict[str, KeyOption]] = {}
        for each in self.params:
            if isinstance(each, KeyOption):
                group, _, name = each.opts[-1].removeprefix("--").partition(".")
                found.setdefault(group, {})[name] = each
        return found

    def _spelled_out(self, ctx: click.Context, args: list[str]) -> Iterator[str]:
        groups, words = self.keys(), iter(args)
        for word in words:
            if word == JSON:
                word = "--format=json"
            flag, sign, rest = word.partition("=")
            if flag.removeprefix("--") not in groups or not flag.startswith("--"):
                yield word
                if word == "--":
                    yield from words
                continue
            pair = rest if sign else next(words, "")
            yield self._option(ctx, groups[flag.removeprefix("--")], flag, pair)

    def _option(
        self, ctx: click.Context, keys: Mapping[str, KeyOption], flag: str, pair: str
    ) -> str:
        name, sign, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if name not in keys:
            own = f"--{name.replace('_', '-')}"
            hint = meant(name, keys, show=str) or f"Use one of {', '.join(keys)}."
            if any(own in each.opts for each in self.params):
                hint = f"It is an option: {own}."
            raise click.UsageError(f"{flag} has no key {name!r}. {hint.rstrip()}", ctx)
        if not sign and not keys[name].alone:
            raise click.UsageError(f"{flag} {name}: write {name}=VALUE.", ctx)
        return f"{flag}.{name}={value if sign else 'yes'}"

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters, plus ``--help-all`` if the help omits options."""
        found = super().get_params(ctx)
        if not any(isinstance(each, KeyOption) for each in found):
            return found
        more = click.Option(
            ["--help-all"], is_flag=True, expose_value=False, is_eager=True,
            help="Show all options and keys and exit.", callback=_help_all,
        )  # fmt: skip
        return [*found, more]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: those of the command first, then the shared ones by subject."""
        rows: dict[str, list[tuple[str, str]]] = {}
        parameters = self.get_params(ctx)
        short = any(isinstance(each, KeyOption) for each in parameters) and not ctx.meta.get(ALL)
        for parameter in parameters:
            rare = isinstance(parameter, KeyOption) or parameter.name in RARE
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record and not (short and rare):
                general = {"--help", "--help-all"} & {*parameter.opts}
                usual = SECTIONS["common"] if general else "Common"
                rows.setdefault(vars(parameter).get("section", usual), []).append(record)
        for title in ("Common", *SECTIONS.values()):
            if records := rows.get(title):
                with formatter.section(title):
                    formatter.write_dl(records)


ALL = "annomodels.help_all"


def _help_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def options_from(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    """Use the options of a file as defaults."""
    if path is None or not isinstance(ctx.command, Spelled):
        return
    from annomodels.io.border import decoded, raw_bytes

    try:
        found = tomllib.loads(decoded(raw_bytes(path), path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        wrong = f"{path} is not TOML: {error}."
        raise click.BadParameter(wrong, param=parameter) from None
    groups: dict[str, dict[str, click.Option]] = {"": {}}
    for group, keys in ctx.command.keys().items():
        groups[group] = {**keys}
    for each in ctx.command.params:
        if isinstance(each, click.Option) and not isinstance(each, KeyOption):
            groups[""][each.opts[-1].removeprefix("--")] = each
    ctx.default_map = dict(_values(found, groups, path, parameter))


def _values(
    found: Mapping[str, Any],
    groups: Mapping[str, Mapping[str, click.Option]],
    path: str,
    parameter: click.Parameter,
) -> Iterator[tuple[str, Any]]:
    wrong = []
    tables = {key: value for key, value in found.items() if isinstance(value, dict)}
    for group, said in {"": {k: v for k, v in found.items() if k not in tables}, **tables}.items():
        known = groups.get(group, {})
        for key, value in said.items():
            option = known.get(key) or known.get(key.replace("_", "-"))
            if option is None:
                where = f" in [{group}]" if group else ""
                wrong.append(f"unknown {key!r}{where}. {meant(key, known, show=str)}".rstrip())
                continue
            several = [str(each) for each in value] if isinstance(value, list) else None
            if several is not None and not option.multiple:
                value = ",".join(several)
            elif option.multiple:
                value = [str(value)] if several is None else several
            yield str(option.name), value
    if wrong:
        raise click.BadParameter(f"{path}: {' '.join(wrong)}", param=parameter)


def list_choices(command: click.Command) -> None:
    """Move long lists of choices to the help text, where they are wrapped."""
    for option in command.params:
        if not isinstance(option, click.Option) or not isinstance(option.type, click.Choice):
            continue
        choices = [str(choice) for choice in option.type.choices]
        if option.metavar is None and len("|".join(choices)) > LONGEST_CHOICE:
            option.metavar = "NAME"
            option.help = f"{option.help} One of {', '.join(choices)}."
