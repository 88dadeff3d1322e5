"""Units on a continuum, and their Krippendorff's alpha; docs/coefficients.md has the formulas."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from annomodels.coefficients.catalogue import SPAN_F1, UNITIZING, Coefficient
from annomodels.coefficients.formulas import less
from annomodels.coefficients.reasons import say
from annomodels.coefficients.result import Agreement
from annomodels.coefficients.rows import ranges
from annomodels.coefficients.tables import Evaluated, over
from annomodels.data.validation import counted, is_blank, number_or_nan
from annomodels.errors import AnnotationError, NotApplicable, Problem
from annomodels.types import Bools, Floats, Ints

COLUMNS = ("text", "coder", "start", "end", "label")
ByText = Mapping[Any, float] | float
Done = Iterable[tuple[Hashable, Hashable]]
SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False)
class Units:
    """Spans of texts, or of any other continuum, that coders marked and labeled.

    A coder's units with the same label do not overlap. Units with different labels may overlap:
    each label is a separate layer. Build it with
    :meth:`from_records` or :meth:`from_frame`.

    Parameters
    ----------
    text, coder, label
        Codes of each unit, shape [unit].
    start, end
        Start and end of each unit; the end is the first position after it, so
        end - start is its length, shape [unit].
    texts, coders, labels
        Names; code i is the i-th name.
    begin, length
        Start and length of each text, shape [text].
    active
        Whether a coder worked on a text, with or without units, shape [text, coder].

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [("t1", "ana", 0, 4, "quote"), ("t1", "ben", 1, 4, "quote")]
    >>> am.coefficients.Units.from_records(rows, lengths={"t1": 20})
    2 units in 1 text by 2 coders, 1 label
    """

    text: Ints
    coder: Ints
    start: Floats
    end: Floats
    label: Ints
    texts: tuple[Hashable, ...]
    coders: tuple[Hashable, ...]
    labels: tuple[Hashable, ...]
    begin: Floats
    length: Floats
    active: Bools

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Sequence[object]],
        *,
        lengths: ByText,
        begins: ByText = 0,
        coders: Sequence[Hashable] | None = None,
        done: Done | None = None,
    ) -> Units:
        """Code rows of (text, coder, start, end, label).

        Parameters
        ----------
        rows
            One row for each unit; `end` is the first position after the unit. Positions count
            characters, tokens, seconds, frames: whole numbers of the smallest step.
        lengths
            Length of each text, or one length for all. Texts named here count even without units.
        begins, coders
            Start of each text; all coders, if some marked nothing.
        done
            Pairs (text, coder) of who worked on which text [default: all coders on all texts].

        Raises
        ------
        AnnotationError
            If rows do not have five cells, positions are not numbers, units have no length or end
            after their text, units of the same coder and label overlap, texts have no length, or
            coders did not work on the text of their units; lists all problems.

        Examples
        --------
        >>> rows = [(1, "X", 225, 295, "c"), (1, "Y", 220, 300, "c")]
        >>> Units.from_records(rows, lengths=300, begins=150).n_coders
        2
        """
        # names are sorted, so nothing depends on the order of the rows
        worked = None if done is None else _pairs(done)
        units = _checked(list(rows), lengths, begins, coders, worked)
        texts = _sorted(
            {unit.text for unit in units}
            | (set(lengths) if isinstance(lengths, Mapping) else set())
            | {text for text, _ in worked or ()}
        )
        everyone = _sorted(
            {unit.coder for unit in units} | set(coders or ()) | {c for _, c in worked or ()}
        )
        return cls.of(units, texts, everyone, lengths, begins, worked)

    @classmethod
    def of(
        cls,
        units: Sequence[Unit],
        texts: tuple[Hashable, ...],
        coders: tuple[Hashable, ...],
        lengths: ByText,
        begins: ByText = 0,
        done: Set[tuple[Hashable, Hashable]] | None = None,
    ) -> Units:
        """Code units that need no check."""
        labels = _sorted({unit.label for unit in units})
        place = [{name: n for n, name in enumerate(names)} for names in (texts, coders, labels)]
        rows = [(place[0][u.text], place[1][u.coder], place[2][u.label], *u[2:4]) for u in units]
        table = np.array(sorted(rows), dtype=float).reshape(-1, 5).T
        text, coder, label = table[:3].astype(np.int64)
        pairs = [done is None or (text, coder) in done for text in texts for coder in coders]
        return cls(
            text=text,
            coder=coder,
            start=table[3],
            end=table[4],
            label=label,
            texts=texts,
            coders=coders,
            labels=labels,
            begin=_of_texts(begins, texts),
            length=_of_texts(lengths, texts),
            active=np.array(pairs, dtype=bool).reshape(len(texts), len(coders)),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        lengths: ByText,
        text: str | None = "text",
        coder: str = "coder",
        start: str = "start",
        end: str = "end",
        label: str | None = "label",
        begins: ByText = 0,
        coders: Sequence[Hashable] | None = None,
        done: Done | None = None,
    ) -> Units:
        """Code a data frame of pandas, polars or any other library that narwhals supports.

        Parameters
        ----------
        frame
            One row per unit.
        lengths, begins, coders, done
            As in :meth:`from_records`.
        text, coder, start, end, label
            Names of the columns; without `text`, there is one text; without `label`, one label.

        Raises
        ------
        AnnotationError
            If a column is missing or the rows have problems; lists all of them.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"coder": ["X", "Y"], "start": [1, 2], "end": [9, 3]})
        >>> Units.from_frame(frame, lengths=10, text=None, label=None)
        2 units in 1 text by 2 coders, 1 label
        """
        import narwhals as nw

        try:
            table = nw.from_native(frame, eager_only=True)
        except TypeError:
            what = f"{type(frame).__name__} is not a data frame."
            remedy = "Give a data frame of pandas or polars, or use Units.from_records."
            raise AnnotationError(what, remedy=remedy) from None
        wanted = dict(zip(COLUMNS, (text, coder, start, end, label), strict=True))
        missing = [name for name in wanted.values() if name and name not in table.columns]
        if missing:
            there = f"columns {', '.join(table.columns)}"
            remedy = "Name the columns: text=..., coder=..., start=..., end=..., label=..."
            wrong = [f"Column {name!r} is missing." for name in missing]
            raise AnnotationError([Problem(one, there, remedy) for one in wrong])
        blank = ["all"] * len(table)
        columns = [table[name].to_list() if name else blank for name in wanted.values()]
        rows = zip(*columns, strict=True)
        return cls.from_records(rows, lengths=lengths, begins=begins, coders=coders, done=done)

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.texts)

    @property
    def n_coders(self) -> int:
        """Number of coders."""
        return len(self.coders)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.text)

    def __repr__(self) -> str:
        return (
            f"{counted(self.n_units, 'unit')} in {counted(self.n_texts, 'text')} by "
            f"{counted(self.n_coders, 'coder')}, {counted(len(self.labels), 'label')}"
        )


def _sorted(names: set[Hashable]) -> tuple[Hashable, ...]:
    """Sort numbers by value, then strings."""

    def key(name: Hashable) -> tuple[bool, float, str]:
        number = isinstance(name, (int, float)) and math.isfinite(name)
        return (not number, float(name) if number else 0.0, str(name))  # type: ignore[arg-type]

    return tuple(sorted(names, key=key))


def _of_texts(given: ByText, texts: Sequence[Hashable]) -> Floats:
    if isinstance(given, Mapping):
        return np.array([float(given.get(text, 0)) for text in texts])
    return np.full(len(texts), float(given))


class Unit(NamedTuple):
    text: Hashable
    coder: Hashable
    start: float
    end: float
    label: Hashable


def _refuse(problems: Sequence[Problem]) -> None:
    """Raise the first problem of each kind (remedy), with the number of others."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.remedy, []).append(problem)
    if kinds:
        raise AnnotationError(
            first
            if not others
            else dataclasses.replace(first, what=f"{first.what} {1 + len(others):,} of this kind.")
            for first, *others in kinds.values()
        )


