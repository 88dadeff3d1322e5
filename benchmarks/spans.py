"""Measure gold spans against known truth.

    python benchmarks/spans.py [--data FOLDER ...] [--json FILE] [--rows NAME ...]
    python benchmarks/spans.py --simulated 5000
    python benchmarks/spans.py --audits 200

The second form measures a whole run on simulated spans, the third the coverage of audits.

A folder has labels.csv(.gz) with the columns document, [sentence,] coder, tags (BIO, one per token)
and tokens.csv(.gz) with document, sentence, token, word, truth ("?" if it is unknown). Rows are

* votes: spans that at least half of the coders of a document marked, so ties go to spans;
* tokens: the labels of single tokens, fitted with the package's model for items;
* model: the model of spans, which uses words only to find places with equal text;
* model, no text: the same, without the words.

Precision, recall and F1 count exact spans with their label; "relaxed" counts tokens. Log loss is
the mean over all spans that a coder marked of -log of the probability that the span is true or, if
it is not, that it is false; of votes the share of the coders with half a vote more for each side.
Truth is only used to measure.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import common
import numpy as np

import annomodels as am
from annomodels.auditing.spans import estimate_spans
from annomodels.io.span_builder import NONE, MarkedSpan, Spans
from annomodels.spans.fit import SpanFit
from annomodels.spans.tables import QUALITY

Key = tuple[str, int, int, str]
ROWS = ("votes", "tokens", "model", "model, no text")
# smallest probability that a log loss counts
LEAST = 1e-4
# first sign that words become: one sign per token, so that places are numbers of tokens
FIRST_SIGN = 0x10000


@dataclass
class Crowd:
    """Spans of a crowd, and the truth of some documents."""

    spans: Spans
    truth: dict[str, set[Key]] = field(default_factory=dict)

    @property
    def true(self) -> set[Key]:
        """All true spans."""
        return set().union(*self.truth.values())


def rows_of(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a table, packed or not."""
    path = folder / name
    opener: Any = open if path.exists() else gzip.open
    with opener(path if path.exists() else f"{path}.gz", "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def stretches(tags: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and label of the spans of BIO tags."""
    start, label = -1, ""
    n = -1
    for n, tag in enumerate(tags):
        begin, _, kind = tag.partition("-")
        if start >= 0 and not (begin == "I" and kind == label):
            yield start, n, label or "span"
            start = -1
        if begin in ("B", "I") and start < 0:
            start, label = n, kind
    if start >= 0:
        yield start, n + 1, label or "span"


def read(folder: Path) -> Crowd:
    """Read the folder; places are numbers of tokens, with a gap between sentences."""
    tokens: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows_of(folder, "tokens.csv"):
        tokens[row["document"]].append(row)
    labels = list(rows_of(folder, "labels.csv"))
    by_sentence = "sentence" in labels[0]
    codes: dict[str, int] = {}
    firsts: dict[tuple[str, str], int] = {}
    texts, places, truth = {}, {}, {}
    for document, found in tokens.items():
        signs: list[str] = []
        tags: list[str] = []
        kept = []
        last = None
        for row in found:
            sentence = row["sentence"] if by_sentence else "0"
            if sentence != last:
                signs += ["\n"] * (last is not None)
                tags += ["O"] * (last is not None)
                firsts[document, sentence] = len(signs)
                last = sentence
            kept.append((len(signs), len(signs) + 1))
            signs.append(chr(FIRST_SIGN + codes.setdefault(row["word"], len(codes))))
            tags.append(row["truth"])
        texts[document], places[document] = "".join(signs), kept
        if "?" not in tags:
            truth[document] = {(document, *place) for place in stretches(tags)}
    spans: list[MarkedSpan] = []
    seen: dict[str, dict[str, None]] = defaultdict(dict)
    for row in labels:
        document, coder = row["document"], row["coder"]
        seen[document][coder] = None
        first = firsts[document, row["sentence"] if by_sentence else "0"]
        spans += [
            MarkedSpan(document, coder, "span", first + start, first + end, label)
            for start, end, label in stretches(row["tags"].split())
        ]
    readers = {document: tuple(sorted(names)) for document, names in seen.items()}
    return Crowd(Spans(tuple(spans), readers, texts, places, str(folder)), truth)


LABELS, WORDS = ("PER", "LOC", "ORG", "MISC"), 20_000
PLACES = 27
AUDIT_SIZES = (30, 60, 100)
CODED = tuple(f"coder_{n}" for n in range(1, 6))


def simulated(documents: int, seed: int, places: int = PLACES) -> Crowd:
    """Simulate texts in which five coders mark about 20 spans each, with some shared errors."""
    rng = np.random.default_rng(seed)
    skill = rng.uniform(0.75, 0.95, len(CODED))
    rank = np.arange(1, WORDS + 1.0)
    common_words = np.cumsum(1 / rank) / (1 / rank).sum()
    spans: list[MarkedSpan] = []
    texts: dict[str, str] = {}
    truth: dict[str, set[Key]] = {}
    for d in range(documents):
        name = f"d{d:05d}"
        words = [f"w{n}" for n in np.searchsorted(common_words, rng.random(15 * places))]
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        texts[name], truth[name] = " ".join(words), set()
        for place in range(places):
            first, size = 15 * place + int(rng.integers(1, 9)), int(rng.integers(1, 4))
            label, other = rng.choice(LABELS, 2, replace=False)
            is_true, hard = rng.random() < 0.9, rng.random() < 0.15
            if is_true:
                key = (name, int(ends[first - 1]) + 1, int(ends[first + size - 1]), str(label))
                truth[name].add(key)
            for coder, right in zip(CODED, skill * (0.5 if hard else 1.0), strict=True):
                sees, names_it, bounds_it = rng.random(3) < right
                if sees != is_true:
                    continue
                last = first + size - (0 if bounds_it else 1 - 2 * (size == 1))
                start, end = int(ends[first - 1]) + 1, int(ends[last - 1])
                given = str(label if names_it else other)
                spans.append(MarkedSpan(name, coder, "span", start, end, given))
    return Crowd(Spans(tuple(spans), dict.fromkeys(texts, CODED), texts), truth)


def whole_run(crowd: Crowd, folder: Path, seed: int) -> dict[str, Any]:
    """Seconds and memory of a whole run on a table of the spans, in a fresh process."""
    table = folder / "spans.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["document", "coder", "start", "end", "label", "text"])
        for document, text in crowd.spans.texts.items():
            rows.writerows((document, c, "", "", "", text * (not n)) for n, c in enumerate(CODED))
        for s in crowd.spans.spans:
            words = crowd.spans.texts[s.document][s.start : s.end]
            rows.writerow([s.document, s.coder, s.start, s.end, s.label, words])
    command = ["run", str(table), "-o", str(folder / "out"), "--seed", str(seed), "--force"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "annomodels", *command], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "seconds": time.perf_counter() - began, "cpu": cpu, "peak": 1024 * after.ru_maxrss,
        "page": (folder / "out" / "report.html").stat().st_size,
    }  # fmt: skip


