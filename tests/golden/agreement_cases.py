"""Cases of the golden files of agreement; ``python tests/golden/agreement_cases.py`` records them.

Each case is a document of plain values: what a command prints as JSON, or the table, the overall
table and the notes of a call. Tables of more rows than ``KEPT`` keep every n-th row, next to the
number of rows and the sums of the numeric columns.
"""

import contextlib
import io
import json
import math
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import annomodels as am
from annomodels.cli.main import main
from annomodels.errors import AnnotationError, NotApplicable

FOLDER = Path(__file__).parent / "agreement"
KEPT = 16
BY = ("label", "item", "coder", "pair")
WORDS = ("The", "engine", "met", "the", "boxcar", ".", "It", "left", "it", "there", ".")


def ordinal(path: Path) -> None:
    """Write labels on a scale of four, with batches, gaps, repeats and one coder of one label."""
    rng = random.Random(3)
    rows = ["item,coder,label,batch"]
    for n in range(36):
        truth = rng.randrange(4)
        for coder in "abcde":
            if rng.random() < 0.3:
                continue
            said = truth if rng.random() < 0.7 else min(3, max(0, truth + rng.choice((-1, 1))))
            said = 1 if coder == "e" else said
            rows.append(f"i{n:02},{coder},{said},b{n % 4}")
            if rng.random() < 0.04:
                rows.append(f"i{n:02},{coder},{rng.randrange(4)},b{n % 4}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def parted(path: Path) -> None:
    """Write labels of two sets of coders with no item in common, mostly of one label."""
    rng = random.Random(4)
    rows = ["item,coder,label"]
    for n in range(60):
        coders = "abc" if n < 40 else "xyz"
        truth = "yes" if rng.random() < 0.12 else "no"
        for coder in coders:
            if rng.random() < 0.85:
                other = "yes" if truth == "no" else "no"
                rows.append(f"i{n:02},{coder},{other if rng.random() < 0.08 else truth}")
    rows.append("i99,solo,yes")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def chains(path: Path) -> None:
    """Write an archive with the chains of three coders in five texts of two types."""
    rng = random.Random(5)
    truth = [[[0, 1], [6, 6], [9, 9]], [[3, 4], [8, 8]]]
    places = [tuple(place) for chain in truth for place in chain]
    with zipfile.ZipFile(path, "w") as archive:
        for coder in ("ana", "ben", "cho"):
            lines = []
            for n in range(5):
                of = {(0, 1): 0, (6, 6): 0, (9, 9): 0, (3, 4): 1, (8, 8): 1}
                for place in places:
                    if rng.random() < 0.2:
                        of[place] = 1 - of[place]
                    if rng.random() < 0.1:
                        del of[place]
                found = [[list(p) for p in places if of.get(p) == k] for k in (0, 1)]
                lines.append(
                    json.dumps(
                        {
                            "doc_key": f"{'news' if n % 2 else 'talk'}/{n}",
                            "sentences": [list(WORDS[:6]), list(WORDS[6:])],
                            "clusters": [chain for chain in found if chain],
                        }
                    )
                )
            archive.writestr(f"{coder}.jsonl", "\n".join(lines) + "\n")


def plain(value: Any) -> Any:
    """Turn a value into what JSON holds; NaN is null, floats have eleven digits."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.11g}") if math.isfinite(value) else None
    return None if value is None else str(value)


def shown(table: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of a table, its number of rows, sums, and some or all rows."""
    step = -(-len(table) // KEPT) or 1
    numbers = table.select_dtypes("number")
    return {
        "columns": [str(name) for name in table],
        "size": len(table),
        "sums": plain({name: float(numbers[name].sum()) for name in numbers}),
        "rows": plain(table.iloc[::step].astype(object).to_numpy().tolist()),
    }


def drawn(found: Any) -> dict[str, Any]:
    """Return sizes, means and first values of draws."""
    return {
        str(name): {
            "dims": list(found[name].dims),
            "shape": list(found[name].shape),
            "sum": plain(float(np.nansum(found[name].to_numpy()))),
            "first": plain(found[name].to_numpy().reshape(-1)[:3]),
        }
        for name in found.data_vars
    }


def broken_down(found: Any) -> dict[str, Any]:
    return {
        "title": found.title,
        "parts": list(found.parts),
        "measure": found.measure,
        "notes": list(found.notes),
        "table": shown(found.table),
        "overall": shown(found.overall),
        "draws": drawn(found.draws),
        "repr": repr(found).splitlines()[:3] if len(found.table) > KEPT else repr(found),
    }


def diagnosed(found: Any) -> dict[str, Any]:
    return {
        "title": found.title,
        "sentences": list(found.sentences),
        "notes": list(found.notes),
        "draws": drawn(found.draws),
        **{name: shown(table) for name, table in found.tables()},
    }


def measured(found: Any) -> dict[str, Any]:
    return {"table": shown(found.table), "notes": list(found.notes)}


def commanded(*words: str) -> Any:
    """Return exit code and output of a command that prints JSON."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*words, "--format", "json"])
    found = json.loads(out.getvalue()) if out.getvalue() else []
    if isinstance(found, list):
        found = shown(pd.DataFrame(found))
    else:
        found = {
            key: shown(pd.DataFrame(part)) if part and isinstance(part[0], dict) else plain(part)
            for key, part in found.items()
        }
    return {"code": code, "found": found, "said": err.getvalue().splitlines()}


def cases(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return what computes each case, by name; `folder` takes the input files."""
    ordinal(folder / "ordinal.csv")
    parted(folder / "parted.csv")
    chains(folder / "chains.zip")
    held = {name: am.datasets.load(name) for name in ("anesthesia", "trains", "caries", "crowd")}
    held["parted"] = am.read(folder / "parted.csv")
    scale = held["ordinal"] = am.read(
        folder / "ordinal.csv", labels=["0", "1", "2", "3"], scale="ordinal", group="batch"
    )
    made: dict[str, Callable[[], Any]] = {}

    def add(
        name: str, show: Callable[[Any], Any], call: Callable[..., Any], *args: Any, **options: Any
    ) -> None:
        """Add what a call answers, or the error it raises."""

        def answered() -> Any:
            try:
                return show(call(*args, **options))
            except (AnnotationError, NotApplicable) as error:
                return f"{type(error).__name__}: {error}"

        made[name] = answered

    def by(part: str, name: str, *args: Any, draws: int = 100, **options: Any) -> None:
        data = options.pop("data", scale)
        options |= {"draws": draws, "seed": 1}
        add(f"by-{part}-{name}", broken_down, am.breakdown, data, part, *args, **options)

    for name, data in held.items():
        few = 100 if name in ("crowd", "caries") else 400
        add(f"agree-{name}", measured, am.agreement, data, draws=200, seed=1)
        add(f"diagnose-{name}", diagnosed, am.diagnose, data, draws=few, seed=1)
        for part in (*BY, *(("group",) if data.group is not None else ())):
            for coefficient in ("alpha", "kappa" if name == "parted" else "multi_kappa"):
                by(part, f"{name}-{coefficient}", coefficient, data=data, draws=few)
    for distance in ("nominal", "ordinal", "interval"):
        for part in ("item", "coder", "pair"):
            by(part, distance, distance=distance, draws=200)
    for missing in ("listwise", "pairwise", "pairs", "gwet"):
        for part in BY:
            by(part, missing, "k", missing=missing)
    for name in ("k", "s", "ac1", "percent", "pi"):
        by("coder", f"ordinal-{name}", name)
    two = scale.select(coders=scale.coders[:2])
    other = scale.select(coders=scale.coders[2:4])
    by("group", "rules", "kappa", undefined="label-given", positive="3", data=two)
    for same in (False, True):
        add(
            f"compare-{'same' if same else 'other'}-items",
            lambda x: plain([x.title, x.value, x.low, x.high, x.p_above(), x.notes]),
            am.coefficients.compare_agreement,
            *(two, other, "alpha"),
            **{"same_items": same, "draws": 300, "seed": 1},
        )
    votes, groups, texts = (
        str(folder / file) for file in ("parted.csv", "ordinal.csv", "chains.zip")
    )
    named = ("--group", "batch", "--labels", "0,1,2,3", "--scale", "ordinal")
    for name, words in {
        "agree": ("agree", votes),
        "agree-document": ("agree", groups, *named, "--by", "document"),
        "agree-label": ("agree", "dataset:trains", "--by", "label"),
        "agree-diagnose": ("agree", groups, *named, "--diagnose"),
        "coref": ("coref", texts, *CHAINS),
        "coref-genre": ("coref", texts, *CHAINS, "--by", "genre"),
        "coref-document": ("coref", texts, *CHAINS, "--by", "document"),
        "coref-k": ("coref", texts, "--coefficient", "K"),
    }.items():
        add(f"command-{name}", lambda x: x, commanded, *words)
    add("coref", coreference, am.coref.read, texts)
    return made


CHAINS = (
    *("--chain", "none", "--chain", "incl-", "--chain", "cluster", "--chain", "excl+"),
    *("--distance", "passonneau", "--distance", "masi", "--draws", "200"),
)


def coreference(documents: Any) -> dict[str, Any]:
    """Return what else the package says of a corpus."""
    posterior = am.coref.pair_posterior(documents, 200, 1)
    alpha = am.coref.agreement(documents, "incl-", "masi", draws=200, seed=1)
    return {
        "summary": shown(posterior.overall),
        "texts": shown(posterior.table),
        "coders": shown(am.coref.coder_table(documents, draws=100, seed=1).table),
        "pairs": shown(am.coref.pair_agreement(documents).table),
        "places": shown(am.coref.ambiguous_places(documents).table),
        "alpha": plain([alpha.title, alpha.value, alpha.low, alpha.high, alpha.n_items]),
        "draws": plain([float(np.nansum(alpha.draws)), *alpha.draws[:3]]),
    }


def nearly(want: float, got: float) -> bool:
    return math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-9)


def differences(
    want: Any, got: Any, where: str, close: Callable[[float, float], bool] = nearly
) -> list[str]:
    """List the places where two documents differ; floats may be close."""
    if isinstance(want, dict) and isinstance(got, dict):
        if list(want) != list(got):
            return [f"{where}: {list(want)} is now {list(got)}"]
        pairs = [(want[key], got[key], f"{where}/{key}", close) for key in want]
        return [text for pair in pairs for text in differences(*pair)]
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{where}: {len(want)} values are now {len(got)}"]
        both = enumerate(zip(want, got, strict=True))
        return [text for n, pair in both for text in differences(*pair, f"{where}/{n}", close)]
    numbers = all(type(one) in (int, float) for one in (want, got))
    if numbers and isinstance(got, float) and close(want, got):
        return []
    return [] if want == got and type(want) is type(got) else [f"{where}: {want!r} is now {got!r}"]


def everything() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        return {name: compute() for name, compute in cases(Path(folder)).items()}


def main_record() -> None:
    FOLDER.mkdir(exist_ok=True)
    files: dict[str, list[str]] = {}
    for name, found in everything().items():
        line = json.dumps({name: found}, ensure_ascii=False, separators=(",", ":"))
        kind, *rest = name.split("-")
        file = f"{kind}-{rest[0]}" if kind in ("by", "command") else kind
        files.setdefault(file, []).append(line)
    for name, lines in files.items():
        text = "\n".join(lines) + "\n"
        (FOLDER / f"{name}.jsonl").write_text(text, encoding="utf-8")
        sys.stdout.write(f"{name}: {len(text):,}\n")


def recorded() -> dict[str, Any]:
    lines = [
        line
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    return {name: found for line in lines for name, found in json.loads(line).items()}


if __name__ == "__main__":
    main_record()