def _checked(
    rows: Sequence[Sequence[object]],
    lengths: ByText,
    begins: ByText,
    coders: Sequence[Hashable] | None,
    done: set[tuple[Hashable, Hashable]] | None,
) -> list[Unit]:
    found = []
    if not rows and not isinstance(lengths, Mapping):
        found.append(Problem("No unit was given.", "", "Give at least one unit."))
    read = [(number, _read(row, f"row {number}")) for number, row in enumerate(rows, 1)]
    found += [each for _, each in read if isinstance(each, Problem)]
    units = [(number, each) for number, each in read if isinstance(each, Unit)]
    found += _check_spans(units, lengths, begins)
    layers: dict[tuple[Hashable, ...], list[tuple[float, float, int]]] = {}
    for number, u in units:
        layers.setdefault((u.text, u.coder, u.label), []).append((u.start, u.end, number))
    for (text, coder, label), spans in layers.items():
        for (_, end, one), (start, _, other) in pairwise(sorted(spans)):
            if start < end:
                wrong = f"Two units of coder {coder!r} with the label {label!r} overlap in text "
                remedy = "Units of the same coder and label do not overlap: join or cut them."
                found.append(Problem(f"{wrong}{text!r}.", f"rows {one} and {other}", remedy))
    if coders is not None:
        unknown = sorted({str(u.coder) for _, u in units} - set(map(str, coders)))
        if unknown:
            names = ", ".join(unknown[:SHOWN])
            wrong = f"Units by undeclared coders: {names}."
            declared = f"coders {', '.join(map(str, coders))}"
            remedy = "Name all coders, or leave coders= out."
            found.append(Problem(wrong, declared, remedy))
    for number, u in units:
        if done is not None and (u.text, u.coder) not in done:
            wrong = f"Coder {u.coder!r} marked a unit in text {u.text!r}, which is not in done=."
            remedy = "Add the pair (text, coder) to done=."
            found.append(Problem(wrong, f"row {number}", remedy))
    _refuse(found)
    return [unit for _, unit in units]