def coverage(crowd: Crowd, audits: int, seed: int) -> dict[int, dict[str, float]]:
    """Percentages of random audits of each size whose 95 % intervals cover, by quantity."""
    data = crowd.spans
    known = Spans(
        tuple(s for s in data.spans if s.document in crowd.truth),
        {name: who for name, who in data.seen.items() if name in crowd.truth},
        data.texts, data.tokens,
    )  # fmt: skip
    fit = am.fit(known, seed=seed)
    gold, documents, quality = fit.gold(), fit.documents(), fit.quality()
    # the tables of the fit do not depend on the audit
    made: Any = SimpleNamespace(
        gold=lambda _: gold, documents=lambda _: documents, quality=lambda _: quality
    )
    names = list(known.seen)
    marks = {name: frozenset(key[1:] for key in crowd.truth[name]) for name in names}
    truth = {name: crowd.truth[name] for name in names}
    real = measures(Crowd(known, truth), of_model(fit)[0])
    covered: dict[int, dict[str, float]] = {}
    for size in (size for size in AUDIT_SIZES if size < len(names)):
        counts = dict.fromkeys(QUALITY, 0.0)
        for n in range(audits):
            rng = np.random.default_rng([seed, size, n])
            drawn = [names[d] for d in rng.permutation(len(names))[:size]]
            judged = {name: marks[name] for name in drawn}
            table = estimate_spans(made, judged, drawn=drawn, seed=n).table
            for name, low, high in table[["quantity", "low", "high"]].itertuples(index=False):
                counts[name] += 100 / audits * (low <= real[name] / 100 <= high)
        covered[size] = counts
    return covered


