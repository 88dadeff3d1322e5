"""Options for reading a file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from annomodels.data.validation import EMPTY
from annomodels.errors import AnnotationError, Option, meant
from annomodels.io.tables.keys import Names, parts_of

if TYPE_CHECKING:
    from annomodels.io.tables.guard import Repeats


def named[T](name: str, forms: Mapping[str, T]) -> T:
    if name not in forms:
        names = ["auto", *forms]
        remedy = f"{meant(name, names)}Use one of {', '.join(names)}."
        raise AnnotationError(f"Unknown format {name!r}.", remedy=remedy, code="unknown-format")
    return forms[name]


def check_choice(option: str, value: object, *known: str) -> None:
    if value not in known:
        remedy = f"Use {', '.join(map(repr, known[:-1]))} or {known[-1]!r}."
        code = f"unknown-{option.replace('_', '-')}"
        raise AnnotationError(f"{Option(option, value)} is unknown.", remedy=remedy, code=code)


def check_words(function: str, words: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for word in words:
        if word not in names:
            more = [name for name in names if word.startswith(name)]
            hint = meant(word, names, *more, most=2, show=str)
            what = f"{function}() has no keyword {word!r}. {hint}It has {', '.join(names)}."
            raise TypeError(what)


def checked[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Make a function list its keywords in the error about an unknown one."""
    names = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def inner(*args: P.args, **words: P.kwargs) -> T:
        check_words(function.__name__, words, names)
        return function(*args, **words)

    inner.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
    return inner


@dataclass(frozen=True)
class Options:
    item: str | None = None
    coder: str | None = None
    label: str | None = None
    truth: str | None = None
    group: str | None = None
    text: str | None = None
    question: str | None = None
    question_column: str | None = None
    missing: frozenset[str] = frozenset()
    coder_columns: tuple[str, ...] | None = None
    models: bool = False
    sets: bool = False
    every: bool = False
    aside: tuple[str, ...] = ()
    format: str = "auto"
    units: str | None = None
    seen: str | None = None  # whether coders read the documents that they did not mark
    repeats: Repeats = "error"
    several: bool = False  # files or sheets are joined by their items
    names: Names | None = None  # item columns as given, before they are matched to one file

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if "str | None" in str(field.type) and value is not None and not isinstance(value, str):
                what = f"{field.name}={value!r} is not a name."
                raise AnnotationError(what, remedy="Give the name as text.")

    @property
    def forced(self) -> bool:
        return self.format != "auto"

    @property
    def extra(self) -> dict[str, str]:
        named = {"truth": self.truth, "group": self.group, "text": self.text}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def taken(self) -> tuple[str, ...]:
        return (*self.extra.values(), *(parts_of(self.item) if self.item else ()), *self.aside)

    @property
    def roles(self) -> Mapping[str, str | None]:
        return {"item": self.item, "coder": self.coder, "label": self.label}

    def is_skip(self, label: object) -> bool:
        return label in EMPTY or label in self.missing