def _pairs(done: Iterable[Any]) -> set[tuple[Hashable, Hashable]]:
    listed = list(done)
    wrong = [x for x in listed if isinstance(x, str) or not hasattr(x, "__len__") or len(x) != 2]
    if wrong:
        remedy = "List each pair of a text and a coder who worked on it."
        raise AnnotationError(f"{wrong[0]!r} is not a pair (text, coder).", "done", remedy)
    return {(text, coder) for text, coder in listed}


def _read(row: Sequence[Any], where: str) -> Unit | Problem:
    if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 5:
        what = "A unit is not (text, coder, start, end, label)."
        return Problem(what, f"{where}: {row!r}", "Give five cells for each unit.")
    text, coder, start, end, label = row
    for name, cell in (("text", text), ("coder", coder), ("label", label)):
        if is_blank(cell):
            return Problem(f"The {name} is empty.", where, "Fill it in, or drop the unit.")
        if not isinstance(cell, Hashable):
            what = f"The {name} {cell!r} is a collection."
            return Problem(what, where, "Give a word or a number.")
    first, last = number_or_nan(start), number_or_nan(end)
    if not (math.isfinite(first) and math.isfinite(last)):
        what = f"start {start!r} and end {end!r} are not both numbers."
        return Problem(what, where, "Give positions as numbers.")
    if last <= first:
        remedy = "The end is the first position after the unit, so it must exceed the start."
        return Problem(f"The unit from {first:g} to {last:g} has no length.", where, remedy)
    return Unit(text, coder, first, last, label)


def _check_spans(
    units: list[tuple[int, Unit]], lengths: ByText, begins: ByText
) -> Iterator[Problem]:
    """Find texts without a usable length, and units beyond their text."""
    known = {}
    listed = lengths if isinstance(lengths, Mapping) else ()
    for text in dict.fromkeys([*(unit.text for _, unit in units), *listed]):
        length = lengths.get(text) if isinstance(lengths, Mapping) else lengths
        begin = begins.get(text, 0) if isinstance(begins, Mapping) else begins
        first, size = number_or_nan(begin), number_or_nan(length)
        if math.isfinite(first) and 0 < size < math.inf:
            known[text] = (first, first + size)
        else:
            wrong = f"Text {text!r} has the length {length!r} and begins at {begin!r}."
            remedy = "Give every text a positive length in the unit of the positions."
            yield Problem(wrong, "lengths", remedy)
    for number, unit in units:
        first, last = known.get(unit.text, (-math.inf, math.inf))
        if unit.start < first or unit.end > last:
            wrong = (
                f"The unit from {unit.start:g} to {unit.end:g} is not within text {unit.text!r}, "
                f"which goes from {first:g} to {last:g}."
            )
            remedy = "Fix the positions, or lengths= and begins=."
            yield Problem(wrong, f"row {number}", remedy)


