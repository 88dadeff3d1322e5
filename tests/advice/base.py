"""Files that situations share: votes, a fit with an audit, marked text and chains."""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from annomodels.cli.main import main
from tests.advice.situations import SHORT


def votes(seed: int, n_items: int = 40, again: float = 0.0) -> str:
    """Labels of five coders as a table; a part of the items is labeled twice by each coder."""
    rng = np.random.default_rng(seed)
    rows = ["item,coder,label,page"]
    for item in range(n_items):
        truth = int(rng.integers(2))
        for coder in "abcde":
            times = 1 + (item < again * n_items)
            given = ["ny"[truth ^ int(rng.random() < 0.2)] for _ in range(times)]
            rows += [f"i{item},{coder},{label},p{item % 2}" for label in given]
    return "\n".join(rows) + "\n"


def make(folder: Path) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        _make()
    finally:
        os.chdir(before)


def _make() -> None:
    Path("votes.csv").write_text(votes(1))
    frame = pd.read_csv("votes.csv")
    two = frame.rename(columns={"label": "tone"}).drop(columns="page")
    two["stance"] = np.random.default_rng(2).choice(["for", "against"], len(two))
    two.to_csv("multi.csv", index=False)
    truth = frame.drop_duplicates("item")[["item", "label"]].head(12)
    truth.to_csv("truth.csv", index=False)
    truth.assign(w=40 / 12).to_csv("weighed.csv", index=False)
    pd.DataFrame({"item": ["i30", "i31"], "decision": ["n", "y"]}).to_csv(
        "decisions.csv", index=False
    )
    Path("decided.csv").write_text("item,label,decision,note,fit\ni30,n,decided,,\n")
    assert main(["run", "votes.csv", "-o", "out", "-q", *SHORT["FAST"].split()]) == 0
    assert main(["audit", "out", "--size", "12", "-o", "audit.csv", "-q"]) == 0
    audit = pd.read_csv("audit.csv")
    audit["label"] = ["n", "y"] * 6
    audit.to_csv("audit.csv", index=False)
    left = frame[~frame["item"].isin(audit["item"])].drop_duplicates("item")[["item", "label"]]
    left.head(5).to_csv("others.csv", index=False)
    for coder, marks in {
        "ana": "T1\tP 0 4\tHaag\nT2\tP 13 18\tDelft\n",
        "ben": "T1\tP 0 4\tHaag\n",
    }.items():
        for document in ("d1", "d2"):
            place = Path("project", coder)
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{document}.txt").write_text("Haag is near Delft")
            (place / f"{document}.ann").write_text(marks)
    assert main(["run", "project", "-o", "marks", "-q", *SHORT["SHORT"].split()]) == 0
    Path("chains").mkdir()
    rows = "#begin document ({}); part 000\nAna (1)\nsaid -\nshe {}\nthat -\nBob (2)\nran (3)\n\n#end document\n"
    for coder, brackets in (("ana", "(1)"), ("ben", "(2)")):
        text = "".join(rows.format(f"news_{n}", brackets) for n in range(2))
        Path("chains", f"{coder}.conll").write_text(text)
