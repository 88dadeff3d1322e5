"""Make one gold layer of spans from several coders, and write it back for brat.

The project is simulated: 40 short notices, in which four coders mark persons and places. One
overlooks many spans, and one includes titles such as "Dr." in the names. The right spans are
known, and the model never sees them. For your data, replace the folder by your project.

Run it with: python examples/gold_spans.py
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import annomodels as am

PEOPLE = ["Anna Haag", "Bo Lind", "Dr. Cho", "Eva Roth", "Finn Maas", "Prof. Ode Kay"]
PLACES = ["Bonn", "New Ulm", "Porto", "Sao Paulo", "Lake Town", "Graz"]
FORMS = ["{} moved from {} to {}.", "In {} she met {} and {}.", "{} lives in {}; {} does not."]


def project(folder: Path, notices: int = 40) -> set[tuple[str, int, int, str]]:
    """Write a brat project, a folder for each coder; return the right spans."""
    draw = random.Random(1)
    right = set()
    for n in range(notices):
        names = [(draw.choice(PEOPLE), "PER"), (draw.choice(PLACES), "LOC")]
        names.append((draw.choice(PEOPLE), "PER") if n % 3 else (draw.choice(PLACES), "LOC"))
        parts = draw.choice(FORMS).split("{}")
        text, spans = parts[0], []
        for (name, label), part in zip(names, parts[1:], strict=True):
            start = len(text) + (name.index(". ") + 2 if ". " in name else 0)
            text += name
            spans.append((start, len(text), label))
            text += part
        document = f"notice_{n + 1:02d}"
        right |= {(document, *span) for span in spans}
        for coder, missed in {"ana": 0.05, "ben": 0.1, "cho": 0.4, "eva": 0.1}.items():
            lines = []
            for start, end, label in spans:
                if draw.random() < missed:
                    continue
                given = "LOC" if label == "PER" and draw.random() < 0.06 else label
                if coder == "eva" or draw.random() < 0.05:  # with the title before a name
                    start = text.rfind(" ", 0, start - 1) + 1 if text[start - 2] == "." else start
                lines.append(f"T{len(lines) + 1}\t{given} {start} {end}\t{text[start:end]}\n")
            (folder / coder).mkdir(exist_ok=True, parents=True)
            (folder / coder / f"{document}.txt").write_text(text)
            (folder / coder / f"{document}.ann").write_text("".join(lines))
    return right


def main() -> None:
    """Read the project, fit, compare with the right spans and write back."""
    with tempfile.TemporaryDirectory() as place:
        right = project(Path(place) / "project")
        spans = am.read_spans(Path(place) / "project")
        print(spans)

        # The same seed gives the same result.
        fit = am.fit(spans, seed=1)
        gold = fit.gold()
        print(gold.as_text(5))
        print(f"\n{fit.quality()}\n\n{fit.coders()}")

        # How good is it? The right spans are known here.
        table = gold.table[["document", "start", "end", "label"]]
        found = set(table.itertuples(index=False, name=None))
        hits = len(found & right)
        print(f"\nPrecision {hits / len(found):.2f}, recall {hits / len(right):.2f}.")

        # Back into the tool: a folder that brat opens.
        folder = am.write_gold(gold, Path(place) / "gold", "brat", texts=spans)
        print(sorted(path.name for path in folder.iterdir())[:4])


if __name__ == "__main__":
    main()
