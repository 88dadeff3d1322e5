"""Follow advice: run what gives it, do what it says, and see that this helps.

A situation is a line that gives advice and lines that follow it. Two rules are the same for all:
what the lines that follow change is named by the advice, and every option that the advice names
is used (or left out) by one of them.
"""

import re
import shlex
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import annomodels as am
from annomodels import errors
from annomodels.cli.main import COMMANDS, main
from tests.advice.sites import PACKAGE, Site

HEARD = Path(__file__).with_name("heard.json")
"""What each situation heard when it was recorded, by the name of its test."""
EXAMPLES = Path(__file__).parents[1] / "io" / "cases" / "newcomer"
# the advice to ask an expert, which no line can follow
BY_AN_EXPERT = re.compile(r"annomodels audit FIT --size .*? labels are wrong\.")
KEYS = "--read|--sampler|--assume"
FLAG = re.compile(rf"(?<![\w\[-])(?:(?:{KEYS}) '?[a-z_]+|--[a-z][a-z-]+|-o)(?![\w-])")
KEYWORD = re.compile(r"(?<![\w./-])([a-z_]+)=(?!\w+\.csv)")


@dataclass(frozen=True)
class Situation:
    """A line that gives advice, and the lines that follow it.

    A line is a command (``agree votes.csv``) or a call of Python (``am.read('votes.csv')``).
    """

    before: str
    after: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    setup: tuple[str, ...] = ()
    """Lines that are run first."""
    apart: tuple[str, ...] = ()
    """Options that the advice names to say what they are, or that no test can follow."""
    also: tuple[str, ...] = ()
    """Options that a line needs besides, such as the table of a column that is named."""
    stdin: str = ""
    stays: bool = False
    """Whether the advice is given again: it asks for more than a test can do."""
    compiles: bool = False
    """Whether a line would compile a PyMC model, which takes half a minute."""

    @property
    def id(self) -> str:
        words = re.sub(r"\W+", "-", self.before).strip("-")
        return f"{words[:50]}-{zlib.crc32(self.before.encode()):08x}"


@dataclass
class Heard:
    """What was said, and from where."""

    code: int
    text: str
    spelled: set[tuple[str, int]]
    """File and line of each option and call that the text names."""


def prepare(situation: Situation) -> None:
    """Write the files of a situation into this folder, and run what comes first."""
    shutil.copytree(EXAMPLES, ".", dirs_exist_ok=True)
    for name, text in situation.files.items():
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for line in situation.setup:
        first = heard(line)
        assert first.code == 0, first.text


def named_in(text: str) -> set[str]:
    """Return the options that a text names, as flags or as keywords."""
    flags = {flag.replace("'", "") for flag in FLAG.findall(text)}
    return flags or {f"{name}=" for name in KEYWORD.findall(text)}


def heard(line: str, stdin: str = "") -> Heard:
    words = shlex.split(line)
    out, spelled = StringIO(), set[tuple[str, int]]()
    with _spelled_to(spelled), redirect_stdout(out), redirect_stderr(out):
        if words[0] in COMMANDS:
            before, sys.stdin = sys.stdin, StringIO(stdin)
            try:
                code = main(words)
            finally:
                sys.stdin = before
        else:
            code = 0
            try:
                print(_called(line))
            except Exception as error:
                code = 1
                print(error)
    return Heard(code, " ".join(out.getvalue().split()), spelled)


def _called(line: str) -> object:
    import narwhals

    names: dict[str, Any] = {"am": am, "np": np, "pd": pd, "Path": Path, "nw": narwhals}
    *first, last = line.split(";; ")
    for statement in first:
        exec(statement, names)
    return eval(last, names)


@contextmanager
def _spelled_to(spelled: set[tuple[str, int]]) -> Iterator[None]:
    """Note where the options and calls were made that a text names."""
    made: dict[int, tuple[str, int]] = {}
    kept: list[object] = []  # so that no number is given twice
    plain = {kind: kind.__init__ for kind in (errors.Option, errors.Verb)}

    def noting(kind: type) -> Callable[..., None]:
        def init(self: object, *args: Any, **more: Any) -> None:
            plain[kind](self, *args, **more)
            frame = sys._getframe(1)
            made[id(self)] = (frame.f_code.co_filename, frame.f_lineno)
            kept.append(self)

        return init

    spell = errors._spell

    def noted(named: errors.Option | errors.Verb) -> str:
        if id(named) in made:
            file, line = made[id(named)]
            if file.startswith(str(PACKAGE)):
                spelled.add((Path(file).relative_to(PACKAGE).as_posix(), line))
        return spell(named)

    for kind in plain:
        kind.__init__ = noting(kind)  # type: ignore[method-assign]
    errors._spell = noted
    try:
        yield
    finally:
        errors._spell = spell
        for kind, init in plain.items():
            kind.__init__ = init  # type: ignore[method-assign]


def says(site: Site, found: Heard) -> bool:
    """Return True if the advice of a place was heard."""
    if site.pattern:
        return re.search(site.pattern, found.text) is not None
    lines = range(site.first, site.last + 1)
    return any(file == site.file and line in lines for file, line in found.spelled)


def advice_in(found: Heard) -> str:
    """Return the part of a text that says what to do: after ``fix:``, else all of it."""
    fixes = re.findall(r"fix: (.*?)(?= \d+\. | where: | try: |$)", found.text)
    return " ".join(fixes) or BY_AN_EXPERT.sub("", found.text)


# options of sampling, which keep the lines of a test short, and the place of an output
FREE = {"--chains", "--draws", "--engine", "--model", "-o", "--force", "--no-report"}


def unheeded(situation: Situation, advice: str) -> set[str]:
    """Return the options that an advice names and that no line uses or leaves out."""
    before, used = named_in(situation.before), set[str]()
    for line in situation.after:
        used |= named_in(line) | (before - named_in(line))
    return named_in(advice) - used - set(situation.apart) - {"--help"}


def unadvised(situation: Situation, text: str) -> set[str]:
    """Return the options that lines add or leave out though the text does not name them."""
    before = named_in(situation.before)
    changed = set[str]().union(*(named_in(line) ^ before for line in situation.after))
    free = {each for each in changed if each in FREE or each.startswith("--sampler")}
    return changed - named_in(text) - set(situation.also) - free


def sentences_of(found: Heard) -> list[str]:
    """Return the sentences that say what is wrong, or those that name an option."""
    if found.code and "error: " in found.text:
        text = found.text.partition("error: ")[2]
        return [re.split(r"(?<=\.) | fix: | where: ", text)[0]]
    sentences = re.split(r"(?<=\.) ", BY_AN_EXPERT.sub("", found.text))
    return [each for each in sentences if found.code or named_in(each)]


def given_again(situation: Situation, first: Heard, after: Heard) -> list[str]:
    """Return the sentences of an advice that are said again after it was followed."""
    return [each for each in sentences_of(first) if each in after.text and not situation.stays]
