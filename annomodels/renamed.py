"""Old names of fields, methods, parameters and values, which work for one release."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def renamed(**names: str) -> Callable[[type[T]], type[T]]:
    """Let a class accept old names of fields and methods; ``names`` maps old to new.

    A method that a derived class defines under the old name is called under the new one.

    >>> @renamed(favour="weight", finish="result")
    ... class Made:
    ...     def __init__(self, weight):
    ...         self.weight = weight
    ...
    ...     def result(self):
    ...         return self.weight
    >>> with warnings.catch_warnings(action="ignore"):
    ...     class Doubled(Made):
    ...         def finish(self):
    ...             return 2 * super().finish()
    ...
    ...     Made(favour=2).favour, Doubled(2).result()
    (2, 4)
    """

    def with_old_names(kind: type[T]) -> type[T]:
        before = vars(kind).get("__init_subclass__")

        def of_derived(cls: type[T], /, **options: object) -> None:
            for old, new in names.items():
                _take_override(cls, old, new)
            above: Any = super(kind, cls)
            (before.__get__(None, cls) if before else above.__init_subclass__)(**options)

        kind.__init__ = takes_old(**names)(kind.__init__)  # type: ignore[method-assign]
        kind.__init_subclass__ = classmethod(of_derived)  # type: ignore[assignment]
        for old, new in names.items():
            setattr(kind, old, _Forwarded(old, new, kind))
        return kind

    return with_old_names


def takes_old(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function accept old parameter names; ``names`` maps old to new."""

    def with_old_names(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def with_new_names(*args: P.args, **options: P.kwargs) -> T:
            for old in names.keys() & options.keys():
                _warn(old, names[old])
                options[names[old]] = options.pop(old)
            return function(*args, **options)

        return with_new_names

    return with_old_names


class _Forwarded(property):
    """Old name of an attribute of a class and its subclasses."""

    def __init__(self, old: str, new: str, owner: type) -> None:
        def get(self: object) -> object:
            _warn(old, new)
            first = next(vars(each)[old] for each in type(self).mro() if old in vars(each))
            if first is this or new not in vars(owner):
                return getattr(self, new)
            # super() in an override must not call the override again
            return vars(owner)[new].__get__(self, type(self))

        this = self
        super().__init__(get, doc=f"Old name of ``{new}``, for one release.")


def _take_override(kind: type, old: str, new: str) -> None:
    """Make a subclass method callable by both names, regardless of its definition."""
    own = vars(kind)
    if old in own and new not in own and _is_method(own[old]):
        _warn(f"{kind.__name__}.{old}", new)
        setattr(kind, new, own[old])
    elif old in own or not _is_method(own.get(new)):
        return
    setattr(kind, old, _Forwarded(old, new, kind))


def _is_method(value: object) -> bool:
    return hasattr(value, "__get__") and not isinstance(value, _Forwarded)


def _warn(old: str, new: str) -> None:
    text = f"The name {old} will be removed in the next release: use {new}."
    # shorter than the file names: Python 3.13 does not skip a file by its full name
    skipped = (__file__.removesuffix("py"), "<frozen abc")
    warnings.warn(text, DeprecationWarning, skip_file_prefixes=skipped)