def meeting(layer: Ints, coder: Ints, start: Floats, end: Floats) -> tuple[Ints, Ints]:
    """Return all pairs of units of a layer by different coders that overlap, each both ways."""
    order = np.lexsort((start, coder, layer))
    places, ranks = np.unique(np.concatenate([start[order], end[order]]), return_inverse=True)
    first, last = np.split(ranks.astype(np.int64), 2)
    layer, coder = layer[order], coder[order]
    layer_begins = np.diff(layer, prepend=-1) != 0
    cell = np.cumsum(layer_begins | (np.diff(coder, prepend=-1) != 0)) - 1
    # one sorted array searches the units of all coders and layers at once
    starts = cell * len(places) + first
    ends = np.maximum.accumulate(cell * len(places) + last)
    of_layer = np.cumsum(layer_begins) - 1
    cells = np.searchsorted(of_layer, np.arange(of_layer.max(initial=-1) + 2))
    first_cell = np.append(cell, cell.max(initial=-1) + 1)[cells]
    one, other = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for n in range(int(np.diff(first_cell).max(initial=0))):
        theirs = first_cell[of_layer] + n
        rows = np.flatnonzero((theirs < first_cell[of_layer + 1]) & (theirs != cell))
        begin = theirs[rows] * len(places)
        low = np.searchsorted(ends, begin + first[rows], side="right")
        high = np.searchsorted(starts, begin + last[rows], side="left")
        found, owner = ranges(low, np.maximum(high - low, 0))
        owner = rows[owner]
        there = last[found] > first[owner]  # a longer unit may have begun before them
        one.append(order[owner[there]])
        other.append(order[found[there]])
    return np.concatenate(one), np.concatenate(other)


def others_there(layer: Ints, coder: Ints, pairs: tuple[Ints, Ints]) -> Ints:
    """Count, for each unit, the other coders with a unit that overlaps it [unit]."""
    one, other = pairs
    coders = int(coder.max(initial=0)) + 1
    met = np.unique(one * coders + coder[other]) // coders
    return np.bincount(met, minlength=len(layer))


