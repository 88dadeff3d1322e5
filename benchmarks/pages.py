"""The report of every bundled set, every public set and every export, in a real browser.

    python benchmarks/pages.py [--only snow_rte toloka.tsv] [--keep FOLDER] [--screens]

Each page is opened light and dark at 320, 768, 1280 and 3840 px; every column of every table is
sorted, every filter used, and the page is laid out for paper: see ``tests/report/looking.py``. The
exit code is 1 when anything is wrong with any page. The fits are short: what is looked at is the
page, not the posterior. Needs Chromium; the sets are read from ``shared`` beside the checkout or
from $ANNOMODELS_SHARED, and left out without it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

import annomodels as am

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("ANNOMODELS_SHARED") or ROOT.parent / "shared")
SHORT = {"chains": 2, "draws": 60, "warmup": 60, "extend": False, "seed": 1}
MOST_LABELS = 60  # numbers with more values than that are cut into five classes
SPANS = {"brat", "webanno", "cas"}
REFUSED = {"sagemaker_output.manifest"}  # hold consolidated labels only
NAMES = {"argilla_records.json", "argilla_hf.jsonl"}  # say coders by identifier
TEXTS = 4
NO_LABELS = {"argilla_users.json"}


def neighbor(name: str) -> ModuleType:
    """Load a module of the tests of the report."""
    path = ROOT / "tests" / "report" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"report_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"report_{name}"] = module
    spec.loader.exec_module(module)
    return module


def public(folder: Path) -> am.Annotations:
    """Read a public set; many numbers become five classes of equal size."""
    path = next(path for path in (folder / "labels.csv", folder / "labels.csv.gz") if path.exists())
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame = frame[frame["label"] != ""]
    if frame["label"].nunique() > MOST_LABELS:
        number = pd.to_numeric(frame["label"], errors="coerce")
        frame = frame[number.notna()]
        edges = np.unique(np.quantile(number.dropna(), [0.2, 0.4, 0.6, 0.8]))
        frame["label"] = np.searchsorted(edges, number.dropna()).astype(str)
    rows = frame[["item", "coder", "label"]].itertuples(index=False, name=None)
    return am.Annotations.from_records(rows, source=str(folder.name))


def export(path: Path) -> am.Annotations:
    """Read an export."""
    options: dict[str, Any] = {}
    if path.name in NAMES:
        options["coders"] = path.parent / "argilla_users.json"
    if path.name in SPANS:
        options |= (
            {"units": "exact", "question": "type"} if path.name == "brat" else {"units": "token"}
        )
    return am.read(path, **options)


def pages() -> Iterator[tuple[str, Callable[[Path], Path]]]:
    """Name of each page and what writes it."""

    def of(load: Callable[[], am.Annotations]) -> Callable[[Path], Path]:
        def write(target: Path) -> Path:
            am.report(am.fit(load(), "hierarchical", **SHORT), target, force=True)
            return target

        return write

    for name in am.datasets.names():
        yield f"dataset:{name}", of(lambda name=name: am.datasets.load(name))
    for folder in sorted((SHARED / "data").glob("*/")):
        if folder.name == "ezcoref":
            yield folder.name, coreference(folder)
        else:
            yield folder.name, of(lambda folder=folder: public(folder))
    for path in sorted((SHARED / "formats" / "files").glob("*")):
        if path.name not in REFUSED | NO_LABELS:
            yield path.name, of(lambda path=path: export(path))


def coreference(folder: Path) -> Callable[[Path], Path]:
    """Write the page on coreference, of the first texts of a set of chains."""

    def write(target: Path) -> Path:
        from annomodels.reporting.links import LinkFacts
        from annomodels.reporting.page import page

        table = target.with_suffix(".csv")
        frame = pd.read_csv(folder / "chains.csv.gz", dtype=str, keep_default_na=False)
        text = frame["item"].str.partition("#")[0]
        frame[text.isin(text.unique()[:TEXTS])].to_csv(table, index=False)
        documents = am.coref.read(table)
        fit = am.fit(
            am.coref.pairs(documents), "hierarchical", chains=2, draws=60, warmup=60, seed=1
        )
        target.write_text(page(LinkFacts(documents, fit=fit, draws=200)), encoding="utf-8")
        return target

    return write


def main() -> int:
    """Look at the pages."""
    parser = argparse.ArgumentParser(description="The report of every set in a real browser.")
    parser.add_argument("--only", nargs="+", help="Sets and exports by name; else all.")
    parser.add_argument("--keep", type=Path, help="Folder for the pages, which are else deleted.")
    parser.add_argument("--screens", action="store_true", help="With --keep: pictures and PDF too.")
    asked = parser.parse_args()
    browsing, looking = neighbor("browser"), neighbor("looking")
    browsing.PATIENCE = 600.0  # a long run should not end because the machine is busy
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch, browsing.Browser() as browser:
        folder = asked.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, write in pages():
            if asked.only and name not in asked.only:
                continue
            began = time.process_time()
            path = write(folder / f"{name.replace(':', '-')}.html")
            took = time.process_time() - began
            found = looking.problems(browser, path)
            wrong += bool(found)
            size = path.stat().st_size
            print(f"{'BAD' if found else 'ok '} {name}: {size:,} bytes, {took:.1f} s", flush=True)
            for problem in found:
                print(f"      {problem}", flush=True)
            if asked.keep and asked.screens:
                for width in looking.WIDTHS:
                    for dark in looking.SCHEMES:
                        picture = path.with_suffix(f".{width}{'-dark' if dark else ''}.png")
                        looking.shoot(browser, path, picture, width, dark)
                looking.to_pdf(browser, path, path.with_suffix(".pdf"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
