"""The page a lead forwards: one HTML file that needs no network and no script to be read.

``collect`` computes every summary once, ``tables`` and ``figures`` lay them out, ``page`` writes
the file. May import everything but the command line; nothing but the command line imports it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__: list[str] = []


class _Callable(ModuleType):
    """Lets ``annomodels.report(fit, path)`` work after Python has put this folder in its place.

    Importing a file of a folder binds the folder's name in the package, and the function that is
    offered there has the same name.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        from annomodels.report.page import report

        return report(*args, **options)


sys.modules[__name__].__class__ = _Callable
