"""Pages of help in lines that keep words, names with hyphens and examples in one piece."""

from __future__ import annotations

from collections.abc import Iterable

import click

from annomodels.cli.screen.wrapping import size, wrapped

_AS_IT_IS = "\b"  # how click marks a paragraph that keeps its lines


class Formatter(click.HelpFormatter):
    """Formatter of click that breaks lines at spaces only."""

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = []
        for paragraph in text.split("\n\n"):
            lines = paragraph.strip("\n").split("\n")
            if lines[0].strip() == _AS_IT_IS:
                lines = lines[1:]
            else:
                lines = wrapped(paragraph, self.width - self.current_indent)
            paragraphs.append("\n".join(indent + line for line in lines))
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str | None]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names, and beside them what they are."""
        most = min(col_max, self.width * 2 // 5)
        first = min(max((size(name) for name, _ in rows), default=0), most) + col_spacing
        room = self.width - self.current_indent - first
        for name, text in rows:
            lines = wrapped(text or "", room)
            head = " " * self.current_indent + name
            if size(name) <= first - col_spacing:
                head += " " * (first - size(name)) + (lines.pop(0) if lines else "")
            self.write(head.rstrip() + "\n")
            for line in lines:
                self.write(" " * (self.current_indent + first) + line + "\n")