def one_label(crowd: Crowd, label: str) -> Crowd:
    """Return the spans and the truth of one label."""
    spans = tuple(span for span in crowd.spans.spans if span.label == label)
    truth = {name: {key for key in keys if key[3] == label} for name, keys in crowd.truth.items()}
    return Crowd(replace(crowd.spans, spans=spans), truth)


def of_votes(crowd: Crowd) -> tuple[set[Key], dict[Key, float]]:
    """Gold spans and probabilities by votes, ties to spans."""
    spans = crowd.spans
    votes = Counter((s.document, s.start, s.end, s.label) for s in set(spans.spans))
    n = {document: len(names) for document, names in spans.seen.items()}
    chosen = {key for key, count in votes.items() if 2 * count >= n[key[0]]}
    return chosen, {key: (count + 0.5) / (n[key[0]] + 1) for key, count in votes.items()}


def of_tokens(crowd: Crowd, seed: int) -> set[Key]:
    """Gold spans by the most probable labels of single tokens."""
    fit = am.fit(crowd.spans.units("token"), seed=seed)
    tags: dict[str, dict[int, str]] = defaultdict(dict)
    for row in fit.gold().table.itertuples():
        document, _, place = str(row.item).rpartition(":")
        label = "" if row.label == NONE else str(row.label)
        tags[document][int(place.split("-")[0])] = f"I-{label}" if label else "O"
    return {
        (document, *place)
        for document, of_place in tags.items()
        for place in stretches(of_place.get(n, "O") for n in range(max(of_place) + 1))
    }


def of_model(fit: SpanFit) -> tuple[set[Key], dict[Key, float]]:
    """Gold spans and probabilities of the model."""
    names = ["document", "start", "end", "label"]
    gold = fit.gold().table
    every = fit.candidates()
    keys = every[names].itertuples(index=False, name=None)
    return (
        set(gold[names].itertuples(index=False, name=None)),
        dict(zip(keys, every["p_exact"].tolist(), strict=True)),
    )


def measures(crowd: Crowd, chosen: set[Key]) -> dict[str, float]:
    """Exact and relaxed precision, recall and F1 in percent."""
    true = crowd.true
    chosen = {key for key in chosen if key[0] in crowd.truth}

    def signs(keys: set[Key]) -> set[Any]:
        return {(key[0], n, key[3]) for key in keys for n in range(key[1], key[2])}

    out: dict[str, float] = {}
    for name, ours, real in (("", chosen, true), ("relaxed_", signs(chosen), signs(true))):
        both = len(ours & real)
        p, r = both / max(len(ours), 1), both / max(len(real), 1)
        f1 = 2 * p * r / (p + r) if both else 0.0
        out |= {f"{name}precision": 100 * p, f"{name}recall": 100 * r, f"{name}f1": 100 * f1}
    return out


def log_loss(crowd: Crowd, p: Mapping[Key, float]) -> float:
    """Mean log loss of the spans that a coder marked."""
    true = crowd.true
    marked = {(s.document, s.start, s.end, s.label) for s in crowd.spans.spans}
    losses = []
    for key in marked:
        if key[0] in crowd.truth:
            chance = min(max(p.get(key, 0.0), LEAST), 1 - LEAST)
            losses.append(-math.log(chance if key in true else 1 - chance))
    return math.fsum(losses) / len(losses)


def expected_f1(crowd: Crowd, fit: SpanFit) -> dict[str, float]:
    """Interval of the expected F1 of the documents with known truth, in percent."""
    documents = [name for name in crowd.truth if name in crowd.spans.seen]
    draws = fit.quality().draws.sel(document=documents)
    hit, true, gold = (draws[name].sum("document").values for name in ("tp", "true", "gold"))
    f1 = 200 * hit / (gold + true)
    low, high = map(float, (sorted(f1)[int(q * (len(f1) - 1))] for q in (0.025, 0.975)))
    return {"f1_expected": float(f1.mean()), "f1_low": low, "f1_high": high}


