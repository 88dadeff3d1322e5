"""Old names of fields and methods, which work for one release with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def renamed(**names: str) -> Callable[[type[T]], type[T]]:
    """Let a class take the old names of its fields and methods; ``names`` has the new ones.

    >>> @renamed(favour="weight")
    ... class Made:
    ...     def __init__(self, weight):
    ...         self.weight = weight
    >>> with warnings.catch_warnings(action="ignore"):
    ...     Made(favour=2).favour
    2
    """

    def with_old_names(kind: type[T]) -> type[T]:
        init = kind.__init__

        @wraps(init)
        def with_new_names(self: T, *args: Any, **options: Any) -> None:
            for old in names.keys() & options.keys():
                _warn(old, names[old])
                options[names[old]] = options.pop(old)
            init(self, *args, **options)

        kind.__init__ = with_new_names  # type: ignore[assignment, method-assign]
        for old, new in names.items():
            setattr(kind, old, _forwarded(old, new))
        return kind

    return with_old_names


def _forwarded(old: str, new: str) -> property:
    def get(self: object) -> object:
        _warn(old, new)
        return getattr(self, new)

    return property(get, doc=f"Old name of ``{new}``, for one release.")


def _warn(old: str, new: str) -> None:
    text = f"The name {old} goes with the next release: write {new}."
    warnings.warn(text, DeprecationWarning, stacklevel=3)
