"""Record what commands write on small data: ``python tests/golden/record.py [CASE ...]``.

Each case is a folder below ``recorded/``: the first rows of tables as CSV and as JSON.
A change of a number there needs a reason in the commit.
"""

import contextlib
import csv
import functools
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from annomodels.auditing import estimate as estimating
from annomodels.cli.main import main
from annomodels.fitting import load as loading

RECORDED = Path(__file__).parent / "recorded"
CSV_ROWS, JSON_ROWS = 24, 2
SMALL = ["--seed", "1", "--chains", "2", "--sampler", "warmup=60", "--draws", "80"]
RUN_FILES = ("gold.csv", "coders.csv", "agreement.csv")

# Five grades by six coders: three shift some of them, one does not look at the items.
GRADES = [
    (f"g{i:02}", coder, str(min(5, max(1, 1 + i % 5 + shift * ((i * 7 + j * 3) % 4 == 0)))))
    for i in range(40)
    for j, (coder, shift) in enumerate([("ada", 0), ("bo", 1), ("cy", -1), ("di", 1), ("ed", 2)])
    if (i + j) % 6
] + [(f"g{i:02}", "flo", str(1 + (i * 3) % 5)) for i in range(0, 40, 2)]

# Sliders from 0 to 100: coders with a bias and a noise of their own.
SLIDERS = [
    (f"s{i:02}", coder, f"{20 + (i * 13) % 60 + bias + noise * ((i * 5 + j * 11) % 7 - 3):.1f}")
    for i in range(30)
    for j, (coder, bias, noise) in enumerate([("ada", 0, 1), ("bo", 6, 1.5), ("cy", -4, 3)])
]

OF_CLASSES = {
    "coders": ["coders", "FIT", "--target", ".8"],
    "labels": ["coders", "FIT", "--by", "label"],
    "pairs": ["coders", "FIT", "--by", "pair"],
    "gold": ["gold", "FIT", "--soft", "--threshold", ".9"],
    "why": ["gold", "FIT", "--why"],
    "next": ["next", "FIT", "--budget", "30"],
    "whom": ["next", "FIT", "--budget", "30", "--by", "coder"],
}
OF_NUMBERS = {name: OF_CLASSES[name][:2] for name in ("coders", "gold")}
FEW = {name: OF_CLASSES[name] for name in ("coders", "labels", "gold")}
OF_AUDITS = ("overall", "thresholds", "coders", "classes")


def cases(work: Path) -> Iterator[tuple[str, list[str], dict[str, list[str]]]]:
    """Name, words of ``run`` and tables of each case; files are written to `work`."""
    for name, rows in (("grades", GRADES), ("sliders", SLIDERS)):
        text = "".join(f"{','.join(row)}\n" for row in [("item", "coder", "label"), *rows])
        (work / f"{name}.csv").write_text(text)
    yield "anesthesia", ["dataset:anesthesia"], OF_CLASSES
    yield "trains", ["dataset:trains"], OF_CLASSES
    yield "crowd", ["dataset:crowd"], OF_CLASSES
    yield "grades", [str(work / "grades.csv"), "--scale", "ordinal"], OF_CLASSES
    yield (
        "sliders",
        [str(work / "sliders.csv"), "--scale", "interval", "--model", "interval"],
        OF_NUMBERS,
    )
    yield "trains-hierarchical", ["dataset:trains", "--model", "hierarchical"], OF_CLASSES
    yield "caries-dawid-skene", ["dataset:caries", "--model", "dawid-skene"], FEW
    yield "grades-mace", [str(work / "grades.csv"), "--model", "mace"], FEW


def outputs(
    name: str, words: list[str], tables: dict[str, list[str]], work: Path
) -> dict[str, str]:
    """Text of each file of a case."""
    folder = work / name
    folder.mkdir()
    fit = str(folder / "fit.nc")
    if name == "sliders":
        _call(["run", *words, *SMALL, "--no-report", "-o", str(folder)])
        found = {}
    else:
        verdict = json.loads(
            _call(["run", *words, "-o", str(folder), "--no-report", "--format", "json", *SMALL])
        )
        verdict["files"] = [Path(path).name for path in verdict["files"]]
        found = {"run.json": json.dumps(verdict, indent=1, ensure_ascii=False) + "\n"}
        found |= {file: _first((folder / file).read_text()) for file in RUN_FILES}
    # the fit is loaded once, and each of its tables computed once for both forms
    with mock.patch.object(loading, "load", functools.cache(loading.load)):
        for table, command in tables.items():
            found |= _both(table, [fit if word == "FIT" else word for word in command])
    if name in ("anesthesia", "crowd"):
        found |= _both("check", ["check", words[0]])
    if name == "crowd":
        found |= _audited(folder)
    return found


def _audited(folder: Path) -> dict[str, str]:
    """Draw items, judge every fourth otherwise than the gold label, and estimate."""
    drawn = folder / "audit.csv"
    _call(["audit", str(folder), "--size", "20", "--seed", "1", "-o", str(drawn)])
    found = {"audit.csv": drawn.read_text()}
    gold = {row["item"]: row["label"] for row in csv.DictReader(io.StringIO(_gold(folder)))}
    judged = list(csv.DictReader(io.StringIO(found["audit.csv"])))
    labels = sorted(set(gold.values()))
    for n, row in enumerate(judged):
        row["label"] = labels[0] if n % 4 == 3 else gold[row["item"]]
    with drawn.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(judged[0]))
        writer.writeheader()
        writer.writerows(judged)
    words = ["estimate", str(folder), "--truth", str(drawn), "--seed", "1", "--format", "csv"]
    estimate = estimating.estimate
    made: list[Any] = []  # all tables are of one estimate, which takes seconds

    def once(*args: Any, **options: Any) -> Any:
        made[:] = made or [estimate(*args, **options)]
        return made[0]

    with mock.patch.object(estimating, "estimate", once):
        for table in OF_AUDITS:
            found[f"estimate-{table}.csv"] = _first(_call([*words, "--table", table]))
    return found


def _gold(folder: Path) -> str:
    return (folder / "gold.csv").read_text()


def _both(name: str, words: list[str]) -> dict[str, str]:
    told = json.loads(_call([*words, "--format", "json"]))
    rows = told[:JSON_ROWS] if isinstance(told, list) else told
    return {
        f"{name}.csv": _first(_call([*words, "--format", "csv"])),
        f"{name}.json": json.dumps(rows, indent=1, ensure_ascii=False) + "\n",
    }


def _first(text: str) -> str:
    rows = list(csv.reader(io.StringIO(text)))[: CSV_ROWS + 1]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _call(words: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    if code:
        raise SystemExit(f"annomodels {' '.join(words)}: exit code {code}\n{err.getvalue()}")
    return out.getvalue()


def record(chosen: Sequence[str]) -> None:
    """Write the chosen cases again, or all."""
    os.environ["CI"] = "1"
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        every = {
            name: outputs(name, *rest, work)
            for name, *rest in cases(work)
            if not chosen or name in chosen
        }
    for name, files in every.items():
        shutil.rmtree(RECORDED / name, ignore_errors=True)
        (RECORDED / name).mkdir(parents=True)
        for file, text in files.items():
            (RECORDED / name / file).write_text(text)
        print(f"{name}: {len(files)} files")


if __name__ == "__main__":
    record(sys.argv[1:])
