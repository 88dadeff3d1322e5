"""The gold standard of a streamed fit, written block after block."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from annomodels.data.names import label_text
from annomodels.errors import NotApplicable
from annomodels.scale.scanned import Scanned
from annomodels.scale.truths import read_truths
from annomodels.summaries.gold import DEFAULT_THRESHOLD

__all__ = ["DEFAULT_THRESHOLD", "gold_rows", "write_gold"]

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def gold_rows(
    truth: Any,
    labels: tuple[str, ...],
    limit: float,
    believed: bool = True,
    only_settled: bool = False,
) -> Any:
    """Turn P(truth) of a block into rows of the gold standard.

    Parameters
    ----------
    truth
        A table as :class:`annomodels.scale.truths.WriteTruth` writes it.
    labels
        Names of the labels.
    limit
        Probability from which an item counts as settled.
    believed
        Whether the labels depend on a truth; else only known truth is settled.
    only_settled
        Whether labels that are not settled are left empty.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    p = np.column_stack([truth[f"p_{name}"].to_numpy() for name in labels])
    rows = np.arange(len(p))
    order = np.argsort(-p, axis=1, kind="stable")
    best, second = order[:, 0], order[:, 1]
    names = pa.array(labels)
    known = truth["gold"].combine_chunks()
    is_known = pc.is_valid(known).to_numpy(zero_copy_only=False)
    settled = (p[rows, best] >= limit) & (is_known | believed)
    columns = {
        "item": truth["item"],
        "label": names.take(pa.array(best, mask=~settled if only_settled else None)),
        "probability": pa.array(p[rows, best]),
        "runner_up": names.take(pa.array(second, mask=is_known)),
        "runner_up_probability": pa.array(np.where(is_known, 0.0, p[rows, second])),
        "n": truth["n"],
        "settled": pa.array(settled),
        "known": known,
        "entropy": truth["entropy"],
    }
    if "mcse" in truth.column_names:
        columns["mcse"] = truth["mcse"]
    return pa.table(columns)


def write_gold(
    folder: Path,
    data: Scanned,
    named: Path,
    path: Path,
    limit: float,
    believed: bool = True,
    only_settled: bool = False,
) -> None:
    """Write the gold standard.

    Parameters
    ----------
    folder
        Where P(truth) is.
    data
        What was fitted.
    named
        The name the file will have.
    path
        Where to write.
    limit
        Probability from which an item counts as settled.
    believed
        Whether the labels depend on a truth; else only known truth is settled.
    only_settled
        Whether labels that are not settled are left empty.
    """
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    ending = named.suffix.lower()
    if ending != ".parquet" and ending not in DELIMITERS:
        raise NotApplicable(f"{named}: give a name that ends in .parquet, .csv or .tsv.")
    if not 0 <= limit <= 1:
        raise NotApplicable(f"The threshold is {limit}. Give a probability between 0 and 1.")
    labels = tuple(label_text(name) for name in data.labels)
    writer: Any = None
    try:
        for truth in read_truths(folder, len(data.blocks)):
            rows = gold_rows(truth, labels, limit, believed, only_settled)
            if writer is None and ending == ".parquet":
                writer = pq.ParquetWriter(path, rows.schema, compression="zstd")
            elif writer is None:
                options = pc.WriteOptions(delimiter=DELIMITERS[ending], quoting_style="needed")
                writer = pc.CSVWriter(str(path), rows.schema, write_options=options)
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