def measured(crowd: Crowd, name: str, seed: int) -> dict[str, Any]:
    """One row."""
    began = time.perf_counter()
    out: dict[str, Any] = {"row": name}
    if name == "votes":
        chosen, p = of_votes(crowd)
        out["log_loss"] = log_loss(crowd, p)
    elif name == "tokens":
        chosen = of_tokens(crowd, seed)
    else:
        data = crowd.spans
        fit = am.fit(data if name == "model" else replace(data, texts={}), seed=seed)
        chosen, p = of_model(fit)
        out["seconds"] = time.perf_counter() - began
        out |= {"log_loss": log_loss(crowd, p), **expected_f1(crowd, fit)}
    out.setdefault("seconds", time.perf_counter() - began)
    return out | measures(crowd, chosen)


def table_row(name: str, found: dict[str, Any]) -> list[str]:
    """One row of the page."""

    def cell(key: str, digits: int = 1) -> str:
        return f"{found[key]:.{digits}f}" if key in found else ""

    interval = f"{cell('f1_expected')} ({cell('f1_low')} to {cell('f1_high')})"
    return [
        name, found["row"], cell("precision"), cell("recall"), cell("f1"),
        interval if "f1_low" in found else "", cell("relaxed_f1"), cell("log_loss", 3),
        cell("seconds"),
    ]  # fmt: skip


ABOUT = """Gold spans of public crowds against their known truth, in percent. `votes`: spans that at
least half of the coders marked. `tokens`: tokens as items, with the default model. `model`: the
model of spans, `no text` without knowing which places have equal words. F1 counts exact spans with
their label, `relaxed` counts tokens. Log loss: mean over the spans that a coder marked, in nats."""


def write_coverage(options: argparse.Namespace) -> None:
    """Print the coverage of audits of public crowds, of single labels, and of simulated crowds."""
    ner, pico = (read(common.shared_data() / name) for name in ("ner_crowd", "pico_crowd"))
    seeds = range(options.seed, options.seed + 10)
    crowds = {"ner_crowd": [ner], "pico_crowd": [pico]}
    crowds |= {f"ner_crowd, only {label}": [one_label(ner, label)] for label in sorted(LABELS)}
    crowds["simulated"] = [simulated(200, seed, 6) for seed in seeds]
    rows = []
    for name, each in crowds.items():
        audits = options.audits // len(each)
        found = [coverage(crowd, audits, options.seed) for crowd in each]
        for size in found[0]:
            shares = [sum(one[size][key] for one in found) / len(found) for key in QUALITY]
            rows.append([name, str(size), *(f"{share:.1f}" for share in shares)])
        common.say(", ".join(rows[-1]))
    print(common.markdown(["crowd", "documents", *QUALITY], rows), flush=True)


def main() -> None:
    """Measure and write the table."""
    parser = common.arguments(__doc__, "spans.md")
    parser.add_argument("--data", type=Path, nargs="+", help="folders")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS, help="some of the rows")
    parser.add_argument("--simulated", type=int, help="documents of a whole run to be measured")
    parser.add_argument("--audits", type=int, help="audits of each size, to measure coverage")
    options = parser.parse_args()
    if options.audits:
        write_coverage(options)
        return
    if options.simulated:
        with tempfile.TemporaryDirectory() as folder:
            crowd = simulated(options.simulated, options.seed)
            print(whole_run(crowd, Path(folder), options.seed))
        return
    shared = common.shared_data
    folders = options.data or [shared() / name for name in ("ner_crowd", "pico_crowd")]
    if options.reduced:
        folders = folders[-1:]
    found: dict[str, list[dict[str, Any]]] = {}
    rows = []
    for folder in folders:
        crowd = read(folder)
        if crowd.truth:
            am.fit(replace(crowd.spans, spans=crowd.spans.spans[:50]), draws=4, warmup=4, seed=1)
        found[folder.name] = []
        for name in options.rows:
            common.say(f"{folder.name}, {name}")
            found[folder.name].append(measured(crowd, name, options.seed))
            rows.append(table_row(folder.name, found[folder.name][-1]))
            common.keep(options.json, found)
    header = [
        "data set", "row", "precision", "recall", "F1", "expected F1", "relaxed F1", "log loss",
        "seconds",
    ]  # fmt: skip
    common.write(options.out, [ABOUT, common.markdown(header, rows, left=2), common.machine()])


if __name__ == "__main__":
    main()
