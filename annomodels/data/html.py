"""HTML for notebooks of objects that are text."""

from __future__ import annotations

from html import escape


class Html:
    """Shows notebooks the text of an object, its first line in bold."""

    def _lines(self) -> list[str]:
        return repr(self).split("\n")

    def _repr_html_(self) -> str:
        first, *rest = map(escape, self._lines())
        return f"<p><strong>{first}</strong></p>" + "".join(f"<p>{line}</p>" for line in rest)
