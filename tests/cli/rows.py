"""Tables that commands read and write."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

FEW = ("--chains", 2, "--draws", 60, "--sampler", "warmup=30")
"""Options of a short run."""


def rows_of(table: str | Path) -> list[dict[str, str]]:
    """Read a file, or a text that was printed, in CSV or TSV."""
    text = table if isinstance(table, str) else table.read_text("utf-8")
    mark = "\t" if "\t" in text.partition("\n")[0] else ","
    return list(csv.DictReader(io.StringIO(text), delimiter=mark))


def write_rows(path: Path, rows: Iterable[str], header: str = "item,coder,label") -> Path:
    """Write lines under a header, as they are."""
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8", newline="")
    return path


def judge(path: Path, to: Path, answers: Mapping[str, str]) -> Path:
    """Fill in the labels of a table to be judged."""
    rows = rows_of(path)
    with to.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows([{**row, "label": answers[row["item"]]} for row in rows])
    return to
