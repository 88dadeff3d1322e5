"""Tables of a fit of a scan: check, coders, and the gold standard, written block by block."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from annomodels.data.coded import agreed_labels, different_pairs
from annomodels.data.names import label_text
from annomodels.data.summary import Summary
from annomodels.engines.source.disk import read_truths
from annomodels.engines.source.partition import Partition
from annomodels.errors import NotApplicable
from annomodels.io.writing import atomic_path
from annomodels.limits import SETTLED, UNANIMOUS
from annomodels.scale.scanned import Scanned
from annomodels.summaries.coders import answer_sentences
from annomodels.summaries.coders import coders as in_memory
from annomodels.summaries.skills import doubtful, entropy_bits, signal
from annomodels.summaries.trust.checks import Check, judged
from annomodels.summaries.trust.convergence import fit_findings
from annomodels.summaries.trust.findings import (
    AgainstGold,
    against_gold,
    design_findings,
    signal_finding,
)
from annomodels.summaries.trust.known_truth import told_finding

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr

    from annomodels.models.encoded import Encoded
    from annomodels.types import Floats, Ints

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check(tree: xr.DataTree, data: Scanned) -> Check:
    """Check the chains and the design of the data."""
    known = None
    if data.n_gold:
        known = reduce(add, map(partial(_against, data), data.sources().partitions))
    shared, pairs = data.compared_items / data.n_items, partial(_different_pairs, data)
    tested = told_finding(tree)
    findings = [
        *fit_findings(tree, data.shell()),
        *design_findings(tree, data, shared, data.components, known, unanimous(data), pairs),
        signal_finding(signal(tree, data.shell())),
        *([] if tested is None else [tested]),
    ]
    return judged(
        findings,
        f"The chains agree (R-hat at most {findings[0].value:.3f}, at least "
        f"{findings[1].value:,.0f} effective draws); whether the model reproduces the labels was "
        "not checked.",
    )


def _against(data: Scanned, part: Partition) -> AgainstGold:
    codes = part.open()
    return against_gold(
        codes.starts, codes.row, codes.label, codes.gold, data.n_coders, data.n_labels
    )


def _item(codes: Encoded) -> Ints:
    return np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))


def _different_pairs(data: Scanned) -> Floats:
    of_each = partial(different_pairs, n_labels=data.n_labels)
    return reduce(add, (of_each(_item(one), one.label) for one in data.sources().opened()))


def unanimous(data: Scanned) -> int:
    """Return the number of labels of shared items if all agree, else 0."""
    number, used = 0, (data.per_label > 0).sum()
    for part in data.sources().partitions if used > 1 else ():
        codes = part.open()
        agreed = agreed_labels(_item(codes), codes.row, codes.label)
        if agreed is None:
            return 0
        number += agreed
    return number if number >= UNANIMOUS else 0


def coders(tree: xr.DataTree, data: Scanned, target: float | None = None) -> Summary:
    """Return the table of :func:`annomodels.summaries.coders.coders` from counts."""
    shell = data.shell()
    found = in_memory(tree, shell, target=target)
    if not data.unanswered.any():
        return found
    table = found.table.assign(dont_know=data.unanswered.sum(axis=0))
    notes = (*found.notes, *answer_sentences(tree, shell, int(data.unanswered.sum())))
    return replace(found, table=table, notes=notes)


def believed(tree: xr.DataTree, data: Scanned) -> bool:
    """Return True if the labels have signal; otherwise only known truth is settled."""
    return not doubtful(signal(tree, data.shell()))


def gold_rows(
    truth: pa.Table,
    labels: tuple[str, ...],
    limit: float,
    believed: bool = True,
    only_settled: bool = False,
) -> pa.Table:
    """Return the rows of the gold standard from P(truth) of a block."""
    import pyarrow as pa
    import pyarrow.compute as pc

    p = np.column_stack([truth[f"p_{name}"].to_numpy() for name in labels])
    rows = np.arange(len(p))
    order = np.argsort(-p, axis=1, kind="stable")
    best, second = order[:, 0], order[:, 1]
    names = pa.array(labels)
    is_known = pc.is_valid(truth["gold"].combine_chunks()).to_numpy(zero_copy_only=False)
    settled = is_known | ((p[rows, best] >= limit) & believed)
    columns = {
        "item": truth["item"],
        "label": names.take(pa.array(best, mask=~settled if only_settled else None)),
        "probability": pa.array(p[rows, best]),
        "state": np.select([is_known, settled], ["decided", "settled"], "needs labels"),
        "source": np.where(is_known, "truth", "model"),
        "runner_up": names.take(pa.array(second, mask=is_known)),
        "n": truth["n"],
        "doubt": pa.array(entropy_bits(p)),
    }
    return pa.table(columns)


def write_gold(
    tree: xr.DataTree,
    data: Scanned,
    truth: Path,
    path: str | os.PathLike[str],
    threshold: float | None = None,
    *,
    force: bool = False,
    only_settled: bool = False,
) -> Path:
    """Write the gold standard; see :meth:`annomodels.Fit.write_gold`."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    path = Path(path)
    limit = SETTLED if threshold is None else threshold
    ending = path.suffix.lower()
    if ending != ".parquet" and ending not in DELIMITERS:
        raise NotApplicable(f"{path}: give a name that ends in .parquet, .csv or .tsv.")
    if not 0 <= limit <= 1:
        raise NotApplicable(f"The threshold is {limit}. Give a probability between 0 and 1.")
    labels = tuple(label_text(name) for name in data.labels)
    dependent = believed(tree, data)
    writer: Any = None
    with atomic_path(path, force) as temporary:
        try:
            for block in read_truths(truth, len(data.blocks)):
                rows = gold_rows(block, labels, limit, dependent, only_settled)
                if writer is None and ending == ".parquet":
                    writer = pq.ParquetWriter(temporary, rows.schema, compression="zstd")
                elif writer is None:
                    options = pc.WriteOptions(delimiter=DELIMITERS[ending], quoting_style="needed")
                    writer = pc.CSVWriter(str(temporary), rows.schema, write_options=options)
                writer.write_table(rows)
        finally:
            if writer is not None:
                writer.close()
    return path