@dataclass(frozen=True, eq=False)
class LabelLayer:
    """One label in all texts that two coders or more worked on."""

    apart: Floats  # disagreement of each text, mean over its ordered pairs of coders [text]
    size: Floats  # lengths that units have [size]
    units: sparse.csr_array  # number of units of each length [size, text]
    gaps: sparse.csr_array  # number of gaps whose longest possible unit has a length [size, text]
    places: sparse.csr_array  # sum of the length and 1 of these gaps [size, text]
    length: Floats  # length of each text, 0 where fewer than two coders worked on it [text]
    coded: Floats  # length of each text times its coders [text]

    def disagreement(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return observed and expected disagreement under text weights, [text] or [draw, text]."""
        batch = np.atleast_2d(weights)
        whole = batch @ self.length
        d_o = (batch @ self.apart) / whole**2
        return d_o.reshape(weights.shape[:-1]), self._expected(batch).reshape(weights.shape[:-1])

    def _expected(self, weights: Floats) -> Floats:
        size, units = self.size, self.units @ weights.T
        among = (units.sum(axis=0) - 1) / 3 * ((2 * size**3 - 3 * size**2 + size) @ units)
        # a gap that holds a unit holds all shorter ones
        number, places = (
            np.cumsum((held @ weights.T)[::-1], axis=0)[::-1] for held in (self.gaps, self.places)
        )
        against = (units * size[:, None] ** 2 * (places - number * size[:, None])).sum(axis=0)
        coded = weights @ self.coded
        pairs = coded * (coded - 1) - (size * (size - 1)) @ units
        return np.asarray(2 / (weights @ self.length) * (among + against) / pairs)


def layer(units: Units, label: int) -> LabelLayer:
    active = units.active.sum(axis=1)
    used = active >= 2
    rows = np.flatnonzero((units.label == label) & used[units.text])
    rows = rows[np.lexsort((units.start[rows], units.coder[rows], units.text[rows]))]
    text, coder = units.text[rows], units.coder[rows]
    start, end = units.start[rows], units.end[rows]
    pairs = meeting(text, coder, start, end)
    one, other = pairs
    between = ((start[one] - start[other]) ** 2 + (end[one] - end[other]) ** 2) / 2
    lonely = (end - start) ** 2 * (active[text] - 1 - others_there(text, coder, pairs))
    apart = np.bincount(text[one], between, units.n_texts).astype(float)
    apart += np.bincount(text, lonely, units.n_texts).astype(float)
    # each coder of a text has a gap before each unit, and one after the last
    cells = np.argwhere(units.active & used[:, None])
    gap_text = np.concatenate([text, cells[:, 0]])
    gap_coder = np.concatenate([coder, cells[:, 1]])
    stops = units.begin[cells[:, 0]] + units.length[cells[:, 0]]
    ends = np.concatenate([end, np.full(len(cells), np.inf)])
    order = np.lexsort((ends, gap_coder, gap_text))
    gap_text, gap_coder = gap_text[order], gap_coder[order]
    begins = (np.diff(gap_text, prepend=-1) != 0) | (np.diff(gap_coder, prepend=-1) != 0)
    before = np.where(begins, units.begin[gap_text], np.roll(ends[order], 1))
    gap = np.concatenate([start, stops])[order] - before
    size, of_unit = np.unique(end - start, return_inverse=True)
    of_gap = np.searchsorted(size, gap, side="right") - 1
    holds = (of_gap >= 0) & (gap > 0)

    def counted_in(code: Ints, text: Ints, values: Floats) -> sparse.csr_array:
        return sparse.csr_array((values, (code, text)), shape=(len(size), units.n_texts))

    held = of_gap[holds], gap_text[holds]
    return LabelLayer(
        apart=2 * apart / np.maximum(active * (active - 1), 1),
        size=size,
        units=counted_in(of_unit, text, np.ones(len(text))),
        gaps=counted_in(*held, np.ones(int(holds.sum()))),
        places=counted_in(*held, gap[holds] + 1),
        length=np.where(used, units.length, 0.0),
        coded=np.where(used, units.length * active, 0.0),
    )


FEW_TEXTS = 10


def alpha_u(
    units: Units, label: Hashable | None = None, *, draws: int = 2000, seed: int = 0
) -> Agreement:
    r"""Compute Krippendorff's alpha for unitizing: agreement on marked spans of a continuum.

    :math:`\alpha_U = 1 - D_o / D_e`; over several labels, observed and expected disagreement are
    summed before they are compared. Slightly different starts and ends cost little;
    units that the other coder did not mark cost their squared length.

    Parameters
    ----------
    units
        Who marked which stretch of which text.
    label
        A label; without it all labels.
    draws
        Number of draws of the sampling posterior (Bayesian bootstrap over texts), 0 for none.
    seed
        Seed of the draws; equal seeds give equal draws for every label.

    Returns
    -------
    Agreement
        `n_items` is the number of texts that two coders worked on, `n_labels` the number of their
        units. A single text gives a value without an interval.

    Raises
    ------
    NotApplicable
        If nobody used the label.

    References
    ----------
    Krippendorff 1995, doi:10.2307/271061; 2004, Content Analysis, 2nd edition, section 11.6.

    Examples
    --------
    Two coders of a tape (Krippendorff 2004, page 254):

    >>> import annomodels as am
    >>> rows = [("tape", "a", 225, 295, "c"), ("tape", "a", 370, 400, "c"),
    ...         ("tape", "b", 220, 300, "c"), ("tape", "b", 355, 375, "c"),
    ...         ("tape", "b", 400, 420, "c")]
    >>> units = am.coefficients.Units.from_records(rows, lengths=300, begins=150)
    >>> found = am.coefficients.alpha_u(units)
    >>> round(found.observed, 4), round(found.expected, 4), round(found.value, 4)
    (0.0144, 0.0532, 0.7286)
    """
    _require_units(units, "alpha_u")
    if label is not None and label not in units.labels:
        known = ", ".join(map(repr, units.labels)) or "no label at all"
        raise NotApplicable(f"Nobody used the label {label!r}. Used: {known}.")
    codes = range(len(units.labels)) if label is None else [units.labels.index(label)]
    layers = [layer(units, code) for code in codes]

    def measure(weights: Floats) -> Evaluated:
        found = [one.disagreement(weights) for one in layers]
        d_o, d_e = (np.asarray(sum(column)) / len(layers) for column in zip(*found, strict=True))
        return Evaluated(less(over(d_o, d_e)), d_o, d_e)

    unfit = ""
    notes: tuple[str, ...] = ()
    if units.n_coders < 2:
        unfit = say("one_coder" if units.n_coders else "no_coder")
    if any((x != np.round(x)).any() for x in (units.start, units.end)):
        notes = (say("positions"),)
    n_units = sum(int(one.units.sum()) for one in layers)
    found = _agreement(units, UNITIZING, n_units, measure, draws, seed, unfit)
    title = found.title if label is None else f"{found.title}, {label}"
    return dataclasses.replace(found, title=title, notes=(*found.notes, *notes))


def _require_units(units: object, name: str) -> None:
    if not isinstance(units, Units):
        raise NotApplicable(
            f"{name} needs units of a continuum: annomodels.coefficients.Units.from_records(...). "
            "For labels of items use annomodels.agreement."
        )


def _agreement(
    units: Units,
    entry: Coefficient,
    n_units: int,
    measure: Callable[[Floats], Evaluated],
    draws: int,
    seed: int,
    unfit: str = "",
) -> Agreement:
    """Build the result of a coefficient that `measure` computes from text weights."""
    used = units.active.sum(axis=1) >= 2
    n_texts = int(used.sum())
    point, drawn = Evaluated(*np.full(3, np.nan)), None
    notes: tuple[str, ...] = ()
    reason, note = ("one_coder", unfit) if unfit else ("", "")
    if not reason and not n_texts:
        reason, note = "no_overlap", say("no_text")
    elif not reason and not n_units:
        reason, note = "no_variation", say("no_unit")
    if not reason:
        point = measure(np.ones(units.n_texts))
        if np.isnan(point.value):
            reason, note = "zero_expected_disagreement", say("no_disagreement")
        elif n_texts < 2:
            reason, note = "too_few_items", say("one_text")
        elif draws:
            # random weights of the texts (Rubin 1981), shape [draw, text]
            weights = np.random.default_rng(seed).standard_exponential((draws, len(used))) * used
            weights *= n_texts / weights.sum(-1, keepdims=True)
            drawn = measure(weights).value
            notes = (say("few_texts" if n_texts < FEW_TEXTS else "texts", n=n_texts),)
    return Agreement(
        name=entry.name,
        title=entry.title,
        value=float(point.value),
        observed=float(point.observed),
        expected=float(point.expected),
        kind="disagreement" if entry is UNITIZING else "agreement",
        n_items=n_texts,
        n_coders=units.n_coders,
        n_labels=n_units,
        convention="complete" if units.active.all() else "texts that two coders worked on",
        note=note,
        reason=reason,
        distance="unitizing" if entry is UNITIZING else "nominal",
        draws=drawn,
        notes=notes,
        words=("text", "unit"),
    )


def span_f1(
    units: Units,
    label: Hashable | None = None,
    *,
    overlapping: bool = False,
    draws: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Compute F1 between the units of two coders, over all pairs of coders.

    A unit is found if the other coder marked the same stretch with the same label; with
    `overlapping`, any stretch with this label that shares a position with it. Counts of pairs and
    texts are added first, so a text counts by its units. F1 is not corrected for chance, which
    rarely produces the same span.

    Parameters
    ----------
    units
        Who marked which stretch of which text.
    label
        A label; without it all labels.
    overlapping
        Whether a unit is found by any unit of its label that overlaps it.
    draws
        Number of draws of the sampling posterior (Bayesian bootstrap over texts), 0 for none.
    seed
        Seed of the draws.

    Returns
    -------
    Agreement
        `n_items` is the number of texts that two coders worked on, `n_labels` the number of their
        units.

    References
    ----------
    Hripcsak and Rothschild 2005, doi:10.1197/jamia.M1733.

    Examples
    --------
    >>> import annomodels as am
    >>> rows = [("t", "ana", 0, 4, "P"), ("t", "ana", 9, 14, "P"), ("t", "ben", 0, 4, "P")]
    >>> units = am.coefficients.Units.from_records(rows, lengths=20)
    >>> round(am.coefficients.span_f1(units).value, 3)
    0.667
    """
    _require_units(units, "span_f1")
    coders = units.active.sum(axis=1)
    used = coders >= 2
    mine = used[units.text]
    if label is not None:
        mine &= np.array([one == label for one in units.labels])[units.label]
    text, code, coder = units.text[mine], units.label[mine], units.coder[mine]
    start, end, n = units.start[mine], units.end[mine], len(used)
    if overlapping:
        layers = text * len(units.labels) + code
        met = others_there(layers, coder, meeting(layers, coder, start, end))
        found = np.bincount(text, met, n)
    else:
        order = np.lexsort((start, end, code, text))
        place = np.stack([text, code, start, end])[:, order]
        first = np.flatnonzero((np.diff(place, prepend=-1) != 0).any(axis=0))
        times = np.diff(first, append=len(order))
        found = np.bincount(text[order][first], times * (times - 1.0), n)
    marked = np.bincount(text, minlength=n) * (coders - 1.0) * used

    def measure(weights: Floats) -> Evaluated:
        share = over(weights @ found, weights @ marked)
        return Evaluated(share, share, np.full_like(share, np.nan))

    how = ", overlapping" * overlapping + (f", {label}" if label is not None else "")
    agreement = _agreement(units, SPAN_F1, len(text), measure, draws, seed)
    return replace(agreement, title=f"{SPAN_F1.title}{how}")
