"""Rows of a scan in a DuckDB database, which moves what exceeds its memory to a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from annomodels.data.validation import SHOWN
from annomodels.errors import Problem
from annomodels.io.border import first_line, library
from annomodels.io.writing import OutputError
from annomodels.scale.naturalorder import keys_of
from annomodels.types import AnyArray, Ints

MEMORY = "1GB"
THREADS = 4  # maximum; each thread needs memory
BATCH = 1 << 19
# a row without a label has code -1; one with the m-th label that is not a class, SILENT - m
SILENT = -2

# All rows of an annotation id but the first.
AGAIN = """
create table again as select row, label from rows where once > 0
qualify row_number() over (partition by item, once order by row) > 1
"""
# `gold` is the first known truth; `two` is true of items with another one.
ITEMS = f"""
create table items as select
    item,
    count(*) filter (label >= 0) as n,
    count(*) filter (label <= {SILENT}) as silent,
    coalesce(arg_min(gold, row) filter (gold >= 0), -1) as gold,
    coalesce(min(gold) filter (gold >= 0) < max(gold), false) as two
from rows group by item
"""
NAMES = """
create table names as select
    item, (row_number() over (order by order_key(item), item) - 1)::integer as number, n, gold, two
from items where n > 0
"""
TWO_TRUTHS = f"""
select number, min(row) from rows join (
    select item, gold as first, number from names where two order by number limit {SHOWN}
) using (item)
where gold >= 0 and gold <> first group by number order by number
"""
# labels that are no classes come after those of the coder that are
LABELS = """
select number, code as coder, label from rows join names using (item) join codes using (coder)
where label <> -1 order by number, code, least(label, 0) desc, row
"""
SIZES = f"""
with silent as (
    select item, count(*) as n from rows join codes using (coder)
    where label <= {SILENT} group by item
)
select names.n, names.n + coalesce(silent.n, 0) as asked, gold
from names left join silent using (item) order by number
"""


class CodedRows:
    """Coded rows: item (its name), coder, label, row (its number), and perhaps gold and once."""

    def __init__(self, folder: Path) -> None:
        duckdb = library("duckdb", "duckdb", "A file that is fitted block by block")
        how = {
            "memory_limit": MEMORY,
            "threads": min(THREADS, os.cpu_count() or 1),
            "temp_directory": str(folder),
        }
        # the last two are those of a stream
        self._failures = duckdb.Error, pa.ArrowException, OSError
        self._db = duckdb.connect(":memory:", config=how)
        self._db.create_function("order_key", keys_of, ["VARCHAR"], "BLOB", type="arrow")
        self._thread = ThreadPoolExecutor(1)
        self._folder = folder
        self._names: frozenset[str] = frozenset()

    def close(self) -> None:
        """Close the database, which frees its memory and its files."""
        self._db.interrupt()
        self._thread.shutdown()
        self._db.close()

    def add(self, columns: Mapping[str, object]) -> None:
        """Add rows; all calls give the same columns."""
        with self._given("batch", columns):
            if not self._names:
                self._run("create table rows as select * from batch limit 0")
            self._run("insert into rows by name select * from batch")
        self._names = frozenset(columns)

    def dropped(self) -> tuple[int, int]:
        """Drop rows that repeat an annotation id; return their number, and that without a label."""
        if "once" not in self._names:
            return 0, 0
        self._run(AGAIN)
        self._run("delete from rows where row in (select row from again)")
        ((n, skips),) = self._list("select count(*), count(*) filter (label = -1) from again")
        return n, skips

    def used_truths(self, wanted: Ints) -> set[int]:
        """Return which of the wanted truths, by number, labeled items have."""
        with self._given("wanted", {"gold": wanted}):
            found = self._list(
                "select distinct gold from rows join wanted using (gold)"
                "where item in (select item from rows where label >= 0)"
            )
        return {gold for (gold,) in found}

    def number_items(self, codes: AnyArray) -> tuple[int, int]:
        """Sort labeled items, number them, and take `codes` [coder], -1 if left out.

        Return how many items have no label, and how many only labels that are no class.
        """
        if "gold" not in self._names:
            self._run("alter table rows add column gold integer default -1")
        self._run(ITEMS)
        self._run(NAMES)
        coder = np.flatnonzero(codes >= 0).astype(np.int32)
        with self._given("given", {"coder": coder, "code": codes[coder].astype(np.int32)}):
            self._run("create table codes as select * from given")
        without = "select count(*) filter (silent = 0), count(*) filter (silent > 0) from items"
        ((unlabelled, silent),) = self._list(f"{without} where n = 0")
        self._run("drop table items")
        return unlabelled, silent

    def sizes(self) -> tuple[Ints, Ints, Ints]:
        """Return numbers of labels, also with those of no class, and truths, shape [item]."""
        found = [batch.values() for batch in self._batches(SIZES)]
        n, asked, gold = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return n.astype(np.int64), asked.astype(np.int64), gold

    def names(self, first: int, end: int) -> pa.Array:
        """Return the names of a range of items."""
        wanted = f"select item from names where number >= {first} and number < {end}"
        with self._said():
            ordered = self._db.sql(f"{wanted} order by number")
            return self._apart(ordered.to_arrow_table)["item"].combine_chunks()

    def two_truths(self) -> tuple[int, list[tuple[str, int]]]:
        """Return the number of items with two truths, and first ones with the row of the second."""
        ((n,),) = self._list("select count(*) from names where two")
        found = self._list(TWO_TRUTHS) if n else []
        return n, [(self.names(item, item + 1)[0].as_py(), row) for item, row in found]

    def labels(self) -> Iterator[dict[str, AnyArray]]:
        """Yield number (of the item), coder and label, sorted by item, coder and row."""
        return self._batches(LABELS)

    def _batches(self, query: str) -> Iterator[dict[str, AnyArray]]:
        with self._said():
            reader = self._apart(self._db.sql(query).to_arrow_reader, BATCH)
            while (batch := self._apart(next, reader, None)) is not None:
                yield {name: batch.column(name).to_numpy() for name in batch.schema.names}

    def _run(self, query: str) -> None:
        with self._said():
            self._apart(self._db.execute, query)

    def _list(self, query: str) -> list[tuple[int, ...]]:
        self._run(query)
        with self._said():
            found: list[tuple[int, ...]] = self._db.fetchall()
        return found

    def _apart[T](self, call: Callable[..., T], *arguments: object) -> T:
        """Call it in a thread: in this one, DuckDB may notice an interrupt seconds later."""
        return self._thread.submit(call, *arguments).result()

    @contextmanager
    def _given(self, name: str, columns: Mapping[str, object]) -> Iterator[None]:
        self._db.register(name, pa.table(dict(columns)))
        yield
        self._db.unregister(name)

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Raise a lack of memory or disk space as one sentence."""
        try:
            yield
        except self._failures as error:
            what = f"The labels cannot be sorted here: {first_line(error)}."
            remedy = (
                "Free memory and disk space, or sort them on a larger disk: set TMPDIR, or cache "
                "to a folder there."
            )
            raise OutputError(Problem(what, str(self._folder.parent), remedy)) from error
